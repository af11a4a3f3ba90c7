import { describe, expect, test } from "vitest";
import { COUNTRIES } from "../../src/company/countryFigures.ts";
import { estimateEmissions } from "../../src/company/report.ts";
import { BANK, REQUEST, ask, qualityOf } from "./requests.ts";

describe("emissions", () => {
  test("have a range and PCAF score 5 if modeled, and are unchanged if reported", () => {
    const { scope1, scope2, scope3_upstream, scope3_downstream, financed } = ask({ scope1: "5e7" }).emissions;
    expect(scope1).toEqual({ value: 5e7, low: 5e7, high: 5e7, method: "reported", pcaf_score: 2 });
    for (const [figure, factor] of [
      [scope2, 2],
      [scope3_upstream, 3],
      [scope3_downstream, 3],
    ] as const) {
      expect(figure).toMatchObject({ method: "modelled", pcaf_score: 5, low: figure.value / factor });
      expect(figure.high).toBe(figure.value * factor);
    }
    expect(financed).toBeNull();
  });

  test("split reported scope 3 in the proportions of the model", () => {
    const oil = { ...REQUEST, industry: "oil_refining" };
    const modelled = ask({}, oil).emissions;
    const { scope3_upstream, scope3_downstream } = ask({ scope3: 1e9 }, oil).emissions;
    expect(scope3_upstream.method).toBe("reported");
    expect(scope3_upstream.value + scope3_downstream.value).toBeCloseTo(1e9, 3);
    const ratio = modelled.scope3_downstream.value / modelled.scope3_upstream.value;
    expect(scope3_downstream.value / scope3_upstream.value / ratio).toBeCloseTo(1, 12);
  });

  test("keep reported scope 3 upstream for an industry without downstream emissions", () => {
    const { scope3_upstream, scope3_downstream } = ask({ scope3: 12 }).emissions;
    expect([scope3_upstream.value, scope3_downstream.value]).toEqual([12, 0]);
  });

  test("of electric utilities are computed from grid intensity and power price of the country", () => {
    const utility = estimateEmissions({ country: "Germany", industry: "electric_utilities", revenue: 1.1e6 });
    const germany = COUNTRIES.find(({ iso3 }) => iso3 === "DEU") ?? expect.fail("no Germany");
    const expected = germany.gridGCO2PerKWh / (0.1236 * Math.sqrt(germany.priceLevelToUS));
    expect(utility.emissions.scope1.value).toBeCloseTo(expected, 6);
  });

  test("need neither name nor balance sheet", () => {
    const alone = estimateEmissions({ country: "IND", industry: "cement_lime", revenue: 7.87e9 });
    expect(alone.emissions).toStrictEqual(ask().emissions);
    expect(alone.company.name).toBeNull();
    expect(Object.keys(alone)).not.toContain("results");
    expect(estimateEmissions({ country: "IND", industry: "major_banks", revenue: 1 }).emissions.financed).toBeNull();
    const bank = estimateEmissions({ country: "IND", industry: "major_banks", revenue: 1, total_assets: "450e9" });
    expect(bank.emissions.financed).toStrictEqual(ask({}, BANK).emissions.financed);
  });

  test("mark factors based on judgment", () => {
    expect(qualityOf(ask(), "emissions.scope1")?.mark).toBe("D");
    expect(qualityOf(ask({ industry: "aluminium" }), "emissions.scope1")?.mark).toBe("J");
    for (const power of ["electric_utilities", "renewable_power", "fossil_power", "nuclear_power", "power_networks"]) {
      expect(qualityOf(ask({ industry: power }), "emissions.scope1")?.mark, power).toBe("J");
    }
    expect(qualityOf(ask({ scope1: 1 }), "emissions.scope1")?.mark).toBe("reported");
  });
});
