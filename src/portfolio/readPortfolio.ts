import { Type } from "typebox";
import { Compile } from "typebox/compile";
import { DENOMINATOR_MIN, HOLDING_COUNT_MAX, MISSING_SCORE_C, PORTFOLIO_SCOPES } from "../contract/portfolioNames.ts";
import { HoldingSchema, PortfolioOptionsSchema } from "../contract/portfolioRequest.ts";
import type { Holding, PortfolioOptions, PortfolioRequest } from "../contract/wireTypes.ts";
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultItem } from "../errors.ts";
import {
  closestMatch,
  findSchemaErrors,
  pointerToken,
  quote,
  summarizeItems,
  type ValueSchema,
} from "../schemaErrors.ts";

/** The request, with any object as an entity: an entity that cannot be scored is an uncovered holding, not an error. */
const RequestSchema = Type.Object(
  {
    holdings: Type.Array(
      Type.Object(
        { ...HoldingSchema.properties, entity: Type.Optional(Type.Union([Type.Object({}), Type.Null()])) },
        { additionalProperties: false },
      ),
      { minItems: 1, maxItems: HOLDING_COUNT_MAX },
    ),
    options: Type.Optional(PortfolioOptionsSchema),
  },
  { additionalProperties: false },
);
const SHAPE = RequestSchema as unknown as ValueSchema;
const compiled = Compile(RequestSchema);

/** Number of keys of groups that an error lists, and that it compares with an unknown key. */
const SHOWN_KEY_COUNT_MAX = 20;
const COMPARED_KEY_COUNT_MAX = 1000;

/** Members that a value is divided by. */
const DENOMINATORS = ["market_cap", "enterprise_value", "evic", "total_assets", "revenue"] as const;

/**
 * Validates a portfolio, except for the content of its entities.
 *
 * @param input holdings and options, as in the body of a request
 * @returns the input itself
 * @throws Fault `invalid_request` that lists up to 100 errors, each with a JSON pointer
 */
export function readPortfolio(input: unknown): PortfolioRequest {
  const isShaped = compiled.Check(input) && !hasHole(input.holdings);
  const shapeItems = isShaped ? [] : findSchemaErrors(SHAPE, input, { name: "The portfolio" });
  const items: FaultItem[] = [];
  for (const item of findMeaningErrors(input)) {
    if (items.length === FAULT_ITEM_COUNT_MAX) break;
    items.push(item);
  }
  const located = new Set(items.map(({ pointer }) => pointer));
  items.push(
    ...shapeItems.filter(({ pointer }) => !located.has(pointer)).slice(0, FAULT_ITEM_COUNT_MAX - items.length),
  );
  if (items.length > 0) throw new Fault("invalid_request", summarizeItems(items, "the portfolio"), { items });
  // The compiled validator and the explanation use the same schema; disagreement between them is an internal error.
  if (!isShaped) throw new Error("The compiled validator rejected a portfolio in which no error was found.");
  return input as PortfolioRequest;
}

/** Returns whether a sparse array has a hole, which the compiled validator skips. */
function hasHole(holdings: readonly unknown[]): boolean {
  for (let index = 0; index < holdings.length; index++) if (holdings[index] === undefined) return true;
  return false;
}

/**
 * Yields the errors that the schema cannot express. Values of the wrong type are skipped, since the schema check reports
 * them.
 */
function* findMeaningErrors(input: unknown): Generator<FaultItem> {
  if (!isObject(input)) return;
  const { holdings, options } = input;
  const currencies = new CurrencyCheck();
  if (Array.isArray(holdings)) {
    for (let index = 0; index < holdings.length; index++) {
      const line: unknown = holdings[index];
      if (!isObject(line)) continue;
      yield* findLineErrors(line, `/holdings/${index}`);
      yield* currencies.check(line, `/holdings/${index}`);
    }
  }
  if (!isObject(options)) return;
  yield* findOptionErrors(options);
  if (Array.isArray(holdings) && Array.isArray(options["group_by"]))
    yield* findKeyErrors(options["group_by"], holdings);
}

function* findLineErrors(line: Partial<Holding>, pointer: string): Generator<FaultItem> {
  const { id, issuer, entity, temperature, groups } = line;
  if (isBlank(id)) yield { pointer: `${pointer}/id`, code: "empty", detail: "id must not be empty or blank." };
  if (isBlank(issuer)) {
    const detail = "issuer must not be empty or blank; leave it out if it is not known.";
    yield { pointer: `${pointer}/issuer`, code: "empty", detail };
  }
  const hasEntity = entity !== undefined && entity !== null;
  const hasTemperature = temperature !== undefined && temperature !== null;
  if (!hasEntity && !hasTemperature) {
    const detail =
      "A holding must have entity, a company to be scored, or temperature, scores from elsewhere (got neither).";
    yield { pointer, code: "missing", detail };
  }
  if (hasEntity && hasTemperature) {
    const detail = "A holding must have either entity or temperature (got both); leave one of them out.";
    yield { pointer: `${pointer}/temperature`, code: "not_expected", detail };
  }
  if (isObject(temperature)) yield* findScoreErrors(temperature, `${pointer}/temperature`);
  for (const member of DENOMINATORS) {
    const amount = line[member];
    if (typeof amount !== "number" || !(amount > 0 && amount < DENOMINATOR_MIN)) continue;
    const detail = `${member} must be at least ${DENOMINATOR_MIN} if it is positive (got ${amount}).`;
    yield { pointer: `${pointer}/${member}`, code: "out_of_range", detail };
  }
  if (isObject(groups)) {
    for (const [key, group] of Object.entries(groups)) {
      if (typeof group === "string" || group === null || group === undefined) continue;
      const detail = `The group under ${quote(key)} must be text (got ${quote(group)}).`;
      yield { pointer: `${pointer}/groups/${pointerToken(key)}`, code: "wrong_type", detail };
    }
  }
}

