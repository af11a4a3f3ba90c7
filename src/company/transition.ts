import { clamp, type Emissions } from "./emissions.ts";
import type { Industry } from "./industryParameters.ts";
import {
  type Abatement,
  BASE_YEAR,
  PASS_THROUGH_YEARS,
  POWER_ABATEMENT,
  POWER_COST_SHARE,
  PRODUCT_ABATEMENT,
  PRODUCT_COST_WEIGHT,
  SUPPLIER_ABATEMENT,
  SUPPLIER_COST_SHARE,
} from "./methodConstants.ts";
import { expm1 } from "../numerics/elementaryFunctions.ts";

/** Returns the share of costs that is passed on to prices in a year, unless the caller assumes a constant one. */
export function passThroughOf({ passThroughShort, passThroughLong }: Industry, year: number): number {
  const progress = clamp((year - BASE_YEAR) / PASS_THROUGH_YEARS, 0, 1);
  return clamp(passThroughShort + (passThroughLong - passThroughShort) * progress, 0, 1);
}

/** Returns the share of capital that is renewed by a year and can abate. */
export function renewedShareOf({ years, shareMax }: Abatement, year: number): number {
  return shareMax * clamp((year - BASE_YEAR) / years, 0, 1);
}

/** Returns the share of today's emissions that is abated rather than paid for. */
export function abatedShareOf(shockUsdPerT: number, abatement: Abatement, year: number): number {
  return renewedShareOf(abatement, year) * Math.min(1, shockUsdPerT / abatement.backstopUsdPerT);
}

/**
 * Returns the cost per tonne of today's emissions: the price of the remaining ones, and the area under a linear
 * abatement-cost curve for the rest. It never falls as the price rises, because `shareMax` is below 1.
 */
export function unitCostOf(shockUsdPerT: number, abatement: Abatement, year: number): number {
  const abated = abatedShareOf(shockUsdPerT, abatement, year);
  return shockUsdPerT * (1 - abated) + 0.5 * abated * Math.min(shockUsdPerT, abatement.backstopUsdPerT);
}

/** Returns the annual cost of a price shock before pass-through, USD. */
export function grossCostUsd(industry: Industry, emissions: Emissions, shockUsdPerT: number, year: number): number {
  return (
    emissions.scope1 * unitCostOf(shockUsdPerT, industry.abatement, year) +
    POWER_COST_SHARE * emissions.scope2 * unitCostOf(shockUsdPerT, POWER_ABATEMENT, year) +
    SUPPLIER_COST_SHARE * emissions.scope3Upstream * unitCostOf(shockUsdPerT, SUPPLIER_ABATEMENT, year)
  );
}

/** Returns the cost that buyers see per tonne that a product emits in use, USD. */
export function productUnitCostOf({ productChannel }: Industry, buyersShockUsdPerT: number, year: number): number {
  switch (productChannel) {
    case "fuel_world":
    case "fuel":
      return buyersShockUsdPerT;
    case "durable":
      return PRODUCT_COST_WEIGHT * unitCostOf(buyersShockUsdPerT, PRODUCT_ABATEMENT, year);
    case "none":
      return 0;
    default:
      return productChannel satisfies never;
  }
}

/** What the transition loss depends on besides costs. */
interface Seller {
  readonly industry: Industry;
  readonly revenueUsd: number;
  /** Normalized EBITDA, above 0. */
  readonly ebitdaUsd: number;
}

/** Annual costs of a price shock, USD. */
export interface TransitionCosts {
  /** Of the company, before pass-through. */
  readonly grossUsd: number;
  /** Of the use of its products, which buyers bear. */
  readonly useUsd: number;
}

/** Returns the transition loss of one year, USD, without an upper limit. */
export function transitionLossUsd(seller: Seller, { grossUsd, useUsd }: TransitionCosts, passThrough: number): number {
  // The cost is charged on today's volume: an upper estimate that never falls as prices or emissions rise.
  return (1 - passThrough) * grossUsd - seller.ebitdaUsd * volumeChangeOf(seller, passThrough * grossUsd + useUsd);
}

/** Returns the relative change of the volume sold by a cost that buyers bear, -1 to 0. */
export function volumeChangeOf(
  { industry, revenueUsd }: Pick<Seller, "industry" | "revenueUsd">,
  costUsd: number,
): number {
  // Adding 0 turns -0 into 0.
  return expm1((-industry.demandElasticity * costUsd) / revenueUsd) + 0;
}
