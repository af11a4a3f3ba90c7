import { describe, expect, test } from "vitest";
import { alignColumns } from "../../src/alignment/alignColumns.ts";
import { NGFS_PHASE5 } from "../../src/alignment/benchmark.ts";
import type { AlignmentBasis } from "../../src/contract/wireTypes.ts";
import type { OracleEntity } from "../oracle/alignment.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { columnsOf, PATHWAYS, randomEntity, REGION_COUNT } from "./entities.ts";
import { ALIGNMENT_BASES, ALIGNMENT_FLAGS } from "../../src/contract/alignmentNames.ts";
import type { Pathway } from "../../src/contract/wireTypes.ts";

const PAIR_COUNT = Number(process.env["ISOTHERM_ALIGNMENT_PAIRS"] ?? 6000);
const BATCH = 2000;
const TIMEOUT_MS = Math.max(60_000, PAIR_COUNT);

const ANCHORS_CLOSE = 1 << ALIGNMENT_FLAGS.indexOf("anchors_close");
const ANCHOR_TEMPERATURES_C = NGFS_PHASE5.anchors.map(({ temperature_2100_c }) => temperature_2100_c);

/** Returns the index of a pathway in one year, read directly from the table. */
function indexOf(pathway: Pathway, at: { readonly anchor: number; readonly year: number }): number {
  const years = NGFS_PHASE5.pathwayYears;
  const values = NGFS_PHASE5.pathways[pathway][at.anchor] ?? [];
  const after = years.findIndex((year) => year >= at.year);
  if (after === 0) return 1;
  if (after < 0) return values.at(-1) ?? NaN;
  const [from = NaN, to = NaN] = [years[after - 1], years[after]];
  const [low = NaN, high = NaN] = [values[after - 1], values[after]];
  return low + ((high - low) * (at.year - from)) / (to - from);
}

/** Creates an entity with scope 1 emissions that follow an anchor of its pathway in one year. */
function follower(of: {
  readonly pathway: Pathway;
  readonly anchor: number;
  readonly year: number;
  readonly baselineYear: number;
}): OracleEntity {
  const { pathway, anchor, year, baselineYear } = of;
  const since = baselineYear <= 2025 ? 1 : indexOf(pathway, { anchor: 3, year: baselineYear });
  return {
    baselineYear,
    baseline: [700, undefined, undefined],
    pathway,
    region: 0,
    projections: [{ year, emissions: [(700 * indexOf(pathway, { anchor, year })) / since, undefined, undefined] }],
  };
}

