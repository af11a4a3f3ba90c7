import { describe, expect, test } from "vitest";
import { type Benchmark, tabulateByYear } from "../../src/alignment/benchmark.ts";
import { NGFS_PHASE5 } from "../../src/alignment/benchmarkNgfsPhase5.ts";
import { type AlignmentRule, computeAlignment } from "../../src/kernel/alignment.ts";
import type { AlignedColumns, EntityColumns } from "../../src/kernel/alignmentColumns.ts";
import { makeAlignmentTables } from "../../src/kernel/alignmentTables.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { randomFrom } from "../seededRandom.ts";
import { compareWithOracle, INCLUDES, RULES } from "./alignmentComparison.ts";
import { columnsOfEntities, type OracleEntity, oracleReference, randomOracleEntity } from "./alignmentOracle.ts";

const kernel = await Kernel.load();
const tables = makeAlignmentTables(tabulateByYear(NGFS_PHASE5));
const reference = oracleReference();
const DEFAULT_RULE: AlignmentRule = { basis: "intensity", scope3Weight: 1, gamma: 0 };

function randomEntities(count: number, rule: AlignmentRule, firstSeed = 1): OracleEntity[] {
  return Array.from({ length: count }, (_, i) => randomOracleEntity(reference, rule, firstSeed + i));
}

function align(columns: EntityColumns, rule = DEFAULT_RULE, include = {}): AlignedColumns {
  const outcome = computeAlignment(kernel, tables, columns, rule, include);
  if (outcome.kind === "refused") throw new Error(`refused: ${JSON.stringify(outcome)}`);
  const { kind: _, ...results } = outcome;
  return results;
}

test.each(RULES)(
  "computeAlignment matches the reference implementation: $basis, scope 3 x $scope3Weight, gamma $gamma",
  (rule) => {
    const entities = randomEntities(120, rule);
    const columns = columnsOfEntities(entities);
    const outcomes = INCLUDES.map((callInclude) => computeAlignment(kernel, tables, columns, rule, callInclude));
    const { rowCount, emptyCount } = compareWithOracle(reference, entities, { rule, include: INCLUDES, outcomes });
    expect(rowCount).toBeGreaterThan(250);
    expect(emptyCount).toBeGreaterThan(3);
  },
);

test("computeAlignment matches the reference implementation for benchmarks with anchors in any order", () => {
  const random = randomFrom(4);
  for (let round = 0; round < 12; round++) {
    const line = (): readonly number[] => [
      1,
      ...Array.from({ length: 7 }, () => random.between({ min: -0.1, max: 1.3 })),
    ];
    const four = () => [line(), line(), line(), line()] as const;
    const benchmark: Benchmark = {
      ...NGFS_PHASE5,
      pathways: {
        economy: four(),
        power: four(),
        energy_supply: four(),
        industry: four(),
        transport: four(),
        buildings: four(),
      },
    };
    const randomTables = makeAlignmentTables(tabulateByYear(benchmark));
    const randomReference = oracleReference(benchmark);
    for (const basis of ["intensity", "cumulative"] as const) {
      const rule = { basis, scope3Weight: 1, gamma: 0 };
      // The world's index may be negative after 2025, so that no baseline can be compared with it.
      const entities = randomEntities(40, rule, 100 * round).filter(({ rows }) => (rows[0]?.baselineYear ?? 0) <= 2025);
      const columns = columnsOfEntities(entities);
      const outcomes = INCLUDES.map((callInclude) =>
        computeAlignment(kernel, randomTables, columns, rule, callInclude),
      );
      compareWithOracle(randomReference, entities, { rule, include: INCLUDES, outcomes });
    }
  }
});

