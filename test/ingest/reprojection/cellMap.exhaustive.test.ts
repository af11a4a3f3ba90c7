import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CellMap } from "../../../src/ingest/reprojection/cellMap.ts";
import { crsOfText } from "../../../src/ingest/reprojection/crsText.ts";
import { locate, openProjection } from "../../../src/ingest/reprojection/projection.ts";
import { reprojectMap } from "../../../src/ingest/reprojection/reprojectedRaster.ts";
import { cellCenter } from "../../../src/kernel/grid.ts";
import { PROJECTED_MAPS, projectedMap } from "./projectedMap.ts";

describe.each(PROJECTED_MAPS)("the source cells of a map: %s", (_, definition, plane) => {
  test("contain the projected centers of the cells of the target", async () => {
    const { grid } = await reprojectMap(projectedMap(definition, plane));
    const projection = await openProjection(crsOfText(definition, { assumeWgs84: true }).crs);
    const cells = new CellMap(projection, plane, grid);
    const sizeOf = fc.integer({ min: 1, max: 70 });
    let insideCount = 0;
    fc.assert(
      fc.property(
        fc.nat(grid.rowCount - 1),
        fc.nat(grid.columnCount - 1),
        sizeOf,
        sizeOf,
        (top, left, height, width) => {
          const window = {
            firstRow: top,
            firstColumn: left,
            rowCount: Math.min(height, grid.rowCount - top),
            columnCount: Math.min(width, grid.columnCount - left),
          };
          const { rows, columns } = cells.sourceCells(window);
          for (let i = 0; i < rows.length; i++) {
            const row = top + Math.floor(i / window.columnCount);
            const { lonDeg, latDeg } = cellCenter(grid, { row, column: left + (i % window.columnCount) });
            const position = locate(projection, plane, lonDeg, latDeg);
            const [expectedRow, expectedColumn] = [
              Math.floor((position?.row ?? -1) + 1e-6),
              Math.floor((position?.column ?? -1) + 1e-6),
            ];
            const isInside =
              expectedRow >= 0 &&
              expectedRow < plane.rowCount &&
              expectedColumn >= 0 &&
              expectedColumn < plane.columnCount;
            if (isInside) insideCount++;
            if (rows[i] !== (isInside ? expectedRow : -1) || columns[i] !== (isInside ? expectedColumn : -1))
              expect([rows[i], columns[i]]).toEqual(isInside ? [expectedRow, expectedColumn] : [-1, -1]);
          }
        },
      ),
      { numRuns: 40 },
    );
    expect(insideCount).toBeGreaterThan(1000);
  });
});
