/** Opens maps of any supported format, also in zip archives. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Fault, isFault } from "../../errors.ts";
import type { Grid } from "../../kernel/grid.ts";
import { computedRasterOf } from "../computed/computedRaster.ts";
import { interpolatedRasters, openDryFilled } from "../derivedRasters.ts";
import { mosaicOf } from "../mosaic.ts";
import {
  type FileSpec,
  type InterpolatedCurveSpec,
  isProjected,
  type MosaicOrder,
  type ProjectedRaster,
  type Raster,
  type RasterOptions,
  type RasterSpec,
  sourceFault,
  type StoredRaster,
} from "../raster.ts";
import { cellSizeOf, reprojectMap, reprojectOnto } from "../reprojection/reprojectedRaster.ts";
import { type CellLattice, latticeOf, wholeDegreeLattice } from "../reprojection/targetGrid.ts";
import type { ArrayFile } from "./arrays/arrayFile.ts";
import { openArrayRaster } from "./arrays/arrayRaster.ts";
import { type FileFormat, fileFormatOf } from "./fileFormat.ts";
import { openStoredGeoTiff } from "./geotiff/geotiff.ts";
import { openHdf5 } from "./hdf5.ts";
import { openNetcdf3 } from "./netcdf3.ts";
import { ZipArchive } from "./zip/archive.ts";
import { type ArchivePath, archivePathOf } from "./zip/archivePath.ts";
import { extractMap, findZipMap, zarrInZip } from "./zip/zipMaps.ts";
import { zarrFolder } from "./zarr/store.ts";
import { openZarr } from "./zarr/zarr.ts";

const ACCEPTED_FORMATS = "GeoTIFF, NetCDF, HDF5, Zarr and zip archives of them are accepted.";

export interface MapFilesOptions {
  /** Converts maps in other formats with GDAL. */
  readonly viaGdal?: boolean;
  /** Cell size of maps that are reprojected; by default that of the atlas, or one that keeps the resolution of the map. */
  readonly cellSizeDeg?: number;
  /** Largest distance between neighboring cells of a reprojected map, in cells of the source. */
  readonly maxDistortion?: number;
  /** The grid of the hazard in the atlas, onto whose cells maps are reprojected. */
  readonly atlasGrid?: Grid;
  /** Stops opening and reading with its abort reason. */
  readonly signal?: AbortSignal;
}

/**
 * The maps of one ingest. Each file is opened once for all of its maps. Maps in archives and in formats that GDAL converts are
 * in a temporary folder. `close` closes all files and removes the folder.
 */
export class MapFiles {
  readonly #options: MapFilesOptions;
  readonly #stored = new Map<string, Promise<StoredRaster>>();
  readonly #rasters = new Map<string, Promise<Raster>>();
  readonly #curves = new Map<string, Promise<readonly Raster[]>>();
  readonly #arrayFiles = new Map<string, Promise<ArrayFile>>();
  readonly #archives = new Map<string, Promise<ZipArchive>>();
  /** Paths of extracted and converted maps. */
  readonly #extracted = new Map<string, Promise<string>>();
  readonly #converted = new Map<string, Promise<ConvertedMap>>();
  #folder: Promise<string> | undefined;
  #folderCount = 0;

  constructor(options: MapFilesOptions = {}) {
    this.#options = options;
  }

