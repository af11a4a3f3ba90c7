/** Maps generated from a seed, which replace public maps if those are not available. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeGeoTiff } from "./ingest/makeGeoTiff.ts";
import { randomFrom, type SeededRandom } from "./seededRandom.ts";
import type { Sample } from "./sharedData.ts";

/** Cell size of Aqueduct, degrees. */
const CELL_DEG = 1 / 120;
const NODATA = -9999;
const RETURN_PERIODS_YEARS = [2, 5, 10, 25, 50, 100, 250, 500, 1000];

/** Returns a depth in meters: often zero, sometimes missing, otherwise up to `depthMaxM`. */
function randomDepthM(random: SeededRandom, depthMaxM: number): number {
  if (random.chance(0.1)) return NODATA;
  return random.chance(0.3) ? 0 : Math.fround(random.between({ min: 0, max: depthMaxM }));
}

/**
 * Writes nine maps of river floods, named like those of Aqueduct Floods v2, whose depths grow with the return period.
 * @returns locations inside and outside, with the values of the map for 100 years
 */
export function writeFloodMaps(folder: string): readonly Sample[] {
  const random = randomFrom(41);
  const [rowCount, columnCount] = [30, 40];
  const [westDeg, northDeg] = [43, 12];
  const baseDepthsM = Array.from({ length: rowCount * columnCount }, () => randomDepthM(random, 4));
  for (const years of RETURN_PERIODS_YEARS) {
    const values = baseDepthsM.map((depthM) => depthOf(depthM, years));
    const shape = { rowCount, columnCount, tiePoint: [westDeg, northDeg], pixelScale: [CELL_DEG, CELL_DEG] } as const;
    const name = `inunriver_rcp4p5_MIROC-ESM-CHEM_2030_rp${String(years).padStart(5, "0")}.tif`;
    writeFileSync(join(folder, name), makeGeoTiff({ ...shape, values, nodata: String(NODATA) }));
  }
  return Array.from({ length: 12 }, (_, index) => {
    // Every fourth location is east of the map. None is on an edge.
    const row = random.below(rowCount);
    const column = index % 4 === 3 ? columnCount + random.below(9) : random.below(columnCount);
    const value = column < columnCount ? depthOf(baseDepthsM[row * columnCount + column] ?? NaN, 100) : undefined;
    return {
      id: `row ${row}, column ${column}`,
      latDeg: northDeg - (row + random.between({ min: 0.1, max: 0.9 })) * CELL_DEG,
      lonDeg: westDeg + (column + random.between({ min: 0.1, max: 0.9 })) * CELL_DEG,
      band: 1,
      isInside: value !== undefined,
      isNodata: value === NODATA,
      nearest: value === NODATA ? undefined : value,
      alternative: undefined,
      allBands: undefined,
    };
  });
}

function depthOf(depthM: number, years: number): number {
  return depthM === NODATA || depthM === 0 ? depthM : Math.fround(depthM * Math.log10(1 + years));
}

/** Writes a map of 8 x 8 degrees around the Horn of Africa, in cells of 1/40 degree. @returns its path */
export function writeCircleMap(folder: string): string {
  const random = randomFrom(42);
  const [rowCount, columnCount, cellDeg] = [320, 320, 1 / 40];
  const values = Array.from({ length: rowCount * columnCount }, () => randomDepthM(random, 20));
  const file = join(folder, "circles.tif");
  const shape = { rowCount, columnCount, tiePoint: [39, 15.5], pixelScale: [cellDeg, cellDeg] } as const;
  writeFileSync(file, makeGeoTiff({ ...shape, values, nodata: String(NODATA) }));
  return file;
}
