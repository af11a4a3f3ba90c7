/**
 * Benchmark workloads: grids, flood maps and places generated from a seed, so that every run measures the same work.
 * Generated once and cached under build/bench-data, in a folder named by a hash of all inputs.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile, type FileHandle, mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type GroupEntry, gridEntryOf } from "../src/atlas/catalogue.ts";
import type { Band } from "../src/atlas/tile.ts";
import { publish, writePack } from "../src/atlas/writer.ts";
import { HAZARDS, totalHazardSteps } from "../src/hazard/hazards.ts";
import { geodesicDistanceM } from "../src/kernel/geodesy.ts";
import { closesAt360, type Grid, type Location } from "../src/kernel/grid.ts";
import type { Kernel } from "../src/kernel/instance.ts";
import { STEPS_NODATA } from "../src/kernel/kernel.generated.ts";
import { randomFrom, type SeededRandom } from "../test/seededRandom.ts";
import { type GeoTiffCells, writeGeoTiff } from "./geoTiff.ts";

export const HAZARD = "riverine_floods";

/** The (scenario, year) groups of the maps; `wetter` is the increase over the baseline, relative to rcp8p5 2080. */
const GROUPS = [
  { scenario: "baseline", year: 1980, wetter: 0 },
  { scenario: "rcp4p5", year: 2030, wetter: 0.1 },
  { scenario: "rcp4p5", year: 2050, wetter: 0.25 },
  { scenario: "rcp4p5", year: 2080, wetter: 0.4 },
  { scenario: "rcp8p5", year: 2030, wetter: 0.15 },
  { scenario: "rcp8p5", year: 2050, wetter: 0.45 },
  { scenario: "rcp8p5", year: 2080, wetter: 1 },
] as const;
/** The metrics that benchmarks query. `total_hazard` is also stored in every group, and never queried. */
export const QUERIED_METRICS = ["intensity", "depth_meters", "probability"] as const;
export const QUERIED_LAYERS = GROUPS.flatMap(({ scenario, year }) =>
  QUERIED_METRICS.map((metric) => ({ scenario, year, metric })),
);
/** 7 (scenario, year) x 3 metrics. */
export const LAYER_COUNT = QUERIED_LAYERS.length;

const SPEC = HAZARDS[HAZARD];
const STORED_PER_GROUP = SPEC.metrics.length;
const STORED_LAYERS: GroupEntry["layers"] = SPEC.metrics.map(({ metric, unit, stepsPerUnit, offset }) => ({
  metric,
  unit,
  steps_per_unit: stepsPerUnit,
  offset,
}));
/** Steps per unit of each queried layer. */
export const STEPS_PER_UNIT = QUERIED_LAYERS.map(
  ({ metric }) => SPEC.metrics.find((spec) => spec.metric === metric)?.stepsPerUnit ?? Number.NaN,
);

export interface WorkloadSpec {
  readonly name: string;
  readonly grid: Grid;
  readonly seed: number;
  /** `count` places, 70 % of them around `townCount` towns. */
  readonly places: { readonly count: number; readonly townCount: number };
}

/** Every benchmarked circle is entirely within its grid, so that all latitudes do the same work. */
export const RADIUS_KM_MAX = 100;

const PLACES = { count: 1000, townCount: 40 } as const;

function square(latDeg: number): WorkloadSpec {
  const cellSizeDeg = 0.0089;
  const side = 2248;
  return {
    name: `lat${latDeg}`,
    seed: 1000 + latDeg,
    places: PLACES,
    grid: {
      northDeg: latDeg + (side / 2) * cellSizeDeg,
      westDeg: 10,
      cellSizeLatDeg: cellSizeDeg,
      cellSizeLonDeg: cellSizeDeg,
      rowCount: side,
      columnCount: side,
    },
  };
}

/** 20 x 20 degrees around four latitudes at about 1 km, and the world at about 11 km. */
export const WORKLOADS: readonly WorkloadSpec[] = [
  square(0),
  square(45),
  square(60),
  square(75),
  {
    name: "world",
    seed: 2000,
    places: PLACES,
    grid: { northDeg: 90, westDeg: -180, cellSizeLatDeg: 0.1, cellSizeLonDeg: 0.1, rowCount: 1800, columnCount: 3600 },
  },
];

/** 101 x 101 tiles around 45 degrees north: too many to cache, for counting the reads of a cold query. */
export const WIDE: WorkloadSpec = {
  name: "wide",
  seed: 3000,
  places: PLACES,
  grid: {
    northDeg: 73.7,
    westDeg: -10,
    cellSizeLatDeg: 0.0089,
    cellSizeLonDeg: 0.0089,
    rowCount: 101 * 64,
    columnCount: 101 * 64,
  },
};

