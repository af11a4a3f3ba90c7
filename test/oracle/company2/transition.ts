/** Section 4 of the method text (see report.ts): transition losses, USD of 2025 a year. */
import {
  BASE_YEAR,
  KAPPA,
  POWER_ABATEMENT,
  PRODUCT_ABATEMENT,
  PT_YEARS,
  SUPPLIER_ABATEMENT,
  TAU2,
  TAU3,
  type Abatement,
} from "./constants.ts";
import { clamp, type Industry } from "./tables.ts";

/** ramp(t; T, m) = m * clamp((t - 2025)/T, 0, 1): share of capital renewed and convertible. */
export function ramp(year: number, abatement: Abatement): number {
  return abatement.maxShare * clamp((year - BASE_YEAR) / abatement.years, 0, 1);
}

/** alpha = ramp * min(1, dP/Pb): share abated. */
function abatedShare(shock: number, year: number, abatement: Abatement): number {
  return ramp(year, abatement) * Math.min(1, shock / abatement.backstop);
}

/** u(dP; Pb, T, m) = dP (1 - alpha) + 0.5 alpha min(dP, Pb): cost per t of today's emissions. */
export function unitCost(shock: number, year: number, abatement: Abatement): number {
  const alpha = abatedShare(shock, year, abatement);
  return shock * (1 - alpha) + 0.5 * alpha * Math.min(shock, abatement.backstop);
}

/** Abatement of scope 1, from the columns of the industry. */
function scope1Abatement(industry: Industry): Abatement {
  return {
    backstop: industry.abatement_backstop_usd_t,
    years: industry.abatement_years,
    maxShare: industry.abatement_max_share,
  };
}

/** pt(t): the assumed constant, or interpolated from the short-run to the long-run value over 15 years. */
export function passThrough(industry: Industry, year: number, assumed: number | undefined): number {
  if (assumed !== undefined) return assumed;
  const { pass_through: short, pass_through_long: long } = industry;
  return clamp(short + (long - short) * clamp((year - BASE_YEAR) / PT_YEARS, 0, 1), 0, 1);
}

/** ud by `product_channel`: cost that buyers take into account, per t of the emissions of sold products. */
function productUnitCost(industry: Industry, buyersShock: number, year: number): number {
  return {
    fuel_world: buyersShock,
    fuel: buyersShock,
    durable: KAPPA * unitCost(buyersShock, year, PRODUCT_ABATEMENT),
    none: 0,
  }[industry.product_channel];
}

export interface TransitionInput {
  readonly industry: Industry;
  readonly year: number;
  readonly revenue: number;
  /** B. */
  readonly normalizedEbitda: number;
  readonly scope1: number;
  readonly scope2: number;
  readonly upstream: number;
  readonly downstream: number;
  /** dP and dPf. */
  readonly shock: number;
  readonly buyersShock: number;
  readonly passThrough: number;
}

export interface Transition {
  readonly renewed: number;
  readonly abatedShare: number;
  readonly u1: number;
  readonly u2: number;
  readonly u3: number;
  readonly ud: number;
  readonly grossCost: number;
  readonly ownVolumeChange: number;
  readonly productVolumeChange: number;
  readonly volumeChange: number;
  /** L_T. */
  readonly loss: number;
}

/** G, W and L_T. */
export function transitionOf(input: TransitionInput): Transition {
  const { industry, year, revenue, shock, passThrough: pt } = input;
  const abatement = scope1Abatement(industry);
  const u1 = unitCost(shock, year, abatement);
  const u2 = unitCost(shock, year, POWER_ABATEMENT);
  const u3 = unitCost(shock, year, SUPPLIER_ABATEMENT);
  const ud = productUnitCost(industry, input.buyersShock, year);
  const grossCost = input.scope1 * u1 + TAU2 * input.scope2 * u2 + TAU3 * input.upstream * u3;
  // W - 1 = exp(-eps (pt G + ud scope3down) / revenue) - 1
  const change = (cost: number): number => Math.expm1((-industry.demand_elasticity * cost) / revenue);
  const volumeChange = change(pt * grossCost + ud * input.downstream);
  return {
    renewed: ramp(year, abatement),
    abatedShare: abatedShare(shock, year, abatement),
    u1,
    u2,
    u3,
    ud,
    grossCost,
    ownVolumeChange: change(pt * grossCost),
    productVolumeChange: change(ud * input.downstream),
    volumeChange,
    loss: input.normalizedEbitda * -volumeChange + (1 - pt) * grossCost,
  };
}
