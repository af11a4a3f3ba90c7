import { compileOnUse } from "../validation/compiledSchema.ts";
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultItem } from "../errors.ts";
import { findSchemaErrors, summarizeItems, type ValueSchema } from "../validation/schemaErrors.ts";
import { toParameterItem, decodeParameters, NUMBER_PATTERN } from "../validation/parameters.ts";
import { describeHazardQuery, HazardQueryInputSchema } from "../contract/hazardQuery.ts";
import type { HazardQueryInput } from "../contract/wireTypes.ts";
import { HAZARDS } from "./hazards.ts";

/** Default limits of one request, which the operator of the service can change. */
export const DEFAULT_HAZARD_LIMITS = {
  /** hazards x scenarios x years x locations */
  valueCount: 100_000,
  /** queries in a batch */
  queryCount: 10_000,
} as const;

/** A validated query with all defaults filled in. */
export type HazardQuery = Required<HazardQueryInput>;

/**
 * Validates a query and fills in its defaults.
 *
 * @returns a new object that shares nothing with the input; or the input itself if `parseHazardParameters` returned it
 * @throws Fault `invalid_request` with all errors of its members, up to 100; if the members are valid,
 *   `combination_unavailable` with every year and scenario that a hazard does not offer
 */
export function parseHazardQuery(input: unknown): HazardQuery {
  if (CheckedQuery.templateOf(input) !== undefined) return input as HazardQuery;
  if (!matchesSchema(input)) throw invalidQuery(findSchemaErrors(SCHEMA, input, { name: "The query" }));
  const query = queryWithDefaults(input);
  checkOffer(query, pointerTo);
  return query;
}

/**
 * Parses and validates a query from the query string of a URL (format: src/validation/parameters.ts).
 *
 * @param queryText the part after the question mark, percent-encoded
 * @returns a frozen object
 * @throws Fault as `parseHazardQuery` does; the items have `parameter` instead of `pointer`
 */
export function parseHazardParameters(queryText: string): HazardQuery {
  const split = splitLocation(queryText);
  if (split !== undefined) {
    const known = parsedTemplates.get(split.rest);
    if (known !== undefined) return new CheckedQuery(known, split.latitude, split.longitude);
  }
  const { input, items, refused } = decodeParameters(queryText, HazardQueryInputSchema.properties);
  if (items.length > 0 || !matchesSchema(input)) {
    const schemaItems = findSchemaErrors(SCHEMA, input, { name: "The query", skip: refused }).map(toParameterItem);
    throw invalidQuery([...items, ...schemaItems]);
  }
  const query = queryWithDefaults(input);
  checkOffer(query, parameterOf);
  for (const list of [query.hazards, query.analysis_years, query.scenarios]) Object.freeze(list);
  if (split !== undefined && split.rest.length <= TEMPLATE_LENGTH_MAX) {
    if (parsedTemplates.size >= TEMPLATE_COUNT_MAX) parsedTemplates.clear();
    parsedTemplates.set(split.rest, query);
  }
  return new CheckedQuery(query, query.latitude, query.longitude);
}

/** Maximum number of cached templates. Portfolios send the same query for many locations. */
const TEMPLATE_COUNT_MAX = 256;
/** Maximum length of a cached template, in characters. */
const TEMPLATE_LENGTH_MAX = 1024;

/** Valid queries by their query string without the location. */
const parsedTemplates = new Map<string, HazardQuery>();

interface SplitQuery {
  readonly latitude: number;
  readonly longitude: number;
  /** The text without the two parameters. */
  readonly rest: string;
}

const LATITUDE = new RegExp(`(?:^|&)latitude=(${NUMBER_PATTERN})(?=&|$)`);
const LONGITUDE = new RegExp(`(?:^|&)longitude=(${NUMBER_PATTERN})(?=&|$)`);

