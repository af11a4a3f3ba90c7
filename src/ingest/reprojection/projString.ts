/** Reads coordinate systems from PROJ strings. */
import { type Ellipsoid, type ParsedCrs, WGS84_ELLIPSOID } from "../crsDefinition.ts";
import { datumOf, type StatedDatum, utmParameters } from "./epsg.ts";
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
/** Datums that are used as WGS84. PROJ transforms NAD27 with grid files, and others with parameters that strings do not state. */
const DATUMS: Readonly<Record<string, { readonly ellipsoid: string; readonly geographicCode: number }>> = {
  wgs84: { ellipsoid: "wgs84", geographicCode: 4326 },
  nad83: { ellipsoid: "grs80", geographicCode: 4269 },
};
/** Meters per unit of length. */
const LENGTH_UNITS_M: Readonly<Record<string, number>> = { m: 1, km: 1000, ft: 0.3048, "us-ft": 1200 / 3937 };

const PARAMETERS = ["lat_0", "lon_0", "lat_1", "lat_2", "lat_ts", "x_0", "y_0"] as const;
const NUMBERS = [...PARAMETERS, "zone", "k", "k_0", "a", "b", "rf", "f", "R", "to_meter"] as const;
const TEXTS = new Set(["proj", "south", "ellps", "datum", "towgs84", "nadgrids", "units", "pm", "axis"]);
/** Members without an effect on positions in a plane. */
const IGNORED = new Set(["type", "no_defs", "wktext", "vunits", "title"]);

/** The members of a PROJ string; numbers by name. */
interface Members {
  readonly texts: ReadonlyMap<string, string | undefined>;
  readonly numbers: Readonly<Partial<Record<(typeof NUMBERS)[number], number>>>;
}

/**
 * Reads a PROJ string such as `+proj=utm +zone=33 +datum=WGS84`.
 * @throws Error naming a member that is unknown, contradictory or not supported
 */
export function crsOfProjString(text: string, { assumeWgs84 }: { readonly assumeWgs84: boolean }): ParsedCrs {
  const members = readMembers(text);
  const { texts, numbers } = members;
  const projection = texts.get("proj") ?? "";
  const axis = texts.get("axis") ?? "enu";
  if (!/^[en]{2}u?$/.test(axis) || axis.startsWith("ee") || axis.startsWith("nn"))
    throw new Error(`has +axis=${axis}; axes to the east and north are expected`);
  const meridian = texts.get("pm") ?? "0";
  if (!/^(greenwich|[-+]?0(\.0*)?)$/i.test(meridian))
    throw new Error(`has the prime meridian ${meridian}; Greenwich is expected`);
  const ellipsoid = readEllipsoid(members);
  if (numbers.k !== undefined && numbers.k_0 !== undefined && numbers.k !== numbers.k_0)
    throw new Error("has different scale factors +k and +k_0");
  const given: GivenParameters = {
    ...Object.fromEntries(PARAMETERS.map((key) => [key, numbers[key]])),
    // Some writers state the pole as the latitude of true scale beside a scale factor.
    lat_ts: Math.abs(numbers.lat_ts ?? 0) === 90 ? undefined : numbers.lat_ts,
    k_0: numbers.k_0 ?? numbers.k,
  };
  const name = `PROJ ${[...texts].map(([key, value]) => (value === undefined ? `+${key}` : `+${key}=${value}`)).join(" ")}`;
  const datum = datumOf(statedDatum(members, ellipsoid), { ellipsoid, assumeWgs84 });
  const base = { name: name.slice(0, 200), ellipsoid, datum };
  if (projection === "longlat" || projection === "latlong" || projection === "lonlat")
    return { crs: crsDefinition({ ...base, method: "longlat", given: {} }), unitM: 1 };
  const unitM = readUnit(members);
  if (projection === "utm") {
    const { zone = NaN } = numbers;
    if (!(Number.isInteger(zone) && zone >= 1 && zone <= 60))
      throw new Error(`has the UTM zone ${texts.get("zone")}; 1 to 60 is expected`);
    const utm = utmParameters({ zone, isSouth: texts.has("south") });
    return { crs: crsDefinition({ ...base, method: "tmerc", given: utm }), unitM };
  }
  if (texts.has("south") || texts.has("zone"))
    throw new Error(`has +zone or +south, which the projection ${projection} does not have`);
  const method = projection === "etmerc" ? "tmerc" : projection;
  if (!isProjectionMethod(method))
    throw new Error(`uses the projection ${projection || "(none)"}; ${SUPPORTED_PROJECTIONS}`);
  if (method !== "lcc" || given.lat_2 !== undefined) return { crs: crsDefinition({ ...base, method, given }), unitM };
  // With one standard parallel, it is the latitude of origin unless given separately.
  const parallel = given.lat_1 ?? given.lat_0;
  const conic = { ...given, lat_1: parallel, lat_2: parallel, lat_0: given.lat_0 ?? parallel };
  return { crs: crsDefinition({ ...base, method, given: conic }), unitM };
}

