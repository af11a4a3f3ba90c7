import type { GeoTIFFImage } from "geotiff";
import { gridFault } from "../../../atlas/catalog.ts";
import { Fault } from "../../../errors.ts";
import { requirePackages } from "../../../validation/optionalPackages.ts";
import { type BandStatements, combineStatements, packingOf } from "./bandStatements.ts";
import { type BandMeaning, isPlain, valuesOf } from "./bandValues.ts";
import { blockIndexOf } from "./blockIndex.ts";
import { type BlockReader, blockReaderOf } from "./blockReader.ts";
import { type ByteSource, openBytes } from "./byteSource.ts";
import { cellMaskOf, maskNotes, type MaskSource, openMaskSource } from "./cellMask.ts";
import { decodersOf, type GeoTiffModule } from "./decoders.ts";
import { type Directories, readDirectories, TAG } from "./directory.ts";
import { readGdalMetadata } from "./gdalMetadata.ts";
import { checkGeoKeys } from "./geoKeys.ts";
import { type Georeference, readGeoreference } from "./georeference.ts";
import { type Layout, readLayout } from "./layout.ts";
import type { NumberFormat } from "./numberFormat.ts";
import { meridianNotes, readWithRepeatedMeridian, hasRepeatedMeridian } from "../meridian.ts";
import { nodataMatchers } from "./nodata.ts";
import { checkNodataValues } from "./nodataValues.ts";
import { normalizedSource } from "./normalizedSource.ts";
import { readStoredWindow } from "./windows.ts";
import { readSidecars, type Sidecars } from "./sidecars.ts";
import { XML_BYTES_MAX } from "./xml.ts";
import { describePlaneCell, gridOfPlane, planeInMeters } from "../../reprojection/planeGrid.ts";
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
 * The file is not trusted: before geotiff.js reads it, all directories are validated, sizes are limited, and sidecar
 * files (masks, `.aux.xml`, world files) are checked. Unsupported features that change values or mask cells are
 * rejected with an error that names them.
 *
 * @param file a path or an http(s) address
 * @throws Fault `source_invalid` if the file is missing, not a GeoTIFF, damaged or unsupported; `configuration_invalid` if
 *   the optional package geotiff is not installed; the abort reason of `options.signal`
 */
export async function openStoredGeoTiff(file: string, options: RasterOptions = {}): Promise<StoredRaster> {
  const module = await loadModule();
  const source = await openBytes(file, options.signal);
  let mask: MaskSource | undefined;
  try {
    const directories = await readDirectories(file, source);
    const layout = await readLayout(file, directories.first);
    const metadata = readGdalMetadata(file, await directories.first.text(TAG.gdalMetadata, XML_BYTES_MAX));
    const sidecars = await readSidecars(file, layout.format, options.signal);
    const statements = combineStatements(file, metadata, sidecars.statements);
    await checkGeoKeys(file, directories.first);
    const tiff = await module.GeoTIFF.fromSource(await normalizedSource(source, directories.first, layout));
    const image = await tiff.getImage();
    checkAgreement(file, layout, image);
    const { transform, srs } = sidecars.statements;
    const reference = readGeoreference(file, image, { ...options, worldFile: sidecars.worldFile, transform, srs });
    sidecars.checkTransform(reference.transform);
    const blocks = blockReaderOf(layout, source);
    const { signal } = options;
    mask = await openMaskSource(file, { source, directories, layout, sidecars, statements, signal });
    return rasterOf({
      file,
      module,
      source,
      blocks,
      directories,
      layout,
      statements,
      sidecars,
      mask,
      image,
      reference,
      options,
    });
  } catch (error) {
    await source.close();
    await mask?.image?.close();
    options.signal?.throwIfAborted();
    if (error instanceof Fault) throw error;
    throw sourceFault(
      file,
      `its TIFF directory cannot be read (${messageOf(error)}). The file is damaged or truncated.`,
      {
        cause: error,
      },
    );
  }
}

async function loadModule(): Promise<GeoTiffModule> {
  requirePackages("Reading GeoTIFF files", ["geotiff"]);
  return import("geotiff");
}

