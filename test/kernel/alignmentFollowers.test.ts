/** Tests that an entity that follows an anchor has its temperature ("Properties" in docs/methods/alignment.md). */
import { expect, test } from "vitest";
import { tabulateByYear } from "../../src/alignment/benchmark.ts";
import { NGFS_PHASE5 } from "../../src/alignment/benchmarkNgfsPhase5.ts";
import { PATHWAYS } from "../../src/contract/names.ts";
import { type AlignmentRule, computeAlignment } from "../../src/kernel/alignment.ts";
import { NO_GROWTH_SERIES, PATHWAY_INDEX } from "../../src/kernel/alignmentColumns.ts";
import { makeAlignmentTables } from "../../src/kernel/alignmentTables.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { pathwayIndex, scopePathways } from "../oracle/alignment2/benchmark.ts";
import { ENTITY_FLAGS, YEAR_FLAGS } from "../oracle/alignment2/flags.ts";
import { randomFrom } from "../seededRandom.ts";
import { oracleReference } from "./alignmentOracle.ts";

const kernel = await Kernel.load();
const tables = makeAlignmentTables(tabulateByYear(NGFS_PHASE5));
const { benchmark } = oracleReference();
const ANCHORS = [0, 1, 2, 3] as const;
const ANCHORS_CLOSE = 1 << [...ENTITY_FLAGS, ...YEAR_FLAGS].indexOf("anchors_close");
const ANCHOR_TEMPERATURES_C = NGFS_PHASE5.anchors.map(({ temperature_2100_c }) => temperature_2100_c);

interface Follower {
  readonly pathway: (typeof PATHWAYS)[number];
  readonly anchor: 0 | 1 | 2 | 3;
  readonly baseline: readonly [number, number, number];
  readonly years: readonly number[];
}

/** Aligns entities with a baseline of 2025 whose scopes follow an anchor, each on its own pathway. */
function alignFollowers(followers: readonly Follower[], basis: AlignmentRule["basis"]) {
  const rows = followers.flatMap(({ pathway, anchor, baseline, years }) =>
    years.map((year) => {
      const pathways = scopePathways(pathway);
      return {
        year,
        scopes: baseline.map(
          (emissions, scope) => emissions * pathwayIndex(benchmark, pathways[scope] ?? pathway, anchor, year),
        ),
      };
    }),
  );
  const baselineOf = (scope: number) => Float64Array.from(followers, ({ baseline }) => baseline[scope] ?? NaN);
  const projectedOf = (scope: number) => Float64Array.from(rows, ({ scopes }) => scopes[scope] ?? NaN);
  const starts = new Uint32Array(followers.length + 1);
  for (const [index, { years }] of followers.entries()) starts[index + 1] = (starts[index] ?? 0) + years.length;
  const outcome = computeAlignment(
    kernel,
    tables,
    {
      baselineYears: new Int32Array(followers.length).fill(2025),
      pathways: Uint8Array.from(followers, ({ pathway }) => PATHWAY_INDEX[pathway]),
      growthSeries: new Uint8Array(followers.length).fill(NO_GROWTH_SERIES),
      baselineScope1: baselineOf(0),
      baselineScope2: baselineOf(1),
      baselineScope3: baselineOf(2),
      starts,
      years: Int32Array.from(rows, ({ year }) => year),
      scope1: projectedOf(0),
      scope2: projectedOf(1),
      scope3: projectedOf(2),
    },
    { basis, scope3Weight: 1, gamma: 0 },
    { budget: 1 },
  );
  if (outcome.kind === "refused") throw new Error("refused");
  return outcome;
}

const YEARS = Array.from({ length: 31 }, (_, i) => 2030 + i);
const FOLLOWERS = PATHWAYS.flatMap((pathway) =>
  ANCHORS.map((anchor): Follower => ({ pathway, anchor, baseline: [100, NaN, NaN], years: YEARS })),
);

