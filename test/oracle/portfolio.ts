/**
 * Reference implementation of portfolio aggregation, method version 1, written from the method text alone: one function
 * per numbered equation, nothing shared with the engine. Holdings come with ready-made scores; portfolioEntities.ts
 * beside it scores entities first.
 */

export const METHODS = ["WATS", "TETS", "MOTS", "EOTS", "ECOTS", "AOTS", "ROTS"] as const;
export type Method = (typeof METHODS)[number];
export const SCOPES = ["s1s2", "s3", "s1s2s3"] as const;
export type Scope = (typeof SCOPES)[number];
type PcafScope = "s1s2" | "s3";

/** °C; `low` and `high` are both given or both absent. */
interface ScoreInterval {
  readonly t: number;
  readonly low?: number;
  readonly high?: number;
}
export type Score = number | ScoreInterval;

export interface Holding {
  readonly id: string;
  readonly issuer?: string | null;
  /** V. */
  readonly value: number;
  readonly currency?: string | null;
  readonly temperature?: Readonly<Partial<Record<Scope, Score | null>>> | null;
  readonly scope1?: number | null;
  readonly scope2?: number | null;
  readonly scope3?: number | null;
  readonly market_cap?: number | null;
  readonly enterprise_value?: number | null;
  readonly cash?: number | null;
  readonly evic?: number | null;
  readonly total_assets?: number | null;
  readonly revenue?: number | null;
  readonly equity?: number | null;
  readonly debt?: number | null;
  readonly data_quality?: Readonly<Partial<Record<PcafScope, number | null>>> | null;
  readonly budget?: { readonly allowed: number; readonly projected: number } | null;
  readonly groups?: Readonly<Record<string, string>> | null;
}

export interface AggregationOptions {
  readonly method: Method;
  readonly scope: Scope;
  /** °C. */
  readonly goal?: number;
  readonly groupBy?: readonly string[];
  /** °C; used for holdings without score only where given. */
  readonly defaultScore?: number;
  /** °C, default 1.3. */
  readonly missingLow?: number;
  /** °C, default 3.2. */
  readonly missingHigh?: number;
}

type UncoveredReason =
  "emissions_missing" | "emissions_negative" | "denominator_missing" | "denominator_not_positive" | "score_missing";

interface Interval {
  readonly low: number;
  readonly high: number;
}

interface Coverage {
  readonly holdings: number;
  readonly value: number;
  readonly weight: number;
}

interface Contribution {
  readonly id: string;
  readonly weight: number;
  readonly temperature: number;
  readonly contribution: number;
  readonly share: number;
  readonly aboveGoal: number | null;
  readonly without: number | null;
}

interface Group {
  readonly group: string;
  readonly temperature: number | null;
  readonly coverage: Coverage;
  readonly weight: number;
  readonly contribution: number;
  /** Where the portfolio has no temperature: why the group has none. */
  readonly reason?: UncoveredReason | "no_weight";
}

export interface Aggregate {
  readonly method: Method;
  readonly scope: Scope;
  readonly coverage: Coverage;
  readonly uncovered: readonly { readonly id: string; readonly reason: UncoveredReason }[];
  /** Null where nothing has a weight (`no_weight`); then there are no figures either. */
  readonly temperature: number | null;
  /** Null where neither the scored holdings nor those of `score_missing` have a weight. */
  readonly bounds: (Interval & { readonly complete: boolean }) | null;
  readonly groups: Readonly<Record<string, readonly Group[]>>;
  readonly figures: {
    readonly range: Interval;
    readonly rangeIndependent: Interval;
    readonly rangeCoverage: number;
    /** Null without a default score. */
    readonly defaultShare: number | null;
    readonly contributions: readonly Contribution[];
  } | null;
}

/** Section 2: lines of one issuer become one holding named after the issuer, in order of first appearance. */
export function mergedHoldings(lines: readonly Holding[]): readonly Holding[] {
  const merged = new Map<string, Holding>();
  for (const line of lines) {
    const issuer = line.issuer ?? line.id;
    const first = merged.get(issuer);
    merged.set(issuer, first === undefined ? { ...line, id: issuer } : { ...first, value: first.value + line.value });
  }
  return [...merged.values()];
}

/** Section 3, E of scopes 1 and 2: at least one given, the missing one counted as 0. */
function emissionsOfScopes1And2({ scope1, scope2 }: Holding): number | null {
  if (isMissing(scope1) && isMissing(scope2)) return null;
  return (scope1 ?? 0) + (scope2 ?? 0);
}

