import { CurveParametersSchema, CurveQueryInputSchema } from "../contract/curve.ts";
import type { CurveQueryInput, DamageCurvePoint } from "../contract/wireTypes.ts";
import { FAULT_ITEM_COUNT_MAX, type FaultItem } from "../errors.ts";
import { decodeParameters, toParameterItem } from "../validation/parameters.ts";
import { findSchemaErrors, type SchemaError, type ValueSchema } from "../validation/schemaErrors.ts";
import type { HazardName } from "./hazards.ts";
import { checkOffer, invalidQuery, parameterOf, pointerTo, samplingWithDefaults } from "./query.ts";

type OptionalMember = "threshold" | "return_periods" | "floor" | "damage_curve";

/** A validated query with all defaults filled in. */
export type CurveQuery = Required<Omit<CurveQueryInput, OptionalMember | MemberOfMetrics>> &
  Pick<CurveQueryInput, OptionalMember>;

const SCHEMA: ValueSchema = CurveQueryInputSchema;

/** Members of a hazard query that must be false for a curve, and why. */
const MEMBERS_OF_METRICS = {
  total_hazard: "total_hazard does not apply to curves; it is a metric of hazard-risk queries.",
  anthropogenic: "anthropogenic does not apply to curves; query the curve of the baseline too, and compare the two.",
} as const;
type MemberOfMetrics = keyof typeof MEMBERS_OF_METRICS;
/** Members of a query that have no form as a URL parameter, and why. */
const MEMBERS_OF_BODIES: Readonly<Record<string, string>> = {
  damage_curve: "damage_curve is accepted only in the body of POST /api/v1/hazard-risk/curve/batch.",
};

/** Queries that `parseCurveParameters` returned. */
const parsedFromUrl = new WeakSet<object>();

/**
 * Validates a query and fills in its defaults.
 *
 * @returns a new object that shares nothing with the input; or the input itself if `parseCurveParameters` returned it
 * @throws Fault `invalid_request` with all errors of its members, up to 100; if the members are valid,
 *   `combination_unavailable` with every year and scenario that the hazard does not offer
 */
export function parseCurveQuery(input: unknown): CurveQuery {
  if (isParsedFromUrl(input)) return input;
  const refused = membersOfMetricsIn(input);
  const schemaItems = findSchemaErrors(SCHEMA, input, { name: "The query", skip: new Set(refused) });
  const items = [
    ...refused.map((name) => refusedMember({ pointer: `/${name}` }, name)),
    ...schemaItems,
    ...damageCurveErrors(input, schemaItems),
  ];
  if (items.length > 0) throw invalidQuery(items);
  const query = queryWithDefaults(input as CurveQueryInput);
  checkOffer(query, pointerTo);
  return query;
}

/**
 * Parses and validates a query from the query string of a URL (format: src/validation/parameters.ts).
 *
 * @param queryText the part after the question mark, percent-encoded
 * @param more members that have no form as a URL parameter
 * @returns a frozen object
 * @throws Fault as `parseCurveQuery` does; the items have `parameter` instead of `pointer`
 */
export function parseCurveParameters(queryText: string, more: { readonly damage_curve?: unknown } = {}): CurveQuery {
  const { input: parameters, items, refused } = decodeParameters(queryText, CurveParametersSchema.properties);
  const input = { ...parameters, ...more };
  const ofMetrics = membersOfMetricsIn(input);
  const schemaItems = findSchemaErrors(SCHEMA, input, {
    name: "The query",
    skip: new Set([...refused, ...ofMetrics]),
  });
  const memberItems = [...schemaItems.map(withPointIndex), ...damageCurveErrors(input, schemaItems)];
  const allItems = [
    ...items.map(withReason),
    ...ofMetrics.map((name) => refusedMember({ parameter: name }, name)),
    ...memberItems.map(toParameterItem),
  ];
  if (allItems.length > 0) throw invalidQuery(allItems);
  const query = queryWithDefaults(input as unknown as CurveQueryInput);
  checkOffer(query, parameterOf);
  parsedFromUrl.add(query);
  return Object.freeze(query);
}

/** Returns whether a query was parsed from a URL, so that its errors are located by parameter. */
export function isParsedFromUrl(query: unknown): query is CurveQuery {
  return typeof query === "object" && query !== null && parsedFromUrl.has(query);
}

