import { type Static, type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultCode, type FaultItem } from "../errors.ts";
import { explain, nearest, quote } from "../explain.ts";
import { BASE_YEAR, LAST_YEAR } from "./conventions.ts";
import { type Country, findCountry } from "./countries.ts";
import type { ReportedEmissions } from "./emissions.ts";
import { findIndustry, type IndustryMatch } from "./industries.ts";
import { DAMAGE_FUNCTIONS, type DamageFunction } from "./physical.ts";
import {
  hasPrices,
  isPriceKnown,
  PRICE_MODEL_IDS,
  PRICE_MODELS,
  type PriceModel,
  shocksOf,
  variantsOf,
} from "./prices.ts";
import { findScenario, foldId, nearestScenarios, type Scenario, SCENARIO_IDS } from "./scenarios.ts";

/** No amount of money and no emissions may be larger. */
const AMOUNT_MAX = 1e15;

/** An amount as text or as a number; what it may be is told by `AMOUNTS`, since text has no range. */
const amount = (description: string) => Type.Union([Type.Number(), Type.String()], { description });
const money = (what: string) => amount(`${what}, USD of 2025, as text or as a number; at most 1e15 in size.`);
const tonnes = (what: string) =>
  Type.Optional(amount(`${what} as reported, t CO2e a year, 0 or more. Without it the model's.`));

const NAMES = {
  country: Type.String({ description: "ISO 3166 alpha-3 or alpha-2 code, or name." }),
  industry: Type.String({
    description: "Id or name (GET /api/v1/reference/industries), or a code: ISIC 2410, NACE 24.10, NAICS 331110.",
  }),
};
const REPORTED = {
  scope1: tonnes("Direct emissions"),
  scope2: tonnes("Emissions of bought energy"),
  scope3: tonnes("Emissions up and down the value chain, together,"),
};

/** A company and what is asked about it: one definition for the type, the check and the published contract. */
export const CompanyRequestSchema = Type.Object(
  {
    name: Type.String({ description: "As the answer shall call the company." }),
    ...NAMES,
    revenue: money("Revenue a year, above 0"),
    total_assets: money("Total assets, above 0"),
    ebitda: money("EBITDA a year, of any sign"),
    total_debt: money("Financial debt, 0 or more"),
    transition_scenarios: Type.Array(Type.String(), {
      minItems: 1,
      maxItems: SCENARIO_IDS.length,
      description:
        "Ids (GET /api/v1/reference/scenarios); case, -, _ and spaces do not count. The answer keeps their order, each once.",
    }),
    assessment_years: Type.Array(Type.Integer({ minimum: BASE_YEAR, maximum: LAST_YEAR }), {
      minItems: 1,
      maxItems: LAST_YEAR - BASE_YEAR + 1,
      description: "The answer has each once, in ascending order.",
    }),
    ...REPORTED,
    total_liabilities: Type.Optional(
      money(
        "Of a bank or insurer: all it owes, deposits and reserves too, 0 or more. Needed for its chance of default",
      ),
    ),
    damage_function: Type.Optional(
      Type.String({
        default: DAMAGE_FUNCTIONS[0],
        description: `How output falls with warming: ${DAMAGE_FUNCTIONS.join(", ")}. The source of ngfs5_kotz was retracted in December 2025.`,
      }),
    ),
    iam: Type.Optional(
      Type.String({
        default: PRICE_MODEL_IDS[0],
        description: `The model whose NGFS prices count first: ${PRICE_MODEL_IDS.join(", ")}. Only the first has all scenarios, and years after 2060.`,
      }),
    ),
  },
  { additionalProperties: false },
);

/** What emissions are estimated from. */
export const EmissionsRequestSchema = Type.Object(
  {
    name: Type.Optional(Type.String({ description: "As the answer shall call the company." })),
    ...NAMES,
    revenue: money("Revenue a year, above 0"),
    total_assets: Type.Optional(money("Total assets, above 0. Needed for what a bank finances")),
    ...REPORTED,
  },
  { additionalProperties: false },
);

type Frozen<Members> = {
  readonly [Member in keyof Members]: Members[Member] extends (infer Item)[] ? readonly Item[] : Members[Member];
};

