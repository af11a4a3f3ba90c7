/** Reads and validates a portfolio. */
import { type TSchema, Type } from "typebox";
import { compileOnUse } from "../validation/compiledSchema.ts";
import { DENOMINATOR_MIN, HOLDING_COUNT_MAX, MISSING_SCORE_C, PORTFOLIO_SCOPES } from "../contract/names.ts";
import { HoldingSchema, PortfolioOptionsSchema } from "../contract/portfolioRequest.ts";
import type { Holding, PortfolioOptions, PortfolioRequest } from "../contract/wireTypes.ts";
import {
  findSchemaErrors,
  pointerToken,
  quote,
  type SchemaError,
  summarizeItems,
  type ValueSchema,
} from "../validation/schemaErrors.ts";
import { Fault, FAULT_ITEM_COUNT_MAX, type FaultItem } from "../errors.ts";
import { closestMatch } from "../validation/closestMatch.ts";

/** The request, with any object as an entity: an invalid entity makes the holding uncovered, not the request invalid. */
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

/** Returns whether a value has the shape of a portfolio. */
export function isPortfolio(input: unknown): input is PortfolioRequest {
  return knownMembers().Check(input) && !hasHole((input as PortfolioRequest).holdings) && !hasUnknownMember(input);
}

/** Returns what is wrong with the shape of a portfolio: at most 100 errors. */
export function findShapeErrors(input: unknown): readonly SchemaError[] {
  return findSchemaErrors(SHAPE, input, { name: "The portfolio" });
}

/**
 * Checks the members that the schema knows. Unknown members are found by `hasUnknownMember`, because the compiled
 * validator would match every member name against a regular expression, which takes longer than everything else.
 */
const knownMembers = compileOnUse(() => withUnknownMembers(RequestSchema) as TSchema);
const hasUnknownMember = unknownMemberFinder(SHAPE) ?? (() => false);

/** Returns a copy of a schema whose objects may have unknown members. */
function withUnknownMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withUnknownMembers);
  if (typeof value !== "object" || value === null) return value;
  // Not a spread, because TypeBox stores kind and modifiers in properties that are not enumerable.
  const descriptors: PropertyDescriptorMap = {};
  for (const [name, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(value))) {
    if (name === "additionalProperties" && descriptor.value === false) continue;
    descriptors[name] = { ...descriptor, value: withUnknownMembers(descriptor.value) };
  }
  return Object.defineProperties({}, descriptors);
}

/** Returns whether a value has a member that its schema rejects; values of a type other than the schema's have none. */
type MemberFinder = (value: unknown) => boolean;

/** Builds the finder of a schema; undefined if the schema accepts all members. */
function unknownMemberFinder({
  anyOf,
  items,
  properties,
  additionalProperties,
}: ValueSchema): MemberFinder | undefined {
  if (anyOf !== undefined) {
    const finders = anyOf.map(unknownMemberFinder).filter((find) => find !== undefined);
    return finders.length === 0 ? undefined : (value) => finders.some((find) => find(value));
  }
  if (items !== undefined) {
    const find = unknownMemberFinder(items);
    return find === undefined ? undefined : (value) => Array.isArray(value) && value.some(find);
  }
  if (properties === undefined) return undefined;
  const known = new Set(Object.keys(properties));
  const nested = Object.entries(properties).flatMap(([name, member]) => {
    const find = unknownMemberFinder(member);
    return find === undefined ? [] : [{ name, find }];
  });
  if (additionalProperties !== false && nested.length === 0) return undefined;
  return (value) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
    const members = value as Readonly<Record<string, unknown>>;
    if (additionalProperties === false) {
      // A loop over the names, because Object.keys would allocate a list for each object.
      for (const name in members) if (!known.has(name) && Object.hasOwn(members, name)) return true;
    }
    return nested.some(({ name, find }) => find(members[name]));
  };
}

