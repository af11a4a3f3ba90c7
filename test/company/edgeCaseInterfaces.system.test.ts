/**
 * The edge cases, the warnings and the bad input of the company method (company.md, sections 1 and 8), row by row through
 * the command line and the HTTP service. The rows of a table share a process of the command line.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CompanyAnswer, CompanyResult } from "../../src/contract/wireTypes.ts";
import { post, type Refusal, refusalsOf, runCommand, startedHost } from "../bothInterfaces.ts";
import type { TestHost } from "../host/testHost.ts";

const PATH = "/analyze/total-climate-risk";
const NORMAL = {
  name: "Company",
  country: "USA",
  industry: "software",
  revenue: "10000000000",
  total_assets: "25000000000",
  ebitda: "2500000000",
  total_debt: "4000000000",
  transition_scenarios: ["NGFS_NET_ZERO_2050"],
  assessment_years: [2030],
};
type Changes = Readonly<Record<string, unknown>>;
const company = (changes: Changes): Changes => ({ ...NORMAL, ...changes });

interface Case {
  readonly title: string;
  readonly changes: Changes;
  /** Codes of warnings that the answer must have. */
  readonly warnings?: readonly string[];
  readonly expectAnswer?: (answer: CompanyAnswer, first: CompanyResult) => void;
}