/** Separates the location from the rest of a query string. @returns undefined if it is missing or invalid */
function splitLocation(text: string): SplitQuery | undefined {
  const latitudeMatch = LATITUDE.exec(text);
  const longitudeMatch = LONGITUDE.exec(text);
  if (latitudeMatch === null || longitudeMatch === null) return undefined;
  const latitude = Number(latitudeMatch[1]);
  const longitude = Number(longitudeMatch[1]);
  if (!(Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180)) return undefined;
  return { latitude, longitude, rest: text.replace(latitudeMatch[0], "").replace(longitudeMatch[0], "") };
}

/** A validated, frozen query. */
export class CheckedQuery implements HazardQuery {
  readonly latitude: number;
  readonly longitude: number;
  readonly hazards: HazardQuery["hazards"];
  readonly analysis_years: HazardQuery["analysis_years"];
  readonly scenarios: HazardQuery["scenarios"];
  readonly radius: number;
  readonly aggregation_method: HazardQuery["aggregation_method"];
  readonly total_hazard: boolean;
  readonly anthropogenic: boolean;
  readonly detail: boolean;
  readonly #template: HazardQuery;

  /** @param template a valid query whose lists are frozen */
  constructor(template: HazardQuery, latitude: number, longitude: number) {
    // Adding 0 turns -0 into 0, as in `samplingWithDefaults`.
    this.latitude = latitude + 0;
    this.longitude = longitude + 0;
    this.hazards = template.hazards;
    this.analysis_years = template.analysis_years;
    this.scenarios = template.scenarios;
    this.radius = template.radius;
    this.aggregation_method = template.aggregation_method;
    this.total_hazard = template.total_hazard;
    this.anthropogenic = template.anthropogenic;
    this.detail = template.detail;
    this.#template = template;
    Object.freeze(this);
  }

  /**
   * Returns the template of a query: an object shared by all queries whose query strings differ only in the location. Serves
   * as a cache key for everything that does not depend on the location.
   *
   * @returns undefined for a value that `parseHazardParameters` has not returned
   */
  static templateOf(query: unknown): HazardQuery | undefined {
    return typeof query === "object" && query !== null && #template in query ? query.#template : undefined;
  }
}

/** Returns the number of values that a query requests: hazards x scenarios x years. */
export function countValues(query: HazardQuery): number {
  return query.hazards.length * query.scenarios.length * query.analysis_years.length;
}

const SCHEMA: ValueSchema = HazardQueryInputSchema;

// Without `uniqueItems`, whose compiled form takes ten times as long as all other checks; `isDenseAndUnique` replaces it.
const checkExceptDuplicates = compileOnUse(() => describeHazardQuery({ minItems: 1 }));

function matchesSchema(input: unknown): input is HazardQueryInput {
  return (
    checkExceptDuplicates().Check(input) &&
    isDenseAndUnique(input.hazards) &&
    isDenseAndUnique(input.analysis_years) &&
    isDenseAndUnique(input.scenarios)
  );
}

/**
 * Returns whether a list has neither duplicates nor holes. The compiled validator skips the holes of a sparse array.
 */
function isDenseAndUnique(list: readonly unknown[]): boolean {
  if (list.length > 8) return new Set(list).size === list.length && !list.includes(undefined);
  for (let index = 0; index < list.length; index++) {
    if (list[index] === undefined || list.indexOf(list[index]) !== index) return false;
  }
  return true;
}

function queryWithDefaults(input: HazardQueryInput): HazardQuery {
  // Listed, because a spread of these members takes several microseconds in V8, ten times as long as the rest.
  const { latitude, longitude, hazards, analysis_years, scenarios, radius, aggregation_method } =
    samplingWithDefaults(input);
  return {
    latitude,
    longitude,
    hazards,
    analysis_years,
    scenarios,
    radius,
    aggregation_method,
    total_hazard: input.total_hazard ?? false,
    anthropogenic: input.anthropogenic ?? false,
    detail: input.detail ?? false,
  };
}