/** Returns whether a sparse array has a hole, which the compiled validator skips. */
function hasHole(holdings: readonly unknown[]): boolean {
  for (let index = 0; index < holdings.length; index++) if (holdings[index] === undefined) return true;
  return false;
}

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
  const isShaped = isPortfolio(input);
  const items = findMeaningErrors(input).slice(0, FAULT_ITEM_COUNT_MAX);
  if (!isShaped) {
    const located = new Set(items.map(({ pointer }) => pointer));
    const shapeItems = findShapeErrors(input).filter(({ pointer }) => !located.has(pointer));
    items.push(...shapeItems.slice(0, FAULT_ITEM_COUNT_MAX - items.length));
  }
  if (items.length > 0) throw new Fault("invalid_request", summarizeItems(items, "the portfolio"), { items });
  // Both checks of the shape use the same schema; disagreement between them is an internal error.
  if (!isShaped) throw new Error("The validator rejected a portfolio in which no error was found.");
  return input;
}

/**
 * Returns the errors that the schema cannot express. Lines are checked until there are 100 errors. Values of the wrong
 * type are skipped, since the check of the shape reports them.
 */
function findMeaningErrors(input: unknown): FaultItem[] {
  const items: FaultItem[] = [];
  if (!isObject(input)) return items;
  const { holdings, options } = input;
  const currencies = new CurrencyCheck(items);
  if (Array.isArray(holdings)) {
    for (let index = 0; index < holdings.length && items.length < FAULT_ITEM_COUNT_MAX; index++) {
      const line: unknown = holdings[index];
      if (!isObject(line)) continue;
      addLineErrors(items, line, index);
      currencies.add(line, index);
    }
  }
  if (!isObject(options)) return items;
  addOptionErrors(items, options);
  if (Array.isArray(holdings) && Array.isArray(options["group_by"])) {
    addKeyErrors(items, options["group_by"], holdings);
  }
  return items;
}

// The functions below add to a list. Generators would take most of the time that a valid portfolio needs.

function addLineErrors(items: FaultItem[], line: Partial<Holding>, index: number): void {
  const { id, issuer, entity, temperature, groups } = line;
  const add = (member: string, code: FaultItem["code"], detail: string): void => {
    items.push({ pointer: `/holdings/${index}${member}`, code, detail });
  };
  if (isBlank(id)) add("/id", "empty", "id must not be empty or blank.");
  if (isBlank(issuer)) add("/issuer", "empty", "issuer must not be empty or blank; leave it out if it is not known.");
  const hasEntity = entity !== undefined && entity !== null;
  const hasTemperature = temperature !== undefined && temperature !== null;
  if (!hasEntity && !hasTemperature) {
    const detail =
      "A holding must have entity, a company to be scored, or temperature, scores from elsewhere (got neither).";
    add("", "missing", detail);
  }
  if (hasEntity && hasTemperature) {
    const detail = "A holding must have either entity or temperature (got both); leave one of them out.";
    add("/temperature", "not_expected", detail);
  }
  if (isObject(temperature)) addScoreErrors(items, temperature, index);
  for (const member of DENOMINATORS) {
    const amount = line[member];
    if (typeof amount !== "number" || !(amount > 0 && amount < DENOMINATOR_MIN)) continue;
    add(
      `/${member}`,
      "out_of_range",
      `${member} must be at least ${DENOMINATOR_MIN} if it is positive (got ${amount}).`,
    );
  }
  if (!isObject(groups)) return;
  for (const key in groups) {
    const group: unknown = groups[key];
    if (typeof group === "string" || group === null || group === undefined) continue;
    const detail = `The group under ${quote(key)} must be text (got ${quote(group)}).`;
    add(`/groups/${pointerToken(key)}`, "wrong_type", detail);
  }
}

