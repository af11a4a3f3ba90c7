import { beforeAll, describe, expect, test } from "vitest";
import { Kernel } from "../../src/kernel/instance.ts";
import {
  REASON_NODATA,
  REASON_OUTSIDE,
  STEPS_MAX,
  STEPS_NODATA,
  STEPS_OUTSIDE,
  TILE_SIZE,
} from "../../src/kernel/kernel.generated.ts";
import {
  type LayerEncodings,
  layerEncodings,
  type LocationArrays,
  readLocations,
  writeSteps,
} from "../../src/kernel/sampling.ts";
import { containingCellByDefinition } from "../oracle/points.ts";
import { expectSameBytes } from "../sameBytes.ts";
import { randomFrom, type SeededRandom, shuffled } from "../seededRandom.ts";
import { worldGrid } from "./circleCells.ts";
import { patchyRaster, SyntheticField } from "./syntheticField.ts";

const ENCODINGS = [
  { stepsPerUnit: 1000, offset: 0 },
  { stepsPerUnit: 60_000, offset: 0 },
  { stepsPerUnit: 10, offset: -40 },
  { stepsPerUnit: 0.3, offset: 1e6 },
  { stepsPerUnit: 7, offset: -0 },
] as const;

function randomEncodings(random: SeededRandom, lanes: readonly number[]) {
  return lanes.map((lane) => ({ lane, ...random.pick(ENCODINGS) }));
}

/** Decodes steps as defined in assembly/cells.ts. */
function valueByDefinition(
  steps: number,
  { stepsPerUnit, offset }: { readonly stepsPerUnit: number; readonly offset: number },
): { readonly value: number; readonly reason: number } {
  if (steps === STEPS_OUTSIDE) return { value: NaN, reason: REASON_OUTSIDE };
  if (steps === STEPS_NODATA) return { value: NaN, reason: REASON_NODATA };
  return { value: steps / stepsPerUnit + offset, reason: 0 };
}

describe("writeSteps", () => {
  let kernel: Kernel;
  beforeAll(async () => {
    kernel = await Kernel.load();
  });

  for (let layerCount = 1; layerCount <= 26; layerCount++) {
    test(`decodes ${layerCount} layers bit for bit, including zeros and missing cells`, () => {
      const random = randomFrom(300 + layerCount);
      const layers = randomEncodings(random, [...Array(layerCount).keys()]);
      const count = 300;
      const steps = new Uint16Array(count * layerCount);
      for (let i = 0; i < count; i++) {
        const kind = random.below(4); // cells that are 0 in every layer take the fast path
        for (let layer = 0; layer < layerCount; layer++) {
          steps[i * layerCount + layer] =
            kind === 0 ? 0 : random.pick([0, 1, STEPS_MAX, STEPS_OUTSIDE, STEPS_NODATA, random.below(STEPS_MAX)]);
        }
      }
      // Spare elements before and after, to check that nothing else is written.
      const out = {
        values: new Float64Array((count + 4) * layerCount).fill(0.5),
        reasons: new Uint8Array((count + 4) * layerCount).fill(9),
      };
      const values = out.values.slice();
      const reasons = out.reasons.slice();
      steps.forEach((found, i) => {
        const encoding = layers[i % layerCount] as (typeof layers)[number];
        const { value, reason } = valueByDefinition(found, encoding);
        values[2 * layerCount + i] = value;
        reasons[2 * layerCount + i] = reason;
      });
      writeSteps(kernel, steps, layerEncodings(layers), { out, first: 2 });
      expectSameBytes(out.values, values);
      expectSameBytes(out.reasons, reasons);
    });
  }
});

