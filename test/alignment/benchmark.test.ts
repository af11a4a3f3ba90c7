import { expect, test } from "vitest";
import { growthIndex, NGFS_PHASE5, tabulateByYear } from "../../src/alignment/benchmark.ts";
import { PATHWAY_INDEX } from "../../src/kernel/alignmentColumns.ts";
import { describeWithReference, readShared } from "./sharedReference.ts";
import type { Pathway } from "../../src/contract/wireTypes.ts";

interface Reference {
  readonly anchors: readonly { readonly scenario: string; readonly temperature_2100_c: number }[];
  readonly pathways: Readonly<
    Record<string, { readonly years: readonly number[]; readonly index: Readonly<Record<string, readonly number[]>> }>
  >;
  readonly gdp_ppp_index: Readonly<Record<string, readonly number[]>>;
  readonly gdp_region_of_ngfs_r5: Readonly<Record<string, string>>;
  readonly gsat_2025_p50_c: number;
}

describeWithReference("the benchmark", () => {
  const reference = readShared("reference/alignment-pathways.json") as Reference;

  test("has every figure of its source", () => {
    expect(NGFS_PHASE5.anchors).toEqual(reference.anchors);
    expect(NGFS_PHASE5.baseTemperatureC).toBe(reference.gsat_2025_p50_c);
    expect(Object.keys(NGFS_PHASE5.pathways).toSorted()).toEqual(Object.keys(reference.pathways).toSorted());
    for (const [pathway, { years, index }] of Object.entries(reference.pathways)) {
      expect(NGFS_PHASE5.pathwayYears).toEqual(years);
      expect(NGFS_PHASE5.pathways[pathway as Pathway]).toEqual(
        reference.anchors.map(({ scenario }) => index[scenario]),
      );
    }
    expect(NGFS_PHASE5.growthYears).toEqual(reference.gdp_ppp_index["years"]);
    for (const { id, regions, index } of NGFS_PHASE5.growth) {
      expect(index).toEqual(reference.gdp_ppp_index[id]);
      for (const region of regions) expect(reference.gdp_region_of_ngfs_r5[region]).toBe(id);
    }
    expect(NGFS_PHASE5.growth.flatMap(({ regions }) => regions).toSorted()).toEqual(
      Object.keys(reference.gdp_region_of_ngfs_r5).toSorted(),
    );
  });
});

test("tabulates a benchmark linearly between its years and constant outside them", () => {
  const { firstYear, lastYear, index } = tabulateByYear(NGFS_PHASE5);
  expect([firstYear, lastYear]).toEqual([2020, 2060]);
  const at = (year: number, pathway: Pathway, anchor: number): number | undefined =>
    index[((year - firstYear) * 6 + PATHWAY_INDEX[pathway]) * 4 + anchor];
  expect(at(2020, "power", 0)).toBe(1);
  expect(at(2025, "power", 3)).toBe(1);
  expect(at(2030, "power", 0)).toBe(0.512091);
  expect(at(2032, "power", 0)).toBeCloseTo(0.512091 + 0.4 * (0.18804 - 0.512091), 12);
  expect(at(2060, "transport", 2)).toBe(0.490625);
  const [pooled] = NGFS_PHASE5.growth;
  expect(growthIndex(NGFS_PHASE5, pooled, 2000)).toBe(0.830279);
  expect(growthIndex(NGFS_PHASE5, pooled, 2022)).toBeCloseTo(0.830279 + 0.4 * (1 - 0.830279), 12);
  expect(growthIndex(NGFS_PHASE5, pooled, 2100)).toBe(2.158026);
});
