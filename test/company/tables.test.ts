import { expect, describe, test } from "vitest";
import { PRICE_MODELS, priceShocksOf, pricesOf, SUBSTITUTE_PRICES } from "../../src/company/carbonPrices.ts";
import { COUNTRIES, countryByIso3, TIER_A_COUNTRIES } from "../../src/company/countryFigures.ts";
import { COUNTRY_FIGURE_ROWS } from "../../src/company/data/countryFigures.generated.ts";
import { INDUSTRY_PARAMETER_ROWS } from "../../src/company/data/industryParameters.generated.ts";
import { INDUSTRIES } from "../../src/company/industryParameters.ts";
import * as constants from "../../src/company/methodConstants.ts";
import { TRANSITION_SCENARIOS } from "../../src/company/scenarios.ts";
import { interpolateYearly, valueInYear, warmingOf } from "../../src/company/yearlySeries.ts";
import { LISTED_COUNTRIES } from "../../src/reference/countryNames.ts";
import { LISTED_INDUSTRIES } from "../../src/reference/industries.ts";
import { ASSESSMENT_YEARS } from "../../src/contract/ranges.ts";
import { describeIfShared } from "../sharedFolder.ts";
import { number, readSharedRows, text } from "./sharedTables.ts";

describe("series by year", () => {
  test("are linear between the years of the table, and have no values after the last one", () => {
    const series = interpolateYearly([2020, 2025, 2060], [0, 10, 80]);
    expect([2020, 2023, 2025, 2040, 2060].map((year) => valueInYear(series, year))).toEqual([0, 6, 10, 40, 80]);
    expect(() => valueInYear(series, 2061)).toThrow("no value in 2061");
    expect(() => valueInYear(series, 2019)).toThrow("no value in 2019");
  });
});

describe("the tables", () => {
  test("have 147 industries, 248 countries, of which 180 with complete data, and 21 scenarios", () => {
    expect(INDUSTRIES).toHaveLength(147);
    expect(COUNTRIES).toHaveLength(248);
    expect(TIER_A_COUNTRIES).toHaveLength(180);
    expect(TRANSITION_SCENARIOS).toHaveLength(21);
  });

  test("have figures within the bounds that the method assumes", () => {
    for (const { id, intensity, factorSource, sector, codes, abatement, rangeFactors, ...industry } of INDUSTRIES) {
      for (const figure of Object.values(intensity)) expect(figure, id).toBeGreaterThanOrEqual(0);
      // A reported total of scope 3 is divided by these.
      expect(intensity.scope3Upstream, id).toBeGreaterThan(0);
      for (const factor of Object.values(rangeFactors)) expect(factor, id).toBeGreaterThan(1);
      const shares = [industry.valueAddedShare, industry.passThroughShort, industry.passThroughLong];
      for (const share of [...shares, industry.tangibleShare, industry.ebitdaMargin, industry.debtToAssets]) {
        expect(share, id).toBeGreaterThan(0);
        expect(share, id).toBeLessThanOrEqual(1);
      }
      // Otherwise a higher price could cost less.
      expect(abatement.shareMax, id).toBeLessThan(1);
      expect(abatement.shareMax, id).toBeGreaterThan(0);
      expect(abatement.years, id).toBeGreaterThanOrEqual(10);
      expect(abatement.backstopUsdPerT, id).toBeGreaterThanOrEqual(100);
      expect(abatement.backstopUsdPerT, id).toBeLessThanOrEqual(400);
      expect(industry.demandElasticity, id).toBeGreaterThan(0);
      expect(industry.assetsToRevenue, id).toBeGreaterThan(0);
      expect(industry.heatSensitivity, id).toBeGreaterThan(0);
      expect(industry.assetVolatility, id).toBeGreaterThan(0);
      expect(industry.scope1Exponent, id).toBeGreaterThanOrEqual(0);
      expect(sector, id).not.toBe("");
      expect(factorSource, id).not.toBe("");
      expect(codes.isic.length, id).toBeGreaterThan(0);
    }
    for (const { iso3, averageLoss, tier, fallbacks, ...country } of COUNTRIES) {
      for (const loss of Object.values(averageLoss)) expect(loss, iso3).toBeGreaterThanOrEqual(0);
      expect(country.gridGCO2PerKWh, iso3).toBeGreaterThanOrEqual(20);
      expect(country.carbonIntensityRelativeToUS, iso3).toBeGreaterThan(0);
      expect(country.priceLevelRelativeToUS, iso3).toBeGreaterThan(0);
      expect(country.warmingRatio, iso3).toBeGreaterThan(0);
      expect(fallbacks.length > 0, iso3).toBe(tier === "B");
    }
  });

  test("have a row for every listed industry and every listed country but Antarctica, and no other rows", () => {
    const computed = LISTED_COUNTRIES.filter(({ name }) => name !== "Antarctica");
    expect(COUNTRY_FIGURE_ROWS.map(({ iso3 }) => iso3)).toEqual(computed.map(({ iso3 }) => iso3));
    expect(INDUSTRY_PARAMETER_ROWS.map(({ id }) => id)).toEqual(LISTED_INDUSTRIES.map(({ id }) => id));
    expect(countryByIso3("ATA")).toBeUndefined();
  });

  test("never cool below 2020, so that damages rise with warming on every path", () => {
    for (const { temperaturePath } of TRANSITION_SCENARIOS) {
      const warming = warmingOf(temperaturePath);
      expect(Math.min(...warming), temperaturePath).toBe(valueInYear(warming, 2020));
      // The losses of a year never fall below those of the source.
      const assessed = warming.subarray(ASSESSMENT_YEARS.min - 2020);
      expect(Math.min(...assessed), temperaturePath).toBeGreaterThan(constants.LOSS_RATIO_WARMING_C);
    }
    expect(() => warmingOf("IPCC_NET_ZERO")).toThrow("Unknown temperature path");
  });

  test("name the substitutes of prices that are not published", () => {
    expect([...SUBSTITUTE_PRICES]).toEqual([
      ["IPCC_C2", "geometric mean of C1 and C3"],
      ["IPCC_C4", "lower quartile of C3"],
      ["IPCC_C5", "half of the C4 substitute"],
    ]);
  });
});

