import { describe, expect, test } from "vitest";
import { TABLE_START_YEAR } from "../../src/company/methodConstants.ts";
import { valueInYear } from "../../src/company/yearlySeries.ts";
import { COUNTRIES, TIER_A_COUNTRIES } from "../../src/company/countryFigures.ts";
import { findCountry } from "../../src/company/countryLookup.ts";
import { INDUSTRIES } from "../../src/company/industryParameters.ts";
import { COUNTRY_FIGURE_ROWS } from "../../src/company/data/countryFigures.generated.ts";
import { INDUSTRY_PARAMETER_ROWS } from "../../src/company/data/industryParameters.generated.ts";
import { hasPrices, PRICE_MODELS, type PriceVariant, priceShocksOf } from "../../src/company/carbonPrices.ts";
import { cutsOf, TRANSITION_SCENARIOS } from "../../src/company/scenarios.ts";
import { warmingOf } from "../../src/company/temperaturePaths.ts";
import { LISTED_COUNTRIES } from "../../src/reference/countries.ts";
import { LISTED_INDUSTRIES } from "../../src/reference/industries.ts";
import { describeWithReference, readSharedRows } from "../alignment/sharedReference.ts";

type Row = Readonly<Record<string, string>>;

const text = (row: Row, column: string): string => row[column] ?? expect.fail(`no column ${column}`);
const number = (row: Row, column: string): number => {
  const cell = text(row, column);
  return cell === "" ? expect.fail(`${column} is empty`) : Number(cell);
};

describe("the tables", () => {
  test("have 147 industries, 248 countries (180 with all figures from data) and 21 scenarios", () => {
    expect(INDUSTRIES).toHaveLength(147);
    expect(COUNTRIES).toHaveLength(248);
    expect(TIER_A_COUNTRIES).toHaveLength(180);
    expect(TRANSITION_SCENARIOS).toHaveLength(21);
  });

  test("have all figures, within their bounds", () => {
    for (const { id, intensity, sector, factorSource, codes, ...industry } of INDUSTRIES) {
      for (const figure of Object.values(intensity)) expect(figure, id).toBeGreaterThanOrEqual(0);
      expect(intensity.scope3Upstream, id).toBeGreaterThan(0);
      for (const share of ["valueAddedShare", "passThroughShort", "passThroughLong", "tangibleShare"] as const) {
        expect(industry[share], id).toBeGreaterThan(0);
        expect(industry[share], id).toBeLessThanOrEqual(1);
      }
      expect(industry.backstopUsdPerT, id).toBeGreaterThanOrEqual(100);
      expect(industry.backstopUsdPerT, id).toBeLessThanOrEqual(400);
      expect(industry.demandElasticity, id).toBeGreaterThan(0);
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
      expect(country.carbonIntensityToUS, iso3).toBeGreaterThan(0);
      expect(country.priceLevelToUS, iso3).toBeGreaterThan(0);
      expect(country.warmingRatio, iso3).toBeGreaterThan(0);
      expect(Number.isFinite(country.baselineTemperatureC), iso3).toBe(true);
      expect(fallbacks.length > 0, iso3).toBe(tier === "B");
      expect(
        fallbacks.every((fallback) => fallback !== ""),
        iso3,
      ).toBe(true);
    }
  });

  test("have a row for every listed industry and every listed country but Antarctica, and no other rows", () => {
    const computed = LISTED_COUNTRIES.filter(({ name }) => name !== "Antarctica");
    expect(COUNTRY_FIGURE_ROWS.map(({ iso3 }) => iso3)).toEqual(computed.map(({ iso3 }) => iso3));
    expect(INDUSTRY_PARAMETER_ROWS.map(({ id }) => id)).toEqual(LISTED_INDUSTRIES.map(({ id }) => id));
  });
});

