import { describe, expect, test } from "vitest";
import { countryByIso3 } from "../../src/company/countryFigures.ts";
import { scalingOf } from "../../src/company/emissions.ts";
import { INDUSTRIES, industryById } from "../../src/company/industryParameters.ts";
import { estimateEmissions } from "../../src/company/report.ts";
import type { EmissionsAnswer, EmissionsRequest } from "../../src/contract/wireTypes.ts";
import { BANK, REQUEST, ask, codes, qualityOf } from "./requests.ts";

const RETAILER = { country: "USA", industry: "discount_stores", revenue: 648e9 } as const;
const codesOf = ({ warnings }: EmissionsAnswer): string[] => warnings.map(({ code }) => code);
const estimate = (change: Partial<EmissionsRequest> = {}): EmissionsAnswer =>
  estimateEmissions({ ...RETAILER, ...change });
const musd2022 = RETAILER.revenue / 1e6 / 1.1;

describe("modeled emissions", () => {
  test.each([
    ["USA", 1400],
    ["DEU", 1230],
    ["JPN", 1510],
    ["KOR", 1890],
    ["CHN", 2850],
    ["IND", 3060],
  ])("steel in %s emits %d t per million USD of 2022, rounded to 10", (country, factor) => {
    const { emissions } = estimateEmissions({ country, industry: "iron_steel", revenue: 1.1e6 });
    expect(Math.round(emissions.scope1.value / 10) * 10).toBe(factor);
  });

  test("scope 1 is scaled by economy, grid, price level or not at all", () => {
    const germany = countryByIso3("DEU");
    if (germany === undefined) throw new Error("Germany was not found.");
    const scope1 = (id: string): number => scalingOf(industryById(id), germany).scope1;
    const priceLevel = germany.priceLevelRelativeToUS ** -0.5;
    expect(scope1("cement_lime")).toBeCloseTo(
      germany.carbonIntensityRelativeToUS ** industryById("cement_lime").scope1Exponent,
      12,
    );
    expect(scope1("electric_utilities")).toBeCloseTo(germany.gridIntensityRelativeToUS * priceLevel, 12);
    const byPriceLevel = INDUSTRIES.find(({ scope1Scaling }) => scope1Scaling === "price_level");
    expect(scope1(byPriceLevel?.id ?? "")).toBeCloseTo(priceLevel, 12);
    expect(scope1("airlines")).toBe(1);
  });

  test("scope 2 of a clean grid is at least 0.3 times that of the US", () => {
    const iceland = countryByIso3("ISL");
    if (iceland === undefined) throw new Error("Iceland was not found.");
    expect(iceland.gridIntensityRelativeToUS).toBeLessThan(0.3);
    const priceLevel = Math.max(0.8, Math.min(2.2, iceland.priceLevelRelativeToUS ** -0.5));
    expect(scalingOf(industryById("software"), iceland).scope2).toBe(0.3 * priceLevel);
  });

  test("ranges and PCAF scores follow the industry", () => {
    for (const id of ["cement_lime", "software", "aluminium"]) {
      const { rangeFactors, factorQuality } = industryById(id);
      const { scope1, scope3_upstream } = estimateEmissions({ country: "USA", industry: id, revenue: 1e9 }).emissions;
      expect(scope1.high / scope1.value).toBeCloseTo(rangeFactors.scope1, 12);
      expect(scope1.value / scope1.low).toBeCloseTo(rangeFactors.scope1, 12);
      expect(scope3_upstream.high / scope3_upstream.value).toBeCloseTo(rangeFactors.scope3, 12);
      expect(scope1.pcaf_score).toBe(["reporters", "table"].includes(factorQuality) ? 4 : 5);
      expect([scope1.method, scope1.modelled]).toEqual(["modelled", scope1.value]);
    }
  });

  test("financed emissions of a bank follow assets, which are estimated if absent", () => {
    expect(ask().emissions.financed).toBeNull();
    const { emissions, parameters } = ask({}, BANK);
    const loans = (0.55 * BANK.total_assets) / 1e6 / 1.1;
    const expected = (loans * parameters.country.ei_t_per_musd_nominal_2022) / 3.5;
    expect(emissions.financed?.value).toBeCloseTo(expected, 3);
    expect((emissions.financed?.high ?? NaN) / expected).toBeCloseTo(3, 9);
    const estimated = estimateEmissions({ country: "IND", industry: "major_banks", revenue: 27e9 });
    expect(codesOf(estimated)).toContain("total_assets_estimated");
    expect(estimated.emissions.financed?.value).toBeGreaterThan(0);
    expect(codesOf(estimate())).not.toContain("total_assets_estimated");
  });
});