describe("an entity that follows a scenario has the warming of that scenario", () => {
  const followers = PATHWAYS.flatMap((pathway) =>
    [0, 1, 2, 3].flatMap((anchor) =>
      [2000, 2020, 2024, 2025, 2026, 2030, 2041].flatMap((baselineYear) =>
        Array.from({ length: 31 }, (_, i) => 2030 + i)
          .filter((year) => year >= baselineYear + 5)
          .map((year) => ({ pathway, anchor, year, baselineYear })),
      ),
    ),
  );

  test.each(["intensity", "emissions"] as const)(
    "in every year from the shortest horizon to 2060 in which the anchors are ordered: %s",
    async (basis) => {
      const { temperaturesC, flags } = await alignColumns(columnsOf(followers.map(follower)), { basis });
      let exact = 0;
      const close = new Set<string>();
      for (const [row, { pathway, anchor, year, baselineYear }] of followers.entries()) {
        if (((flags[row] ?? 0) & ANCHORS_CLOSE) !== 0) {
          if (baselineYear <= 2025) close.add(`${pathway} ${year}`);
          continue;
        }
        exact++;
        const offC = Math.abs((temperaturesC[row] ?? NaN) - (ANCHOR_TEMPERATURES_C[anchor] ?? NaN));
        if (!(offC <= 1e-9)) expect.fail(`${pathway}, anchor ${anchor}, ${baselineYear} to ${year}: ${offC}`);
      }
      expect(exact).toBeGreaterThan(0.75 * followers.length);
      const from = (pathway: Pathway, first: number, last: number): string[] =>
        Array.from({ length: last - first + 1 }, (_, i) => `${pathway} ${first + i}`);
      expect([...close].toSorted()).toEqual(
        [
          ...from("transport", 2030, 2031),
          ...from("industry", 2030, 2030),
          ...from("energy_supply", 2030, 2035),
          ...from("energy_supply", 2048, 2060),
          ...from("power", 2045, 2060),
        ].toSorted(),
      );
    },
  );

  test("with three scopes on their own pathways, and in a faster economy with proportionally higher emissions", async () => {
    const entities: OracleEntity[] = [];
    for (let region = 0; region < REGION_COUNT; region++) {
      for (const anchor of [0, 1, 2, 3]) {
        const at = { anchor, year: 2040 };
        const sizeOf = (r: number): number =>
          (NGFS_PHASE5.growth[r]?.index[4] ?? NaN) / (NGFS_PHASE5.growth[r]?.index[1] ?? NaN);
        const growth = sizeOf(region) / sizeOf(0);
        const emissions = (["industry", "power", "economy"] as const).map(
          (pathway, i) => (i + 1) * indexOf(pathway, at) * growth,
        );
        entities.push({
          baselineYear: 2025,
          baseline: [1, 2, 3],
          pathway: "industry",
          region,
          projections: [{ year: 2040, emissions }],
        });
      }
    }
    const { temperaturesC } = await alignColumns(columnsOf(entities));
    for (const [row, temperatureC] of temperaturesC.entries()) {
      expect(temperatureC).toBeCloseTo(ANCHOR_TEMPERATURES_C[row % 4] ?? NaN, 9);
    }
  });

  test("cumulative: if it follows the scenario in every year", async () => {
    const entities = PATHWAYS.flatMap((pathway) =>
      [0, 1, 2, 3].map((anchor): OracleEntity => ({
        baselineYear: 2025,
        baseline: [1, undefined, undefined],
        pathway,
        region: 1,
        projections: NGFS_PHASE5.pathwayYears
          .slice(1, 5)
          .map((year) => ({ year, emissions: [indexOf(pathway, { anchor, year }), undefined, undefined] })),
      })),
    );
    const { temperaturesC, flags } = await alignColumns(columnsOf(entities), { basis: "cumulative" });
    let exact = 0;
    for (const [row, temperatureC] of temperaturesC.entries()) {
      if (((flags[row] ?? 0) & ANCHORS_CLOSE) !== 0) continue;
      exact++;
      expect(temperatureC).toBeCloseTo(ANCHOR_TEMPERATURES_C[Math.floor(row / 4) % 4] ?? NaN, 9);
    }
    expect(exact).toBeGreaterThan(70);
  });
});

/** Returns entities of ordinary size with a positive baseline, half of them with removals in some scope. */
function lawEntity(random: SeededRandom): OracleEntity {
  const hasRemovals = random.chance(0.5);
  const baselineYear = 2000 + random.below(45);
  const amount = (): number | undefined => {
    if (random.chance(0.1)) return undefined;
    return 100 * random.between({ min: hasRemovals && random.chance(0.3) ? -0.6 : 0, max: 1 });
  };
  const baseline = [100 * random.between({ min: 0.01, max: 1 }), amount(), amount()];
  const projections = Array.from({ length: 1 + random.below(4) }, () => ({
    year: baselineYear + 1 + random.below(45),
    emissions: baseline.map((before) =>
      before === undefined ? amount() : before * random.between({ min: hasRemovals ? -0.3 : 0, max: 1.8 }),
    ),
  }));
  return { baselineYear, baseline, pathway: random.pick(PATHWAYS), region: random.below(REGION_COUNT), projections };
}

/** Scores pairs of entities and passes both scores of every row to the callback. */
async function forPairs(
  make: (random: SeededRandom) => readonly [OracleEntity, OracleEntity],
  of: { readonly seed: number; readonly basis: AlignmentBasis; readonly gamma?: number },
  judge: (pair: { readonly beforeC: number; readonly afterC: number; readonly show: () => string }) => void,
): Promise<void> {
  const random = randomFrom(of.seed);
  const options = { basis: of.basis, ...(of.gamma === undefined ? {} : { convergence: { gamma: of.gamma } }) };
  for (let done = 0; done < PAIR_COUNT; done += BATCH) {
    const pairs = Array.from({ length: Math.min(BATCH, PAIR_COUNT - done) }, () => make(random));
    const before = await alignColumns(columnsOf(pairs.map(([first]) => first)), options);
    const after = await alignColumns(columnsOf(pairs.map(([, second]) => second)), options);
    let row = 0;
    for (const pair of pairs) {
      for (let i = 0; i < pair[0].projections.length; i++, row++) {
        const beforeC = before.temperaturesC[row] ?? NaN;
        const afterC = after.temperaturesC[row] ?? NaN;
        judge({ beforeC, afterC, show: () => JSON.stringify({ i, beforeC, afterC, pair }) });
      }
    }
  }
}

