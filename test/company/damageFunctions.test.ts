import { describe, expect, test } from "vitest";
import { COUNTRIES } from "../../src/company/countryFigures.ts";
import { ask, codes, first, qualityOf } from "./requests.ts";

const fractionOf = (change: Parameters<typeof ask>[0]): number => first(ask(change)).physical.chronic.damage_fraction;

describe("damage functions", () => {
  test("the default has the level of NGFS Phase IV, 3.35 times Kalkuhl and Wenz", () => {
    expect(ask().assumptions.damage_function).toBe("ngfs4");
    expect(fractionOf({}) / fractionOf({ damage_function: "kalkuhl_wenz" })).toBeCloseTo(3.35, 12);
  });

  test("the function of the retracted article is off by default and causes a warning", () => {
    const kotz = ask({ damage_function: "ngfs5_kotz" });
    expect(JSON.stringify(ask())).not.toMatch(/retracted/i);
    expect(codes(kotz)).toEqual(["damages_retracted"]);
    expect(kotz.warnings[0]?.detail).toMatch(/retracted in December 2025/);
    expect(kotz.sources.at(-1)?.source).toMatch(/RETRACTED/);
    expect(qualityOf(kotz, "physical.chronic")?.mark).toBe("J");
    const kalkuhlWenz = fractionOf({ damage_function: "kalkuhl_wenz" });
    expect(first(kotz).physical.chronic.damage_fraction / kalkuhlWenz).toBeCloseTo(10.1, 9);
  });

  test.each([
    ["howard_sterner", 0.00853],
    ["dice2016", 0.00236],
  ])("%s depends on global warming only", (damage_function, coefficient) => {
    for (const country of ["IND", "FIN"]) {
      const { physical } = first(ask({ damage_function, country }));
      expect(physical.chronic.damage_fraction).toBeCloseTo(coefficient * (1.492 ** 2 - 1.227 ** 2), 12);
      expect(physical.percentile.chronic).toBe(50);
    }
  });

  test("a cold country has no gains", () => {
    expect(fractionOf({ country: "Mongolia" })).toBe(0);
  });

  test("a quarter of labor cost does not fall with output, so EBITDA falls by more than output", () => {
    const { physical, total } = first(ask());
    const { heat_sensitivity, va_share } = ask().parameters.industry;
    const ebitda = 1.38e9;
    const labor = va_share * 7.87e9 - ebitda;
    expect(labor).toBeGreaterThan(0);
    const expected = physical.chronic.damage_fraction * heat_sensitivity * (ebitda + 0.25 * labor);
    expect(physical.chronic.loss).toBeCloseTo(expected, 3);
    expect(physical.chronic.loss / ebitda).toBeGreaterThan(physical.chronic.damage_fraction);
    expect(total.loss).toBeGreaterThan(0);
  });

  test("mean damages of the countries are in the documented order", () => {
    const mean = (scenario: string, year: number): number => {
      const fractions = COUNTRIES.filter(({ tier }) => tier === "A").map(({ iso3 }) =>
        fractionOf({ country: iso3, transition_scenarios: [scenario], assessment_years: [year] }),
      );
      return fractions.reduce((sum, fraction) => sum + fraction, 0) / fractions.length;
    };
    const currentPolicies = mean("NGFS_CURRENT_POLICIES", 2050);
    expect(currentPolicies).toBeGreaterThan(0.03);
    expect(currentPolicies).toBeLessThan(mean("NGFS_CURRENT_POLICIES", 2100));
    expect(mean("NGFS_CURRENT_POLICIES", 2100)).toBeLessThan(mean("IPCC_SSP5_85", 2100));
    expect(mean("NGFS_NET_ZERO_2050", 2050)).toBeLessThan(currentPolicies);
  });
});
