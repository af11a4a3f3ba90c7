import type { GeoTIFFImage } from "geotiff";
import { gridFault } from "../../../atlas/catalog.ts";
import { Fault } from "../../../errors.ts";
import type { Grid } from "../../../kernel/grid.ts";
import { requirePackages } from "../../../optionalPackages.ts";
import { blockIndexOf } from "./blockIndex.ts";
import { type ByteSource, geotiffSource, messageOf, openBytes } from "./byteSource.ts";
import { decodersOf } from "./decoders.ts";
import { type Directories, readDirectories, TAG } from "./directory.ts";
import { readGdalMetadata } from "./gdalMetadata.ts";
import { type Georeference, readGeoreference } from "./georeference.ts";
import { type Layout, readLayout } from "./layout.ts";
import { meridianNotes, readWithRepeatedMeridian, hasRepeatedMeridian } from "./meridian.ts";
import { nodataMatchers } from "./nodata.ts";
import { readStoredWindow } from "./windows.ts";
import { readSidecars, type Sidecars } from "./sidecars.ts";
import { XML_BYTES_MAX } from "./xml.ts";
import { isSameUnit } from "../../units.ts";
import { type BandWindow, type Raster, type RasterOptions, sourceFault } from "../../raster.ts";

type GeoTiffModule = typeof import("geotiff");

/**
 * Opens a GeoTIFF on disk, or at an http(s) address by range requests.
 *
 * The grid is returned north up and in terms of cell edges: south-up files are flipped, PixelIsPoint tie points are moved
 * by half a cell, and the repeated last column of a world map is dropped.
 *
 * The file is not trusted: before geotiff.js reads it, all directories are walked, sizes are limited, and sidecar files
 * (masks, `.aux.xml`, world files) are checked. Anything that would change values or mark cells as missing, and is not
 * supported, is refused with a message that names it.
 *
 * @param file a path or an http(s) address
 * @throws Fault `source_invalid` if the file is missing, not a GeoTIFF, damaged or unsupported; `configuration_invalid` if
 *   the optional package geotiff is not installed; the reason of `options.signal` once that is aborted
 */
export async function openGeoTiff(file: string, options: RasterOptions = {}): Promise<Raster> {
  const module = await loadModule();
  const source = await openBytes(file, options.signal);
  try {
    const directories = await readDirectories(file, source);
    const layout = await readLayout(file, directories);
    const units = readGdalMetadata(file, await directories.first.text(TAG.gdalMetadata, XML_BYTES_MAX));
    const sidecars = await readSidecars(file, layout.format, options.signal);
    const tiff = await module.GeoTIFF.fromSource(geotiffSource(source));
    const image = await tiff.getImage();
    checkAgreement(file, layout, image);
    const reference = readGeoreference(file, image, { ...options, worldFile: sidecars.worldFile });
    sidecars.checkTransform(reference.transform);
    return rasterOf({ file, module, source, directories, layout, units, sidecars, image, reference, options });
  } catch (error) {
    await source.close();
    options.signal?.throwIfAborted();
    if (error instanceof Fault) throw error;
    throw sourceFault(file, `its TIFF directory cannot be read (${messageOf(error)}). It is damaged or cut short.`, {
      cause: error,
    });
  }
}

async function loadModule(): Promise<GeoTiffModule> {
  requirePackages("Reading GeoTIFF files", ["geotiff"]);
  return import("geotiff");
}

/** Checks that geotiff.js parsed the same image that was validated. */
function checkAgreement(file: string, layout: Layout, image: GeoTIFFImage): void {
  const agrees =
    image.getHeight() === layout.rowCount &&
    image.getWidth() === layout.columnCount &&
    image.getSamplesPerPixel() === layout.bandCount &&
    image.getTileHeight() === layout.blockRowCount &&
    image.getTileWidth() === layout.blockColumnCount &&
    image.isTiled === layout.isTiled &&
    (image.planarConfiguration === 2) === layout.isPlanar;
  if (!agrees) throw sourceFault(file, "is damaged: its directory is ambiguous.");
}