/** Returns the entity with higher emissions in one scope of one projected year. */
function raised(entity: OracleEntity, random: SeededRandom): OracleEntity {
  const at = random.below(entity.projections.length);
  const scope = random.below(3);
  const by = 10 ** random.between({ min: -6, max: 2.5 });
  const projections = entity.projections.map(({ year, emissions }, i) => ({
    year,
    emissions: emissions.map((e, s) => (i === at && s === scope && e !== undefined ? e + by : e)),
  }));
  return { ...entity, projections };
}

describe.each(ALIGNMENT_BASES)("properties of the method, basis %s", (basis) => {
  test(
    "higher emissions never lower the temperature",
    async () => {
      let risen = 0;
      await forPairs(
        (random) => {
          const entity = lawEntity(random);
          return [entity, raised(entity, random)];
        },
        { seed: 21, basis },
        ({ beforeC, afterC, show }) => {
          // Tolerance of 1e-9 for rounding.
          if (afterC < beforeC - 1e-9) expect.fail(show());
          if (afterC > beforeC) risen++;
        },
      );
      expect(risen).toBeGreaterThan(PAIR_COUNT / 4);
    },
    TIMEOUT_MS,
  );

  test(
    "the temperature is continuous in every emission",
    async () => {
      let moved = 0;
      await forPairs(
        (random) => {
          const entity = lawEntity(random);
          const scope = random.below(3);
          const nudged = (scopes: OracleEntity["baseline"]) =>
            scopes.map((e, s) => (s === scope && e !== undefined ? e + 1e-9 * random.between({ min: -1, max: 1 }) : e));
          return [
            entity,
            {
              ...entity,
              baseline: nudged(entity.baseline),
              projections: entity.projections.map(({ year, emissions }) => ({ year, emissions: nudged(emissions) })),
            },
          ];
        },
        { seed: 22, basis },
        ({ beforeC, afterC, show }) => {
          if (Number.isNaN(beforeC) && Number.isNaN(afterC)) return;
          // Steepest slope: 145 degrees per unit, times the amplification by the exponent for short horizons.
          if (!(Math.abs(afterC - beforeC) < 1e-4)) expect.fail(show());
          if (afterC !== beforeC) moved++;
        },
      );
      expect(moved).toBeGreaterThan(PAIR_COUNT / 4);
    },
    TIMEOUT_MS,
  );

  test(
    "the temperature does not depend on the unit of emissions",
    async () => {
      await forPairs(
        (random) => {
          const entity = lawEntity(random);
          const factor = 10 ** random.between({ min: -6, max: 9 });
          const scaled = (scopes: OracleEntity["baseline"]) => scopes.map((e) => (e === undefined ? e : e * factor));
          return [
            entity,
            {
              ...entity,
              baseline: scaled(entity.baseline),
              projections: entity.projections.map(({ year, emissions }) => ({ year, emissions: scaled(emissions) })),
            },
          ];
        },
        { seed: 23, basis },
        ({ beforeC, afterC, show }) => {
          if (Number.isNaN(beforeC) && Number.isNaN(afterC)) return;
          if (!(Math.abs(afterC - beforeC) <= 1e-9)) expect.fail(show());
        },
      );
    },
    TIMEOUT_MS,
  );

  test(
    "temperatures are between 1.3 and 6",
    async () => {
      let low = 0;
      let high = 0;
      await forPairs(
        (random) => {
          const entity = randomEntity(random);
          return [entity, raised({ ...entity, projections: entity.projections.map(capped) }, random)];
        },
        { seed: 24, basis, gamma: 0.5 },
        ({ beforeC, afterC, show }) => {
          for (const temperatureC of [beforeC, afterC]) {
            if (temperatureC < 1.3 || temperatureC > 6) expect.fail(show());
            if (temperatureC === 1.3) low++;
            if (temperatureC === 6) high++;
          }
        },
      );
      expect(Math.min(low, high)).toBeGreaterThan(PAIR_COUNT / 100);
    },
    TIMEOUT_MS,
  );
});

/** Margin for the added emissions. */
function capped({ year, emissions }: OracleEntity["projections"][number]): OracleEntity["projections"][number] {
  return { year, emissions: emissions.map((e) => (e === undefined ? e : Math.min(e, 9e14))) };
}
