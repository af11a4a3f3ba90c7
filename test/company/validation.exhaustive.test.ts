/** The comparisons with reported and published figures of docs/methods/company.md, section 11. */
import { expect, test } from "vitest";
import { COUNTRIES, TIER_A_COUNTRIES } from "../../src/company/countryFigures.ts";
import { INDUSTRIES, isFinancial } from "../../src/company/industryParameters.ts";
import { damageFractionOf, type DamageFunction } from "../../src/company/physical.ts";
import { estimateEmissions, totalClimateRisk } from "../../src/company/report.ts";
import { findScenario } from "../../src/company/scenarios.ts";
import { valueInYear, warmingOf } from "../../src/company/yearlySeries.ts";
import type { CompanyAnswer, CompanyResult, EmissionsFigure } from "../../src/contract/wireTypes.ts";
import { describeIfShared } from "../sharedFolder.ts";
import { number, readSharedRows, type Row, text } from "./sharedTables.ts";

const OECD = new Set(TIER_A_COUNTRIES.filter(({ region }) => region === "R5OECD").map(({ iso3 }) => iso3));
/** Banks, insurers and other financial services, whose reports leave out most of scope 3. */
const FINANCE_IDS = new Set(
  INDUSTRIES.filter(({ parameters }) => ["banks", "insurance", "fin_services"].includes(parameters.archetype)).map(
    ({ id }) => id,
  ),
);
const FINANCIAL_IDS = new Set(INDUSTRIES.filter(isFinancial).map(({ id }) => id));

const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  const [low = NaN, high = NaN] = [sorted[sorted.length % 2 === 0 ? middle - 1 : middle], sorted[middle]];
  return (low + high) / 2;
};
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** A company with normal ratios. */
function ask(industry: string, country: string, scenarios: readonly string[], years: readonly number[]): CompanyAnswer {
  return totalClimateRisk({
    name: "Any",
    industry,
    country,
    revenue: 1e9,
    transition_scenarios: [...scenarios],
    assessment_years: [...years],
  });
}

