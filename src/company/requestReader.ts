import { Fault, FAULT_ITEM_COUNT_MAX, type FaultCode, type FaultItem } from "../errors.ts";
import { closestMatch } from "../validation/closestMatch.ts";
import {
  findSchemaErrors,
  findUnknownMembers,
  quote,
  summarizeItems,
  type ValueSchema,
} from "../validation/schemaErrors.ts";
import type { CompanyEcho } from "../contract/wireTypes.ts";
import {
  ACCEPTED_CODES,
  CLASSIFICATION_SYSTEMS,
  type ClassificationSystem,
  readSystem,
} from "../reference/industryCodes.ts";
import { matchCountry, nearestCountryNames, suggestCountryName } from "../reference/countryNames.ts";
import { matchIndustry } from "../reference/industryNames.ts";
import { refuseIndustry } from "../reference/industrySuggestions.ts";
import { COUNTRIES, type Country, countryByIso3 } from "./countryFigures.ts";
import type { ReportedEmissions } from "./emissions.ts";
import { type Industry, industryById } from "./industryParameters.ts";
import {
  findScenario,
  foldId,
  nearestScenarios,
  SCENARIO_IDS,
  suggestScenario,
  type TransitionScenario,
} from "./scenarios.ts";

/** Upper bounds of amounts of money, USD, and of reported emissions, t CO2e per year: the latter is more than the world emits. */
const MONEY_MAX = 1e15;
const EMISSIONS_MAX = 6e10;
/** Smaller revenue or assets would make some of the ratios exceed what a number can represent. */
const MONEY_MIN = 1e-6;

interface AmountRule {
  readonly name: string;
  /** Object that the amount is a member of, if not the request itself. */
  readonly parent?: "assumptions";
  readonly min: number;
  readonly max: number;
  readonly isInteger?: true;
}

/** The amounts of a request: members that are numbers, or strings that contain one. */
export const AMOUNTS = {
  revenue: { name: "revenue", min: MONEY_MIN, max: MONEY_MAX },
  totalAssets: { name: "total_assets", min: MONEY_MIN, max: MONEY_MAX },
  ebitda: { name: "ebitda", min: -MONEY_MAX, max: MONEY_MAX },
  totalDebt: { name: "total_debt", min: 0, max: MONEY_MAX },
  scope1: { name: "scope1", min: 0, max: EMISSIONS_MAX },
  scope2: { name: "scope2", min: 0, max: EMISSIONS_MAX },
  scope3: { name: "scope3", min: 0, max: EMISSIONS_MAX },
  scope3Upstream: { name: "scope3_upstream", min: 0, max: EMISSIONS_MAX },
  scope3Downstream: { name: "scope3_downstream", min: 0, max: EMISSIONS_MAX },
  totalLiabilities: { name: "total_liabilities", min: 0, max: MONEY_MAX },
  pd: { name: "pd", min: 0, max: 1 },
  exposure: { name: "exposure", min: 0, max: MONEY_MAX },
  lgd: { name: "lgd", min: 0, max: 1 },
  discountRate: { name: "discount_rate", parent: "assumptions", min: 0, max: 0.3 },
  shockYear: { name: "shock_year", parent: "assumptions", min: 2025, max: 2100, isInteger: true },
  passThrough: { name: "pass_through", parent: "assumptions", min: 0, max: 1 },
} as const satisfies Record<string, AmountRule>;

const AMOUNT = /^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

/** Reads a number, or text with a number and nothing else but spaces around it; undefined for anything else. */
function parseAmount(given: unknown): number | undefined {
  if (typeof given === "number") return given;
  if (typeof given !== "string") return undefined;
  const trimmed = given.trim();
  return AMOUNT.test(trimmed) ? Number(trimmed) : undefined;
}

/** Describes the accepted values, to follow "must be". */
function expectedAmount({ min, max, isInteger }: AmountRule): string {
  const kind = isInteger === true ? "an integer" : "a number";
  return `${kind}, or a string with one (no separators), between ${formatBound(min)} and ${formatBound(max)}`;
}

function formatBound(bound: number): string {
  return bound === MONEY_MIN ? bound.toFixed(6) : String(bound);
}