describe("reported emissions", () => {
  test("replace the modeled figure of their scope, with a narrow range", () => {
    const { emissions } = estimate({ scope1: 8e6, scope3_upstream: "3e8" });
    expect(emissions.scope1).toMatchObject({ value: 8e6, method: "reported", pcaf_score: 2, high: 8e6 * 1.05 });
    expect(emissions.scope1.modelled).toBe(estimate().emissions.scope1.value);
    expect(emissions.scope2).toEqual(estimate().emissions.scope2);
    expect(emissions.scope3_upstream).toMatchObject({ value: 3e8, method: "reported" });
    expect(emissions.scope3_downstream).toEqual(estimate().emissions.scope3_downstream);
  });

  test("of a retailer: 620 Mt of scope 3 are 353 Mt upstream and 267 Mt of sold products", () => {
    const answer = estimate({ scope3: 620e6 });
    const { scope3_upstream: upstream, scope3_downstream: downstream } = answer.emissions;
    expect(Math.round(upstream.value / 1e6)).toBe(353);
    expect(Math.round(downstream.value / 1e6)).toBe(267);
    expect([upstream.method, upstream.pcaf_score, downstream.method]).toEqual(["split", 3, "split"]);
    expect(upstream.high / upstream.value).toBeCloseTo(1.5, 12);
    expect(codesOf(answer)).toContain("scope3_split");
  });

  test("a total far above the model counts as use of products beyond the modeled range of suppliers", () => {
    const { scope3_upstream: upstream, scope3_downstream: downstream } = estimate({ scope3: 6e10 }).emissions;
    const { intensity, rangeFactors } = industryById("discount_stores");
    expect(upstream.value).toBeCloseTo(rangeFactors.scope3 * intensity.scope3Upstream * musd2022, 3);
    expect(upstream.value + downstream.value).toBeCloseTo(6e10, 3);
  });

  test.each([
    [{ scope3: 5e8, scope3_upstream: 2e8 }, [2e8, "reported"], [3e8, "split"]],
    [{ scope3: 5e8, scope3_downstream: 4e8 }, [1e8, "split"], [4e8, "reported"]],
    [{ scope3: 5e8, scope3_downstream: 9e8 }, [0, "split"], [9e8, "reported"]],
    [{ scope3: 5e8, scope3_upstream: 1e8, scope3_downstream: 1e8 }, [1e8, "reported"], [1e8, "reported"]],
  ])("%j: is %j upstream and %j downstream", (reported, upstream, downstream) => {
    const { emissions } = estimate(reported);
    expect([emissions.scope3_upstream.value, emissions.scope3_upstream.method]).toEqual(upstream);
    expect([emissions.scope3_downstream.value, emissions.scope3_downstream.method]).toEqual(downstream);
  });

  test("without modeled downstream emissions a total is all upstream, up to the limit", () => {
    const { scope3_upstream: upstream, scope3_downstream: downstream } = estimateEmissions({
      country: "SE",
      industry: "livestock_farming",
      revenue: 3.7658345792678064e11,
      scope3: "2.6354529590332574E+8",
    }).emissions;
    expect([upstream.value, downstream.value]).toEqual([263_545_295.90332574, 0]);
  });

  test.each([
    ["scope1", "scope1_far_from_model"],
    ["scope2", "scope2_far_from_model"],
    ["scope3", "scope3_far_from_model"],
  ] as const)("%s beyond 3 times its range gets a warning", (scope, code) => {
    const { emissions } = estimate();
    const { rangeFactors } = industryById("discount_stores");
    const modeled =
      scope === "scope3" ? emissions.scope3_upstream.value + emissions.scope3_downstream.value : emissions[scope].value;
    const limit = modeled * rangeFactors[scope] * 3;
    expect(codesOf(estimate({ [scope]: 1.001 * limit }))).toContain(code);
    expect(codesOf(estimate({ [scope]: 0.999 * limit }))).not.toContain(code);
    const least = modeled / rangeFactors[scope] / 3;
    expect(codesOf(estimate({ [scope]: 0.999 * least }))).toContain(code);
    expect(codesOf(estimate({ [scope]: 1.001 * least }))).not.toContain(code);
  });

  test("more than 0.1 t per USD of revenue is implausible", () => {
    const request = { ...REQUEST, revenue: 1e9 };
    expect(codes(ask({ scope1: 6e7, scope2: 4.1e7 }, request))).toContain("emissions_implausible");
    expect(codes(ask({ scope1: 6e7, scope2: 3.9e7 }, request))).not.toContain("emissions_implausible");
  });

  test("are marked as reported", () => {
    expect(qualityOf(ask({ scope1: 1e7 }), "emissions.scope1")?.mark).toBe("reported");
    expect(qualityOf(ask({ scope3: 1e7 }), "emissions.scope3_upstream")?.detail).toContain("total");
    expect(qualityOf(ask(), "emissions.scope1")?.detail).toMatch(/a factor of [0-9.]+ either way/);
  });
});
