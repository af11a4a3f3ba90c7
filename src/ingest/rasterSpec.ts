/** Opens rasters from their descriptions, which threads exchange. */
import type { Raster, RasterSpec } from "./raster.ts";
import { MapFiles } from "./readers/mapFiles.ts";

export interface OpenOptions {
  /** Stops opening and reading with its abort reason. */
  readonly signal?: AbortSignal;
  /**
   * Files that are already open; each file is then opened once for all of its maps, and remains open until `maps.close`.
   * Without it, closing the raster closes its file.
   */
  readonly maps?: MapFiles;
}

/**
 * Opens the raster that a description names. Its values are those of the raster that the description was taken from.
 * @throws Fault `source_invalid` if the file is missing, damaged or not supported; the abort reason of the signal
 */
export async function openRaster(spec: RasterSpec, { signal, maps }: OpenOptions = {}): Promise<Raster> {
  if (maps !== undefined) return maps.openSpec(spec);
  const ownMaps = new MapFiles(signal === undefined ? {} : { signal });
  try {
    return { ...(await ownMaps.openSpec(spec)), close: () => ownMaps.close() };
  } catch (error) {
    await ownMaps.close();
    throw error;
  }
}