/** Returns the hazard of a query. */
export function hazardOf({ hazards: [hazard] }: CurveQuery): HazardName {
  if (hazard === undefined) throw new Error("A valid curve query has one hazard.");
  return hazard;
}

/** Returns the number of curves that a query requests: scenarios x years. */
export function countCurves({ scenarios, analysis_years }: CurveQuery): number {
  return scenarios.length * analysis_years.length;
}

/** Returns the members of hazard queries that are true. */
function membersOfMetricsIn(input: unknown): readonly MemberOfMetrics[] {
  if (typeof input !== "object" || input === null) return [];
  const given = input as Readonly<Record<string, unknown>>;
  return (Object.keys(MEMBERS_OF_METRICS) as MemberOfMetrics[]).filter((name) => given[name] === true);
}

function refusedMember<Location extends object>(location: Location, name: MemberOfMetrics) {
  return { ...location, code: "not_expected" as const, detail: MEMBERS_OF_METRICS[name] };
}

/** Explains why a parameter is not accepted if its name is that of a member of request bodies. */
function withReason(item: FaultItem): FaultItem {
  const { parameter = "" } = item;
  if (item.code !== "unknown" || !Object.hasOwn(MEMBERS_OF_BODIES, parameter)) return item;
  return { parameter, code: "not_expected", detail: MEMBERS_OF_BODIES[parameter] ?? "" };
}

/** Returns the index of the damage point that a pointer is in, or undefined. */
function damagePointIndex(pointer: string): number | undefined {
  const [, index] = /^\/damage_curve\/([0-9]+)/.exec(pointer) ?? [];
  return index === undefined ? undefined : Number(index);
}

/** Adds the index of a damage point to an error, which loses its pointer when it is located by parameter. */
function withPointIndex(item: SchemaError): SchemaError {
  const index = damagePointIndex(item.pointer);
  return index === undefined ? item : { ...item, detail: `damage_curve[${index}]: ${item.detail}` };
}

/** Returns the errors of a damage curve that the schema cannot express, at points that do not violate the schema. */
function damageCurveErrors(input: unknown, schemaItems: readonly SchemaError[]): readonly SchemaError[] {
  const isListed = schemaItems.length < FAULT_ITEM_COUNT_MAX;
  const isList = !schemaItems.some(({ pointer }) => pointer === "" || pointer === "/damage_curve");
  const points = isListed && isList ? (input as CurveQueryInput).damage_curve : undefined;
  if (points === undefined) return [];
  const invalid = new Set(schemaItems.map(({ pointer }) => damagePointIndex(pointer)));
  const items: SchemaError[] = [];
  const add = (index: number, member: keyof DamageCurvePoint, requirement: string): void => {
    const detail = `damage_curve[${index}].${member} must be ${requirement} (got ${points[index]?.[member]}).`;
    items.push({ pointer: `/damage_curve/${index}/${member}`, code: "out_of_range", detail });
  };
  for (const [index, point] of points.entries()) {
    if (invalid.has(index)) continue;
    const { value, damage_share } = point;
    const previous = points[index - 1];
    if (previous === undefined) {
      if (damage_share !== 0) add(index, "damage_share", "0, so that values below the first point cause no damage");
      continue;
    }
    if (invalid.has(index - 1)) continue;
    if (!(value > previous.value)) add(index, "value", `above that of the previous point, ${previous.value}`);
    if (!(damage_share >= previous.damage_share)) {
      add(index, "damage_share", `at least that of the previous point, ${previous.damage_share}`);
    }
  }
  return items;
}

function queryWithDefaults(input: CurveQueryInput): CurveQuery {
  const { threshold, return_periods, floor, damage_curve } = input;
  return {
    ...samplingWithDefaults(input),
    ...(threshold === undefined ? {} : { threshold }),
    ...(return_periods === undefined ? {} : { return_periods: [...return_periods] }),
    ...(floor === undefined ? {} : { floor: floor + 0 }),
    ...(damage_curve === undefined ? {} : { damage_curve: damage_curve.map((point) => ({ ...point })) }),
    detail: input.detail ?? false,
  };
}