function readMembers(text: string): Members {
  const texts = new Map<string, string | undefined>();
  const numbers: Record<string, number> = {};
  for (const member of text.trim().split(/\s+/)) {
    const match = /^\+(\w+)(?:=(.*))?$/.exec(member);
    if (match === null)
      throw new Error(`has ${JSON.stringify(member.slice(0, 80))} in a PROJ string; +name=value is expected`);
    const [, key = "", value] = match;
    if (IGNORED.has(key)) continue;
    const isNumber = (NUMBERS as readonly string[]).includes(key);
    if (!isNumber && !TEXTS.has(key)) throw new Error(`has the PROJ member +${key}, which is not supported`);
    if (texts.has(key)) throw new Error(`has the PROJ member +${key} twice`);
    texts.set(key, value);
    if (!isNumber || value === undefined) continue;
    const number = value.trim() === "" ? NaN : Number(value);
    if (!Number.isFinite(number)) throw new Error(`has +${key}=${value}; a number is expected`);
    numbers[key] = number;
  }
  if (texts.get("proj") === undefined) throw new Error("has a PROJ string without +proj");
  return { texts, numbers };
}

function readEllipsoid({ texts, numbers }: Members): Ellipsoid {
  const { R, a, b, rf, f } = numbers;
  if (R !== undefined) return { semiMajorM: R, inverseFlattening: 0 };
  const datum = texts.get("datum");
  const known = datum === undefined ? undefined : DATUMS[datum.toLowerCase()];
  if (datum !== undefined && known === undefined) {
    throw new Error(
      `is on the datum ${datum}, which needs a grid file or parameters that the string does not state (+towgs84)`,
    );
  }
  const named = texts.get("ellps")?.toLowerCase() ?? known?.ellipsoid;
  const base = named === undefined ? undefined : ELLIPSOIDS[named];
  if (named !== undefined && base === undefined)
    throw new Error(
      `has the ellipsoid ${texts.get("ellps")}; ${Object.keys(ELLIPSOIDS).join(", ")} are known, or give +a and +rf`,
    );
  const semiMajorM = a ?? base?.semiMajorM;
  if (semiMajorM === undefined) throw new Error("has no ellipsoid: neither +datum, +ellps, +R nor +a");
  if (rf !== undefined) return { semiMajorM, inverseFlattening: rf };
  if (f !== undefined) return { semiMajorM, inverseFlattening: f === 0 ? 0 : 1 / f };
  if (b !== undefined) return ellipsoidOfAxes(semiMajorM, b);
  if (base === undefined) throw new Error("has +a without +b, +rf or +f");
  return { semiMajorM, inverseFlattening: base.inverseFlattening };
}

/** Returns the ellipsoid with two axes in meters. */
export function ellipsoidOfAxes(semiMajorM: number, semiMinorM: number): Ellipsoid {
  const difference = semiMajorM - semiMinorM;
  if (!(difference >= 0)) throw new Error(`has a semi-minor axis of ${semiMinorM} m, longer than the semi-major axis`);
  return { semiMajorM, inverseFlattening: difference < 1e-6 ? 0 : semiMajorM / difference };
}

function statedDatum({ texts }: Members, ellipsoid: Ellipsoid): StatedDatum {
  const gridFile = texts.get("nadgrids");
  // Web Mercator: WGS84 latitudes are used on the sphere without conversion.
  if (gridFile === "@null" && ellipsoid.inverseFlattening === 0 && ellipsoid.semiMajorM === 6_378_137)
    return { name: undefined, toWgs84: [0, 0, 0] };
  const text = texts.get("towgs84");
  const toWgs84 = text?.split(",").map((value) => (value.trim() === "" ? NaN : Number(value)));
  if (toWgs84 !== undefined && ((toWgs84.length !== 3 && toWgs84.length !== 7) || !toWgs84.every(Number.isFinite)))
    throw new Error(`has +towgs84=${text}; 3 or 7 numbers are expected`);
  const name = texts.get("datum");
  return { name, geographicCode: DATUMS[name?.toLowerCase() ?? ""]?.geographicCode, toWgs84, gridFile };
}

function readUnit({ texts, numbers }: Members): number {
  const { to_meter: factor } = numbers;
  if (factor !== undefined) {
    if (!(factor > 0)) throw new Error(`has +to_meter=${factor}; a number above 0 is expected`);
    return factor;
  }
  const unit = texts.get("units") ?? "m";
  const known = LENGTH_UNITS_M[unit];
  if (known === undefined) throw new Error(`has +units=${unit}; ${Object.keys(LENGTH_UNITS_M).join(", ")} are known`);
  return known;
}
