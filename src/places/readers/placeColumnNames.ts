import { Fault, type FaultItem } from "../../errors.ts";
import { closestMatch } from "../../validation/closestMatch.ts";
import { quote } from "../../validation/schemaErrors.ts";

/** Names of columns that the caller gives; usual names are searched for the others. */
export interface RequestedColumns {
  readonly id?: string | undefined;
  readonly latitude?: string | undefined;
  readonly longitude?: string | undefined;
  /** Radius of each place in kilometers; never found by name. */
  readonly radiusKm?: string | undefined;
}

/** Indices of the columns that identify and locate places. */
export interface PlaceColumnIndices {
  readonly id: number | undefined;
  /** Undefined if a geometry locates the places. */
  readonly latitude: number | undefined;
  readonly longitude: number | undefined;
  readonly radiusKm: number | undefined;
}

type Role = keyof PlaceColumnIndices;

const OPTIONS: Readonly<Record<Role, string>> = {
  id: "--id",
  latitude: "--lat",
  longitude: "--lon",
  radiusKm: "--radius-column",
};

const PREFIXES = [
  "",
  "gps",
  "geo",
  "wgs84",
  "dec",
  "decimal",
  "center",
  "centroid",
  "point",
  "place",
  "site",
  "asset",
  "loc",
  "location",
  "property",
  "building",
  "facility",
  "plant",
];
const SUFFIXES = ["", "dd", "deg", "degrees", "dec", "decimal", "wgs84", "4326"];
const PLACE_WORDS = PREFIXES.slice(PREFIXES.indexOf("place"));

/**
 * Folded usual names by role. The names of an earlier list take precedence: a file with `latitude` may have projected
 * coordinates in `y`.
 */
const USUAL_NAMES: Readonly<Record<Role, readonly (readonly string[])[]>> = {
  id: [
    ["id", "identifier", "uid", "uuid"],
    PLACE_WORDS.flatMap((word) => ["id", "identifier", "number", "no", "code", "key"].map((end) => `${word}${end}`)),
    ["name", ...PLACE_WORDS.map((word) => `${word}name`)],
  ],
  latitude: [combined(["lat", "latitude", "latitud"]), ["y", "ycoord", "ycoordinate", "coordy", "pointy"]],
  longitude: [
    combined(["lon", "long", "lng", "longitude", "longitud"]),
    ["x", "xcoord", "xcoordinate", "coordx", "pointx"],
  ],
  radiusKm: [],
};
/** Columns of OED location files (Open Exposure Data), in which other columns also look like identifiers. */
const OED_LOCATION = "locnumber";
const OED_ACCOUNT = "accnumber";

function combined(stems: readonly string[]): readonly string[] {
  return PREFIXES.flatMap((prefix) => stems.flatMap((stem) => SUFFIXES.map((suffix) => `${prefix}${stem}${suffix}`)));
}

/**
 * Finds the columns that identify and locate places, by the given names or by usual names, ignoring case and separators.
 *
 * @param hasGeometry whether a geometry locates the places unless the columns of both coordinates are given
 * @throws Fault `invalid_request` with all columns that are missing or ambiguous
 */
export function findPlaceColumns(
  names: readonly string[],
  { requested, hasGeometry }: { readonly requested: RequestedColumns; readonly hasGeometry: boolean },
): PlaceColumnIndices {
  const items: FaultItem[] = [];
  const find = (role: Role, isRequired: boolean): number | undefined => {
    const found = findColumn(names, role, requested[role]);
    if (found.kind === "ambiguous") {
      const list = found.names.map(quote).join(" and ");
      const detail = `The columns ${list} could both be the ${describe(role)}; choose one with ${OPTIONS[role]}.`;
      items.push({ pointer: `/columns/${role}`, code: "not_allowed", detail, allowed: found.names });
    } else if (found.kind === "missing" && (isRequired || requested[role] !== undefined)) {
      items.push(missingColumn(names, role, requested[role]));
    }
    return found.kind === "found" ? found.index : undefined;
  };
  const usesGeometry = hasGeometry && requested.latitude === undefined && requested.longitude === undefined;
  const indices: PlaceColumnIndices = {
    id: find("id", false),
    latitude: usesGeometry ? undefined : find("latitude", true),
    longitude: usesGeometry ? undefined : find("longitude", true),
    radiusKm: requested.radiusKm === undefined ? undefined : find("radiusKm", true),
  };
  if (indices.latitude !== undefined && indices.latitude === indices.longitude) {
    const detail = `The column ${quote(names[indices.latitude])} cannot be both the latitude and the longitude.`;
    items.push({ pointer: "/columns/longitude", code: "not_allowed", detail });
  }
  if (items.length > 0) {
    const message = `${items.map(({ detail }) => detail).join(" ")} ${listOf(names)}`;
    throw new Fault("invalid_request", message, { items });
  }
  return indices;
}

/**
 * Returns the column that, with the location number, identifies the places of an OED location file.
 * @param id name of the column that identifies the places
 * @returns undefined if they are identified otherwise
 */
