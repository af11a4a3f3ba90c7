/**
 * Brings maps in other coordinate systems onto a grid in WGS84 degrees: each cell gets the value of the source cell that
 * contains its center.
 */
import { setImmediate } from "node:timers/promises";
import { gridFault } from "../../atlas/catalog.ts";
import type { Fault } from "../../errors.ts";
import { closesAt360, type Grid } from "../../kernel/grid.ts";
import { projStringOf } from "../crsDefinition.ts";
import {
  type BandWindow,
  checkWindow,
  type ProjectedRaster,
  type Raster,
  type RasterValues,
  sourceFault,
  valuesOf,
} from "../raster.ts";
import { CellMap } from "./cellMap.ts";
import { openProjection, type Projection } from "./projection.ts";
import { SourceTiles, tileSizeOf } from "./sourceTiles.ts";
import {
  type CellLattice,
  defaultCellSizeDeg,
  type Distortion,
  distortionOf,
  extentOf,
  gridOfExtent,
  wholeDegreeLattice,
} from "./targetGrid.ts";

/** Default of the largest distance between neighboring cells of the target, in source cells. */
const MAX_DISTORTION_DEFAULT = 2;

/** Largest number of rows or columns of a target grid. */
const CELLS_PER_SIDE_MAX = 4_000_000;
/** Largest part of a window whose source cells are determined at a time. */
const PART_CELLS = 1 << 18;

/** How maps in other coordinate systems are brought onto a grid. */
export interface ReprojectionOptions {
  /** The cells of the target; by default, those that keep the resolution of the source at its center. */
  readonly lattice?: CellLattice;
  /** Largest accepted distance between neighboring cells of the target, in source cells. */
  readonly maxDistortion?: number;
}

/**
 * Returns the cell size, in degrees, that keeps the resolution of a map at its center.
 * @throws Fault `source_invalid` if the map is not on Earth
 */
export async function cellSizeOf(source: ProjectedRaster): Promise<number> {
  const cellSizeDeg = defaultCellSizeDeg(await projectionOf(source), source.plane);
  if (cellSizeDeg === undefined) throw notOnEarthFault(source);
  return cellSizeDeg;
}

/**
 * Chooses the grid for a map and reprojects it.
 * @throws Fault `source_invalid` if the map is not on Earth, has coordinates in degrees, or would be distorted too much; `configuration_invalid` if the
 *   optional package proj4 is not installed
 */
export async function reprojectMap(source: ProjectedRaster, options: ReprojectionOptions = {}): Promise<Raster> {
  const projection = await projectionOf(source);
  const extent = extentOf(projection, source.plane);
  if (extent === undefined) throw notOnEarthFault(source);
  const lattice = options.lattice ?? wholeDegreeLattice(await cellSizeOf(source));
  const grid = gridOfExtent(extent, lattice);
  const { file } = source;
  if (extent.eastDeg - extent.westDeg >= 360 && !closesAt360(grid)) {
    throw sourceFault(
      file,
      `is a map around the Earth, but cells of ${lattice.cellSizeLonDeg} degrees do not divide 360 degrees. ` +
        "Choose another --cell-size, such as 1/120.",
    );
  }
  if (grid.rowCount > CELLS_PER_SIDE_MAX || grid.columnCount > CELLS_PER_SIDE_MAX) {
    throw sourceFault(
      file,
      `would have ${grid.rowCount} rows and ${grid.columnCount} columns in degrees; the limit is ${CELLS_PER_SIDE_MAX}. ` +
        "Choose a larger --cell-size.",
    );
  }
  const problem = gridFault(grid);
  if (problem !== undefined) throw sourceFault(file, `has an invalid grid in degrees: ${problem}`);
  const distortion = distortionOf(projection, source.plane, grid);
  if (distortion === undefined) {
    throw sourceFault(
      file,
      `contains the center of none of the cells of ${grid.cellSizeLatDeg} degrees. Choose a smaller --cell-size.`,
    );
  }
  checkDistortion(file, distortion, grid, options.maxDistortion ?? MAX_DISTORTION_DEFAULT);
  return rasterOf(source, projection, grid, distortion);
}

/** Reprojects a map onto a grid that was chosen before. */
export async function reprojectOnto(source: ProjectedRaster, grid: Grid): Promise<Raster> {
  const projection = await projectionOf(source);
  return rasterOf(source, projection, grid, distortionOf(projection, source.plane, grid));
}

/**
 * Opens the projection of a map. A map of degrees that declares a projected system would be read as a map of a few meters at
 * the origin of the projection.
 * @throws Fault `source_invalid` if its coordinates are degrees; `configuration_invalid` if proj4 is not installed
 */
async function projectionOf({ file, projectedCrs, plane }: ProjectedRaster): Promise<Projection> {
  const { westX, northY, cellWidth, cellHeight, rowCount, columnCount } = plane;
  const [eastX, southY] = [westX + columnCount * cellWidth, northY - rowCount * cellHeight];
  const isInDegrees = westX >= -360 && eastX <= 360 && southY >= -90.5 && northY <= 90.5;
  if (projectedCrs.method !== "longlat" && isInDegrees) {
    throw sourceFault(
      file,
      `declares the coordinate system ${projectedCrs.name}, but its coordinates (x from ${westX} to ${eastX}, y from ` +
        `${southY} to ${northY}) are degrees. Correct the coordinate system of the file.`,
    );
  }
  return openProjection(projectedCrs);
}

function notOnEarthFault({ file, projectedCrs, plane }: ProjectedRaster): Fault {
  return sourceFault(
    file,
    `has coordinates that are not on Earth in ${projectedCrs.name}: its northwest corner is (${plane.westX}, ${plane.northY}).`,
  );
}