const CASES: readonly Case[] = [
  { title: "nothing unusual", changes: {}, warnings: [] },
  ...["0", "-1000000000", "1"].map((ebitda): Case => ({
    title: `an EBITDA of ${ebitda}`,
    changes: { ebitda },
    warnings: ["ebitda_below_normal"],
    expectAnswer: ({ company: { figures } }, { total, credit }) => {
      expect(total.measured_by).toBe("normal_ebitda");
      expect(figures.normalized_ebitda).toBeGreaterThan(0);
      expect(credit.debt_to_ebitda.before === null).toBe(Number(ebitda) <= 0);
      expect(total.rating).toMatch(/^[AB]$/);
    },
  })),
  {
    title: "a revenue that is tiny against the assets",
    changes: { revenue: 1e8 },
    warnings: ["ebitda_above_revenue", "revenue_small"],
  },
  { title: "a revenue that is large against the assets", changes: { total_assets: 4e8 }, warnings: ["revenue_large"] },
  {
    title: "a debt above the assets",
    changes: { total_debt: 30e9 },
    warnings: ["debt_above_assets"],
    expectAnswer: (_, { credit }) => expect(credit.pd_5y.before).toBeGreaterThan(0.3),
  },
  {
    title: "no debt",
    changes: { total_debt: "0" },
    warnings: [],
    expectAnswer: (_, { credit }) => {
      expect([credit.pd_5y.before, credit.pd_5y.after, credit.interest_coverage.before]).toEqual([0, 0, null]);
    },
  },
  {
    title: "no price shock",
    changes: { transition_scenarios: ["NGFS_CURRENT_POLICIES"] },
    warnings: ["no_shock"],
    expectAnswer: (_, { transition, drivers }) => {
      expect([transition.uncapped, drivers.price_shock]).toEqual([0, 0]);
      expect(transition.note).toContain("no shock beyond current policies");
    },
  },
  {
    title: "losses far above EBITDA",
    changes: { industry: "coal", scope1: 1e8, ebitda: 5e8 },
    expectAnswer: ({ company: { figures } }, { total, transition }) => {
      expect(total.loss_ratio).toBeGreaterThan(1);
      expect(total.loss).toBeLessThan(figures.normalized_ebitda);
      expect(transition.capped).toBe(true);
      expect(total.score).toBeGreaterThan(80);
      expect(total.rating).toBe("E");
    },
  },
  {
    title: "a very carbon-intensive economy",
    changes: { country: "Palau", industry: "steel" },
    warnings: ["carbon_intensity_held"],
  },
  {
    title: "Taiwan, tier B",
    changes: { country: "Taiwan, Province of China" },
    warnings: ["country_fallback"],
    expectAnswer: ({ company: { country } }) => expect(country).toEqual({ iso3: "TWN", name: "Taiwan", tier: "B" }),
  },
  {
    title: "the base year",
    changes: { assessment_years: [2025] },
    expectAnswer: (_, { drivers, total }) => {
      expect([drivers.capital_renewed, drivers.abatement_share]).toEqual([0, 0]);
      expect(drivers.gsat).toBeCloseTo(1.4, 1);
      expect(total.loss).toBeGreaterThan(0);
    },
  },
  {
    title: "figures that are left out",
    changes: { total_assets: undefined, ebitda: undefined, total_debt: undefined },
    warnings: ["total_assets_estimated", "ebitda_estimated", "total_debt_estimated"],
    expectAnswer: ({ company: { figures } }) =>
      expect(figures.estimated).toEqual(["total_assets", "ebitda", "total_debt"]),
  },
  { title: "an EBITDA above the revenue", changes: { ebitda: 11e9 }, warnings: ["ebitda_above_revenue"] },
  {
    title: "reported emissions in another unit",
    changes: { scope1: 2e9 },
    warnings: ["scope1_far_from_model", "emissions_implausible"],
  },
  {
    title: "a total of scope 3",
    changes: { scope3: 1e6 },
    warnings: ["scope3_split"],
    expectAnswer: ({ emissions }) => {
      expect(emissions.scope3_upstream.value + emissions.scope3_downstream.value).toBeCloseTo(1e6, 6);
      expect([emissions.scope3_upstream.method, emissions.scope3_upstream.pcaf_score]).toEqual(["split", 3]);
    },
  },
  {
    title: "a bank without liabilities",
    changes: { industry: "Banks, major" },
    warnings: ["total_liabilities_missing"],
  },
  {
    title: "an insurer",
    changes: { industry: "Insurance, life and health", total_liabilities: 20e9 },
    warnings: ["no_underwriting"],
  },
  {
    title: "liabilities of a company that is not a bank",
    changes: { total_liabilities: 1e9 },
    warnings: ["total_liabilities_unused"],
  },
  {
    title: "an energy model with a scenario of the IPCC",
    changes: { iam: "gcam", transition_scenarios: ["IPCC_C3"] },
    warnings: ["iam_unused", "world_price"],
  },
  { title: "retracted damages", changes: { damage_function: "ngfs5_kotz" }, warnings: ["damages_retracted"] },
  {
    title: "a pledge that costs more than a stricter path",
    changes: { transition_scenarios: ["NGFS_NDC"] },
    warnings: ["price_inversion"],
  },
  {
    title: "scenarios and years given twice",
    changes: {
      transition_scenarios: ["IPCC_C3", "NGFS_NDC", "IPCC_C3"],
      assessment_years: [2050, 2030, 2050],
    },
    expectAnswer: ({ results }) =>
      expect(results.map(({ scenario, year }) => `${scenario} ${year}`)).toEqual([
        "IPCC_C3 2030",
        "IPCC_C3 2050",
        "NGFS_NDC 2030",
        "NGFS_NDC 2050",
      ]),
  },
  {
    title: "the economy average, if it is asked for",
    changes: { industry: "miscellaneous" },
    expectAnswer: ({ company: { industry } }) => expect(industry.id).toBe("miscellaneous"),
  },
  {
    title: "numbers as text with spaces and an exponent",
    changes: { revenue: " 1e10 ", ebitda: "-2.5E+09" },
    expectAnswer: ({ company: { figures } }) => expect([figures.revenue, figures.ebitda]).toEqual([1e10, -2.5e9]),
  },
  {
    title: "the default assumptions, sent",
    changes: { assumptions: { discount_rate: 0.08, shock_year: 2025 }, lgd: 0.45 },
    warnings: [],
  },
  {
    title: "an own chance of default of 0",
    changes: { pd: 0, exposure: 1e6 },
    expectAnswer: (_, { credit }) => {
      expect(credit.pd_1y).toMatchObject({ basis: "own", before: 0, after: 0 });
      expect(credit.expected_loss).toMatchObject({ before: 0, after: 0 });
    },
  },
];

