/** The known answers of cases/company.json and their comparison with answers. */
import type { CompanyAnswer, CompanyRequest, CompanyResult, CompanyValuation } from "../../src/contract/wireTypes.ts";
import { readCompanyCases } from "../oracle/company2/sharedReference.ts";
import { expectClose } from "./tolerance.ts";

type Figures = Readonly<Record<string, number | string | boolean | null>>;

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

/** Compares every figure at relative 1e-9 and returns the number of results that the known answers have. */
export function compareKnown(known: KnownCompany, answer: CompanyAnswer): number {
  let count = 0;
  for (const result of answer.results) {
    const { scenario, year } = result;
    const expected = known.scenarios[scenario]?.years[year];
    if (expected === undefined) continue;
    const figures = figuresOf(result);
    // Differences of large numbers: relative to those.
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

/** Shares of value by year are not shown in an answer. */
const NOT_SHOWN = new Set(["value_share"]);

/** Compares the figures that the known answers have. */
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

/** Converts a result to the names of the known answers. */
function figuresOf(result: CompanyResult): Figures {
  const { drivers, transition, physical, interaction, total, credit } = result;
  return {
    price: drivers.price,
    base: drivers.baseline_price,
    dp: drivers.price_shock,
    dpf: drivers.fuel_price_shock,
    ramp: drivers.capital_renewed,
    alpha: drivers.abatement_share,
    u1: drivers.unit_cost,
    u2: drivers.unit_cost_scope2,
    u3: drivers.unit_cost_upstream,
    ud: drivers.product_unit_cost,
    rho: drivers.pass_through,
    G: transition.gross_cost,
    own_volume: transition.own_volume_change,
    product_volume: transition.product_volume_change,
    volume: transition.volume_change,
    transition_raw: transition.uncapped,
    transition: transition.loss,
    capped: transition.capped,
    gsat: drivers.gsat,
    T0: drivers.local_temperature_2020,
    Tt: drivers.local_temperature,
    D: physical.chronic.damage_fraction,
    chronic: physical.chronic.loss,
    aal: physical.acute.aal_fraction,
    acute: physical.acute.asset_loss,
    bi: physical.acute.interruption,
    ecl: transition.credit_loss,
    interaction,
    total: total.loss,
    x: total.loss_ratio,
    lost_share: total.pct_of_ebitda / 100,
    score: total.score,
    rating: total.rating,
    score_transition: transition.score,
    score_physical: physical.score,
    pct_of_ebitda: total.pct_of_ebitda,
    low: total.low,
    high: total.high,
    pd0: credit.pd_5y.before,
    pd1: credit.pd_5y.after,
    annual_pd0: credit.pd_1y.before,
    annual_pd1: credit.pd_1y.after,
    el_bp0: credit.expected_loss_bp.before,
    el_bp1: credit.expected_loss_bp.after,
    el0: credit.expected_loss?.before ?? null,
    el1: credit.expected_loss?.after ?? null,
    lev0: credit.debt_to_ebitda.before,
    lev1: credit.debt_to_ebitda.after,
    cov0: credit.interest_coverage.before,
    cov1: credit.interest_coverage.after,
  };
}

function summaryOf(valuation: CompanyValuation): Figures {
  return {
    V0: valuation.value_before,
    npv: valuation.npv_of_losses,
    npv_uncapped: valuation.npv_uncapped,
    var_pct: valuation.value_at_risk_pct,
    V1: valuation.asset_value_after,
    pd0: valuation.pd_5y_before,
    pd1: valuation.pd_5y_after,
    annual_pd0: valuation.pd_1y.before,
    annual_pd1: valuation.pd_1y.after,
    el_bp0: valuation.expected_loss_bp.before,
    el_bp1: valuation.expected_loss_bp.after,
    el0: valuation.expected_loss?.before ?? null,
    el1: valuation.expected_loss?.after ?? null,
  };
}