test("744 followers of an anchor have its temperature wherever no anchor was moved", () => {
  const { temperaturesC, rangeLowC, rangeHighC, flags } = alignFollowers(FOLLOWERS, "emissions");
  expect(temperaturesC).toHaveLength(744);
  let inOwnRangeCount = 0;
  for (const [row, temperatureC] of temperaturesC.entries()) {
    const anchorTemperatureC = ANCHOR_TEMPERATURES_C[FOLLOWERS[Math.floor(row / YEARS.length)]?.anchor ?? 0] ?? NaN;
    if (((flags[row] ?? 0) & ANCHORS_CLOSE) === 0) expect(temperatureC).toBeCloseTo(anchorTemperatureC, 13);
    if ((rangeLowC[row] ?? NaN) <= anchorTemperatureC && anchorTemperatureC <= (rangeHighC[row] ?? NaN))
      inOwnRangeCount++;
  }
  // The other 39 are in power and energy supply after 2044, where a pathway reaches zero.
  expect(inOwnRangeCount).toBe(705);
});

test.each([
  [
    "emissions",
    { transport: "2030-2031", energy_supply: "2030-2035 2048-2060", industry: "2030-2030", power: "2045-2060" },
  ],
  ["cumulative", { transport: "2030-2032", energy_supply: "2030-2037" }],
] as const)("moves anchors only in the years that the method lists: %s", (basis, expectedYears) => {
  const { flags } = alignFollowers(FOLLOWERS, basis);
  const moved: Record<string, string> = {};
  for (const [index, { pathway, anchor }] of FOLLOWERS.entries()) {
    const isMoved = (year: number): boolean =>
      YEARS.includes(year) && ((flags[index * YEARS.length + year - 2030] ?? 0) & ANCHORS_CLOSE) !== 0;
    const spans = YEARS.filter((year) => isMoved(year) && !isMoved(year - 1)).map((first) => {
      const last = YEARS.find((year) => year >= first && !isMoved(year + 1));
      return `${first}-${last}`;
    });
    if (anchor === 0 && spans.length > 0) moved[pathway] = spans.join(" ");
  }
  expect(moved).toEqual(expectedYears);
});

test("followers of Below 2°C on their pathway neither exceed nor undershoot its budget", () => {
  const { budgetProjected, budgetAllowed } = alignFollowers(FOLLOWERS, "intensity");
  for (const [index, { anchor }] of FOLLOWERS.entries()) {
    if (anchor !== 1) continue;
    for (let row = index * YEARS.length; row < (index + 1) * YEARS.length; row++) {
      expect(budgetProjected?.[row]).toBeCloseTo(budgetAllowed?.[row] ?? NaN, 9);
    }
  }
});

test("50,000 blends of pathways with random shares have the anchor's temperature where no anchor was moved", () => {
  const random = randomFrom(8);
  const followers = Array.from({ length: 50_000 }, (_, index): Follower => ({
    pathway: random.pick(PATHWAYS),
    anchor: ANCHORS[index % 4] ?? 0,
    baseline: [random.next(), random.next(), random.next()],
    years: [random.pick(YEARS)],
  }));
  const { temperaturesC, flags } = alignFollowers(followers, "emissions");
  let movedCount = 0;
  let largestC = 0;
  for (const [index, { anchor }] of followers.entries()) {
    if (((flags[index] ?? 0) & ANCHORS_CLOSE) !== 0) movedCount++;
    else {
      const difference = Math.abs((temperaturesC[index] ?? NaN) - (ANCHOR_TEMPERATURES_C[anchor] ?? NaN));
      if (!(difference <= 1e-13)) expect.fail(`${JSON.stringify(followers[index])} differs by ${difference}`);
      largestC = Math.max(largestC, difference);
    }
  }
  console.info(`${movedCount} of 50,000 blends with moved anchors; the others differ by at most ${largestC} degrees C`);
  expect(movedCount / followers.length).toBeGreaterThan(0.02);
  expect(movedCount / followers.length).toBeLessThan(0.12);
});
