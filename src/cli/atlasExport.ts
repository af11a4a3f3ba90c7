/** `isotherm atlas export`: writes a layer of an atlas as a GeoTIFF. */
import type { CellSource, TileRequest } from "../atlas/cellSource.ts";
import { gridOf, type GroupEntry } from "../atlas/catalog.ts";
import { supplementedHazard, supplementKindOf, supplementName } from "../atlas/supplement.ts";
import type { PackedAtlas } from "../atlas/packedAtlas.ts";
import { Fault, type FaultItem } from "../errors.ts";
import type { BoundingBox } from "../ingest/ingest.ts";
import { gridOfWindow, wholeWindow, windowOf } from "../ingest/target.ts";
import type { CellWindow } from "../ingest/raster.ts";
import { STEPS_OUTSIDE, TILE_SIZE } from "../kernel/kernel.generated.ts";
import { writeGeoTiff } from "./geotiffFile.ts";
import { productOf, type StatedProduct } from "./atlasInfo.ts";
import { checkBox } from "../ingest/options.ts";
import { closesAt360, type Grid } from "../kernel/grid.ts";

/** Tiles that are decoded at a time; each has at most 64 KiB. */
const TILES_AT_ONCE = 256;

export interface ExportRequest {
  readonly hazard: string;
  readonly scenario: string;
  readonly year: number;
  /** A metric, or `rp_<years>` for the value of the curve at a return period. */
  readonly metric: string;
  /** Undefined for the whole grid. A box with W > E crosses the antimeridian. */
  readonly bbox: BoundingBox | undefined;
  /** Path of the GeoTIFF. */
  readonly file: string;
}

interface ExportReport {
  readonly file: string;
  readonly rowCount: number;
  readonly columnCount: number;
  readonly validCellCount: number;
}

/**
 * Writes the values of a layer; cells without data, and outside of the coverage, are NaN.
 * @throws Fault `invalid_request` listing what the atlas has if it lacks the layer; or if the box touches no cell
 */
export async function exportLayer(atlas: PackedAtlas, request: ExportRequest): Promise<ExportReport> {
  const { hazard, scenario, year, metric, bbox, file } = request;
  const { source, group, layer, layerIndex, grid } = findLayer(atlas, request);
  const windows = bbox === undefined ? [wholeWindow(grid)] : windowsOf(grid, bbox);
  const [first] = windows as readonly [CellWindow];
  const columnCount = windows.reduce((sum, each) => sum + each.columnCount, 0);
  const window = { ...first, columnCount };
  let validCellCount = 0;
  async function* strips(): AsyncGenerator<Float32Array> {
    for (const { firstRow, rowCount } of stripsOf(window)) {
      const parts = windows.map((each) => ({ ...each, firstRow, rowCount }));
      const values = await readParts({ source, group, layer, layerIndex }, parts);
      for (const value of values) if (!Number.isNaN(value)) validCellCount++;
      yield values;
    }
  }
  const { product, licence: license, credit } = layer.product;
  await writeGeoTiff(
    file,
    {
      grid: gridOfWindow(grid, window),
      rowsPerStrip: TILE_SIZE,
      unit: layer.unit,
      description: `${metric}, ${hazard}, ${scenario} ${year}`,
      texts: {
        ISOTHERM_RELEASE: atlas.release,
        ...(product === undefined ? {} : { PRODUCT: product }),
        ...(license === undefined ? {} : { LICENSE: license }),
        ...(credit === undefined ? {} : { ATTRIBUTION: credit }),
      },
    },
    strips(),
  );
  return { file, rowCount: window.rowCount, columnCount, validCellCount };
}

interface FoundLayer {
  readonly source: CellSource;
  /** Index into the groups of the source. */
  readonly group: number;
  readonly layerIndex: number;
  readonly layer: {
    readonly unit: string;
    readonly stepsPerUnit: number;
    readonly offset: number;
    /** Number of layers of the group. */
    readonly layerCount: number;
    readonly product: StatedProduct;
  };
}

/** A group of a pack. */
interface FoundGroup {
  readonly source: CellSource;
  readonly group: GroupEntry;
  readonly index: number;
}

