import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { defaultProbability } from "../../src/company/defaultProbability.ts";
import { COUNTRIES } from "../../src/company/countryFigures.ts";
import { INDUSTRIES } from "../../src/company/industryParameters.ts";
import { referenceCountries, referenceIndustries, referenceScenarios } from "../../src/company/referenceLists.ts";
import type { CompanyAnswer, CompanyResult } from "../../src/company/answer.ts";
import { estimateEmissions, totalClimateRisk } from "../../src/company/report.ts";
import type { CompanyRequest } from "../../src/company/request.ts";
import { SCENARIO_IDS } from "../../src/company/scenarios.ts";
import { isClose } from "./tolerance.ts";

const REQUEST = {
  name: "Ours",
  country: "IND",
  industry: "cement_lime",
  revenue: 7.87e9,
  total_assets: 11.4e9,
  ebitda: 1.38e9,
  total_debt: 1.23e9,
  transition_scenarios: ["NGFS_BELOW_2C"],
  assessment_years: [2030],
} as const satisfies CompanyRequest;
const BANK = { ...REQUEST, industry: "major_banks", revenue: 27e9, total_assets: 450e9, ebitda: 8e9, total_debt: 60e9 };
const INSURER = { ...BANK, industry: "insurance_life" };

const NOTICE = readFileSync(new URL("../../NOTICE", import.meta.url), "utf8");
const ask = (change: Partial<CompanyRequest> = {}, base: CompanyRequest = REQUEST): CompanyAnswer =>
  totalClimateRisk({ ...base, ...change });
const first = ({ results }: CompanyAnswer): CompanyResult => results[0] ?? expect.fail("no result");
const codes = ({ warnings }: CompanyAnswer): string[] => warnings.map(({ code }) => code);
const qualityOf = ({ data_quality }: CompanyAnswer, output: string) =>
  data_quality.find((quality) => quality.output.startsWith(output));