const ASSUMPTIONS = "assumptions";
const AMOUNT_RULES: readonly AmountRule[] = Object.values(AMOUNTS);
const ASSUMPTION_NAMES = AMOUNT_RULES.filter(({ parent }) => parent === ASSUMPTIONS).map(({ name }) => name);
/** Members that the reader checks itself, if the schema of the request has them. */
const READ_MEMBERS: readonly string[] = [
  ...AMOUNT_RULES.filter(({ parent }) => parent === undefined).map(({ name }) => name),
  ASSUMPTIONS,
];

/** Longer than any name of a country or industry; bounds the time needed to compare text from a caller. */
const NAME_LENGTH_MAX = 400;

/** An industry and the kind of name or code that it was found by. */
export interface IndustryMatch {
  readonly industry: Industry;
  readonly on: CompanyEcho["industry"]["matched_on"];
}

type Members = Readonly<Record<string, unknown>>;

/** Reads the members of a request one by one and collects their errors. */
export class RequestReader {
  readonly #members: Members;
  readonly #assumptions: Members;
  readonly #items: FaultItem[];
  /** Whether the input is an object, so that its members can be read. */
  readonly #isObject: boolean;

  constructor(
    input: unknown,
    of: { readonly schema: ValueSchema; readonly check: { Check(value: unknown): boolean } },
  ) {
    const { properties = {} } = of.schema;
    const skip = new Set(READ_MEMBERS.filter((name) => Object.hasOwn(properties, name)));
    this.#isObject = isPlainObject(input);
    this.#members = isPlainObject(input) ? input : {};
    this.#items =
      of.check.Check(input) && !this.#hasHoles()
        ? []
        : findSchemaErrors(of.schema, input, { name: "The request", skip });
    this.#assumptions = skip.has(ASSUMPTIONS) ? this.#readAssumptions() : {};
  }

  has(name: string): boolean {
    return this.#members[name] !== undefined;
  }

  text(name: string): string {
    const value = this.#members[name];
    return typeof value === "string" ? value : "";
  }

