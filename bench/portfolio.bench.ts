// Temperatures of a portfolio of 5,000 holdings by all seven methods and three scopes, compared with one loop over the
// objects of the holdings in plain JavaScript; and a portfolio whose companies are scored first, compared with scoring
// them alone.
import { alignTemperature } from "../src/alignment/alignTemperature.ts";
import { HOLDING_COUNT_MAX, PORTFOLIO_METHODS, PORTFOLIO_SCOPES } from "../src/contract/names.ts";
import type { Entity, Holding, PortfolioOptions, PortfolioResult } from "../src/contract/wireTypes.ts";
import { alignPortfolio } from "../src/holdings/alignPortfolio.ts";
import { mergeHoldings } from "../src/holdings/mergedHoldings.ts";
import { portfolioResults } from "../src/holdings/portfolioResults.ts";
import { interleave } from "./interleave.ts";
import { type PlainResult, plainPortfolio } from "./plainPortfolio.ts";
import { print } from "./row.ts";

const HOLDINGS = `${HOLDING_COUNT_MAX.toLocaleString("en")} holdings`;
const ROUNDS = 25;
const WARMUP_ROUNDS = 5;
const TOLERANCE = 1e-9;
const OPTIONS: PortfolioOptions = { methods: PORTFOLIO_METHODS, scopes: PORTFOLIO_SCOPES };

/** Linear congruential generator modulo 2^32 (Numerical Recipes). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Returns holdings whose figures span three orders of magnitude; one in twenty figures is missing. */
function makeHoldings(): readonly Holding[] {
  const random = randomFrom(5);
  const size = (exponent: number): number => 10 ** (exponent + 3 * random());
  const optional = (figure: number): number | null => (random() < 0.05 ? null : figure);
  const score = (): { t: number; low: number; high: number } => {
    const t = 1.4 + 3 * random();
    return { t, low: t - 0.1 * random(), high: t + 0.2 * random() };
  };
  return Array.from({ length: HOLDING_COUNT_MAX }, (_, index) => ({
    id: `company ${index}`,
    value: size(5),
    temperature: {
      s1s2: random() < 0.05 ? null : score(),
      s3: random() < 0.05 ? null : score(),
      s1s2s3: random() < 0.05 ? null : score(),
    },
    scope1: optional(size(3)),
    scope2: optional(size(3)),
    scope3: optional(size(4)),
    market_cap: optional(size(8)),
    enterprise_value: optional(size(8)),
    cash: optional(size(6)),
    total_assets: optional(size(9)),
    revenue: optional(size(8)),
    groups: { sector: `sector ${index % 11}` },
  }));
}

function makeEntityHoldings(holdings: readonly Holding[]): readonly (Holding & { readonly entity: Entity })[] {
  const random = randomFrom(7);
  const industries = ["Steel", "Airlines", "Software", "Electric Utilities", "Cement", "Banks"];
  const countries = ["Germany", "Japan", "India", "US", "BR"];
  return holdings.map(({ temperature: _temperature, ...line }, index): Holding & { readonly entity: Entity } => {
    const level = (year: number): number => (1.01 - 0.07 * random()) ** (year - 2023);
    const [scope1, scope2, scope3] = [1e3, 1e3, 1e4].map((least) => least * (1 + 900 * random())) as [
      number,
      number,
      number,
    ];
    return {
      ...line,
      entity: {
        entity_info: {
          name: line.id,
          asset_type: "equity",
          country: countries[index % countries.length] ?? "US",
          industry: industries[index % industries.length] ?? "Steel",
        },
        data: [{ year: 2023, emissions: { scope1, scope2, scope3 } }],
        projected_emissions: [2030, 2040, 2050].map((year) => ({
          year,
          emissions: { scope1: scope1 * level(year), scope2: scope2 * level(year), scope3: scope3 * level(year) },
        })),
      },
    };
  });
}

function checkEqual(ours: readonly PortfolioResult[], plain: readonly PlainResult[]): void {
  for (const [i, expected] of plain.entries()) {
    const actual = ours[i];
    const pairs: readonly (readonly [number | null | undefined, number])[] = [
      [actual?.temperature, expected.temperature],
      [actual?.range?.low, expected.range.low],
      [actual?.range_independent?.high, expected.temperature + expected.halfWidth],
      [actual?.coverage.value, expected.coverage.value],
      [actual?.bounds?.high, expected.bounds.high],
      ...expected.contributions.map(
        (each, k) => [actual?.contributions?.[k]?.contribution, each.contribution] as const,
      ),
    ];
    const isEqual = pairs.every(([figure, other]) => Math.abs((figure ?? NaN) - other) <= TOLERANCE);
    if (!isEqual || actual?.uncovered.length !== expected.uncovered.length) throw new Error(`result ${i} differs`);
  }
}

const holdings = makeHoldings();
const columns = mergeHoldings(holdings);
checkEqual([...portfolioResults(columns, OPTIONS)], plainPortfolio(holdings));

const timings = await interleave(
  [
    { name: "results", run: () => void [...portfolioResults(columns, OPTIONS)] },
    { name: "whole", run: async () => void (await alignPortfolio(holdings, OPTIONS)) },
    { name: "grouped", run: async () => void (await alignPortfolio(holdings, { ...OPTIONS, group_by: ["sector"] })) },
    { name: "plain", run: () => void plainPortfolio(holdings) },
  ],
  { rounds: ROUNDS, warmupRounds: WARMUP_ROUNDS },
);
const medianMs = (name: string): number => timings.find((timing) => timing.name === name)?.medianMs ?? NaN;
const common = { bench: "portfolio", unit: "ms per portfolio", against: "plain JavaScript", theirs: medianMs("plain") };
print({
  ...common,
  name: `${HOLDINGS} x 7 methods x 3 scopes, from columns`,
  ours: medianMs("results"),
  target: { atLeast: 1 },
});
print({
  ...common,
  name: `${HOLDINGS} x 7 methods x 3 scopes, from objects`,
  ours: medianMs("whole"),
  note: "validates, merges and computes financed emissions, which the other side does not",
});
print({
  ...common,
  name: `${HOLDINGS} x 7 methods x 3 scopes, from objects, with groups`,
  ours: medianMs("grouped"),
  note: "the other side has no groups",
});

const entityHoldings = makeEntityHoldings(holdings);
const entities = entityHoldings.map(({ entity }) => entity);
const [scored, alone] = await interleave(
  [
    { name: "portfolio", run: async () => void (await alignPortfolio(entityHoldings, OPTIONS)) },
    { name: "entities", run: async () => void (await alignTemperature(entities, { include: ["overall", "budget"] })) },
  ],
  { rounds: ROUNDS, warmupRounds: WARMUP_ROUNDS },
);
if (scored === undefined || alone === undefined) throw new Error("expected two timings");
print({
  bench: "portfolio",
  name: `${HOLDINGS} with companies x 3 years, 7 methods x 3 scopes`,
  unit: "ms per portfolio",
  against: "alignTemperature of the companies",
  ours: scored.medianMs,
  theirs: alone.medianMs,
});
