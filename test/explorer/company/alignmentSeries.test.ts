import { describe, expect, test } from "vitest";
import { ALIGNMENT_FLAGS } from "../../../src/contract/names.ts";
import type { AlignmentRequest, AlignmentResult } from "../../../src/contract/wireTypes.ts";
import { alignmentCallOf, EXAMPLE_ALIGNMENT } from "../../../src/explorer/company/alignmentForm.ts";
import { alignmentPathwaysOf, headlineOf, thermometerRowsOf } from "../../../src/explorer/company/alignmentSeries.ts";
import { FLAG_MEANINGS } from "../../../src/explorer/company/companyFormat.ts";
import { alignTemperature, NGFS_PHASE5 } from "../../../src/index.ts";

const entity = (baselineYear: number, projections: readonly { year: number; scope1: number; label?: string }[]) =>
  [
    {
      entity_info: { name: "Example", asset_type: "equity", industry: "Banks" },
      data: [{ year: baselineYear, emissions: { scope1: 100 } }],
      projected_emissions: projections.map(({ year, scope1, label }) => ({
        year,
        emissions: { scope1 },
        ...(label === undefined ? {} : { label }),
      })),
    },
  ] as const satisfies AlignmentRequest;

describe("the pathways of the alignment view", () => {
  test("scenarios start at 1 until 2025 and then have the pathways of the benchmark", async () => {
    const result = await resultOf(
      entity(2023, [
        { year: 2050, scope1: 50 },
        { year: 2030, scope1: 80 },
      ]),
    );
    const { scenarios } = alignmentPathwaysOf(result, 2023);
    expect(scenarios.map(({ scenario, temperatureC }) => [scenario, temperatureC])).toEqual(
      NGFS_PHASE5.anchors.map(({ scenario, temperature_2100_c }) => [scenario, temperature_2100_c]),
    );
    const pathwayAt = (anchor: number, year: number) =>
      NGFS_PHASE5.pathways.economy[anchor as 0]?.[NGFS_PHASE5.pathwayYears.indexOf(year)];
    for (const [anchor, { points }] of scenarios.entries()) {
      expect(points).toEqual([
        { year: 2023, ratio: 1 },
        { year: 2025, ratio: 1 },
        { year: 2030, ratio: expect.closeTo(pathwayAt(anchor, 2030) ?? NaN, 12) as number },
        { year: 2050, ratio: expect.closeTo(pathwayAt(anchor, 2050) ?? NaN, 12) as number },
      ]);
    }
  });

  test("after 2025 only Current Policies start at 1, because the response lacks the others' values there", async () => {
    const result = await resultOf(entity(2026, [{ year: 2040, scope1: 50 }]));
    const { scenarios, company } = alignmentPathwaysOf(result, 2026);
    expect(scenarios.map(({ points }) => points.map(({ year }) => year))).toEqual([
      [2040],
      [2040],
      [2040],
      [2026, 2040],
    ]);
    expect(scenarios[3]?.points[0]).toEqual({ year: 2026, ratio: 1 });
    const indexAt = (year: number) => NGFS_PHASE5.pathways.economy[3]?.[NGFS_PHASE5.pathwayYears.indexOf(year)] ?? NaN;
    const indexAt2026 = 1 + (indexAt(2030) - 1) / 5;
    expect(scenarios[3]?.points[1]?.ratio).toBeCloseTo(indexAt(2040) / indexAt2026, 12);
    expect(company[0]?.points[0]).toEqual({ year: 2026, ratio: 1, projectedYear: 2026 });
  });

  test("the company has the ratio that the method compares, in the year in which it compares it", async () => {
    const result = await resultOf(
      entity(2025, [
        { year: 2040, scope1: 60 },
        { year: 2026, scope1: 99 },
      ]),
    );
    const { company } = alignmentPathwaysOf(result, 2025);
    expect(company).toEqual([
      {
        label: undefined,
        points: [
          { year: 2025, ratio: 1, projectedYear: 2025 },
          { year: 2030, ratio: expect.closeTo(0.99 ** 5, 12) as number, projectedYear: 2026 },
          { year: 2040, ratio: expect.closeTo(0.6, 12) as number, projectedYear: 2040 },
        ],
      },
    ]);
  });

  test("years after the end of the pathways keep their place", async () => {
    const result = await resultOf(entity(2025, [{ year: 2080, scope1: 10 }]));
    const { scenarios, company } = alignmentPathwaysOf(result, 2025);
    expect(company[0]?.points.at(-1)?.year).toBe(2080);
    expect(scenarios[0]?.points.at(-1)?.year).toBe(2080);
  });

  test("each label is a line, and a year without a usable scope is left out", async () => {
    const [template] = entity(2023, [
      { year: 2030, scope1: 80, label: "target" },
      { year: 2030, scope1: 95, label: "trajectory" },
    ]);
    const result = await resultOf([
      {
        ...template,
        projected_emissions: [
          ...template.projected_emissions,
          { year: 2040, emissions: { scope2: 5 }, label: "target" },
        ],
      },
    ]);
    const { company } = alignmentPathwaysOf(result, 2023);
    expect(company.map(({ label, points }) => [label, points.map(({ year }) => year)])).toEqual([
      ["target", [2023, 2030]],
      ["trajectory", [2023, 2030]],
    ]);
  });

  test("without details there are no pathways", () => {
    const result = {
      entity_info: { name: "x", asset_type: "equity" },
      data: [{ year: 2030, temperature_alignment: 2 }],
    };
    expect(alignmentPathwaysOf(result as unknown as AlignmentResult, 2023)).toEqual({ scenarios: [], company: [] });
  });
});

describe("the thermometer", () => {
  test("has the temperature of all years first, then those of the years that have one", async () => {
    const { request } = alignmentCallOf(EXAMPLE_ALIGNMENT);
    const result = await resultOf(request ?? []);
    const rows = thermometerRowsOf(result);
    expect(rows.map(({ name }) => name)).toEqual(["All years", "2030", "2035", "2040", "2045", "2050"]);
    expect(rows[0]).toMatchObject({
      temperatureC: result.overall?.temperature_alignment,
      range: result.overall?.range,
    });
    expect(rows[1]).toMatchObject({
      temperatureC: result.data[0]?.temperature_alignment,
      climateRange: result.data[0]?.climate_range,
    });
    expect(headlineOf(result)).toEqual(rows[0]);
    expect(headlineOf({ ...result, overall: null })).toEqual(rows[5]);
  });

  test("a year without a temperature has no row", async () => {
    const [template] = entity(2023, [{ year: 2030, scope1: 1 }]);
    const result = await resultOf([{ ...template, projected_emissions: [{ year: 2030, emissions: { scope2: 1 } }] }]);
    expect(thermometerRowsOf(result)).toEqual([]);
    expect(headlineOf(result)).toBeUndefined();
  });

  test("every flag of the method has a meaning in words", () => {
    expect(Object.keys(FLAG_MEANINGS).toSorted()).toEqual([...ALIGNMENT_FLAGS].toSorted());
  });
});

async function resultOf(request: AlignmentRequest): Promise<AlignmentResult> {
  const { results } = await alignTemperature(request, { detail: true });
  const [result] = results;
  if (result === undefined) throw new Error("one entity must have one result");
  return result;
}
