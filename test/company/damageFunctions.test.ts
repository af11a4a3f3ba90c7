import { describe, expect, test } from "vitest";
import { COUNTRIES } from "../../src/company/countryFigures.ts";
import { totalClimateRisk } from "../../src/company/report.ts";
import { REQUEST, ask, first, qualityOf } from "./requests.ts";

describe("damage functions", () => {
  test("the function of the retracted article is off by default and causes a warning", () => {
    const usual = ask();
    const kotz = ask({ damage_function: "ngfs5_kotz" });
    expect(JSON.stringify(usual)).not.toMatch(/retracted/i);
    expect(kotz.warnings).toEqual([
      { code: "damages_retracted", detail: expect.stringMatching(/RETRACTED in December 2025/) },
    ]);
    expect(kotz.sources.at(-1)?.source).toMatch(/RETRACTED/);
    expect(qualityOf(kotz, "physical.chronic")?.mark).toBe("J");
    expect(first(kotz).physical.chronic.damage_fraction / first(usual).physical.chronic.damage_fraction).toBeCloseTo(
      10.1,
      9,
    );
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

  test.each([
    [{ allowGain: true }, { pointer: "/allowGain", code: "unknown", did_you_mean: "allowGains" }],
    [{ allow_gains: true }, { pointer: "/allow_gains", code: "unknown", did_you_mean: "allowGains" }],
    [{ allowGains: "yes" }, { pointer: "/allowGains", code: "wrong_type" }],
    [null, { pointer: "", code: "wrong_type" }],
  ])("rejects the options %o", (options, item) => {
    expect(() => totalClimateRisk(REQUEST, options as never)).toThrow(
      expect.objectContaining({ code: "invalid_request", items: [expect.objectContaining(item)] }),
    );
  });

  test("a cold country has no gains unless allowGains is set", () => {
    const cold = { ...REQUEST, country: "Mongolia" } as const;
    expect(first(totalClimateRisk(cold)).physical.chronic.damage_fraction).toBe(0);
    const { physical, total } = first(totalClimateRisk(cold, { allowGains: true }));
    expect(physical.chronic.damage_fraction).toBeLessThan(0);
    expect(physical.chronic.loss).toBeLessThan(0);
    expect(total.loss).toBeLessThan(first(totalClimateRisk(cold)).total.loss);
  });

  test("mean damages are in the documented order of magnitude", () => {
    // Unweighted over countries, which include many small hot ones, so only the magnitude is compared.
    const mean = (scenario: string, year: number): number => {
      const fractions = COUNTRIES.filter(({ tier }) => tier === "A").map(
        ({ iso3 }) =>
          first(ask({ country: iso3, transition_scenarios: [scenario], assessment_years: [year] })).physical.chronic
            .damage_fraction,
      );
      return fractions.reduce((sum, fraction) => sum + fraction, 0) / fractions.length;
    };
    expect(mean("NGFS_CURRENT_POLICIES", 2050)).toBeGreaterThan(0.01);
    expect(mean("NGFS_CURRENT_POLICIES", 2050)).toBeLessThan(mean("NGFS_CURRENT_POLICIES", 2100));
    expect(mean("NGFS_CURRENT_POLICIES", 2100)).toBeLessThan(mean("IPCC_SSP5_85", 2100));
    expect(mean("IPCC_SSP5_85", 2100)).toBeLessThan(0.12);
  });
});
