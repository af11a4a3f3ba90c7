/** Which block of cells each pixel along one axis of a map tile shows. */
import { Fault, type FaultItem } from "../errors.ts";
import { findSchemaErrors, summarizeItems, type ValueSchema } from "../validation/schemaErrors.ts";
import {
  MERCATOR_LAT_DEG_MAX,
  nativeZoom,
  pixelLatitudes,
  pixelLongitudes,
  pixelOfLatitude,
  pixelOfLongitude,
  pixelWidthDeg,
  TILE_PIXELS,
  type TileAddress,
  tilesPerEdge,
  ZOOM_MAX,
} from "../tiles/mercator.ts";
import {
  HAZARD_NAMES,
  type HazardName,
  HAZARDS,
  layerOf,
  type MetricName,
  type Scenario,
  SCENARIOS,
} from "./hazards.ts";
import type { FieldLayer } from "../atlas/cachedField.ts";
import type { Sampler } from "../atlas/sampler.ts";
import { curveLayerName } from "../atlas/supplement.ts";
import { closesAt360, type Grid } from "../kernel/grid.ts";
import { curvePlanOf } from "./curvePlan.ts";
import { checkOffer } from "./query.ts";
import { TimeSlice } from "../concurrency/timeSlice.ts";
import { STEP_NO_DATA, STEP_OUTSIDE, type ValueTile } from "../tiles/valueTile.ts";

/** A stored layer, which map tiles show. As in a query, the layer of 1980 is the baseline under every scenario. */
export interface ValueTileLayerRequest {
  readonly hazard: HazardName;
  readonly scenario: Scenario;
  readonly analysisYear: number;
  /** A metric of the hazard, or `rp_<years>`: the value at a return period that the atlas keeps. */
  readonly metric: MetricName | `rp_${number}`;
}

/** A map tile of a layer, by its address in Web Mercator. */
export interface ValueTileRequest extends ValueTileLayerRequest, TileAddress {}

