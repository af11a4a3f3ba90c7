import type { TSchema } from "typebox";
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultCode, type FaultItem } from "../errors.ts";
import { closestMatch, findSchemaErrors, quote, summarizeItems } from "../schemaErrors.ts";
import type { Country } from "./countryFigures.ts";
import { findCountry } from "./countryLookup.ts";
import type { ReportedEmissions } from "./emissions.ts";
import { findIndustry, type IndustryMatch } from "./industryLookup.ts";
import { findScenario, foldId, nearestScenarios, type TransitionScenario, SCENARIO_IDS } from "./scenarios.ts";

/** Upper bound of all amounts of money and emissions. */
const AMOUNT_MAX = 1e15;

interface AmountRule {
  readonly name: string;
  readonly min: number;
  /** `min` itself is not allowed. */
  readonly isMinExclusive?: true;
}

/** The amounts of a request: members that are numbers, or strings that contain one. */
export const AMOUNTS = {
  revenue: { name: "revenue", min: 0, isMinExclusive: true },
  totalAssets: { name: "total_assets", min: 0, isMinExclusive: true },
  ebitda: { name: "ebitda", min: -AMOUNT_MAX },
  totalDebt: { name: "total_debt", min: 0 },
  scope1: { name: "scope1", min: 0 },
  scope2: { name: "scope2", min: 0 },
  scope3: { name: "scope3", min: 0 },
  totalLiabilities: { name: "total_liabilities", min: 0 },
} as const satisfies Record<string, AmountRule>;
const AMOUNT_NAMES: ReadonlySet<string> = new Set(Object.values(AMOUNTS).map(({ name }) => name));

const AMOUNT = /^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

/** Reads the members of a request one by one and collects their errors. */
export class RequestReader {
  readonly #members: Readonly<Record<string, unknown>>;
  readonly #items: FaultItem[];
  /** Members with an error from the schema check, which are not examined further. */
  readonly #reportedMembers: ReadonlySet<string>;

  constructor(input: unknown, of: { readonly schema: TSchema; readonly check: { Check(value: unknown): boolean } }) {
    const isObject = typeof input === "object" && input !== null && !Array.isArray(input);
    this.#members = isObject ? (input as Readonly<Record<string, unknown>>) : {};
    this.#items =
      of.check.Check(input) && !this.#hasHoles()
        ? []
        : findSchemaErrors(of.schema, input, { name: "The request", skip: AMOUNT_NAMES });
    this.#reportedMembers = isObject
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
    if (!this.#reportedMembers.has(rule.name)) {
      this.#report(rule.name, "missing", `${rule.name} is required and must be ${expectedAmount(rule)}.`);
    }
    return NaN;
  }

  optionalAmount(rule: AmountRule): number | undefined {
    const { name, min } = rule;
    const given = this.#members[name];
    if (given === undefined || this.#reportedMembers.has(name)) return undefined;
    const detail = `${name} must be ${expectedAmount(rule)} (got ${quote(given)}).`;
    const value = typeof given === "string" ? parseAmount(given) : given;
    if (typeof value !== "number") return this.#report(name, "wrong_type", detail);
    if (typeof given === "number" && !Number.isFinite(value)) return this.#report(name, "not_finite", detail);
    const isWithin = value >= min && value <= AMOUNT_MAX && !(rule.isMinExclusive === true && value === min);
    // Adding 0 converts -0 to 0.
    return isWithin ? value + 0 : this.#report(name, "out_of_range", detail);
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
    if (typeof given !== "string") return COUNTRY_PLACEHOLDER;
    const found = findCountry(given);
    if ("iso3" in found) return found;
    const why = found.isUnsupported ? "is a country without data" : "is not a known country";
    this.#reportUnknown("/country", "country_unknown", `country: ${quote(given)} ${why}`, found.nearest);
    return COUNTRY_PLACEHOLDER;
  }

  industry(): IndustryMatch {
    const given = this.#members["industry"];
    if (typeof given !== "string") return INDUSTRY_PLACEHOLDER;
    const found = findIndustry(given);
    if ("industry" in found) return found;
    const why = found.isCode ? "is a code of more than one industry" : "is not a known industry";
    this.#reportUnknown("/industry", "industry_unknown", `industry: ${quote(given)} ${why}`, found.nearest);
    return INDUSTRY_PLACEHOLDER;
  }

  scenarios(): readonly TransitionScenario[] {
    const scenarios = new Set<TransitionScenario>();
    // Longer lists are rejected by the schema; limiting the lookups bounds the time that an invalid request takes.
    const list = this.#list("transition_scenarios").slice(0, SCENARIO_IDS.length);
    for (const [index, given] of list.entries()) {
      if (typeof given !== "string") continue;
      const scenario = findScenario(given);
      if (scenario !== undefined) scenarios.add(scenario);
      else {
        const detail = `transition_scenarios: ${quote(given)} is not a known scenario`;
        const names = nearestScenarios(given);
        this.#reportUnknown(`/transition_scenarios/${index}`, "scenario_unknown", detail, names, {
          allowed: SCENARIO_IDS,
        });
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

  throwIfInvalid(): void {
    if (this.#items.length === 0) return;
    const items = this.#items.slice(0, FAULT_ITEM_COUNT_MAX);
    const isUnknown = items.every(({ code }) => UNKNOWN_CODES.some((known) => known === code));
    const code = isUnknown ? UNKNOWN_CODES.find((known) => items.some((item) => item.code === known)) : undefined;
    throw requestFault(code ?? "invalid_request", items);
  }

  #list(name: string): readonly unknown[] {
    const value = this.#members[name];
    return Array.isArray(value) ? [...(value as readonly unknown[])] : [];
  }

  /** The compiled validator skips the holes of a sparse array. */
  #hasHoles(): boolean {
    return ["transition_scenarios", "assessment_years"].some((name) => this.#list(name).includes(undefined));
  }

  #report(name: string, code: FaultItem["code"], detail: string): undefined {
    this.#items.push({ pointer: `/${name}`, code, detail });
  }

  #reportUnknown(
    pointer: string,
    code: FaultItem["code"],
    what: string,
    names: readonly string[],
    more: Pick<FaultItem, "allowed"> = {},
  ): void {
    const detail = `${what}; the nearest are ${names.join("; ")}.`;
    this.#items.push({ pointer, code, detail, nearest: names, ...more });
  }
}

const UNKNOWN_CODES = ["country_unknown", "industry_unknown", "scenario_unknown"] as const satisfies FaultCode[];

// Placeholders for names that were not found; never returned, because `throwIfInvalid` throws first.
const COUNTRY_PLACEHOLDER = {} as Country;
const INDUSTRY_PLACEHOLDER = {} as IndustryMatch;

function parseAmount(text: string): number | undefined {
  const trimmed = text.trim();
  return AMOUNT.test(trimmed) ? Number(trimmed) : undefined;
}

/** Describes the accepted values, to follow "must be". */
function expectedAmount({ min, isMinExclusive }: AmountRule): string {
  const kind = "a number, or a string with one (no separators),";
  if (isMinExclusive === true) return `${kind} above ${min} and at most ${AMOUNT_MAX}`;
  return `${kind} between ${min} and ${AMOUNT_MAX}`;
}

/** Creates the fault for the errors of a request. */
export function requestFault(code: FaultCode, items: readonly FaultItem[]): Fault {
  return new Fault(code, summarizeItems(items, "the request"), { items });
}
