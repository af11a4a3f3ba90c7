/** Section 1: checks, defaults and estimates of a request. */
import { DEFAULT_DISCOUNT_RATE, DEFAULT_LGD, FLOOR } from "./constants.ts";
import { findCountry, findIndustry, type IndustryMatch } from "./names.ts";
import { Refusal } from "./refusal.ts";
import type { Country, Industry, Scenario, Tables } from "./tables.ts";

export const DAMAGE_FUNCTIONS = ["ngfs4", "kalkuhl_wenz", "howard_sterner", "dice2016", "ngfs5_kotz"] as const;
export type DamageFunction = (typeof DAMAGE_FUNCTIONS)[number];
export const IAMS = ["remind", "messageix", "gcam"] as const;
export type Iam = (typeof IAMS)[number];

/** A number, or a string that holds one. */
export type Numeric = string | number;

/** A request as it is sent. */
export interface CompanyRequest {
  readonly name: string;
  readonly country: string;
  readonly industry: string;
  readonly revenue: Numeric;
  readonly total_assets?: Numeric;
  readonly ebitda?: Numeric;
  readonly total_debt?: Numeric;
  readonly transition_scenarios: readonly string[];
  readonly assessment_years: readonly number[];
  readonly scope1?: Numeric;
  readonly scope2?: Numeric;
  readonly scope3?: Numeric;
  readonly scope3_upstream?: Numeric;
  readonly scope3_downstream?: Numeric;
  readonly total_liabilities?: Numeric;
  readonly damage_function?: string;
  readonly iam?: string;
  readonly pd?: Numeric;
  readonly exposure?: Numeric;
  readonly lgd?: Numeric;
  readonly assumptions?: {
    readonly discount_rate?: Numeric;
    readonly shock_year?: Numeric;
    readonly pass_through?: Numeric;
  };
}

export interface Assumptions {
  readonly discountRate: number;
  readonly shockYear: number;
  readonly passThrough: number | undefined;
  readonly damageFunction: DamageFunction;
  readonly iam: Iam;
}

/** Reported emissions, t CO2e a year; undefined = not reported. */
export interface ReportedScopes {
  readonly scope1: number | undefined;
  readonly scope2: number | undefined;
  readonly scope3: number | undefined;
  readonly scope3Upstream: number | undefined;
  readonly scope3Downstream: number | undefined;
}

export interface Figures {
  readonly revenue: number;
  readonly totalAssets: number;
  /** As sent or estimated. */
  readonly ebitda: number;
  readonly totalDebt: number;
  /** B. */
  readonly normalizedEbitda: number;
  readonly estimated: readonly ("total_assets" | "ebitda" | "total_debt")[];
}

/** A request that passed the checks. */
export interface CheckedRequest {
  readonly name: string;
  readonly country: Country;
  readonly industryMatch: IndustryMatch;
  readonly figures: Figures;
  readonly scenarios: readonly Scenario[];
  readonly years: readonly number[];
  readonly reported: ReportedScopes;
  readonly totalLiabilities: number | undefined;
  readonly assumptions: Assumptions;
  readonly ownPd: number | undefined;
  readonly exposure: number | undefined;
  readonly lgd: number;
}

const MONEY_MAX = 1e15;
/** Largest reported emissions, t: more than the world emits. */
const EMISSIONS_MAX = 6e10;

/** Checks a request and fills in defaults and estimates; throws a `Refusal`. */
export function checkRequest(tables: Tables, request: CompanyRequest): CheckedRequest {
  if (typeof request.name !== "string") throw invalid("name must be a string");
  const country = findCountry(tables, request.country);
  const industryMatch = findIndustry(tables, request.industry);
  const assumptions = request.assumptions ?? {};
  const emissions = (member: keyof CompanyRequest): number | undefined =>
    optional(request[member] as Numeric | undefined, member, 0, EMISSIONS_MAX);
  const shockYear = optional(assumptions.shock_year, "shock_year", 2025, 2100) ?? 2025;
  if (!Number.isInteger(shockYear)) throw invalid(`shock_year must be an integer (got ${shockYear})`);
  return {
    name: request.name,
    country,
    industryMatch,
    figures: figuresOf(request, industryMatch.industry),
    scenarios: scenariosOf(tables, request.transition_scenarios),
    years: yearsOf(request.assessment_years),
    reported: {
      scope1: emissions("scope1"),
      scope2: emissions("scope2"),
      scope3: emissions("scope3"),
      scope3Upstream: emissions("scope3_upstream"),
      scope3Downstream: emissions("scope3_downstream"),
    },
    totalLiabilities: optional(request.total_liabilities, "total_liabilities", 0, MONEY_MAX),
    assumptions: {
      discountRate: optional(assumptions.discount_rate, "discount_rate", 0, 0.3) ?? DEFAULT_DISCOUNT_RATE,
      shockYear,
      passThrough: optional(assumptions.pass_through, "pass_through", 0, 1),
      damageFunction: oneOf(DAMAGE_FUNCTIONS, request.damage_function, "damage_function") ?? "ngfs4",
      iam: oneOf(IAMS, request.iam, "iam") ?? "remind",
    },
    ownPd: optional(request.pd, "pd", 0, 1),
    exposure: optional(request.exposure, "exposure", 0, MONEY_MAX),
    lgd: optional(request.lgd, "lgd", 0, 1) ?? DEFAULT_LGD,
  };
}