/** Checks that an interval has both ends, and the score between them. */
function* findScoreErrors(temperature: Readonly<Record<string, unknown>>, pointer: string): Generator<FaultItem> {
  for (const scope of PORTFOLIO_SCOPES) {
    const score = temperature[scope];
    if (!isObject(score)) continue;
    const { t, low, high } = score;
    const hasLow = low !== undefined && low !== null;
    const hasHigh = high !== undefined && high !== null;
    if (hasLow !== hasHigh) {
      const [given, missing] = hasLow ? ["low", "high"] : ["high", "low"];
      const detail = `${missing} is required where ${given} is given, and the other way round.`;
      yield { pointer: `${pointer}/${scope}/${missing}`, code: "missing", detail };
    } else if (
      typeof t === "number" &&
      typeof low === "number" &&
      typeof high === "number" &&
      !(low <= t && t <= high)
    ) {
      const detail = `t must be between low and high (got low ${low}, t ${t}, high ${high}).`;
      yield { pointer: `${pointer}/${scope}/t`, code: "out_of_range", detail };
    }
  }
}

function* findOptionErrors(options: Readonly<Record<string, unknown>>): Generator<FaultItem> {
  const { missing_low: low = MISSING_SCORE_C.low, missing_high: high = MISSING_SCORE_C.high } =
    options as PortfolioOptions;
  if (typeof low !== "number" || typeof high !== "number" || !(low > high)) return;
  const detail = `missing_low must be at most missing_high (got missing_low ${low}, missing_high ${high}).`;
  yield { pointer: "/options/missing_low", code: "out_of_range", detail };
}

/** Checks that some holding has an entry under each key that the portfolio is to be grouped by. */
function* findKeyErrors(keys: readonly unknown[], holdings: readonly unknown[]): Generator<FaultItem> {
  const known = new Set<string>();
  for (const line of holdings) {
    if (!isObject(line) || !isObject(line["groups"])) continue;
    for (const [key, group] of Object.entries(line["groups"])) if (typeof group === "string") known.add(key);
  }
  for (const [index, key] of keys.entries()) {
    if (typeof key !== "string" || known.has(key)) continue;
    const allowed = [...known].slice(0, SHOWN_KEY_COUNT_MAX);
    const suggestion = closestMatch(key, [...known].slice(0, COMPARED_KEY_COUNT_MAX));
    const accepted = allowed.length === 0 ? "no holding has groups" : `known: ${allowed.map(quote).join(", ")}`;
    const hint = suggestion === undefined ? "." : `; did you mean ${quote(suggestion)}?`;
    yield {
      pointer: `/options/group_by/${index}`,
      code: "unknown",
      detail: `No holding has a group under ${quote(key)} (${accepted})${hint}`,
      allowed,
      ...(suggestion === undefined ? {} : { did_you_mean: suggestion }),
    };
  }
}

/** Checks that all amounts of a portfolio are in one currency, including the revenues of its entities. */
class CurrencyCheck {
  #first: { readonly currency: string; readonly pointer: string } | undefined;

  *check({ currency, entity }: Partial<Holding>, pointer: string): Generator<FaultItem> {
    yield* this.#add(currency, `${pointer}/currency`);
    const [baseline] = Array.isArray(entity?.data) ? (entity.data as readonly unknown[]) : [];
    const financials = isObject(baseline) ? baseline["financials"] : undefined;
    if (!isObject(financials) || typeof financials["revenue"] !== "number") return;
    yield* this.#add(financials["currency"], `${pointer}/entity/data/0/financials/currency`);
  }

  *#add(currency: unknown, pointer: string): Generator<FaultItem> {
    if (typeof currency !== "string") return;
    this.#first ??= { currency, pointer };
    if (currency === this.#first.currency) return;
    const detail =
      `All amounts of a portfolio must be in one currency: ${quote(currency)} differs from ` +
      `${quote(this.#first.currency)} at ${this.#first.pointer}. Convert them before the request.`;
    yield { pointer, code: "not_allowed", detail };
  }
}

function isBlank(value: unknown): boolean {
  return typeof value === "string" && value.trim() === "";
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
