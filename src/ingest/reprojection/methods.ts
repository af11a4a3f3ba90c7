/** The supported projections, and the names of projections and parameters in well-known text, CF and GeoTIFF. */
import {
  type CrsDefinition,
  type Datum,
  type Ellipsoid,
  PROJECTION_METHODS,
  type ProjectionMethod,
  type ProjectionParameter,
} from "../crsDefinition.ts";

/** Parameters of each projection, with their defaults. */
const PARAMETERS: Readonly<
  Record<ProjectionMethod, Readonly<Partial<Record<ProjectionParameter, number | "required" | "optional">>>>
> = {
  longlat: {},
  tmerc: { lat_0: 0, lon_0: 0, k_0: 1, x_0: 0, y_0: 0 },
  merc: { lon_0: 0, lat_ts: "optional", k_0: 1, x_0: 0, y_0: 0 },
  lcc: { lat_0: 0, lon_0: 0, lat_1: "required", lat_2: "required", k_0: 1, x_0: 0, y_0: 0 },
  laea: { lat_0: "required", lon_0: 0, x_0: 0, y_0: 0 },
  aea: { lat_0: 0, lon_0: 0, lat_1: "required", lat_2: "required", x_0: 0, y_0: 0 },
  stere: { lat_0: "required", lon_0: 0, lat_ts: "optional", k_0: 1, x_0: 0, y_0: 0 },
  sterea: { lat_0: "required", lon_0: 0, k_0: 1, x_0: 0, y_0: 0 },
  sinu: { lon_0: 0, x_0: 0, y_0: 0 },
  moll: { lon_0: 0, x_0: 0, y_0: 0 },
  cea: { lon_0: 0, lat_ts: "optional", x_0: 0, y_0: 0 },
  eqearth: { lon_0: 0, x_0: 0, y_0: 0 },
};

/** Parameters given for a projection; `undefined` members are absent. */
export type GivenParameters = Readonly<Partial<Record<ProjectionParameter, number | undefined>>>;

/** Supported projections for messages. */
export const SUPPORTED_PROJECTIONS =
  "Transverse Mercator (UTM), Mercator, Web Mercator, Lambert conformal conic, Lambert azimuthal equal area, Albers, " +
  "polar and oblique stereographic, sinusoidal, Mollweide, cylindrical equal area and Equal Earth are supported";

/** Returns whether a name is that of a supported projection in PROJ. */
export function isProjectionMethod(name: string): name is ProjectionMethod {
  return (PROJECTION_METHODS as readonly string[]).includes(name);
}

/**
 * Returns a coordinate system whose parameters have been checked.
 * @throws Error naming a parameter that is missing, unknown or out of range
 */
export function crsDefinition({
  name,
  method,
  given,
  ellipsoid,
  datum,
}: {
  readonly name: string;
  readonly method: ProjectionMethod;
  readonly given: GivenParameters;
  readonly ellipsoid: Ellipsoid;
  readonly datum: Datum;
}): CrsDefinition {
  const known = PARAMETERS[method];
  const parameters: Partial<Record<ProjectionParameter, number>> = {};
  for (const [key, value] of Object.entries(given) as [ProjectionParameter, number | undefined][]) {
    if (value === undefined) continue;
    if (!Number.isFinite(value))
      throw new Error(`has the projection parameter ${key} = ${value}; a number is expected`);
    if (!(key in known)) {
      // Many writers state 0 or 1 for parameters that the projection does not have.
      if (value === (key === "k_0" ? 1 : 0)) continue;
      throw new Error(`has the parameter ${key} = ${value}, which the projection ${method} does not have`);
    }
    // proj4 takes a latitude of true scale of 0 as given, and then ignores the scale factor.
    if (key === "lat_ts" && value === 0) continue;
    parameters[key] = value;
  }
  for (const [key, fallback] of Object.entries(known) as [ProjectionParameter, number | "required" | "optional"][]) {
    if (parameters[key] !== undefined || fallback === "optional") continue;
    if (fallback === "required") throw new Error(`lacks the parameter ${key} of the projection ${method}`);
    parameters[key] = fallback;
  }
  checkEllipsoid(ellipsoid);
  checkRanges(method, parameters, ellipsoid);
  return { name, method, parameters, ellipsoid, datum };
}

function checkEllipsoid({ semiMajorM, inverseFlattening }: Ellipsoid): void {
  if (!(semiMajorM > 6_300_000 && semiMajorM < 6_450_000))
    throw new Error(`has a semi-major axis of ${semiMajorM} m; that of the Earth is about 6,378,137 m`);
  if (inverseFlattening !== 0 && !(inverseFlattening > 150 && inverseFlattening < 1000))
    throw new Error(`has an inverse flattening of ${inverseFlattening}; that of the Earth is about 298`);
}

