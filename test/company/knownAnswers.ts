/** The known answers of cases/company.json and their comparison with answers. */
import type { CompanyAnswer, CompanyRequest } from "../../src/contract/wireTypes.ts";
import { type Figures, figuresOf, summaryOf } from "../oracle/company2/caseFigures.ts";
import { readCompanyCases } from "../oracle/company2/sharedReference.ts";
import { expectClose } from "./tolerance.ts";

export interface KnownCompany {
  readonly name: string;
  readonly input: Omit<CompanyRequest, "name" | "transition_scenarios" | "assessment_years">;
  readonly emissions: Figures &
    Readonly<Record<"low" | "high" | "source" | "modelled", Readonly<Record<string, number | string>>>>;
  readonly scenarios: Readonly<
    Record<string, { readonly years: Readonly<Record<string, Figures>>; readonly summary: Figures }>
  >;
}

export const KNOWN_COMPANIES = (readCompanyCases() as { readonly companies: readonly KnownCompany[] }).companies;
export const KNOWN_RESULT_COUNT = 615;

export function requestOf({ name, input, scenarios }: KnownCompany): CompanyRequest {
  const years = Object.values(scenarios).flatMap((scenario) => Object.keys(scenario.years));
  return {
    name,
    ...input,
    transition_scenarios: Object.keys(scenarios),
    assessment_years: [...new Set(years)].map(Number),
  };
}

/** Compares every figure with a relative tolerance of 1e-9. @returns the number of results that the known answers have. */
export function compareKnown(known: KnownCompany, answer: CompanyAnswer): number {
  let count = 0;
  for (const result of answer.results) {
    const { scenario, year } = result;
    const expected = known.scenarios[scenario]?.years[year];
    if (expected === undefined) continue;
    const figures = figuresOf(result);
    // Differences of large numbers are compared relative to these numbers.
    const scaleOf = (name: string): number =>
      name === "interaction" ? result.total.loss : name === "D" ? 1e-6 : name === "cov1" ? Number(expected["cov0"]) : 0;
    compareFigures(figures, expected, `${known.name} ${scenario} ${year}`, scaleOf);
    count++;
  }
  for (const valuation of answer.valuation) {
    const expected = known.scenarios[valuation.scenario]?.summary ?? {};
    const figures = { ...summaryOf(valuation), B: answer.company.figures.normalized_ebitda };
    compareFigures(figures, expected, `${known.name} ${valuation.scenario}`);
  }
  compareEmissions(known, answer);
  return count;
}

/** Figures of the known answers that an answer does not have: the shares of value by year. */
const NOT_SHOWN = new Set(["value_share"]);

/** Compares the figures that the known answers have with those of the answer. */
function compareFigures(figures: Figures, expected: Figures, where: string, scaleOf?: (name: string) => number): void {
  const names = Object.keys(expected).filter((name) => !NOT_SHOWN.has(name));
  const pick = (from: Figures): Figures => Object.fromEntries(names.map((name) => [name, from[name] ?? null]));
  expectClose(pick(figures), pick(expected), where, scaleOf);
}

function compareEmissions({ name, emissions: expected }: KnownCompany, { emissions }: CompanyAnswer): void {
  const { low, high, source, modelled, ...values } = expected;
  const scopes = {
    s1: emissions.scope1,
    s2: emissions.scope2,
    s3up: emissions.scope3_upstream,
    s3down: emissions.scope3_downstream,
  };
  for (const [scope, figure] of Object.entries(scopes)) {
    const { value, low: lowest, high: highest, method, modelled: modeled } = figure;
    expectClose(
      { value, low: lowest, high: highest, method, modeled },
      {
        value: values[scope] ?? null,
        low: low[scope] ?? null,
        high: high[scope] ?? null,
        method: source[scope] ?? null,
        modeled: modelled[scope] ?? null,
      },
      `${name} ${scope}`,
    );
  }
  expectClose(
    { financed: emissions.financed?.value ?? null },
    { financed: values["s3_financed"] ?? null },
    `${name} financed`,
  );
}
