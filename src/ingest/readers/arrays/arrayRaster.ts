/** Reads one map of a file of arrays (NetCDF, HDF5, Zarr) by the CF conventions. */
import { setImmediate } from "node:timers/promises";
import { isFault } from "../../../errors.ts";
import { type BandsWindow, type BandWindow, checkWindow, extraNodataNotes, fileSpec, messageOf, type RasterOptions, type RasterValues, sourceFault, type StoredRaster } from "../../raster.ts";
import { describePlaneCell } from "../../reprojection/projection.ts";
import { placementOf, readPlaced } from "../storedMap.ts";
import { type ArrayFile, type ArrayVariable, type IndexRange, NUMBER_BYTES, textOf } from "./arrayFile.ts";
import { type MapGeometry, readGeometry } from "./grid.ts";
import { chooseVariable, type Selection, selectMap } from "./selection.ts";
import { InexactIntegerError, type Packing, readPacking, unitOf, unpack } from "./values.ts";

/** Stored size of the part that is read in one step. */
const STEP_BYTES = 16 << 20;

/**
 * Opens the map that the options select.
 *
 * The map is north-up, with cell edges as bounds: rows from south to north are flipped, and the repeated last column of a world
 * map is dropped. Closing it does not close the file.
 *
 * @throws Fault `source_invalid` naming what cannot be honored
 */
export async function openArrayRaster(file: ArrayFile, options: RasterOptions): Promise<StoredRaster> {
  const variable = chooseVariable(file, options.variable);
  const packing = readPacking(file.file, variable, options.nodata);
  const geometry = await readGeometry(file, variable, options);
  const selection = await selectMap(file, variable, geometry.dimensions, options);
  const placement = placementOf(geometry.plane, geometry.projected, options);
  const { plane, position, hasRepeatedColumn } = placement;
  const map: OpenMap = { file, variable, packing, geometry, selection, options };
  const [blockRowCount, blockColumnCount] = [
    variable.chunkShape?.[geometry.dimensions.lat] ?? 1,
    variable.chunkShape?.[geometry.dimensions.lon] ?? plane.columnCount,
  ];
  const { type, scale, offset, nodata } = packing;
  const { bands } = selection;
  const bandCoordinates = bands?.coordinates.map((coordinate) => ({
    ...selection.coordinates,
    [bands.name]: coordinate,
  })) ?? [selection.coordinates];
  const description = textOf(variable.attributes, "long_name") ?? textOf(variable.attributes, "description");
  return {
    spec: fileSpec(file.file, options),
    file: file.file,
    ...position,
    crs: geometry.crs,
    bands: bandCoordinates.map((coordinates) => ({
      name: variable.name,
      type,
      nodata,
      scale,
      offset,
      unit: unitOf(variable),
      coordinates,
      ...(description === undefined ? {} : { description }),
    })),
    ...(bands === undefined
      ? {}
      : {
          bandDimension: bands.name,
          ...(bands.calendar === undefined ? {} : { bandCalendar: bands.calendar }),
          blockBandCount: variable.chunkShape?.[bands.index] ?? 1,
          ...(hasRepeatedColumn ? {} : { readBands: (window) => readStoredBands(map, window) }),
        }),
    blockRowCount,
    blockColumnCount,
    notes: {
      ...geometry.notes,
      format: file.format,
      variable: variable.name,
      ...(Object.keys(selection.coordinates).length === 0 ? {} : { coordinates: selection.coordinates }),
      ...(scale === 1 && offset === 0 ? {} : { scale_factor: scale, add_offset: offset }),
      ...variable.notes,
      ...placement.notes,
      ...extraNodataNotes(options.nodata),
    },
    async readWindow(window) {
      checkWindow(window, plane, bandCoordinates.length);
      const read = (stored: BandWindow): Promise<RasterValues> => readStored(map, stored);
      return readPlaced(file.file, placement, { window, read, kept: options.keepMeridian });
    },
    close: () => Promise.resolve(),
  };
}