/** The members that select layers and location; queries of curves have them too. */
type SamplingMember =
  "latitude" | "longitude" | "hazards" | "analysis_years" | "scenarios" | "radius" | "aggregation_method";

/** Returns the members of a valid query that select layers and location, with defaults and with copies of the lists. */
export function samplingWithDefaults(input: Pick<HazardQueryInput, SamplingMember>): Pick<HazardQuery, SamplingMember> {
  return {
    // Adding 0 turns -0 into 0, so that equal locations give equal queries.
    latitude: input.latitude + 0,
    longitude: input.longitude + 0,
    hazards: [...input.hazards],
    analysis_years: [...input.analysis_years],
    scenarios: [...input.scenarios],
    radius: (input.radius ?? 0) + 0,
    aggregation_method: input.aggregation_method ?? "max",
  };
}

type OfferedLists = Pick<HazardQuery, "hazards" | "analysis_years" | "scenarios">;
type LocateItem = (
  name: "analysis_years" | "scenarios",
  index: number,
) => { readonly pointer: string } | { readonly parameter: string };

/** Locates an item of a list in a query. */
export const pointerTo: LocateItem = (name, index) => ({ pointer: `/${name}/${index}` });
/** Locates an item of a list in a query string. */
export const parameterOf: LocateItem = (name) => ({ parameter: name });

/**
 * Checks that each hazard offers each year and scenario of a query.
 * @throws Fault `combination_unavailable` with every year and scenario that a hazard does not offer
 */
export function checkOffer(query: OfferedLists, locate: LocateItem): void {
  if (!isOffered(query)) throw unavailableCombinations(query, locate);
}

function isOffered({ hazards, analysis_years, scenarios }: OfferedLists): boolean {
  for (const hazard of hazards) {
    const offered = HAZARDS[hazard];
    for (const year of analysis_years) if (!offered.years.includes(year)) return false;
    for (const scenario of scenarios) if (!offered.scenarios.includes(scenario)) return false;
  }
  return true;
}

function unavailableCombinations(query: OfferedLists, locate: LocateItem): Fault {
  const items: FaultItem[] = [];
  for (const hazard of query.hazards) {
    const { years, scenarios } = HAZARDS[hazard];
    const offers = `it offers the years ${years.join(", ")} and the scenarios ${scenarios.join(", ")}.`;
    const offer = { hazard, offered_years: years, offered_scenarios: scenarios };
    for (const [index, year] of query.analysis_years.entries()) {
      if (items.length === FAULT_ITEM_COUNT_MAX) break;
      if (years.includes(year)) continue;
      const detail = `${hazard} has no analysis year ${year}; ${offers}`;
      items.push({
        ...locate("analysis_years", index),
        code: "combination_unavailable",
        detail,
        allowed: years,
        ...offer,
      });
    }
    for (const [index, scenario] of query.scenarios.entries()) {
      if (items.length === FAULT_ITEM_COUNT_MAX) break;
      if (scenarios.includes(scenario)) continue;
      const detail = `${hazard} has no scenario ${scenario}; ${offers}`;
      items.push({
        ...locate("scenarios", index),
        code: "combination_unavailable",
        detail,
        allowed: scenarios,
        ...offer,
      });
    }
  }
  return new Fault("combination_unavailable", summarizeItems(items, "the query"), { items });
}

/**
 * Returns the fault of a query with errors, of which it lists the first 100.
 * @throws Error if there are none: the compiled validator and `findSchemaErrors` use the same schema, so that this is a bug
 */
export function invalidQuery(items: readonly FaultItem[]): Fault {
  if (items.length === 0)
    throw new Error("The compiled validator rejected a hazard query in which findSchemaErrors finds no error.");
  const first = items.slice(0, FAULT_ITEM_COUNT_MAX);
  return new Fault("invalid_request", summarizeItems(first, "the query"), { items: first });
}