interface RefusedCase {
  readonly title: string;
  readonly changes: Changes;
  readonly errors: readonly Refusal[];
  /** 400 unless given. */
  readonly status?: 422;
}

const TEXT_THAT_IS_NO_NUMBER = ["", " ", "NaN", "Infinity", "1,000", "0x10", "1 000", "12.", "--1"];
const MONEY = ["revenue", "total_assets", "ebitda", "total_debt"];

const REFUSED: readonly RefusedCase[] = [
  ...TEXT_THAT_IS_NO_NUMBER.map((text): RefusedCase => ({
    title: `${JSON.stringify(text)} as every amount`,
    changes: Object.fromEntries(MONEY.map((name) => [name, text])),
    errors: MONEY.map((name) => ["wrong_type", `/${name}`]),
  })),
  {
    title: "amounts above 1e15",
    changes: Object.fromEntries(MONEY.map((name) => [name, "1.1e15"])),
    errors: MONEY.map((name) => ["out_of_range", `/${name}`]),
  },
  {
    title: "a revenue and assets of 0 and a negative debt",
    changes: { revenue: 0, total_assets: "0", total_debt: -1 },
    errors: [
      ["out_of_range", "/revenue"],
      ["out_of_range", "/total_assets"],
      ["out_of_range", "/total_debt"],
    ],
  },
  { title: "Kosovo", status: 422, changes: { country: "Kosovo" }, errors: [["country_unknown", "/country"]] },
  { title: "Antarctica", status: 422, changes: { country: "ATA" }, errors: [["country_unknown", "/country"]] },
  {
    title: "an unknown industry",
    status: 422,
    changes: { industry: "Zzyzx" },
    errors: [["industry_unknown", "/industry"]],
  },
  {
    title: "an unknown scenario",
    status: 422,
    changes: { transition_scenarios: ["NGFS_NDC", "NGFS_X"] },
    errors: [["scenario_unknown", "/transition_scenarios/1"]],
  },
  {
    title: "a model without prices for the scenario",
    status: 422,
    changes: { iam: "gcam", transition_scenarios: ["NGFS_NDC"] },
    errors: [["combination_unavailable", "/iam"]],
  },
  {
    title: "a model after its last year",
    status: 422,
    changes: { iam: "messageix", assessment_years: [2060, 2061] },
    errors: [["combination_unavailable", "/iam"]],
  },
  {
    title: "years outside 2025 to 2100 or not whole",
    changes: { assessment_years: [2024, 2101, 2030.5, "2030"] },
    errors: [
      ["out_of_range", "/assessment_years/0"],
      ["out_of_range", "/assessment_years/1"],
      ["wrong_type", "/assessment_years/2"],
      ["wrong_type", "/assessment_years/3"],
    ],
  },
  {
    title: "no scenarios and no years",
    changes: { transition_scenarios: [], assessment_years: [] },
    errors: [
      ["empty", "/transition_scenarios"],
      ["empty", "/assessment_years"],
    ],
  },
  {
    title: "negative and impossible emissions",
    changes: { scope1: -1, scope2: 7e10, scope3: "x", scope3_upstream: -1, scope3_downstream: 7e10 },
    errors: [
      ["out_of_range", "/scope1"],
      ["out_of_range", "/scope2"],
      ["wrong_type", "/scope3"],
      ["out_of_range", "/scope3_upstream"],
      ["out_of_range", "/scope3_downstream"],
    ],
  },
  {
    title: "credit figures outside their ranges",
    changes: { pd: 1.1, lgd: -0.1, exposure: -1 },
    errors: [
      ["out_of_range", "/pd"],
      ["out_of_range", "/exposure"],
      ["out_of_range", "/lgd"],
    ],
  },
  {
    title: "assumptions outside their ranges",
    changes: { assumptions: { discount_rate: 0.31, shock_year: 2024, pass_through: 1.1 } },
    errors: [
      ["out_of_range", "/assumptions/discount_rate"],
      ["out_of_range", "/assumptions/shock_year"],
      ["out_of_range", "/assumptions/pass_through"],
    ],
  },
  {
    title: "an unknown assumption",
    changes: { assumptions: { discount: 0.1 } },
    errors: [["unknown", "/assumptions/discount"]],
  },
  {
    title: "an unknown damage function and model",
    changes: { damage_function: "x", iam: "y" },
    errors: [
      ["not_allowed", "/damage_function"],
      ["not_allowed", "/iam"],
    ],
  },
  {
    title: "missing members",
    changes: { name: undefined, country: undefined, industry: undefined, revenue: undefined },
    errors: [
      ["missing", "/name"],
      ["missing", "/country"],
      ["missing", "/industry"],
      ["missing", "/revenue"],
    ],
  },
  {
    title: "errors of every kind, all at once",
    changes: { country: "Atlantis", industry: "Zzyzx", revenue: "x", transition_scenarios: ["X"], pd: 2 },
    errors: [
      ["country_unknown", "/country"],
      ["industry_unknown", "/industry"],
      ["wrong_type", "/revenue"],
      ["scenario_unknown", "/transition_scenarios/0"],
      ["out_of_range", "/pd"],
    ],
  },
];