/** Finds a layer among the metrics of a scenario and year, and then among the values of its curve. */
function findLayer(
  { catalog, packs }: PackedAtlas,
  { hazard, scenario, year, metric }: ExportRequest,
): FoundLayer & { readonly grid: ReturnType<typeof gridOf> } {
  const hazards = catalog.hazards.filter((each) => supplementedHazard(each.hazard) === undefined);
  const entry = hazards.find((each) => each.hazard === hazard);
  if (entry === undefined)
    throw absentLayer(
      "/hazard",
      `The atlas has no ${hazard}.`,
      hazards.map((each) => each.hazard),
    );
  const liveGroupsOf = (name: string): readonly FoundGroup[] =>
    packs
      .filter((pack) => pack.hazard === name)
      .flatMap(({ source }) => source.groups.map((group, index) => ({ source, group, index })))
      .filter(({ group }) => group.superseded !== true);
  const isRequested = ({ group }: FoundGroup): boolean => group.scenario === scenario && group.year === year;
  const live = liveGroupsOf(hazard);
  const metrics = live.find(isRequested);
  if (metrics === undefined) {
    const available = live.map(({ group }) => `${group.scenario} ${group.year}`);
    throw absentLayer("/scenario", `The atlas has no ${hazard} for ${scenario} ${year}.`, available);
  }
  // A long curve is divided into several groups.
  const curves = liveGroupsOf(supplementName(hazard)).filter(
    (each) => isRequested(each) && supplementKindOf(each.group) === "curve",
  );
  for (const { source, group, index } of [metrics, ...curves]) {
    const layerIndex = group.layers.findIndex((layer) => layer.metric === metric);
    const layer = group.layers[layerIndex];
    if (layer === undefined) continue;
    const { unit, steps_per_unit: stepsPerUnit, offset } = layer;
    return {
      source,
      group: index,
      layerIndex,
      // The groups of a curve do not state the product.
      layer: {
        unit,
        stepsPerUnit,
        offset,
        layerCount: group.layers.length,
        product: productOf(metrics.group.provenance),
      },
      grid: gridOf(entry.grid),
    };
  }
  const available = [metrics, ...curves].flatMap(({ group }) => group.layers.map((layer) => layer.metric));
  throw absentLayer("/metric", `${hazard} ${scenario} ${year} has no ${metric}.`, available);
}

function absentLayer(pointer: string, problem: string, allowed: readonly string[]): Fault {
  const detail = `${problem} It has ${allowed.join(", ") || "none"}.`;
  const item: FaultItem = { pointer, code: "not_allowed", detail, allowed };
  return new Fault("invalid_request", detail, { items: [item] });
}

/** Divides a window into strips of 64 rows, counted from its first row. */
function* stripsOf(window: CellWindow): Generator<CellWindow> {
  const end = window.firstRow + window.rowCount;
  for (let firstRow = window.firstRow; firstRow < end; firstRow += TILE_SIZE) {
    yield { ...window, firstRow, rowCount: Math.min(TILE_SIZE, end - firstRow) };
  }
}

/** Returns the values of the parts of a strip, row by row; the parts have the same rows, from west to east. */
async function readParts(layer: FoundLayer, parts: readonly CellWindow[]): Promise<Float32Array> {
  const columnCount = parts.reduce((sum, part) => sum + part.columnCount, 0);
  const joined = new Float32Array(columnCount * (parts[0]?.rowCount ?? 0));
  let firstColumn = 0;
  for (const part of parts) {
    const values = await readStrip(layer, part);
    for (let row = 0; row < part.rowCount; row++) {
      const ofRow = values.subarray(row * part.columnCount, (row + 1) * part.columnCount);
      joined.set(ofRow, row * columnCount + firstColumn);
    }
    firstColumn += part.columnCount;
  }
  return joined;
}

/** Returns the values of a strip, row by row. */
async function readStrip({ source, group, layer, layerIndex }: FoundLayer, strip: CellWindow): Promise<Float32Array> {
  const { stepsPerUnit, offset, layerCount } = layer;
  const values = new Float32Array(strip.rowCount * strip.columnCount).fill(NaN);
  const tiles = tilesOf(strip, group);
  for (let first = 0; first < tiles.length; first += TILES_AT_ONCE) {
    const some = tiles.slice(first, first + TILES_AT_ONCE);
    const states = await source.resolve(some);
    const stored = some.filter((_, index) => states[index] === "cells");
    const loaded = await source.load(stored);
    for (const [index, tile] of some.entries()) {
      if (states[index] === "zero") eachCell(strip, tile, (to) => void (values[to] = offset));
      if (states[index] !== "cells") continue;
      const cells = loaded[stored.indexOf(tile)];
      eachCell(strip, tile, (to, from) => {
        const steps = cells?.[from * layerCount + layerIndex] ?? STEPS_OUTSIDE;
        if (steps < STEPS_OUTSIDE) values[to] = steps / stepsPerUnit + offset;
      });
    }
  }
  return values;
}