function rasterOf(opened: {
  readonly file: string;
  readonly module: GeoTiffModule;
  readonly source: ByteSource;
  readonly directories: Directories;
  readonly layout: Layout;
  readonly units: ReadonlyMap<number, string>;
  readonly sidecars: Sidecars;
  readonly image: GeoTIFFImage;
  readonly reference: Georeference;
  readonly options: RasterOptions;
}): Raster {
  const { file, layout, reference, options, source, sidecars, image } = opened;
  const { signal, keepMeridian } = options;
  const repeats = hasRepeatedMeridian(reference.grid);
  const grid = repeats ? { ...reference.grid, columnCount: reference.grid.columnCount - 1 } : reference.grid;
  const why = gridFault(grid);
  if (why !== undefined) throw sourceFault(file, `has cells that are not on Earth: ${why}`);

  const bandNumbers = Array.from({ length: layout.bandCount }, (_, index) => index + 1);
  const { nodata: sidecarNodata, units: sidecarUnits } = sidecars.statements;
  for (const [band, unit] of sidecarUnits) checkSameUnit(file, band, opened.units.get(band), unit);
  for (const [band, value] of sidecarNodata) checkNodata(file, layout, band, value);
  const nodata = bandNumbers.map((band) => sidecarNodata.get(band) ?? layout.nodata);
  const context = {
    file,
    image,
    layout,
    decoders: decodersOf(opened.module, layout, signal),
    blockIndex: blockIndexOf({ file, layout, source, directory: opened.directories.first }, nodata),
    isSouthUp: reference.isSouthUp,
    isMissing: nodataMatchers(layout, nodata, options.nodata ?? []),
    signal,
    cached: {},
  };
  return {
    file,
    grid,
    bandCount: layout.bandCount,
    declaredNodata: nodata,
    declaredUnits: bandNumbers.map(
      (band) => opened.units.get(band) ?? sidecarUnits.get(band) ?? reference.verticalUnit,
    ),
    blockRowCount: layout.blockRowCount,
    blockColumnCount: layout.blockColumnCount,
    notes: {
      ...reference.notes,
      ...(repeats ? meridianNotes(keepMeridian) : {}),
      ...(sidecarNodata.size === 0 ? {} : { sidecar_nodata: Object.fromEntries(sidecarNodata) }),
      ...(options.nodata === undefined || options.nodata.length === 0
        ? {}
        : {
            // JSON has no infinite numbers.
            extra_nodata: options.nodata.map((value) => (Number.isFinite(value) ? value : String(value))),
          }),
    },
    async readWindow(window) {
      checkWindow(window, grid, layout.bandCount);
      signal?.throwIfAborted();
      const read = (other: BandWindow) => readStoredWindow(context, other);
      if (!repeats || window.firstColumn > 0) return read(window);
      return readWithRepeatedMeridian({ file, read, extraColumn: grid.columnCount, kept: keepMeridian }, window);
    },
    close: () => source.close(),
  };
}

/** Refuses a file if its unit of a band contradicts that of its `.aux.xml`. */
function checkSameUnit(file: string, band: number, own: string | undefined, stated: string): void {
  if (own === undefined || isSameUnit(own, stated)) return;
  throw sourceFault(
    file,
    `band ${band} is in the unit ${JSON.stringify(own)}, but its .aux.xml states ${JSON.stringify(stated)}. Remove the wrong one.`,
  );
}

/** Refuses a file if its nodata value contradicts that of its `.aux.xml`. */
function checkNodata(file: string, layout: Layout, band: number, stated: number): void {
  if (band > layout.bandCount || layout.nodata === undefined || Object.is(layout.nodata, stated)) return;
  if (layout.fitsFloat32 && Math.fround(layout.nodata) === Math.fround(stated)) return;
  throw sourceFault(
    file,
    `declares the nodata value ${layout.nodata}, but its .aux.xml states ${stated} for band ${band}. Remove the wrong one.`,
  );
}

function checkWindow(window: BandWindow, grid: Grid, bandCount: number): void {
  const { band, firstRow, rowCount, firstColumn, columnCount } = window;
  const isInside =
    firstRow >= 0 &&
    rowCount > 0 &&
    firstRow + rowCount <= grid.rowCount &&
    firstColumn >= 0 &&
    columnCount > 0 &&
    firstColumn + columnCount <= grid.columnCount;
  if (!isInside || band < 1 || band > bandCount) {
    throw new Error(
      `The window ${JSON.stringify(window)} is outside ${grid.rowCount} x ${grid.columnCount} cells and ${bandCount} bands.`,
    );
  }
}
