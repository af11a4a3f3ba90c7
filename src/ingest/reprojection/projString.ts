/** Reads coordinate systems from PROJ strings. */
import { type CrsDefinition, type Ellipsoid, WGS84_ELLIPSOID } from "../crsDefinition.ts";
import { datumOf, type StatedDatum } from "./datums.ts";
import { utmParameters } from "./epsg.ts";
import { crsDefinition, type GivenParameters, isProjectionMethod, SUPPORTED_PROJECTIONS } from "./methods.ts";

/** Semi-major axes in meters and inverse flattenings (0: sphere) of the ellipsoids that PROJ names. */
const ELLIPSOIDS: Readonly<Record<string, Ellipsoid>> = {
  wgs84: WGS84_ELLIPSOID,
  grs80: { semiMajorM: 6_378_137, inverseFlattening: 298.257222101 },
  wgs72: { semiMajorM: 6_378_135, inverseFlattening: 298.26 },
  bessel: { semiMajorM: 6_377_397.155, inverseFlattening: 299.1528128 },
  intl: { semiMajorM: 6_378_388, inverseFlattening: 297 },
  airy: { semiMajorM: 6_377_563.396, inverseFlattening: 299.324_964_6 },
  krass: { semiMajorM: 6_378_245, inverseFlattening: 298.3 },
  clrk66: { semiMajorM: 6_378_206.4, inverseFlattening: 294.978_698_213_898_2 },
  clrk80ign: { semiMajorM: 6_378_249.2, inverseFlattening: 293.466_021_293_626_5 },
  sphere: { semiMajorM: 6_370_997, inverseFlattening: 0 },
};

const DATUMS: Readonly<Record<string, { readonly ellipsoid: string; readonly geographicCode: number }>> = {
  wgs84: { ellipsoid: "wgs84", geographicCode: 4326 },
  nad83: { ellipsoid: "grs80", geographicCode: 4269 },
};

const NUMBERS = ["lat_0", "lon_0", "lat_1", "lat_2", "lat_ts", "x_0", "y_0"] as const;
/** Members without an effect on positions in a plane. */
const IGNORED = new Set(["type", "no_defs", "wktext", "vunits", "title"]);
const READ = new Set(
  `proj zone south k k_0 ellps a b rf f R datum towgs84 nadgrids units to_meter pm axis ${NUMBERS.join(" ")}`.split(
    " ",
  ),
);

/** A coordinate system, and the size in meters of the unit of its coordinates (1 for degrees). */
export interface ParsedCrs {
  readonly crs: CrsDefinition;
  readonly unitM: number;
}

/**
 * Reads a PROJ string such as `+proj=utm +zone=33 +datum=WGS84`.
 * @throws Error naming a member that is unknown, contradictory or not supported
 */
export function crsOfProjString(text: string, { assumeWgs84 }: { readonly assumeWgs84: boolean }): ParsedCrs {
  const members = readMembers(text);
  const projection = members.get("proj") ?? "";
  const number = (key: string): number | undefined => {
    const value = members.get(key);
    if (value === undefined) return undefined;
    const parsed = value.trim() === "" ? NaN : Number(value);
    if (!Number.isFinite(parsed)) throw new Error(`has +${key}=${value}; a number is expected`);
    return parsed;
  };
  const axis = members.get("axis") ?? "enu";
  if (axis !== "enu" && axis !== "neu" && axis !== "en" && axis !== "ne")
    throw new Error(`has +axis=${axis}; axes to the east and north are expected`);
  const meridian = members.get("pm") ?? "0";
  if (!/^(greenwich|[-+]?0(\.0*)?)$/i.test(meridian))
    throw new Error(`has the prime meridian ${meridian}; Greenwich is expected`);
  const ellipsoid = readEllipsoid(members, number);
  const scale = number("k_0") ?? number("k");
  if (members.has("k") && members.has("k_0") && number("k") !== number("k_0"))
    throw new Error("has different scale factors +k and +k_0");
  const trueScaleLat = number("lat_ts");
  const given: GivenParameters = {
    ...Object.fromEntries(NUMBERS.map((key) => [key, number(key)])),
    // Some writers state the pole as the latitude of true scale beside a scale factor.
    lat_ts: trueScaleLat !== undefined && Math.abs(trueScaleLat) === 90 ? undefined : trueScaleLat,
    k_0: scale,
  };
  const name = `PROJ ${[...members].map(([key, value]) => (value === undefined ? `+${key}` : `+${key}=${value}`)).join(" ")}`;
  const datum = datumOf(statedDatum(members, ellipsoid), { ellipsoid, assumeWgs84 });
  const base = { name: name.slice(0, 200), ellipsoid, datum };
  if (projection === "longlat" || projection === "latlong" || projection === "lonlat")
    return { crs: crsDefinition({ ...base, method: "longlat", given: {} }), unitM: 1 };
  const unitM = readUnit(members, number);
  if (projection === "utm") {
    const zone = number("zone") ?? NaN;
    if (!(Number.isInteger(zone) && zone >= 1 && zone <= 60))
      throw new Error(`has the UTM zone ${members.get("zone")}; 1 to 60 is expected`);
    const utm = utmParameters({ zone, isSouth: members.has("south") });
    return { crs: crsDefinition({ ...base, method: "tmerc", given: utm }), unitM };
  }
  if (members.has("south") || members.has("zone"))
    throw new Error(`has +zone or +south, which the projection ${projection} does not have`);
  const method = projection === "etmerc" ? "tmerc" : projection;
  if (!isProjectionMethod(method))
    throw new Error(`uses the projection ${projection || "(none)"}; ${SUPPORTED_PROJECTIONS}`);
  const isOneParallel = method === "lcc" && given.lat_2 === undefined;
  const conic = isOneParallel
    ? {
        ...given,
        lat_1: given.lat_1 ?? given.lat_0,
        lat_2: given.lat_1 ?? given.lat_0,
        lat_0: given.lat_0 ?? given.lat_1,
      }
    : given;
  return { crs: crsDefinition({ ...base, method, given: conic }), unitM };
}

