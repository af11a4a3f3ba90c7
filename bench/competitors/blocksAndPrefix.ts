import { STEPS_MAX } from "../../src/kernel/kernel.generated.ts";
import type { Grid, Location } from "../../src/kernel/grid.ts";
import { type CircleResult, emptyResult, inProcessContender, type OpenCompetitor } from "../circleContender.ts";
import { LAYER_COUNT } from "../floodMaps.ts";
import { locationOf, readQueriedCells } from "../workload.ts";

const DEGREE = Math.PI / 180;
const WGS84_A = 6378137;
const WGS84_F = 1 / 298.257223563;
const E2 = WGS84_F * (2 - WGS84_F);
const E = Math.sqrt(E2);
const BLOCK = 8;
/** Lower bound of the length of a degree of latitude. */
const METERS_PER_DEGREE_MIN = 110_500;

/**
 * Isotherm's algorithm without WebAssembly: row spans of the geodesic circle, maxima of 8 x 8 blocks for the maximum,
 * sums along whole rows for the mean. All cells are held in memory row by row, not in 64 x 64 tiles, which gives it an
 * advantage over the atlas. Cells within a micrometer of the rim are not resolved with GeographicLib.
 */
export const blocksAndPrefix: OpenCompetitor = async ({ spec, cellsPath, places }) => {
  const { cells, grid } = await readQueriedCells(spec, cellsPath);
  const rows = rowTables(grid);
  const bounds = blockBounds(cells, grid);
  const prefix = rowPrefix(cells, grid);
  const spans = new Int32Array(grid.rowCount * 2);

  return inProcessContender("Isotherm's algorithm in plain JavaScript", (index, radiusKm, aggregation) => {
    const location = locationOf({ places }, index);
    const range = findSpans(grid, rows, { location, radiusM: radiusKm * 1000 }, spans);
    const result = emptyResult();
    if (aggregation !== "mean") findMax({ cells, bounds, spans, grid, ...range }, result);
    if (aggregation !== "max") findMean({ prefix, spans, grid, weights: rows.weights, ...range }, result);
    return result;
  });
};

interface RowTables {
  readonly p: Float64Array;
  readonly z: Float64Array;
  readonly sin: Float64Array;
  readonly cos: Float64Array;
  /** Area of one cell of the row, up to a factor common to all rows. */
  readonly weights: Float64Array;
}

function rowTables(grid: Grid): RowTables {
  const table = (): Float64Array => new Float64Array(grid.rowCount);
  const tables = { p: table(), z: table(), sin: table(), cos: table(), weights: table() };
  for (let row = 0; row < grid.rowCount; row++) {
    const latRad = (grid.northDeg - (row + 0.5) * grid.cellSizeLatDeg) * DEGREE;
    const [sin, cos] = [Math.sin(latRad), Math.cos(latRad)];
    const n = WGS84_A / Math.sqrt(1 - E2 * sin * sin);
    tables.sin[row] = sin;
    tables.cos[row] = cos;
    tables.p[row] = n * cos;
    tables.z[row] = n * (1 - E2) * sin;
    const northRad = Math.min(90, grid.northDeg - row * grid.cellSizeLatDeg) * DEGREE;
    const southRad = Math.max(-90, grid.northDeg - (row + 1) * grid.cellSizeLatDeg) * DEGREE;
    const [sinN, sinS] = [Math.sin(northRad), Math.sin(southRad)];
    const rise = 2 * Math.cos((northRad + southRad) / 2) * Math.sin((northRad - southRad) / 2);
    const product = E2 * sinN * sinS;
    tables.weights[row] =
      (rise * (1 + product)) / ((1 - E2 * sinN * sinN) * (1 - E2 * sinS * sinS)) +
      Math.atanh((E * rise) / (1 - product)) / E;
  }
  return tables;
}

/**
 * Writes the first and last column of each row of the circle to `spans`; first > last if the circle misses the row.
 */
