import { describe, expect, test } from "vitest";
import { alignColumns } from "../../src/alignment/alignColumns.ts";
import { alignTemperature } from "../../src/alignment/alignTemperature.ts";
import { NGFS_PHASE5 } from "../../src/alignment/benchmark.ts";
import type { AlignTemperatureOptions } from "../../src/alignment/options.ts";
import { isFault } from "../../src/errors.ts";
import { type OracleEntity, scoreByDefinition } from "../oracle/alignment.ts";
import { randomFrom } from "../seededRandom.ts";
import { columnsOf, randomEntity } from "./entities.ts";
import { ALIGNMENT_FLAGS } from "../../src/contract/alignmentNames.ts";
import type { Entity } from "../../src/contract/wireTypes.ts";

describe("invalid options and columns", () => {
  const entity: Entity = {
    entity_info: { name: "Example", asset_type: "equity" },
    data: [{ year: 2025, emissions: { scope1: 1 } }],
    projected_emissions: [{ year: 2030, emissions: { scope1: 1 } }],
  };
  test.each([
    { options: { basis: "level" }, pointer: "/basis" },
    { options: { scope3Weight: 1.1 }, pointer: "/scope3Weight" },
    { options: { scope3Weight: NaN }, pointer: "/scope3Weight" },
    { options: { convergence: { gamma: -1 } }, pointer: "/convergence/gamma" },
  ])("rejects $pointer", async ({ options, pointer }) => {
    const error: unknown = await alignTemperature([entity], options as AlignTemperatureOptions).catch(
      (thrown) => thrown,
    );
    expect(isFault(error, "invalid_request") && error.items[0]).toMatchObject({ pointer });
  });

  test.each([
    [{ bases: "emissions" }, [{ pointer: "/bases", code: "unknown", did_you_mean: "basis" }]],
    [{ scope3_weight: 0 }, [{ pointer: "/scope3_weight", code: "unknown", did_you_mean: "scope3Weight" }]],
    [{ convergence: { gama: 1 } }, [{ pointer: "/convergence/gama", code: "unknown", did_you_mean: "gamma" }]],
    [{ convergence: true }, [{ pointer: "/convergence", code: "wrong_type" }]],
    [{ benchmark: "ngfs" }, [{ pointer: "/benchmark", code: "wrong_type" }]],
    [
      { basis: "level", scope3Weight: "1", more: 1 },
      [
        { pointer: "/basis", code: "not_allowed" },
        { pointer: "/scope3Weight", code: "wrong_type" },
        { pointer: "/more", code: "unknown" },
      ],
    ],
    [null, [{ pointer: "", code: "wrong_type" }]],
  ])("both functions reject the options %o and list every error", async (options, items) => {
    const refused = { code: "invalid_request", items };
    await expect(alignTemperature([entity], options as never)).rejects.toMatchObject(refused);
    await expect(alignColumns(columns, options as never)).rejects.toMatchObject(refused);
  });

  test("each function rejects the options of the other", async () => {
    await expect(alignTemperature([entity], { into: {} } as never)).rejects.toMatchObject({
      items: [{ pointer: "/into", code: "unknown" }],
    });
    await expect(alignColumns(columns, { detail: true } as never)).rejects.toMatchObject({
      items: [{ pointer: "/detail", code: "unknown" }],
    });
    await expect(alignTemperature([entity], { detail: "yes" } as never)).rejects.toMatchObject({
      items: [{ pointer: "/detail", code: "wrong_type" }],
    });
  });

  test("rejects unknown and missing columns", async () => {
    const { revenues: _, ...rest } = columns;
    await expect(alignColumns({ ...rest, revenue: new Float64Array(3) } as never)).rejects.toMatchObject({
      code: "invalid_request",
      items: [{ pointer: "/revenue", code: "unknown", did_you_mean: "revenues" }],
    });
    const { years: _years, ...without } = columns;
    await expect(alignColumns(without as never)).rejects.toMatchObject({ items: [{ pointer: "/years" }] });
    await expect(alignColumns(null as never)).rejects.toMatchObject({ code: "invalid_request" });
  });

  const plain: OracleEntity = {
    baselineYear: 2024,
    baseline: [1, 2, 3],
    pathway: "power",
    region: 0,
    projections: [
      { year: 2030, emissions: [1, 2, 3] },
      { year: 2040, emissions: [1, 2, 3] },
    ],
  };
  const columns = columnsOf([plain, plain, plain]);
  const withValue = (name: "scope2" | "baselineScope3", index: number, value: number): typeof columns => {
    const column = columns[name].slice();
    column[index] = value;
    return { ...columns, [name]: column };
  };
  test.each([
    { name: "an infinite scope", bad: withValue("scope2", 3, Infinity), pointer: "/scope2/3" },
    { name: "a scope above 1e15", bad: withValue("baselineScope3", 2, -1.1e15), pointer: "/baselineScope3/2" },
    {
      name: "a year before the baseline",
      bad: { ...columns, years: Int32Array.of(2030, 2040, 2030, 2024, 2030, 2040) },
      pointer: "/years/3",
    },
    {
      name: "a year past 2200",
      bad: { ...columns, years: Int32Array.of(2030, 2040, 2030, 2201, 2030, 2040) },
      pointer: "/years/3",
    },
    { name: "an unknown pathway", bad: { ...columns, pathways: Uint8Array.of(0, 6, 0) }, pointer: "/pathways/1" },
    { name: "an unknown region", bad: { ...columns, regions: Uint8Array.of(0, 1, 3) }, pointer: "/regions/2" },
    {
      name: "a baseline before 1900",
      bad: { ...columns, baselineYears: Int32Array.of(1899, 2024, 2024) },
      pointer: "/baselineYears/0",
    },
    { name: "a short column", bad: { ...columns, scope1: new Float64Array(5) }, pointer: "/scope1" },
    {
      name: "a column of the wrong array type",
      bad: { ...columns, years: new Int16Array(6) as unknown as Int32Array },
      pointer: "/years",
    },
    { name: "descending starts", bad: { ...columns, starts: Uint32Array.of(0, 4, 2, 6) }, pointer: "/starts" },
    {
      name: "starts that do not cover all rows",
      bad: { ...columns, starts: Uint32Array.of(0, 2, 4, 5) },
      pointer: "/starts",
    },
  ])("rejects $name and names its index", async ({ bad, pointer }) => {
    const error: unknown = await alignColumns(bad).catch((thrown) => thrown);
    expect(isFault(error, "invalid_request") ? error.items : error).toMatchObject([{ pointer }]);
  });

  test("names the index of an invalid value far into the columns", async () => {
    const many = columnsOf(Array.from({ length: 6000 }, () => plain));
    many.scope1[9001] = -Infinity;
    const error: unknown = await alignColumns(many).catch((thrown) => thrown);
    expect(isFault(error) && error.items[0]).toMatchObject({ pointer: "/scope1/9001" });
    many.scope1[9001] = 1;
    many.pathways[4999] = 77;
    const other: unknown = await alignColumns(many).catch((thrown) => thrown);
    expect(isFault(other) && other.items[0]).toMatchObject({ pointer: "/pathways/4999" });
  });

  test("rejects output arrays of the wrong length", async () => {
    const into = { temperaturesC: new Float64Array(6), flags: new Uint16Array(5) };
    const error: unknown = await alignColumns(columns, { into }).catch((thrown) => thrown);
    expect(isFault(error) && error.items[0]).toMatchObject({ pointer: "/into" });
  });

  test.each([
    [{ temperaturesC: new Float64Array(6) }, "/into/flags"],
    [{ temperaturesC: new Float64Array(6), flags: new Uint16Array(6), temperatures: 1 }, "/into/temperatures"],
    [{ temperaturesC: new Float32Array(6), flags: new Uint16Array(6) }, "/into"],
    [{ temperaturesC: new Float64Array(6), flags: new Uint8Array(6) }, "/into"],
  ])("rejects output arrays that are missing or of the wrong type", async (into, pointer) => {
    await expect(alignColumns(columns, { into } as never)).rejects.toMatchObject({
      code: "invalid_request",
      items: [{ pointer }],
    });
  });

  test("writes the results to the given output arrays", async () => {
    const into = { temperaturesC: new Float64Array(6).fill(9), flags: new Uint16Array(6).fill(9) };
    const answer = await alignColumns(columns, { into });
    expect(answer.temperaturesC).toBe(into.temperaturesC);
    expect(answer).toEqual(await alignColumns(columns));
  });

  test("rejects convergence without its columns", async () => {
    const { references, ...rest } = columns;
    expect(references).toBeDefined();
    const error: unknown = await alignColumns(rest, { convergence: {} }).catch((thrown) => thrown);
    expect(isFault(error, "invalid_request")).toBe(true);
  });

  test("accepts columns without entities", async () => {
    const { temperaturesC } = await alignColumns(columnsOf([]));
    expect(temperaturesC).toHaveLength(0);
  });
});

