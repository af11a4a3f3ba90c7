import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { growthIndex, growthSeriesOf, tabulateByYear } from "../../src/alignment/benchmark.ts";
import { NGFS_PHASE5 } from "../../src/alignment/benchmarkNgfsPhase5.ts";
import { convergenceRevenueMUSD2022, PRICE_YEAR_MAX, PRICE_YEAR_MIN } from "../../src/alignment/entityColumns.ts";
import { NO_GROWTH_SERIES, PATHWAY_INDEX } from "../../src/kernel/alignmentColumns.ts";
import type { Pathway } from "../../src/contract/wireTypes.ts";
import { describeIfShared, SHARED_FOLDER } from "../sharedFolder.ts";

interface Reference {
  readonly anchors: readonly object[];
  readonly pathways: Readonly<
    Record<string, { readonly years: readonly number[]; readonly index: Readonly<Record<string, readonly number[]>> }>
  >;
  readonly benchmark_id: string;
  readonly gsat_2025_p10_c: number;
  readonly gsat_2025_p50_c: number;
  readonly gsat_2025_p90_c: number;
  readonly floor_c: Readonly<Record<string, number>>;
  readonly us_cpi_u_annual_average: Readonly<Record<string, number>>;
}

const FILES = ["reference/alignment-pathways.json", "reference/country-growth.csv"] as const;

describeIfShared(FILES)("the benchmark", () => {
  const readText = (file: string): string => readFileSync(SHARED_FOLDER + file, "utf8");

  test("has every pathway and every warming of its source", () => {
    const reference = JSON.parse(readText(FILES[0])) as Reference;
    expect(NGFS_PHASE5.id).toBe(reference.benchmark_id);
    expect(NGFS_PHASE5.anchors).toEqual(reference.anchors);
    expect(NGFS_PHASE5.warming).toEqual({
      p10: { baseYearC: reference.gsat_2025_p10_c, lowerBoundC: reference.floor_c["p10"] },
      p50: { baseYearC: reference.gsat_2025_p50_c, lowerBoundC: reference.floor_c["p50"] },
      p90: { baseYearC: reference.gsat_2025_p90_c, lowerBoundC: reference.floor_c["p90"] },
    });
    expect(Object.keys(NGFS_PHASE5.pathways).toSorted()).toEqual(Object.keys(reference.pathways).toSorted());
    for (const [pathway, { years, index }] of Object.entries(reference.pathways)) {
      expect(NGFS_PHASE5.pathwayYears).toEqual(years);
      expect(NGFS_PHASE5.pathways[pathway as Pathway]).toEqual(
        NGFS_PHASE5.anchors.map(({ scenario }) => index[scenario]),
      );
    }
  });

  test("has every growth series of its source", () => {
    const [head = [], ...rows] = readText(FILES[1])
      .trim()
      .split("\n")
      .map((line) => line.split(","));
    expect(NGFS_PHASE5.growthYears.map((year) => `gdp_ppp_index_${year}`)).toEqual(head.slice(2));
    expect(NGFS_PHASE5.growth).toEqual(rows.map(([id, kind, ...index]) => ({ id, kind, index: index.map(Number) })));
  });

  test("converts revenues by the consumer prices of its source", () => {
    const { us_cpi_u_annual_average: prices } = JSON.parse(readText(FILES[0])) as Reference;
    expect([PRICE_YEAR_MIN, PRICE_YEAR_MAX]).toEqual([2015, 2024]);
    for (const [year, price] of Object.entries(prices)) {
      const expected = 3 * ((prices["2022"] ?? NaN) / price);
      expect(convergenceRevenueMUSD2022(3e6, Number(year))).toBeCloseTo(expected, 12);
    }
  });
});

test("has no convergence revenue for prices of a year that is not listed", () => {
  expect(convergenceRevenueMUSD2022(1e6, 2014)).toBeNaN();
  expect(convergenceRevenueMUSD2022(1e6, 2025)).toBeNaN();
  expect(convergenceRevenueMUSD2022(1e6, 2022)).toBe(1);
});

test("tabulates a benchmark linearly between its years and constant outside them", () => {
  const { firstYear, lastYear, index, growth, isRegion, pooledSeries } = tabulateByYear(NGFS_PHASE5);
  expect([firstYear, lastYear]).toEqual([2015, 2060]);
  const at = (year: number, pathway: Pathway, anchor: number): number | undefined =>
    index[((year - firstYear) * 6 + PATHWAY_INDEX[pathway]) * 4 + anchor];
  expect(at(2020, "power", 0)).toBe(1);
  expect(at(2025, "power", 3)).toBe(1);
  expect(at(2030, "power", 0)).toBe(0.512091);
  expect(at(2032, "power", 0)).toBeCloseTo(0.512091 + 0.4 * (0.18804 - 0.512091), 12);
  expect(at(2060, "transport", 2)).toBe(0.490625);
  const pooled = NGFS_PHASE5.growth[pooledSeries];
  if (pooled === undefined) throw new Error("no pooled series");
  expect(pooled.id).toBe("POOL");
  expect(growth[pooledSeries]?.[2023 - firstYear]).toBeCloseTo(0.827662 + 0.6 * 0.172338, 12);
  expect(growthIndex(NGFS_PHASE5, pooled, 2000)).toBe(0.729061);
  expect(growthIndex(NGFS_PHASE5, pooled, 2100)).toBe(2.120742);
  expect(isRegion.filter(Boolean)).toHaveLength(7);
});

test("finds the growth series of a country, else of its region", () => {
  const idOf = (iso3: string, region: string): string | undefined =>
    NGFS_PHASE5.growth[growthSeriesOf(NGFS_PHASE5, { iso3, region })]?.id;
  expect(idOf("KOR", "R5OECD")).toBe("KOR");
  expect(idOf("XKX", "R5REF")).toBe("R5REF");
  expect(growthSeriesOf(NGFS_PHASE5, { iso3: "XKX", region: "R9" })).toBe(NO_GROWTH_SERIES);
  expect(growthSeriesOf(NGFS_PHASE5, undefined)).toBe(NO_GROWTH_SERIES);
});
