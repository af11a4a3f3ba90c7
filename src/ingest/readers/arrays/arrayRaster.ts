/** Reads one map of a file of arrays (NetCDF, HDF5, Zarr) by the CF conventions. */
import { setImmediate } from "node:timers/promises";
import { isFault } from "../../../errors.ts";
import {
  type BandsWindow,
  type BandWindow,
  checkWindow,
  extraNodataNotes,
  fileSpec,
  messageOf,
  type RasterOptions,
  type RasterValues,
  sourceFault,
  type StoredRaster,
} from "../../raster.ts";
import { describePlaneCell } from "../../reprojection/projection.ts";
import { placementOf, readPlaced } from "../storedMap.ts";
import { type ArrayFile, type ArrayVariable, countOf, type IndexRange, NUMBER_BYTES, textOf } from "./arrayFile.ts";
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
  const readBands = (window: BandsWindow): Promise<RasterValues> => {
    const { firstBand, bandCount } = window;
    for (const band of [firstBand, firstBand + bandCount - 1])
      checkWindow({ ...window, band }, plane, bandCoordinates.length);
    return readStored(map, window);
  };
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
          ...(hasRepeatedColumn ? {} : { readBands }),
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
      const read = ({ band, ...stored }: BandWindow): Promise<RasterValues> =>
        readStored(map, { ...stored, firstBand: band, bandCount: 1 });
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

/** Reads a window of consecutive bands, given in columns of the file, as north-up values with missing values as NaN. */
async function readStored(map: OpenMap, window: BandsWindow): Promise<RasterValues> {
  const { file, variable, packing, geometry, selection, options } = map;
  const { firstBand, bandCount, firstRow, rowCount, firstColumn, columnCount } = window;
  const { isSouthUp, dimensions } = geometry;
  const top = isSouthUp ? geometry.plane.rowCount - firstRow - rowCount : firstRow;
  let values: RasterValues | undefined;
  for (const rows of stepsOf(map, { first: top, end: top + rowCount }, bandCount * columnCount)) {
    await setImmediate(); // yields to the event loop, so that the signal can abort
    options.signal?.throwIfAborted();
    const ranges = variable.shape.map((_, index): IndexRange => {
      if (index === dimensions.lat) return rows;
      if (index === dimensions.lon) return { first: firstColumn, end: firstColumn + columnCount };
      if (index === selection.bands?.index) return { first: firstBand - 1, end: firstBand - 1 + bandCount };
      const chosen = selection.indexes[index] ?? 0;
      return { first: chosen, end: chosen + 1 };
    });
    const strideOf = (dimension: number | undefined): number =>
      dimension === undefined ? 0 : countOf(ranges.slice(dimension + 1));
    const part: Part = {
      rows,
      bandStride: strideOf(selection.bands?.index),
      rowStride: strideOf(dimensions.lat),
      columnStride: strideOf(dimensions.lon),
    };
    let read: RasterValues;
    try {
      read = unpack(await variable.read(ranges), packing);
      const expectedCount = countOf(ranges);
      if (read.length !== expectedCount) throw new Error(`${read.length} values were read instead of ${expectedCount}`);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (isFault(error)) throw error;
      if (error instanceof InexactIntegerError) throw inexactFault(map, error, { window, part });
      const bands = bandCount === 1 ? "" : `bands ${firstBand} to ${firstBand + bandCount - 1}, `;
      const where = `${bands}rows ${firstRow} to ${firstRow + rowCount - 1}, columns ${firstColumn} to ${firstColumn + columnCount - 1}`;
      throw sourceFault(
        file.file,
        `variable ${variable.name} cannot be read at ${where} (${messageOf(error)}). The file is damaged or truncated.`,
        { cause: error },
      );
    }
    const count = bandCount * rowCount * columnCount;
    values ??= read instanceof Float32Array ? new Float32Array(count) : new Float64Array(count);
    for (let band = 0; band < bandCount; band++) {
      for (let row = rows.first; row < rows.end; row++) {
        let from = band * part.bandStride + (row - rows.first) * part.rowStride;
        const to = (band * rowCount + (isSouthUp ? top + rowCount - 1 - row : row - top)) * columnCount;
        if (part.columnStride === 1) values.set(read.subarray(from, from + columnCount), to);
        else {
          for (let column = 0; column < columnCount; column++, from += part.columnStride)
            values[to + column] = read[from] as number;
        }
      }
    }
  }
  return values ?? new Float32Array(0);
}

/** A part of a window that is read in one step: rows of the file, and the distances of neighbors in the array. */
interface Part {
  readonly rows: IndexRange;
  readonly bandStride: number;
  readonly rowStride: number;
  readonly columnStride: number;
}

function inexactFault(
  { file, variable, geometry: { plane, projected, isSouthUp } }: OpenMap,
  { index, message }: InexactIntegerError,
  { window, part }: { readonly window: BandsWindow; readonly part: Part },
): Error {
  const positionOf = (stride: number, count: number): number => (stride === 0 ? 0 : Math.floor(index / stride) % count);
  const fileRow = part.rows.first + positionOf(part.rowStride, part.rows.end - part.rows.first);
  const cell = {
    row: isSouthUp ? plane.rowCount - 1 - fileRow : fileRow,
    column: window.firstColumn + positionOf(part.columnStride, window.columnCount),
  };
  return sourceFault(
    file.file,
    `variable ${variable.name}, ${describePlaneCell(plane, projected !== undefined, cell)}: ${message}.`,
    { details: { ...cell, band: window.firstBand + positionOf(part.bandStride, window.bandCount) } },
  );
}

/** Splits rows at the ends of chunks, so that the stored part of a step has a bounded size. */
function* stepsOf(
  { variable, packing, geometry }: OpenMap,
  rows: IndexRange,
  valuesPerRow: number,
): Generator<IndexRange> {
  const chunkRows = variable.chunkShape?.[geometry.dimensions.lat] ?? 1;
  const rowBytes = valuesPerRow * NUMBER_BYTES[packing.type];
  const stepRows = Math.max(1, Math.floor(STEP_BYTES / rowBytes / chunkRows)) * chunkRows;
  for (let first = rows.first; first < rows.end;) {
    const end = Math.min(rows.end, Math.floor(first / chunkRows) * chunkRows + stepRows);
    yield { first, end };
    first = end;
  }
}