describe("the shape of an answer", () => {
  test("orders results by requested scenario, then year, with one valuation per scenario", () => {
    const answer = ask({ transition_scenarios: ["IPCC_C3", "NGFS_NDC"], assessment_years: [2050, 2030] });
    expect(answer.results.map(({ scenario, year }) => [scenario, year])).toEqual([
      ["IPCC_C3", 2030],
      ["IPCC_C3", 2050],
      ["NGFS_NDC", 2030],
      ["NGFS_NDC", 2050],
    ]);
    expect(answer.results.map(({ family, vintage }) => [family, vintage])).toEqual([
      ["IPCC", "AR6"],
      ["IPCC", "AR6"],
      ["NGFS", "5"],
      ["NGFS", "5"],
    ]);
    expect(answer.valuation.map(({ scenario }) => scenario)).toEqual(["IPCC_C3", "NGFS_NDC"]);
    expect(answer.company).toEqual({
      name: "Ours",
      country: { iso3: "IND", name: "India", tier: "A" },
      industry: { id: "cement_lime", name: "Cement and lime", matched_on: "id" },
    });
    expect(answer.units).toEqual({ money: "USD 2025 real per year", emissions: "t CO2e per year" });
    expect(answer.method_version).toBe("isotherm-company/1");
  });

  test("has all members and survives a JSON round trip", () => {
    const answer = ask({ transition_scenarios: SCENARIO_IDS, assessment_years: [2025, 2061, 2100] });
    expect(Object.keys(answer)).toEqual([
      "company",
      "units",
      "emissions",
      "results",
      "valuation",
      "headline",
      "data_quality",
      "warnings",
      "assumptions",
      "sources",
      "method_version",
    ]);
    expect(Object.keys(first(answer))).toEqual([
      "scenario",
      "family",
      "vintage",
      "year",
      "drivers",
      "transition",
      "physical",
      "interaction",
      "total",
      "credit",
    ]);
    expect(JSON.parse(JSON.stringify(answer))).toStrictEqual(answer);
  });

  test("has the worst result and the mean over all results as headline", () => {
    const { headline, results } = ask({ transition_scenarios: SCENARIO_IDS, assessment_years: [2030, 2050] });
    const scores = results.map(({ total }) => total.score);
    const percents = results.map(({ total }) => total.pct_of_ebitda ?? NaN);
    const worst = results[scores.indexOf(Math.max(...scores))];
    expect(headline.max).toEqual({
      score: Math.max(...scores),
      pct_of_ebitda: Math.max(...percents),
      scenario: worst?.scenario,
      year: worst?.year,
    });
    const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    expect(headline.mean.score).toBeCloseTo(mean(scores), 10);
    expect(headline.mean.pct_of_ebitda).toBeCloseTo(mean(percents), 10);
  });

  test("has components that add up to the loss, and ratios derived from it", () => {
    for (const base of [REQUEST, BANK]) {
      for (const result of ask({ transition_scenarios: SCENARIO_IDS }, base).results) {
        const { transition, physical, interaction, total, credit } = result;
        const { chronic, acute } = physical;
        const sum =
          transition.loss + transition.credit_loss + chronic.loss + acute.asset_loss + acute.interruption + interaction;
        expect(isClose(total.loss, sum)).toBe(true);
        expect(isClose(total.pct_of_ebitda, (100 * total.loss) / base.ebitda)).toBe(true);
        expect(isClose(total.pct_of_assets, (100 * total.loss) / base.total_assets)).toBe(true);
        const share = total.loss / base.ebitda;
        expect(isClose(total.score, (100 * share) / (share + 0.25))).toBe(true);
        expect(total.low).toBeLessThanOrEqual(total.pct_of_ebitda ?? NaN);
        expect(total.high).toBeGreaterThanOrEqual(total.pct_of_ebitda ?? NaN);
        expect(credit.debt_to_ebitda.before).toBeCloseTo(base.total_debt / base.ebitda, 12);
      }
    }
  });

  test("names the sources of all figures, and only those of emissions for emissions alone", () => {
    const sources = (answer: Pick<CompanyAnswer, "sources">): string =>
      answer.sources.map(({ source }) => source).join("\n");
    const all = sources(ask());
    const emissions = sources(estimateEmissions({ country: "IND", industry: "cement_lime", revenue: 1 }));
    for (const origin of ["EPA", "USEEIO", "OECD ICIO", "EDGAR", "World Bank", "Ember"]) {
      expect(all).toContain(origin);
      expect(emissions).toContain(origin);
    }
    for (const origin of ["NGFS", "IPCC", "GIRI", "FLOPROS", "Burke", "CMIP6", "Kalkuhl"]) {
      expect(all).toContain(origin);
      expect(emissions).not.toContain(origin);
      expect(NOTICE).toContain(origin);
    }
    for (const origin of ["CE Delft", "ILO", "Alfieri", "Knutson", "Hallegatte"]) expect(NOTICE).toContain(origin);
  });

  test("is the same for strings, numbers, codes and names", () => {
    const { company: _, ...expected } = ask({ transition_scenarios: ["IPCC_NET_ZERO"] });
    const { company, ...other } = totalClimateRisk({
      name: "Ours",
      country: "  the Republic of INDIA",
      industry: "NAICS 327310",
      revenue: " 7870000000",
      total_assets: "1.14e10",
      ebitda: "1380000000.0",
      total_debt: "123E7",
      transition_scenarios: ["ipcc net-zero"],
      assessment_years: [2030, 2030],
    });
    expect(other).toStrictEqual(expected);
    expect(company.industry.matched_on).toBe("naics");
  });
});

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

  test("mark factors based on judgement", () => {
    expect(qualityOf(ask(), "emissions.scope1")?.mark).toBe("D");
    expect(qualityOf(ask({ industry: "aluminium" }), "emissions.scope1")?.mark).toBe("J");
    for (const power of ["electric_utilities", "renewable_power", "fossil_power", "nuclear_power", "power_networks"]) {
      expect(qualityOf(ask({ industry: power }), "emissions.scope1")?.mark, power).toBe("J");
    }
    expect(qualityOf(ask({ scope1: 1 }), "emissions.scope1")?.mark).toBe("reported");
  });
});

