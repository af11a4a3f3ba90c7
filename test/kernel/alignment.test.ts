import { describe, expect, test } from "vitest";
import { ALIGNMENT_FLAGS } from "../../src/alignment/align.ts";
import { NGFS_PHASE5, yearly } from "../../src/alignment/benchmark.ts";
import { type AlignmentRule, alignColumns, alignDetail, makeAlignmentTables } from "../../src/kernel/alignment.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { columnsOf, randomEntity } from "../alignment/entities.ts";
import { scoreByDefinition } from "../oracle/alignment.ts";
import { randomFrom } from "../seededRandom.ts";

const kernel = await Kernel.load();
const tables = makeAlignmentTables(yearly(NGFS_PHASE5));

const ENTITY_COUNT = Number(process.env["ISOTHERM_ALIGNMENT_ENTITIES"] ?? 5000);
const BATCH = 1000;
/** A million entities take the definition many minutes. */
const TIMEOUT_MS = Math.max(60_000, ENTITY_COUNT * 2);
const TOLERANCE_C = 1e-9;

const RULES: readonly AlignmentRule[] = [
  { basis: "intensity", scope3Weight: 1, gamma: 0 },
  { basis: "emissions", scope3Weight: 1, gamma: 0 },
  { basis: "cumulative", scope3Weight: 1, gamma: 0 },
  { basis: "intensity", scope3Weight: 1, gamma: 0.5 },
  { basis: "emissions", scope3Weight: 0.3, gamma: 1 },
  { basis: "intensity", scope3Weight: 0, gamma: 0 },
  { basis: "cumulative", scope3Weight: 0.5, gamma: 0.5 },
];

/** Flags that the kernel can know of. */
function flagNames(mask: number): string[] {
  return ALIGNMENT_FLAGS.filter((_, bit) => ((mask >> bit) & 1) === 1).toSorted();
}

describe("the kernel and the definition", () => {
  test.each(RULES)(
    "agree on random entities of every kind: $basis, scope 3 x $scope3Weight, gamma $gamma",
    (rule) => {
      const random = randomFrom(1);
      let worstC = 0;
      const met = new Set<string>();
      for (let done = 0; done < ENTITY_COUNT; done += BATCH) {
        const entities = Array.from({ length: Math.min(BATCH, ENTITY_COUNT - done) }, () => randomEntity(random));
        const columns = columnsOf(entities);
        const outcome = alignColumns(kernel, tables, columns, rule);
        if (outcome.kind === "refused") throw new Error(`refused: ${JSON.stringify(entities[outcome.entity])}`);
        const { temperaturesC, flags } = outcome;
        for (const [index, entity] of entities.entries()) {
          for (let i = 0; i < entity.projections.length; i++) {
            const row = (columns.starts[index] ?? 0) + i;
            const expected = scoreByDefinition(NGFS_PHASE5, entity, rule, i);
            const got = temperaturesC[row] ?? NaN;
            const context = (): string => JSON.stringify({ rule, i, entity, got, expected: expected.temperatureC });
            const difference = Math.abs(got - (expected.temperatureC ?? NaN));
            if (expected.temperatureC === undefined ? !Number.isNaN(got) : !(difference <= TOLERANCE_C)) {
              expect.fail(context());
            }
            worstC = Math.max(worstC, difference || 0);
            const names = flagNames(flags[row] ?? 0);
            if (names.join() !== [...expected.flags].toSorted().join()) {
              expect.fail(`${names.join()} but ${[...expected.flags].toSorted().join()}: ${context()}`);
            }
            for (const name of names) met.add(name);
            if (expected.temperatureC === undefined) met.add("null");
          }
        }
      }
      console.info(`${rule.basis}: ${ENTITY_COUNT} entities, at most ${worstC} degrees C off`);
      expect([...met].toSorted()).toEqual([...flagNames(0x3ff8), "null"].toSorted());
    },
    TIMEOUT_MS,
  );
});