interface OpenMap {
  readonly file: ArrayFile;
  readonly variable: ArrayVariable;
  readonly packing: Packing;
  readonly geometry: MapGeometry;
  readonly selection: Selection;
  readonly options: RasterOptions;
}

/** Reads a window, given in columns of the file, as north-up values with missing values as NaN. */
async function readStored(map: OpenMap, window: BandWindow): Promise<RasterValues> {
  const { geometry, variable, packing, options, file } = map;
  const { signal } = options;
  const { rowCount, columnCount, firstColumn } = window;
  const { isSouthUp, dimensions } = geometry;
  const top = isSouthUp ? geometry.plane.rowCount - window.firstRow - rowCount : window.firstRow;
  let values: RasterValues | undefined;
  for (const rows of stepsOf(map, { first: top, end: top + rowCount }, columnCount)) {
    await setImmediate(); // yields to the event loop, so that the signal can abort
    signal?.throwIfAborted();
    const ranges = variable.shape.map((_, index): IndexRange => {
      if (index === dimensions.lat) return rows;
      if (index === dimensions.lon) return { first: firstColumn, end: firstColumn + columnCount };
      return oneIndex(map, index, window.band);
    });
    let part: RasterValues;
    try {
      part = unpack(await variable.read(ranges), packing);
      const expectedCount = (rows.end - rows.first) * columnCount;
      if (part.length !== expectedCount) throw new Error(`${part.length} values were read instead of ${expectedCount}`);
    } catch (error) {
      signal?.throwIfAborted();
      if (isFault(error)) throw error;
      if (error instanceof InexactIntegerError) throw inexactFault(map, error, { window, rows });
      const where = `rows ${window.firstRow} to ${window.firstRow + rowCount - 1}, columns ${firstColumn} to ${firstColumn + columnCount - 1}`;
      throw sourceFault(
        file.file,
        `variable ${variable.name} cannot be read at ${where} (${messageOf(error)}). The file is damaged or truncated.`,
        { cause: error },
      );
    }
    if (dimensions.lon < dimensions.lat) part = transposed(part, rows.end - rows.first, columnCount);
    values ??=
      part instanceof Float32Array
        ? new Float32Array(rowCount * columnCount)
        : new Float64Array(rowCount * columnCount);
    for (let row = rows.first; row < rows.end; row++) {
      const from = (row - rows.first) * columnCount;
      const to = isSouthUp ? top + rowCount - 1 - row : row - top;
      values.set(part.subarray(from, from + columnCount), to * columnCount);
    }
  }
  return values ?? new Float32Array(0);
}

/** @param at the window, and the rows of the file that the array has */
function inexactFault(
  { file, variable, geometry: { plane, projected, isSouthUp, dimensions } }: OpenMap,
  { index, message }: InexactIntegerError,
  { window, rows }: { readonly window: BandWindow; readonly rows: IndexRange },
): Error {
  const isByColumn = dimensions.lon < dimensions.lat;
  const lineCount = isByColumn ? rows.end - rows.first : window.columnCount;
  const [line, position] = [Math.floor(index / lineCount), index % lineCount];
  const fileRow = rows.first + (isByColumn ? position : line);
  const cell = {
    row: isSouthUp ? plane.rowCount - 1 - fileRow : fileRow,
    column: window.firstColumn + (isByColumn ? line : position),
  };
  return sourceFault(
    file.file,
    `variable ${variable.name}, ${describePlaneCell(plane, projected !== undefined, cell)}: ${message}.`,
    {
      details: { ...cell, band: window.band },
    },
  );
}

/** Returns the position to read in a dimension that is neither latitude nor longitude. */
function oneIndex({ selection }: OpenMap, index: number, band: number): IndexRange {
  const chosen = index === selection.bands?.index ? band - 1 : (selection.indexes[index] ?? 0);
  return { first: chosen, end: chosen + 1 };
}