  amount(rule: AmountRule): number {
    const { name } = rule;
    if (this.has(name)) return this.optionalAmount(rule) ?? NaN;
    if (this.#isObject) this.#report(`/${name}`, "missing", `${name} is required and must be ${expectedAmount(rule)}.`);
    return NaN;
  }

  optionalAmount(rule: AmountRule): number | undefined {
    const { name, parent, min, max } = rule;
    const given = parent === undefined ? this.#members[name] : this.#assumptions[name];
    if (given === undefined) return undefined;
    const pointer = parent === undefined ? `/${name}` : `/${parent}/${name}`;
    const detail = `${name} must be ${expectedAmount(rule)} (got ${quote(given)}).`;
    const value = parseAmount(given);
    if (value === undefined) return this.#report(pointer, "wrong_type", detail);
    if (typeof given === "number" && !Number.isFinite(value)) return this.#report(pointer, "not_finite", detail);
    if (!(value >= min && value <= max)) return this.#report(pointer, "out_of_range", detail);
    if (rule.isInteger === true && !Number.isInteger(value)) return this.#report(pointer, "wrong_type", detail);
    // Adding 0 converts -0 to 0.
    return value + 0;
  }

  reported(): ReportedEmissions {
    return {
      scope1: this.optionalAmount(AMOUNTS.scope1),
      scope2: this.optionalAmount(AMOUNTS.scope2),
      scope3: this.optionalAmount(AMOUNTS.scope3),
      scope3Upstream: this.optionalAmount(AMOUNTS.scope3Upstream),
      scope3Downstream: this.optionalAmount(AMOUNTS.scope3Downstream),
    };
  }

  country(): Country {
    const given = this.#members["country"];
    if (typeof given !== "string") return COUNTRY_PLACEHOLDER;
    const match = matchCountry(nameIn(given));
    const country = match.kind === "found" ? countryByIso3(match.country.iso3) : undefined;
    if (country !== undefined) return country;
    if (match.kind === "ambiguous") {
      const nearest = match.candidates.map(({ name }) => name);
      const problem = `matches several countries: ${nearest.join("; ")}; send one of these names or an ISO 3166 code`;
      this.#reportUnknown("country", given, { problem, nearest });
    } else if (match.kind === "found") {
      const problem = `is a country without data on its economy; ${ACCEPTED_COUNTRIES}`;
      this.#reportUnknown("country", given, { problem, nearest: [] });
    } else if (given.trim() === "") {
      this.#reportUnknown("country", given, { problem: `is empty; ${ACCEPTED_COUNTRIES}`, nearest: [] });
    } else {
      const compared = given.slice(0, NAME_LENGTH_MAX);
      const nearest = nearestCountryNames(compared, { countries: COUNTRIES });
      const didYouMean = suggestCountryWithFigures(compared);
      const suggestion = didYouMean === undefined ? "" : ` (did you mean ${didYouMean}?)`;
      const problem = `is not a known country${suggestion}; the nearest are ${nearest.join("; ")}; ${ACCEPTED_COUNTRIES}`;
      this.#reportUnknown("country", given, { problem, didYouMean, nearest });
    }
    return COUNTRY_PLACEHOLDER;
  }

  industry(): IndustryMatch {
    const system = this.#classificationSystem();
    const given = this.#members["industry"];
    if (typeof given !== "string") return INDUSTRY_PLACEHOLDER;
    const match = matchIndustry(nameIn(given), system);
    if (match.kind === "found") {
      const on = match.matchedOn === "code" ? match.codeSystem : match.matchedOn;
      return { industry: industryById(match.industry.id), on };
    }
    this.#reportUnknown("industry", given, refuseIndustry(given.slice(0, NAME_LENGTH_MAX), match));
    return INDUSTRY_PLACEHOLDER;
  }

  #classificationSystem(): ClassificationSystem | undefined {
    const member = "industry_classification_system";
    const given = this.#members[member];
    if (typeof given !== "string") return undefined;
    const match = readSystem(given.slice(0, NAME_LENGTH_MAX));
    if (match.kind === "found") return match.system;
    const detail =
      match.kind === "other_edition"
        ? `${member}: ${quote(given)} is an edition whose codes are not supported; accepted are ${ACCEPTED_CODES}.`
        : `${member} must be one of ${CLASSIFICATION_SYSTEMS.join(", ")} (got ${quote(given)}).`;
    const meant = match.kind === "unknown" ? closestMatch(given, CLASSIFICATION_SYSTEMS) : undefined;
    this.#items.push({
      pointer: `/${member}`,
      code: "not_allowed",
      detail,
      allowed: CLASSIFICATION_SYSTEMS,
      ...(meant === undefined ? {} : { did_you_mean: meant }),
    });
    return undefined;
  }

  scenarios(): readonly TransitionScenario[] {
    const scenarios = new Set<TransitionScenario>();
    for (const [index, given] of this.#list("transition_scenarios").entries()) {
      if (typeof given !== "string") continue;
      const scenario = findScenario(given);
      if (scenario !== undefined) scenarios.add(scenario);
      else {
        const nearest = nearestScenarios(given);
        const didYouMean = suggestScenario(given);
        const suggestion = didYouMean === undefined ? "" : ` (did you mean ${didYouMean}?)`;
        this.#items.push({
          pointer: `/transition_scenarios/${index}`,
          code: "scenario_unknown",
          detail: `transition_scenarios: ${quote(given)} is not a known scenario${suggestion}; the nearest are ${nearest.join("; ")}.`,
          nearest,
          allowed: SCENARIO_IDS,
          ...(didYouMean === undefined ? {} : { did_you_mean: didYouMean }),
        });
        if (this.#items.length >= FAULT_ITEM_COUNT_MAX) break;
      }
    }
    return [...scenarios];
  }

  years(): readonly number[] {
    const years = this.#list("assessment_years").filter((year) => typeof year === "number");
    return [...new Set(years)].toSorted((one, other) => one - other);
  }

  /** Reads one of several names or their long forms; undefined if absent or invalid. */
  choice<Name extends string>(
    member: string,
    names: readonly Name[],
    longNames?: Readonly<Record<Name, string>>,
  ): Name | undefined {
    const given = this.#members[member];
    if (typeof given !== "string") return undefined;
    const folded = foldId(given);
    const found = names.find((name) => [name, longNames?.[name] ?? name].some((known) => foldId(known) === folded));
    if (found !== undefined) return found;
    const meant = closestMatch(given, names);
    const question = meant === undefined ? "." : `; did you mean ${meant}?`;
    this.#items.push({
      pointer: `/${member}`,
      code: "not_allowed",
      detail: `${member} must be one of ${names.join(", ")} (got ${quote(given)})${question}`,
      allowed: names,
      ...(meant === undefined ? {} : { did_you_mean: meant }),
    });
    return undefined;
  }

  /** Adds errors that the caller found in members without errors of their own. */
  add(items: readonly FaultItem[]): void {
    this.#items.push(...items);
  }

  throwIfInvalid(): void {
    if (this.#items.length === 0) return;
    const items = this.#items.slice(0, FAULT_ITEM_COUNT_MAX);
    const isSpecific = items.every(({ code }) => SPECIFIC_CODES.some((known) => known === code));
    const code = isSpecific ? SPECIFIC_CODES.find((known) => items.some((item) => item.code === known)) : undefined;
    throw new Fault(code ?? "invalid_request", summarizeItems(items, "the request"), { items });
  }

  #readAssumptions(): Members {
    const given = this.#members[ASSUMPTIONS];
    if (given === undefined) return {};
    if (!isPlainObject(given)) {
      const detail = `assumptions must be an object with ${ASSUMPTION_NAMES.join(", ")} (got ${quote(given)}).`;
      this.#report(`/${ASSUMPTIONS}`, "wrong_type", detail);
      return {};
    }
    this.#items.push(...findUnknownMembers(given, { known: ASSUMPTION_NAMES, pointer: `/${ASSUMPTIONS}` }));
    return given;
  }

  #list(name: string): readonly unknown[] {
    const value = this.#members[name];
    return Array.isArray(value) ? [...(value as readonly unknown[])] : [];
  }

  /** The compiled validator skips the holes of a sparse array. */
  #hasHoles(): boolean {
    return ["transition_scenarios", "assessment_years"].some((name) => this.#list(name).includes(undefined));
  }

  #report(pointer: string, code: FaultItem["code"], detail: string): undefined {
    this.#items.push({ pointer, code, detail });
  }

  #reportUnknown(member: "country" | "industry", given: string, { problem, didYouMean, nearest }: Refusal): void {
    this.#items.push({
      pointer: `/${member}`,
      code: `${member}_unknown`,
      detail: `${member}: ${quote(given)} ${problem}.`,
      ...(nearest.length === 0 ? {} : { nearest }),
      ...(didYouMean === undefined ? {} : { did_you_mean: didYouMean }),
    });
  }
}

