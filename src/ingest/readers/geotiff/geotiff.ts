import { gridFault } from "../../../atlas/catalog.ts";
import type { Cell } from "../../../kernel/grid.ts";
import { isFault } from "../../../errors.ts";
import {
  type BandWindow,
  checkWindow,
  extraNodataNotes,
  fileSpec,
  isProjected,
  messageOf,
  type NumberType,
  type Raster,
  type RasterOptions,
  type RasterValues,
  sourceFault,
  type StoredRaster,
} from "../../raster.ts";
import { describePlaneCell } from "../../reprojection/projection.ts";
import { placementOf, readPlaced, storedIntegersOf } from "../storedMap.ts";
import { type ByteSource, openBytes } from "../byteSource.ts";
import { readDirectories, TAG } from "./directory.ts";
import { combineStatements, type Packing, packingOf, readGdalMetadata, XML_BYTES_MAX } from "./gdalMetadata.ts";
import { readGeoreference } from "./georeference.ts";
import { ImageReader } from "./imageReader.ts";
import { type Layout, readLayout } from "./layout.ts";
import { type Mask, openMask } from "./masks.ts";
import { nodataMatchers, type NumberFormat } from "./nodata.ts";
import { readSidecars } from "./sidecars.ts";

/**
 * Opens a GeoTIFF in WGS84 degrees; see `openStoredGeoTiff`.
 * @throws Fault `source_invalid` if the map is in another coordinate system
 */
export async function openGeoTiff(file: string, options: RasterOptions = {}): Promise<Raster> {
  const raster = await openStoredGeoTiff(file, options);
  if (!isProjected(raster)) return raster;
  await raster.close();
  throw sourceFault(file, `is in a projected coordinate system (${raster.crs}); EPSG:4326 is expected.`);
}

/**
 * Opens a GeoTIFF on disk, or at an http(s) address by range requests.
 *
 * The returned grid is north-up, and its bounds are cell edges: south-up files are flipped, PixelIsPoint tie points are
 * moved by half a cell, and the repeated last column of a world map is dropped.
 *
 * The file is not trusted: all directories are validated, sizes are limited, and sidecar files (masks, `.aux.xml`, world files) are
 * checked. Unsupported features that change values or mask cells are rejected with an error that names them.
 *
 * @param file a path or an http(s) address
 * @throws Fault `source_invalid` if the file is missing, not a GeoTIFF, damaged or unsupported; the abort reason of
 *   `options.signal`
 */
export async function openStoredGeoTiff(file: string, options: RasterOptions = {}): Promise<StoredRaster> {
  const source = await openBytes(file, options.signal);
  try {
    return await rasterOf(file, source, options);
  } catch (error) {
    await source.close();
    options.signal?.throwIfAborted();
    if (isFault(error)) throw error;
    throw sourceFault(
      file,
      `its TIFF directory cannot be read (${messageOf(error)}). The file is damaged or truncated.`,
      { cause: error },
    );
  }
}