/** Smooth random heights on a lattice: value noise (Ebert et al., Texturing and Modeling, chapter 2). */
class NoiseField {
  readonly #heights: Float32Array;
  readonly #pitch: number;
  readonly #width: number;

  constructor(random: SeededRandom, grid: Grid, pitchCells: number) {
    this.#pitch = pitchCells;
    this.#width = Math.ceil(grid.columnCount / pitchCells) + 2;
    const rows = Math.ceil(grid.rowCount / pitchCells) + 2;
    this.#heights = Float32Array.from({ length: this.#width * rows }, () => random.next());
  }

  /** Adds the heights along one row of cells, times `weight`, to `out`. */
  addRow(row: number, weight: number, out: Float32Array): void {
    const pitch = this.#pitch;
    const v = smooth((row % pitch) / pitch);
    const north = Math.floor(row / pitch) * this.#width;
    const south = north + this.#width;
    for (let column = 0, lattice = 0; column < out.length; column += pitch, lattice++) {
      const west = mix(this.#heights[north + lattice] ?? 0, this.#heights[south + lattice] ?? 0, v);
      const east = mix(this.#heights[north + lattice + 1] ?? 0, this.#heights[south + lattice + 1] ?? 0, v);
      const end = Math.min(out.length, column + pitch);
      for (let at = column; at < end; at++) {
        out[at] = (out[at] ?? 0) + weight * mix(west, east, smooth((at - column) / pitch));
      }
    }
  }
}

/** Noise fields summed from coarse to fine. */
type Octaves = readonly { readonly field: NoiseField; readonly weight: number }[];

function smooth(t: number): number {
  return t * t * (3 - 2 * t);
}

function mix(a: number, b: number, t: number): number {
  return a + (b - a) * t;
}

/** Share of all cells that are zero in the driest map; about 0.03 less in the wettest. */
const ZERO_SHARE = 0.79;
const NODATA_SHARE = 0.045;
/** How far the shore moves inland from the driest to the wettest scenario, as a share of all cells. */
const SHORE_SHARE = 0.025;

/**
 * Flood maps shaped like real ones: mostly dry, with connected patches of water that deepen inwards and grow with the
 * scenario, and blobs of nodata shared by all layers.
 */
export class FloodMaps {
  readonly grid: Grid;
  readonly #wet: Octaves;
  readonly #gaps: Octaves;
  readonly #shoreOfGroup: readonly number[];
  readonly #gapFrom: number;

  constructor({ grid, seed }: Pick<WorkloadSpec, "grid" | "seed">) {
    this.grid = grid;
    const random = randomFrom(seed);
    const field = (pitchCells: number, weight: number) => ({ field: new NoiseField(random, grid, pitchCells), weight });
    this.#wet = [field(192, 0.5), field(48, 0.3), field(12, 0.15), field(4, 0.05)];
    this.#gaps = [field(160, 0.8), field(20, 0.2)];
    const wetness = this.#sortedSample(this.#wet);
    const dryShare = ZERO_SHARE / (1 - NODATA_SHARE); // of the cells that have data
    this.#shoreOfGroup = GROUPS.map(({ wetter }) => quantile(wetness, dryShare - SHORE_SHARE * wetter));
    this.#gapFrom = quantile(this.#sortedSample(this.#gaps), 1 - NODATA_SHARE);
  }

  /** Returns the cells of some rows: for each group u16[rowCount][columnCount][4], `total_hazard` last. */
  readBand({ firstRow, rowCount }: Band): Uint16Array[] {
    const { columnCount } = this.grid;
    const groups = GROUPS.map(() => new Uint16Array(rowCount * columnCount * STORED_PER_GROUP));
    for (let row = 0; row < rowCount; row++) {
      const wet = this.#row(this.#wet, firstRow + row);
      const gaps = this.#row(this.#gaps, firstRow + row);
      for (const [group, cells] of groups.entries()) {
        const shore = this.#shoreOfGroup[group] ?? 0;
        const depthFactor = 1 + 0.5 * (GROUPS[group]?.wetter ?? 0);
        let at = row * columnCount * STORED_PER_GROUP;
        for (let column = 0; column < columnCount; column++, at += STORED_PER_GROUP) {
          if ((gaps[column] ?? 0) >= this.#gapFrom) {
            cells.fill(STEPS_NODATA, at, at + STORED_PER_GROUP);
            continue;
          }
          const heightAboveShore = (wet[column] ?? 0) - shore;
          if (heightAboveShore > 0)
            setFlood(cells, at, { depthM: Math.min(60, 0.02 + 45 * depthFactor * heightAboveShore), heightAboveShore });
        }
      }
    }
    return groups;
  }

  #row(fields: Octaves, row: number): Float32Array {
    const out = new Float32Array(this.grid.columnCount);
    for (const { field, weight } of fields) field.addRow(row, weight, out);
    return out;
  }

  /** Returns a sorted sample of the summed heights, for quantiles. */
  #sortedSample(fields: Octaves): Float32Array {
    const step = Math.max(1, Math.floor(this.grid.rowCount / 300));
    const rows: number[] = [];
    for (let row = 0; row < this.grid.rowCount; row += step) rows.push(...this.#row(fields, row));
    return Float32Array.from(rows).toSorted();
  }
}

/**
 * Sets the metrics of a wet cell as ingest would derive them from a depth: intensity is full at 10 m, probability grows
 * with depth.
 */
function setFlood(
  cells: Uint16Array,
  at: number,
  { depthM, heightAboveShore }: { depthM: number; heightAboveShore: number },
): void {
  const intensity = Math.max(1, Math.round(Math.min(1, depthM / 10) * 10_000));
  const probability = Math.round(Math.min(0.5, 0.005 + 1.5 * heightAboveShore) * 60_000);
  cells[at] = intensity;
  cells[at + 1] = Math.round(depthM * 1000);
  cells[at + 2] = probability;
  cells[at + 3] = totalHazardSteps(intensity, probability);
}

function quantile(sorted: Float32Array, share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/**
 * Returns the places to query: 70 % within about 30 km of a town, the rest anywhere, in random order, so that
 * consecutive places are independent.
 */
export function generatePlaces({ grid, seed, places }: WorkloadSpec): Location[] {
  const random = randomFrom(seed ^ 0x5eed);
  const anywhere = (): Location => {
    for (;;) {
      const place = {
        latDeg: grid.northDeg - random.next() * grid.rowCount * grid.cellSizeLatDeg,
        lonDeg: grid.westDeg + random.next() * grid.columnCount * grid.cellSizeLonDeg,
      };
      if (fits(grid, place)) return place;
    }
  };
  const towns = Array.from({ length: places.townCount }, anywhere);
  const nearTown = (): Location => {
    for (;;) {
      const town = random.pick(towns);
      const place = {
        latDeg: town.latDeg + (random.next() + random.next() - 1) * 0.3,
        lonDeg: town.lonDeg + ((random.next() + random.next() - 1) * 0.3) / Math.cos((town.latDeg * Math.PI) / 180),
      };
      if (fits(grid, place)) return place;
    }
  };
  return Array.from({ length: places.count }, () => (random.chance(0.7) ? nearTown() : anywhere()));
}

/** Returns random places all over the grid, for queries of single cells. */
export function generatePoints(
  { grid, seed }: WorkloadSpec,
  count: number,
): { latitudes: Float64Array; longitudes: Float64Array } {
  const random = randomFrom(seed ^ 0x90175);
  const latitudes = new Float64Array(count);
  const longitudes = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    latitudes[i] = grid.northDeg - random.next() * grid.rowCount * grid.cellSizeLatDeg;
    longitudes[i] = grid.westDeg + random.next() * grid.columnCount * grid.cellSizeLonDeg;
  }
  return { latitudes, longitudes };
}

/**
 * Whether the largest circle around the place stays within the grid, and away from the poles, which competitors do not
 * handle.
 */
function fits(grid: Grid, { latDeg, lonDeg }: Location): boolean {
  const reachM = RADIUS_KM_MAX * 1000;
  const south = grid.northDeg - grid.rowCount * grid.cellSizeLatDeg;
  const reachLatDeg = RADIUS_KM_MAX / 110;
  const far = Math.max(Math.abs(latDeg + reachLatDeg), Math.abs(latDeg - reachLatDeg));
  if (far > 84 || latDeg + reachLatDeg > grid.northDeg || latDeg - reachLatDeg < south) return false;
  const east = grid.westDeg + grid.columnCount * grid.cellSizeLonDeg;
  const nearestEdgeDeg = Math.min(lonDeg - grid.westDeg, east - lonDeg);
  if (closesAt360(grid)) return nearestEdgeDeg > reachLatDeg / Math.cos((far * Math.PI) / 180);
  const edge = { latDeg: Math.sign(latDeg) * far, lonDeg: lonDeg + nearestEdgeDeg };
  return geodesicDistanceM({ latDeg: edge.latDeg, lonDeg }, edge) > reachM;
}

/** A workload on disk. */
export interface Workload {
  readonly spec: WorkloadSpec;
  readonly places: readonly Location[];
  /** An atlas folder for `openAtlas`. */
  readonly atlasFolder: string;
  /** u16[rowCount][columnCount][21] in steps, nodata 65,535: input of the in-memory competitors. */
  readonly cellsPath: string;
  /** The same cells as a GeoTIFF of 21 interleaved bands in DEFLATE tiles of 128 x 128. */
  readonly geoTiffPath: string;
  /** The places as text, one "latitude longitude" per line. */
  readonly placesPath: string;
  /** f64[2][POINT_COUNT]: latitudes, then longitudes of random points. */
  readonly pointsPath: string;
}

/** Number of points in the single-cell benchmark. */
export const POINT_COUNT = 1_000_000;

/** Increment when the maps change, so that cached workloads are generated again. */
const RECIPE = 1;

/**
 * Generates the workload, or finds it in the cache.
 *
 * @param withCompetitorData false omits the files that only competitors read (`cellsPath`, `geoTiffPath`)
 */
export async function prepare(
  kernel: Kernel,
  spec: WorkloadSpec,
  { folder = "build/bench-data", withCompetitorData = true }: { folder?: string; withCompetitorData?: boolean } = {},
): Promise<Workload> {
  const hash = createHash("sha256").update(JSON.stringify([RECIPE, withCompetitorData, spec, GROUPS]));
  const home = join(folder, `${spec.name}-${hash.digest("hex").slice(0, 12)}`);
  const workload = {
    spec,
    places: generatePlaces(spec),
    atlasFolder: join(home, "atlas"),
    cellsPath: join(home, "cells.u16"),
    geoTiffPath: join(home, "cells.tif"),
    placesPath: join(home, "places.txt"),
    pointsPath: join(home, "points.f64"),
  };
  if (existsSync(home)) return workload;

  const unfinished = `${home}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  console.error(`generating workload ${spec.name} in ${home}`);
  const maps = new FloodMaps(spec);
  const cells = withCompetitorData ? await open(join(unfinished, "cells.u16"), "w") : undefined;
  try {
    await writeAtlas(kernel, join(unfinished, "atlas"), { maps, cells });
  } finally {
    await cells?.close();
  }
  if (withCompetitorData) await writeCompetitorData(unfinished, workload);
  await rename(unfinished, home);
  return workload;
}

async function writeCompetitorData(folder: string, { spec, places }: Workload): Promise<void> {
  await writeFile(
    join(folder, "cells.tif"),
    await writeGeoTiff(await readQueriedCells(spec, join(folder, "cells.u16"))),
  );
  await writeFile(join(folder, "places.txt"), places.map(({ latDeg, lonDeg }) => `${latDeg} ${lonDeg}\n`).join(""));
  const { latitudes, longitudes } = generatePoints(spec, POINT_COUNT);
  await writeFile(join(folder, "points.f64"), new Uint8Array(latitudes.buffer));
  await appendFile(join(folder, "points.f64"), new Uint8Array(longitudes.buffer));
}

/** Reads the competitors' cells: u16[rowCount][columnCount][21]. */
export async function readQueriedCells({ grid }: Pick<WorkloadSpec, "grid">, path: string): Promise<GeoTiffCells> {
  const bytes = await readFile(path);
  return {
    grid,
    bandCount: LAYER_COUNT,
    nodata: STEPS_NODATA,
    cells: new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 2),
  };
}

async function writeAtlas(
  kernel: Kernel,
  folder: string,
  { maps, cells }: { maps: FloodMaps; cells: FileHandle | undefined },
): Promise<void> {
  await mkdir(folder, { recursive: true });
  const { grid } = maps;
  const groups = GROUPS.map(({ scenario, year }) => ({ scenario, year, layers: STORED_LAYERS }));
  const pack = await writePack(kernel, folder, {
    hazard: HAZARD,
    grid,
    groups,
    resumeKey: "bench",
    readBand: async (band) => {
      const read = maps.readBand(band);
      if (cells !== undefined) await cells.writeFile(new Uint8Array(interleaveLayers(read).buffer));
      return read;
    },
  });
  await publish(folder, () => ({
    format: "isotherm-atlas",
    format_version: 1,
    release: "bench-1",
    created_at: "2026-01-01T00:00:00.000Z",
    synthetic: true,
    hazards: [
      {
        hazard: HAZARD,
        grid: gridEntryOf(grid),
        rules: { ...SPEC.rules },
        packs: [
          { ...pack, groups: groups.map((group) => ({ ...group, provenance: { product: "made for the benches" } })) },
        ],
      },
    ],
  }));
}

/** Interleaves the queried layers of all groups: u16[cells][21]. */
export function interleaveLayers(groups: readonly Uint16Array[]): Uint16Array {
  const cellCount = (groups[0]?.length ?? 0) / STORED_PER_GROUP;
  const metricCount = QUERIED_METRICS.length;
  const cells = new Uint16Array(cellCount * LAYER_COUNT);
  for (const [group, stored] of groups.entries()) {
    for (let cell = 0; cell < cellCount; cell++) {
      for (let metric = 0; metric < metricCount; metric++) {
        cells[cell * LAYER_COUNT + group * metricCount + metric] = stored[cell * STORED_PER_GROUP + metric] ?? 0;
      }
    }
  }
  return cells;
}
