/**
 * Partition invariance: results for one world are bit-identical regardless of how it is divided. The tests use crops
 * with different origins, so that different cells share tiles, blocks and pyramid tiles; seams at different longitudes;
 * groups in one pack or several; layers queried together or separately; and places queried in one call or in batches.
 * Cell sizes are powers of two, so that a cell's center is the same number for every origin of the grid. ISOTHERM_CUTS
 * sets the number of crops.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Catalog, catalogGridOf } from "../../src/atlas/catalog.ts";
import { diskBlobs } from "../../src/atlas/diskBlobs.ts";
import { openPackedAtlas } from "../../src/atlas/packedAtlas.ts";
import type { CircleSample } from "../../src/atlas/circleSampling.ts";
import { Sampler } from "../../src/atlas/sampler.ts";
import { publish, writePack } from "../../src/atlas/writer.ts";
import { createAtlas, type Atlas } from "../../src/hazard/answer.ts";
import type { Circle } from "../../src/kernel/geodesy.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { randomFrom, type SeededRandom, shuffled } from "../seededRandom.ts";
import {
  FLOOD_LAYERS,
  makeAtlas,
  type GroupFixture,
  type HazardFixture,
  packInputOf,
  patchyCells,
} from "./makeAtlas.ts";

const CUTS = Number(process.env["ISOTHERM_CUTS"] ?? 5);
const HAZARD = "riverine_floods";
/** At 60 degrees north a circle of 100 km is 116 rows high and 460 columns wide. */
const WORLD: Grid = {
  northDeg: 63,
  westDeg: 174,
  cellSizeLatDeg: 1 / 64,
  cellSizeLonDeg: 1 / 128,
  rowCount: 480,
  columnCount: 1400,
};
/** Maximum offset of a crop from the world's northwestern corner. */
const SHIFT = { rows: 130, columns: 520 };
/** A grid around the whole Earth, whose seam can be at any longitude. */
const GLOBE: Grid = {
  northDeg: 90,
  westDeg: -180,
  cellSizeLatDeg: 0.5,
  cellSizeLonDeg: 0.25,
  rowCount: 360,
  columnCount: 1440,
};

function groupsOf(grid: Grid, seed: number): readonly GroupFixture[] {
  const random = randomFrom(seed);
  const full = Uint16Array.from({ length: grid.rowCount * grid.columnCount * 2 }, () =>
    random.chance(0.001) ? random.below(65_534) : random.below(300),
  );
  return [
    { scenario: "rcp4p5", year: 2030, layers: FLOOD_LAYERS.slice(0, 2), cells: full },
    {
      scenario: "rcp8p5",
      year: 2050,
      layers: FLOOD_LAYERS.slice(0, 3),
      cells: patchyCells(grid, { layerCount: 3, seed: seed + 1 }),
    },
  ];
}

/** Returns the part of a world that starts at a cell; columns wrap around the Earth. */
function crop(
  { grid, groups }: Pick<HazardFixture, "grid" | "groups">,
  part: { readonly row: number; readonly column: number; readonly rowCount: number; readonly columnCount: number },
): HazardFixture {
  const { row: top, column: west, rowCount, columnCount } = part;
  return {
    hazard: HAZARD,
    grid: {
      ...grid,
      northDeg: grid.northDeg - top * grid.cellSizeLatDeg,
      westDeg: grid.westDeg + west * grid.cellSizeLonDeg,
      rowCount,
      columnCount,
    },
    groups: groups.map((group) => {
      const layerCount = group.layers.length;
      const cells = new Uint16Array(rowCount * columnCount * layerCount);
      for (let row = 0; row < rowCount; row++) {
        for (let column = 0; column < columnCount; column++) {
          const from = ((top + row) * grid.columnCount + ((west + column) % grid.columnCount)) * layerCount;
          cells.set(group.cells.subarray(from, from + layerCount), (row * columnCount + column) * layerCount);
        }
      }
      return { ...group, cells };
    }),
  };
}

