import { expect, it } from "vitest";
import { differences } from "./differences.ts";
import { countryKeys, findCountry, findIndustry, keyOf } from "./names.ts";
import { Refusal } from "./refusal.ts";
import { analyzeCompany } from "./report.ts";
import type { CompanyRequest } from "./request.ts";
import { responseOf } from "./response.ts";
import { describeWithReference } from "./sharedReference.ts";

it("compares names without accents, case, punctuation and repeated spaces", () => {
  expect(keyOf("  Côte d’Ivoire ")).toBe("cote d ivoire");
  expect(keyOf("Antigua & Barbuda_(x)")).toBe("antigua barbuda x");
  expect(keyOf("TÜRKİYE")).toBe("turkiye");
});

describeWithReference("matching, defaults and warnings of the company method", (tables) => {
  const base: CompanyRequest = {
    name: "Example",
    country: "USA",
    industry: "software",
    revenue: 1e9,
    total_assets: 2e9,
    ebitda: 3e8,
    total_debt: 1e8,
    transition_scenarios: ["NGFS_NET_ZERO_2050"],
    assessment_years: [2030],
  };
  const analyze = (change: Partial<CompanyRequest>): ReturnType<typeof analyzeCompany> =>
    analyzeCompany(tables, { ...base, ...change });
  const codes = (change: Partial<CompanyRequest>): string[] =>
    analyze(change)
      .warnings.map(({ code }) => code)
      .toSorted();

  it("finds every country of tiers A and B by each of its names, and no key belongs to two countries", () => {
    expect(countryKeys(tables).size).toBeGreaterThan(4000);
    for (const country of tables.countries.filter(({ tier }) => tier !== "C")) {
      for (const name of [country.iso3, country.iso2, country.name, ...country.aliases]) {
        expect(findCountry(tables, name).iso3, name).toBe(country.iso3);
      }
    }
  });

  it("drops a leading the and republic of", () => {
    const found = ["the Germany", "Republic of Ireland", "the Republic of Korea", "republic_of_india"].map(
      (name) => findCountry(tables, name).iso3,
    );
    expect(found).toEqual(["DEU", "IRL", "KOR", "IND"]);
  });

  it("suggests five names for an unknown country and an unknown industry", () => {
    const suggestions = (run: () => unknown): readonly string[] => {
      try {
        run();
      } catch (error) {
        if (error instanceof Refusal) return error.suggestions;
      }
      return [];
    };
    const countries = suggestions(() => findCountry(tables, "Germny"));
    expect(countries).toHaveLength(5);
    expect(countries[0]).toBe("Germany");
    expect(suggestions(() => findIndustry(tables, "Softwre"))[0]).toBe("Packaged software");
  });

  it("finds industries by id, name and alias", () => {
    expect(findIndustry(tables, "Iron-Steel").matchedOn).toBe("id");
    expect(findIndustry(tables, "iron and steel").matchedOn).toBe("name");
    expect(findIndustry(tables, "STEEL").matchedOn).toBe("alias");
  });

  it("estimates omitted members in the order assets, EBITDA, debt", () => {
    const { name, country, industry, revenue, transition_scenarios, assessment_years } = base;
    const sent = { name, country, industry, revenue, transition_scenarios, assessment_years };
    const { figures, warnings } = analyzeCompany(tables, { ...sent, industry: "industrial_machinery" });
    const machinery = findIndustry(tables, "industrial_machinery").industry;
    expect(figures.totalAssets).toBe(machinery.assets_to_revenue * 1e9);
    expect(figures.ebitda).toBe(machinery.ebitda_margin * 1e9);
    expect(figures.totalDebt).toBe(machinery.debt_to_assets * figures.totalAssets);
    expect(warnings.map(({ code }) => code)).toEqual([
      "total_assets_estimated",
      "ebitda_estimated",
      "total_debt_estimated",
    ]);
  });

  it("keeps the order of scenarios, sorts years and drops duplicates", () => {
    const { results } = analyze({
      transition_scenarios: ["ngfs-ndc", "IPCC C1", "NGFS_NDC"],
      assessment_years: [2050, 2030, 2050],
    });
    expect(results.map(({ scenario, year }) => `${scenario} ${year}`)).toEqual([
      "NGFS_NDC 2030",
      "NGFS_NDC 2050",
      "IPCC_C1 2030",
      "IPCC_C1 2050",
    ]);
  });

  it("warns as the method text says", () => {
    expect(codes({})).toEqual([]);
    expect(codes({ ebitda: 2e9, total_debt: 3e9 })).toEqual(["debt_above_assets", "ebitda_above_revenue"]);
    expect(codes({ ebitda: -1 })).toEqual(["ebitda_below_normal"]);
    expect(codes({ total_assets: 51e9 })).toEqual(["revenue_small"]);
    expect(codes({ total_assets: 49e6, total_debt: 0 })).toEqual(["revenue_large"]);
    expect(codes({ scope1: 6e10 })).toEqual(["emissions_implausible", "scope1_far_from_model"]);
    expect(codes({ scope2: 0 })).toEqual(["scope2_far_from_model"]);
    expect(codes({ scope3: 6e4 })).toEqual(["scope3_split"]);
    expect(codes({ total_liabilities: 1e9 })).toEqual(["total_liabilities_unused"]);
    expect(codes({ damage_function: "ngfs5_kotz" })).toEqual(["damages_retracted"]);
    expect(codes({ transition_scenarios: ["IPCC_C6", "IPCC_C1"], iam: "gcam" })).toEqual([
      "iam_unused",
      "no_shock",
      "world_price",
    ]);
    expect(codes({ transition_scenarios: ["IPCC_C4"] })).toEqual(["substitute_price", "world_price"]);
    expect(codes({ transition_scenarios: ["NGFS_NDC"] })).toEqual(["price_inversion"]);
    expect(codes({ country: "UZB" })).toContain("carbon_intensity_held");
    expect(codes({ country: "TWN" })).toEqual(["country_fallback"]);
    const insurer = { industry: "insurance_life" };
    expect(codes(insurer)).toEqual(["no_underwriting", "total_liabilities_missing"]);
    expect(codes({ ...insurer, pd: 0.01 })).toEqual(["no_underwriting"]);
  });

  it("has no chance of default for a bank without liabilities, but moves its own", () => {
    const bank = { industry: "major_banks", pd: 0.01, exposure: 1e6 };
    const [result] = analyze(bank).results;
    expect(result?.credit.pd_5y).toEqual({ before: null, after: null });
    expect(result?.credit.pd_1y.basis).toBe("own");
    expect(result?.credit.pd_1y.after).toBeGreaterThan(0.01);
    expect(result?.credit.expected_loss?.before).toBe(1e6 * 0.45 * 0.01);
  });

  it("notes that there is no shock beyond current policies", () => {
    const [result] = analyze({ transition_scenarios: ["NGFS_CURRENT_POLICIES"] }).results;
    expect(result?.transition.note).toBe("no shock beyond current policies");
    expect(result?.transition.uncapped).toBe(0);
  });

  it("has no price shock before the first year of the shock", () => {
    const report = analyze({ assumptions: { shock_year: 2031 }, assessment_years: [2030, 2031] });
    expect(report.results.map(({ drivers }) => drivers.price_shock > 0)).toEqual([false, true]);
  });

  it("reports the worst scenario by loss ratio and plain means", () => {
    const { headline, results } = analyze({
      transition_scenarios: ["NGFS_NDC", "NGFS_NET_ZERO_2050", "NGFS_BELOW_2C"],
    });
    expect(headline.max.scenario).toBe("NGFS_NET_ZERO_2050");
    const scores = results.map(({ total }) => total.score);
    expect(headline.mean.score).toBeCloseTo(scores.reduce((sum, score) => sum + score, 0) / 3, 12);
  });

  it("finds where an answer differs from the report", () => {
    const report = analyze({ pd: 0.01, exposure: 1e6, assessment_years: [2030, 2050] });
    const answer = responseOf(report);
    expect(differences(report, answer)).toEqual([]);
    const [first, ...others] = answer.results as [(typeof answer.results)[0]];
    const changed = (result: unknown): string[] =>
      differences(report, { ...answer, results: [result, ...others] }).map(({ path }) => path);
    const { total } = first;
    expect(changed({ ...first, total: { ...total, score: total.score * (1 + 2e-9) } })).toEqual([
      "results.0.total.score",
    ]);
    expect(changed({ ...first, total: { ...total, score: total.score * (1 + 1e-10) } })).toEqual([]);
    expect(changed({ ...first, interaction: undefined })).toEqual(["results.0.interaction"]);
    expect(changed({ ...first, extra: 1 })).toEqual([]);
    expect(differences(report, { ...answer, results: answer.results.slice(1) })[0]?.path).toBe("results.length");
    expect(differences(report, { ...answer, warnings: [{ code: "no_shock" }] }).map(({ path }) => path)).toEqual([
      "warnings",
    ]);
  });
});