function checkRanges(
  method: ProjectionMethod,
  p: Partial<Record<ProjectionParameter, number>>,
  { inverseFlattening }: Ellipsoid,
): void {
  const rangeError = (key: ProjectionParameter, accepted: string): Error =>
    new Error(`has the projection parameter ${key} = ${p[key]}; ${accepted} is expected`);
  for (const key of ["lat_0", "lat_1", "lat_2", "lat_ts"] as const) {
    if (p[key] !== undefined && !(Math.abs(p[key]) <= 90)) throw rangeError(key, "a latitude from -90 to 90 degrees");
  }
  if (p.lon_0 !== undefined && !(Math.abs(p.lon_0) <= 360)) throw rangeError("lon_0", "a longitude in degrees");
  if (p.k_0 !== undefined && !(p.k_0 > 0.1 && p.k_0 < 10)) throw rangeError("k_0", "a scale factor near 1");
  if (method === "lcc" || method === "aea") {
    const [lat1 = NaN, lat2 = NaN] = [p.lat_1, p.lat_2];
    if (Math.abs(lat1 + lat2) < 1e-8) throw rangeError("lat_1", `a standard parallel other than minus lat_2 (${lat2})`);
    if (method === "lcc" && !(Math.abs(lat1) < 90 && Math.abs(lat2) < 90))
      throw rangeError(Math.abs(lat1) < 90 ? "lat_2" : "lat_1", "a standard parallel between the poles");
  }
  if (method === "stere" && Math.abs(p.lat_0 ?? NaN) !== 90) {
    throw rangeError("lat_0", "90 or -90 (polar stereographic; sterea is the oblique form)");
  }
  if (method === "stere" && p.lat_ts !== undefined) {
    if (p.k_0 !== 1) throw new Error("has both a standard parallel and a scale factor, of which only one can apply");
    if (Math.sign(p.lat_ts) !== Math.sign(p.lat_0 ?? NaN))
      throw rangeError("lat_ts", `a latitude near lat_0 (${p.lat_0})`);
  }
  if (method === "merc" && p.lat_ts !== undefined && p.k_0 !== 1)
    throw new Error("has both a standard parallel and a scale factor, of which only one can apply");
  if ((method === "merc" || method === "cea") && !(Math.abs(p.lat_ts ?? 0) < 89))
    throw rangeError("lat_ts", "a standard parallel below 89 degrees");
  if ((method === "tmerc" || method === "sterea") && inverseFlattening === 0)
    throw new Error(`is the projection ${method} on a sphere, which is not supported`);
  if (method === "sterea" && !(Math.abs(p.lat_0 ?? 0) < 89)) throw rangeError("lat_0", "a latitude below 89 degrees");
}

/** Returns a name without case, spaces and punctuation. */
export function normalizedName(name: string): string {
  return name.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
}

/** Names of parameters in well-known text and in CF, normalized. */
const PARAMETER_NAMES: ReadonlyMap<string, NamedParameter> = new Map(
  (
    [
      [
        "origin_lat",
        "latitudeoforigin latitudeofcenter latitudeofcentre latitudeofnaturalorigin latitudeoffalseorigin latitudeofprojectionorigin latitudeofprojectioncentre",
      ],
      [
        "origin_lon",
        "centralmeridian longitudeoforigin longitudeofcenter longitudeofcentre longitudeofnaturalorigin longitudeoffalseorigin longitudeofprojectionorigin longitudeofprojectioncentre longitudeofcentralmeridian straightverticallongitudefrompole",
      ],
      ["parallel_1", "standardparallel1 latitudeof1ststandardparallel latitudeofstandardparallel"],
      ["parallel_2", "standardparallel2 latitudeof2ndstandardparallel"],
      [
        "scale",
        "scalefactor scalefactoratnaturalorigin scalefactoratprojectionorigin scalefactoratcentralmeridian scalefactoratprojectioncentre",
      ],
      ["easting", "falseeasting eastingatfalseorigin eastingatprojectioncentre"],
      ["northing", "falsenorthing northingatfalseorigin northingatprojectioncentre"],
    ] as const
  ).flatMap(([parameter, names]) => names.split(" ").map((name) => [name, parameter] as const)),
);

/** Parameters as standards other than PROJ name them: their meaning depends on the projection. */
export type NamedParameter =
  "origin_lat" | "origin_lon" | "parallel_1" | "parallel_2" | "scale" | "easting" | "northing";
/** Angles in degrees, lengths in meters. */
export type NamedParameters = Readonly<Partial<Record<NamedParameter, number | undefined>>>;

/** Returns the parameter that a name in well-known text or in CF means. */
export function parameterNamed(name: string): NamedParameter | undefined {
  return PARAMETER_NAMES.get(normalizedName(name));
}

/** Returns whether a parameter is an angle, a length or a number. */
export function kindOfParameter(parameter: NamedParameter): "angle" | "length" | "number" {
  if (parameter === "scale") return "number";
  return parameter === "easting" || parameter === "northing" ? "length" : "angle";
}

