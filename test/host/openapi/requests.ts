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
  "getHazardCurve",
  "postHazardCurveBatch",
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
      return shape.pattern !== undefined && shape.examples !== undefined
        ? random.pick(shape.examples)
        : random.pick(TEXTS);
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
    case "getHazardCurve":
      return { operation, parameters: withOfferedCurve(random, parameters), body };
    case "postHazardCurveBatch":
      return { operation, parameters, body: (body as object[]).map((query) => withOfferedCurve(random, query)) };
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

/** Restricts a query to one hazard of which the demo has curves, and orders the points of its damage curve. */
function withOfferedCurve(random: SeededRandom, query: object): Readonly<Record<string, unknown>> {
  const { damage_curve: points } = query as { readonly damage_curve?: readonly { readonly damage_share: number }[] };
  const hazards = [random.pick(HAZARD_NAMES.filter((hazard) => HAZARDS[hazard].rules.curve !== undefined))];
  const shares = points?.map(({ damage_share }) => damage_share).toSorted((a, b) => a - b);
  return {
    ...withOfferedValues(random, query, hazards),
    ...(shares === undefined
      ? {}
      : { damage_curve: shares.map((share, i) => ({ value: i * 1.5, damage_share: i === 0 ? 0 : share })) }),
  };
}

/** Restricts a query to years and scenarios that all its hazards offer, and to radii below 5 km for speed. */
function withOfferedValues(
  random: SeededRandom,
  query: object,
  hazards = HAZARD_NAMES.filter(() => random.chance(0.4)),
): Readonly<Record<string, unknown>> {
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

/** Moves projected years after the baseline, adds at least one scope to each year, and makes labels consistent. */
function withOrderedYears(random: SeededRandom, entity: object): object {
  const { data, projected_emissions, ...rest } = entity as {
    readonly data: readonly { readonly year: number; readonly emissions: object }[];
    readonly projected_emissions: readonly { readonly emissions: object; readonly financials?: object }[];
  };
  const baseYear = 1990 + random.below(40);
  const labels = random.chance(0.5) ? [] : random.pick([["target"], ["target", "Pfad"]]);
  const hasProbability = random.chance(0.5);
  const labelOf = (index: number): object => {
    if (labels.length === 0) return {};
    const label = labels[index % labels.length];
    return { label, ...(hasProbability ? { probability: label === "target" ? 0.25 : 1 } : {}) };
  };
  const scoped = (emissions: object): object => ({ scope1: random.between({ min: 0, max: 1e6 }), ...emissions });
  return {
    ...rest,
    data: data.map((record) => ({ ...record, year: baseYear, emissions: scoped(record.emissions) })),
    projected_emissions: projected_emissions.map(({ emissions, financials }, index) => ({
      year: baseYear + 1 + random.below(80),
      emissions: scoped(emissions),
      ...(financials === undefined ? {} : { financials }),
      ...labelOf(index),
    })),
  };
}

/** Upper bounds of the random amounts of a company, by member. */
const AMOUNTS_MAX: Readonly<Record<string, number>> = {
  revenue: 1e11,
  total_assets: 1e12,
  ebitda: 1e10,
  total_debt: 1e11,
  scope1: 1e9,
  scope2: 1e9,
  scope3: 1e9,
  scope3_upstream: 1e9,
  scope3_downstream: 1e9,
  total_liabilities: 1e12,
  exposure: 1e9,
};
/** Largest random values of members that are at most this. */
const SHARES_MAX: Readonly<Record<string, number>> = { pd: 1, lgd: 1, discount_rate: 0.3, pass_through: 1 };

/** Uses known names, and amounts as numbers or text. */
function withKnownNames(random: SeededRandom, company: object): Readonly<Record<string, unknown>> {
  const spell = (value: number): number | string =>
    random.chance(0.5) ? value : random.pick([String(value), value.toExponential()]);
  const anyAmount = (max: number, min = 1): number => random.between({ min, max });
  const withAmounts = (members: object): Readonly<Record<string, unknown>> =>
    Object.fromEntries(
      Object.entries(members as Readonly<Record<string, unknown>>).map(([name, value]) => {
        const [amountMax, shareMax] = [AMOUNTS_MAX[name], SHARES_MAX[name]];
        const isLoss = name === "ebitda" && random.chance(0.2);
        if (amountMax !== undefined) return [name, spell((isLoss ? -1 : 1) * anyAmount(amountMax))];
        if (shareMax !== undefined) return [name, spell(anyAmount(shareMax, 0))];
        if (name === "shock_year") return [name, spell(2025 + random.below(76))];
        return [name, name === "assumptions" ? withAmounts(value as object) : value];
      }),
    );
  const country = random.pick(COUNTRIES);
  const industry = random.pick(INDUSTRIES);
  const varySpelling = (id: string): string =>
    random.pick([id, id.toLowerCase(), id.replaceAll("_", "-"), id.replaceAll("_", " ")]);
  return {
    ...withAmounts(company),
    country: random.pick([country.id, country.iso2, country.name]),
    industry: random.pick([industry.id, industry.name]),
    transition_scenarios: Array.from({ length: 1 + random.below(3) }, () => varySpelling(random.pick(SCENARIOS).id)),
    industry_classification_system: random.pick(["isic", "NACE Rev. 2", "naics", "gics"]),
    damage_function: random.pick(["ngfs4", "kalkuhl_wenz", "howard_sterner", "dice2016", "ngfs5_kotz"]),
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
