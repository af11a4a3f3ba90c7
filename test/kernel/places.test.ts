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
import { type LayerQuanta, type Places, quantaOf, readPlaces, writeSteps } from "../../src/kernel/places.ts";
import { containingCellByDefinition } from "../oracle/points.ts";
import { randomFrom, type SeededRandom, shuffled } from "../seededRandom.ts";
import { worldGrid } from "./circleCells.ts";
import { MadeField, patchyRaster } from "./madeField.ts";

const UNITS = [
  { stepsPerUnit: 1000, offset: 0 },
  { stepsPerUnit: 60_000, offset: 0 },
  { stepsPerUnit: 10, offset: -40 },
  { stepsPerUnit: 0.3, offset: 1e6 },
  { stepsPerUnit: 7, offset: -0 },
] as const;

function unitsOf(random: SeededRandom, lanes: readonly number[]) {
  return lanes.map((lane) => ({ lane, ...random.pick(UNITS) }));
}

/** The bits of the answer, as the words of assembly/cells.ts have it. */
function valueByDefinition(
  steps: number,
  { stepsPerUnit, offset }: { readonly stepsPerUnit: number; readonly offset: number },
): { readonly value: number; readonly reason: number } {
  if (steps === STEPS_OUTSIDE) return { value: NaN, reason: REASON_OUTSIDE };
  if (steps === STEPS_NODATA) return { value: NaN, reason: REASON_NODATA };
  return { value: steps / stepsPerUnit + offset, reason: 0 };
}

function bitsOf(values: Float64Array): BigUint64Array {
  return new BigUint64Array(values.buffer, values.byteOffset, values.length);
}

describe("steps become values", () => {
  let kernel: Kernel;
  beforeAll(async () => {
    kernel = await Kernel.load();
  });

  for (let layerCount = 1; layerCount <= 26; layerCount++) {
    test(`of ${layerCount} layers, to the last bit, with zeros, gaps and all that is stored`, () => {
      const random = randomFrom(300 + layerCount);
      const layers = unitsOf(random, [...Array(layerCount).keys()]);
      const count = 300;
      const steps = new Uint16Array(count * layerCount);
      for (let i = 0; i < count; i++) {
        const kind = random.below(4); // cells that are 0 throughout go a way of their own
        for (let layer = 0; layer < layerCount; layer++) {
          steps[i * layerCount + layer] =
            kind === 0 ? 0 : random.pick([0, 1, STEPS_MAX, STEPS_OUTSIDE, STEPS_NODATA, random.below(STEPS_MAX)]);
        }
      }
      // Room before and behind, to see that nothing else is written.
      const out = {
        values: new Float64Array((count + 4) * layerCount).fill(0.5),
        reasons: new Uint8Array((count + 4) * layerCount).fill(9),
      };
      const values = out.values.slice();
      const reasons = out.reasons.slice();
      steps.forEach((found, i) => {
        const unit = layers[i % layerCount] as (typeof layers)[number];
        const { value, reason } = valueByDefinition(found, unit);
        values[2 * layerCount + i] = value;
        reasons[2 * layerCount + i] = reason;
      });
      writeSteps(kernel, steps, quantaOf(layers), { out, first: 2 });
      expect(bitsOf(out.values)).toEqual(bitsOf(values));
      expect(out.reasons).toEqual(reasons);
    });
  }
});

