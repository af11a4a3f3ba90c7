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

/** Cost of a carbon price shock to a company in one year. */
export interface TransitionLoss {
  /** Share of capital that is renewed and can abate. */
  readonly renewedShare: number;
  /** Share of today's scope 1 emissions that is abated rather than paid for. */
  readonly abatedShare: number;
  /** USD per t of today's emissions: direct, of purchased power, of suppliers, and of products in use. */
  readonly unitCostUsdPerT: number;
  readonly powerUnitCostUsdPerT: number;
  readonly supplierUnitCostUsdPerT: number;
  readonly productUnitCostUsdPerT: number;
  readonly passThrough: number;
  /** USD per year, before pass-through. */
  readonly grossCostUsd: number;
  /** Relative changes of the volume sold, at most 0: by the company's own prices, by the cost of using its products. */
  readonly ownVolumeChange: number;
  readonly productVolumeChange: number;
  readonly volumeChange: number;
  /** USD per year, without an upper limit. */
  readonly lossUsd: number;
}

/** Returns the share of costs that is passed on to prices in a year, unless the caller assumes a constant one. */
export function passThroughOf({ passThroughShort, passThroughLong }: Industry, year: number): number {
  const progress = clamp((year - BASE_YEAR) / PASS_THROUGH_YEARS, [0, 1]);
  return clamp(passThroughShort + (passThroughLong - passThroughShort) * progress, [0, 1]);
}

/**
 * Computes the transition loss of one year.
 *
 * @param of.ebitdaUsd normalized EBITDA, above 0
 * @param of.shockUsdPerT excess of the scenario price over current policies; `buyersShockUsdPerT` is that of the buyers
 *   of what the company sells
 */
export function transitionLoss(of: {
  readonly industry: Industry;
  readonly emissions: Emissions;
  readonly revenueUsd: number;
  readonly ebitdaUsd: number;
  readonly year: number;
  readonly shockUsdPerT: number;
  readonly buyersShockUsdPerT: number;
  readonly passThrough: number;
}): TransitionLoss {
  const { industry, emissions, year, shockUsdPerT, passThrough } = of;
  const renewedShare = renewedShareOf(industry.abatement, year);
  const unitCostUsdPerT = unitCostOf(shockUsdPerT, industry.abatement, year);
  const powerUnitCostUsdPerT = unitCostOf(shockUsdPerT, POWER_ABATEMENT, year);
  const supplierUnitCostUsdPerT = unitCostOf(shockUsdPerT, SUPPLIER_ABATEMENT, year);
  const productUnitCostUsdPerT = productUnitCost(industry, of.buyersShockUsdPerT, year);
  const grossCostUsd =
    emissions.scope1 * unitCostUsdPerT +
    POWER_COST_SHARE * emissions.scope2 * powerUnitCostUsdPerT +
    SUPPLIER_COST_SHARE * emissions.scope3Upstream * supplierUnitCostUsdPerT;

  const priceRiseUsd = passThrough * grossCostUsd;
  const useCostUsd = productUnitCostUsdPerT * emissions.scope3Downstream;
  const sensitivity = industry.demandElasticity / of.revenueUsd;
  const volumeChange = Math.expm1(-sensitivity * (priceRiseUsd + useCostUsd));
  return {
    renewedShare,
    abatedShare: abatedShareOf(shockUsdPerT, industry.abatement, renewedShare),
    unitCostUsdPerT,
    powerUnitCostUsdPerT,
    supplierUnitCostUsdPerT,
    productUnitCostUsdPerT,
    passThrough,
    grossCostUsd,
    // Adding 0 turns -0 into 0.
    ownVolumeChange: Math.expm1(-sensitivity * priceRiseUsd) + 0,
    productVolumeChange: Math.expm1(-sensitivity * useCostUsd) + 0,
    volumeChange: volumeChange + 0,
    // The cost is charged on today's volume: an upper estimate that never falls as prices or emissions rise.
    lossUsd: (1 - passThrough) * grossCostUsd - of.ebitdaUsd * volumeChange,
  };
}

function renewedShareOf({ years, shareMax }: Abatement, year: number): number {
  return shareMax * clamp((year - BASE_YEAR) / years, [0, 1]);
}

function abatedShareOf(shockUsdPerT: number, { backstopUsdPerT }: Abatement, renewedShare: number): number {
  return renewedShare * Math.min(1, shockUsdPerT / backstopUsdPerT);
}

/**
 * Returns the cost per tonne of today's emissions: the price of the remaining ones, and the area under a linear
 * abatement-cost curve for the rest. It never falls as the price rises, because `shareMax` is below 1.
 */
export function unitCostOf(shockUsdPerT: number, abatement: Abatement, year: number): number {
  const abated = abatedShareOf(shockUsdPerT, abatement, renewedShareOf(abatement, year));
  return shockUsdPerT * (1 - abated) + 0.5 * abated * Math.min(shockUsdPerT, abatement.backstopUsdPerT);
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