/** Section 3, E: emissions of the company in the scope asked for, t CO2e. */
export function emissionsOf(holding: Holding, scope: Scope): number | null {
  const scopes1And2 = emissionsOfScopes1And2(holding);
  const scope3 = holding.scope3 ?? null;
  if (scope === "s1s2") return scopes1And2;
  if (scope === "s3") return scope3;
  return scopes1And2 === null || scope3 === null ? null : scopes1And2 + scope3;
}

/** Enterprise value including cash: as given, else enterprise value plus cash. */
export function evicOf({ evic, enterprise_value: enterpriseValue, cash }: Holding): number | null {
  if (!isMissing(evic)) return evic;
  return isMissing(enterpriseValue) || isMissing(cash) ? null : enterpriseValue + cash;
}

/** Denominator of equations 3 to 7. */
function denominatorOf(holding: Holding, method: Exclude<Method, "WATS" | "TETS">): number | null {
  const denominators = {
    MOTS: holding.market_cap,
    EOTS: holding.enterprise_value,
    ECOTS: evicOf(holding),
    AOTS: holding.total_assets,
    ROTS: holding.revenue,
  };
  return denominators[method] ?? null;
}

/** Equations 1 to 7, a: the weight of a holding, or why it has none. */
function weightOf(holding: Holding, method: Method, scope: Scope): number | Exclude<UncoveredReason, "score_missing"> {
  if (method === "WATS") return holding.value;
  const emissions = emissionsOf(holding, scope);
  if (emissions === null) return "emissions_missing";
  if (emissions < 0) return "emissions_negative";
  if (method === "TETS") return emissions;
  const denominator = denominatorOf(holding, method);
  if (denominator === null) return "denominator_missing";
  if (denominator <= 0) return "denominator_not_positive";
  return (holding.value / denominator) * emissions;
}

/** A holding with its weight and score; `weight` null where it has no weight. */
interface Weighted {
  readonly holding: Holding;
  readonly weight: number | null;
  readonly reason: UncoveredReason | null;
  readonly score: {
    readonly t: number;
    readonly low: number;
    readonly high: number;
    readonly hasInterval: boolean;
  } | null;
  readonly isDefault: boolean;
}

function weighted(holding: Holding, options: AggregationOptions): Weighted {
  const weight = weightOf(holding, options.method, options.scope);
  const score = holding.temperature?.[options.scope] ?? null;
  if (typeof weight === "string") return { holding, weight: null, reason: weight, score: null, isDefault: false };
  if (score !== null) return { holding, weight, reason: null, score: scoreOf(score), isDefault: false };
  const { defaultScore } = options;
  const isDefault = defaultScore !== undefined;
  return { holding, weight, reason: "score_missing", score: isDefault ? scoreOf(defaultScore) : null, isDefault };
}

/** A score without interval counts with low = high = T. */
function scoreOf(score: Score): NonNullable<Weighted["score"]> {
  if (typeof score === "number") return { t: score, low: score, high: score, hasInterval: false };
  const { t, low, high } = score;
  if (low === undefined || high === undefined) return { t, low: t, high: t, hasInterval: false };
  return { t, low, high, hasInterval: true };
}

/** Temperature of a portfolio by one method and scope: sections 3 to 5. */
export function aggregate(lines: readonly Holding[], options: AggregationOptions): Aggregate {
  const all = mergedHoldings(lines).map((holding) => weighted(holding, options));
  const scored = scoredOf(all);
  const total = sumOf(scored, ({ a }) => a);
  const temperature = temperatureOf(scored);
  const common = {
    method: options.method,
    scope: options.scope,
    coverage: coverageOf(all),
    uncovered: all.flatMap(({ holding, reason }) => (reason === null ? [] : [{ id: holding.id, reason }])),
    temperature,
    bounds: boundsOf(all, options),
    groups: Object.fromEntries((options.groupBy ?? []).map((key) => [key, groupsOf(all, key, total)])),
  };
  if (temperature === null) return { ...common, figures: null };
  return {
    ...common,
    figures: {
      range: rangeOf(scored, total),
      rangeIndependent: independentRangeOf(scored, total, temperature),
      rangeCoverage: sumOf(scored, ({ a, score }) => (score.hasInterval ? a : 0)) / total,
      defaultShare:
        options.defaultScore === undefined ? null : sumOf(scored, ({ a, isDefault }) => (isDefault ? a : 0)) / total,
      contributions: contributionsOf(scored, total, temperature, options.goal),
    },
  };
}

