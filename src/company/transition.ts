import { clamp } from "./clamp.ts";
import { BASE_YEAR } from "./methodConstants.ts";
import type { Emissions } from "./emissions.ts";
import type { Industry } from "./industryParameters.ts";

/** Share of their carbon cost that power producers pass on. */
const SCOPE2_COST_SHARE = 0.85;
const SCOPE2_BACKSTOP_USD_PER_T = 100;
/** Share of the suppliers' cost that reaches the buyer, net of substitution. */
const UPSTREAM_COST_SHARE = 0.5;
const UPSTREAM_BACKSTOP_USD_PER_T = 200;
/** Years until pass-through reaches its long-run value. */
const PASS_THROUGH_YEARS = 15;
/** Upper bound of each loss of volume. */
const VOLUME_LOSS_MAX = 0.8;

/** Cost of a carbon price shock to a company in one year. */
export interface TransitionLoss {
  /** Reduction of emissions in the scenario, as a fraction. */
  readonly cut: number;
  /** Share of today's emissions that is abated rather than paid for. */
  readonly abatementShare: number;
  /** USD per t of today's direct emissions. */
  readonly unitCostUsdPerT: number;
  /** Price shock for the buyers of the company's fuel; the company's own shock if it sells none. */
  readonly fuelShockUsdPerT: number;
  readonly passThrough: number;
  /** USD per year, before pass-through. */
  readonly grossCostUsd: number;
  /** Relative changes of the volume sold, at most 0: caused by the company's own prices and by those of its fuel. */
  readonly ownVolumeChange: number;
  readonly fuelVolumeChange: number;
  readonly volumeChange: number;
  /** A volume change was limited to its bound. */
  readonly isVolumeFloored: boolean;
  /** USD per year, before and after the cap at EBITDA: owners can close the plant. */
  readonly uncappedUsd: number;
  readonly lossUsd: number;
}

/** Returns the share of costs that is passed on to prices in a year. */
export function passThroughOf(industry: Industry, year: number): number {
  const progress = clamp((year - BASE_YEAR) / PASS_THROUGH_YEARS, [0, 1]);
  return industry.passThroughShort + (industry.passThroughLong - industry.passThroughShort) * progress;
}

/**
 * Computes the transition loss of one year.
 *
 * @param of.shockUsdPerT excess of the scenario price over current policies; `worldShockUsdPerT` is that of the world
 *   price, which the buyers of fuel pay
 */
export function transitionLoss(of: {
  readonly industry: Industry;
  readonly emissions: Emissions;
  readonly revenueUsd: number;
  readonly ebitdaUsd: number;
  readonly shockUsdPerT: number;
  readonly worldShockUsdPerT: number;
  readonly cut: number;
  readonly passThrough: number;
}): TransitionLoss {
  const { industry, emissions, revenueUsd, ebitdaUsd, shockUsdPerT, cut, passThrough } = of;
  const { backstopUsdPerT, demandElasticity } = industry;

  const unitCostUsdPerT = unitCost(shockUsdPerT, { cut, backstopUsdPerT });
  const grossCostUsd =
    emissions.scope1 * unitCostUsdPerT +
    SCOPE2_COST_SHARE * emissions.scope2 * unitCost(shockUsdPerT, { cut, backstopUsdPerT: SCOPE2_BACKSTOP_USD_PER_T }) +
    UPSTREAM_COST_SHARE *
      emissions.scope3Upstream *
      unitCost(shockUsdPerT, { cut, backstopUsdPerT: UPSTREAM_BACKSTOP_USD_PER_T });

  const ownLoss = (demandElasticity * passThrough * grossCostUsd) / revenueUsd;
  const fuelMarket = fuelMarketOf(industry);
  const fuelShockUsdPerT = fuelMarket === "world" ? of.worldShockUsdPerT : shockUsdPerT;
  const fuelLoss =
    fuelMarket === undefined ? 0 : (demandElasticity * fuelShockUsdPerT * emissions.scope3Downstream) / revenueUsd;
  const ownVolumeChange = 0 - Math.min(VOLUME_LOSS_MAX, ownLoss);
  const fuelVolumeChange = 0 - Math.min(VOLUME_LOSS_MAX, fuelLoss);
  const volumeChange = (1 + ownVolumeChange) * (1 + fuelVolumeChange) - 1;

  const absorbedCostUsd = (1 - passThrough) * grossCostUsd * (1 + volumeChange);
  const uncappedUsd = ebitdaUsd > 0 ? absorbedCostUsd - ebitdaUsd * volumeChange : absorbedCostUsd;
  return {
    abatementShare: abatedShare(shockUsdPerT, { cut, backstopUsdPerT }),
    cut,
    unitCostUsdPerT,
    fuelShockUsdPerT,
    passThrough,
    grossCostUsd,
    ownVolumeChange,
    fuelVolumeChange,
    volumeChange,
    isVolumeFloored: ownLoss > VOLUME_LOSS_MAX || fuelLoss > VOLUME_LOSS_MAX,
    uncappedUsd,
    lossUsd: ebitdaUsd > 0 ? Math.min(uncappedUsd, ebitdaUsd) : uncappedUsd,
  };
}

interface Abatement {
  readonly cut: number;
  readonly backstopUsdPerT: number;
}

function abatedShare(shockUsdPerT: number, { cut, backstopUsdPerT }: Abatement): number {
  return cut * Math.min(1, shockUsdPerT / backstopUsdPerT);
}

/** Cost per tonne of today's emissions: the price of the remaining ones and the abatement cost (a triangle) of the rest. */
function unitCost(shockUsdPerT: number, abatement: Abatement): number {
  const abated = abatedShare(shockUsdPerT, abatement);
  return shockUsdPerT * (1 - abated) + 0.5 * abated * Math.min(shockUsdPerT, abatement.backstopUsdPerT);
}

/** Returns where the fuel sold by an industry is burned: worldwide or in its own country. */
function fuelMarketOf({ group }: Industry): "world" | "country" | undefined {
  switch (group) {
    case "oilgas_up":
    case "refining":
    case "coal":
      return "world";
    case "pipelines":
      return "country";
    default:
      return undefined;
  }
}