describe("the edge cases of the method", () => {
  test.each([0, -1.38e9])(
    "EBITDA of %d: no volume loss, cap or lost earnings; relative to 16%% of revenue",
    (ebitda) => {
      const answer = ask({ ebitda, transition_scenarios: ["NGFS_NET_ZERO_2050"] });
      const { transition, physical, total, credit, interaction } = first(answer);
      const { pass_through } = first(answer).drivers;
      expect(
        isClose(transition.loss, (1 - pass_through) * transition.gross_cost * (1 + transition.volume_change)),
      ).toBe(true);
      expect([transition.capped, transition.uncapped]).toEqual([false, transition.loss]);
      expect(transition.loss).toBeGreaterThan(0.16 * REQUEST.revenue);
      expect([physical.chronic.loss, physical.acute.interruption, interaction]).toEqual([0, 0, 0]);
      expect(isClose(total.pct_of_ebitda, (100 * total.loss) / (0.16 * REQUEST.revenue))).toBe(true);
      expect(total.measured_by).toBe("16_pct_of_revenue");
      expect(credit.debt_to_ebitda).toEqual({ before: null, after: null });
      expect(credit.interest_coverage.before).toBeCloseTo(ebitda / (0.05 * REQUEST.total_debt), 9);
      expect(codes(answer)).toContain("ebitda_not_positive");
      const [valuation] = answer.valuation;
      expect(valuation?.value_at_risk_pct).toBeNull();
      expect(valuation?.npv_of_losses).toBe(REQUEST.total_assets);
      expect(valuation?.npv_uncapped).toBeGreaterThan(REQUEST.total_assets);
      expect([valuation?.asset_value_after, valuation?.pd_5y_after]).toEqual([0, 1]);
    },
  );

  test("without debt there is no default probability and no interest coverage", () => {
    const answer = ask({ total_debt: 0 });
    expect(first(answer).credit).toMatchObject({
      debt_to_ebitda: { before: 0, after: 0 },
      interest_coverage: { before: null, after: null },
    });
    expect(answer.valuation[0]).toMatchObject({ pd_5y_before: 0, pd_5y_after: 0 });
  });

  test("with more debt than assets default is likely before any loss", () => {
    const answer = ask({ total_debt: 20e9 });
    expect(answer.valuation[0]?.pd_5y_before).toBeGreaterThan(0.5);
    expect(codes(answer)).toContain("debt_above_assets");
  });

  test.each(["NGFS_CURRENT_POLICIES", "IPCC_C6", "IPCC_C7", "IPCC_C8", "IPCC_SSP2_45", "IPCC_SSP3_70", "IPCC_SSP5_85"])(
    "%s has no price shock, and a note says so",
    (scenario) => {
      const answer = ask({ transition_scenarios: [scenario], assessment_years: [2025, 2050, 2100] });
      for (const { transition, drivers, total } of answer.results) {
        expect(drivers.price_shock).toBe(0);
        expect([transition.loss, transition.score, transition.credit_loss]).toEqual([0, 0, 0]);
        expect(transition.note).toBe("no shock beyond current policies");
        expect(total.loss).toBeGreaterThan(0);
      }
      expect(codes(answer)).toContain("no_shock");
    },
  );

  test("a region without a price shock whose fuel buyers have one gets no note", () => {
    const oil = { country: "Russia", transition_scenarios: ["NGFS_NDC"] };
    const { drivers, transition } = first(ask({ ...oil, industry: "oil_gas_production" }));
    expect(drivers.price_shock).toBe(0);
    expect(drivers.fuel_price_shock).toBeGreaterThan(0);
    expect(transition.loss).toBeGreaterThan(0);
    expect(transition).not.toHaveProperty("note");
    expect(first(ask({ ...oil, industry: "gas_distribution" })).transition).toMatchObject({
      loss: 0,
      note: "no shock beyond current policies",
    });
  });

  test("a flag is set if the volume loss is limited to 80%", () => {
    const { results } = ask({ transition_scenarios: ["NGFS_NET_ZERO_2050"], assessment_years: [2030, 2050] });
    expect(results.map(({ transition }) => transition.volume_floor)).toEqual([false, true]);
    expect(results[1]?.transition.own_volume_change).toBe(-0.8);
  });

  test("a note says that the whole EBITDA is lost if every sensitivity case is capped", () => {
    const { results } = ask({ transition_scenarios: ["NGFS_NET_ZERO_2050"], assessment_years: [2030, 2050] });
    expect(results.map(({ transition, total }) => [transition.capped, total.note])).toEqual([
      [true, "loss of the whole EBITDA"],
      [true, undefined],
    ]);
    expect(results[0]?.credit.debt_to_ebitda.after).toBeNull();
  });

  test("the base year has losses with short-run pass-through", () => {
    const { drivers, transition } = first(ask({ assessment_years: [2025] }));
    expect([drivers.pass_through, drivers.gsat]).toEqual([0.3, 1.377]);
    expect(transition.loss).toBeGreaterThan(0);
  });

  test.each(["Iran", "Mongolia", "Uzbekistan", "Laos"])("%s: the scope 1 multiplier is limited to 3", (country) => {
    const answer = ask({ country });
    expect(codes(answer)).toContain("carbon_intensity_held");
    expect(answer.emissions.scope1.value).toBeCloseTo((4664.9 * 3 * 7870) / 1.1, 3);
    expect(codes(ask({ country, scope1: 1e7 }))).not.toContain("carbon_intensity_held");
  });

  test("the multiplier is limited for 4 countries in heavy industry, 18 in services and none with exponent 0", () => {
    const tierA = COUNTRIES.filter(({ tier }) => tier === "A").map(({ iso3 }) => iso3);
    const held = (industry: string): number =>
      tierA.filter((country) =>
        estimateEmissions({ country, industry, revenue: 1e6 }).warnings.some(
          ({ code }) => code === "carbon_intensity_held",
        ),
      ).length;
    expect([held("cement_lime"), held("software"), held("airlines")]).toEqual([4, 18, 0]);
  });

  test.each([
    ["Taiwan", "B"],
    ["North Korea", "B"],
    ["France", "A"],
  ])("%s is of tier %s", (country, tier) => {
    const answer = ask({ country });
    expect(answer.company.country.tier).toBe(tier);
    expect(codes(answer).includes("country_fallback")).toBe(tier === "B");
  });

  test("every estimated figure of a country has a warning", () => {
    for (const { iso3, fallbacks } of COUNTRIES.filter(({ tier }) => tier === "B")) {
      const told = ask({ country: iso3 }).warnings.filter(({ code }) => code === "country_fallback");
      expect(told.length).toBe(fallbacks.length);
      for (const [index, fallback] of fallbacks.entries()) expect(told[index]?.detail).toContain(fallback);
    }
  });

  test("a measured grid intensity at the floor is not reported as unknown", () => {
    const told = ask({ country: "Central African Republic" }).warnings.map(({ detail }) => detail);
    const floored = told.find((detail) => detail.includes("grid floored at 20 g/kWh"));
    expect(floored).toContain("Central African Republic");
    expect(floored).not.toMatch(/not known/);
  });

  test("53 countries without river flood losses in the source have a warning", () => {
    const dry = COUNTRIES.filter(({ iso3 }) => codes(ask({ country: iso3 })).includes("river_flood_not_shown"));
    expect(dry).toHaveLength(53);
    expect(dry.map(({ iso3 }) => iso3)).toEqual(expect.arrayContaining(["FIN", "NOR", "ISL"]));
  });
});

