/** Comparisons of `rowSpans` with GeographicLib. */
import { expect } from "vitest";
import { rowSpans } from "../../src/kernel/geodesy.ts";
import type { Kernel } from "../../src/kernel/instance.ts";
import { containingCellByDefinition, type OracleGrid } from "../oracle/points.ts";
import {
  centerByDefinition,
  circleByDefinition,
  distanceByGeographicLib,
  type OracleCircle,
} from "../oracle/radius.ts";
import type { SeededRandom } from "../seededRandom.ts";
import { cellsOf, rowsAsText } from "./circleCells.ts";
import { edgeCaseLocation, randomRadiusM } from "./gridCases.ts";

/** Returns the circle and its rows, actual and expected, if they differ from the reference implementation. */
export function differences(
  kernel: Kernel,
  { grid, circle }: { readonly grid: OracleGrid; readonly circle: OracleCircle },
  definition = circleByDefinition,
): unknown[] {
  const got = rowsAsText(cellsOf(grid, rowSpans(kernel, grid, circle)));
  const expected = rowsAsText(definition(grid, circle));
  return got.join("\n") === expected.join("\n") ? [] : [{ circle, grid, got, expected }];
}

/** Returns the doubles next to a positive one. */
export function adjacentDoubles(value: number): { readonly below: number; readonly above: number } {
  const bits = new BigInt64Array(Float64Array.of(value).buffer)[0] ?? 0n;
  const from = (pattern: bigint): number => new Float64Array(BigInt64Array.of(pattern).buffer)[0] ?? NaN;
  return { below: from(bits - 1n), above: from(bits + 1n) };
}

interface RandomCircles {
  readonly random: SeededRandom;
  readonly count: number;
}

/** Compares every cell of random circles with GeographicLib. */
export function checkEveryCell(kernel: Kernel, grid: OracleGrid, { random, count }: RandomCircles): void {
  for (let i = 0; i < count; i++) {
    const circle = { ...edgeCaseLocation(grid, random), radiusM: randomRadiusM(random) };
    expect(differences(kernel, { grid, circle })).toEqual([]);
  }
}

/**
 * Checks circles with a rim exactly through the center of a random cell: the cell is inside, and outside if the radius
 * is one bit smaller. @returns the number of circles; those without a suitable cell are skipped
 */
export function checkRims(kernel: Kernel, grid: OracleGrid, { random, count }: RandomCircles): number {
  let checkedCount = 0;
  for (let i = 0; i < count; i++) {
    const place = edgeCaseLocation(grid, random);
    const near = circleByDefinition(grid, { ...place, radiusM: randomRadiusM(random) - 1 });
    if (near.length === 0) continue;
    const cell = random.pick(near);
    const locationCell = containingCellByDefinition(grid, place);
    if (cell.row === locationCell?.row && cell.column === locationCell.column) continue;
    const radiusM = distanceByGeographicLib(place, centerByDefinition(grid, cell));
    if (radiusM === 0) continue;
    for (const [testRadiusM, expected] of [
      [radiusM, true],
      [adjacentDoubles(radiusM).above, true],
      [adjacentDoubles(radiusM).below, false],
    ] as const) {
      const circle = rowSpans(kernel, grid, { ...place, radiusM: testRadiusM });
      const isInside = cellsOf(grid, circle).some(({ row, column }) => row === cell.row && column === cell.column);
      expect(isInside, `in ${JSON.stringify({ grid, place, cell, testRadiusM })}`).toBe(expected);
      expect(circle.ambiguousCount).toBeGreaterThan(0);
    }
    expect(differences(kernel, { grid, circle: { ...place, radiusM } })).toEqual([]);
    checkedCount++;
  }
  return checkedCount;
}
