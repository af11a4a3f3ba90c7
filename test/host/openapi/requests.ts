import { referenceCountries, referenceIndustries, referenceScenarios } from "../../../src/company/referenceLists.ts";
import { HAZARD_NAMES, HAZARDS } from "../../../src/hazard/hazards.ts";
import type { SeededRandom } from "../../seededRandom.ts";
import { withAcceptedHoldings } from "./portfolioRequests.ts";
import {
  type OperationAtPath,
  type JsonSchema,
  operationOf,
  type Parameter,
  parametersOf,
  resolveReference,
} from "./publishedDocument.ts";

/** A request generated from the document. */
export interface GeneratedRequest {
  readonly operation: OperationAtPath;
  /** Query parameters; lists are not yet joined with commas. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

export const DATA_OPERATIONS = [
  "getHazardRisk",
  "postHazardRiskBatch",
  "alignTemperature",
  "alignPortfolio",
  "analyzeTotalClimateRisk",
] as const;
export const OTHER_OPERATIONS = ["registerCustomer", "listCustomers", "getUsage", "getCustomerUsage"] as const;

const COUNTRIES = referenceCountries();
const INDUSTRIES = referenceIndustries();
const SCENARIOS = referenceScenarios();

/** Maximum length of generated lists. */
const LIST_LENGTH_MAX = 3;
const TEXTS = ["a", "Zürich & Söhne +1", "x".repeat(40), "名前", "1e5", "true"];

/** Returns a random value that is valid against a schema; half of the optional members are omitted. */
export function valueOf(random: SeededRandom, schema: JsonSchema): unknown {
  const shape = resolveReference(schema);
  if (shape.enum !== undefined) return random.pick(shape.enum);
  if (shape.const !== undefined) return shape.const;
  if (shape.anyOf !== undefined) return valueOf(random, random.pick(shape.anyOf));
  if (typeof shape.type === "object") return valueOf(random, { ...shape, type: random.pick(shape.type) });
  switch (shape.type) {
    case "object": {
      const { properties = {}, required = [] } = shape;
      const kept = Object.entries(properties).filter(([name]) => required.includes(name) || random.chance(0.5));
      return Object.fromEntries(kept.map(([name, member]) => [name, valueOf(random, member)]));
    }
    case "array": {
      const { items = {}, minItems = 0, maxItems = Infinity, uniqueItems } = shape;
      const count = Math.min(Math.max(minItems, random.below(LIST_LENGTH_MAX + 1)), maxItems);
      const list = Array.from({ length: count }, () => valueOf(random, items));
      return uniqueItems === true ? [...new Set(list)] : list;
    }
    case "boolean":
      return random.chance(0.5);
    case "null":
      return null;
    case "integer":
      return Math.floor(random.between({ min: shape.minimum ?? 0, max: (shape.maximum ?? 1e6) + 1 }));
    case "number":
      return numberOf(random, shape);
    default:
      return random.pick(TEXTS);
  }
}

function numberOf(random: SeededRandom, shape: JsonSchema): number {
  const { exclusiveMinimum, maximum = 1e9 } = shape;
  const { minimum = exclusiveMinimum === undefined ? -1e9 : exclusiveMinimum + maximum / 1000 } = shape;
  // The bounds, an integer, and arbitrary values.
  const any = random.between({ min: minimum, max: maximum });
  return random.pick([minimum, maximum, Math.max(Math.round(any), minimum), any, any, any]);
}

/** Returns a request that is valid against the document and against constraints that schemas cannot express. */
export function requestOf(random: SeededRandom, operationId: string): GeneratedRequest {
  const operation = operationOf(operationId);
  const parameters = Object.fromEntries(
    queryParametersOf(operation)
      .filter(({ required }) => required || random.chance(0.5))
      .map(({ name, schema }) => [name, valueOf(random, schema)]),
  );
  const schema = operation.requestBody?.content["application/json"]?.schema;
  const body = schema === undefined ? undefined : valueOf(random, schema);
  switch (operationId) {
    case "getHazardRisk":
      return { operation, parameters: withOfferedValues(random, parameters), body };
    case "postHazardRiskBatch":
      return { operation, parameters, body: (body as object[]).map((query) => withOfferedValues(random, query)) };
    case "alignTemperature":
      return { operation, parameters, body: (body as object[]).map((entity) => withOrderedYears(random, entity)) };
    case "alignPortfolio":
      return { operation, parameters, body: withAcceptedHoldings(random, body, withOrderedYears) };
    case "analyzeTotalClimateRisk":
      return { operation, parameters, body: withKnownNames(random, body as object) };
    case "getUsage":
    case "getCustomerUsage":
      return { operation, parameters: withOrderedDays(random, parameters), body };
    default:
      return { operation, parameters: { ...parameters, cursor: undefined }, body };
  }
}

export function queryParametersOf(operation: OperationAtPath): readonly Parameter[] {
  return parametersOf(operation).filter(({ in: location }) => location === "query");
}

/** Restricts a query to years and scenarios that all its hazards offer, and to radii below 5 km for speed. */
function withOfferedValues(random: SeededRandom, query: object): Readonly<Record<string, unknown>> {
  const hazards = HAZARD_NAMES.filter(() => random.chance(0.4));
  if (hazards.length === 0) hazards.push(random.pick(HAZARD_NAMES));
  const specs = hazards.map((hazard) => HAZARDS[hazard]);
  const shared = <Item>(lists: readonly (readonly Item[])[]): Item[] =>
    (lists[0] ?? []).filter((item) => lists.every((list) => list.includes(item)));
  const some = <Item>(items: readonly Item[]): Item[] => {
    const kept = items.filter(() => random.chance(0.4));
    return kept.length > 0 ? kept : [random.pick(items)];
  };
  const { radius } = query as { readonly radius?: number };
  return {
    ...query,
    hazards,
    analysis_years: some(shared(specs.map(({ years }) => years))),
    scenarios: some(shared(specs.map(({ scenarios }) => scenarios))),
    ...(radius === undefined ? {} : { radius: radius % 5 }),
  };
}

/** Moves projected years after the baseline, and adds at least one scope to each year. */
function withOrderedYears(random: SeededRandom, entity: object): object {
  const { data, projected_emissions, ...rest } = entity as {
    readonly data: readonly { readonly year: number; readonly emissions: object }[];
    readonly projected_emissions: readonly { readonly year: number; readonly emissions: object }[];
  };
  const baseYear = 1990 + random.below(40);
  const scoped = (emissions: object): object => ({ scope1: random.between({ min: 0, max: 1e6 }), ...emissions });
  return {
    ...rest,
    data: data.map((record) => ({ ...record, year: baseYear, emissions: scoped(record.emissions) })),
    projected_emissions: projected_emissions.map((record) => ({
      year: baseYear + 1 + random.below(80),
      emissions: scoped(record.emissions),
    })),
  };
}

/** Uses known names, and amounts as numbers or text. */
function withKnownNames(random: SeededRandom, company: object): Readonly<Record<string, unknown>> {
  const amount = (max: number): number | string => {
    const value = random.between({ min: 1, max });
    return random.chance(0.5) ? value : random.pick([String(value), value.toFixed(2), value.toExponential()]);
  };
  const country = random.pick(COUNTRIES);
  const industry = random.pick(INDUSTRIES);
  const varySpelling = (id: string): string =>
    random.pick([id, id.toLowerCase(), id.replaceAll("_", "-"), id.replaceAll("_", " ")]);
  const { scope1, scope2, scope3, total_liabilities, ...rest } = company as Readonly<Record<string, unknown>>;
  const optional = Object.entries({ scope1, scope2, scope3, total_liabilities }).filter(
    ([, value]) => value !== undefined,
  );
  return {
    ...rest,
    country: random.pick([country.id, country.iso2, country.name]),
    industry: random.pick([industry.id, industry.name]),
    revenue: amount(1e11),
    total_assets: amount(1e12),
    ebitda: random.chance(0.2) ? `-${amount(1e9)}` : amount(1e10),
    total_debt: amount(1e11),
    transition_scenarios: Array.from({ length: 1 + random.below(3) }, () => varySpelling(random.pick(SCENARIOS).id)),
    ...Object.fromEntries(optional.map(([name]) => [name, amount(1e9)])),
    damage_function: random.pick(["kalkuhl_wenz", "howard_sterner", "dice2016", "ngfs5_kotz"]),
    iam: "remind",
  };
}

/** Puts `from` before `to`, and removes parameters that need values of earlier responses. */
function withOrderedDays(
  random: SeededRandom,
  parameters: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const day = (year: number): string => `${year}-0${1 + random.below(9)}-1${random.below(10)}`;
  const isFile = parameters["format"] === "csv";
  return {
    ...parameters,
    ...(parameters["from"] === undefined ? {} : { from: day(2020) }),
    ...(parameters["to"] === undefined ? {} : { to: day(2035) }),
    customer_id: undefined,
    cursor: undefined,
    ...(isFile ? { limit: undefined } : {}),
  };
}

/** Encodes the URL and body of a request. */
export function encodeRequest(
  { operation, parameters, body }: GeneratedRequest,
  pathMember = "",
): {
  readonly target: string;
  readonly body: string | undefined;
} {
  const query = Object.entries(parameters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
    .join("&");
  const path = operation.path.replace(/\{\w+\}/, pathMember);
  return {
    target: query === "" ? path : `${path}?${query}`,
    body: body === undefined ? undefined : JSON.stringify(body),
  };
}
