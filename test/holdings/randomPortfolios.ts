/** Seeded random portfolios, all of them accepted. */
import { PORTFOLIO_METHODS, PORTFOLIO_SCOPES } from "../../src/contract/names.ts";
import type { Holding, HoldingScore, PortfolioOptions } from "../../src/contract/wireTypes.ts";
import { randomFrom, type SeededRandom, shuffled } from "../seededRandom.ts";

/**
 * Kinds of portfolios: `ordinary` companies with few gaps; `gaps` with missing figures, removals, zero denominators and
 * several lines of one issuer; `extreme` amounts over the whole range that is accepted.
 */
export const PORTFOLIO_KINDS = ["ordinary", "gaps", "extreme"] as const;
export type PortfolioKind = (typeof PORTFOLIO_KINDS)[number];

const GAP_PROBABILITY: Readonly<Record<PortfolioKind, number>> = { ordinary: 0.03, gaps: 0.25, extreme: 0.1 };
const GROUPS = {
  sector: ["steel", "software", "banks", "unassigned", "__proto__"],
  country: ["Korea", "Japan", "Österreich", ""],
};

/** Returns lines whose scores are given; the same seed always gives the same ones. */
export function randomPortfolio(
  seed: number,
  { kind, lineCount }: { readonly kind: PortfolioKind; readonly lineCount: number },
): readonly Holding[] {
  const random = randomFrom(seed);
  const lines = Array.from({ length: lineCount }, (_, index) => {
    const line = randomLine(random, kind, `line ${index}`);
    // Every key that the options group by must be on some line; `region` is on no other one.
    return index === 0 ? { ...line, groups: { sector: "steel", country: "Korea", region: "Asia" } } : line;
  });
  if (kind === "ordinary") return lines;
  const again = lines
    .filter(() => random.chance(0.2))
    .map((line) => ({ ...line, issuer: line.id, id: `${line.id} again`, value: randomValue(random, kind) }));
  return shuffled(random, [...lines, ...again]);
}

/** Returns options with every method and scope, half of the time with a default score, other bounds and a goal. */
export function randomPortfolioOptions(seed: number): PortfolioOptions {
  const random = randomFrom(seed);
  return {
    methods: PORTFOLIO_METHODS,
    scopes: PORTFOLIO_SCOPES,
    group_by: ["sector", "country", "region"],
    ...(random.chance(0.5) ? { goal: random.between({ min: 1.3, max: 3 }) } : {}),
    ...(random.chance(0.5) ? { default_score: random.between({ min: 1.3, max: 6 }) } : {}),
    ...(random.chance(0.5)
      ? { missing_low: random.between({ min: 1.3, max: 2 }), missing_high: random.between({ min: 2, max: 6 }) }
      : {}),
  };
}

function randomLine(random: SeededRandom, kind: PortfolioKind, id: string): Holding {
  const optional = <Value>(value: () => Value): Value | null => (random.chance(GAP_PROBABILITY[kind]) ? null : value());
  const money = () => optional(() => randomMoney(random, kind));
  const tonnes = () => optional(() => randomTonnes(random, kind));
  const score = () => optional(() => randomScore(random));
  const quality = () => optional(() => random.pick([1, 2, 2.5, 4, 5]));
  return {
    id,
    value: randomValue(random, kind),
    temperature: { s1s2s3: score(), s1s2: score(), s3: score() },
    scope1: tonnes(),
    scope2: tonnes(),
    scope3: tonnes(),
    market_cap: money(),
    enterprise_value: money(),
    cash: money(),
    evic: random.chance(0.5) ? money() : null,
    total_assets: money(),
    revenue: money(),
    equity: money(),
    debt: money(),
    data_quality: random.chance(0.2) ? null : { s1s2: quality(), s3: quality() },
    budget: optional(() => ({
      allowed: randomTonnes(random, kind),
      projected: randomTonnes(random, kind),
    })),
    groups: random.chance(0.1)
      ? null
      : { sector: optional(() => random.pick(GROUPS.sector)), country: random.pick(GROUPS.country) },
  };
}

function randomValue(random: SeededRandom, kind: PortfolioKind): number {
  if (kind !== "ordinary" && random.chance(0.05)) return 0;
  return 10 ** (kind === "extreme" ? random.between({ min: -12, max: 18 }) : random.between({ min: 4, max: 9 }));
}

function randomMoney(random: SeededRandom, kind: PortfolioKind): number {
  if (kind === "gaps" && random.chance(0.1)) return random.pick([0, -5e6]);
  return 10 ** (kind === "extreme" ? random.between({ min: -12, max: 18 }) : random.between({ min: 6, max: 11 }));
}

function randomTonnes(random: SeededRandom, kind: PortfolioKind): number {
  if (kind !== "ordinary" && random.chance(0.1)) return random.pick([0, -500, -2e7]);
  return 10 ** (kind === "extreme" ? random.between({ min: -9, max: 15 }) : random.between({ min: 2, max: 8 }));
}

function randomScore(random: SeededRandom): HoldingScore {
  const t = random.between({ min: 1.3, max: 6 });
  if (random.chance(0.3)) return random.chance(0.5) ? t : { t };
  return { t, low: Math.max(t - random.next(), 1.3), high: t + random.next() };
}