/** Checks that an interval has both ends, and the score between them. */
function addScoreErrors(items: FaultItem[], temperature: Readonly<Record<string, unknown>>, index: number): void {
  for (const scope of PORTFOLIO_SCOPES) {
    const score = temperature[scope];
    if (!isObject(score)) continue;
    const { t, low, high } = score;
    const hasLow = low !== undefined && low !== null;
    const hasHigh = high !== undefined && high !== null;
    if (hasLow !== hasHigh) {
      const [given, missing] = hasLow ? ["low", "high"] : ["high", "low"];
      const pointer = `/holdings/${index}/temperature/${scope}/${missing}`;
      const detail = `${missing} is required where ${given} is given, and the other way round.`;
      items.push({ pointer, code: "missing", detail });
    } else if (
      typeof t === "number" &&
      typeof low === "number" &&
      typeof high === "number" &&
      !(low <= t && t <= high)
    ) {
      const detail = `t must be between low and high (got low ${low}, t ${t}, high ${high}).`;
      items.push({ pointer: `/holdings/${index}/temperature/${scope}/t`, code: "out_of_range", detail });
    }
  }
}

function addOptionErrors(items: FaultItem[], options: Readonly<Record<string, unknown>>): void {
  const { missing_low: low = MISSING_SCORE_C.low, missing_high: high = MISSING_SCORE_C.high } =
    options as PortfolioOptions;
  if (typeof low !== "number" || typeof high !== "number" || !(low > high)) return;
  const detail = `missing_low must be at most missing_high (got missing_low ${low}, missing_high ${high}).`;
  items.push({ pointer: "/options/missing_low", code: "out_of_range", detail });
}

/**
 * Checks that some holding has an entry under each key that the portfolio is to be grouped by, unless there are no holdings
 * or the groups of a line cannot be read: those are the errors to be fixed first.
 */
function addKeyErrors(items: FaultItem[], keys: readonly unknown[], holdings: readonly unknown[]): void {
  if (holdings.length === 0) return;
  const known = new Set<string>();
  for (const line of holdings) {
    const groups = isObject(line) ? (line["groups"] ?? {}) : undefined;
    if (!isObject(groups)) return;
    for (const [key, group] of Object.entries(groups)) if (group !== null && group !== undefined) known.add(key);
  }
  for (const [index, key] of keys.entries()) {
    if (typeof key !== "string" || known.has(key)) continue;
    const allowed = [...known].slice(0, SHOWN_KEY_COUNT_MAX);
    const suggestion = closestMatch(key, [...known].slice(0, COMPARED_KEY_COUNT_MAX));
    const accepted = allowed.length === 0 ? "no holding has groups" : `known: ${allowed.map(quote).join(", ")}`;
    const hint = suggestion === undefined ? "." : `; did you mean ${quote(suggestion)}?`;
    items.push({
      pointer: `/options/group_by/${index}`,
      code: "unknown",
      detail: `No holding has a group under ${quote(key)} (${accepted})${hint}`,
      allowed,
      ...(suggestion === undefined ? {} : { did_you_mean: suggestion }),
    });
  }
}

/** Checks that all amounts of a portfolio are in one currency, including the revenues of its entities. */
class CurrencyCheck {
  readonly #items: FaultItem[];
  #first: { readonly currency: string; readonly pointer: string } | undefined;

  constructor(items: FaultItem[]) {
    this.#items = items;
  }

  add({ currency, entity }: Partial<Holding>, index: number): void {
    this.#compare(currency, index, "currency");
    const [baseline] = Array.isArray(entity?.data) ? (entity.data as readonly unknown[]) : [];
    const financials = isObject(baseline) ? baseline["financials"] : undefined;
    if (!isObject(financials) || typeof financials["revenue"] !== "number") return;
    this.#compare(financials["currency"], index, "entity/data/0/financials/currency");
  }

  #compare(currency: unknown, index: number, member: string): void {
    if (typeof currency !== "string" || currency === this.#first?.currency) return;
    const pointer = `/holdings/${index}/${member}`;
    if (this.#first === undefined) {
      this.#first = { currency, pointer };
      return;
    }
    const detail =
      `All amounts of a portfolio must be in one currency: ${quote(currency)} differs from ` +
      `${quote(this.#first.currency)} at ${this.#first.pointer}. Convert them before the request.`;
    this.#items.push({ pointer, code: "not_allowed", detail });
  }
}

function isBlank(value: unknown): boolean {
  return typeof value === "string" && value.trim() === "";
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