/**
 * A company and what is asked about it, as the caller writes it: in the library as on the wire.
 *
 * - money in real USD of 2025, emissions in t CO2e a year; numbers, or text that holds one
 * - `revenue` and `total_assets` above 0, `total_debt` 0 or more, `ebitda` of any sign; nothing above 1e15 in size
 * - `transition_scenarios`: 1 to 21 ids; `assessment_years`: whole years from 2025 to 2100
 * - `scope1`, `scope2`, `scope3`: as reported; without them the model's
 * - `total_liabilities`: of banks and insurers, whose debt leaves out deposits and reserves
 * - `damage_function`: `kalkuhl_wenz` (default), `howard_sterner`, `dice2016`, `ngfs5_kotz` (source retracted)
 * - `iam`: `remind` (default), `messageix`, `gcam`: whose NGFS prices count first
 */
export type CompanyRequest = Frozen<Static<typeof CompanyRequestSchema>>;

/** What emissions are estimated from, written as in a `CompanyRequest`. */
export type EmissionsRequest = Frozen<Static<typeof EmissionsRequestSchema>>;

/** What a company is and emits, checked. */
export interface Emitter {
  readonly name: string | undefined;
  readonly country: Country;
  readonly industry: IndustryMatch;
  readonly revenueUsd: number;
  readonly totalAssetsUsd: number | undefined;
  readonly reported: ReportedEmissions;
}

/** A checked request, with nothing left open. */
export interface Company extends Emitter {
  readonly name: string;
  readonly totalAssetsUsd: number;
  readonly ebitdaUsd: number;
  readonly totalDebtUsd: number;
  readonly totalLiabilitiesUsd: number | undefined;
  /** Each once, in the order asked for. */
  readonly scenarios: readonly Scenario[];
  /** Each once, ascending. */
  readonly years: readonly number[];
  readonly damageFunction: DamageFunction;
  readonly iam: PriceModel;
}

interface AmountRule {
  readonly name: string;
  readonly least: number;
  /** `least` itself is not allowed. */
  readonly isLeastExcluded?: true;
  readonly isOptional?: true;
}

const AMOUNTS = {
  revenue: { name: "revenue", least: 0, isLeastExcluded: true },
  totalAssets: { name: "total_assets", least: 0, isLeastExcluded: true },
  ebitda: { name: "ebitda", least: -AMOUNT_MAX },
  totalDebt: { name: "total_debt", least: 0 },
  scope1: { name: "scope1", least: 0, isOptional: true },
  scope2: { name: "scope2", least: 0, isOptional: true },
  scope3: { name: "scope3", least: 0, isOptional: true },
  totalLiabilities: { name: "total_liabilities", least: 0, isOptional: true },
} as const satisfies Record<string, AmountRule>;
const AMOUNT_NAMES: ReadonlySet<string> = new Set(Object.values(AMOUNTS).map(({ name }) => name));

/**
 * Checks a request.
 *
 * @returns a new object; nothing of it is shared with the input
 * @throws Fault with everything that is wrong, up to 100 items, each with a JSON pointer: `country_unknown`,
 *   `industry_unknown`, `scenario_unknown` (the first that applies) where only names are not known,
 *   `combination_unavailable` where the model asked for has no prices of a scenario or year, else `invalid_request`
 */
export function readCompanyRequest(input: unknown): Company {
  const reading = new Reading(input, { schema: CompanyRequestSchema, check: compiledCompany });
  const company = {
    name: reading.text("name"),
    country: reading.country(),
    industry: reading.industry(),
    revenueUsd: reading.amount(AMOUNTS.revenue),
    totalAssetsUsd: reading.amount(AMOUNTS.totalAssets),
    ebitdaUsd: reading.amount(AMOUNTS.ebitda),
    totalDebtUsd: reading.amount(AMOUNTS.totalDebt),
    reported: reading.reported(),
    totalLiabilitiesUsd: reading.optionalAmount(AMOUNTS.totalLiabilities),
    scenarios: reading.scenarios(),
    years: reading.years(),
    damageFunction: reading.choice("damage_function", DAMAGE_FUNCTIONS) ?? DAMAGE_FUNCTIONS[0],
    iam: reading.choice("iam", PRICE_MODEL_IDS, PRICE_MODELS) ?? "remind",
  };
  reading.throwIfAny();
  throwIfWithoutPrices(company);
  return company;
}

/** The same for what emissions are estimated from. */
export function readEmissionsRequest(input: unknown): Emitter {
  const reading = new Reading(input, { schema: EmissionsRequestSchema, check: compiledEmissions });
  const emitter = {
    name: reading.has("name") ? reading.text("name") : undefined,
    country: reading.country(),
    industry: reading.industry(),
    revenueUsd: reading.amount(AMOUNTS.revenue),
    totalAssetsUsd: reading.optionalAmount(AMOUNTS.totalAssets),
    reported: reading.reported(),
  };
  reading.throwIfAny();
  return emitter;
}