async function rasterOf(file: string, source: ByteSource, options: RasterOptions): Promise<StoredRaster> {
  const { signal, keepMeridian } = options;
  const directories = await readDirectories(file, source);
  const directory = directories.first;
  const layout = await readLayout(file, directory);
  const metadata = readGdalMetadata(file, await directory.text(TAG.gdalMetadata, XML_BYTES_MAX));
  const sidecars = await readSidecars(file, layout.format, signal);
  const statements = combineStatements(file, metadata, sidecars.statements);
  const { transform, srs, nodata: sidecarNodata } = sidecars.statements;
  const { rowCount, columnCount } = layout;
  const stated = { rowCount, columnCount, worldFile: sidecars.worldFile, transform, srs };
  const reference = await readGeoreference(file, directory, { ...options, ...stated });
  sidecars.checkTransform(reference.transform);
  const { isSouthUp, projected } = reference;
  const placement = placementOf(reference.plane, projected, options);
  const { plane, position } = placement;
  const gridError = "grid" in position ? gridFault(position.grid) : undefined;
  if (gridError !== undefined) throw sourceFault(file, `has an invalid grid: ${gridError}`);

  for (const [band, value] of sidecarNodata) checkNodata(file, layout, band, value);
  const bandNumbers = Array.from({ length: layout.bandCount }, (_, index) => index + 1);
  const nodata = bandNumbers.map((band) => sidecarNodata.get(band) ?? layout.nodata);
  const image = { file, layout, source, directory, isSouthUp, nodata, signal };
  const reader = new ImageReader(image);
  const mask = await openMask({ image, reader, directories, statements, maskFile: sidecars.mask });
  const bandCount = layout.bandCount - (mask?.alphaBand === undefined ? 0 : 1);
  const extraNodata = (options.nodata ?? []).filter((value) => !Number.isNaN(value));
  const isMissing = nodataMatchers(layout, nodata, extraNodata);
  const isNodata = nodataMatchers(layout, nodata, []);
  const read = async (window: BandWindow): Promise<RasterValues> => {
    const meaning: BandMeaning = {
      packing: packingOf(statements, window.band),
      mask,
      hasLargeIntegers: layout.format.bits === 64 && layout.format.kind !== "float",
      isNodata: isNodata(window.band),
      extraNodata,
    };
    if (isPlain(meaning)) return reader.read(window, isMissing(window.band));
    return valuesOf(await reader.read(window), meaning, {
      file,
      window,
      describe: (cell) => describePlaneCell(plane, projected !== undefined, cell),
    });
  };
  return {
    spec: fileSpec(file, options),
    file,
    ...position,
    crs: reference.crs,
    bands: bandNumbers.slice(0, bandCount).map((band, index) => ({
      name: undefined,
      type: numberTypeOf(layout.format),
      nodata: nodata[index] === undefined ? [] : [nodata[index]],
      ...packingOf(statements, band),
      unit: statements.units.get(band) ?? reference.verticalUnit,
      coordinates: {},
    })),
    blockRowCount: layout.blockRowCount,
    blockColumnCount: layout.blockColumnCount,
    notes: {
      ...reference.notes,
      ...placement.notes,
      ...(sidecarNodata.size === 0 ? {} : { sidecar_nodata: Object.fromEntries(sidecarNodata) }),
      ...(mask === undefined ? {} : { missing_cells: mask.note }),
      ...extraNodataNotes(options.nodata),
    },
    ...(sidecars.files.length === 0 ? {} : { sidecarFiles: sidecars.files }),
    async readWindow(window) {
      checkWindow(window, plane, bandCount);
      signal?.throwIfAborted();
      return readPlaced(file, placement, { window, read, kept: keepMeridian });
    },
    async close() {
      await source.close();
      await mask?.close?.();
    },
  };
}

function numberTypeOf({ kind, bits }: NumberFormat): NumberType {
  // The reader converts 16-bit floats to 32 bits.
  if (kind === "float") return bits === 64 ? "float64" : "float32";
  return `${kind === "unsigned" ? "uint" : "int"}${bits as 8 | 16 | 32 | 64}`;
}

/** Rejects the file if the nodata value it declares differs from the one in its `.aux.xml`. */
function checkNodata(file: string, layout: Layout, band: number, auxNodata: number): void {
  if (band > layout.bandCount || layout.nodata === undefined || Object.is(layout.nodata, auxNodata)) return;
  if (layout.fitsFloat32 && Math.fround(layout.nodata) === Math.fround(auxNodata)) return;
  throw sourceFault(
    file,
    `declares the nodata value ${layout.nodata}, but its .aux.xml states ${auxNodata} for band ${band}. ` +
      "Correct the file or its .aux.xml.",
  );
}