describeIfShared(["reference/reporters.csv", "reference/countries.csv"])("emissions that companies report", () => {
  interface Compared {
    readonly set: string;
    readonly isFinancial: boolean;
    readonly reported: number | undefined;
    readonly low: number;
    readonly high: number;
  }

  function compare(row: Row, column: string, figures: readonly EmissionsFigure[]): Compared {
    const cell = text(row, column);
    return {
      set: text(row, "set"),
      isFinancial: FINANCE_IDS.has(text(row, "industry")),
      reported: cell === "" ? undefined : 1e6 * Number(cell),
      low: figures.reduce((sum, { low }) => sum + low, 0),
      high: figures.reduce((sum, { high }) => sum + high, 0),
    };
  }

  /** Formats how many of the reported figures are within the modeled range. */
  function within(compared: readonly Compared[]): string {
    const known = compared.filter(({ reported }) => reported !== undefined);
    const inside = known.filter(({ reported = NaN, low, high }) => reported >= low && reported <= high);
    return `${inside.length} of ${known.length}`;
  }

  test("are within the modeled range in at least 80% for scopes 1 and 2", () => {
    const rows = readSharedRows("reporters").map((row) => {
      const { emissions } = estimateEmissions({
        country: text(row, "iso3"),
        industry: text(row, "industry"),
        revenue: 1e9 * number(row, "revenue_usd_bn") * number(row, "usd_to_2025"),
      });
      return {
        scope1: compare(row, "scope1_mt", [emissions.scope1]),
        scope2: compare(row, "scope2_mt", [emissions.scope2]),
        scope3: compare(row, "scope3_mt", [emissions.scope3_upstream, emissions.scope3_downstream]),
      };
    });
    const of = (set: string): readonly string[] => {
      const chosen = rows.filter(({ scope1 }) => scope1.set === set || set === "both");
      const scope3 = chosen.map((row) => row.scope3);
      return [
        within(chosen.map((row) => row.scope1)),
        within(chosen.map((row) => row.scope2)),
        within(scope3.filter((compared) => !compared.isFinancial)),
        within(scope3.filter((compared) => compared.isFinancial)),
      ];
    };
    expect(of("listed_2020")).toEqual(["137 of 155", "139 of 154", "64 of 84", "10 of 43"]);
    expect(of("recent_approx")).toEqual(["98 of 102", "98 of 102", "89 of 94", "5 of 5"]);
    expect(of("both")).toEqual(["235 of 257", "237 of 256", "153 of 178", "15 of 48"]);
  });

  test("damages of output, weighted by GDP, have the published magnitude", () => {
    const gdp = new Map(readSharedRows("countries").map((row) => [text(row, "iso3"), Number(text(row, "gdp_usd"))]));
    const percent = (id: string, damageFunction: DamageFunction, year: number, among = TIER_A_COUNTRIES): string => {
      const warming = warmingOf(findScenario(id)?.temperaturePath ?? "");
      const of = { startC: valueInYear(warming, 2020), endC: valueInYear(warming, year) };
      let [lost, all] = [0, 0];
      for (const country of among) {
        const weight = gdp.get(country.iso3) ?? 0;
        lost += weight * damageFractionOf(damageFunction, country, of);
        all += weight;
      }
      return ((100 * lost) / all).toFixed(1);
    };
    const both = (id: string, damageFunction: DamageFunction): string =>
      [2050, 2100].map((year) => percent(id, damageFunction, year)).join(" ");
    expect(both("NGFS_CURRENT_POLICIES", "ngfs4")).toBe("5.0 11.4");
    expect(both("NGFS_NET_ZERO_2050", "ngfs4")).toBe("3.3 1.6");
    expect(both("IPCC_SSP5_85", "ngfs4")).toBe("8.6 25.8");
    expect(both("NGFS_CURRENT_POLICIES", "kalkuhl_wenz")).toBe("1.5 3.4");
    expect(both("NGFS_CURRENT_POLICIES", "howard_sterner")).toBe("1.9 5.2");
    expect(both("NGFS_CURRENT_POLICIES", "ngfs5_kotz")).toBe("14.9 34.4");
    const ofCountry = (iso3: string): string =>
      percent(
        "NGFS_CURRENT_POLICIES",
        "ngfs4",
        2050,
        COUNTRIES.filter((country) => country.iso3 === iso3),
      );
    expect(["DEU", "FRA", "ITA", "ESP", "USA", "IND"].map(ofCountry).join(" ")).toBe("2.0 2.9 4.4 4.7 5.0 10.2");
  });
});

test("default probabilities of five European countries follow the table of supervisors' exercises", () => {
  const scenarios = [
    "NGFS_NET_ZERO_2050",
    "NGFS_BELOW_2C",
    "NGFS_DELAYED_TRANSITION",
    "NGFS_NDC",
    "NGFS_CURRENT_POLICIES",
  ];
  const answers = INDUSTRIES.filter(({ id }) => !FINANCIAL_IDS.has(id)).flatMap(({ id }) =>
    ["DEU", "FRA", "ITA", "ESP", "NLD"].map((country) => ask(id, country, scenarios, [2030, 2040, 2050])),
  );
  expect(answers).toHaveLength(5 * 137);
  const table = scenarios.map((scenario, index) => {
    const valuations = answers.map(({ valuation }) => valuation[index]);
    const inYear = (year: number): string =>
      (
        100 *
        mean(
          answers.map(
            ({ results }) =>
              results.find((result) => result.scenario === scenario && result.year === year)?.credit.pd_5y.after ?? NaN,
          ),
        )
      ).toFixed(2);
    const before = (100 * mean(valuations.map((value) => value?.pd_5y_before ?? NaN))).toFixed(2);
    const after = (100 * mean(valuations.map((value) => value?.pd_5y_after ?? NaN))).toFixed(2);
    const rise = median(valuations.map((value) => (value?.pd_5y_after ?? NaN) / (value?.pd_5y_before ?? NaN)));
    return [before, after, inYear(2030), inYear(2040), inYear(2050), `+${(100 * (rise - 1)).toFixed(0)}%`].join(" ");
  });
  expect(table).toEqual([
    "1.31 4.85 5.35 4.45 3.27 +51%",
    "1.31 1.65 1.59 1.80 1.92 +16%",
    "1.31 1.93 1.39 3.31 2.93 +21%",
    "1.31 3.01 4.18 2.36 2.00 +33%",
    "1.31 1.42 1.39 1.47 1.54 +9%",
  ]);
});