test("the kernel and the definition agree on made-up benchmarks, whose anchors lie in any order", () => {
  const random = randomFrom(4);
  const rule = { basis: "intensity", scope3Weight: 1, gamma: 0 } as const;
  for (let round = 0; round < 60; round++) {
    const line = (): readonly number[] => [
      1,
      ...Array.from({ length: 7 }, () => random.between({ least: -0.1, most: 1.3 })),
    ];
    const benchmark = {
      ...NGFS_PHASE5,
      pathways: {
        economy: [line(), line(), line(), line()],
        power: [line(), line(), line(), line()],
        energy_supply: [line(), line(), line(), line()],
        industry: [line(), line(), line(), line()],
        transport: [line(), line(), line(), line()],
        buildings: [line(), line(), line(), line()],
      },
    } as const;
    const madeUp = makeAlignmentTables(yearly(benchmark));
    const entities = Array.from({ length: 60 }, () => ({
      ...randomEntity(random),
      baselineYear: 2000 + random.below(25),
    })).map((entity) => ({
      ...entity,
      projections: entity.projections.map(({ emissions }) => ({ year: 2026 + random.below(50), emissions })),
    }));
    for (const basis of ["intensity", "cumulative"] as const) {
      const columns = columnsOf(entities);
      const outcome = alignColumns(kernel, madeUp, columns, { ...rule, basis });
      if (outcome.kind === "refused") throw new Error("refused");
      for (const [index, entity] of entities.entries()) {
        for (let i = 0; i < entity.projections.length; i++) {
          const expected = scoreByDefinition(benchmark, entity, { ...rule, basis }, i).temperatureC ?? NaN;
          const got: number = outcome.temperaturesC[(columns.starts[index] ?? 0) + i] ?? NaN;
          if (!(Math.abs(got - expected) <= TOLERANCE_C) && !(Number.isNaN(got) && Number.isNaN(expected))) {
            expect.fail(JSON.stringify({ basis, i, entity, got, expected }));
          }
        }
      }
    }
  }
});

describe("the detail of a row", () => {
  test.each(RULES)("has the bits of the columns in every form: $basis, gamma $gamma", (rule) => {
    const random = randomFrom(2);
    const entities = Array.from({ length: 500 }, () => randomEntity(random));
    const columns = columnsOf(entities);
    for (const basis of ["intensity", "emissions", "cumulative"] as const) {
      const outcome = alignColumns(kernel, tables, columns, { ...rule, basis });
      if (outcome.kind === "refused") throw new Error("refused");
      for (let entity = 0; entity < entities.length; entity++) {
        const rows = alignDetail(kernel, tables, columns, { ...rule, entity });
        const first = columns.starts[entity] ?? 0;
        const temperaturesC = Float64Array.from(rows, (row) => row[basis].temperatureC);
        expect(temperaturesC).toEqual(outcome.temperaturesC.slice(first, first + rows.length));
      }
    }
  });

  test("shows q, anchors and single scopes as the definition has them", () => {
    const random = randomFrom(3);
    const rule = { basis: "intensity", scope3Weight: 0.7, gamma: 0.5 } as const;
    const entities = Array.from({ length: 500 }, () => randomEntity(random));
    const columns = columnsOf(entities);
    let compared = 0;
    for (const [index, entity] of entities.entries()) {
      for (const [i, row] of alignDetail(kernel, tables, columns, { ...rule, entity: index }).entries()) {
        const expected = scoreByDefinition(NGFS_PHASE5, entity, rule, i);
        if (expected.anchors !== undefined && expected.ratioQ !== undefined) {
          compared++;
          expect(row.intensity.ratioQ / expected.ratioQ || 1).toBeCloseTo(1, 9);
          for (const [s, x] of expected.anchors.entries()) expect(row.intensity.anchors[s]).toBeCloseTo(x, 12);
        }
        for (const scope of [0, 1, 2]) {
          const alone = (scopes: readonly (number | undefined)[]) =>
            scopes.map((e, at) => (at === scope ? e : undefined));
          const projections = entity.projections.map(({ year, emissions }) => ({ year, emissions: alone(emissions) }));
          const single = scoreByDefinition(
            NGFS_PHASE5,
            { ...entity, baseline: alone(entity.baseline), projections },
            rule,
            i,
          );
          const got = row.byScope[scope]?.temperatureC ?? NaN;
          if (single.temperatureC === undefined) expect(got).toBeNaN();
          else expect(got).toBeCloseTo(single.temperatureC, 9);
        }
      }
    }
    expect(compared).toBeGreaterThan(500);
  });
});

describe("the tables", () => {
  test("take no benchmark with gaps", () => {
    const whole = yearly(NGFS_PHASE5);
    expect(() => makeAlignmentTables({ ...whole, index: whole.index.subarray(1) })).toThrow(RangeError);
    expect(() => makeAlignmentTables({ ...whole, growth: whole.growth.subarray(1) })).toThrow(RangeError);
    expect(() => makeAlignmentTables({ ...whole, anchorTemperaturesC: [1, 2, 3] })).toThrow(RangeError);
  });
});
