import { NGFS_PHASE5 } from "../../src/alignment/benchmark.ts";
import { type EntityColumns, PATHWAY_INDEX } from "../../src/kernel/alignmentColumns.ts";
import type { OracleEntity, OracleScopes } from "../oracle/alignment.ts";
import type { SeededRandom } from "../seededRandom.ts";
import type { Pathway } from "../../src/contract/wireTypes.ts";

export const PATHWAYS = Object.keys(PATHWAY_INDEX) as readonly Pathway[];
export const REGION_COUNT = NGFS_PHASE5.growth.length;

/** Converts entities to columns. */
export function columnsOf(entities: readonly OracleEntity[]): EntityColumns {
  const rows = entities.flatMap(({ projections }) => projections);
  const scopeOf = (lists: readonly OracleScopes[], scope: number): Float64Array =>
    Float64Array.from(lists, (scopes) => scopes[scope] ?? NaN);
  const baselines = entities.map(({ baseline }) => baseline);
  const projected = rows.map(({ emissions }) => emissions);
  const starts = new Uint32Array(entities.length + 1);
  for (const [i, { projections }] of entities.entries()) starts[i + 1] = (starts[i] ?? 0) + projections.length;
  const referenceOf = (scope: 0 | 1 | 2): Float64Array =>
    Float64Array.from(entities, ({ reference }) => reference?.[scope] ?? NaN);
  return {
    baselineYears: Int32Array.from(entities, ({ baselineYear }) => baselineYear),
    pathways: Uint8Array.from(entities, ({ pathway }) => PATHWAY_INDEX[pathway as Pathway]),
    regions: Uint8Array.from(entities, ({ region }) => region),
    baselineScope1: scopeOf(baselines, 0),
    baselineScope2: scopeOf(baselines, 1),
    baselineScope3: scopeOf(baselines, 2),
    starts,
    years: Int32Array.from(rows, ({ year }) => year),
    scope1: scopeOf(projected, 0),
    scope2: scopeOf(projected, 1),
    scope3: scopeOf(projected, 2),
    revenues: Float64Array.from(entities, ({ revenue }) => revenue ?? NaN),
    references: { scope1: referenceOf(0), scope2: referenceOf(1), scope3: referenceOf(2) },
  };
}

/** Returns a random entity; every case that the method distinguishes, including unusual ones, is about equally frequent. */
export function randomEntity(random: SeededRandom): OracleEntity {
  const isOdd = random.chance(0.5);
  const baselineYear = isOdd
    ? random.pick([1900, 2010, 2017, 2018, 2024, 2025, 2026, 2033, 2049, 2050, 2051, 2060, 2061, 2090, 2199])
    : 2019 + random.below(8);
  const size = 10 ** random.between({ min: -3, max: 9 });
  const amount = (): number | undefined => {
    if (!isOdd) return size * random.between({ min: 0, max: 1 });
    const kind = random.below(8);
    if (kind === 0) return undefined;
    if (kind === 1) return 0;
    if (kind === 2) return -size * random.next();
    if (kind === 3) return random.pick([1e-13, 1e-12, -1e-12, 1e15, -1e15, 1e-300]);
    return size * random.next();
  };
  const baseline = [amount(), amount(), amount()];
  const yearsLeft = 2200 - baselineYear;
  const laterYear = (): number =>
    baselineYear + 1 + random.below(Math.min(yearsLeft, random.chance(0.1) ? yearsLeft : 40));
  const rowCount = 1 + random.below(6);
  const years = Array.from({ length: rowCount }, laterYear);
  if (random.chance(0.7)) years.sort((one, other) => one - other);
  if (isOdd && rowCount > 1 && random.chance(0.3)) years[rowCount - 1] = years[0] ?? laterYear();
  const drift = random.between({ min: 0, max: 1.6 });
  const projections = years.map((year) => ({
    year,
    emissions: baseline.map((before) => {
      if (isOdd && random.chance(0.3)) return amount();
      const ratio = Math.max(0, drift + random.between({ min: -0.3, max: 0.3 }));
      return before === undefined ? undefined : Math.min(Math.max(before * ratio, -1e15), 1e15);
    }),
  }));
  return {
    baselineYear,
    baseline,
    pathway: random.pick(PATHWAYS),
    region: random.below(REGION_COUNT),
    revenue: isOdd
      ? random.pick([undefined, 0, -5, 1e-310, 1e-290, 1e15, size * 3])
      : size * random.between({ min: 0.01, max: 100 }),
    reference: random.chance(0.2) ? undefined : [random.next(), random.next(), random.chance(0.1) ? 0 : random.next()],
    projections,
  };
}
