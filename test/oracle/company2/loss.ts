/** Sections 4 to 6: the loss of one company in one scenario and year, and the credit loss of a bank. */
import { BORROWER, LGD0, LOANS, TM } from "./constants.ts";
import { mertonPd } from "./credit.ts";
import { emissionsOf } from "./emissions.ts";
import {
  acuteByHazard,
  assetLoss,
  averageAnnualLoss,
  chronicDamage,
  chronicLoss,
  gsat,
  interruptionLoss,
  localTemperature,
  type AcuteHazards,
} from "./physical.ts";
import { baselinePrice, priceOf, priceShock, regionOf, worldPriceShock, type PricePath } from "./prices.ts";
import { normalizedEbitda, type Assumptions } from "./request.ts";
import { lostShare } from "./score.ts";
import { clamp, type Country, type Industry, type Tables } from "./tables.ts";
import { passThrough, transitionOf, type Transition } from "./transition.ts";
import { annualFactor, valueBefore } from "./value.ts";

/** What the loss of a year depends on, besides scenario and year. */
export interface Company {
  readonly industry: Industry;
  readonly country: Country;
  readonly revenue: number;
  readonly totalAssets: number;
  /** B. */
  readonly normalizedEbitda: number;
  /** t CO2e a year. */
  readonly scope1: number;
  readonly scope2: number;
  readonly upstream: number;
  readonly downstream: number;
}

/** One run of the model: the central one, or a variant for the range of the results. */
export interface Run {
  readonly path: PricePath;
  readonly assumptions: Assumptions;
  /** Added to pass-through: 0, -0.15 or +0.15. */
  readonly passThroughShift: number;
}

export interface YearLoss {
  readonly year: number;
  readonly price: number;
  readonly baselinePrice: number;
  /** dP and dPf. */
  readonly shock: number;
  readonly buyersShock: number;
  readonly priceRegion: string;
  readonly passThrough: number;
  readonly transition: Transition;
  readonly gsat: number;
  readonly localTemperature: number;
  readonly localTemperature2020: number;
  /** D and L_C. */
  readonly damage: number;
  readonly chronicLoss: number;
  readonly acute: AcuteHazards;
  readonly aal: number;
  /** L_A and L_B. */
  readonly assetLoss: number;
  readonly interruption: number;
  /** L_credit. */
  readonly creditLoss: number;
  /** x, l and L. */
  readonly lossRatio: number;
  readonly lostShare: number;
  readonly loss: number;
}

/** All losses of one year. */
export function yearLoss(tables: Tables, company: Company, run: Run, year: number): YearLoss {
  const { industry, country, revenue, normalizedEbitda: B, totalAssets } = company;
  const { path, assumptions } = run;
  const region = regionOf(path.model, country);
  const shock = priceShock(tables, path, country, year);
  const buyersShock = industry.product_channel === "fuel_world" ? worldPriceShock(tables, path, country, year) : shock;
  const pt = clamp(passThrough(industry, year, assumptions.passThrough) + run.passThroughShift, 0, 1);
  const transition = transitionOf({ ...company, year, shock, buyersShock, passThrough: pt });
  const warming = gsat(tables, path.scenario, year);
  const warming2020 = gsat(tables, path.scenario, 2020);
  const damage = chronicDamage(assumptions.damageFunction, country, warming, warming2020);
  const chronic = chronicLoss(damage, industry, B, revenue);
  const acute = acuteByHazard(country, warming);
  const aal = averageAnnualLoss(acute);
  const assets = assetLoss(aal, industry, totalAssets);
  const interruption = interruptionLoss(aal, B);
  const credit = industry.archetype === "banks" ? bankCreditLoss(tables, company, run, year) : 0;
  const lossRatio = (transition.loss + chronic + assets + interruption + credit) / B;
  return {
    year,
    price: priceOf(tables, path.scenario.price_path, path.model, region, year, path.quantile),
    baselinePrice: baselinePrice(tables, country.ngfs_r5, year),
    shock,
    buyersShock,
    priceRegion: region,
    passThrough: pt,
    transition,
    gsat: warming,
    localTemperature: localTemperature(country, warming),
    localTemperature2020: localTemperature(country, warming2020),
    damage,
    chronicLoss: chronic,
    acute,
    aal,
    assetLoss: assets,
    interruption,
    creditLoss: credit,
    lossRatio,
    lostShare: lostShare(lossRatio),
    loss: B * lostShare(lossRatio),
  };
}

/** l_t = l(t) B K / V0: the share of value lost if the loss of the year lasted. */
export function lostValueShareOfYear(company: Company, assumptions: Assumptions, lost: number): number {
  const B = company.normalizedEbitda;
  return (lost * B * annualFactor(assumptions.discountRate)) / valueBefore(company, assumptions.discountRate);
}

/** L_credit = LOANS total_assets LGD0 max(0, PD1 - PD0) / TM, with PD of a representative borrower. */
function bankCreditLoss(tables: Tables, bank: Company, run: Run, year: number): number {
  const borrower = borrowerOf(tables, bank.country);
  // The borrower follows the price and damage runs of the range only, not the shifted pass-through.
  const loss = yearLoss(tables, borrower, { ...run, passThroughShift: 0 }, year);
  const lost = lostValueShareOfYear(borrower, run.assumptions, loss.lostShare);
  const before = mertonPd(BORROWER.assets, BORROWER.debt, BORROWER.volatility);
  const after = mertonPd(BORROWER.assets * (1 - lost), BORROWER.debt, BORROWER.volatility);
  return (LOANS * bank.totalAssets * LGD0 * Math.max(0, after - before)) / TM;
}

/** Representative borrower of a country: industry `miscellaneous`, modeled emissions. */
function borrowerOf(tables: Tables, country: Country): Company {
  const industry = tables.industries.find(({ id }) => id === "miscellaneous");
  if (industry === undefined) throw new Error("the industry table has no miscellaneous");
  const notReported = {
    scope1: undefined,
    scope2: undefined,
    scope3: undefined,
    scope3Upstream: undefined,
    scope3Downstream: undefined,
  };
  const emissions = emissionsOf(industry, country, BORROWER.revenue, BORROWER.assets, notReported);
  return {
    industry,
    country,
    revenue: BORROWER.revenue,
    totalAssets: BORROWER.assets,
    normalizedEbitda: normalizedEbitda(BORROWER.ebitda, industry, BORROWER.revenue),
    scope1: emissions.scope1.value,
    scope2: emissions.scope2.value,
    upstream: emissions.upstream.value,
    downstream: emissions.downstream.value,
  };
}
