import { describe, expect, test } from "vitest";
import { NGFS_PHASE5, tabulateByYear } from "../../src/alignment/benchmark.ts";
import { computeAlignment, type AlignmentRule } from "../../src/kernel/alignment.ts";
import { alignDetail } from "../../src/kernel/alignmentDetail.ts";
import { makeAlignmentTables } from "../../src/kernel/alignmentTables.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { columnsOf, randomEntity } from "../alignment/entities.ts";
import { type OracleEntity, scoreByDefinition } from "../oracle/alignment.ts";
import { randomFrom } from "../seededRandom.ts";
import { ALIGNMENT_FLAGS } from "../../src/contract/alignmentNames.ts";

const kernel = await Kernel.load();
const tables = makeAlignmentTables(tabulateByYear(NGFS_PHASE5));

const ENTITY_COUNT = Number(process.env["ISOTHERM_ALIGNMENT_ENTITIES"] ?? 5000);
const BATCH = 1000;
/** The reference implementation needs many minutes for a million entities. */
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

/** Returns the names of the flags in a mask, sorted. */
function flagNames(mask: number): string[] {
  return ALIGNMENT_FLAGS.filter((_, bit) => ((mask >> bit) & 1) === 1).toSorted();
}

describe("computeAlignment", () => {
  test.each(RULES)(
    "matches the reference implementation on random entities: $basis, scope 3 x $scope3Weight, gamma $gamma",
    (rule) => {
      const random = randomFrom(1);
      let worstC = 0;
      const met = new Set<string>();
      for (let done = 0; done < ENTITY_COUNT; done += BATCH) {
        const entities = Array.from({ length: Math.min(BATCH, ENTITY_COUNT - done) }, () => randomEntity(random));
        const columns = columnsOf(entities);
        const outcome = computeAlignment(kernel, tables, columns, rule);
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
      console.info(`${rule.basis}: ${ENTITY_COUNT} entities, largest difference ${worstC} degrees C`);
      expect([...met].toSorted()).toEqual([...flagNames(0x3ff8), "null"].toSorted());
    },
    TIMEOUT_MS,
  );
});

test("computeAlignment matches the reference implementation for benchmarks with anchors in any order", () => {
  const random = randomFrom(4);
  const rule = { basis: "intensity", scope3Weight: 1, gamma: 0 } as const;
  for (let round = 0; round < 60; round++) {
    const line = (): readonly number[] => [
      1,
      ...Array.from({ length: 7 }, () => random.between({ min: -0.1, max: 1.3 })),
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
    const randomTables = makeAlignmentTables(tabulateByYear(benchmark));
    const entities = Array.from({ length: 60 }, () => ({
      ...randomEntity(random),
      baselineYear: 2000 + random.below(25),
    })).map((entity) => ({
      ...entity,
      projections: entity.projections.map(({ emissions }) => ({ year: 2026 + random.below(50), emissions })),
    }));
    for (const basis of ["intensity", "cumulative"] as const) {
      const columns = columnsOf(entities);
      const outcome = computeAlignment(kernel, randomTables, columns, { ...rule, basis });
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

describe("computeAlignment with many entities", () => {
  const rule = { basis: "intensity", scope3Weight: 1, gamma: 0 } as const;

  /** Random entities, some without rows and some with more rows than a block or a batch of the kernel. */
  function mixedEntities(): OracleEntity[] {
    const random = randomFrom(6);
    const entities = Array.from({ length: 3000 }, () => randomEntity(random));
    for (const [index, rowCount] of [
      [0, 0],
      [7, 0],
      [8, 0],
      [400, 1023],
      [401, 1025],
      [402, 1],
      [1500, 8193],
      [2999, 0],
    ] as const) {
      const entity = entities[index] ?? randomEntity(random);
      const [projection = { year: 2200, emissions: [1, 1, 1] }] = entity.projections;
      entities[index] = { ...entity, projections: Array.from({ length: rowCount }, () => projection) };
    }
    return entities;
  }

  test.each(["intensity", "emissions"] as const)("returns the same bits as for each entity alone: %s", (basis) => {
    const entities = mixedEntities();
    const columns = columnsOf(entities);
    const together = computeAlignment(kernel, tables, columns, { ...rule, basis });
    if (together.kind === "refused") throw new Error("refused");
    expect(together.temperaturesC.length).toBe(columns.years.length);
    for (const [index, entity] of entities.entries()) {
      const alone = computeAlignment(kernel, tables, columnsOf([entity]), { ...rule, basis });
      if (alone.kind === "refused") throw new Error("refused");
      const rows = [columns.starts[index], columns.starts[index + 1]] as const;
      expect(together.temperaturesC.slice(...rows)).toEqual(alone.temperaturesC);
      expect(together.flags.slice(...rows)).toEqual(alone.flags);
      if (entity.projections.length < 1000) continue;
      // All rows of the long entities are equal.
      const short = computeAlignment(
        kernel,
        tables,
        columnsOf([{ ...entity, projections: entity.projections.slice(0, 1) }]),
        {
          ...rule,
          basis,
        },
      );
      if (short.kind === "refused") throw new Error("refused");
      expect(new Set(alone.temperaturesC)).toEqual(new Set(short.temperaturesC));
    }
  });

  test("returns the same results when called again", () => {
    const columns = columnsOf(mixedEntities());
    const first = computeAlignment(kernel, tables, columns, rule);
    expect(computeAlignment(kernel, tables, columns, rule)).toEqual(first);
  });

  test.each([
    { what: "a row before an entity", bad: [{ entity: 600, row: 1 }, { entity: 601 }], first: 600 },
    { what: "an entity before a row", bad: [{ entity: 600 }, { entity: 600, row: 0 }], first: 600 },
    {
      what: "both entities of a pair",
      bad: [
        { entity: 51, row: 0 },
        { entity: 50, row: 1 },
      ],
      first: 50,
    },
    { what: "an odd last row", bad: [{ entity: 3, row: 1 }], first: 3, count: 3 },
  ])("reports the first invalid value: $what", ({ bad, first, count = 700 }) => {
    const plain = {
      baselineYear: 2025,
      baseline: [1, 1, 1],
      pathway: "economy",
      region: 0,
      revenue: 1,
      reference: undefined,
    } as const;
    const projections = [2030, 2040].map((year) => ({ year, emissions: [1, 1, 1] }));
    const entities = Array.from({ length: count }, () => ({ ...plain, projections: projections.slice() }));
    if (count === 3) entities.unshift({ ...plain, projections: projections.slice(1) });
    const columns = columnsOf(entities);
    for (const { entity, row } of bad) {
      if (row === undefined) columns.baselineScope2[entity] = Infinity;
      else columns.scope1[(columns.starts[entity] ?? 0) + row] = -2e15;
    }
    const { row } = bad.find(({ entity }) => entity === first) ?? {};
    for (const basis of ["intensity", "cumulative"] as const) {
      expect(computeAlignment(kernel, tables, columns, { ...rule, basis })).toEqual({
        kind: "refused",
        entity: first,
        row: row === undefined ? undefined : (columns.starts[first] ?? 0) + row,
      });
    }
  });
});

describe("alignDetail", () => {
  test.each(RULES)("returns the same temperatures as computeAlignment on every basis: $basis, gamma $gamma", (rule) => {
    const random = randomFrom(2);
    const entities = Array.from({ length: 500 }, () => randomEntity(random));
    const columns = columnsOf(entities);
    for (const basis of ["intensity", "emissions", "cumulative"] as const) {
      const outcome = computeAlignment(kernel, tables, columns, { ...rule, basis });
      if (outcome.kind === "refused") throw new Error("refused");
      for (let entity = 0; entity < entities.length; entity++) {
        const rows = alignDetail(kernel, tables, columns, { ...rule, entity });
        const first = columns.starts[entity] ?? 0;
        const temperaturesC = Float64Array.from(rows, (row) => row[basis].temperatureC);
        expect(temperaturesC).toEqual(outcome.temperaturesC.slice(first, first + rows.length));
      }
    }
  });

  test("returns the ratio, anchors and single scopes of the reference implementation", () => {
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

test("alignDetail extrapolates a ratio to its horizon with an error below 1e-15", () => {
  const random = randomFrom(7);
  let worst = 0;
  for (let round = 0; round < 4000; round++) {
    const baselineYear = random.pick([1900, 1990, 2020, 2025, 2050]);
    const year = baselineYear + 1 + random.below(4);
    const ratio = random.pick([
      random.between({ min: 0.3, max: 1.5 }),
      10 ** random.between({ min: -14, max: 1 }),
      1 + random.between({ min: -1e-6, max: 1e-6 }),
      2 ** -random.below(60),
    ]);
    const columns = columnsOf([
      {
        baselineYear,
        baseline: [1, undefined, undefined],
        pathway: "economy",
        region: 0,
        revenue: 1,
        reference: undefined,
        projections: [{ year, emissions: [ratio, undefined, undefined] }],
      },
    ]);
    const rule = { basis: "emissions", scope3Weight: 1, gamma: 0, entity: 0 } as const;
    const [row] = alignDetail(kernel, tables, columns, rule);
    const exponent = (Math.max(year, baselineYear + 5, 2030) - baselineYear) / (year - baselineYear);
    const expected = Math.min(ratio ** exponent, 10);
    const difference = Math.abs((row?.emissions.ratioQ ?? NaN) - expected);
    // Subnormal results may be 0; this does not affect any temperature.
    const error = difference < 1e-300 ? 0 : difference / expected / (2 + Math.abs(Math.log2(expected)));
    expect(error, `${ratio} ** ${exponent}`).toBeLessThan(1e-15);
    worst = Math.max(worst, error);
  }
  console.info(`powers: largest relative error ${worst} x (2 + |log2 of the result|)`);
});

describe("makeAlignmentTables", () => {
  test("rejects a benchmark with gaps", () => {
    const complete = tabulateByYear(NGFS_PHASE5);
    expect(() => makeAlignmentTables({ ...complete, index: complete.index.subarray(1) })).toThrow(RangeError);
    expect(() => makeAlignmentTables({ ...complete, growth: complete.growth.subarray(1) })).toThrow(RangeError);
    expect(() => makeAlignmentTables({ ...complete, anchorTemperaturesC: [1, 2, 3] })).toThrow(RangeError);
  });
});