/** How stored numbers of a band become values. */
interface BandMeaning {
  readonly packing: Packing;
  readonly mask: Mask | undefined;
  /** Whether the file has 64-bit integers. */
  readonly hasLargeIntegers: boolean;
  /** Returns whether a stored number is the nodata value that the file declares. */
  readonly isNodata: ((stored: number) => boolean) | undefined;
  /** Values, after scale and offset, that the user declares as missing. */
  readonly extraNodata: readonly number[];
}

/** Returns whether stored numbers are the values, except that nodata values are missing. */
function isPlain({ packing, mask, hasLargeIntegers }: BandMeaning): boolean {
  return mask === undefined && !hasLargeIntegers && packing.scale === 1 && packing.offset === 0;
}

/**
 * Returns the values of a window, with NaN for missing cells.
 *
 * @param stored the stored numbers, which may be overwritten
 * @throws Fault `source_invalid` naming a cell with a 64-bit integer that cannot be represented exactly, a cell that is
 *   partly transparent, or a cell that the mask and the nodata value contradict
 */
async function valuesOf(
  stored: RasterValues,
  meaning: BandMeaning,
  {
    file,
    window,
    describe,
  }: { readonly file: string; readonly window: BandWindow; readonly describe: (cell: Cell) => string },
): Promise<RasterValues> {
  const { mask, isNodata, packing, extraNodata } = meaning;
  const cells = await mask?.read(window);
  const cellFault = (index: number, why: string): Error => {
    const row = window.firstRow + Math.floor(index / window.columnCount);
    const column = window.firstColumn + (index % window.columnCount);
    return sourceFault(file, `band ${window.band} ${why} at ${describe({ row, column })}.`, {
      details: { row, column, band: window.band },
    });
  };
  for (let index = 0; index < stored.length; index++) {
    const number = stored[index] as number;
    const isMarked = isNodata?.(number) === true;
    if (mask !== undefined && cells !== undefined) {
      const cell = cells[index] as number;
      const why = maskContradiction(mask, cell, {
        isMarked,
        hasNodata: isNodata !== undefined,
        isNaN: number !== number,
      });
      if (why !== undefined) throw cellFault(index, why);
      if (cell === 0) {
        stored[index] = NaN;
        continue;
      }
    }
    if (isMarked) stored[index] = NaN;
    else if (meaning.hasLargeIntegers && Math.abs(number) > Number.MAX_SAFE_INTEGER) {
      throw cellFault(index, "has a 64-bit integer beyond 2^53, which cannot be represented exactly,");
    }
  }
  const values = unpacked(stored, packing);
  if (extraNodata.length > 0) {
    const asStored = values instanceof Float32Array ? Math.fround : (value: number): number => value;
    const extra = new Set(extraNodata.map(asStored));
    const extraStored = new Set(values === stored ? [] : storedIntegersOf(extraNodata, packing));
    for (let index = 0; index < values.length; index++) {
      if (extra.has(values[index] as number) || extraStored.has(stored[index] as number)) values[index] = NaN;
    }
  }
  return values;
}

function maskContradiction(
  mask: Mask,
  cell: number,
  { isMarked, hasNodata, isNaN }: { readonly isMarked: boolean; readonly hasNodata: boolean; readonly isNaN: boolean },
): string | undefined {
  if (cell !== 0 && cell !== mask.opaque) {
    return `has the value ${cell} in ${mask.name}; 0 (missing) and ${mask.opaque} (valid) are accepted,`;
  }
  if (cell !== 0 && isMarked) return `has its nodata value although ${mask.name} marks the cell as valid,`;
  if (cell === 0 && mask.mustAgree && hasNodata && !isMarked && !isNaN) {
    return `has a value other than its nodata value although ${mask.name} marks the cell as missing,`;
  }
  return undefined;
}

function unpacked(stored: RasterValues, { scale, offset }: Packing): RasterValues {
  if (scale === 1 && offset === 0) return stored;
  const values = new Float64Array(stored.length);
  for (let index = 0; index < values.length; index++) values[index] = (stored[index] as number) * scale + offset;
  return values;
}