describeIfShared(["reference/industries.csv"])("the tables compared with their source files", () => {
  test("constants", () => {
    const rows = readSharedRows("parameters");
    const { POWER_ABATEMENT, SUPPLIER_ABATEMENT, PRODUCT_ABATEMENT, KALKUHL_WENZ, BORROWER } = constants;
    const figures: Readonly<Record<string, number>> = {
      INFL: constants.USD2025_PER_USD2022,
      t0: constants.BASE_YEAR,
      t1: constants.HORIZON_YEAR,
      TAX: constants.TAX_RATE,
      discount_rate: constants.DEFAULT_DISCOUNT_RATE,
      RF: constants.RISK_FREE_RATE,
      TM: constants.CREDIT_TERM_YEARS,
      KD: constants.DEBT_INTEREST_RATE,
      LGD: constants.DEFAULT_LOSS_GIVEN_DEFAULT,
      LOANS: constants.LOAN_SHARE,
      KOUT: constants.CAPITAL_PER_OUTPUT,
      FLOOR: constants.EBITDA_FLOOR_SHARE,
      STICKY: constants.STICKY_LABOR_SHARE,
      HALF: constants.HALF_SCORE_RATIO,
      LOST_MAX: constants.LOST_SHARE_MAX,
      GRID_MIN: constants.GRID_RATIO_MIN,
      TAU2: constants.POWER_COST_SHARE,
      TAU3: constants.SUPPLIER_COST_SHARE,
      P2: POWER_ABATEMENT.backstopUsdPerT,
      Y2: POWER_ABATEMENT.years,
      M2: POWER_ABATEMENT.shareMax,
      P3: SUPPLIER_ABATEMENT.backstopUsdPerT,
      Y3: SUPPLIER_ABATEMENT.years,
      M3: SUPPLIER_ABATEMENT.shareMax,
      PU: PRODUCT_ABATEMENT.backstopUsdPerT,
      YU: PRODUCT_ABATEMENT.years,
      MU: PRODUCT_ABATEMENT.shareMax,
      KAPPA: constants.PRODUCT_COST_WEIGHT,
      KW_a: KALKUHL_WENZ.linear,
      KW_b: KALKUHL_WENZ.quadratic,
      ngfs4_scale: constants.NGFS4_SCALE,
      s_flood: constants.LOSS_GROWTH_PER_C.flood,
      s_wind: constants.LOSS_GROWTH_PER_C.wind,
      s_surge: constants.LOSS_GROWTH_PER_C.surge,
      GSAT_ref: constants.LOSS_RATIO_WARMING_C,
      PT_YEARS: constants.PASS_THROUGH_YEARS,
    };
    const borrower = rows.find((row) => row["symbol"] === "borrower") ?? {};
    const { revenue, totalAssets, ebitda, debt, volatility } = BORROWER;
    expect(text(borrower, "value")).toBe(
      `revenue ${revenue}, assets ${totalAssets}, EBITDA ${ebitda}, debt ${debt}, volatility ${volatility}`,
    );
    const others = rows.filter((row) => row !== borrower);
    expect(Object.fromEntries(others.map((row) => [text(row, "symbol"), number(row, "value")]))).toEqual(figures);
  });

  test("damage functions", () => {
    const rows = readSharedRows("damage_functions");
    const parameters = (name: string): string[] => {
      const row = rows.find((candidate) => candidate["function"] === name) ?? {};
      return [text(row, "p1"), text(row, "p2")];
    };
    expect(parameters("ngfs4")[0]).toBe(`m=${constants.NGFS4_SCALE}`);
    expect(parameters("ngfs5_kotz")[0]).toBe(`m=${constants.NGFS5_SCALE}`);
    expect(parameters("kalkuhl_wenz")).toEqual([
      `a=${constants.KALKUHL_WENZ.linear}`,
      `b=${constants.KALKUHL_WENZ.quadratic}`,
    ]);
    const coefficients = parameters("howard_sterner").map((cell) => Number(cell.slice(2)));
    expect((coefficients[0] ?? NaN) + (coefficients[1] ?? NaN)).toBe(constants.HOWARD_STERNER);
    expect(parameters("dice2016")[0]).toBe(`c=${constants.DICE_2016}`);
  });

  test("industries: every parameter of an answer", () => {
    const rows = readSharedRows("industries");
    expect(rows).toHaveLength(INDUSTRIES.length);
    for (const [index, row] of rows.entries()) {
      const industry = INDUSTRIES[index] ?? expect.fail(text(row, "id"));
      for (const [column, value] of Object.entries(industry.parameters)) {
        expect(typeof value === "number" ? number(row, column) : text(row, column), `${industry.id} ${column}`).toBe(
          value,
        );
      }
      expect(industry).toMatchObject({ id: text(row, "id"), name: text(row, "name"), sector: text(row, "sector") });
      expect(industry.codes).toEqual({
        isic: codesIn(row, "isic4"),
        nace: codesIn(row, "nace2"),
        naics: codesIn(row, "naics2017"),
      });
      expect(industry.isBank).toBe(text(row, "archetype") === "banks");
      expect(industry.isInsurer).toBe(text(row, "archetype") === "insurance");
      const isMoved = text(row, "factor_source").startsWith("v2: EPA");
      expect(/companies report/.test(industry.factorSource), industry.id).toBe(
        isMoved || industry.id === "electric_utilities",
      );
    }
  });

  test("countries: every parameter of an answer", () => {
    const rows = readSharedRows("countries").filter((row) => text(row, "tier") !== "C");
    expect(rows).toHaveLength(COUNTRIES.length);
    for (const [index, row] of rows.entries()) {
      const country = COUNTRIES[index] ?? expect.fail(text(row, "iso3"));
      for (const [column, value] of Object.entries(country.parameters)) {
        expect(typeof value === "number" ? number(row, column) : text(row, column), `${country.iso3} ${column}`).toBe(
          value,
        );
      }
      expect(country).toMatchObject({
        iso3: text(row, "iso3"),
        name: text(row, "name"),
        tier: text(row, "tier"),
        region: text(row, "ngfs_r5"),
        gridGCO2PerKWh: number(row, "grid_gco2_kwh"),
      });
      expect(country.gridSource?.slice(-4) ?? "").toBe(text(row, "grid_year"));
      const fallbacks = text(row, "fallbacks")
        .split("; ")
        .filter((fallback) => fallback !== "");
      expect(COUNTRY_FIGURE_ROWS.find((figures) => figures.iso3 === country.iso3)?.fallbacks).toEqual(fallbacks);
      expect(country.fallbacks).toHaveLength(fallbacks.length);
    }
  });

  test("scenarios", () => {
    const kept = TRANSITION_SCENARIOS.map((scenario) => ({
      scenario_id: scenario.id,
      family: scenario.family,
      vintage: scenario.vintage,
      price_path: scenario.pricePath,
      temperature_path: scenario.temperaturePath,
      ssp: scenario.ssp ?? "",
      ar6_category: scenario.category,
    }));
    const ignored = new Set(["narrative", "abatement_category"]);
    expect(kept).toEqual(
      readSharedRows("scenarios").map((row) =>
        Object.fromEntries(Object.entries(row).filter(([name]) => !ignored.has(name))),
      ),
    );
  });

  test("temperatures: every value", () => {
    const rows = readSharedRows("temperatures");
    expect(rows).toHaveLength(20 * 13);
    for (const row of rows) {
      const warming = warmingOf(text(row, "scenario_id"));
      expect(valueInYear(warming, number(row, "year"))).toBeCloseTo(number(row, "gsat_c_vs_1850_1900"), 13);
    }
  });

  test("carbon prices: every value, and whether it is published", () => {
    const variants: Readonly<Record<string, string>> = Object.fromEntries(
      Object.entries(PRICE_MODELS).map(([variant, name]) => [name, variant]),
    );
    let count = 0;
    for (const row of readSharedRows("carbon_prices")) {
      const path = text(row, "scenario_id");
      const columns = path.startsWith("IPCC")
        ? { median: "price_usd2022", p25: "p25_usd2022", p75: "p75_usd2022" }
        : { [variants[text(row, "model")] ?? ""]: "price_usd2022" };
      for (const [variant, column] of Object.entries(columns)) {
        const prices = pricesOf(path, { variant, region: text(row, "region") } as Parameters<typeof pricesOf>[1]);
        if (prices === undefined) expect.fail(`${path} ${variant} ${text(row, "region")}`);
        expect(valueInYear(prices, number(row, "year"))).toBeCloseTo(1.1 * number(row, column), 9);
        count++;
      }
      expect(SUBSTITUTE_PRICES.has(path)).toBe(text(row, "provenance").startsWith("NOT PUBLISHED"));
    }
    expect(count).toBe(812 + 100);
  });

  test("shocks compare regional with regional and world with world prices", () => {
    const of = { variant: "messageix", region: "R5ASIA" } as const;
    const shocks = priceShocksOf("NGFS_BELOW_2C", of) ?? expect.fail("no prices");
    const priceIn = (
      path: string,
      variant: "messageix" | "remind",
      region: "R5ASIA" | "World",
      year: number,
    ): number => {
      const prices = pricesOf(path, { variant, region }) ?? expect.fail(`${path} ${variant} ${region}`);
      return valueInYear(prices, year);
    };
    for (let year = 2025; year <= 2060; year++) {
      for (const [series, region] of [
        [shocks.shock, "R5ASIA"],
        [shocks.worldShock, "World"],
      ] as const) {
        const price = priceIn("NGFS_BELOW_2C", "messageix", region, year);
        const excess = price - priceIn("NGFS_CURRENT_POLICIES", "remind", region, year);
        expect(valueInYear(series, year)).toBe(Math.max(0, excess));
      }
    }
    expect(priceShocksOf("NGFS_NDC", of)).toBeUndefined();
    const withoutWorld = priceShocksOf("NGFS_NET_ZERO_2050", { ...of, variant: "gcam" });
    expect(withoutWorld?.worldShock).toBe(withoutWorld?.shock);
  });
});

function codesIn(row: Readonly<Record<string, string>>, column: string): string[] {
  return text(row, column)
    .split(";")
    .filter((code) => code !== "");
}
