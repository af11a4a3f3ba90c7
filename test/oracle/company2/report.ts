/**
 * Reference implementation of the company method, version 2, written from its text alone: slow, and sharing no code
 * with the implementation under test. Section numbers are those of that text, which differ from those of
 * docs/methods/company.md. The report has the names of the response; figures are not rounded.
 */
import { emissionsOf, type Emissions } from "./emissions.ts";
import { coverage, creditOf, leverage, type BeforeAfter, type Credit } from "./credit.ts";
import { lostValueShareOfYear, yearLoss, type Company, type Run, type YearLoss } from "./loss.ts";
import { percentiles } from "./physical.ts";
import { modelOf } from "./prices.ts";
import { rangeOf } from "./ranges.ts";
import { checkRequest, type CheckedRequest, type CompanyRequest, type Figures } from "./request.ts";
import { ratingOf, scoreOf } from "./score.ts";
import type { Scenario, Tables } from "./tables.ts";
import { valuationOf, type Valuation } from "./valuation.ts";
import { warningsOf, type Warning } from "./warnings.ts";

export interface YearResult extends ReturnType<typeof yearResult> {}
export interface ScenarioValuation extends ReturnType<typeof scenarioValuation> {}

export interface CompanyReport {
  readonly request: CheckedRequest;
  readonly figures: Figures;
  readonly emissions: Emissions;
  /** By scenario in the order sent, then by year. */
  readonly results: readonly YearResult[];
  /** By scenario in the order sent. */
  readonly valuation: readonly ScenarioValuation[];
  readonly headline: {
    readonly max: YearResult;
    readonly mean: { readonly score: number; readonly loss_ratio: number; readonly pct_of_ebitda: number };
  };
  readonly warnings: readonly Warning[];
}

/** Analyzes one request; throws a `Refusal` where the method refuses it. */
export function analyzeCompany(tables: Tables, sent: CompanyRequest): CompanyReport {
  const request = checkRequest(tables, sent);
  const { figures, country } = request;
  const { industry } = request.industryMatch;
  const emissions = emissionsOf(industry, country, figures.revenue, figures.totalAssets, request.reported);
  const company: Company = {
    industry,
    country,
    revenue: figures.revenue,
    totalAssets: figures.totalAssets,
    normalizedEbitda: figures.normalizedEbitda,
    scope1: emissions.scope1.value,
    scope2: emissions.scope2.value,
    upstream: emissions.upstream.value,
    downstream: emissions.downstream.value,
  };
  const results = request.scenarios.flatMap((scenario) =>
    request.years.map((year) => yearResult(tables, request, company, emissions, scenario, year)),
  );
  return {
    request,
    figures,
    emissions,
    results,
    valuation: request.scenarios.map((scenario) => scenarioValuation(tables, request, company, scenario)),
    headline: headlineOf(results),
    warnings: warningsOf(tables, request, emissions),
  };
}

/** The central run of a scenario. */
function centralRun(request: CheckedRequest, scenario: Scenario): Run {
  const { assumptions } = request;
  const model = modelOf(scenario, assumptions.iam);
  return {
    path: { scenario, model, quantile: "price_usd2022", shockYear: assumptions.shockYear },
    assumptions,
    passThroughShift: 0,
  };
}

/** Debt of the Merton model: liabilities for banks and insurers, else debt. */
function creditAfter(request: CheckedRequest, lostShareOfValue: number): Credit {
  const { figures, totalLiabilities, ownPd, lgd, exposure } = request;
  const { archetype, asset_vol } = request.industryMatch.industry;
  return creditOf({
    totalAssets: figures.totalAssets,
    mertonDebt: ["banks", "insurance"].includes(archetype) ? totalLiabilities : figures.totalDebt,
    volatility: asset_vol,
    lostShareOfValue,
    ownPd,
    lgd,
    exposure,
  });
}