describe("edge cases of the company method", () => {
  let host: TestHost;
  let commandLines: readonly unknown[];
  let exitCode: number | null;
  beforeAll(async () => {
    host = await startedHost();
    const companies = [...CASES, ...REFUSED].map(({ changes }) => `${JSON.stringify(company(changes))}\n`);
    const command = await runCommand(
      ["company", "in.ndjson", "out.ndjson"],
      { "in.ndjson": companies.join("") },
      "out.ndjson",
    );
    exitCode = command.exitCode;
    commandLines = (command.output ?? "")
      .trimEnd()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
  });
  afterAll(() => host.close());

  test("the command line answers every company and states that some were rejected", () => {
    expect([exitCode, commandLines.length]).toEqual([2, CASES.length + REFUSED.length]);
  });

  test.each(CASES.map((each, index) => ({ ...each, index })))(
    "both answer $title",
    async ({ index, changes, warnings, expectAnswer }) => {
      const { status, body } = await post(host, PATH, company(changes));
      expect(status, JSON.stringify(body)).toBe(200);
      expect(commandLines[index]).toEqual(body);
      const answer = body as CompanyAnswer;
      const codes = answer.warnings.map(({ code }) => code);
      if (warnings?.length === 0) expect(codes.filter((code) => code !== "river_flood_not_shown")).toEqual([]);
      else expect(codes).toEqual(expect.arrayContaining([...(warnings ?? [])]));
      expectAnswer?.(answer, answer.results[0] ?? expect.fail("no result"));
    },
  );

  test.each(REFUSED.map((each, index) => ({ ...each, index: CASES.length + index })))(
    "both refuse $title",
    async ({ index, changes, errors, status = 400 }) => {
      const answer = await post(host, PATH, company(changes));
      expect(answer.status).toBe(status);
      expect(sorted(refusalsOf(answer))).toEqual(sorted(errors));
      const { error } = commandLines[index] as { readonly error: unknown };
      expect(sorted(refusalsOf({ status: 0, body: error }))).toEqual(sorted(errors));
    },
  );

  test("suggests the five nearest countries and known industries, and lists the scenarios", async () => {
    const { body } = await post(
      host,
      PATH,
      company({ country: "Germny", industry: "Stel", transition_scenarios: ["X"] }),
    );
    const { errors } = body as {
      readonly errors: readonly { readonly nearest?: string[]; readonly allowed?: string[] }[];
    };
    expect(errors.map(({ nearest }) => nearest?.length)).toEqual([5, expect.any(Number), 5]);
    expect(errors[0]?.nearest?.[0]).toBe("Germany");
    expect(errors[1]?.nearest?.join(" ")).toMatch(/steel/i);
    expect(errors[2]?.allowed).toHaveLength(21);
  });
});

function sorted(refusals: readonly Refusal[]): readonly Refusal[] {
  return refusals.toSorted(([, a], [, b]) => a.localeCompare(b));
}