function readMembers(text: string): ReadonlyMap<string, string | undefined> {
  const members = new Map<string, string | undefined>();
  for (const part of text.trim().split(/\s+/)) {
    const match = /^\+(\w+)(?:=(.*))?$/.exec(part);
    if (match === null)
      throw new Error(`has ${JSON.stringify(part.slice(0, 80))} in a PROJ string; +name=value is expected`);
    const [, key = "", value] = match;
    if (IGNORED.has(key)) continue;
    if (!READ.has(key)) throw new Error(`has the PROJ member +${key}, which is not supported`);
    if (members.has(key)) throw new Error(`has the PROJ member +${key} twice`);
    members.set(key, value);
  }
  if (members.get("proj") === undefined) throw new Error("has a PROJ string without +proj");
  return members;
}

function readEllipsoid(
  members: ReadonlyMap<string, string | undefined>,
  number: (key: string) => number | undefined,
): Ellipsoid {
  const radiusM = number("R");
  if (radiusM !== undefined) return { semiMajorM: radiusM, inverseFlattening: 0 };
  const datumName = members.get("datum")?.toLowerCase();
  if (datumName !== undefined && DATUMS[datumName] === undefined) {
    // PROJ transforms NAD27 with grid files, and the others with parameters that the string does not state.
    throw new Error(
      `is on the datum ${members.get("datum")}, which needs a grid file or parameters that the string does not state (+towgs84)`,
    );
  }
  const named =
    members.get("ellps")?.toLowerCase() ?? (datumName === undefined ? undefined : DATUMS[datumName]?.ellipsoid);
  const base = named === undefined ? undefined : ELLIPSOIDS[named];
  if (named !== undefined && base === undefined)
    throw new Error(
      `has the ellipsoid ${members.get("ellps")}; ${Object.keys(ELLIPSOIDS).join(", ")} are known, or give +a and +rf`,
    );
  const semiMajorM = number("a") ?? base?.semiMajorM;
  if (semiMajorM === undefined) throw new Error("has no ellipsoid: neither +datum, +ellps, +R nor +a");
  const [semiMinorM, inverseFlattening, flattening] = [number("b"), number("rf"), number("f")];
  if (inverseFlattening !== undefined) return { semiMajorM, inverseFlattening };
  if (flattening !== undefined) return { semiMajorM, inverseFlattening: flattening === 0 ? 0 : 1 / flattening };
  if (semiMinorM !== undefined) return ellipsoidOfAxes(semiMajorM, semiMinorM);
  if (base === undefined) throw new Error("has +a without +b, +rf or +f");
  return { semiMajorM, inverseFlattening: base.inverseFlattening };
}

/** Returns the ellipsoid with two axes in meters. */
export function ellipsoidOfAxes(semiMajorM: number, semiMinorM: number): Ellipsoid {
  const difference = semiMajorM - semiMinorM;
  if (!(difference >= 0)) throw new Error(`has a semi-minor axis of ${semiMinorM} m, longer than the semi-major axis`);
  return { semiMajorM, inverseFlattening: difference < 1e-6 ? 0 : semiMajorM / difference };
}

function statedDatum(members: ReadonlyMap<string, string | undefined>, ellipsoid: Ellipsoid): StatedDatum {
  const grids = members.get("nadgrids");
  const name = members.get("datum");
  const known = name === undefined ? undefined : DATUMS[name.toLowerCase()];
  const text = members.get("towgs84");
  const toWgs84 =
    text === undefined ? undefined : text.split(",").map((part) => (part.trim() === "" ? NaN : Number(part)));
  if (toWgs84 !== undefined && ((toWgs84.length !== 3 && toWgs84.length !== 7) || !toWgs84.every(Number.isFinite)))
    throw new Error(`has +towgs84=${text}; 3 or 7 numbers are expected`);
  // Web Mercator: WGS84 latitudes are used on the sphere without conversion.
  if (grids === "@null" && ellipsoid.inverseFlattening === 0 && ellipsoid.semiMajorM === 6_378_137)
    return { name: undefined, toWgs84: [0, 0, 0] };
  return {
    name: known === undefined ? undefined : name,
    geographicCode: known?.geographicCode,
    toWgs84,
    gridFile: grids,
  };
}

/** Meters per unit of length. */
const LENGTH_UNITS_M: Readonly<Record<string, number>> = {
  m: 1,
  km: 1000,
  ft: 0.3048,
  "us-ft": 1200 / 3937,
};

function readUnit(
  members: ReadonlyMap<string, string | undefined>,
  number: (key: string) => number | undefined,
): number {
  const factor = number("to_meter");
  const unit = members.get("units");
  if (factor !== undefined) {
    if (!(factor > 0)) throw new Error(`has +to_meter=${factor}; a number above 0 is expected`);
    return factor;
  }
  if (unit === undefined) return 1;
  const known = LENGTH_UNITS_M[unit];
  if (known === undefined) throw new Error(`has +units=${unit}; ${Object.keys(LENGTH_UNITS_M).join(", ")} are known`);
  return known;
}