/** Reads a window of consecutive bands at once, because the file may store them in common chunks. */
async function readStoredBands(map: OpenMap, window: BandsWindow): Promise<RasterValues> {
  const { geometry, variable, packing, options, file, selection } = map;
  const { signal } = options;
  const { firstBand, bandCount, rowCount, columnCount, firstRow, firstColumn } = window;
  const { isSouthUp, dimensions } = geometry;
  checkWindow({ ...window, band: firstBand }, geometry.plane, selection.bands?.coordinates.length ?? 1);
  checkWindow({ ...window, band: firstBand + bandCount - 1 }, geometry.plane, selection.bands?.coordinates.length ?? 1);
  await setImmediate(); // yields to the event loop, so that the signal can abort
  signal?.throwIfAborted();
  const top = isSouthUp ? geometry.plane.rowCount - firstRow - rowCount : firstRow;
  const ranges = variable.shape.map((_, index): IndexRange => {
    if (index === dimensions.lat) return { first: top, end: top + rowCount };
    if (index === dimensions.lon) return { first: firstColumn, end: firstColumn + columnCount };
    if (index === selection.bands?.index) return { first: firstBand - 1, end: firstBand - 1 + bandCount };
    return oneIndex(map, index, firstBand);
  });
  let read: RasterValues;
  try {
    read = unpack(await variable.read(ranges), packing);
    const expectedCount = bandCount * rowCount * columnCount;
    if (read.length !== expectedCount) throw new Error(`${read.length} values were read instead of ${expectedCount}`);
  } catch (error) {
    signal?.throwIfAborted();
    if (isFault(error)) throw error;
    if (error instanceof InexactIntegerError) {
      // Reading one band at a time finds the cell.
      for (let band = firstBand; band < firstBand + bandCount; band++) await readStored(map, { ...window, band });
    }
    const why = `variable ${variable.name} cannot be read at bands ${firstBand} to ${firstBand + bandCount - 1} (${messageOf(error)}).`;
    throw sourceFault(file.file, `${why} The file is damaged or truncated.`, { cause: error });
  }
  const strideOf = (dimension: number | undefined): number =>
    dimension === undefined
      ? 0
      : ranges.slice(dimension + 1).reduce((count, { first, end }) => count * (end - first), 1);
  const [bandStride, rowStride, columnStride] = [selection.bands?.index, dimensions.lat, dimensions.lon].map(
    strideOf,
  ) as [number, number, number];
  const isInOrder = !isSouthUp && columnStride === 1 && rowStride === columnCount && bandStride >= rowStride;
  if (isInOrder) return read;
  const values = read.slice();
  let to = 0;
  for (let band = 0; band < bandCount; band++) {
    for (let row = 0; row < rowCount; row++) {
      let from = band * bandStride + (isSouthUp ? rowCount - 1 - row : row) * rowStride;
      for (let column = 0; column < columnCount; column++, from += columnStride) values[to++] = read[from] as number;
    }
  }
  return values;
}

/** Splits rows at the ends of chunks, so that the stored part of a step has a bounded size. */
function* stepsOf(
  { variable, packing, geometry }: OpenMap,
  rows: IndexRange,
  columnCount: number,
): Generator<IndexRange> {
  const chunkRows = variable.chunkShape?.[geometry.dimensions.lat] ?? 1;
  const rowBytes = columnCount * NUMBER_BYTES[packing.type];
  const stepRows = Math.max(1, Math.floor(STEP_BYTES / rowBytes / chunkRows)) * chunkRows;
  for (let first = rows.first; first < rows.end;) {
    const end = Math.min(rows.end, Math.floor(first / chunkRows) * chunkRows + stepRows);
    yield { first, end };
    first = end;
  }
}

/** Returns the transpose of values that are stored column by column. */
function transposed(values: RasterValues, rowCount: number, columnCount: number): RasterValues {
  const result = values.slice();
  for (let row = 0; row < rowCount; row++) {
    for (let column = 0; column < columnCount; column++) {
      result[row * columnCount + column] = values[column * rowCount + row] ?? NaN;
    }
  }
  return result;
}