/** Projections of well-known text, CF and GeoTIFF; `webmerc` is Mercator on a sphere with WGS84 latitudes. */
const PROJECTION_NAMES: ReadonlyMap<string, ProjectionMethod | "webmerc" | "lcc1"> = new Map(
  (
    [
      ["tmerc", "transversemercator gausskruger"],
      ["merc", "mercator mercator1sp mercator2sp mercatorvarianta mercatorvariantb"],
      ["webmerc", "mercatorauxiliarysphere popularvisualisationpseudomercator"],
      ["lcc1", "lambertconformalconic1sp lambertconicconformal1sp"],
      ["lcc", "lambertconformalconic lambertconformalconic2sp lambertconicconformal2sp"],
      ["laea", "lambertazimuthalequalarea"],
      ["aea", "albers albersequalarea albersconicequalarea albersconicalequalarea"],
      [
        "stere",
        "polarstereographic polarstereographicvarianta polarstereographicvariantb stereographicnorthpole stereographicsouthpole",
      ],
      ["sterea", "obliquestereographic doublestereographic"],
      ["sinu", "sinusoidal"],
      ["moll", "mollweide"],
      ["cea", "cylindricalequalarea lambertcylindricalequalarea"],
      ["eqearth", "equalearth"],
    ] as const
  ).flatMap(([method, names]) => names.split(" ").map((name) => [name, method] as const)),
);

/**
 * Returns the coordinate system with a projection as standards other than PROJ name it.
 * @throws Error naming a projection that is not supported, or a parameter that is missing or out of range
 */
export function crsOfNamedProjection({
  name,
  projection,
  given,
  ellipsoid,
  datum,
}: {
  readonly name: string;
  readonly projection: string;
  readonly given: NamedParameters;
  readonly ellipsoid: Ellipsoid;
  readonly datum: Datum;
}): CrsDefinition {
  const method = PROJECTION_NAMES.get(normalizedName(projection));
  if (method === undefined)
    throw new Error(`uses the projection ${JSON.stringify(projection.slice(0, 80))}; ${SUPPORTED_PROJECTIONS}`);
  if (method === "webmerc") return webMercator(name, given, datum);
  const crs = { name, ellipsoid, datum };
  const { origin_lat, origin_lon, parallel_1, parallel_2, scale } = given;
  const shift = { x_0: given.easting, y_0: given.northing };
  if (method === "stere") {
    const polar = polarParameters(normalizedName(projection), given);
    return crsDefinition({ ...crs, method, given: { ...polar, lon_0: origin_lon, ...shift } });
  }
  if (method === "lcc1" || (method === "lcc" && parallel_2 === undefined)) {
    // With one standard parallel, it is the latitude of origin unless given separately.
    const lat_1 = parallel_1 ?? origin_lat;
    const conic = { lat_0: origin_lat ?? lat_1, lat_1, lat_2: lat_1, k_0: scale, lon_0: origin_lon, ...shift };
    return crsDefinition({ ...crs, method: "lcc", given: conic });
  }
  if (method === "merc" || method === "cea") {
    if (origin_lat !== undefined && origin_lat !== 0)
      throw new Error(`has the latitude of origin ${origin_lat} in the projection ${projection}; 0 is expected`);
    const cylindrical = { lat_ts: parallel_1, k_0: scale, lon_0: origin_lon, ...shift };
    return crsDefinition({ ...crs, method, given: cylindrical });
  }
  const others = { lat_0: origin_lat, lon_0: origin_lon, lat_1: parallel_1, lat_2: parallel_2, k_0: scale, ...shift };
  return crsDefinition({ ...crs, method, given: others });
}

/** Polar stereographic: the latitude of origin is the pole, or (GDAL's well-known text) the standard parallel. */
function polarParameters(projection: string, { origin_lat, parallel_1, scale }: NamedParameters): GivenParameters {
  const pole = (lat: number): number => (lat < 0 ? -90 : 90);
  const stated = projection.endsWith("northpole") ? 90 : projection.endsWith("southpole") ? -90 : origin_lat;
  if (parallel_1 !== undefined) {
    if (Math.abs(parallel_1) === 90) return { lat_0: parallel_1, k_0: scale };
    return { lat_0: stated ?? pole(parallel_1), lat_ts: parallel_1, k_0: scale };
  }
  if (stated === undefined) return {};
  return Math.abs(stated) === 90 ? { lat_0: stated, k_0: scale } : { lat_0: pole(stated), lat_ts: stated, k_0: scale };
}

/** Returns Web Mercator: the formulas of a sphere, applied to WGS84 latitudes without conversion. */
export function webMercator(name: string, given: NamedParameters, datum: Datum): CrsDefinition {
  const isPlain = [given.origin_lat, given.parallel_1].every((value) => value === undefined || value === 0);
  if (!isPlain || (given.scale !== undefined && given.scale !== 1))
    throw new Error("has a Web Mercator projection with parameters other than 0 (scale 1), which is not supported");
  return crsDefinition({
    name,
    method: "merc",
    given: { lon_0: given.origin_lon, x_0: given.easting, y_0: given.northing },
    ellipsoid: { semiMajorM: 6_378_137, inverseFlattening: 0 },
    datum,
  });
}