test("ratings and loss ratios of all industries and countries are distributed as documented", () => {
  const scenarios = ["NGFS_NET_ZERO_2050", "NGFS_BELOW_2C", "NGFS_NDC", "NGFS_CURRENT_POLICIES"];
  const byKey = new Map<string, CompanyResult["total"][]>();
  const values: number[] = [];
  const netZeroAboveOne: number[] = [];
  let oecdPairs = 0;
  let oecdAbove = 0;
  for (const { id: industry } of INDUSTRIES) {
    for (const { iso3 } of TIER_A_COUNTRIES) {
      const { results, valuation } = ask(industry, iso3, scenarios, [2030, 2050]);
      for (const { scenario, year, total } of results) {
        const key = `${scenario} ${year}`;
        const list = byKey.get(key) ?? [];
        list.push(total);
        byKey.set(key, list);
      }
      const of = (scenario: string): CompanyResult["total"] | undefined =>
        results.find((result) => result.scenario === scenario && result.year === 2030)?.total;
      const [netZero, below2C, ndc] = scenarios.map(of);
      if (netZero === undefined || below2C === undefined || ndc === undefined) throw new Error("no results");
      if (netZero.loss_ratio > 1) netZeroAboveOne.push(netZero.score);
      expect(ndc.loss_ratio).toBeLessThanOrEqual(netZero.loss_ratio);
      if (OECD.has(iso3)) {
        oecdPairs++;
        if (ndc.loss_ratio > below2C.loss_ratio) oecdAbove++;
      }
      values.push(valuation[0]?.value_at_risk_pct ?? NaN);
    }
  }
  const shares = (key: string): string => {
    const totals = byKey.get(key) ?? [];
    const share = (rating: string): number =>
      Math.round((100 * totals.filter((total) => total.rating === rating).length) / totals.length);
    return ["A", "B", "C", "D", "E"].map(share).join(" ");
  };
  const medianRatio = (key: string): string =>
    (100 * median((byKey.get(key) ?? []).map((total) => total.loss_ratio))).toFixed(1);
  expect(scenarios.map((scenario) => shares(`${scenario} 2030`))).toEqual([
    "4 31 44 14 7",
    "17 60 19 4 0",
    "12 52 28 6 3",
    "38 57 5 0 0",
  ]);
  expect(shares("NGFS_NET_ZERO_2050 2050")).toBe("5 33 46 10 5");
  expect(shares("NGFS_CURRENT_POLICIES 2050")).toBe("11 39 49 2 0");
  expect(scenarios.map((scenario) => [2030, 2050].map((year) => medianRatio(`${scenario} ${year}`)).join(" "))).toEqual(
    ["11.6 10.1", "5.1 9.3", expect.any(String), "3.3 8.4"],
  );
  expect([oecdPairs, oecdAbove]).toEqual([6321, 6321]);
  // Losses above EBITDA keep their order.
  expect(netZeroAboveOne).toHaveLength(1288);
  expect(new Set(netZeroAboveOne).size).toBe(1288);
  expect([Math.min(...netZeroAboveOne).toFixed(1), Math.max(...netZeroAboveOne).toFixed(1)]).toEqual(["80.0", "96.9"]);
  const sorted = values.toSorted((one, other) => one - other);
  const quantile = (share: number): number => sorted[Math.floor(share * (sorted.length - 1))] ?? NaN;
  expect([quantile(0.5).toFixed(1), quantile(0.9).toFixed(0), quantile(1).toFixed(1)]).toEqual(["9.7", "37", "99.1"]);
}, 300_000);
