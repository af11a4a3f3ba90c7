import { expect, it } from "vitest";
import { analyzeCompany, type ScenarioValuation, type YearResult } from "./report.ts";
import type { CompanyRequest } from "./request.ts";
import { scope1Factor, scope2Factor, upstreamFactor, revenueMusd2022, type Emission } from "./emissions.ts";
import { type Figures as Answers, figuresOf, summaryOf } from "./caseFigures.ts";
import { describeWithReference, readCompanyCases } from "./sharedReference.ts";

interface CompanyCase {
  readonly name: string;
  readonly input: Omit<CompanyRequest, "name" | "transition_scenarios" | "assessment_years">;
  readonly scenarios: Readonly<
    Record<string, { readonly years: Readonly<Record<string, Answers>>; readonly summary: Answers }>
  >;
  readonly emissions: Answers &
    Readonly<Record<"low" | "high" | "source" | "modelled", Readonly<Record<string, number | string>>>>;
}

/** Compares at relative 1e-9, or at the absolute tolerance where one is given. */
function expectClose(actual: unknown, expected: unknown, label: string, absolute?: number): void {
  if (typeof expected !== "number" || typeof actual !== "number") {
    expect(actual, label).toBe(expected);
    return;
  }
  const tolerance = absolute ?? 1e-9 * Math.abs(expected);
  if (!(Math.abs(actual - expected) <= tolerance)) expect(actual, label).toBe(expected);
}

/** All keys at relative 1e-9, which is stricter than the cases ask for in chances of default (absolute 1e-6). */
function compareAll(actual: Answers, expected: Answers, label: string): number {
  for (const [key, value] of Object.entries(expected)) {
    const absolute = key === "interaction" ? 1e-9 * Number(expected["total"]) : undefined;
    expectClose(actual[key], value, `${label}: ${key}`, absolute);
  }
  return Object.keys(expected).length;
}

/** Adds the figures that an answer of the service does not show. */
function yearAnswers(result: YearResult): Answers {
  const { lost_share, value_share } = result.total;
  return { ...figuresOf(result), lost_share, value_share };
}

describeWithReference("known answers of the company method", (tables) => {
  const { companies } = readCompanyCases() as { readonly companies: readonly CompanyCase[] };
  const reports = companies.map((company) => ({
    company,
    report: analyzeCompany(tables, {
      ...company.input,
      name: company.name,
      transition_scenarios: Object.keys(company.scenarios),
      assessment_years: [...new Set(Object.values(company.scenarios).flatMap(({ years }) => Object.keys(years)))].map(
        Number,
      ),
    }),
  }));

  it.each(reports)("agrees with every result of $company.name", ({ company, report }) => {
    let valueCount = 0;
    for (const [scenario, { years, summary }] of Object.entries(company.scenarios)) {
      for (const [year, expected] of Object.entries(years)) {
        const result = report.results.find((found) => found.scenario === scenario && found.year === Number(year));
        expect(result, `${scenario} ${year}`).toBeDefined();
        valueCount += compareAll(yearAnswers(result as YearResult), expected, `${scenario} ${year}`);
      }
      const valuation = report.valuation.find((found) => found.scenario === scenario);
      expect(valuation, scenario).toBeDefined();
      valueCount += compareAll(
        { ...summaryOf(valuation as ScenarioValuation), B: report.figures.normalizedEbitda },
        summary,
        `${scenario} summary`,
      );
    }
    expect(valueCount).toBeGreaterThan(0);
  });

  it.each(reports)("agrees with the emissions of $company.name", ({ company, report }) => {
    const { emissions, request } = report;
    const { industry } = request.industryMatch;
    const byKey = {
      s1: emissions.scope1,
      s2: emissions.scope2,
      s3up: emissions.upstream,
      s3down: emissions.downstream,
    };
    const each = (of: (emission: Emission) => number | string): Answers =>
      Object.fromEntries(Object.entries(byKey).map(([key, emission]) => [key, of(emission)]));
    const { low, high, source, modelled, ...values } = company.emissions;
    compareAll(
      {
        ...each(({ value }) => value),
        k1: scope1Factor(industry, request.country),
        k2: scope2Factor(request.country),
        k3: upstreamFactor(request.country),
        rt: revenueMusd2022(report.figures.revenue),
        s3_financed: emissions.financed?.value ?? null,
      },
      values,
      "emissions",
    );
    compareAll(
      each((emission) => emission.low),
      low,
      "low",
    );
    compareAll(
      each((emission) => emission.high),
      high,
      "high",
    );
    compareAll(
      each((emission) => emission.method),
      source,
      "source",
    );
    compareAll(
      each((emission) => emission.modelled),
      modelled,
      "modelled",
    );
  });

  it("covers 615 results of 19 companies", () => {
    const years = companies.flatMap(({ scenarios }) =>
      Object.values(scenarios).flatMap(({ years }) => Object.keys(years)),
    );
    expect(companies).toHaveLength(19);
    expect(years).toHaveLength(615);
  });
});
