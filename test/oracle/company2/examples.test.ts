import { expect, it } from "vitest";
import * as constants from "./constants.ts";
import { emissionsOf, modeledScopes } from "./emissions.ts";
import { chronicDamage, gsat } from "./physical.ts";
import { priceInversions, priceOf } from "./prices.ts";
import { analyzeCompany, type CompanyReport, type YearResult } from "./report.ts";
import type { CompanyRequest, DamageFunction } from "./request.ts";
import { lostShare, ratingOf, scoreOf } from "./score.ts";
import { describeWithReference } from "./sharedReference.ts";
import { type Country, type Industry, type Scenario } from "./tables.ts";
import { ramp, unitCost } from "./transition.ts";

it("gives the ratings of the method text at loss ratios of 2.8, 8.3, 25 and 75 %", () => {
  expect([0.0277, 0.0278, 0.083, 0.0834, 0.25, 0.2501, 0.75, 0.7501].map((x) => ratingOf(scoreOf(x))).join("")).toBe(
    "ABBCCDDE",
  );
  expect(scoreOf(0.25)).toBe(50);
});

it("turns a loss ratio of 10 % into 9.5 % of EBITDA after closures, and never loses all of it", () => {
  expect(100 * lostShare(0.1)).toBeCloseTo(9.5, 1);
  expect(lostShare(1e6)).toBe(1 - 1e-12);
});

it("has a steel maker abate 15 % after five years at or above the backstop", () => {
  const steel = { backstop: 170, years: 30, maxShare: 0.9 };
  expect(ramp(2030, steel)).toBeCloseTo(0.15, 12);
  expect(unitCost(286, 2030, steel)).toBeCloseTo(286 * 0.85 + 0.5 * 0.15 * 170, 10);
});