describe("columns", () => {
  test("give the same results in parts as in one call, including an entity with 9000 rows", async () => {
    const random = randomFrom(5);
    const entities = Array.from({ length: 3000 }, () => randomEntity(random));
    entities[17] = {
      ...entities[17],
      baselineYear: 2020,
      baseline: [5, 5, undefined],
      pathway: "industry",
      region: 1,
      projections: Array.from({ length: 9000 }, () => ({
        year: 2021 + random.below(60),
        emissions: [random.next(), 1, 1],
      })),
    };
    const whole = await alignColumns(columnsOf(entities));
    let row = 0;
    for (let start = 0; start < entities.length; start += 701) {
      const part = await alignColumns(columnsOf(entities.slice(start, start + 701)));
      const rows = part.flags.length;
      expect(part.temperaturesC).toEqual(whole.temperaturesC.slice(row, row + rows));
      expect(part.flags).toEqual(whole.flags.slice(row, row + rows));
      row += rows;
    }
    expect(row).toBe(whole.flags.length);
    expect(whole.temperaturesC.length).toBeGreaterThan(9000);
  });

  test("list flag names in the order of the bits", async () => {
    const entity: OracleEntity = {
      baselineYear: 2017,
      baseline: [1, 1, 1],
      pathway: "economy",
      region: 0,
      projections: [{ year: 2070, emissions: [1, -1, undefined] }],
    };
    const { flags } = await alignColumns(columnsOf([entity]));
    const named = ALIGNMENT_FLAGS.filter((_, bit) => (((flags[0] ?? 0) >> bit) & 1) === 1);
    const rule = { basis: "intensity", scope3Weight: 1, gamma: 0 } as const;
    expect(new Set<string>(named)).toEqual(scoreByDefinition(NGFS_PHASE5, entity, rule, 0).flags);
    expect(named).toEqual(["scope_missing", "negative_scope", "revenue_unusable", "beyond_table", "early_baseline"]);
  });
});