describe("computeAlignment with many entities", () => {
  /** Random entities, some with more rows than a block or a batch of the kernel. */
  function mixedColumns(rule: AlignmentRule): { readonly entities: readonly OracleEntity[]; columns: EntityColumns } {
    const entities = randomEntities(500, rule);
    for (const [index, rowCount] of [
      [8, 511],
      [400, 512],
      [401, 513],
      [402, 1],
      [450, 4097],
    ] as const) {
      const { rows = [] } = entities[index] ?? {};
      entities[index] = {
        rows: Array.from({ length: rowCount }, (_, i) => rows[i % rows.length] ?? rows[0]).flatMap((row) => row ?? []),
        labels: Array.from({ length: rowCount }, () => 0),
      };
    }
    return { entities, columns: columnsOfEntities(entities) };
  }

  test.each([
    { rule: DEFAULT_RULE, include: {} },
    { rule: { ...DEFAULT_RULE, basis: "emissions" } as const, include: { climateRange: true, overall: true } },
    { rule: { ...DEFAULT_RULE, basis: "cumulative" } as const, include: { byScope: true, budget: 2 } },
  ])("returns the same bits as for each entity alone: $rule.basis", ({ rule, include }) => {
    const { entities, columns } = mixedColumns(rule);
    const together = align(columns, rule, include);
    for (const [index, entity] of entities.entries()) {
      const alone = align(columnsOfEntities([entity]), rule, include);
      const [begin, end] = [columns.starts[index], columns.starts[index + 1]];
      for (const [name, values] of Object.entries(alone)) {
        if (values === undefined) continue;
        expect(together[name as keyof AlignedColumns]?.slice(begin, end)).toEqual(values);
      }
    }
  });

  test("accepts entities without rows", () => {
    const { columns } = mixedColumns(DEFAULT_RULE);
    // Two entities without rows at the start, one at the end.
    const withEmpty = {
      ...columns,
      starts: Uint32Array.from([0, 0, ...columns.starts, columns.years.length]),
      ...Object.fromEntries(
        (
          ["baselineYears", "pathways", "growthSeries", "baselineScope1", "baselineScope2", "baselineScope3"] as const
        ).map((name) => [name, withThreeMore(columns[name])]),
      ),
      baselineRevenues: undefined,
      projectedRevenues: undefined,
      convergenceRevenues: undefined,
      references: undefined,
    };
    const { baselineRevenues: _, projectedRevenues: __, ...rest } = columns;
    expect(align(withEmpty).temperaturesC).toEqual(align(rest).temperaturesC);
  });

  test("returns the same results when called again, and writes them to given arrays", () => {
    const { columns } = mixedColumns(DEFAULT_RULE);
    const first = align(columns);
    const into = align(columns, { ...DEFAULT_RULE, scope3Weight: 0 });
    const outcome = computeAlignment(kernel, tables, columns, DEFAULT_RULE, {}, into);
    expect(outcome).toEqual({ kind: "aligned", ...first });
    expect(into.flags).toEqual(first.flags);
  });

  test("rejects result arrays that are missing or of the wrong length", () => {
    const columns = columnsOfEntities(randomEntities(3, DEFAULT_RULE));
    const into = align(columns);
    expect(() => computeAlignment(kernel, tables, columns, DEFAULT_RULE, { overall: true }, into)).toThrow(RangeError);
    const short = { ...into, flags: into.flags.subarray(1) };
    expect(() => computeAlignment(kernel, tables, columns, DEFAULT_RULE, {}, short)).toThrow(RangeError);
    expect(() => computeAlignment(kernel, tables, columns, DEFAULT_RULE, { budget: 4 })).toThrow(RangeError);
  });

  test.each([
    { what: "a row before an entity", invalidValues: [{ entity: 600, row: 1 }, { entity: 601 }], first: 600 },
    { what: "an entity before a row", invalidValues: [{ entity: 600 }, { entity: 600, row: 0 }], first: 600 },
    {
      what: "two neighboring entities",
      invalidValues: [
        { entity: 51, row: 0 },
        { entity: 50, row: 1 },
      ],
      first: 50,
    },
    { what: "an odd last row", invalidValues: [{ entity: 2, row: 0 }], first: 2, rowCount: 1, count: 3 },
  ])("reports the first invalid value: $what", ({ invalidValues, first, rowCount = 2, count = 700 }) => {
    const columns = plainColumns(count, rowCount);
    for (const { entity, row } of invalidValues) {
      if (row === undefined) columns.baselineScope2[entity] = Infinity;
      else columns.scope1[entity * rowCount + row] = -2e15;
    }
    const { row } = invalidValues.find(({ entity }) => entity === first) ?? {};
    for (const basis of ["intensity", "cumulative"] as const) {
      expect(computeAlignment(kernel, tables, columns, { ...DEFAULT_RULE, basis })).toEqual({
        kind: "refused",
        entity: first,
        row: row === undefined ? undefined : first * rowCount + row,
      });
    }
  });

  test.each([
    ["a label that is not below the number of rows", { labels: Uint16Array.of(0, 0, 0, 2, 0, 0) }, 3],
    ["an infinite projected revenue", { projectedRevenues: Float64Array.of(1, 1, 1, 1, -Infinity, 1) }, 4],
    ["a baseline revenue above 1e15", { baselineRevenues: Float64Array.of(1, 2e15, 1) }, undefined],
    ["an unknown growth series", { growthSeries: Uint8Array.of(0, 192, 0) }, undefined],
  ])("refuses %s", (_, invalidColumns, row) => {
    const columns = { ...plainColumns(3, 2), ...invalidColumns };
    for (const basis of ["intensity", "cumulative"] as const) {
      const outcome = computeAlignment(kernel, tables, columns, { ...DEFAULT_RULE, basis });
      expect(outcome).toEqual({ kind: "refused", entity: row === undefined ? 1 : Math.floor(row / 2), row });
    }
  });
});