/** Checks that geotiff.js parsed the same image that was validated. */
function checkAgreement(file: string, layout: Layout, image: GeoTIFFImage): void {
  const properties: readonly (readonly [name: string, read: unknown, validated: unknown])[] = [
    ["rows", image.getHeight(), layout.rowCount],
    ["columns", image.getWidth(), layout.columnCount],
    ["bands", image.getSamplesPerPixel(), layout.bandCount],
    ["rows per block", image.getTileHeight(), layout.blockRowCount],
    ["columns per block", image.getTileWidth(), layout.blockColumnCount],
    ["tiled", image.isTiled, layout.isTiled],
    ["planar", image.planarConfiguration === 2, layout.isPlanar],
  ];
  const differences = properties.filter(([, read, validated]) => read !== validated);
  if (differences.length === 0) return;
  const list = (values: readonly unknown[]): string =>
    values.map((value, index) => `${differences[index]?.[0]}: ${String(value)}`).join(", ");
  throw sourceFault(
    file,
    `geotiff.js reads ${list(differences.map(([, read]) => read))}; the validated directory has ` +
      `${list(differences.map(([, , validated]) => validated))}. The file is damaged.`,
  );
}

function rasterOf(opened: {
  readonly file: string;
  readonly module: GeoTiffModule;
  readonly source: ByteSource;
  readonly blocks: BlockReader | undefined;
  readonly directories: Directories;
  readonly layout: Layout;
  readonly statements: BandStatements;
  readonly sidecars: Sidecars;
  readonly mask: MaskSource;
  readonly image: GeoTIFFImage;
  readonly reference: Georeference;
  readonly options: RasterOptions;
}): StoredRaster {
  const { file, layout, reference, options, source, sidecars, mask, image, statements } = opened;
  const { signal, keepMeridian } = options;
  const { projected } = reference;
  const hasRepeatedColumn = projected === undefined && hasRepeatedMeridian(gridOfPlane(reference.plane));
  const columnCount = reference.plane.columnCount - (hasRepeatedColumn ? 1 : 0);
  const plane = { ...reference.plane, columnCount };
  const grid = gridOfPlane(plane);
  const gridError = projected === undefined ? gridFault(grid) : undefined;
  if (gridError !== undefined) throw sourceFault(file, `has an invalid grid: ${gridError}`);

  // An alpha band is the last band.
  const bandCount = layout.bandCount - (mask.alpha === undefined ? 0 : 1);
  const bandNumbers = Array.from({ length: layout.bandCount }, (_, index) => index + 1);
  const { nodata: sidecarNodata } = sidecars.statements;
  for (const [band, value] of sidecarNodata) checkNodata(file, layout, band, value);
  const nodata = bandNumbers.map((band) => sidecarNodata.get(band) ?? layout.nodata);
  if (mask.nodataValues !== undefined) checkNodataValues(file, mask.nodataValues, { layout, nodata });
  const extraNodata = (options.nodata ?? []).filter((value) => !Number.isNaN(value));
  const context = {
    file,
    image,
    layout,
    decoders: decodersOf(opened.module, layout, signal),
    blockIndex: blockIndexOf({ file, layout, source, directory: opened.directories.first }, nodata),
    blocks: opened.blocks,
    isSouthUp: reference.isSouthUp,
    signal,
    cached: {},
  };
  const isMissing = nodataMatchers(layout, nodata, extraNodata);
  const isNodata = nodataMatchers(layout, nodata, []);
  const readStored = (window: BandWindow) => readStoredWindow({ ...context, isMissing: () => undefined }, window);
  const cellMask = cellMaskOf(mask, { layout, isSouthUp: reference.isSouthUp, readStored });
  const read = async (window: BandWindow): Promise<RasterValues> => {
    const meaning: BandMeaning = {
      packing: packingOf(statements, window.band),
      mask: cellMask,
      hasLargeIntegers: layout.format.bits === 64 && layout.format.kind !== "float",
      isNodata: isNodata(window.band),
      extraNodata,
    };
    if (isPlain(meaning)) return readStoredWindow({ ...context, isMissing }, window);
    return valuesOf(await readStored(window), meaning, {
      file,
      window,
      describe: (cell) => describePlaneCell(plane, projected !== undefined, cell),
    });
  };
  return {
    spec: fileSpec(file, options),
    file,
    ...(projected === undefined
      ? { grid }
      : { plane: planeInMeters(plane, projected.unitM), projectedCrs: projected.crs }),
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
      ...(hasRepeatedColumn ? meridianNotes(keepMeridian) : {}),
      ...(sidecarNodata.size === 0 ? {} : { sidecar_nodata: Object.fromEntries(sidecarNodata) }),
      ...maskNotes(mask),
      ...extraNodataNotes(options.nodata),
    },
    ...(sidecars.files.length === 0 ? {} : { sidecarFiles: sidecars.files }),
    async readWindow(window) {
      checkWindow(window, plane, bandCount);
      signal?.throwIfAborted();
      if (!hasRepeatedColumn || window.firstColumn > 0) return read(window);
      return readWithRepeatedMeridian({ file, read, extraColumn: columnCount, kept: keepMeridian }, window);
    },
    async close() {
      await source.close();
      await mask.image?.close();
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
