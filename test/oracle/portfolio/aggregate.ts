/** The temperature of a portfolio for one method and scope: sections 4 and 5 of the method text (see portfolio.ts). */
import type { Holding, Interval, Scope, Score } from "./holdings.ts";
import { weightOf } from "./weights.ts";
import type { Method, NoWeightReason } from "./weights.ts";

export interface AggregateOptions {
  readonly goal?: number;
  readonly groupBy?: readonly string[];
  readonly defaultScore?: number;
  readonly missingLow?: number;
  readonly missingHigh?: number;
}

interface Uncovered {
  readonly id: string;
  readonly reason: NoWeightReason | "score_missing";
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
  readonly above_goal?: number;
  readonly without: number | null;
}

interface Group {
  readonly group: string;
  readonly temperature: number | null;
  readonly coverage: Coverage;
  readonly weight: number;
  readonly contribution: number;
  /** Only where the portfolio has no temperature. */
  readonly reason?: NoWeightReason | "score_missing" | "no_weight";
}

/** A member of `results`; members that do not apply are undefined. */
export interface Aggregate {
  readonly method: Method;
  readonly scope: Scope;
  readonly temperature: number | null;
  readonly reason?: "no_weight";
  readonly range?: Interval;
  readonly range_independent?: Interval;
  readonly range_coverage?: number;
  readonly coverage: Coverage;
  readonly bounds?: Interval & { readonly complete: boolean };
  readonly default_share?: number;
  readonly uncovered: readonly Uncovered[];
  readonly contributions?: readonly Contribution[];
  readonly groups?: Readonly<Record<string, readonly Group[]>>;
}

interface Weighed {
  readonly holding: Holding;
  readonly weight: number | NoWeightReason;
  readonly score: Score | null;
}

/** A holding of C, or one of `score_missing` with the default score. */
interface Counted {
  readonly holding: Holding;
  readonly weight: number;
  readonly score: Score;
  readonly isDefault: boolean;
}

const DEFAULT_MISSING: Interval = { low: 1.3, high: 3.2 };

export function aggregate(
  holdings: readonly Holding[],
  method: Method,
  scope: Scope,
  options: AggregateOptions = {},
): Aggregate {
  const weighed = holdings.map((holding) => ({
    holding,
    weight: weightOf(holding, method, scope),
    score: holding.scores[scope],
  }));
  const counted = weighed.flatMap((item) => countedOf(item, options.defaultScore));
  const total = sum(counted, ({ weight }) => weight);
  const temperature = total > 0 ? meanOf(counted, total, ({ score }) => score.t) : null;
  const bounds = boundsOf(weighed, options);
  const { groupBy } = options;
  return {
    method,
    scope,
    temperature,
    ...(temperature === null
      ? { reason: "no_weight" }
      : {
          ...rangesOf(counted, total, temperature),
          contributions: counted.map((item) => contributionOf(item, counted, total, temperature, options.goal)),
          ...(options.defaultScore === undefined
            ? {}
            : { default_share: sum(counted, ({ weight, isDefault }) => (isDefault ? weight : 0)) / total }),
        }),
    coverage: coverageOf(weighed),
    ...(bounds === null ? {} : { bounds }),
    uncovered: weighed.flatMap(uncoveredOf),
    ...(groupBy === undefined
      ? {}
      : { groups: Object.fromEntries(groupBy.map((key) => [key, groupsOf(key, weighed, total, options)])) }),
  };
}

function countedOf({ holding, weight, score }: Weighed, defaultScore: number | undefined): readonly Counted[] {
  if (typeof weight === "string") return [];
  if (score !== null) return [{ holding, weight, score, isDefault: false }];
  if (defaultScore === undefined) return [];
  return [{ holding, weight, score: { t: defaultScore, interval: null }, isDefault: true }];
}

function uncoveredOf({ holding: { id }, weight, score }: Weighed): readonly Uncovered[] {
  if (typeof weight === "string") return [{ id, reason: weight }];
  return score === null ? [{ id, reason: "score_missing" }] : [];
}

/** Shares of the holdings, of the value and of the weight that the temperature covers. */
function coverageOf(weighed: readonly Weighed[]): Coverage {
  const covered = weighed.filter(({ weight, score }) => typeof weight === "number" && score !== null);
  const weighable = weighed.filter(({ weight }) => typeof weight === "number");
  return {
    holdings: covered.length / weighed.length,
    value: ratio(sum(covered, valueOf), sum(weighed, valueOf)),
    weight: ratio(sum(covered, numericWeight), sum(weighable, numericWeight)),
  };
}