export interface ValueTileOptions {
  /** Cancels the request: the promise is rejected with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const LAYER_MEMBERS: Readonly<Record<keyof ValueTileLayerRequest, ValueSchema>> = {
  hazard: { type: "string", enum: HAZARD_NAMES },
  scenario: { type: "string", enum: SCENARIOS },
  analysisYear: { type: "integer" },
  metric: { type: "string", minLength: 1 },
};

const ADDRESS_MEMBERS: Readonly<Record<keyof TileAddress, ValueSchema>> = {
  z: { type: "integer", minimum: 0, maximum: ZOOM_MAX },
  x: { type: "integer", minimum: 0 },
  y: { type: "integer", minimum: 0 },
};

/** Validates the request of a layer. @throws Fault `invalid_request` with all errors */
function checkTileLayer(request: ValueTileLayerRequest): void {
  throwIfAny(errorsOf(request, LAYER_MEMBERS));
}

/** Validates the request of a tile. @throws Fault `invalid_request` with all errors */
export function checkTile(request: ValueTileRequest): void {
  const items = errorsOf(request, { ...LAYER_MEMBERS, ...ADDRESS_MEMBERS });
  if (!items.some(({ pointer }) => pointer === "" || pointer === "/z")) items.push(...addressErrors(request, items));
  throwIfAny(items);
}

/**
 * Returns the errors of x and y that depend on z.
 * @param known errors of the single members, which are not repeated
 */
export function addressErrors(
  address: TileAddress,
  known: readonly { readonly pointer: string }[] = [],
): { readonly pointer: string; readonly code: "out_of_range"; readonly detail: string }[] {
  const max = tilesPerEdge(address.z) - 1;
  return (["x", "y"] as const)
    .filter((name) => address[name] > max && !known.some(({ pointer }) => pointer === `/${name}`))
    .map((name) => ({
      pointer: `/${name}`,
      code: "out_of_range",
      detail: `${name} must be between 0 and ${max} at zoom ${address.z} (got ${address[name]}).`,
    }));
}

function errorsOf(request: unknown, properties: Readonly<Record<string, ValueSchema>>) {
  const schema = { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
  return findSchemaErrors(schema, request, { name: "The request" });
}

function throwIfAny(items: readonly FaultItem[]): void {
  if (items.length > 0) throw new Fault("invalid_request", summarizeItems(items, "the request"), { items });
}

/** What map clients need to request and show the tiles of a layer. */
export interface ValueTileLayer {
  /** Unit of the values; "1" for shares and probabilities. */
  readonly unit: string;
  readonly stepsPerUnit: number;
  /** Value of step 0, in the unit of the metric. */
  readonly offset: number;
  /** Metric with the color scale of the layer: for `rp_<years>`, the hazard's own metric. */
  readonly scaleMetric: MetricName;
  /** Smallest zoom at which every pixel shows the cell at its center. */
  readonly nativeZoom: number;
  /**
   * Cells along one edge of the block whose maximum a pixel is, by zoom from 0 to `nativeZoom`; 1 where a pixel is the cell
   * at its center: at `nativeZoom`, and at every zoom if the source has no pyramid.
   */
  readonly blockSizeCellsByZoom: readonly number[];
  /** Extent of the grid within Web Mercator, degrees: west, south, east, north. */
  readonly bounds: readonly [west: number, south: number, east: number, north: number];
  /** Provenance as stated in the atlas. */
  readonly source: Readonly<Record<string, unknown>>;
}

/** A layer of the atlas that tiles show. */
interface FoundTileLayer {
  readonly fieldLayer: FieldLayer;
  readonly grid: Grid;
  readonly provenance: Readonly<Record<string, unknown>>;
}

/** Describes a layer. @throws Fault `invalid_request`, `combination_unavailable` */
export function describeTileLayer(sampler: Sampler, request: ValueTileLayerRequest): ValueTileLayer {
  checkTileLayer(request);
  const { fieldLayer, grid, provenance } = findTileLayer(sampler, request);
  const { hazard, metric } = request;
  const { unit, steps_per_unit, offset } = fieldLayer.entry;
  const blockSizes = blockSizesOf(grid);
  return {
    unit,
    stepsPerUnit: steps_per_unit,
    offset,
    scaleMetric: HAZARDS[hazard].metrics.find((spec) => spec.metric === metric)?.metric ?? HAZARDS[hazard].ownMetric,
    nativeZoom: blockSizes.length - 1,
    blockSizeCellsByZoom: fieldLayer.source.pyramid === undefined ? blockSizes.map(() => 1) : blockSizes,
    bounds: boundsOf(grid),
    source: provenance,
  };
}

/**
 * Returns a layer of the atlas.
 * @throws Fault `combination_unavailable`, which names what the hazard or the atlas offers instead
 */
function findTileLayer(
  sampler: Sampler,
  { hazard, scenario, analysisYear, metric }: ValueTileLayerRequest,
): FoundTileLayer {
  checkOffer({ hazards: [hazard], scenarios: [scenario], analysis_years: [analysisYear] }, (name) =>
    name === "scenarios" ? { pointer: "/scenario" } : { pointer: "/analysisYear" },
  );
  const stored = layerOf(scenario, analysisYear);
  const atlasHazard = sampler.hazards.get(hazard);
  const group = atlasHazard?.group(stored.scenario, stored.year);
  if (atlasHazard === undefined || group === undefined) {
    const present = atlasHazard?.allGroups().map(({ entry }) => `${entry.scenario} ${entry.year}`) ?? [];
    const offer = present.length === 0 ? "no layers of this hazard" : present.toSorted().join(", ");
    throw unavailable(
      "/scenario",
      `The atlas does not have ${hazard} for ${stored.scenario} ${stored.year}; it has ${offer}.`,
    );
  }
  const { entry, source } = group;
  const { grid } = atlasHazard;
  const layer = entry.layers.findIndex((candidate) => candidate.metric === metric);
  const layerEntry = entry.layers[layer];
  if (layerEntry !== undefined) {
    return { fieldLayer: { source, group: group.group, layer, entry: layerEntry }, grid, provenance: entry.provenance };
  }
  const curve = curvePlanOf(sampler, hazard, stored);
  const periods = curve?.returnPeriodsYears.map(curveLayerName) ?? [];
  const position = curve?.values[periods.indexOf(metric)]?.position ?? -1;
  const curveLayer = curve?.set.cachedField.layers[curve.set.lanes[position] ?? -1];
  if (curveLayer === undefined) {
    const offered = [...entry.layers.map((candidate) => candidate.metric), ...periods];
    throw unavailable(
      "/metric",
      `The atlas does not have ${metric} of ${hazard} for ${stored.scenario} ${stored.year}; it has ${offered.join(", ")}.`,
      offered,
    );
  }
  return { fieldLayer: curveLayer, grid, provenance: entry.provenance };
}

function unavailable(pointer: string, detail: string, allowed?: readonly string[]): Fault {
  const item: FaultItem = { pointer, code: "combination_unavailable", detail, ...(allowed && { allowed }) };
  return new Fault("combination_unavailable", summarizeItems([item], "the request"), { items: [item] });
}

/** Returns the extent of a grid. Longitudes are those of a grid from 180 degrees west if it crosses the antimeridian. */
function boundsOf(grid: Grid): ValueTileLayer["bounds"] {
  const { northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg, rowCount, columnCount } = grid;
  const north = Math.min(MERCATOR_LAT_DEG_MAX, northDeg);
  const south = Math.max(-MERCATOR_LAT_DEG_MAX, northDeg - rowCount * cellSizeLatDeg);
  const west = westDeg >= 180 ? westDeg - 360 : westDeg;
  const east = west + columnCount * cellSizeLonDeg;
  return west < -180 || east > 180 ? [-180, south, 180, north] : [west, south, east, north];
}

/**
 * Returns a map tile. Where a pixel is at most as wide as a cell, it is the cell that contains its center; further out,
 * it is the maximum of the smallest block of the pyramid that is at least as wide as a pixel. A source without a pyramid
 * gives the cell at the center of each pixel at every zoom.
 *
 * @throws Fault `invalid_request`, `combination_unavailable`, `atlas_unavailable`
 */
export async function computeValueTile(
  sampler: Sampler,
  request: ValueTileRequest,
  { signal, timeSlice = new TimeSlice() }: ValueTileOptions & { readonly timeSlice?: TimeSlice } = {},
): Promise<ValueTile> {
  signal?.throwIfAborted();
  checkTile(request);
  const run = { timeSlice, signal };
  const { fieldLayer, grid } = findTileLayer(sampler, request);
  const { source, entry } = fieldLayer;
  const encoding = { stepsPerUnit: entry.steps_per_unit, offset: entry.offset };
  const cells = sampler.raster.locate(grid, {
    latitudes: pixelLatitudes(request),
    longitudes: pixelLongitudes(request),
  });
  const blockSizeCells = source.pyramid === undefined ? 1 : blockSizeOf(grid, request.z);
  if (blockSizeCells === 1) {
    const steps = await sampler.raster.readCells(fieldLayer, cells, run);
    return { ...encoding, isBlockMaximum: false, blockSizeCells, steps };
  }
  const cutRow = cutBlockRow(grid, request, blockSizeCells);
  const cutColumn = cutBlockColumn(grid, request, blockSizeCells);
  const blocks = {
    blockSizeCells,
    rows: withCutBlock(blocksOf(cells.rows, blockSizeCells), cutRow),
    columns: withCutBlock(blocksOf(cells.columns, blockSizeCells), cutColumn),
  };
  const maxima = await sampler.raster.readBlockMaxima(fieldLayer, blocks, run);
  const steps = mergeCutBlocks(maxima, { cutRow, cutColumn, columnCount: blocks.columns.length });
  return { ...encoding, isBlockMaximum: true, blockSizeCells, steps };
}

/** Appends the cut block, which the pixel shows in addition to the block at its center. */
function withCutBlock(blocks: Int32Array, cut: CutBlock | undefined): Int32Array {
  return cut === undefined ? blocks : Int32Array.of(...blocks, cut.block);
}

/** Merges the appended row and column of cut blocks into their pixels. */
function mergeCutBlocks(
  maxima: Uint16Array,
  cut: {
    readonly cutRow: CutBlock | undefined;
    readonly cutColumn: CutBlock | undefined;
    readonly columnCount: number;
  },
): Uint16Array {
  const { cutRow, cutColumn, columnCount } = cut;
  if (cutRow === undefined && cutColumn === undefined) return maxima;
  const steps = new Uint16Array(TILE_PIXELS * TILE_PIXELS);
  for (let row = 0; row < TILE_PIXELS; row++) {
    for (let column = 0; column < TILE_PIXELS; column++) {
      let step = maxima[row * columnCount + column] ?? STEP_OUTSIDE;
      const hasCutRow = cutRow?.pixel === row;
      const hasCutColumn = cutColumn?.pixel === column;
      if (hasCutRow) step = larger(step, maxima[TILE_PIXELS * columnCount + column]);
      if (hasCutColumn) step = larger(step, maxima[row * columnCount + TILE_PIXELS]);
      if (hasCutRow && hasCutColumn) step = larger(step, maxima[TILE_PIXELS * columnCount + TILE_PIXELS]);
      steps[row * TILE_PIXELS + column] = step;
    }
  }
  return steps;
}

/** Returns the larger of two steps. A value takes precedence over no data, and no data over outside. */
function larger(a: number, b = STEP_OUTSIDE): number {
  if (a < STEP_OUTSIDE && b < STEP_OUTSIDE) return Math.max(a, b);
  if (a < STEP_OUTSIDE) return a;
  if (b < STEP_OUTSIDE) return b;
  return a === STEP_NO_DATA ? a : b;
}

/** The block that the edge of the grid cuts, and the pixel that shows it together with the block at its center. */
interface CutBlock {
  readonly pixel: number;
  readonly block: number;
}

/** An interval on an axis of the map, in pixels from the western or northern edge of the world. */
interface PixelInterval {
  readonly start: number;
  readonly end: number;
}

/**
 * Returns the smallest size of the pyramid's blocks that are at least as wide as a pixel, so that every block contains the
 * center of a pixel; 1 if cells are. Blocks are 8, 64, 512 cells wide, and so on.
 */
function blockSizeOf({ cellSizeLatDeg, cellSizeLonDeg }: Grid, z: number): number {
  let blockSizeCells = 1;
  while (blockSizeCells * Math.min(cellSizeLatDeg, cellSizeLonDeg) < pixelWidthDeg(z)) blockSizeCells *= 8;
  return blockSizeCells;
}

/** Returns `blockSizeOf` of the zooms 0 to the one at which it is 1, the native zoom. */
function blockSizesOf(grid: Grid): readonly number[] {
  const zoomCount = nativeZoom(Math.min(grid.cellSizeLatDeg, grid.cellSizeLonDeg)) + 1;
  return Array.from({ length: zoomCount }, (_, z) => blockSizeOf(grid, z));
}

/** Returns the blocks of cells, -1 for -1. */
function blocksOf(cells: Int32Array, blockSizeCells: number): Int32Array {
  return cells.map((cell) => (cell < 0 ? -1 : Math.floor(cell / blockSizeCells)));
}

/**
 * Returns the last row of blocks if the southern edge of the grid cuts it so short that no pixel's center is inside, and
 * it begins in a pixel of the tile.
 */
function cutBlockRow(grid: Grid, { z, y }: TileAddress, blockSizeCells: number): CutBlock | undefined {
  const block = cutBlock(grid.rowCount, blockSizeCells);
  if (block === undefined) return undefined;
  const latDegOf = (row: number): number => grid.northDeg - row * grid.cellSizeLatDeg;
  const start = pixelOfLatitude(z, latDegOf(block * blockSizeCells));
  const pixel = ownerOf({ start, end: pixelOfLatitude(z, latDegOf(grid.rowCount)) });
  return pixel === undefined ? undefined : within(pixel - y * TILE_PIXELS, block);
}

/** Returns the last column of blocks, as `cutBlockRow` does, if the eastern edge of the grid cuts it. */
function cutBlockColumn(grid: Grid, { z, x }: TileAddress, blockSizeCells: number): CutBlock | undefined {
  const block = cutBlock(grid.columnCount, blockSizeCells);
  if (block === undefined) return undefined;
  const worldPixels = TILE_PIXELS * tilesPerEdge(z);
  const firstColumn = block * blockSizeCells;
  const position = pixelOfLongitude(z, grid.westDeg + firstColumn * grid.cellSizeLonDeg);
  const start = position - Math.floor(position / worldPixels) * worldPixels;
  const endColumn = closesAt360(grid) ? 360 / grid.cellSizeLonDeg : grid.columnCount;
  const width = ((endColumn - firstColumn) * grid.cellSizeLonDeg) / pixelWidthDeg(z);
  const pixel = ownerOf({ start, end: start + width });
  return pixel === undefined ? undefined : within((pixel % worldPixels) - x * TILE_PIXELS, block);
}

/** Returns the last block if the edge of the grid cuts it. */
function cutBlock(cellCount: number, blockSizeCells: number): number | undefined {
  return cellCount % blockSizeCells === 0 ? undefined : Math.floor(cellCount / blockSizeCells);
}

/** Returns the pixel in which an interval begins, or undefined if the center of a pixel is inside. */
function ownerOf({ start, end }: PixelInterval): number | undefined {
  const firstCenter = Math.ceil(start - 0.5) + 0.5;
  return firstCenter < end || end <= start ? undefined : Math.floor(start);
}

function within(pixel: number, block: number): CutBlock | undefined {
  return pixel >= 0 && pixel < TILE_PIXELS ? { pixel, block } : undefined;
}