/** How many results a request is answered with: scenarios x years, each once. */
export function countCompanyResults({ scenarios, years }: Pick<Company, "scenarios" | "years">): number {
  return scenarios.length * years.length;
}

/** Two of the models have prices of some scenarios only, and not of all years. */
function throwIfWithoutPrices({ iam, country: { region }, scenarios, years }: Company): void {
  const model = PRICE_MODELS[iam];
  const items: FaultItem[] = [];
  for (const { id, family, pricePath } of scenarios) {
    if (family === "IPCC") continue;
    if (!hasPrices(pricePath, { variant: iam, region })) {
      const detail = `${model} has no prices of ${id}; leave iam out, or the scenario.`;
      items.push({ pointer: "/iam", code: "combination_unavailable", detail, allowed: variantsOf(pricePath, region) });
      continue;
    }
    const prices = shocksOf(pricePath, { variant: iam, region });
    const late = years.filter((year) => !isPriceKnown(prices, year));
    if (late.length === 0) continue;
    const detail = `${model} has no prices of ${id} in ${late.join(", ")}; leave iam out, or those years.`;
    items.push({ pointer: "/iam", code: "combination_unavailable", detail });
  }
  if (items.length > 0) throw new Fault("combination_unavailable", summary(items), { items });
}

const compiledCompany = Compile(CompanyRequestSchema);
const compiledEmissions = Compile(EmissionsRequestSchema);

const NUMBER = /^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

/** Reads the members of a request one by one and gathers what is wrong with them. */
class Reading {
  readonly #members: Readonly<Record<string, unknown>>;
  readonly #items: FaultItem[];
  /** Members whose kind is wrong, which nobody needs to look into. */
  readonly #refused: ReadonlySet<string>;