/** Ranges of the temperature: errors of the scores independent, and fully dependent. */
function rangesOf(counted: readonly Counted[], total: number, temperature: number) {
  const interval = ({ score }: Counted): Interval => score.interval ?? { low: score.t, high: score.t };
  const halfWidth =
    Math.sqrt(
      sum(counted, (item) => {
        const { low, high } = interval(item);
        return (item.weight * ((high - low) / 2)) ** 2;
      }),
    ) / total;
  return {
    range: {
      low: meanOf(counted, total, (item) => interval(item).low),
      high: meanOf(counted, total, (item) => interval(item).high),
    },
    range_independent: { low: temperature - halfWidth, high: temperature + halfWidth },
    range_coverage: sum(counted, ({ weight, score }) => (score.interval === null ? 0 : weight)) / total,
  };
}

/** Bounds of the temperature: real scores, and the assumed one for each holding of `score_missing`; null without any weight. */
function boundsOf(
  weighed: readonly Weighed[],
  { missingLow = DEFAULT_MISSING.low, missingHigh = DEFAULT_MISSING.high }: AggregateOptions,
): NonNullable<Aggregate["bounds"]> | null {
  const meanWith = (missing: number): number => {
    const all = weighed.flatMap((item) => countedOf(item, missing));
    return meanOf(all, sum(all, numericWeight), ({ score }) => score.t);
  };
  if (!(sum(weighed, numericWeight) > 0)) return null;
  const complete = weighed.every(({ weight }) => typeof weight === "number");
  return { low: meanWith(missingLow), high: meanWith(missingHigh), complete };
}

/** Contribution of a holding to the temperature. */
function contributionOf(
  item: Counted,
  counted: readonly Counted[],
  total: number,
  temperature: number,
  goal: number | undefined,
): Contribution {
  const { holding, weight, score } = item;
  return {
    id: holding.id,
    weight: weight / total,
    temperature: score.t,
    contribution: (weight * score.t) / total,
    share: (weight * score.t) / total / temperature,
    ...(goal === undefined ? {} : { above_goal: (weight * (score.t - goal)) / total }),
    without: temperatureWithout(item, counted),
  };
}

/** The mean of the others, whose weights are added up anew: a difference would lose digits of small weights. */
function temperatureWithout(item: Counted, counted: readonly Counted[]): number | null {
  let total = 0;
  let weightedScores = 0;
  for (const other of counted) {
    if (other === item) continue;
    total += other.weight;
    weightedScores += other.weight * other.score.t;
  }
  return total > 0 ? weightedScores / total : null;
}

/** Temperature and share of each group. */
function groupsOf(
  key: string,
  weighed: readonly Weighed[],
  total: number,
  { defaultScore }: AggregateOptions,
): readonly Group[] {
  const groupOf = ({ holding: { groups } }: Weighed): string =>
    (Object.hasOwn(groups, key) ? groups[key] : null) ?? "unassigned";
  return [...new Set(weighed.map(groupOf))].map((group) => {
    const members = weighed.filter((item) => groupOf(item) === group);
    const counted = members.flatMap((item) => countedOf(item, defaultScore));
    const groupTotal = sum(counted, numericWeight);
    const temperature = groupTotal > 0 ? meanOf(counted, groupTotal, ({ score }) => score.t) : null;
    const weight = ratio(groupTotal, total);
    return {
      group,
      temperature,
      coverage: coverageOf(members),
      weight,
      contribution: temperature === null ? 0 : weight * temperature,
      ...(total > 0 ? {} : { reason: commonReason(members) }),
    };
  });
}

/** The reason of all members if it is the same one, else `no_weight`. */
function commonReason(members: readonly Weighed[]): Uncovered["reason"] | "no_weight" {
  const reasons = new Set(members.map((item) => uncoveredOf(item)[0]?.reason ?? "no_weight"));
  const [reason = "no_weight"] = reasons;
  return reasons.size === 1 ? reason : "no_weight";
}

function meanOf(counted: readonly Counted[], total: number, figure: (item: Counted) => number): number {
  return sum(counted, (item) => item.weight * figure(item)) / total;
}

function numericWeight({ weight }: Weighed | Counted): number {
  return typeof weight === "number" ? weight : 0;
}

function valueOf({ holding: { value } }: Weighed): number {
  return value;
}

function ratio(part: number, whole: number): number {
  return whole > 0 ? part / whole : 0;
}

function sum<Item>(items: readonly Item[], figure: (item: Item) => number): number {
  return items.reduce((total, item) => total + figure(item), 0);
}