function checkDistortion(file: string, distortion: Distortion, grid: Grid, maxDistortion: number): void {
  const { spacingCells, latDeg, lonDeg } = distortion;
  if (spacingCells <= maxDistortion) return;
  const cellSizeDeg = (grid.cellSizeLatDeg * maxDistortion) / spacingCells;
  throw sourceFault(
    file,
    `with cells of ${rounded(grid.cellSizeLatDeg)} degrees, neighboring cells are up to ${rounded(spacingCells)} cells of the map ` +
      `apart (at latitude ${latDeg.toFixed(3)}, longitude ${lonDeg.toFixed(3)}); the limit is ${maxDistortion}, because the ` +
      `cells between them would be left out. Choose a --cell-size of at most ${rounded(cellSizeDeg)} degrees, or a larger ` +
      "--max-distortion.",
    { details: { spacing_cells: spacingCells, max_distortion: maxDistortion } },
  );
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}

function rasterOf(
  source: ProjectedRaster,
  projection: Projection,
  grid: Grid,
  distortion: Distortion | undefined,
): Raster {
  const { file, plane, projectedCrs, bands, bandDimension, bandCalendar } = source;
  const cells = new CellMap(projection, plane, grid);
  const tiles = new SourceTiles(source);
  // Blocks of the target that need about one tile of the source.
  const tile = tileSizeOf(source);
  const spacing = Math.max(0.01, distortion?.spacingCells ?? 1);
  const blockOf = (count: number, whole: number): number =>
    Math.max(1, Math.min(whole, Math.max(64, Math.round(count / spacing))));
  return {
    spec: { kind: "reprojected", source: source.spec, crs: projectedCrs, grid },
    file,
    grid,
    crs: `${source.crs}, reprojected to EPSG:4326`,
    bands,
    ...(bandDimension === undefined ? {} : { bandDimension }),
    ...(bandCalendar === undefined ? {} : { bandCalendar }),
    blockRowCount: blockOf(tile.rowCount, grid.rowCount),
    blockColumnCount: blockOf(tile.columnCount, grid.columnCount),
    notes: { ...source.notes, reprojected: reprojectionNotes(source, grid, distortion) },
    ...(source.sidecarFiles === undefined ? {} : { sidecarFiles: source.sidecarFiles }),
    async readWindow(window) {
      checkWindow(window, grid, bands.length);
      return readReprojected({ source, cells, tiles }, window);
    },
    close() {
      tiles.close();
      return source.close();
    },
  };
}

function reprojectionNotes(
  { plane, projectedCrs }: ProjectedRaster,
  grid: Grid,
  distortion: Distortion | undefined,
): Readonly<Record<string, unknown>> {
  const { datum } = projectedCrs;
  return {
    from: projectedCrs.name,
    proj: projStringOf(projectedCrs),
    datum: datum.kind === "helmert" ? `transformed with towgs84 ${datum.toWgs84.join(", ")}` : datum.description,
    method: "the source cell that contains the center of the cell",
    source_cell_size: [plane.cellHeight, plane.cellWidth],
    cell_size_deg: [grid.cellSizeLatDeg, grid.cellSizeLonDeg],
    ...(distortion === undefined ? {} : { largest_spacing_in_source_cells: rounded(distortion.spacingCells) }),
  };
}

interface OpenMap {
  readonly source: ProjectedRaster;
  readonly cells: CellMap;
  readonly tiles: SourceTiles;
}

/** Reads a window in parts, so that positions of a bounded number of cells are in memory. */
async function readReprojected(map: OpenMap, window: BandWindow): Promise<RasterValues> {
  const values = valuesOf([map.source], window);
  for (const part of partsOf(window)) {
    await setImmediate(); // yields to the event loop, so that the signal of the source can abort
    await readPart(map, part, window, values);
  }
  return values;
}

/** Divides a window into parts that are about as high as wide, in columns of parts, as tiles of the source are. */
function* partsOf(window: BandWindow): Generator<BandWindow> {
  const width = Math.min(window.columnCount, Math.max(512, Math.floor(PART_CELLS / window.rowCount)));
  const height = Math.min(window.rowCount, Math.max(1, Math.floor(PART_CELLS / width)));
  const endRow = window.firstRow + window.rowCount;
  const endColumn = window.firstColumn + window.columnCount;
  for (let column = window.firstColumn; column < endColumn; column += width) {
    for (let row = window.firstRow; row < endRow; row += height) {
      const rowCount = Math.min(height, endRow - row);
      yield {
        band: window.band,
        firstRow: row,
        rowCount,
        firstColumn: column,
        columnCount: Math.min(width, endColumn - column),
      };
    }
  }
}

async function readPart(
  { cells, tiles }: OpenMap,
  part: BandWindow,
  window: BandWindow,
  values: RasterValues,
): Promise<void> {
  const { rows, columns } = cells.sourceCells(part);
  const cellsByTile = new Map<number, number[]>();
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] ?? -1;
    if (row < 0) continue;
    const tile = tiles.tileOf(row, columns[i] ?? -1);
    const ofTile = cellsByTile.get(tile);
    if (ofTile === undefined) cellsByTile.set(tile, [i]);
    else ofTile.push(i);
  }
  const offset = (part.firstRow - window.firstRow) * window.columnCount + part.firstColumn - window.firstColumn;
  for (const [tile, ofTile] of cellsByTile) {
    const valueAt = await tiles.open(tile, part.band);
    for (const i of ofTile) {
      const row = Math.floor(i / part.columnCount);
      values[offset + row * window.columnCount + (i - row * part.columnCount)] = valueAt(rows[i] ?? 0, columns[i] ?? 0);
    }
  }
}
