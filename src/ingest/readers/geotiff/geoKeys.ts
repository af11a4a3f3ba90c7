/** Reads the GeoKey directory (OGC GeoTIFF 1.1, section 7.1). */
import type { GeoKeys } from "../../reprojection/geoKeys.ts";
import { sourceFault } from "../../raster.ts";
import { type Directory, TAG } from "./directory.ts";

const VERSION = 1;

/** Names of consecutive keys, by the number of the first of them. */
const KEY_NAMES: readonly (readonly [first: number, names: string])[] = [
  [1024, "GTModelType GTRasterType GTCitation"],
  [
    2048,
    "GeographicType GeogCitation GeogGeodeticDatum GeogPrimeMeridian GeogLinearUnits GeogLinearUnitSize GeogAngularUnits " +
      "GeogAngularUnitSize GeogEllipsoid GeogSemiMajorAxis GeogSemiMinorAxis GeogInvFlattening GeogAzimuthUnits " +
      "GeogPrimeMeridianLong GeogTOWGS84",
  ],
  [
    3072,
    "ProjectedCSType PCSCitation Projection ProjCoordTrans ProjLinearUnits ProjLinearUnitSize ProjStdParallel1 ProjStdParallel2 " +
      "ProjNatOriginLong ProjNatOriginLat ProjFalseEasting ProjFalseNorthing ProjFalseOriginLong ProjFalseOriginLat " +
      "ProjFalseOriginEasting ProjFalseOriginNorthing ProjCenterLong ProjCenterLat ProjCenterEasting ProjCenterNorthing " +
      "ProjScaleAtNatOrigin ProjScaleAtCenter ProjAzimuthAngle ProjStraightVertPoleLong",
  ],
  [4096, "VerticalCSType VerticalCitation VerticalDatum VerticalUnits"],
];
const NAME_OF_KEY: ReadonlyMap<number, string> = new Map(
  KEY_NAMES.flatMap(([first, names]) =>
    names.split(" ").map((name, index) => [first + index, `${name}GeoKey`] as const),
  ),
);

/**
 * Returns the GeoKeys of a file by name; undefined if it has none. GDAL ignores a damaged directory, so that the map has no
 * coordinate system.
 * @throws Fault `source_invalid` if the directory has another version, if values are missing, or if a geographic coordinate
 *   system has no model type
 */
export async function readGeoKeys(file: string, directory: Directory): Promise<GeoKeys | undefined> {
  const numbers = await directory.numbers(TAG.geoKeyDirectory);
  if (numbers.length === 0) return undefined;
  const damaged = (why: string): Error => sourceFault(file, `is damaged: its GeoKey directory ${why}.`);
  const [version = NaN, , , keyCount = NaN] = numbers;
  if (version !== VERSION) throw damaged(`has version ${version}; ${VERSION} is supported`);
  if (!(numbers.length >= 4 + 4 * keyCount)) {
    throw damaged(`has ${numbers.length} numbers, too few for ${keyCount} keys`);
  }
  const doubles = (await directory.doubles(TAG.geoDoubleParams)) ?? [];
  const text = new TextDecoder().decode(await directory.bytes(TAG.geoAsciiParams));
  const valueOf = (tag: number, count: number, offset: number): unknown => {
    if (tag === 0) return offset;
    if (tag === TAG.geoAsciiParams) return text.slice(offset, offset + count - 1); // without the separator
    const values = (tag === TAG.geoDoubleParams ? doubles : numbers).slice(offset, offset + count);
    return count === 1 ? values[0] : values;
  };
  const values = new Map<number, unknown>();
  for (let at = 4; at < 4 + 4 * keyCount; at += 4) {
    const [key = NaN, tag = NaN, count = NaN, offset = NaN] = numbers.slice(at, at + 4);
    if (values.has(key)) throw damaged(`has the key ${key} twice`);
    const isKnownTag = [0, TAG.geoKeyDirectory, TAG.geoDoubleParams, TAG.geoAsciiParams].includes(tag);
    if (!isKnownTag || (tag !== 0 && !(offset + count <= directory.count(tag)))) {
      throw damaged(`refers to values of key ${key} that the file does not have`);
    }
    values.set(key, valueOf(tag, count, offset));
  }
  const keys = Object.fromEntries([...values].map(([key, value]) => [NAME_OF_KEY.get(key) ?? String(key), value]));
  if (keys["GeographicTypeGeoKey"] !== undefined && keys["GTModelTypeGeoKey"] === undefined) {
    throw damaged("has a geographic coordinate system but no GTModelTypeGeoKey");
  }
  return keys;
}
