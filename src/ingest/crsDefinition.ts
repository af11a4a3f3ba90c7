/** Coordinate systems of maps, reduced to what determines the position of a cell. */

/** Supported projections, by their name in PROJ; `longlat` is degrees on another datum than WGS84. */
export const PROJECTION_METHODS = [
  "longlat",
  "tmerc",
  "merc",
  "lcc",
  "laea",
  "aea",
  "stere",
  "sterea",
  "sinu",
  "moll",
  "cea",
  "eqearth",
] as const;
export type ProjectionMethod = (typeof PROJECTION_METHODS)[number];

/** Parameters of projections, by their name in PROJ: degrees, meters, and the scale factor `k_0`. */
const PROJECTION_PARAMETERS = ["lat_0", "lon_0", "lat_1", "lat_2", "lat_ts", "k_0", "x_0", "y_0"] as const;
export type ProjectionParameter = (typeof PROJECTION_PARAMETERS)[number];

export interface Ellipsoid {
  readonly semiMajorM: number;
  /** 0 for a sphere. */
  readonly inverseFlattening: number;
}

/** How geographic coordinates on a datum become coordinates on WGS84. */
export type Datum =
  /** They are used as they are; `description` states why, and to what accuracy. */
  | { readonly kind: "unchanged"; readonly description: string }
  /** The parameters of a Helmert transformation as in `+towgs84`: meters, arc seconds, parts per million. */
  | { readonly kind: "helmert"; readonly toWgs84: readonly number[] };

/** A coordinate system that maps can be reprojected from. */
export interface CrsDefinition {
  /** As in messages and the provenance. */
  readonly name: string;
  readonly method: ProjectionMethod;
  readonly parameters: Readonly<Partial<Record<ProjectionParameter, number>>>;
  readonly ellipsoid: Ellipsoid;
  readonly datum: Datum;
}

/** A coordinate system, and the size in meters of the unit of its coordinates (1 for degrees). */
export interface ParsedCrs {
  readonly crs: CrsDefinition;
  readonly unitM: number;
}

/** Returns a definition as a PROJ string in degrees and meters. */
export function projStringOf({ method, parameters, ellipsoid, datum }: CrsDefinition): string {
  const { semiMajorM, inverseFlattening } = ellipsoid;
  const shape = inverseFlattening === 0 ? `+b=${semiMajorM}` : `+rf=${inverseFlattening}`;
  return [
    `+proj=${method}`,
    ...PROJECTION_PARAMETERS.flatMap((name) =>
      parameters[name] === undefined ? [] : [`+${name}=${parameters[name]}`],
    ),
    `+a=${semiMajorM}`,
    shape,
    ...(datum.kind === "helmert" ? [`+towgs84=${datum.toWgs84.join(",")}`] : []),
    ...(method === "longlat" ? [] : ["+units=m"]),
    "+no_defs",
  ].join(" ");
}

/** The WGS84 ellipsoid. */
export const WGS84_ELLIPSOID: Ellipsoid = { semiMajorM: 6_378_137, inverseFlattening: 298.257223563 };
