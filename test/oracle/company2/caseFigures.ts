/** Figures of a company answer under the names of the known answers. */
import type { ScenarioValuation, YearResult } from "./report.ts";

export type Figures = Readonly<Record<string, number | string | boolean | null>>;

/** Returns the figures of a year that an answer shows. */
export function figuresOf(
  result: Pick<YearResult, "drivers" | "transition" | "physical" | "interaction" | "credit"> & {
    readonly total: Omit<YearResult["total"], "lost_share" | "value_share">;
  },
): Figures {
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

/** Returns the figures of a scenario over all years. */
export function summaryOf(valuation: Omit<ScenarioValuation, "scenario">): Figures {
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
