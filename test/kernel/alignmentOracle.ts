/** Random columns for the alignment kernel, and their results by the reference implementation. */
import { type Benchmark, growthIndex } from "../../src/alignment/benchmark.ts";
import { NGFS_PHASE5 } from "../../src/alignment/benchmarkNgfsPhase5.ts";
import type { AlignmentRule } from "../../src/kernel/alignment.ts";
import { type EntityColumns, NO_GROWTH_SERIES, PATHWAY_INDEX } from "../../src/kernel/alignmentColumns.ts";
import { flagMask } from "../oracle/alignment2/flags.ts";
import { randomRow } from "../oracle/alignment2/randomEntities.ts";
import type { Reference, Warming } from "../oracle/alignment2/reference.ts";
import { type Row, type ScoredRow, scoreRow } from "../oracle/alignment2/row.ts";
import { randomFrom } from "../seededRandom.ts";

/** Rows of one entity, in the order submitted, with the label of each. */
export interface OracleEntity {
  readonly rows: readonly Row[];
  readonly labels: readonly number[];
}

/** Returns a benchmark as the tables of the reference implementation, without names. */
export function oracleReference(benchmark: Benchmark = NGFS_PHASE5): Reference {
  const { anchors, warming, pathwayYears, pathways, growth, growthYears } = benchmark;
  const four = <Item>(items: readonly Item[]) => items as unknown as readonly [Item, Item, Item, Item];
  const warmingOf = (percentile: "p10" | "p50" | "p90", anchorsC: readonly number[]): Warming => ({
    anchors: four(anchorsC),
    now: warming[percentile].baseYearC,
    floor: warming[percentile].lowerBoundC,
  });
  const lines = Object.entries(pathways).map(([pathway, values]) => [
    pathway,
    four(values.map((line) => ({ years: pathwayYears, values: line }))),
  ]);
  return {
    benchmark: {
      scenarios: four(anchors.map(({ scenario }) => scenario)),
      warming: {
        p10: warmingOf(
          "p10",
          anchors.map((anchor) => anchor.temperature_2100_p10_c),
        ),
        p50: warmingOf(
          "p50",
          anchors.map((anchor) => anchor.temperature_2100_c),
        ),
        p90: warmingOf(
          "p90",
          anchors.map((anchor) => anchor.temperature_2100_p90_c),
        ),
      },
      pathways: Object.fromEntries(lines) as Reference["benchmark"]["pathways"],
    },
    growth: new Map(
      growth.map((series) => [
        series.id,
        { years: growthYears, values: growthYears.map((year) => growthIndex(benchmark, series, year)) },
      ]),
    ),
    countries: [],
    countryNames: [],
    industries: [],
    industryKeys: [],
    consumerPrices: new Map(),
  };
}

/** Returns a random entity that the kernel accepts, under a rule; the same seed always gives the same one. */
export function randomOracleEntity(reference: Reference, rule: AlignmentRule, seed: number): OracleEntity {
  const base = randomRow(reference, seed);
  const random = randomFrom(seed + 0x5eed);
  const labelCount = random.chance(0.25) ? 2 + random.below(2) : 1;
  const labels = base.points.map(() => random.below(Math.min(labelCount, base.points.length)));
  const convergence = base.convergence === null ? "unusable" : base.convergence;
  const rows = base.points.map(({ year, emissions }, index): Row => {
    const label = labels[index];
    const points = base.points.filter((_, other) => labels[other] === label);
    return {
      ...base,
      basis: rule.basis,
      weights: [1, 1, rule.scope3Weight],
      convergence: rule.gamma > 0 ? withGamma(convergence, rule.gamma) : null,
      year,
      projected: emissions,
      points,
      projectedRevenue: random.chance(0.5) ? base.projectedRevenue : null,
      isDuplicateYear: points.filter((point) => point.year === year).length > 1,
    };
  });
  return { rows, labels };
}

function withGamma(convergence: NonNullable<Row["convergence"]>, gamma: number): Row["convergence"] {
  return convergence === "unusable" ? convergence : { ...convergence, gamma };
}

/** Converts entities to columns. */
export function columnsOfEntities(
  entities: readonly OracleEntity[],
  benchmark: Benchmark = NGFS_PHASE5,
): EntityColumns {
  const bases = entities.map(({ rows }) => {
    const [first] = rows;
    if (first === undefined) throw new Error("An entity needs at least one row.");
    return first;
  });
  const rows = entities.flatMap((entity) => entity.rows);
  const starts = new Uint32Array(entities.length + 1);
  for (const [index, entity] of entities.entries()) starts[index + 1] = (starts[index] ?? 0) + entity.rows.length;
  const baselineOf = (scope: 0 | 1 | 2) => Float64Array.from(bases, ({ baseline }) => baseline[scope] ?? NaN);
  const projectedOf = (scope: 0 | 1 | 2) => Float64Array.from(rows, ({ projected }) => projected[scope] ?? NaN);
  const referenceOf = (scope: 0 | 1 | 2) =>
    Float64Array.from(bases, ({ convergence }) => industryOf(convergence)?.industryFactors[scope] ?? NaN);
  return {
    baselineYears: Int32Array.from(bases, ({ baselineYear }) => baselineYear),
    pathways: Uint8Array.from(bases, ({ pathway }) => PATHWAY_INDEX[pathway]),
    growthSeries: Uint8Array.from(bases, ({ growthSeries }) =>
      growthSeries === null ? NO_GROWTH_SERIES : benchmark.growth.findIndex(({ id }) => id === growthSeries.id),
    ),
    baselineScope1: baselineOf(0),
    baselineScope2: baselineOf(1),
    baselineScope3: baselineOf(2),
    starts,
    years: Int32Array.from(rows, ({ year }) => year),
    scope1: projectedOf(0),
    scope2: projectedOf(1),
    scope3: projectedOf(2),
    baselineRevenues: Float64Array.from(bases, ({ revenue }) => revenue ?? NaN),
    projectedRevenues: Float64Array.from(rows, ({ projectedRevenue }) => projectedRevenue ?? NaN),
    convergenceRevenues: Float64Array.from(bases, ({ convergence }) => industryOf(convergence)?.revenueMUsd2022 ?? NaN),
    references: { scope1: referenceOf(0), scope2: referenceOf(1), scope3: referenceOf(2) },
    ...(entities.some(({ labels }) => labels.some((label) => label > 0))
      ? { labels: Uint16Array.from(entities.flatMap(({ labels }) => labels)) }
      : {}),
  };
}

function industryOf(convergence: Row["convergence"]) {
  return convergence !== null && convergence !== "unusable" && "industryFactors" in convergence
    ? convergence
    : undefined;
}

/**
 * Returns the results of an entity by the reference implementation, with the masks of all flags that the kernel raises.
 */
export function scoreOracleEntity(
  reference: Reference,
  { rows }: OracleEntity,
): readonly (ScoredRow & { readonly mask: number })[] {
  const [first] = rows;
  const isScope3Absent =
    (first?.weights[2] ?? 0) > 0 && first?.baseline[2] === null && rows.every(({ projected }) => projected[2] === null);
  const entityFlags = [
    ...(isScope3Absent ? (["scope3_absent"] as const) : []),
    ...((first?.baselineYear ?? NaN) < 2018 ? (["early_baseline"] as const) : []),
  ];
  return rows.map((row) => {
    const scored = scoreRow(reference, row);
    return { ...scored, mask: flagMask([...entityFlags, ...scored.flags]) };
  });
}
