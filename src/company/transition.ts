import { clamp } from "./clamp.ts";
import type { Emissions } from "./emissions.ts";
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

/** Excess of the carbon prices of a scenario over current policies, USD of 2025 per t CO2e. */
export interface PriceShock {
  readonly usdPerT: number;
  /** For the buyers of what the company sells. */
  readonly buyersUsdPerT: number;
}

/** Cost of a price shock in one year, USD per t of today's emissions. */
export interface UnitCosts {
  readonly directUsdPerT: number;
  /** Of purchased power, of suppliers, and of products in use. */
  readonly powerUsdPerT: number;
  readonly supplierUsdPerT: number;
  readonly productUsdPerT: number;
}

/** Annual cost of a price shock to a company, USD. */
export interface TransitionLoss {
  /** Before pass-through. */
  readonly grossCostUsd: number;
  /** Relative change of the volume sold, -1 to 0. */
  readonly volumeChange: number;
  /** Without an upper limit. */
  readonly lossUsd: number;
}

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

export function unitCostsOf(industry: Industry, { usdPerT, buyersUsdPerT }: PriceShock, year: number): UnitCosts {
  return {
    directUsdPerT: unitCostOf(usdPerT, industry.abatement, year),
    powerUsdPerT: unitCostOf(usdPerT, POWER_ABATEMENT, year),
    supplierUsdPerT: unitCostOf(usdPerT, SUPPLIER_ABATEMENT, year),
    productUsdPerT: productUnitCost(industry, buyersUsdPerT, year),
  };
}

/** Returns the cost that buyers see per tonne that a product emits in use. */
function productUnitCost({ productChannel }: Industry, buyersShockUsdPerT: number, year: number): number {
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

/** What the transition loss depends on besides prices. */
interface Emitter {
  readonly industry: Industry;
  readonly revenueUsd: number;
  /** Normalized EBITDA, above 0. */
  readonly ebitdaUsd: number;
  readonly emissions: Emissions;
}

/**
 * Computes the transition loss of one year.
 *
 * @param emissions other than those of the company, for its range
 */
export function transitionLoss(
  company: Emitter,
  costs: UnitCosts,
  passThrough: number,
  emissions: Emissions = company.emissions,
): TransitionLoss {
  const grossCostUsd =
    emissions.scope1 * costs.directUsdPerT +
    POWER_COST_SHARE * emissions.scope2 * costs.powerUsdPerT +
    SUPPLIER_COST_SHARE * emissions.scope3Upstream * costs.supplierUsdPerT;
  const priceRiseUsd = passThrough * grossCostUsd;
  const useCostUsd = costs.productUsdPerT * emissions.scope3Downstream;
  const volumeChange = volumeChangeOf(company, priceRiseUsd + useCostUsd);
  // The cost is charged on today's volume: an upper estimate that never falls as prices or emissions rise.
  const lossUsd = (1 - passThrough) * grossCostUsd - company.ebitdaUsd * volumeChange;
  return { grossCostUsd, volumeChange, lossUsd };
}

/** Returns the relative change of the volume sold by a cost that buyers bear, at most 0. */
export function volumeChangeOf(
  { industry, revenueUsd }: Pick<Emitter, "industry" | "revenueUsd">,
  costUsd: number,
): number {
  // Adding 0 turns -0 into 0.
  return Math.expm1((-industry.demandElasticity * costUsd) / revenueUsd) + 0;
}