describe("banks and insurers", () => {
  test("a bank has credit losses from its borrowers", () => {
    const { transition } = first(ask({ transition_scenarios: ["NGFS_NET_ZERO_2050"] }, BANK));
    expect(transition.credit_loss).toBeGreaterThan(transition.loss);
    expect(first(ask({ transition_scenarios: ["NGFS_NET_ZERO_2050"] }, INSURER)).transition.credit_loss).toBe(0);
  });

  test("borrowers that lose everything default within five years, a fifth of them per year", () => {
    const hopeless = {
      country: "Qatar",
      transition_scenarios: ["IPCC_SSP5_85"],
      assessment_years: [2100],
      damage_function: "ngfs5_kotz",
    };
    const { transition, physical } = first(ask(hopeless, BANK));
    expect(physical.chronic.damage_fraction).toBeGreaterThan(1.2);
    const before = defaultProbability({ assets: 1.2, debt: 0.5, volatility: 0.25 });
    expect(isClose(transition.credit_loss, 0.55 * 450e9 * 0.45 * ((1 - before) / 5))).toBe(true);
  });

  test.each([BANK, INSURER])("%j: no default probability without total liabilities", (base) => {
    const answer = ask({}, base);
    expect(answer.valuation[0]).toMatchObject({ pd_5y_before: null, pd_5y_after: null });
    expect(codes(answer)).toContain("total_liabilities_missing");
    const known = ask({ total_liabilities: "415e9" }, base);
    expect(codes(known)).not.toContain("total_liabilities_missing");
    const [valuation] = known.valuation;
    expect(valuation?.pd_5y_after).toBeGreaterThan(valuation?.pd_5y_before ?? NaN);
    expect(valuation?.asset_value_after).toBeCloseTo(base.total_assets - (valuation?.npv_of_losses ?? NaN), 3);
  });

  test("insurers, including health plans, get a warning that underwriting is not covered", () => {
    expect(codes(ask({}, INSURER))).toContain("no_underwriting");
    expect(codes(ask({ industry: "managed_health_care" }))).toContain("no_underwriting");
    expect(codes(ask({}, BANK))).not.toContain("no_underwriting");
    expect(codes(ask({ industry: "insurance_brokers" }))).not.toContain("no_underwriting");
  });

  test("other companies get a warning that total_liabilities is not used", () => {
    const answer = ask({ total_liabilities: 9e9 });
    expect(answer.valuation).toStrictEqual(ask().valuation);
    expect(codes(answer)).toContain("total_liabilities_unused");
  });
});

