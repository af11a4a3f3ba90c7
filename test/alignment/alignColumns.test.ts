import { describe, expect, test } from "vitest";
import { alignColumns, type AlignColumnsOptions } from "../../src/alignment/alignColumns.ts";
import { isFault } from "../../src/errors.ts";
import type { AlignedColumns, EntityColumns } from "../../src/kernel/alignmentColumns.ts";
import { namesOf } from "../kernel/alignmentComparison.ts";
import { columnsOfEntities, oracleReference, randomOracleEntity } from "../kernel/alignmentOracle.ts";

/** Returns equal entities with a baseline of 2024 and the years 2030 and 2040. */
function plainColumns(entityCount: number): EntityColumns & { readonly labels: Uint16Array } {
  const perEntity = (value: number): Float64Array => new Float64Array(entityCount).fill(value);
  const perRow = (value: number): Float64Array => new Float64Array(2 * entityCount).fill(value);
  return {
    baselineYears: new Int32Array(entityCount).fill(2024),
    pathways: new Uint8Array(entityCount).fill(1),
    growthSeries: new Uint8Array(entityCount).fill(255),
    baselineScope1: perEntity(1),
    baselineScope2: perEntity(2),
    baselineScope3: perEntity(3),
    starts: Uint32Array.from({ length: entityCount + 1 }, (_, i) => 2 * i),
    years: Int32Array.from({ length: 2 * entityCount }, (_, i) => (i % 2 === 0 ? 2030 : 2040)),
    scope1: perRow(1),
    scope2: perRow(2),
    scope3: perRow(3),
    baselineRevenues: perEntity(NaN),
    projectedRevenues: perRow(NaN),
    convergenceRevenues: perEntity(1),
    references: { scope1: perEntity(1), scope2: perEntity(1), scope3: perEntity(1) },
    labels: new Uint16Array(2 * entityCount),
  };
}

function results(rowCount: number): AlignedColumns {
  const column = (): Float64Array => new Float64Array(rowCount).fill(9);
  return {
    temperaturesC: column(),
    rangeLowC: column(),
    rangeHighC: column(),
    flags: new Uint32Array(rowCount),
    coverage: column(),
  };
}

const columns = plainColumns(3);

