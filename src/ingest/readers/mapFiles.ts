/** Opens maps of any supported format. */
import { type Raster, type RasterOptions, sourceFault } from "../raster.ts";
import type { ArrayFile } from "./arrays/arrayFile.ts";
import { openArrayRaster } from "./arrays/arrayRaster.ts";
import { fileFormatOf } from "./fileFormat.ts";
import { openGeoTiff } from "./geotiff/geotiff.ts";
import { openHdf5 } from "./hdf5/hdf5.ts";
import { openNetcdf3 } from "./netcdf3/netcdf3.ts";
import { zarrFolder } from "./zarr/store.ts";
import { openZarr } from "./zarr/zarr.ts";

const ACCEPTED_FORMATS = "GeoTIFF, NetCDF, HDF5 and Zarr are accepted.";

export interface MapFilesOptions {
  /** Stops opening and reading with its abort reason. */
  readonly signal?: AbortSignal;
}

/** The maps of one ingest. Each file is opened once for all of its maps, and closed with this object. */
export class MapFiles {
  readonly #options: MapFilesOptions;
  readonly #rasters = new Map<string, Promise<Raster>>();
  readonly #arrayFiles = new Map<string, Promise<ArrayFile>>();

  constructor(options: MapFilesOptions = {}) {
    this.#options = options;
  }

  /**
   * Opens a map.
   *
   * @param file a path, or the http(s) address of a GeoTIFF
   * @throws Fault `source_invalid` if the file is missing, damaged or not supported; `configuration_invalid` if the optional
   *   package for its format is not installed; the abort reason of the signal
   */
  open(file: string, options: RasterOptions = {}): Promise<Raster> {
    const key = JSON.stringify([file, options]);
    return remembered(this.#rasters, key, () => this.#open(file, { ...options, ...this.#options }));
  }

  /** Closes all files, including those that could not be opened completely. */
  async close(): Promise<void> {
    for (const opened of [...this.#rasters.values(), ...this.#arrayFiles.values()]) {
      await opened.then(
        (file) => file.close(),
        () => undefined,
      );
    }
  }

  async #open(file: string, options: RasterOptions): Promise<Raster> {
    options.signal?.throwIfAborted();
    if (/^https?:\/\//.test(file)) return openBandedMap(file, options);
    const format = await fileFormatOf(file, file);
    if (format.kind === "geotiff") return openBandedMap(file, options);
    const { kind } = format;
    if (kind === "hdf5" || kind === "netcdf3" || kind === "zarr") {
      const arrays = await remembered(this.#arrayFiles, file, () => openArrays(file, kind));
      return openArrayRaster(arrays, options);
    }
    throw sourceFault(file, `is ${format.kind === "other" ? format.name : format.kind}. ${ACCEPTED_FORMATS}`);
  }
}

function openArrays(file: string, kind: "hdf5" | "netcdf3" | "zarr"): Promise<ArrayFile> {
  if (kind === "zarr") return openZarr(file, zarrFolder(file));
  return kind === "hdf5" ? openHdf5(file, file) : openNetcdf3(file, file);
}

/** Opens a GeoTIFF, which has bands instead of variables. */
function openBandedMap(file: string, options: RasterOptions): Promise<Raster> {
  const member = options.variable === undefined ? options.select && "select" : "variable";
  if (member !== undefined) {
    throw sourceFault(file, `is a GeoTIFF, whose maps are bands: give band in the layer instead of ${member}.`);
  }
  return openGeoTiff(file, options);
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