describe("plausibility", () => {
  test.each([
    [{ ebitda: 8e9 }, "ebitda_above_revenue"],
    [{ total_assets: 400e9 }, "revenue_small"],
    [{ total_assets: 0.39e9 }, "revenue_large"],
    [{ total_debt: 11.5e9 }, "debt_above_assets"],
    [{ scope1: 72_950_408 / 5.1 }, "scope1_far_from_model"],
    [{ scope1: 72_950_408 * 5.1 }, "scope1_far_from_model"],
    [{ scope1: 0 }, "scope1_far_from_model"],
  ])("%j: %s", (change, code) => {
    expect(codes(ask(change))).toContain(code);
  });

  test("an ordinary company has no warnings", () => {
    expect(codes(ask())).toEqual([]);
    expect(codes(ask({ scope1: 72_950_408 * 4.9 }))).toEqual([]);
    expect(codes(ask({ scope1: 72_950_408 / 4.9 }))).toEqual([]);
  });

  test("an industry code without a classification system causes a warning", () => {
    expect(codes(ask({ industry: "327310" }))).toEqual(["industry_code_guessed"]);
    expect(codes(ask({ industry: "NAICS 327310" }))).toEqual([]);
  });
});

describe("scenarios", () => {
  test.each([
    ["IPCC_C1", ["world_price"]],
    ["IPCC_C2", ["world_price", "substitute_price"]],
    ["IPCC_C4", ["world_price", "substitute_price"]],
    ["IPCC_C5", ["world_price", "substitute_price"]],
    ["IPCC_SSP1_19", ["world_price"]],
    ["NGFS_DELAYED_TRANSITION", []],
    ["IPCC_C8", ["no_shock"]],
  ])("%s: %j", (scenario, expected) => {
    expect(codes(ask({ transition_scenarios: [scenario] }))).toEqual(expected);
  });

  test("prices of the requested model are used and named", () => {
    const models = (["remind", "messageix", "gcam"] as const).map((iam) => first(ask({ iam })));
    expect(new Set(models.map(({ drivers }) => drivers.price)).size).toBe(3);
    expect(models.map(({ drivers }) => drivers.price_model)).toEqual([
      "REMIND-MAgPIE 3.3-4.8",
      "MESSAGEix-GLOBIOM 2.0-M-R12-NGFS",
      "GCAM 6.0 NGFS",
    ]);
    expect(new Set(models.map(({ drivers }) => drivers.baseline_price)).size).toBe(1);
    // Each of them is within the range over all models.
    for (const one of models) {
      for (const other of models) {
        expect(one.total.pct_of_ebitda).toBeGreaterThanOrEqual(other.total.low ?? NaN);
        expect(one.total.pct_of_ebitda).toBeLessThanOrEqual(other.total.high ?? NaN);
      }
    }
    const ipcc = ask({ iam: "gcam", transition_scenarios: ["IPCC_C3"] });
    expect(codes(ipcc)).toContain("iam_unused");
    expect(ipcc.results).toStrictEqual(ask({ transition_scenarios: ["IPCC_C3"] }).results);
    expect(first(ipcc).drivers.price_model).toBe("AR6 scenario ensemble, median");
  });

  test("models give losses of 65, 59 and 25 for an airline in Germany, as documented", () => {
    const airline = { ...REQUEST, country: "DEU", industry: "airlines", transition_scenarios: ["NGFS_NET_ZERO_2050"] };
    const [remind = NaN, messageix = NaN, gcam = NaN] = (["remind", "messageix", "gcam"] as const).map(
      (iam) => first(ask({ iam }, airline)).transition.uncapped,
    );
    expect(messageix / remind).toBeCloseTo(59 / 65, 1);
    expect(gcam / remind).toBeCloseTo(25 / 65, 1);
  });
});

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

