/**
 * Benchmark workloads: grids, flood maps (floodMaps.ts) and places generated from a seed, so that every run measures
 * the same work. Generated once and cached under build/bench-data, in a folder named by a hash of all inputs.
 */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile, type FileHandle, mkdir, open, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { catalogGridOf } from "../src/atlas/catalog.ts";
import { publish, writePack } from "../src/atlas/writer.ts";
import { geodesicDistanceM } from "../src/kernel/geodesy.ts";
import { closesAt360, type Grid, type Location } from "../src/kernel/grid.ts";
import type { Kernel } from "../src/kernel/instance.ts";
import { STEPS_NODATA } from "../src/kernel/kernel.generated.ts";
import { randomFrom } from "../test/seededRandom.ts";
import { FloodMaps, GROUPS, HAZARD, interleaveLayers, LAYER_COUNT, SPEC, STORED_LAYERS } from "./floodMaps.ts";
import { type GeoTiffCells, writeGeoTiff } from "./geoTiff.ts";

export interface WorkloadSpec {
  readonly name: string;
  readonly grid: Grid;
  readonly seed: number;
  /** `count` places, 70 % of them around `townCount` towns. */
  readonly places: { readonly count: number; readonly townCount: number };
}

/** Largest radius; every benchmarked circle is entirely within its grid, so that all latitudes do the same work. */
const RADIUS_KM_MAX = 100;

const PLACES = { count: 1000, townCount: 40 } as const;

/** Returns a workload of 20 x 20 degrees around a latitude. */
function squareAround(latDeg: number): WorkloadSpec {
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
  squareAround(0),
  squareAround(45),
  squareAround(60),
  squareAround(75),
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

/**
 * Returns the places to query: 70 % within about 30 km of a town, the rest anywhere, in random order, so that
 * consecutive places are independent.
 */
export function generatePlaces({ grid, seed, places }: WorkloadSpec): Location[] {
  const random = randomFrom(seed ^ 0x5eed);
  const generateAnywhere = (): Location => {
    for (;;) {
      const location = {
        latDeg: grid.northDeg - random.next() * grid.rowCount * grid.cellSizeLatDeg,
        lonDeg: grid.westDeg + random.next() * grid.columnCount * grid.cellSizeLonDeg,
      };
      if (isInsideGrid(grid, location)) return location;
    }
  };
  const towns = Array.from({ length: places.townCount }, generateAnywhere);
  const generateNearTown = (): Location => {
    for (;;) {
      const town = random.pick(towns);
      const location = {
        latDeg: town.latDeg + (random.next() + random.next() - 1) * 0.3,
        lonDeg: town.lonDeg + ((random.next() + random.next() - 1) * 0.3) / Math.cos((town.latDeg * Math.PI) / 180),
      };
      if (isInsideGrid(grid, location)) return location;
    }
  };
  return Array.from({ length: places.count }, () => (random.chance(0.7) ? generateNearTown() : generateAnywhere()));
}

/** Returns random locations all over the grid, for queries of single cells. */
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
 * Returns whether the largest circle around a location is within the grid and away from the poles, which competitors do
 * not handle.
 */
function isInsideGrid(grid: Grid, { latDeg, lonDeg }: Location): boolean {
  const radiusM = RADIUS_KM_MAX * 1000;
  const southDeg = grid.northDeg - grid.rowCount * grid.cellSizeLatDeg;
  const reachLatDeg = RADIUS_KM_MAX / 110;
  const maxAbsLatDeg = Math.max(Math.abs(latDeg + reachLatDeg), Math.abs(latDeg - reachLatDeg));
  if (maxAbsLatDeg > 84 || latDeg + reachLatDeg > grid.northDeg || latDeg - reachLatDeg < southDeg) return false;
  const eastDeg = grid.westDeg + grid.columnCount * grid.cellSizeLonDeg;
  const nearestEdgeDeg = Math.min(lonDeg - grid.westDeg, eastDeg - lonDeg);
  if (closesAt360(grid)) return nearestEdgeDeg > reachLatDeg / Math.cos((maxAbsLatDeg * Math.PI) / 180);
  const edge = { latDeg: Math.sign(latDeg) * maxAbsLatDeg, lonDeg: lonDeg + nearestEdgeDeg };
  return geodesicDistanceM({ latDeg: edge.latDeg, lonDeg }, edge) > radiusM;
}

/** Returns the location of index `index` in the workload. @throws RangeError if the workload does not have it */
export function locationOf({ places }: Pick<Workload, "places">, index: number): Location {
  const location = places[index];
  if (location === undefined) throw new RangeError(`the workload has ${places.length} places (got index ${index})`);
  return location;
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

/** Version of the maps. Increment it whenever they change, so that cached workloads are generated again. */
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
  const workloadFolder = join(folder, `${spec.name}-${hash.digest("hex").slice(0, 12)}`);
  const workload = {
    spec,
    places: generatePlaces(spec),
    atlasFolder: join(workloadFolder, "atlas"),
    cellsPath: join(workloadFolder, "cells.u16"),
    geoTiffPath: join(workloadFolder, "cells.tif"),
    placesPath: join(workloadFolder, "places.txt"),
    pointsPath: join(workloadFolder, "points.f64"),
  };
  if (existsSync(workloadFolder)) return workload;

  const unfinished = `${workloadFolder}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true });
  console.error(`generating workload ${spec.name} in ${workloadFolder}`);
  const maps = new FloodMaps(spec);
  const cells = withCompetitorData ? await open(join(unfinished, "cells.u16"), "w") : undefined;
  try {
    await writeAtlas(kernel, join(unfinished, "atlas"), { maps, cells });
  } finally {
    await cells?.close();
  }
  if (withCompetitorData) await writeCompetitorData(unfinished, workload);
  await rename(unfinished, workloadFolder);
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
        grid: catalogGridOf(grid),
        rules: { ...SPEC.rules },
        packs: [
          {
            ...pack,
            groups: groups.map((group) => ({ ...group, provenance: { product: "synthetic benchmark maps" } })),
          },
        ],
      },
    ],
  }));
}