function findSpans(
  grid: Grid,
  rows: RowTables,
  { location, radiusM }: { readonly location: Location; readonly radiusM: number },
  spans: Int32Array,
): { readonly firstRow: number; readonly lastRow: number } {
  const sin0 = Math.sin(location.latDeg * DEGREE);
  const cos0 = Math.cos(location.latDeg * DEGREE);
  const n0 = WGS84_A / Math.sqrt(1 - E2 * sin0 * sin0);
  const p0 = n0 * cos0;
  const z0 = n0 * (1 - E2) * sin0;
  const radius2 = radiusM * radiusM;
  const x0 = radius2 / (4 * ((n0 * (1 - E2)) / (1 - E2 * sin0 * sin0)) * n0);
  const chord2AtCenter = radius2 * (1 - x0 / 3 - (x0 * x0) / 15);
  const columnsPerHalfAngle = 2 / (grid.cellSizeLonDeg * DEGREE);
  const centerColumn = (location.lonDeg - grid.westDeg) / grid.cellSizeLonDeg - 0.5;
  const radiusLatDeg = radiusM / METERS_PER_DEGREE_MIN;
  const centerRow = (grid.northDeg - location.latDeg) / grid.cellSizeLatDeg - 0.5;
  const firstRow = Math.max(0, Math.floor(centerRow - radiusLatDeg / grid.cellSizeLatDeg));
  const lastRow = Math.min(grid.rowCount - 1, Math.ceil(centerRow + radiusLatDeg / grid.cellSizeLatDeg));
  for (let row = firstRow; row <= lastRow; row++) {
    const [p1, sin1, cos1] = [rows.p[row] as number, rows.sin[row] as number, rows.cos[row] as number];
    const dp = p1 - p0;
    const dz = (rows.z[row] as number) - z0;
    const meridianChord2 = dp * dp + dz * dz;
    const inverseLonChord2Max = 1 / (4 * p0 * p1);
    const h1 = Math.min(1, Math.max(0, (chord2AtCenter - meridianChord2) * inverseLonChord2Max));
    const dip0 = -(cos0 * (dp - 2 * p1 * h1) + sin0 * dz);
    const dip1 = cos1 * (dp + 2 * p0 * h1) + sin1 * dz;
    const x = (dip0 * dip1) / chord2AtCenter;
    const h = (radius2 * (1 - x / 3 - (x * x) / 15 - (31 * x * x * x) / 945) - meridianChord2) * inverseLonChord2Max;
    const halfWidth = Math.asin(Math.sqrt(Math.min(1, Math.max(0, h)))) * columnsPerHalfAngle;
    spans[row * 2] = h < 0 ? 1 : Math.max(0, Math.ceil(centerColumn - halfWidth));
    spans[row * 2 + 1] = h < 0 ? 0 : Math.min(grid.columnCount - 1, Math.floor(centerColumn + halfWidth));
  }
  return { firstRow, lastRow };
}

/** Returns u16[block rows][block columns][21]: 0 if no cell of the block is valid, otherwise its maximum in steps + 1. */
function blockBounds(cells: Uint16Array, grid: Grid): Uint16Array {
  const width = Math.ceil(grid.columnCount / BLOCK);
  const bounds = new Uint16Array(Math.ceil(grid.rowCount / BLOCK) * width * LAYER_COUNT);
  let offset = 0;
  for (let row = 0; row < grid.rowCount; row++) {
    for (let column = 0; column < grid.columnCount; column++) {
      const block = ((row >> 3) * width + (column >> 3)) * LAYER_COUNT;
      for (let layer = 0; layer < LAYER_COUNT; layer++, offset++) {
        const steps = cells[offset] as number;
        if (steps <= STEPS_MAX && steps >= (bounds[block + layer] as number)) bounds[block + layer] = steps + 1;
      }
    }
  }
  return bounds;
}

interface RowPrefix {
  /** u32[rowCount][columnCount + 1][21]: sum of valid steps before the column; cannot overflow up to 65,000 columns. */
  readonly sums: Uint32Array;
  /** u16[rowCount][columnCount + 1][21]: number of valid cells before the column. */
  readonly counts: Uint16Array;
}

function rowPrefix(cells: Uint16Array, grid: Grid): RowPrefix {
  const length = grid.rowCount * (grid.columnCount + 1) * LAYER_COUNT;
  const sums = new Uint32Array(length);
  const counts = new Uint16Array(length);
  let cell = 0;
  for (let row = 0; row < grid.rowCount; row++) {
    let offset = row * (grid.columnCount + 1) * LAYER_COUNT;
    for (let i = 0; i < grid.columnCount * LAYER_COUNT; i++, offset++, cell++) {
      const steps = cells[cell] as number;
      const isValid = steps <= STEPS_MAX;
      sums[offset + LAYER_COUNT] = (sums[offset] as number) + (isValid ? steps : 0);
      counts[offset + LAYER_COUNT] = (counts[offset] as number) + (isValid ? 1 : 0);
    }
  }
  return { sums, counts };
}

interface CircleRows {
  readonly grid: Grid;
  readonly spans: Int32Array;
  readonly firstRow: number;
  readonly lastRow: number;
}