/** One member of `results`. */
function yearResult(
  tables: Tables,
  request: CheckedRequest,
  company: Company,
  emissions: Emissions,
  scenario: Scenario,
  year: number,
) {
  const run = centralRun(request, scenario);
  const { figures, country, assumptions } = request;
  const B = figures.normalizedEbitda;
  const loss = yearLoss(tables, company, run, year);
  const rank = percentiles(tables, scenario, assumptions.damageFunction, country, year);
  const valueShare = lostValueShareOfYear(company, assumptions, loss.lostShare);
  const credit = creditAfter(request, valueShare);
  return {
    scenario: scenario.scenario_id,
    family: scenario.family,
    vintage: scenario.vintage,
    year,
    drivers: driversOf(loss, run.path.model),
    transition: transitionPart(loss, B, noShockNote(tables, company, run, year)),
    physical: {
      chronic: { damage_fraction: loss.damage, loss: loss.chronicLoss },
      acute: {
        by_hazard: loss.acute,
        aal_fraction: loss.aal,
        asset_loss: loss.assetLoss,
        interruption: loss.interruption,
      },
      score: scoreOf((loss.chronicLoss + loss.assetLoss + loss.interruption) / B),
      percentile: rank,
    },
    interaction:
      loss.loss -
      (transitionPart(loss, B, "").loss + loss.chronicLoss + loss.assetLoss + loss.interruption + loss.creditLoss),
    total: {
      loss: loss.loss,
      loss_ratio: loss.lossRatio,
      lost_share: loss.lostShare,
      /** l_t, which the response does not show. */
      value_share: valueShare,
      pct_of_ebitda: (100 * loss.loss) / B,
      pct_of_assets: (100 * loss.loss) / figures.totalAssets,
      score: scoreOf(loss.lossRatio),
      rating: ratingOf(scoreOf(loss.lossRatio)),
      ...rangeOf(tables, company, run, emissions.scope1, year),
      measured_by: figures.ebitda < B ? ("normal_ebitda" as const) : ("ebitda" as const),
    },
    credit: {
      debt_to_ebitda: leverage(figures.totalDebt, figures.ebitda, loss.loss),
      interest_coverage: coverage(figures.totalDebt, figures.ebitda, loss.loss),
      ...creditPart(credit),
    },
  };
}

function driversOf(loss: YearLoss, model: string) {
  const { transition } = loss;
  return {
    price: loss.price,
    baseline_price: loss.baselinePrice,
    price_shock: loss.shock,
    fuel_price_shock: loss.buyersShock,
    price_model: model,
    price_region: loss.priceRegion,
    gsat: loss.gsat,
    local_temperature: loss.localTemperature,
    local_temperature_2020: loss.localTemperature2020,
    capital_renewed: transition.renewed,
    abatement_share: transition.abatedShare,
    unit_cost: transition.u1,
    unit_cost_scope2: transition.u2,
    unit_cost_upstream: transition.u3,
    product_unit_cost: transition.ud,
    pass_through: loss.passThrough,
  };
}

/** transition.loss = B (1 - exp(-L_T/B)); capped where L_T >= B. */
function transitionPart({ transition, creditLoss, shock }: YearLoss, B: number, noShock: string) {
  return {
    gross_cost: transition.grossCost,
    volume_change: transition.volumeChange,
    own_volume_change: transition.ownVolumeChange,
    product_volume_change: transition.productVolumeChange,
    loss: B * -Math.expm1(-transition.loss / B),
    uncapped: transition.loss,
    capped: transition.loss >= B,
    credit_loss: creditLoss,
    score: scoreOf((transition.loss + creditLoss) / B),
    ...(shock === 0 && transition.loss === 0 ? { note: noShock } : {}),
  };
}

/** The note for dP = 0, which names the first year of the shock where an earlier one would give a shock. */
function noShockNote(tables: Tables, company: Company, run: Run, year: number): string {
  const note = "no shock beyond current policies";
  const { shockYear } = run.path;
  if (year >= shockYear) return note;
  const { shock, buyersShock } = yearLoss(tables, company, { ...run, path: { ...run.path, shockYear: year } }, year);
  return shock > 0 || buyersShock > 0 ? `${note} before shock_year ${shockYear}` : note;
}

function creditPart({ pd5y, pd1y, basis, expectedLossBp, expectedLoss }: Credit) {
  const { before, after }: BeforeAfter<number | null> = pd1y;
  return {
    pd_5y: pd5y,
    pd_1y: { before, after, basis },
    expected_loss_bp: expectedLossBp,
    ...(expectedLoss === undefined ? {} : { expected_loss: expectedLoss }),
  };
}

/** One member of `valuation`. */
function scenarioValuation(tables: Tables, request: CheckedRequest, company: Company, scenario: Scenario) {
  const value: Valuation = valuationOf(tables, company, centralRun(request, scenario));
  const { pd_5y, ...credit } = creditPart(creditAfter(request, value.lostShareOfValue));
  return {
    scenario: scenario.scenario_id,
    npv_of_losses: value.npv,
    npv_uncapped: value.npvUncapped,
    value_before: value.valueBefore,
    value_at_risk_pct: 100 * value.lostShareOfValue,
    asset_value_after: value.assetValueAfter,
    pd_5y_before: pd_5y.before,
    pd_5y_after: pd_5y.after,
    ...credit,
  };
}

/** The worst result by loss ratio, the first of equal ones, and plain means over scenarios and years. */
function headlineOf(results: readonly YearResult[]): CompanyReport["headline"] {
  const mean = (of: (result: YearResult) => number): number =>
    results.reduce((sum, result) => sum + of(result), 0) / results.length;
  return {
    max: results.reduce((worst, result) => (result.total.loss_ratio > worst.total.loss_ratio ? result : worst)),
    mean: {
      score: mean(({ total }) => total.score),
      loss_ratio: mean(({ total }) => total.loss_ratio),
      pct_of_ebitda: mean(({ total }) => total.pct_of_ebitda),
    },
  };
}