/** Returns equal entities with a baseline of 2025. */
function plainColumns(entityCount: number, rowCount: number): EntityColumns {
  const filled = (length: number): Float64Array => new Float64Array(length).fill(1);
  return {
    baselineYears: new Int32Array(entityCount).fill(2025),
    pathways: new Uint8Array(entityCount),
    growthSeries: new Uint8Array(entityCount),
    baselineScope1: filled(entityCount),
    baselineScope2: filled(entityCount),
    baselineScope3: filled(entityCount),
    starts: Uint32Array.from({ length: entityCount + 1 }, (_, i) => i * rowCount),
    years: Int32Array.from({ length: entityCount * rowCount }, (_, i) => 2030 + 10 * (i % rowCount)),
    scope1: filled(entityCount * rowCount),
    scope2: filled(entityCount * rowCount),
    scope3: filled(entityCount * rowCount),
  };
}

/** Returns a column with two more elements at the start and one at the end, equal to its first. */
function withThreeMore<Column extends Int32Array | Uint8Array | Float64Array>(column: Column): Column {
  const more = new (column.constructor as new (length: number) => Column)(column.length + 3).fill(column[0] ?? 0);
  more.set(column, 2);
  return more as Column;
}

describe("makeAlignmentTables", () => {
  const complete = tabulateByYear(NGFS_PHASE5);
  test.each([
    ["an index without its first value", { index: complete.index.subarray(1) }],
    [
      "a growth series without its first year",
      { growth: [complete.growth[0]?.subarray(1), ...complete.growth.slice(1)] },
    ],
    ["too few elements of isRegion", { isRegion: complete.isRegion.slice(1) }],
    ["a missing pooled series", { pooledSeries: 192 }],
    ["three anchors", { warming: { ...complete.warming, p10: { ...complete.warming.p10, anchorsC: [1, 2, 3] } } }],
  ])("rejects %s", (_, change) => {
    expect(() => makeAlignmentTables({ ...complete, ...change } as typeof complete)).toThrow(RangeError);
  });
});