export function oedAccountColumn(names: readonly string[], id: string | undefined): string | undefined {
  if (id === undefined || foldColumnName(id) !== OED_LOCATION) return undefined;
  return names.find((name) => foldColumnName(name) === OED_ACCOUNT);
}

type FoundColumn =
  | { readonly kind: "found"; readonly index: number }
  | { readonly kind: "ambiguous"; readonly names: readonly string[] }
  | { readonly kind: "missing" };

function findColumn(names: readonly string[], role: Role, requestedName: string | undefined): FoundColumn {
  if (requestedName !== undefined) {
    const index = names.indexOf(requestedName);
    return index < 0 ? { kind: "missing" } : { kind: "found", index };
  }
  const folded = names.map(foldColumnName);
  if (role === "id" && folded.includes(OED_LOCATION) && folded.includes(OED_ACCOUNT)) {
    return { kind: "found", index: folded.indexOf(OED_LOCATION) };
  }
  for (const usualNames of USUAL_NAMES[role]) {
    const indices = [...folded.keys()].filter((index) => usualNames.includes(folded[index] ?? ""));
    const [first] = indices;
    if (first === undefined) continue;
    if (indices.length === 1) return { kind: "found", index: first };
    return { kind: "ambiguous", names: indices.map((index) => names[index] ?? "") };
  }
  return { kind: "missing" };
}

/** Folds a name for comparison: lower case, only letters and digits. */
function foldColumnName(name: string): string {
  return name
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "");
}

const LISTED_COUNT_MAX = 30;

function missingColumn(names: readonly string[], role: Role, requestedName: string | undefined): FaultItem {
  const suggestion =
    requestedName === undefined
      ? names.find((name) => closestMatch(foldColumnName(name), [role]) !== undefined)
      : closestMatch(requestedName, names);
  const hint = suggestion === undefined ? "" : ` Did you mean ${quote(suggestion)}?`;
  const detail =
    requestedName === undefined
      ? `No column has a usual name of the ${describe(role)}; name it with ${OPTIONS[role]}.${hint}`
      : `The column ${quote(requestedName)} of ${OPTIONS[role]} is missing.${hint}`;
  return {
    pointer: `/columns/${role}`,
    code: "missing",
    detail,
    ...(suggestion === undefined ? {} : { did_you_mean: suggestion }),
  };
}

function listOf(names: readonly string[]): string {
  if (names.length === 0) return "There are no columns.";
  const listed = names.slice(0, LISTED_COUNT_MAX).map(quote).join(", ");
  const othersCount = names.length - LISTED_COUNT_MAX;
  return `The columns are ${listed}${othersCount > 0 ? ` and ${othersCount} others` : ""}.`;
}

function describe(role: Role): string {
  if (role === "id") return "identifier of a place";
  return role === "radiusKm" ? "radius" : role;
}

/**
 * Returns the names of a header without surrounding spaces; columns without a name get one by their position.
 * @throws Fault `invalid_request` naming the columns that occur more than once
 */
export function readColumnNames(cells: readonly string[]): readonly string[] {
  const trimmed = cells.map((cell) => cell.trim());
  const given = foldedCase(trimmed);
  const names = trimmed.map((name, index) => (name === "" ? uniqueName(`column_${index + 1}`, given) : name));
  const seen = new Set<string>();
  const duplicates = [...new Set(names.filter((name) => seen.size === seen.add(name).size))];
  if (duplicates.length > 0) {
    const list = duplicates.slice(0, LISTED_COUNT_MAX).map(quote).join(", ");
    throw new Fault("invalid_request", `Several columns have the same name: ${list}. Rename them.`);
  }
  return names;
}

/**
 * Returns names of the columns with the latitude and longitude of a geometry, which no other column has: both are prefixed
 * with `geometry_` if one of them is taken.
 */
export function geometryColumnNames(others: readonly string[]): readonly [string, string] {
  const taken = foldedCase(others);
  const areTaken = (names: readonly string[]): boolean => names.some((name) => taken.has(name));
  let names: readonly [string, string] = ["latitude", "longitude"];
  if (areTaken(names)) names = ["geometry_latitude", "geometry_longitude"];
  while (areTaken(names)) names = [`${names[0]}_`, `${names[1]}_`];
  return names;
}

/** Returns the name of the column with the `id` of GeoJSON features, which none of their properties has. */
export function featureIdName(propertyNames: readonly string[]): string {
  const taken = foldedCase(propertyNames);
  return taken.has("id") ? uniqueName("feature_id", taken) : "id";
}

/** Returns names in lower case, for names that must be unique also if case is ignored, as DuckDB and Spark do. */
function foldedCase(names: readonly string[]): ReadonlySet<string> {
  return new Set(names.map((name) => name.toLowerCase()));
}

/** Appends underscores to a name until it is none of the others. @param others in lower case */
function uniqueName(name: string, others: ReadonlySet<string>): string {
  let unique = name;
  while (others.has(unique.toLowerCase())) unique += "_";
  return unique;
}