describe("readLocations", () => {
  /** A global grid whose last tiles are incomplete. */
  const GRID = worldGrid(1);
  const LAYER_COUNTS = [1, 5, 11, 21, 24, 30];

  /** Returns random locations, many of them on edges, at the poles and at the antimeridian. */
  function randomLocations(random: SeededRandom, count: number): LocationArrays {
    const lat = (): number =>
      random.chance(0.6) ? random.between({ min: -90, max: 90 }) : random.pick([90, -90, 0, random.below(180) - 90]);
    const lon = (): number =>
      random.chance(0.6) ? random.between({ min: -180, max: 180 }) : random.pick([180, -180, random.below(360) - 180]);
    return {
      latitudes: Float64Array.from({ length: count }, lat),
      longitudes: Float64Array.from({ length: count }, lon),
    };
  }

  async function randomField(layerCount: number, random: SeededRandom, share: number): Promise<SyntheticField> {
    // Without the last rows, so that some locations are outside.
    const grid = { ...GRID, rowCount: 150 };
    const source = await SyntheticField.of(grid, patchyRaster(grid, { layerCount, seed: 40 + layerCount }));
    source.unloadAll();
    for (let index = 0; index < source.countOf("cells"); index++) if (random.chance(share)) source.load("cells", index);
    return source;
  }

  /** Returns the expected steps of each location, undefined if its tile is not loaded, and the expected `missing`. */
  function byDefinition(source: SyntheticField, { latitudes, longitudes }: LocationArrays, lanes: readonly number[]) {
    const { grid } = source.grid;
    const missing: number[] = [];
    const steps = Array.from(latitudes, (latDeg, i) => {
      const cell = containingCellByDefinition(grid, { latDeg, lonDeg: longitudes[i] ?? NaN });
      if (cell === undefined) return lanes.map(() => STEPS_OUTSIDE);
      const tile = Math.floor(cell.row / TILE_SIZE) * source.grid.tileColumnCount + Math.floor(cell.column / TILE_SIZE);
      if (!source.isLoaded("cells", tile)) {
        missing.push(i, tile);
        return undefined;
      }
      const offset = (cell.row * grid.columnCount + cell.column) * source.raster.layerCount;
      return lanes.map((lane) => source.raster.steps[offset + lane] ?? NaN);
    });
    return { steps, missing };
  }

  const choices: readonly [string, (random: SeededRandom, layerCount: number) => number[]][] = [
    ["all layers", (_, layerCount) => [...Array(layerCount).keys()]],
    ["the first layers", (random, layerCount) => [...Array(1 + random.below(layerCount)).keys()]],
    ["layers in any order", (random, layerCount) => shuffled(random, [...Array(layerCount).keys()])],
    ["the last layer", (_, layerCount) => [layerCount - 1]],
  ];
  describe.each(LAYER_COUNTS)("returns the containing cells of %i layers", (layerCount) => {
    let source: SyntheticField;
    beforeAll(async () => {
      source = await randomField(layerCount, randomFrom(500 + layerCount), 0.7);
    });

    test.each(choices)("%s", (_, choose) => {
      const random = randomFrom(600 + layerCount);
      for (const count of [0, 1, 2, 3, 4, 5, 700]) {
        const locations = randomLocations(random, count);
        const lanes = choose(random, layerCount);
        const layers = randomEncodings(random, lanes);
        const width = lanes.length;
        const expected = byDefinition(source, locations, lanes);
        const encodings: LayerEncodings = layerEncodings(layers);

        const steps = new Uint16Array((count + 2) * width).fill(77);
        const missing = readLocations(source.field, locations, encodings, { out: { steps }, first: 1 });
        expect([...missing]).toEqual(expected.missing);
        const values = new Float64Array((count + 2) * width).fill(77);
        const reasons = new Uint8Array((count + 2) * width).fill(77);
        const again = readLocations(source.field, locations, encodings, { out: { values, reasons }, first: 1 });
        expect([...again]).toEqual(expected.missing);

        // The content for locations whose tile is not loaded is undefined, so it is not compared.
        const expectedSteps = steps.slice().fill(77);
        const expectedValues = values.slice().fill(77);
        const expectedReasons = reasons.slice().fill(77);
        for (const [location, found] of expected.steps.entries()) {
          const from = (location + 1) * width;
          if (found === undefined) {
            expectedSteps.set(steps.subarray(from, from + width), from);
            expectedValues.set(values.subarray(from, from + width), from);
            expectedReasons.set(reasons.subarray(from, from + width), from);
            continue;
          }
          for (const [i, each] of found.entries()) {
            const { value, reason } = valueByDefinition(each, layers[i] as (typeof layers)[number]);
            expectedSteps[from + i] = each;
            expectedValues[from + i] = value;
            expectedReasons[from + i] = reason;
          }
        }
        expectSameBytes(steps, expectedSteps);
        expectSameBytes(values, expectedValues);
        expectSameBytes(reasons, expectedReasons);
      }
    });
  });

  test("returns the same results wherever the locations are split into two calls", async () => {
    const random = randomFrom(61);
    const source = await randomField(21, random, 1);
    const locations = randomLocations(random, 40);
    const encodings = layerEncodings(randomEncodings(random, [...Array(21).keys()]));
    const whole = new Uint16Array(40 * 21);
    readLocations(source.field, locations, encodings, { out: { steps: whole }, first: 0 });
    for (let cut = 0; cut <= 40; cut++) {
      const steps = new Uint16Array(40 * 21);
      for (const [from, to] of [
        [0, cut],
        [cut, 40],
      ] as const) {
        const part = {
          latitudes: locations.latitudes.subarray(from, to),
          longitudes: locations.longitudes.subarray(from, to),
        };
        readLocations(source.field, part, encodings, { out: { steps }, first: from });
      }
      expectSameBytes(steps, whole);
    }
  });

  test("marks only the tiles that it reads as used", async () => {
    const source = await randomField(5, randomFrom(62), 1);
    const before = Array.from({ length: source.countOf("cells") }, (_, index) => wordOf(source, index));
    const encodings = layerEncodings(randomEncodings(randomFrom(63), [0]));
    const location = { latitudes: Float64Array.of(0.5), longitudes: Float64Array.of(0.5) };
    readLocations(source.field, location, encodings, { out: { steps: new Uint16Array(1) }, first: 0 });
    const tile = Math.floor(89 / TILE_SIZE) * source.grid.tileColumnCount + Math.floor(180 / TILE_SIZE);
    expect(before.map((_, index) => wordOf(source, index))).toEqual(
      before.map((word, index) => (index === tile ? word | 1 : word)),
    );
  });

  function wordOf({ kernel, field }: SyntheticField, index: number): number {
    return kernel.words[(field.directories.cells.pointer >>> 2) + index] ?? 0;
  }
});