  constructor(input: unknown, of: { readonly schema: TSchema; readonly check: { Check(value: unknown): boolean } }) {
    const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
    this.#members = isObject ? (input as Readonly<Record<string, unknown>>) : {};
    this.#items =
      of.check.Check(input) && !this.#hasHoles()
        ? []
        : explain(of.schema, input, { name: "The request", skip: AMOUNT_NAMES });
    this.#refused = isObject
      ? new Set(this.#items.map(({ pointer = "" }) => pointer.split("/")[1] ?? ""))
      : new Set(["name", "country", "industry", ...AMOUNT_NAMES, "transition_scenarios", "assessment_years"]);
  }

  has(name: string): boolean {
    return this.#members[name] !== undefined;
  }

  text(name: string): string {
    const value = this.#members[name];
    return typeof value === "string" ? value : "";
  }

  amount(rule: AmountRule): number {
    if (this.has(rule.name)) return this.optionalAmount(rule) ?? NaN;
    if (!this.#refused.has(rule.name)) {
      this.#refuse(rule.name, "missing", `${rule.name} is missing; give ${expectedAmount(rule)}.`);
    }
    return NaN;
  }

  optionalAmount(rule: AmountRule): number | undefined {
    const { name, least } = rule;
    const given = this.#members[name];
    if (given === undefined || this.#refused.has(name)) return undefined;
    const wrong = `${name} must be ${expectedAmount(rule)}, not ${quote(given)}.`;
    const value = typeof given === "string" ? numberOf(given) : given;
    if (typeof value !== "number") return this.#refuse(name, "wrong_type", wrong);
    if (typeof given === "number" && !Number.isFinite(value)) return this.#refuse(name, "not_finite", wrong);
    const isWithin = value >= least && value <= AMOUNT_MAX && !(rule.isLeastExcluded === true && value === least);
    // Adding 0 turns -0 into 0.
    return isWithin ? value + 0 : this.#refuse(name, "out_of_range", wrong);
  }

  reported(): ReportedEmissions {
    return {
      scope1: this.optionalAmount(AMOUNTS.scope1),
      scope2: this.optionalAmount(AMOUNTS.scope2),
      scope3: this.optionalAmount(AMOUNTS.scope3),
    };
  }

  country(): Country {
    const given = this.#members["country"];
    if (typeof given !== "string") return NO_COUNTRY;
    const found = findCountry(given);
    if ("iso3" in found) return found;
    const why = found.isWithoutFigures ? "has no figures to compute with" : "is not a country that is known";
    this.#unknown("/country", "country_unknown", `country: ${quote(given)} ${why}`, found.nearest);
    return NO_COUNTRY;
  }

  industry(): IndustryMatch {
    const given = this.#members["industry"];
    if (typeof given !== "string") return NO_INDUSTRY;
    const found = findIndustry(given);
    if ("industry" in found) return found;
    const why = found.isCode ? "is a code of more than one industry" : "is not an industry that is known";
    this.#unknown("/industry", "industry_unknown", `industry: ${quote(given)} ${why}`, found.nearest);
    return NO_INDUSTRY;
  }

  scenarios(): readonly Scenario[] {
    const scenarios = new Set<Scenario>();
    for (const [index, given] of this.#list("transition_scenarios").entries()) {
      if (typeof given !== "string") continue;
      const scenario = findScenario(given);
      if (scenario !== undefined) scenarios.add(scenario);
      else {
        const detail = `transition_scenarios: ${quote(given)} is not a scenario that is known`;
        const names = nearestScenarios(given);
        this.#unknown(`/transition_scenarios/${index}`, "scenario_unknown", detail, names, { allowed: SCENARIO_IDS });
      }
    }
    return [...scenarios];
  }

  years(): readonly number[] {
    const years = this.#list("assessment_years").filter((year) => typeof year === "number");
    return [...new Set(years)].toSorted((one, other) => one - other);
  }

  /** One of a few names, or of the longer names that some of them have; undefined where there is none. */
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
    const meant = nearest(given, names);
    const question = meant === undefined ? "." : `; did you mean ${meant}?`;
    this.#items.push({
      pointer: `/${member}`,
      code: "not_allowed",
      detail: `${member}: ${quote(given)} is not one of ${names.join(", ")}${question}`,
      allowed: names,
      ...(meant === undefined ? {} : { did_you_mean: meant }),
    });
    return undefined;
  }

  throwIfAny(): void {
    if (this.#items.length === 0) return;
    const items = this.#items.slice(0, FAULT_ITEM_COUNT_MAX);
    const isUnknown = items.every(({ code }) => UNKNOWN_CODES.some((known) => known === code));
    const code = isUnknown ? UNKNOWN_CODES.find((known) => items.some((item) => item.code === known)) : undefined;
    throw new Fault(code ?? "invalid_request", summary(items), { items });
  }

  #list(name: string): readonly unknown[] {
    const value = this.#members[name];
    return Array.isArray(value) ? [...(value as readonly unknown[])] : [];
  }

  /** A compiled check steps over the holes of a sparse array. */
  #hasHoles(): boolean {
    return ["transition_scenarios", "assessment_years"].some((name) => this.#list(name).includes(undefined));
  }

  #refuse(name: string, code: FaultItem["code"], detail: string): undefined {
    this.#items.push({ pointer: `/${name}`, code, detail });
  }

  #unknown(
    pointer: string,
    code: FaultItem["code"],
    what: string,
    names: readonly string[],
    more: Pick<FaultItem, "allowed"> = {},
  ): void {
    const detail = `${what}; nearest are ${names.join("; ")}.`;
    this.#items.push({ pointer, code, detail, nearest: names, ...more });
  }
}

const UNKNOWN_CODES = ["country_unknown", "industry_unknown", "scenario_unknown"] as const satisfies FaultCode[];

// What stands for a name that was not found; `throwIfAny` never lets it out.
const NO_COUNTRY = {} as Country;
const NO_INDUSTRY = {} as IndustryMatch;

function numberOf(text: string): number | undefined {
  const trimmed = text.trim();
  return NUMBER.test(trimmed) ? Number(trimmed) : undefined;
}

/** What would be right, as it reads after "must be" and "give". */
function expectedAmount({ least, isLeastExcluded }: AmountRule): string {
  const kind = "a number, or text that holds one (digits, no separators),";
  if (isLeastExcluded === true) return `${kind} above ${least} and at most ${AMOUNT_MAX}`;
  return `${kind} from ${least} to ${AMOUNT_MAX}`;
}

function summary(items: readonly FaultItem[]): string {
  const first = items[0]?.detail ?? "";
  if (items.length === 1) return first;
  const count = items.length === FAULT_ITEM_COUNT_MAX ? `At least ${items.length}` : String(items.length);
  return `${count} things are wrong with the request. The first: ${first}`;
}