const cleanups: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  cleanups.push(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

interface OpenedAtlas {
  readonly atlas: Atlas;
  /** Samples a circle for the given layers, by default all, in the order of the groups. */
  circle(circle: Circle, method: "max" | "mean", layers?: readonly number[]): Promise<CircleSample>;
}

async function openAt(folder: string, { cacheBytes = 64 << 20 } = {}): Promise<OpenedAtlas> {
  const kernel = await Kernel.load({ scratchBytes: 16 << 20 });
  const cells = await openPackedAtlas(kernel, diskBlobs(folder), { headerCacheBytes: 1 << 20 });
  cleanups.push(() => cells.close());
  const sampler = new Sampler(kernel, cells, { cacheBytes });
  const hazard = sampler.hazards.get(HAZARD);
  if (hazard === undefined) throw new Error("no such hazard");
  const all = hazard
    .allLayers()
    .toSorted(
      (a, b) => (a.source.groups[a.group]?.year ?? 0) - (b.source.groups[b.group]?.year ?? 0) || a.layer - b.layer,
    );
  return {
    atlas: createAtlas(sampler, cells, "disk"),
    circle: (circle, method, layers = [...all.keys()]) =>
      sampler.sampleCircle(
        sampler.layerSet(
          hazard,
          layers.flatMap((layer) => all[layer] ?? []),
        ),
        circle,
        { method, shares: true },
      ),
  };
}

async function writeAndOpen(
  fixture: HazardFixture,
  options: { readonly cacheBytes?: number } = {},
): Promise<OpenedAtlas> {
  const folder = await newFolder();
  await makeAtlas(await Kernel.load(), folder, [fixture]);
  return openAt(folder, options);
}

/** Returns a random circle that is far enough from the edge of every crop. */
function randomCircle(random: SeededRandom): Circle {
  const row = random.between({ min: SHIFT.rows + 62, max: WORLD.rowCount - SHIFT.rows - 62 });
  const column = random.between({ min: SHIFT.columns + 250, max: WORLD.columnCount - 350 });
  const lonDeg = WORLD.westDeg + column * WORLD.cellSizeLonDeg;
  return {
    latDeg: WORLD.northDeg - row * WORLD.cellSizeLatDeg,
    lonDeg: lonDeg > 180 ? lonDeg - 360 : lonDeg,
    radiusM: random.chance(0.3) ? 100_000 : 300 * 330 ** random.next(),
  };
}

const METHODS = ["max", "mean"] as const;
const CIRCLE_COUNT = 40;

/** Compares bits, because -0 and 0, or different NaNs, would count as equal otherwise. */
function bitsOf(samples: readonly CircleSample[]): readonly string[] {
  return samples.map(({ cellCount, values }) =>
    [
      cellCount,
      ...values.flatMap(({ steps = NaN, validShare = NaN, hasNodata }) => [
        ...new BigUint64Array(Float64Array.of(steps, validShare).buffer),
        Number.isNaN(steps) && hasNodata,
      ]),
    ].join(" "),
  );
}

async function sampleAll({ circle }: OpenedAtlas, circles: readonly Circle[]): Promise<readonly string[]> {
  const samples: CircleSample[] = [];
  for (const each of circles) for (const method of METHODS) samples.push(await circle(each, method));
  return bitsOf(samples);
}

describe("one world, divided in different ways", () => {
  const world: HazardFixture = { hazard: HAZARD, grid: WORLD, groups: groupsOf(WORLD, 1) };
  const random = randomFrom(7);
  const circles = Array.from({ length: CIRCLE_COUNT }, () => randomCircle(random));
  let whole: OpenedAtlas;
  let expected: readonly string[];
  beforeAll(async () => {
    whole = await writeAndOpen(world);
    expected = await sampleAll(whole, circles);
  });

  test("has varied results, and circles over many tiles", () => {
    expect(new Set(expected).size).toBeGreaterThan(1.9 * CIRCLE_COUNT);
    expect(expected.filter((bits) => Number(bits.split(" ")[0]) > 20_000).length).toBeGreaterThan(10);
  });

  test(
    `${CUTS} crops with other origins give the same bits`,
    async () => {
      const shifts = [
        { row: 1, column: 1 },
        { row: 8, column: 513 },
        { row: 64, column: 72 },
        ...Array.from({ length: Math.max(0, CUTS - 3) }, () => ({
          row: random.below(SHIFT.rows),
          column: random.below(SHIFT.columns),
        })),
      ].slice(0, CUTS);
      for (const { row, column } of shifts) {
        const part = {
          row,
          column,
          rowCount: WORLD.rowCount - row - random.below(SHIFT.rows),
          columnCount: WORLD.columnCount - column - random.below(100),
        };
        expect(await sampleAll(await writeAndOpen(crop(world, part)), circles), JSON.stringify(part)).toEqual(expected);
      }
    },
    60_000 + CUTS * 5000,
  );

  test("a pack per group and one pack of all groups give the same bits", async () => {
    const folder = await newFolder();
    const kernel = await Kernel.load();
    const packs: Catalog["hazards"][number]["packs"] = [];
    for (const group of world.groups.toReversed()) {
      const pack = await writePack(kernel, folder, packInputOf({ ...world, groups: [group] }));
      const { scenario, year, layers } = group;
      packs.push({ ...pack, groups: [{ scenario, year, layers, provenance: {} }] });
    }
    await publish(folder, () => ({
      format: "isotherm-atlas",
      format_version: 1,
      release: "cut-1",
      created_at: "2026-01-01T00:00:00.000Z",
      synthetic: true,
      hazards: [{ hazard: HAZARD, grid: catalogGridOf(WORLD), rules: {}, packs }],
    }));
    expect(await sampleAll(await openAt(folder), circles)).toEqual(expected);
  });

  test("a cache of a few tiles gives the same bits", async () => {
    for (const cacheBytes of [1 << 20, 3 << 20]) {
      expect(await sampleAll(await writeAndOpen(world, { cacheBytes }), circles)).toEqual(expected);
    }
  });

  test("layers queried together and separately, in any order, give the same bits", async () => {
    for (const method of METHODS) {
      for (const circle of circles.slice(0, 10)) {
        const { values } = await whole.circle(circle, method);
        for (const layers of [[0], [4, 1], [3], [2, 0, 4, 1, 3]]) {
          const separate = await whole.circle(circle, method, layers);
          expect(separate.values.map(({ steps }) => steps)).toEqual(layers.map((layer) => values[layer]?.steps));
        }
      }
    }
  });

  test("places in one call, and in batches of any size and order, give the same bits", async () => {
    const layers = [
      { scenario: "rcp8p5", analysisYear: 2050, metric: "probability" },
      { scenario: "rcp4p5", analysisYear: 2030, metric: "intensity" },
    ] as const;
    const places = Array.from({ length: 3000 }, () => randomCircle(random));
    for (const options of [
      { radiusKm: 0, method: "max" },
      { radiusKm: 12, method: "max" },
      { radiusKm: 12, method: "mean" },
    ] as const) {
      const sampleBits = async (atlas: Atlas, circles: readonly Circle[]): Promise<readonly bigint[]> => {
        const latitudes = Float64Array.from(circles, ({ latDeg }) => latDeg);
        const longitudes = Float64Array.from(circles, ({ lonDeg }) => lonDeg);
        const { values, reasons } = await atlas.sample({ hazard: HAZARD, layers, latitudes, longitudes, ...options });
        const bits = new BigUint64Array(values.buffer, values.byteOffset, values.length);
        return Array.from(bits, (value, i) => value * 4n + BigInt(reasons[i] ?? 3));
      };
      const expectedBits = await sampleBits(whole.atlas, places);
      const testedPlaces = options.radiusKm === 0 ? places : places.slice(0, 400);
      for (const [length, cacheBytes] of [
        [1, 64 << 20],
        [7, 2 << 20],
        [2049, 2 << 20],
      ] as const) {
        const { atlas } = await writeAndOpen(world, { cacheBytes });
        const order = shuffled(random, [...testedPlaces.keys()]);
        const found: bigint[] = [];
        for (let start = 0; start < order.length; start += length) {
          const batch = order.slice(start, start + length);
          const bits = await sampleBits(
            atlas,
            batch.flatMap((place) => testedPlaces[place] ?? []),
          );
          for (const [i, place] of batch.entries()) {
            for (const [layer] of layers.entries()) {
              found[place * layers.length + layer] = bits[i * layers.length + layer] ?? -1n;
            }
          }
        }
        const differenceIndex = found.findIndex((value, i) => value !== expectedBits[i]);
        expect({ options, length, differenceIndex }).toEqual({ options, length, differenceIndex: -1 });
      }
    }
  });
});

describe("one globe, with its seam at different longitudes", () => {
  test("gives the same bits, including at the poles and across the seam", async () => {
    const globe = { grid: GLOBE, groups: groupsOf(GLOBE, 3) };
    const random = randomFrom(11);
    const columns = [0, 1, 63, 720, 1000, 1439];
    const circles: Circle[] = Array.from({ length: 120 }, (_, i) => ({
      latDeg: i % 4 === 0 ? random.pick([90, -90, 89.6, -88.9]) : random.between({ min: -90, max: 90 }),
      lonDeg:
        i % 2 === 0
          ? ((random.pick(columns) * 0.25 + random.between({ min: -0.5, max: 0.5 }) + 360) % 360) - 180
          : random.between({ min: -180, max: 180 }),
      radiusM: random.between({ min: 1000, max: 100_000 }),
    }));
    let expected: readonly string[] | undefined;
    for (const column of columns) {
      const part = { row: 0, column, rowCount: GLOBE.rowCount, columnCount: GLOBE.columnCount };
      const found = await sampleAll(await writeAndOpen(crop(globe, part)), circles);
      expected ??= found;
      expect(found, `from column ${column}`).toEqual(expected);
    }
  });
});