describeWithReference("the tables compared with their source files", () => {
  test("industries", () => {
    const rows = readSharedRows("reference/industries.csv");
    expect(rows).toHaveLength(INDUSTRIES.length);
    for (const [index, row] of rows.entries()) {
      const industry = INDUSTRIES[index] ?? expect.fail(text(row, "id"));
      const alias = text(row, "alias");
      expect({
        id: industry.id,
        name: industry.name,
        names: industry.names,
        sector: industry.sector,
        codes: industry.codes,
        intensity: industry.intensity,
        scope1Exponent: industry.scope1Exponent,
        valueAddedShare: industry.valueAddedShare,
        passThroughShort: industry.passThroughShort,
        passThroughLong: industry.passThroughLong,
        backstopUsdPerT: industry.backstopUsdPerT,
        demandElasticity: industry.demandElasticity,
        tangibleShare: industry.tangibleShare,
        heatSensitivity: industry.heatSensitivity,
        assetVolatility: industry.assetVolatility,
      }).toEqual({
        id: text(row, "id"),
        name: text(row, "name"),
        names: [text(row, "name"), ...(alias === "" ? [] : [alias])],
        sector: text(row, "sector"),
        codes: {
          isic: text(row, "isic4").split(";"),
          nace: text(row, "nace2").split(";"),
          naics: text(row, "naics2017")
            .split(";")
            .filter((code) => code !== ""),
        },
        intensity: {
          scope1: number(row, "s1_t_per_musd"),
          scope2: number(row, "s2_t_per_musd"),
          scope3Upstream: number(row, "s3up_t_per_musd"),
          scope3Downstream: number(row, "s3down_t_per_musd"),
        },
        scope1Exponent: number(row, "theta_s1"),
        valueAddedShare: number(row, "va_share"),
        passThroughShort: number(row, "pass_through"),
        passThroughLong: number(row, "pass_through_long"),
        backstopUsdPerT: number(row, "abatement_backstop_usd_t"),
        demandElasticity: number(row, "demand_elasticity"),
        tangibleShare: number(row, "tangible_share"),
        heatSensitivity: number(row, "heat_sensitivity"),
        assetVolatility: number(row, "asset_vol"),
      });
      // The table has a group only if a rule depends on it.
      const group = text(row, "archetype");
      if (industry.group === undefined) {
        expect(["banks", "insurance", "oilgas_up", "refining", "coal", "pipelines"]).not.toContain(group);
      } else expect(industry.group).toBe(group);
      const [, margin] = /gross margin ([0-9.]+)/.exec(text(row, "factor_source")) ?? [];
      const isSales = margin !== undefined;
      expect(industry.factorSource.endsWith(`gross margin of ${Math.round(100 * Number(margin))}%`)).toBe(isSales);
      // Power generation uses judged prices, and utilities the judged exponent of the price level.
      const isJudged = /assumption|OVERRIDE|average price/.test(text(row, "factor_source"));
      expect(industry.isFactorJudged, industry.id).toBe(isJudged);
    }
  });

  test("countries", () => {
    const rows = readSharedRows("reference/countries.csv").filter((row) => text(row, "tier") !== "C");
    expect(rows).toHaveLength(COUNTRIES.length);
    for (const [index, row] of rows.entries()) {
      const country = COUNTRIES[index] ?? expect.fail(text(row, "iso3"));
      const aliases = text(row, "aliases")
        .split("|")
        .filter((alias) => alias !== "");
      expect(country).toMatchObject({
        iso3: text(row, "iso3"),
        iso2: text(row, "iso2"),
        name: text(row, "name"),
        names: [text(row, "name"), text(row, "iso3"), text(row, "iso2"), ...aliases],
        tier: text(row, "tier"),
        region: text(row, "ngfs_r5"),
        emissionsTCO2ePerMUSD: number(row, "ei_t_per_musd_nominal_2022"),
        carbonIntensityToUS: number(row, "ci_ratio_us"),
        priceLevelToUS: number(row, "price_level_rel_us"),
        gridGCO2PerKWh: number(row, "grid_gco2_kwh"),
        gridToUS: number(row, "grid_ratio_us"),
        warmingRatio: number(row, "warming_ratio"),
        baselineTemperatureC: number(row, "t0_c"),
        averageLoss: {
          flood: number(row, "aal_flood"),
          wind: number(row, "aal_wind"),
          surge: number(row, "aal_surge"),
        },
      });
      const gridYear = text(row, "grid_year");
      expect(country.gridSource?.slice(-4) ?? "").toBe(gridYear);
      const temperatureSource = text(row, "t0_source");
      expect(country.baselineTemperatureSource === undefined).toBe(temperatureSource === "");
      expect(country.baselineTemperatureSource?.includes("NICE2020") ?? false).toBe(
        temperatureSource.includes("NICE2020"),
      );
      const fallbacks = text(row, "fallbacks")
        .split("; ")
        .filter((fallback) => fallback !== "");
      expect(country.fallbacks.map((fallback) => fallback.replace(/ \([^)]*\)$/, ""))).toEqual(fallbacks);
    }
  });

  test("scenarios and their emission reductions", () => {
    const rows = readSharedRows("reference/scenarios.csv");
    const kept = TRANSITION_SCENARIOS.map((scenario) => ({
      scenario_id: scenario.id,
      family: scenario.family,
      vintage: scenario.vintage,
      price_path: scenario.pricePath,
      temperature_path: scenario.temperaturePath,
      ssp: scenario.ssp ?? "",
      ar6_category: scenario.category,
      abatement_category: scenario.abatementCategory,
    }));
    expect(kept).toEqual(
      rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => name !== "narrative"))),
    );
    const cutRows = readSharedRows("reference/abatement_ar6.csv");
    for (const scenario of TRANSITION_SCENARIOS) {
      const row = cutRows.find((candidate) => candidate["ar6_category"] === scenario.abatementCategory);
      const cuts = cutsOf(scenario);
      for (const year of [2030, 2040, 2050] as const) {
        const percent = number(row ?? {}, `cut_${year}_pct`);
        expect(valueInYear(cuts, year), `${scenario.id} ${year}`).toBeCloseTo(Math.max(0, percent / 100), 14);
      }
      expect(valueInYear(cuts, 2020)).toBe(0);
      expect(valueInYear(cuts, 2100)).toBe(valueInYear(cuts, 2050));
    }
  });

  test("temperatures: every value and no other path", () => {
    const rows = readSharedRows("reference/temperatures.csv");
    expect(rows.length).toBe(20 * 13);
    for (const row of rows) {
      const warming = warmingOf(text(row, "scenario_id"));
      expect(valueInYear(warming, number(row, "year"))).toBeCloseTo(number(row, "gsat_c_vs_1850_1900"), 13);
    }
    expect(() => warmingOf("IPCC_NET_ZERO")).toThrow("Unknown temperature path");
  });

  test("carbon prices: every value that is used", () => {
    const variants = Object.fromEntries(Object.entries(PRICE_MODELS).map(([variant, name]) => [name, variant]));
    let count = 0;
    for (const row of readSharedRows("reference/carbon_prices.csv")) {
      const path = text(row, "scenario_id");
      const region = text(row, "region");
      const isEnsemble = path.startsWith("IPCC");
      // World prices are observed as the excess over current policies that fuel buyers pay.
      if (!isEnsemble && region === "World") continue;
      const columns = isEnsemble
        ? { median: "price_usd2022", p25: "p25_usd2022", p75: "p75_usd2022" }
        : { [variants[text(row, "model")] ?? ""]: "price_usd2022" };
      for (const [variant, column] of Object.entries(columns)) {
        const of = { variant: variant as PriceVariant, region: isEnsemble ? "R5LAM" : region } as Parameters<
          typeof priceShocksOf
        >[1];
        expect(hasPrices(path, of), `${path} ${variant}`).toBe(true);
        expect(valueInYear(priceShocksOf(path, of).scenario, number(row, "year"))).toBeCloseTo(
          1.1 * number(row, column),
          9,
        );
        count++;
      }
    }
    expect(count).toBe(812 - 177 + 50 + 100);
  });

  test("world prices, as applied to the buyers of fuel", () => {
    const rows = readSharedRows("reference/carbon_prices.csv");
    const world = (path: string, model: string, year: number): number | undefined => {
      const row = rows.find(
        (candidate) =>
          candidate["scenario_id"] === path &&
          candidate["model"] === model &&
          candidate["region"] === "World" &&
          Number(candidate["year"]) === year,
      );
      return row === undefined ? undefined : number(row, "price_usd2022");
    };
    let count = 0;
    for (const { pricePath } of TRANSITION_SCENARIOS.filter(({ family }) => family === "NGFS")) {
      for (const [variant, model] of Object.entries(PRICE_MODELS)) {
        const of = { variant: variant as PriceVariant, region: "R5ASIA" as const };
        if (!hasPrices(pricePath, of)) continue;
        const { worldShock, shock } = priceShocksOf(pricePath, of);
        for (let year = TABLE_START_YEAR; year <= 2060; year += 5) {
          const price = world(pricePath, model, year);
          const base = world("NGFS_CURRENT_POLICIES", PRICE_MODELS.remind, year) ?? NaN;
          const expected = price === undefined ? valueInYear(shock, year) : Math.max(0, 1.1 * (price - base));
          expect(valueInYear(worldShock, year), `${pricePath} ${variant} ${year}`).toBeCloseTo(expected, 9);
          count++;
        }
      }
    }
    expect(count).toBe(11 * 9);
  });

  test("the only country without figures is rejected", () => {
    const without = readSharedRows("reference/countries.csv").filter((row) => text(row, "tier") === "C");
    expect(without.map((row) => text(row, "name"))).toEqual(["Antarctica"]);
    expect(findCountry("ATA")).toMatchObject({ isUnsupported: true });
  });
});