/** C: holdings with weight and score, the default score included where it is given. */
interface Scored {
  readonly id: string;
  readonly a: number;
  readonly score: NonNullable<Weighted["score"]>;
  readonly isDefault: boolean;
}

function scoredOf(all: readonly Weighted[]): readonly Scored[] {
  return all.flatMap(({ holding, weight, score, isDefault }) =>
    weight === null || score === null ? [] : [{ id: holding.id, a: weight, score, isDefault }],
  );
}

/** Equation 8, T; null where the weights add up to 0. */
function temperatureOf(scored: readonly Scored[]): number | null {
  const total = sumOf(scored, ({ a }) => a);
  return total === 0 ? null : sumOf(scored, ({ a, score }) => a * score.t) / total;
}

/** Equation 9; only real scores count, not the default. */
function coverageOf(all: readonly Weighted[]): Coverage {
  const covered = all.filter(({ reason }) => reason === null);
  const missing = all.filter(({ reason }) => reason === "score_missing");
  const value = sumOf(all, ({ holding }) => holding.value);
  const weight = sumOf(covered, (item) => item.weight ?? 0);
  const weightOfAll = weight + sumOf(missing, (item) => item.weight ?? 0);
  return {
    holdings: covered.length / all.length,
    value: value === 0 ? 0 : sumOf(covered, ({ holding }) => holding.value) / value,
    weight: weightOfAll === 0 ? 0 : weight / weightOfAll,
  };
}

/** Equation 10: errors of all companies in one direction. */
function rangeOf(scored: readonly Scored[], total: number): Interval {
  return {
    low: sumOf(scored, ({ a, score }) => a * score.low) / total,
    high: sumOf(scored, ({ a, score }) => a * score.high) / total,
  };
}

/** Equation 11: errors independent of each other. */
function independentRangeOf(scored: readonly Scored[], total: number, temperature: number): Interval {
  const halfWidth = Math.sqrt(sumOf(scored, ({ a, score }) => ((a * (score.high - score.low)) / 2) ** 2)) / total;
  return { low: temperature - halfWidth, high: temperature + halfWidth };
}

/** Equation 12: where T could be if the missing scores were at either limit; only real scores count. */
function boundsOf(all: readonly Weighted[], options: AggregationOptions): Aggregate["bounds"] {
  const real = scoredOf(all.filter(({ reason }) => reason === null));
  const total = sumOf(real, ({ a }) => a);
  const sum = sumOf(real, ({ a, score }) => a * score.t);
  const missing = sumOf(
    all.filter(({ reason }) => reason === "score_missing"),
    ({ weight }) => weight ?? 0,
  );
  if (total + missing === 0) return null;
  return {
    low: (sum + missing * (options.missingLow ?? 1.3)) / (total + missing),
    high: (sum + missing * (options.missingHigh ?? 3.2)) / (total + missing),
    complete: all.every(({ weight }) => weight !== null),
  };
}

/** Equation 13. */
function contributionsOf(
  scored: readonly Scored[],
  total: number,
  temperature: number,
  goal: number | undefined,
): readonly Contribution[] {
  return scored.map(({ id, a, score: { t } }) => ({
    id,
    weight: a / total,
    temperature: t,
    contribution: (a * t) / total,
    share: (a * t) / total / temperature,
    aboveGoal: goal === undefined ? null : (a * (t - goal)) / total,
    without: total - a === 0 || scored.length === 1 ? null : (total * temperature - a * t) / (total - a),
  }));
}

/** Equation 14: each group of a key in order of first appearance. */
function groupsOf(all: readonly Weighted[], key: string, total: number): readonly Group[] {
  const groupOf = ({ holding }: Weighted): string => holding.groups?.[key] ?? "unassigned";
  return [...new Set(all.map(groupOf))].map((group) => {
    const members = all.filter((item) => groupOf(item) === group);
    const scored = scoredOf(members);
    const temperature = temperatureOf(scored);
    const weight = total === 0 ? 0 : sumOf(scored, ({ a }) => a) / total;
    const reasons = new Set(members.map(({ reason }) => reason));
    const [reason] = reasons;
    return {
      group,
      temperature,
      coverage: coverageOf(members),
      weight,
      contribution: temperature === null ? 0 : weight * temperature,
      ...(total === 0 ? { reason: reasons.size === 1 ? (reason ?? "no_weight") : "no_weight" } : {}),
    };
  });
}

function isMissing(value: number | null | undefined): value is null | undefined {
  return value === null || value === undefined;
}

function sumOf<T>(items: readonly T[], figure: (item: T) => number): number {
  return items.reduce((sum, item) => sum + figure(item), 0);
}
