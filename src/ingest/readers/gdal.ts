/** Converts maps in other formats into GeoTIFF with the programs of an installed GDAL. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { Fault } from "../../errors.ts";
import { messageOf, type RasterOptions, sourceFault } from "../raster.ts";

const execFileAsync = promisify(execFile);
/** Largest output of gdalinfo. */
const INFO_BYTES_MAX = 64 << 20;
const INSTALL =
  "Install GDAL so that gdalinfo and gdal_translate are on the PATH: apt-get install gdal-bin, brew install gdal, or conda install gdal.";

interface GdalInfo {
  readonly driverShortName?: string;
  readonly bands?: readonly unknown[];
  readonly coordinateSystem?: { readonly wkt?: string };
}

/**
 * Converts a map into a GeoTIFF.
 *
 * @param source where the map is; `file` is its name in messages, `target` the GeoTIFF to write
 * @returns entries for the provenance
 * @throws Fault `configuration_invalid` if GDAL is not installed; `source_invalid` if it cannot read the map; the abort reason
 *   of the signal
 */
export async function convertWithGdal(
  { file, source, target }: { readonly file: string; readonly source: string; readonly target: string },
  { assumeWgs84, signal }: Pick<RasterOptions, "assumeWgs84" | "signal">,
): Promise<Readonly<Record<string, unknown>>> {
  const run = async (program: string, parameters: readonly string[]): Promise<string> => {
    try {
      const options = { maxBuffer: INFO_BYTES_MAX, ...(signal === undefined ? {} : { signal }) };
      return (await execFileAsync(program, [...parameters], options)).stdout;
    } catch (error) {
      signal?.throwIfAborted();
      const { code, stderr } = error as NodeJS.ErrnoException & { readonly stderr?: string };
      if (code === "ENOENT")
        throw new Fault("configuration_invalid", `--via-gdal needs ${program}, which is not installed. ${INSTALL}`, {
          cause: error,
        });
      const reason = (stderr ?? "").split("\n").find((line) => line.trim() !== "") ?? messageOf(error);
      throw sourceFault(file, `GDAL cannot convert it: ${reason.replaceAll(source, file)}`, { cause: error });
    }
  };
  const version = (await run("gdal_translate", ["--version"])).trim();
  let info: GdalInfo;
  const text = await run("gdalinfo", ["-json", "-nomd", "-norat", "-noct", source]);
  try {
    info = JSON.parse(text) as GdalInfo;
  } catch (error) {
    throw sourceFault(file, `gdalinfo did not describe it (${messageOf(error)}).`, { cause: error });
  }
  if ((info.bands ?? []).length === 0) {
    throw sourceFault(
      file,
      "has subdatasets instead of bands. Convert the one you need with gdal_translate -of GTiff, and use the GeoTIFF.",
    );
  }
  // GRIB has latitudes and longitudes on a sphere, for which there is no other choice than WGS84.
  const wkt = info.coordinateSystem?.wkt ?? "";
  const isGeographic = /^\s*(GEOGCRS|GEODCRS|GEOGCS)\[/.test(wkt);
  const isAssumed = assumeWgs84 === true && isGeographic && !/ID\["EPSG",4326\]\]\s*$/.test(wkt);
  await run("gdal_translate", [
    ..."-q -of GTiff -co BIGTIFF=IF_SAFER -co TILED=YES -co COMPRESS=DEFLATE -co ZLEVEL=1".split(" "),
    ...(isAssumed ? ["-a_srs", "EPSG:4326"] : []),
    source,
    target,
  ]);
  return {
    converted_by: version,
    source_format: info.driverShortName ?? "unknown",
    ...(isAssumed ? { source_crs: `${/"([^"]*)"/.exec(wkt)?.[1] ?? "unnamed"}; read as EPSG:4326 on request` } : {}),
  };
}