  /**
   * Opens a map. A map in another coordinate system than WGS84 degrees is reprojected.
   *
   * @param file a path, a path into a zip archive (`maps.zip/folder/map.tif`), or the http(s) address of a GeoTIFF
   * @throws Fault `source_invalid` if the file is missing, damaged or not supported; `configuration_invalid` if the optional
   *   package or program for its format is not installed; the abort reason of the signal
   */
  open(file: string, options: RasterOptions = {}): Promise<Raster> {
    return remembered(this.#rasters, keyOf(file, options), async () => {
      const stored = await this.#openStored(file, options);
      return isProjected(stored) ? this.#reproject(stored, this.#givenLattice()) : stored;
    });
  }

  /**
   * Opens several maps as one. Maps in other coordinate systems are reprojected onto the cells of the others, or onto those of
   * the map with the highest resolution.
   * @throws Fault as `open`, or if the maps do not fit together
   */
  async openMosaic(files: readonly string[], options: RasterOptions, order: MosaicOrder): Promise<Raster> {
    const stored: StoredRaster[] = [];
    for (const file of files) stored.push(await this.#openStored(file, options));
    const projected = stored.filter(isProjected);
    const inDegrees = stored.find((map): map is Raster => !isProjected(map));
    let lattice = this.#givenLattice();
    if (lattice === undefined && projected.length > 0) {
      if (inDegrees === undefined) {
        const sizesDeg: number[] = [];
        for (const map of projected) sizesDeg.push(await cellSizeOf(map));
        lattice = wholeDegreeLattice(Math.min(...sizesDeg));
      } else lattice = latticeOf(inDegrees.grid);
    }
    const parts: Raster[] = [];
    for (const map of stored) parts.push(isProjected(map) ? await this.#reproject(map, lattice) : map);
    return mosaicOf(parts, { order, whole: this.#options.atlasGrid });
  }

  /**
   * Opens a file of arrays, of which `open` selects maps. It stays open until `close`.
   *
   * @throws Fault `source_invalid` if the file is missing, damaged or in a format without arrays; the abort reason of the signal
   */
  async openArrays(file: string): Promise<ArrayFile> {
    const { signal } = this.#options;
    signal?.throwIfAborted();
    const archivePath = await archivePathOf(file);
    if (archivePath !== undefined) return this.#openArchivedArrays(file, archivePath);
    const format = await fileFormatOf(file, file);
    if (format.kind === "zip") return this.#openArchivedArrays(file, { archive: file, entry: "" });
    return this.#openArraysAt(file, file, format);
  }

  /** Opens the map that a description names. A temporary file that it refers to is read, but not removed. */
  async openSpec(spec: RasterSpec): Promise<Raster> {
    if (spec.kind === "mosaic") {
      const parts: Raster[] = [];
      for (const part of spec.parts) parts.push(await this.openSpec(part));
      const mosaic = mosaicOf(parts, { order: spec.order, whole: spec.grid });
      if (mosaic.grid !== spec.grid)
        throw sourceFault(mosaic.file, "the grid of a map changed after it was first opened.");
      return mosaic;
    }
    if (spec.kind === "computed") {
      const parts: Raster[] = [];
      for (const part of spec.parts) parts.push(await this.openSpec(part));
      return computedRasterOf(parts, spec.method);
    }
    if (spec.kind === "derived") {
      if ("curve" in spec) return (await this.#openCurve(spec.curve))[spec.rule.period] as Raster;
      return openDryFilled(spec, await this.openSpec(spec.map.spec), await this.openSpec(spec.witness.spec));
    }
    const stored = await this.#openStoredSpec(spec.kind === "file" ? spec : spec.source);
    if (spec.kind === "file" && !isProjected(stored)) return stored;
    if (spec.kind === "file" || !isProjected(stored))
      throw sourceFault(stored.file, "its coordinate system changed after it was first opened.");
    return reprojectOnto({ ...stored, projectedCrs: spec.crs }, spec.grid);
  }

  /** Opens the maps of a curve once, so that they share their reads. */
  #openCurve(spec: InterpolatedCurveSpec): Promise<readonly Raster[]> {
    return remembered(this.#curves, JSON.stringify(spec), async () => {
      const openAll = (sources: InterpolatedCurveSpec["earlier"]): Promise<readonly Raster[]> =>
        Promise.all(sources.map((source) => this.openSpec(source.spec)));
      return interpolatedRasters(spec, [await openAll(spec.earlier), await openAll(spec.later)]);
    });
  }

  /** Returns the cells that the options or the atlas prescribe for reprojected maps. */
  #givenLattice(): CellLattice | undefined {
    const { cellSizeDeg, atlasGrid } = this.#options;
    const isOfAtlas = (sizeDeg: number): boolean =>
      cellSizeDeg === undefined || Math.abs(cellSizeDeg / sizeDeg - 1) < 1e-9;
    if (atlasGrid !== undefined && isOfAtlas(atlasGrid.cellSizeLatDeg) && isOfAtlas(atlasGrid.cellSizeLonDeg))
      return latticeOf(atlasGrid);
    return cellSizeDeg === undefined ? undefined : wholeDegreeLattice(cellSizeDeg);
  }

  #reproject(map: ProjectedRaster, lattice: CellLattice | undefined): Promise<Raster> {
    const { maxDistortion } = this.#options;
    return reprojectMap(map, {
      ...(lattice === undefined ? {} : { lattice }),
      ...(maxDistortion === undefined ? {} : { maxDistortion }),
    });
  }

  #openStored(file: string, options: RasterOptions): Promise<StoredRaster> {
    const { signal } = this.#options;
    return remembered(this.#stored, keyOf(file, options), () =>
      this.#open(file, { ...options, ...(signal === undefined ? {} : { signal }) }),
    );
  }

  #openStoredSpec({ file, path, options }: FileSpec): Promise<StoredRaster> {
    if (path === undefined) return this.#openStored(file, options);
    const { signal } = this.#options;
    return remembered(this.#stored, JSON.stringify([file, path, options]), async () => {
      signal?.throwIfAborted();
      return this.#openPath(file, path, { ...options, ...(signal === undefined ? {} : { signal }) });
    });
  }

  /** Closes all files and removes temporary ones. */
  async close(): Promise<void> {
    const opened = [...this.#stored.values(), ...this.#arrayFiles.values(), ...this.#archives.values()];
    // Files that could not be opened are no longer in the maps.
    await Promise.allSettled(opened.map(async (file) => (await file).close()));
    if (this.#folder !== undefined) await rm(await this.#folder, { recursive: true, force: true });
  }

  async #open(file: string, options: RasterOptions): Promise<StoredRaster> {
    options.signal?.throwIfAborted();
    if (/^https?:\/\//.test(file)) return openBandedMap(file, file, options);
    const archivePath = await archivePathOf(file);
    if (archivePath !== undefined) return this.#openInArchive(file, archivePath, options);
    return this.#openPath(file, file, options);
  }

  /** Opens the map at a path; `file` is its name in messages. */
  async #openPath(file: string, path: string, options: RasterOptions): Promise<StoredRaster> {
    const format = await fileFormatOf(file, path);
    const { kind } = format;
    if (kind === "geotiff") return openBandedMap(file, path, options);
    if (kind === "zip" && file === path) return this.#openInArchive(file, { archive: file, entry: "" }, options);
    if (kind === "hdf5" || kind === "netcdf3" || kind === "zarr") {
      return storedAt(file, path, await openArrayRaster(await this.#openArraysAt(file, path, format), options));
    }
    const name = format.kind === "other" ? format.description : "a zip archive in a zip archive";
    if (this.#options.viaGdal === true) return this.#openConverted(file, path, options);
    throw sourceFault(file, `is ${name}. ${ACCEPTED_FORMATS} GDAL can convert many other formats: --via-gdal.`);
  }

  async #openInArchive(
    file: string,
    { archive: path, entry }: ArchivePath,
    options: RasterOptions,
  ): Promise<StoredRaster> {
    const archive = await remembered(this.#archives, path, () => ZipArchive.open(path));
    const map = findZipMap(file, archive, entry);
    if (map.kind === "zarr") return openArrayRaster(await this.#openZarrIn(file, archive, map.name), options);
    return this.#openPath(file, await this.#extract(path, archive, map.name), options);
  }

  async #openArchivedArrays(file: string, { archive: path, entry }: ArchivePath): Promise<ArrayFile> {
    const archive = await remembered(this.#archives, path, () => ZipArchive.open(path));
    const map = findZipMap(file, archive, entry);
    if (map.kind === "zarr") return this.#openZarrIn(file, archive, map.name);
    const extracted = await this.#extract(path, archive, map.name);
    return this.#openArraysAt(file, extracted, await fileFormatOf(file, extracted));
  }

  #openArraysAt(file: string, path: string, format: FileFormat): Promise<ArrayFile> {
    const { kind } = format;
    if (kind === "hdf5" || kind === "netcdf3" || kind === "zarr")
      return remembered(this.#arrayFiles, file, () => openArrays(file, path, kind));
    const name =
      kind === "other" ? format.description : kind === "geotiff" ? "a GeoTIFF file" : "a zip archive in a zip archive";
    throw sourceFault(file, `is ${name}; NetCDF, HDF5 and Zarr are accepted here.`);
  }

  #openZarrIn(file: string, archive: ZipArchive, name: string): Promise<ArrayFile> {
    return remembered(this.#arrayFiles, file, () => openZarr(file, zarrInZip(archive, name)));
  }

  /** Returns the path of a map that was extracted from an archive. */
  #extract(path: string, archive: ZipArchive, name: string): Promise<string> {
    return remembered(this.#extracted, `${path}/${name}`, async () =>
      extractMap(archive, name, { folder: await this.#newFolder(), signal: this.#options.signal }),
    );
  }

  async #openConverted(file: string, source: string, options: RasterOptions): Promise<StoredRaster> {
    const key = JSON.stringify([file, options.assumeWgs84]);
    const { path, notes } = await remembered(this.#converted, key, async () => {
      const { convertWithGdal } = await import("./gdal.ts");
      const target = `${await this.#newFolder()}.tif`;
      return { path: target, notes: await convertWithGdal({ file, source: resolve(source), target }, options) };
    });
    const raster = await openBandedMap(file, path, options);
    return { ...raster, notes: { ...raster.notes, ...notes } };
  }

  /** Returns the path of a folder that does not exist yet, in the temporary folder. */
  async #newFolder(): Promise<string> {
    this.#folder ??= mkdtemp(join(tmpdir(), "isotherm-maps-"));
    return join(await this.#folder, String(this.#folderCount++));
  }
}

interface ConvertedMap {
  readonly path: string;
  readonly notes: Readonly<Record<string, unknown>>;
}

function openArrays(file: string, path: string, kind: "hdf5" | "netcdf3" | "zarr"): Promise<ArrayFile> {
  if (kind === "zarr") return openZarr(file, zarrFolder(path));
  return kind === "hdf5" ? openHdf5(file, path) : openNetcdf3(file, path);
}

/** Opens a GeoTIFF, which has bands instead of variables. */
async function openBandedMap(file: string, path: string, options: RasterOptions): Promise<StoredRaster> {
  const { variable, select, ...others } = options;
  if (variable !== undefined || select !== undefined) {
    const member = variable === undefined ? "select" : "variable";
    throw sourceFault(file, `its maps are bands: give band in the layer instead of ${member}.`);
  }
  if (file === path) return openStoredGeoTiff(file, others);
  // The version of an archive covers the sidecar files in it.
  const { sidecarFiles: _, ...raster } = await renamed(file, path, () => openStoredGeoTiff(path, others));
  return {
    ...storedAt(file, path, raster),
    file,
    readWindow: (window) => renamed(file, path, () => raster.readWindow(window)),
    close: () => raster.close(),
  };
}

/** Adds the path of a temporary file to the description of a map. */
function storedAt(file: string, path: string, raster: StoredRaster): StoredRaster {
  if (file === path || raster.spec.kind !== "file") return raster;
  return { ...raster, spec: { ...raster.spec, file, path } };
}

function keyOf(file: string, options: RasterOptions): string {
  return JSON.stringify([file, options]);
}

/** Replaces the path of a temporary file in errors by the name of the map. */
async function renamed<T>(file: string, path: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!isFault(error)) throw error;
    const details = { ...error.details, ...(error.details["file"] === path ? { file } : {}) };
    throw new Fault(error.code, error.message.replaceAll(path, file), { details, items: error.items, cause: error });
  }
}

/** Returns the value of a key, and makes it if there is none. A failure is not remembered. */
function remembered<T>(map: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  made.catch(() => map.delete(key));
  return made;
}
