// Times the default alignment request, with ranges and flags, for a million entities in five years. The time
// includes validation and copying between the caller's arrays and the kernel, and is compared with the same computation
// in plain JavaScript.
import { alignColumns } from "../src/alignment/alignColumns.ts";
import { NGFS_PHASE5 } from "../src/alignment/benchmarkNgfsPhase5.ts";
import { allocateResults, type EntityColumns, NO_GROWTH_SERIES } from "../src/kernel/alignmentColumns.ts";
import { interleave } from "./interleave.ts";
import { plainAlignment } from "./plainAlignment.ts";
import { print } from "./row.ts";

const ENTITY_COUNT = Number(process.env["ISOTHERM_BENCH_ENTITIES"] ?? 1_000_000);
const ENTITIES = `${ENTITY_COUNT.toLocaleString("en")} entities`;
const ROUNDS = 15;
const WARMUP_ROUNDS = 3;

/**
 * Linear congruential generator modulo 2^32 (Numerical Recipes): reproducible, and random enough for emission figures.
 */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Returns entities in random order of sector and country, unless `isSorted`. One in ten lacks scope 3. */
function entitiesOf(years: (baselineYear: number) => readonly number[], isSorted = false): EntityColumns {
  const random = randomFrom(11);
  const rowsPerEntity = years(2024).length;
  const rowCount = ENTITY_COUNT * rowsPerEntity;
  const columns = {
    baselineYears: new Int32Array(ENTITY_COUNT),
    pathways: new Uint8Array(ENTITY_COUNT),
    growthSeries: new Uint8Array(ENTITY_COUNT),
    baselineScope1: new Float64Array(ENTITY_COUNT),
    baselineScope2: new Float64Array(ENTITY_COUNT),
    baselineScope3: new Float64Array(ENTITY_COUNT),
    starts: Uint32Array.from({ length: ENTITY_COUNT + 1 }, (_, i) => i * rowsPerEntity),
    years: new Int32Array(rowCount),
    scope1: new Float64Array(rowCount),
    scope2: new Float64Array(rowCount),
    scope3: new Float64Array(rowCount),
  };
  for (let i = 0; i < ENTITY_COUNT; i++) {
    const size = 10 ** (2 + 5 * random());
    const baselineYear = 2019 + Math.floor(7 * random());
    columns.baselineYears[i] = baselineYear;
    columns.pathways[i] = isSorted ? Math.floor((6 * i) / ENTITY_COUNT) : Math.floor(6 * random());
    columns.growthSeries[i] =
      random() < 0.05 ? NO_GROWTH_SERIES : isSorted ? 1 : Math.floor(NGFS_PHASE5.growth.length * random());
    columns.baselineScope1[i] = size * random();
    columns.baselineScope2[i] = size * random() * 0.5;
    columns.baselineScope3[i] = random() < 0.1 ? NaN : size * random() * 4;
    const yearlyChange = 1.02 - 0.1 * random();
    const projectedYears = years(baselineYear);
    for (let j = 0; j < rowsPerEntity; j++) {
      const row = i * rowsPerEntity + j;
      const year = projectedYears[j] ?? NaN;
      const level = yearlyChange ** (year - baselineYear);
      columns.years[row] = year;
      columns.scope1[row] = (columns.baselineScope1[i] ?? NaN) * level * (0.9 + 0.2 * random());
      columns.scope2[row] = (columns.baselineScope2[i] ?? NaN) * level * (0.9 + 0.2 * random());
      columns.scope3[row] = (columns.baselineScope3[i] ?? NaN) * level * (0.9 + 0.2 * random());
    }
  }
  return columns;
}

const plain = plainAlignment(NGFS_PHASE5);
const FIVE_YEARS = [2030, 2035, 2040, 2045, 2050];
const WORKLOADS: readonly {
  readonly name: string;
  readonly columns: () => EntityColumns;
  readonly atLeast?: number;
  readonly note?: string;
}[] = [
  { name: `${ENTITIES} x 2030, 2035, 2040, 2045, 2050`, columns: () => entitiesOf(() => FIVE_YEARS), atLeast: 2.5 },
  {
    name: "the same, sorted by sector",
    columns: () => entitiesOf(() => FIVE_YEARS, true),
    note: "upper bound on what grouping by sector could gain",
  },
  {
    name: `${ENTITIES} x the five years after the baseline`,
    columns: () => entitiesOf((baselineYear) => [1, 2, 3, 4, 5].map((later) => baselineYear + later)),
    note: "dominated by the powers of the short-horizon formula",
  },
];

for (const { name, columns: makeColumns, atLeast, note } of WORKLOADS) {
  const columns = makeColumns();
  const rowCount = columns.years.length;
  const [into, out] = [allocateResults(rowCount, {}), allocateResults(rowCount, {})];
  await alignColumns(columns, { into });
  plain(columns, out);
  for (let row = 0; row < rowCount; row++) {
    for (const figure of ["temperaturesC", "rangeLowC", "rangeHighC"] as const) {
      const difference = Math.abs((into[figure][row] ?? NaN) - (out[figure][row] ?? NaN));
      if (!(difference <= 1e-9)) throw new Error(`${name}: ${figure} of row ${row} differs by ${difference}`);
    }
    if (into.flags[row] !== out.flags[row]) throw new Error(`${name}: the flags of row ${row} differ`);
  }
  const [ours, competitor] = await interleave(
    [
      { name: "kernel", run: async () => void (await alignColumns(columns, { into })) },
      { name: "plain JavaScript", run: () => plain(columns, out) },
    ],
    { rounds: ROUNDS, warmupRounds: WARMUP_ROUNDS },
  );
  if (ours === undefined || competitor === undefined) throw new Error("expected two timings");
  const nsPerRow = (ms: number): number => (ms * 1e6) / rowCount;
  const common = { bench: "alignment", unit: "ns per entity and year", against: "plain JavaScript" };
  print({
    ...common,
    name,
    ours: nsPerRow(ours.medianMs),
    theirs: nsPerRow(competitor.medianMs),
    ...(atLeast === undefined ? {} : { target: { atLeast } }),
    ...(note === undefined ? {} : { note }),
  });
  print({
    ...common,
    name: `${name}: fastest of ${ROUNDS} rounds`,
    ours: nsPerRow(ours.fastestMs),
    theirs: nsPerRow(competitor.fastestMs),
  });
}
