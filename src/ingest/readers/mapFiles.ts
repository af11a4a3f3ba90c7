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
import { zarrFolder, type ZarrFiles } from "./zarr/store.ts";
import { openZarr } from "./zarr/zarr.ts";
import { archivePathOf, extractMap, findZipMap, zarrInZip, ZipArchive } from "./zip.ts";

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
    return remembered(this.#rasters, JSON.stringify([file, options]), async () => {
      const stored = await this.#openStored({ file, options });
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
    for (const file of files) stored.push(await this.#openStored({ file, options }));
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
    return this.#arraysAt(file, await this.#locate(file, file));
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
    const stored = await this.#openStored(spec.kind === "file" ? spec : spec.source);
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

  /** Opens a map as it is stored: at its own path, or where it was extracted or converted to. */
  #openStored({ file, path = file, options }: Pick<FileSpec, "file" | "path" | "options">): Promise<StoredRaster> {
    const { signal } = this.#options;
    return remembered(this.#stored, JSON.stringify([file, path, options]), () =>
      this.#open(file, path, { ...options, ...(signal === undefined ? {} : { signal }) }),
    );
  }

  /** Closes all files and removes temporary ones. */
  async close(): Promise<void> {
    const opened = [...this.#stored.values(), ...this.#arrayFiles.values(), ...this.#archives.values()];
    // Files that could not be opened are no longer in the maps.
    await Promise.allSettled(opened.map(async (file) => (await file).close()));
    if (this.#folder !== undefined) await rm(await this.#folder, { recursive: true, force: true });
  }

  /** Opens the map at a path; `file` is its name in messages. */
  async #open(file: string, path: string, options: RasterOptions): Promise<StoredRaster> {
    options.signal?.throwIfAborted();
    if (/^https?:\/\//.test(path)) return openBandedMap(file, path, options);
    const found = await this.#locate(file, path);
    if ("store" in found) return openArrayRaster(await this.#arraysAt(file, found), options);
    const { format } = found;
    if (format.kind === "geotiff") return openBandedMap(file, found.path, options);
    if (format.kind !== "other" && format.kind !== "zip")
      return storedAt(file, found.path, await openArrayRaster(await this.#arraysAt(file, found), options));
    if (this.#options.viaGdal === true) return this.#openConverted(file, found.path, options);
    throw sourceFault(
      file,
      `is ${nameOf(format)}. ${ACCEPTED_FORMATS} GDAL can convert many other formats: --via-gdal.`,
    );
  }

  #arraysAt(file: string, found: FoundMap): Promise<ArrayFile> {
    return remembered(this.#arrayFiles, file, async () => {
      if ("store" in found) return openZarr(file, found.store);
      const { path, format } = found;
      if (format.kind === "zarr") return openZarr(file, zarrFolder(path));
      if (format.kind === "hdf5") return openHdf5(file, path);
      if (format.kind === "netcdf3") return openNetcdf3(file, path);
      throw sourceFault(file, `is ${nameOf(format)}; NetCDF, HDF5 and Zarr are accepted here.`);
    });
  }

  /** Finds a map on disk or in an archive, from which it is extracted. */
  async #locate(file: string, path: string): Promise<FoundMap> {
    this.#options.signal?.throwIfAborted();
    let inArchive = file === path ? await archivePathOf(file) : undefined;
    if (inArchive === undefined) {
      const format = await fileFormatOf(file, path);
      if (format.kind !== "zip" || file !== path) return { path, format };
      inArchive = { archive: file, entry: "" };
    }
    const { archive: archivePath, entry } = inArchive;
    const archive = await remembered(this.#archives, archivePath, () => ZipArchive.open(archivePath));
    const map = findZipMap(file, archive, entry);
    if (map.kind === "zarr") return { store: zarrInZip(archive, map.name) };
    const extracted = await this.#extract(archivePath, archive, map.name);
    return { path: extracted, format: await fileFormatOf(file, extracted) };
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

/** Where a map is: at a path on disk, or as a Zarr store in an archive. */
type FoundMap = { readonly path: string; readonly format: FileFormat } | { readonly store: ZarrFiles };

function nameOf(format: FileFormat): string {
  if (format.kind === "other") return format.description;
  return format.kind === "geotiff" ? "a GeoTIFF file" : "a zip archive in a zip archive";
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