/** Why a name is not accepted; `problem` completes a sentence that begins with the name. */
interface Refusal {
  readonly problem: string;
  readonly didYouMean?: string | undefined;
  readonly nearest: readonly string[];
}

const ACCEPTED_COUNTRIES =
  "accepted are ISO 3166 codes (two or three letters) and names of countries (GET /api/v1/reference/countries)";

/** Returns the nearest name of a country, unless it is that of a country without figures. */
function suggestCountryWithFigures(text: string): string | undefined {
  const suggested = suggestCountryName(text);
  const match = suggested === undefined ? undefined : matchCountry(suggested);
  return match?.kind === "found" && countryByIso3(match.country.iso3) !== undefined ? suggested : undefined;
}

/** Codes that the whole request gets if it has no other errors, in order of precedence. */
const SPECIFIC_CODES = [
  "country_unknown",
  "industry_unknown",
  "scenario_unknown",
  "combination_unavailable",
] as const satisfies FaultCode[];

// Placeholders for names that were not found; never returned, because `throwIfInvalid` throws first.
const COUNTRY_PLACEHOLDER = {} as Country;
const INDUSTRY_PLACEHOLDER = {} as IndustryMatch;

/** Returns the text without spaces around it; empty if it is too long to be a name. */
function nameIn(given: string): string {
  const name = given.trim();
  return name.length > NAME_LENGTH_MAX ? "" : name;
}

function isPlainObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