describe("alignColumns", () => {
  test.each([
    [{ bases: "emissions" }, [{ pointer: "/bases", code: "unknown", did_you_mean: "basis" }]],
    [{ scope3_weight: 0 }, [{ pointer: "/scope3_weight", code: "unknown", did_you_mean: "scope3Weight" }]],
    [{ convergence: 0 }, [{ pointer: "/convergence", code: "out_of_range" }]],
    [{ convergence: 1.5 }, [{ pointer: "/convergence", code: "out_of_range" }]],
    [{ convergence: true }, [{ pointer: "/convergence", code: "wrong_type" }]],
    [{ benchmark: "ngfs" }, [{ pointer: "/benchmark", code: "wrong_type" }]],
    [{ scope3Weight: NaN }, [{ pointer: "/scope3Weight" }]],
    [{ include: { budget: 4 } }, [{ pointer: "/include/budget", code: "out_of_range" }]],
    [{ include: { by_scope: true } }, [{ pointer: "/include/by_scope", code: "unknown", did_you_mean: "byScope" }]],
    [{ detail: true }, [{ pointer: "/detail", code: "unknown" }]],
    [
      { basis: "level", scope3Weight: "1", more: 1 },
      [
        { pointer: "/basis", code: "not_allowed" },
        { pointer: "/scope3Weight", code: "wrong_type" },
        { pointer: "/more", code: "unknown" },
      ],
    ],
    [null, [{ pointer: "", code: "wrong_type" }]],
  ])("rejects the options %o and lists every error", async (options, items) => {
    await expect(alignColumns(columns, options as AlignColumnsOptions)).rejects.toMatchObject({
      code: "invalid_request",
      items,
    });
  });

  test("rejects unknown and missing columns", async () => {
    const { baselineRevenues: _, ...rest } = columns;
    await expect(alignColumns({ ...rest, baselineRevenue: new Float64Array(3) } as never)).rejects.toMatchObject({
      code: "invalid_request",
      items: [{ pointer: "/baselineRevenue", code: "unknown", did_you_mean: "baselineRevenues" }],
    });
    const { years: _years, ...without } = columns;
    await expect(alignColumns(without as never)).rejects.toMatchObject({ items: [{ pointer: "/years" }] });
    await expect(alignColumns(null as never)).rejects.toMatchObject({ code: "invalid_request" });
  });

  const withValue = (
    name: "scope2" | "baselineScope3" | "baselineRevenues" | "projectedRevenues",
    index: number,
    value: number,
  ): typeof columns => {
    const column = Float64Array.from(columns[name] ?? []);
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
    {
      name: "an unknown growth series",
      bad: { ...columns, growthSeries: Uint8Array.of(0, 255, 192) },
      pointer: "/growthSeries/2",
    },
    { name: "an infinite revenue", bad: withValue("baselineRevenues", 1, Infinity), pointer: "/baselineRevenues/1" },
    { name: "a revenue below -1e15", bad: withValue("projectedRevenues", 4, -2e15), pointer: "/projectedRevenues/4" },
    {
      name: "a label that is not below the number of rows",
      bad: { ...columns, labels: Uint16Array.of(0, 1, 0, 2, 0, 0) },
      pointer: "/labels/3",
    },
    {
      name: "labels of the wrong array type",
      bad: { ...columns, labels: new Uint8Array(6) as never },
      pointer: "/labels",
    },
    {
      name: "a short column of references",
      bad: { ...columns, references: { ...columns.references, scope2: new Float64Array(2) } as never },
      pointer: "/references/scope2",
    },
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
    const many = plainColumns(6000);
    many.scope1[9001] = -Infinity;
    const error: unknown = await alignColumns(many).catch((thrown) => thrown);
    expect(isFault(error) && error.items[0]).toMatchObject({ pointer: "/scope1/9001" });
    many.scope1[9001] = 1;
    many.pathways[4999] = 77;
    const other: unknown = await alignColumns(many).catch((thrown) => thrown);
    expect(isFault(other) && other.items[0]).toMatchObject({ pointer: "/pathways/4999" });
  });

  test.each([
    ["missing", { flags: undefined }, "/into/flags"],
    ["unknown", { temperatures: new Float64Array(6) }, "/into/temperatures"],
    ["of another type", { temperaturesC: new Float32Array(6) }, "/into/temperaturesC"],
    ["of another type", { flags: new Uint16Array(6) }, "/into/flags"],
    ["too short", { coverage: new Float64Array(5) }, "/into/coverage"],
  ])("rejects an array for results that is %s", async (_, change, pointer) => {
    const { flags, ...into } = results(6);
    const changed = "flags" in change && change.flags === undefined ? into : { ...into, flags, ...change };
    await expect(alignColumns(columns, { into: changed } as never)).rejects.toMatchObject({
      code: "invalid_request",
      items: [{ pointer }],
    });
  });

  test("rejects arrays for results without those that are asked for", async () => {
    const options = { into: results(6), include: { overall: true } };
    await expect(alignColumns(columns, options)).rejects.toMatchObject({ items: [{ pointer: "/into/anchorSpread" }] });
  });

  test("writes the results to the given arrays", async () => {
    const into = results(6);
    const answer = await alignColumns(columns, { into });
    expect(answer.temperaturesC).toBe(into.temperaturesC);
    const fresh = await alignColumns(columns);
    for (const name of ["temperaturesC", "rangeLowC", "rangeHighC", "flags", "coverage"] as const) {
      expect(into[name]).toEqual(fresh[name]);
    }
  });

  test.each(["references", "convergenceRevenues"] as const)("rejects convergence without %s", async (name) => {
    const { [name]: _, ...rest } = columns;
    await expect(alignColumns(rest, { convergence: 0.5 })).rejects.toMatchObject({
      code: "invalid_request",
      items: [{ pointer: `/${name}` }],
    });
  });

  test("accepts columns without entities", async () => {
    const { temperaturesC } = await alignColumns(plainColumns(0));
    expect(temperaturesC).toHaveLength(0);
  });

  test("returns what include asks for, and nothing else", async () => {
    const { temperaturesC, ...plain } = await alignColumns(columns);
    expect(temperaturesC).toHaveLength(6);
    expect(Object.values(plain).filter((column) => column !== undefined)).toHaveLength(4);
    const include = { climateRange: true, byScope: true, budget: 2, overall: true };
    const everything = await alignColumns(columns, { include });
    expect(Object.values(everything).every((column) => column?.length === 6)).toBe(true);
    expect(everything.temperaturesC).toEqual(temperaturesC);
  });

  test("gives the same results in parts as in one call", async () => {
    const reference = oracleReference();
    const rule = { basis: "intensity", scope3Weight: 1, gamma: 0 } as const;
    const entities = Array.from({ length: 1500 }, (_, seed) => randomOracleEntity(reference, rule, seed));
    const whole = await alignColumns(columnsOfEntities(entities));
    let row = 0;
    for (let start = 0; start < entities.length; start += 701) {
      const part = await alignColumns(columnsOfEntities(entities.slice(start, start + 701)));
      const end = row + part.flags.length;
      expect(part.temperaturesC).toEqual(whole.temperaturesC.slice(row, end));
      expect(part.rangeHighC).toEqual(whole.rangeHighC.slice(row, end));
      expect(part.coverage).toEqual(whole.coverage.slice(row, end));
      expect(part.flags).toEqual(whole.flags.slice(row, end));
      row = end;
    }
    expect(row).toBe(whole.flags.length);
  });

  test("sets the flags at the bits of the method", async () => {
    const { flags } = await alignColumns({
      ...plainColumns(1),
      baselineYears: Int32Array.of(2017),
      years: Int32Array.of(2070, 2070),
      scope2: Float64Array.of(-1, 2),
      scope3: Float64Array.of(NaN, 3),
    });
    expect([...flags].map(namesOf)).toEqual([
      "early_baseline scope_dropped negative_scope growth_default beyond_table duplicate_year anchors_close",
      "early_baseline growth_default beyond_table duplicate_year",
    ]);
  });

  test("separates years of different labels", async () => {
    const labeled = { ...plainColumns(1), years: Int32Array.of(2040, 2040), labels: Uint16Array.of(0, 1) };
    const { flags } = await alignColumns(labeled);
    expect([...flags].map(namesOf)).toEqual(["growth_default", "growth_default"]);
  });
});