/** B = max(ebitda, FLOOR * ebitda_margin * revenue). */
export function normalizedEbitda(ebitda: number, industry: Industry, revenue: number): number {
  return Math.max(ebitda, FLOOR * industry.ebitda_margin * revenue);
}

/** Money as sent; omitted members are estimated in the order assets, EBITDA, debt. */
function figuresOf(request: CompanyRequest, industry: Industry): Figures {
  const revenue = parseNumber(request.revenue, "revenue");
  if (!(revenue > 0 && revenue <= MONEY_MAX))
    throw invalid(`revenue must be above 0 and at most 1e15 (got ${revenue})`);
  const sentAssets = optional(request.total_assets, "total_assets", 0, MONEY_MAX);
  if (sentAssets === 0) throw invalid("total_assets must be above 0 (got 0)");
  const sentEbitda = optional(request.ebitda, "ebitda", -MONEY_MAX, MONEY_MAX);
  const sentDebt = optional(request.total_debt, "total_debt", 0, MONEY_MAX);
  const totalAssets = sentAssets ?? industry.assets_to_revenue * revenue;
  const ebitda = sentEbitda ?? industry.ebitda_margin * revenue;
  const totalDebt = sentDebt ?? industry.debt_to_assets * totalAssets;
  const estimated: Figures["estimated"][number][] = [];
  if (sentAssets === undefined) estimated.push("total_assets");
  if (sentEbitda === undefined) estimated.push("ebitda");
  if (sentDebt === undefined) estimated.push("total_debt");
  const normalized = normalizedEbitda(ebitda, industry, revenue);
  return { revenue, totalAssets, ebitda, totalDebt, normalizedEbitda: normalized, estimated };
}

/** 1 to 21 known ids, order kept, duplicates removed; case, `-`, `_` and spaces do not matter. */
function scenariosOf(tables: Tables, sent: readonly string[]): Scenario[] {
  if (!Array.isArray(sent) || sent.length < 1) throw invalid("transition_scenarios must hold 1 to 21 ids");
  const plain = (id: string): string => id.toLowerCase().replaceAll(/[-_\s]/g, "");
  const found = sent.map((id) => {
    const scenario = tables.scenarios.find((candidate) => plain(candidate.scenario_id) === plain(String(id)));
    if (scenario !== undefined) return scenario;
    const known = tables.scenarios.map(({ scenario_id }) => scenario_id);
    throw new Refusal("scenario_unknown", 422, `scenario "${id}" is unknown`, known);
  });
  return [...new Set(found)];
}

/** Integers 2025 to 2100, 1 to 76 of them, duplicates removed, ascending. */
function yearsOf(sent: readonly number[]): number[] {
  if (!Array.isArray(sent) || sent.length < 1) throw invalid("assessment_years must hold 1 to 76 years");
  for (const year of sent) {
    if (!Number.isInteger(year) || year < 2025 || year > 2100) {
      throw invalid(`assessment_years must be integers from 2025 to 2100 (got ${String(year)})`);
    }
  }
  return [...new Set(sent)].toSorted((a, b) => a - b);
}

function oneOf<T extends string>(known: readonly T[], sent: string | undefined, member: string): T | undefined {
  if (sent === undefined) return undefined;
  const found = known.find((item) => item === sent);
  if (found === undefined) throw invalid(`${member} must be one of ${known.join(", ")} (got ${sent})`);
  return found;
}

function optional(sent: Numeric | undefined, member: string, min: number, max: number): number | undefined {
  if (sent === undefined) return undefined;
  const value = parseNumber(sent, member);
  if (!(value >= min && value <= max)) throw invalid(`${member} must be from ${min} to ${max} (got ${value})`);
  return value;
}

/** A JSON number, or a trimmed string of the form `-?\d+(\.\d+)?([eE][+-]?\d+)?`. */
function parseNumber(sent: unknown, member: string): number {
  const isPlain = typeof sent === "string" && /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(sent.trim());
  const value = isPlain ? Number(sent.trim()) : sent;
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw invalid(`${member} must be a number or a string that holds one (got ${JSON.stringify(sent)})`);
  }
  return value;
}

function invalid(message: string): Refusal {
  return new Refusal("invalid", 400, message);
}