describe("the cells of many places", () => {
  /** Closes at 360 degrees; its last tiles are not whole. */
  const GRID = worldGrid(1);
  const LAYER_COUNTS = [1, 5, 11, 21, 24, 30];

  /** Everywhere, on edges, at the poles and the antimeridian. */
  function placesFrom(random: SeededRandom, count: number): Places {
    const lat = (): number =>
      random.chance(0.6) ? random.between({ least: -90, most: 90 }) : random.pick([90, -90, 0, random.below(180) - 90]);
    const lon = (): number =>
      random.chance(0.6)
        ? random.between({ least: -180, most: 180 })
        : random.pick([180, -180, random.below(360) - 180]);
    return {
      latitudes: Float64Array.from({ length: count }, lat),
      longitudes: Float64Array.from({ length: count }, lon),
    };
  }

  async function madeField(layerCount: number, random: SeededRandom, share: number): Promise<MadeField> {
    // Without the last rows, so that some places lie outside.
    const grid = { ...GRID, rowCount: 150 };
    const made = await MadeField.of(grid, patchyRaster(grid, { layerCount, seed: 40 + layerCount }));
    made.withholdAll();
    for (let index = 0; index < made.countOf("cells"); index++) if (random.chance(share)) made.admit("cells", index);
    return made;
  }

  /** What each place holds of each lane; undefined where the tile is not in memory, then `missing` names it. */
  function byDefinition(made: MadeField, { latitudes, longitudes }: Places, lanes: readonly number[]) {
    const { grid } = made.grid;
    const missing: number[] = [];
    const steps = Array.from(latitudes, (latDeg, i) => {
      const cell = containingCellByDefinition(grid, { latDeg, lonDeg: longitudes[i] ?? NaN });
      if (cell === undefined) return lanes.map(() => STEPS_OUTSIDE);
      const tile = Math.floor(cell.row / TILE_SIZE) * made.grid.tileColumnCount + Math.floor(cell.column / TILE_SIZE);
      if (!made.isAdmitted("cells", tile)) {
        missing.push(i, tile);
        return undefined;
      }
      const at = (cell.row * grid.columnCount + cell.column) * made.raster.layerCount;
      return lanes.map((lane) => made.raster.steps[at + lane] ?? NaN);
    });
    return { steps, missing };
  }

  const choices: readonly [string, (random: SeededRandom, layerCount: number) => number[]][] = [
    ["all layers", (_, layerCount) => [...Array(layerCount).keys()]],
    ["the first layers", (random, layerCount) => [...Array(1 + random.below(layerCount)).keys()]],
    ["layers in any order", (random, layerCount) => shuffled(random, [...Array(layerCount).keys()])],
    ["the last layer", (_, layerCount) => [layerCount - 1]],
  ];
  for (const layerCount of LAYER_COUNTS) {
    test.each(choices)(`of ${layerCount} layers: %s`, async (_, choose) => {
      const random = randomFrom(500 + layerCount);
      const made = await madeField(layerCount, random, 0.7);
      for (const count of [0, 1, 2, 3, 4, 5, 700]) {
        const places = placesFrom(random, count);
        const lanes = choose(random, layerCount);
        const layers = unitsOf(random, lanes);
        const width = lanes.length;
        const expected = byDefinition(made, places, lanes);
        const quanta: LayerQuanta = quantaOf(layers);

        const steps = new Uint16Array((count + 2) * width).fill(77);
        const missing = readPlaces(made.field, places, quanta, { out: { steps }, first: 1 });
        expect([...missing]).toEqual(expected.missing);
        const values = new Float64Array((count + 2) * width).fill(77);
        const reasons = new Uint8Array((count + 2) * width).fill(77);
        const again = readPlaces(made.field, places, quanta, { out: { values, reasons }, first: 1 });
        expect([...again]).toEqual(expected.missing);

        for (const edge of [steps, values, reasons]) {
          for (const row of [0, count + 1]) {
            expect([...edge.subarray(row * width, (row + 1) * width)]).toEqual(lanes.map(() => 77));
          }
        }
        for (const [place, found] of expected.steps.entries()) {
          if (found === undefined) continue;
          const from = (place + 1) * width;
          expect([...steps.subarray(from, from + width)]).toEqual(found);
          const due = found.map((each, i) => valueByDefinition(each, layers[i] as (typeof layers)[number]));
          expect([...values.subarray(from, from + width)]).toEqual(due.map(({ value }) => value));
          expect([...reasons.subarray(from, from + width)]).toEqual(due.map(({ reason }) => reason));
        }
      }
    });
  }

  test("are the same wherever the places are cut in two", async () => {
    const random = randomFrom(61);
    const made = await madeField(21, random, 1);
    const places = placesFrom(random, 40);
    const quanta = quantaOf(unitsOf(random, [...Array(21).keys()]));
    const whole = new Uint16Array(40 * 21);
    readPlaces(made.field, places, quanta, { out: { steps: whole }, first: 0 });
    for (let cut = 0; cut <= 40; cut++) {
      const steps = new Uint16Array(40 * 21);
      for (const [from, to] of [
        [0, cut],
        [cut, 40],
      ] as const) {
        const part = {
          latitudes: places.latitudes.subarray(from, to),
          longitudes: places.longitudes.subarray(from, to),
        };
        readPlaces(made.field, part, quanta, { out: { steps }, first: from });
      }
      expect(steps).toEqual(whole);
    }
  });

  test("marks the tiles that it reads as used, and no others", async () => {
    const made = await madeField(5, randomFrom(62), 1);
    const before = Array.from({ length: made.countOf("cells") }, (_, index) => wordOf(made, index));
    const quanta = quantaOf(unitsOf(randomFrom(63), [0]));
    const place = { latitudes: Float64Array.of(0.5), longitudes: Float64Array.of(0.5) };
    readPlaces(made.field, place, quanta, { out: { steps: new Uint16Array(1) }, first: 0 });
    const tile = Math.floor(89 / TILE_SIZE) * made.grid.tileColumnCount + Math.floor(180 / TILE_SIZE);
    expect(before.map((_, index) => wordOf(made, index))).toEqual(
      before.map((word, index) => (index === tile ? word | 1 : word)),
    );
  });

  function wordOf({ kernel, field }: MadeField, index: number): number {
    return kernel.words[(field.directories.cells.pointer >>> 2) + index] ?? 0;
  }
});