describe("reference lists", () => {
  test("have industries, countries and scenarios that can be found by id, name and aliases", () => {
    const lists = [
      [referenceIndustries(), "industry"],
      [referenceCountries(), "country"],
    ] as const;
    for (const [items, member] of lists) {
      for (const { id, name, aliases } of items) {
        for (const text of [id, name, ...aliases]) {
          const { company } = ask({ [member]: text });
          expect(member === "industry" ? company.industry.id : company.country.iso3, text).toBe(id);
        }
      }
    }
    expect(referenceIndustries()).toHaveLength(INDUSTRIES.length);
    expect(referenceCountries()).toHaveLength(COUNTRIES.length);
    const scenarios = referenceScenarios();
    expect(scenarios.map(({ id }) => id)).toEqual(SCENARIO_IDS);
    for (const { id, name } of scenarios) {
      expect(first(ask({ transition_scenarios: [name] })).scenario).toBe(id);
    }
  });

  test("describe each item", () => {
    expect(referenceIndustries()[0]).toEqual({
      id: "iron_steel",
      name: "Iron and steel",
      aliases: ["Steel"],
      sector: "Metals and mining",
      isic: ["2410", "2431"],
      nace: ["24.1", "24.2", "24.3", "24.51", "24.52"],
      naics: ["3311", "3312", "33151"],
      factor_source: expect.stringContaining("geometric mean"),
    });
    expect(referenceCountries().find(({ id }) => id === "TWN")).toMatchObject({
      name: "Taiwan",
      iso2: "TW",
      tier: "B",
      fallbacks: [expect.stringContaining("subregion median price level")],
    });
    const of = (id: string) => referenceScenarios().find((scenario) => scenario.id === id);
    expect(of("NGFS_BELOW_2C")).toMatchObject({ iams: ["remind", "messageix", "gcam"], world_price: false });
    expect(of("NGFS_NDC")).toMatchObject({ iams: ["remind"], price_substitute: null });
    expect(of("IPCC_C4")).toMatchObject({ iams: [], world_price: true, price_substitute: "the lower quartile of C3" });
  });
});
