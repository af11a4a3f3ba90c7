/** Validates the GeoKey directory (OGC GeoTIFF 1.1, section 7.1) before geotiff.js reads it. */
import { sourceFault } from "../../raster.ts";
import { type Directory, TAG } from "./directory.ts";

const MODEL_TYPE_KEY = 1024;
const GEODETIC_SYSTEM_KEY = 2048;
const VERSION = 1;

/**
 * Checks the GeoKeys of a file, if it has any. GDAL ignores a damaged directory, so that the map has no coordinate system.
 * @throws Fault `source_invalid` if the directory has another version, if values are missing, or if a geographic coordinate
 *   system has no model type
 */
export async function checkGeoKeys(file: string, directory: Directory): Promise<void> {
  const numbers = await directory.numbers(TAG.geoKeyDirectory);
  if (numbers.length === 0) return;
  const damaged = (why: string): Error => sourceFault(file, `is damaged: its GeoKey directory ${why}.`);
  const [version = NaN, , , keyCount = NaN] = numbers;
  if (version !== VERSION) throw damaged(`has version ${version}; ${VERSION} is supported`);
  if (!(numbers.length >= 4 + 4 * keyCount)) {
    throw damaged(`has ${numbers.length} numbers, too few for ${keyCount} keys`);
  }
  const keys = new Set<number>();
  for (let at = 4; at < 4 + 4 * keyCount; at += 4) {
    const [key = NaN, tag = NaN, count = NaN, offset = NaN] = numbers.slice(at, at + 4);
    if (keys.has(key)) throw damaged(`has the key ${key} twice`);
    keys.add(key);
    if (tag !== 0 && !(offset + count <= directory.count(tag))) {
      throw damaged(`refers to values of key ${key} that the file does not have`);
    }
  }
  if (keys.has(GEODETIC_SYSTEM_KEY) && !keys.has(MODEL_TYPE_KEY)) {
    throw damaged("has a geographic coordinate system but no GTModelTypeGeoKey");
  }
}