describeWithReference("worked examples of the company method", (tables) => {
  const country = (iso3: string): Country => tables.countries.find((found) => found.iso3 === iso3) as Country;
  const industry = (id: string): Industry => tables.industries.find((found) => found.id === id) as Industry;
  const scenario = (id: string): Scenario => tables.scenarios.find((found) => found.scenario_id === id) as Scenario;
  const analyze = (request: Partial<CompanyRequest>): CompanyReport =>
    analyzeCompany(tables, {
      name: "Example",
      country: "USA",
      industry: "software",
      revenue: 1e9,
      transition_scenarios: ["NGFS_NET_ZERO_2050"],
      assessment_years: [2030],
      ...request,
    });
  const only = (report: CompanyReport): YearResult => report.results[0] as YearResult;

  it("uses the constants of parameters.csv", () => {
    const table = (symbol: string): number => Number(tables.parameters.get(symbol));
    const { POWER_ABATEMENT: power, SUPPLIER_ABATEMENT: suppliers, PRODUCT_ABATEMENT: products } = constants;
    const ours: Readonly<Record<string, number>> = {
      INFL: constants.INFL,
      t0: constants.BASE_YEAR,
      t1: constants.HORIZON_YEAR,
      TAX: constants.TAX,
      discount_rate: constants.DEFAULT_DISCOUNT_RATE,
      RF: constants.RF,
      TM: constants.TM,
      KD: constants.KD,
      LGD: constants.DEFAULT_LGD,
      LOANS: constants.LOANS,
      KOUT: constants.KOUT,
      FLOOR: constants.FLOOR,
      STICKY: constants.STICKY,
      HALF: constants.HALF,
      LOST_MAX: constants.LOST_MAX,
      GRID_MIN: constants.GRID_MIN,
      TAU2: constants.TAU2,
      TAU3: constants.TAU3,
      P2: power.backstop,
      Y2: power.years,
      M2: power.maxShare,
      P3: suppliers.backstop,
      Y3: suppliers.years,
      M3: suppliers.maxShare,
      PU: products.backstop,
      YU: products.years,
      MU: products.maxShare,
      KAPPA: constants.KAPPA,
      KW_a: constants.KW_A,
      KW_b: constants.KW_B,
      ngfs4_scale: constants.NGFS4_SCALE,
      s_flood: constants.S_FLOOD,
      s_wind: constants.S_WIND,
      s_surge: constants.S_SURGE,
      GSAT_ref: constants.GSAT_REF,
      PT_YEARS: constants.PT_YEARS,
    };
    for (const [symbol, value] of Object.entries(ours)) expect(value, symbol).toBe(table(symbol));
    const { revenue, assets, ebitda, debt, volatility } = constants.BORROWER;
    expect(tables.parameters.get("borrower")).toBe(
      `revenue ${revenue}, assets ${assets}, EBITDA ${ebitda}, debt ${debt}, volatility ${volatility}`,
    );
    expect([...tables.parameters.keys()].toSorted()).toEqual([...Object.keys(ours), "borrower"].toSorted());
  });

  it("gives the scope 1 factors of steel makers in the method text, rounded to 10 t per million USD", () => {
    const factor = (iso3: string): number =>
      Math.round(modeledScopes(industry("iron_steel"), country(iso3), 1.1e6).scope1 / 10) * 10;
    expect(["USA", "DEU", "JPN", "KOR", "CHN", "IND"].map(factor)).toEqual([1400, 1230, 1510, 1890, 2850, 3060]);
  });

  it("splits 620 Mt of a retailer into 353 Mt upstream and 267 Mt of sold products", () => {
    const request = {
      industry: "discount_stores",
      revenue: 648e9,
      total_assets: 255e9,
      ebitda: 40e9,
      scope1: 8e6,
      scope2: 8.7e6,
      scope3: 620e6,
    };
    const { emissions, ...report } = analyze(request);
    expect(Math.round(emissions.upstream.value / 1e6)).toBe(353);
    expect(Math.round(emissions.downstream.value / 1e6)).toBe(267);
    expect(only({ emissions, ...report }).total.pct_of_ebitda).toBeCloseTo(28, 1);
    const { scope1: _1, scope2: _2, scope3: _3, ...modeled } = request;
    expect(only(analyze(modeled)).total.pct_of_ebitda).toBeCloseTo(18.1, 1);
  });

  it("limits the upstream part of a large total to the high end of the modeled upstream", () => {
    const software = industry("software");
    const modeled = modeledScopes(software, country("USA"), 1e9);
    const reported = {
      scope1: undefined,
      scope2: undefined,
      scope3: 1e9,
      scope3Upstream: undefined,
      scope3Downstream: undefined,
    };
    const { upstream, downstream } = emissionsOf(software, country("USA"), 1e9, 1e9, reported);
    expect(upstream.value).toBe(software.s3_range * modeled.upstream);
    expect(upstream.value + downstream.value).toBeCloseTo(1e9, 3);
    expect([upstream.method, upstream.pcaf_score]).toEqual(["split", 3]);
  });

  it("gives the prices and inversions of NDC in the method text", () => {
    const price = (path: string): number => Math.round(priceOf(tables, path, "remind", "R5OECD", 2030));
    expect(["NGFS_NDC", "NGFS_BELOW_2C", "NGFS_NET_ZERO_2050"].map(price)).toEqual([320, 73, 417]);
    const years = Array.from({ length: 76 }, (_, index) => 2025 + index);
    const lastYears = ["USA", "BRA", "NGA", "CHN", "RUS"].map((iso3) =>
      priceInversions(tables, scenario("NGFS_NDC"), "remind", country(iso3), years).map(
        ({ path, years: found }) => `${path} ${found.at(-1)}`,
      ),
    );
    expect(lastYears).toEqual([
      ["NGFS_LOW_DEMAND 2031", "NGFS_BELOW_2C 2060"],
      ["NGFS_BELOW_2C 2046"],
      ["NGFS_BELOW_2C 2033"],
      ["NGFS_BELOW_2C 2030"],
      [],
    ]);
  });

  it("gives US steel under NDC and Net Zero in 2030 as in the worked example, at the margin of the known answers", () => {
    const steel = { industry: "iron_steel", revenue: 10e9, total_assets: 12e9, ebitda: 1.5e9, total_debt: 3e9 };
    const { results } = analyze({ ...steel, transition_scenarios: ["NGFS_NDC", "NGFS_NET_ZERO_2050"] });
    expect(results.map(({ drivers }) => Math.round(drivers.price_shock))).toEqual([286, 382]);
    expect(results.map(({ total }) => total.loss_ratio.toFixed(2))).toEqual(["0.79", "1.04"]);
  });

  it("measures a US software maker by normal EBITDA from -20 to +10 % of revenue", () => {
    const software = { revenue: 10e9, total_assets: 25e9, total_debt: 4e9 };
    const answer = (ebitda: number): readonly unknown[] => {
      const report = analyze({ ...software, ebitda, transition_scenarios: ["NGFS_CURRENT_POLICIES"] });
      const { total } = only(report);
      const { asset_value_after, pd_5y_after } = report.valuation[0] as CompanyReport["valuation"][number];
      const pd = (100 * (pd_5y_after as number)).toFixed(3);
      return [(total.loss / 1e6).toFixed(1), total.rating, (asset_value_after / 1e9).toFixed(2), pd, total.measured_by];
    };
    for (const ebitda of [-2e9, -1e9, -1, 0, 1e6, 0.99e9]) {
      expect(answer(ebitda)).toEqual(["34.3", "A", "24.62", "0.470", "normal_ebitda"]);
    }
    expect(answer(2e9)).toEqual(["39.8", "A", "24.56", "0.475", "ebitda"]);
  });

  it("gives the German car maker of the worked example", () => {
    const maker = { country: "DEU", industry: "motor_vehicles", revenue: 350e9, total_assets: 650e9, ebitda: 52e9 };
    const { results } = analyze({ ...maker, assessment_years: [2030, 2050] });
    expect(results[0]?.total.pct_of_ebitda).toBeCloseTo(19.4, 1);
    expect(results[0]?.transition.volume_change).toBeCloseTo(-0.14, 2);
    expect(results.map(({ total }) => total.loss_ratio.toFixed(2))).toEqual(["0.22", "0.12"]);
  });

  it("gives the published damages in 2050 and 2100, weighted by GDP", () => {
    const tierA = tables.countries.filter(({ tier }) => tier === "A");
    const gdpOf = (of: Country): number => of.gdp_usd ?? 0;
    const damage = (id: string, damageFunction: DamageFunction, year: number, among = tierA): string => {
      const [warming, warming2020] = [gsat(tables, scenario(id), year), gsat(tables, scenario(id), 2020)];
      const weighted = among.map((of) => gdpOf(of) * chronicDamage(damageFunction, of, warming, warming2020));
      const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
      return ((100 * sum(weighted)) / sum(among.map(gdpOf))).toFixed(1);
    };
    const both = (id: string, damageFunction: DamageFunction): string =>
      [2050, 2100].map((year) => damage(id, damageFunction, year)).join(" ");
    expect(both("NGFS_CURRENT_POLICIES", "ngfs4")).toBe("5.0 11.4");
    expect(both("NGFS_NET_ZERO_2050", "ngfs4")).toBe("3.3 1.6");
    expect(both("IPCC_SSP5_85", "ngfs4")).toBe("8.6 25.8");
    expect(both("NGFS_CURRENT_POLICIES", "kalkuhl_wenz")).toBe("1.5 3.4");
    expect(both("NGFS_CURRENT_POLICIES", "howard_sterner")).toBe("1.9 5.2");
    expect(both("NGFS_CURRENT_POLICIES", "ngfs5_kotz")).toBe("14.9 34.4");
    const ofCountry = (iso3: string): string => damage("NGFS_CURRENT_POLICIES", "ngfs4", 2050, [country(iso3)]);
    expect(["DEU", "FRA", "ITA", "ESP", "USA", "IND"].map(ofCountry).join(" ")).toBe("2.0 2.9 4.4 4.7 5.0 10.2");
  });
});