/** First takes the maxima of blocks inside the circle, then scans only the rim blocks whose bound exceeds them. */
function findMax(
  {
    cells,
    bounds,
    spans,
    grid,
    firstRow,
    lastRow,
  }: CircleRows & { readonly cells: Uint16Array; readonly bounds: Uint16Array },
  result: CircleResult,
): void {
  const width = Math.ceil(grid.columnCount / BLOCK);
  const maxSteps = new Int32Array(LAYER_COUNT); // steps + 1, like the bounds
  for (const isSecondPass of [false, true]) {
    for (let blockRow = firstRow >> 3; blockRow <= lastRow >> 3; blockRow++) {
      const top = Math.max(firstRow, blockRow * BLOCK);
      const bottom = Math.min(lastRow, blockRow * BLOCK + BLOCK - 1);
      let [west, east] = [grid.columnCount, -1]; // columns reached by any row
      // columns covered by every row
      let [innerWest, innerEast] = bottom - top === BLOCK - 1 ? [0, grid.columnCount] : [1, 0];
      for (let row = top; row <= bottom; row++) {
        const [first, last] = [spans[row * 2] as number, spans[row * 2 + 1] as number];
        innerWest = Math.max(innerWest, first);
        innerEast = Math.min(innerEast, last);
        if (first > last) continue;
        west = Math.min(west, first);
        east = Math.max(east, last);
      }
      const innerFirst = (innerWest + BLOCK - 1) >> 3;
      const innerLast = ((innerEast + 1) >> 3) - 1;
      if (!isSecondPass) {
        for (let block = innerFirst; block <= innerLast; block++) {
          const offset = (blockRow * width + block) * LAYER_COUNT;
          for (let layer = 0; layer < LAYER_COUNT; layer++) {
            const bound = bounds[offset + layer] as number;
            if (bound > (maxSteps[layer] as number)) maxSteps[layer] = bound;
          }
        }
        continue;
      }
      for (let block = west >> 3; block <= east >> 3; block++) {
        if (block >= innerFirst && block <= innerLast) {
          block = innerLast;
          continue;
        }
        const offset = (blockRow * width + block) * LAYER_COUNT;
        let isPromising = false;
        for (let layer = 0; layer < LAYER_COUNT; layer++) {
          if ((bounds[offset + layer] as number) > (maxSteps[layer] as number)) isPromising = true;
        }
        if (!isPromising) continue;
        for (let row = top; row <= bottom; row++) {
          const first = Math.max(spans[row * 2] as number, block * BLOCK);
          const last = Math.min(spans[row * 2 + 1] as number, block * BLOCK + BLOCK - 1);
          for (let column = first; column <= last; column++) {
            const cell = (row * grid.columnCount + column) * LAYER_COUNT;
            for (let layer = 0; layer < LAYER_COUNT; layer++) {
              const steps = cells[cell + layer] as number;
              if (steps <= STEPS_MAX && steps >= (maxSteps[layer] as number)) maxSteps[layer] = steps + 1;
            }
          }
        }
      }
    }
  }
  for (let layer = 0; layer < LAYER_COUNT; layer++) {
    if (maxSteps[layer] !== 0) result.max[layer] = (maxSteps[layer] as number) - 1;
  }
}

function findMean(
  {
    prefix,
    spans,
    grid,
    weights,
    firstRow,
    lastRow,
  }: CircleRows & { readonly prefix: RowPrefix; readonly weights: Float64Array },
  result: CircleResult,
): void {
  const totals = new Float64Array(LAYER_COUNT);
  const areas = new Float64Array(LAYER_COUNT);
  const { sums, counts } = prefix;
  for (let row = firstRow; row <= lastRow; row++) {
    const [first, last] = [spans[row * 2] as number, spans[row * 2 + 1] as number];
    if (first > last) continue;
    const weight = weights[row] as number;
    const from = (row * (grid.columnCount + 1) + first) * LAYER_COUNT;
    const to = (row * (grid.columnCount + 1) + last + 1) * LAYER_COUNT;
    for (let layer = 0; layer < LAYER_COUNT; layer++) {
      totals[layer] =
        (totals[layer] as number) + weight * ((sums[to + layer] as number) - (sums[from + layer] as number));
      areas[layer] =
        (areas[layer] as number) + weight * ((counts[to + layer] as number) - (counts[from + layer] as number));
    }
  }
  for (let layer = 0; layer < LAYER_COUNT; layer++) {
    if (areas[layer] !== 0) result.mean[layer] = (totals[layer] as number) / (areas[layer] as number);
  }
}