function tilesOf({ firstRow, rowCount, firstColumn, columnCount }: CellWindow, group: number): readonly TileRequest[] {
  const tiles: TileRequest[] = [];
  const lastRow = Math.floor((firstRow + rowCount - 1) / TILE_SIZE);
  const lastColumn = Math.floor((firstColumn + columnCount - 1) / TILE_SIZE);
  for (let tileRow = Math.floor(firstRow / TILE_SIZE); tileRow <= lastRow; tileRow++) {
    for (let tileColumn = Math.floor(firstColumn / TILE_SIZE); tileColumn <= lastColumn; tileColumn++) {
      tiles.push({ group, tileRow, tileColumn });
    }
  }
  return tiles;
}

/** Calls `use` for each cell that a strip and a tile have in common, with its index in both. */
function eachCell(
  { firstRow, rowCount, firstColumn, columnCount }: CellWindow,
  { tileRow, tileColumn }: TileRequest,
  use: (inStrip: number, inTile: number) => void,
): void {
  const [top, left] = [tileRow * TILE_SIZE, tileColumn * TILE_SIZE];
  const rowEnd = Math.min(firstRow + rowCount, top + TILE_SIZE);
  const columnEnd = Math.min(firstColumn + columnCount, left + TILE_SIZE);
  for (let row = Math.max(firstRow, top); row < rowEnd; row++) {
    for (let column = Math.max(firstColumn, left); column < columnEnd; column++) {
      use((row - firstRow) * columnCount + column - firstColumn, (row - top) * TILE_SIZE + column - left);
    }
  }
}

/** Longitudes that differ by less than this fraction of a cell are equal. */
const TOLERANCE_CELLS = 1e-3;

/**
 * Returns the cells that a box touches as one window, or as two with the same rows: the last columns of the grid, and the first
 * ones, which continue them in the east.
 *
 * @param bbox with W > E if it crosses the antimeridian, as in GeoJSON; or with E above 180
 * @throws Fault `invalid_request` if the box is not in range, touches no cell, or touches both ends of a grid that does not go around
 *   the Earth
 */
export function windowsOf(grid: Grid, bbox: BoundingBox): readonly CellWindow[] {
  const box = eastOfWest(bbox);
  checkBox(box);
  const seamDeg = seamEastOf(grid, box.westDeg);
  const toleranceDeg = TOLERANCE_CELLS * grid.cellSizeLonDeg;
  const isAroundEarth = box.eastDeg - box.westDeg >= 360 - toleranceDeg;
  if (isAroundEarth || box.eastDeg <= seamDeg + toleranceDeg) return [windowOf(grid, box)];
  const [westBox, eastBox] = [
    { ...box, eastDeg: seamDeg },
    { ...box, westDeg: seamDeg },
  ];
  if (closesAt360(grid)) {
    const [west, east] = [windowOf(grid, westBox), windowOf(grid, eastBox)];
    // A box of almost 360 degrees may begin and end in the same column.
    const columnCount = Math.min(east.columnCount, grid.columnCount - west.columnCount);
    return columnCount === 0 ? [west] : [west, { ...east, columnCount }];
  }
  // The grid begins at the seam and ends before the next one, so that the box contains at least one of its ends.
  const endDeg = seamDeg - 360 + grid.columnCount * grid.cellSizeLonDeg;
  if (box.westDeg >= endDeg - toleranceDeg) return [windowOf(grid, eastBox)];
  throw new Fault(
    "invalid_request",
    `The box ${bbox.westDeg},${bbox.southDeg},${bbox.eastDeg},${bbox.northDeg} touches both ends of a grid that has no cells between longitude ` +
      `${endDeg} and ${seamDeg}. Export the two sides separately.`,
  );
}

/** Returns a box whose east edge is east of its west edge, both from -360 to 360 degrees. */
function eastOfWest(box: BoundingBox): BoundingBox {
  const { westDeg, eastDeg } = box;
  if (!(westDeg > eastDeg)) return box;
  return eastDeg > 0 ? { ...box, westDeg: westDeg - 360 } : { ...box, eastDeg: eastDeg + 360 };
}

/** Returns the first longitude east of another at which the grid begins. */
function seamEastOf({ westDeg, cellSizeLonDeg }: Grid, lonDeg: number): number {
  const turns = Math.floor((lonDeg - westDeg) / 360 + (TOLERANCE_CELLS * cellSizeLonDeg) / 360) + 1;
  return westDeg + 360 * turns;
}
