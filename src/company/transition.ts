import { clamp } from "./clamp.ts";
import { BASE_YEAR } from "./methodConstants.ts";
import type { Emissions } from "./emissions.ts";
import type { Industry } from "./industryParameters.ts";

/** Power producers pass on most of their cost. */
const SCOPE2_COST_SHARE = 0.85;
const SCOPE2_BACKSTOP_USD_PER_T = 100;
/** Half of the suppliers' cost reaches the buyer, net of substitution. */
const UPSTREAM_COST_SHARE = 0.5;
const UPSTREAM_BACKSTOP_USD_PER_T = 200;
/** So long it takes until prices follow costs as far as they will. */
const PASS_THROUGH_YEARS = 15;
/** No company loses more of its volume. */
const VOLUME_LOSS_MAX = 0.8;

/** What a price shock costs a company in one year. */
export interface TransitionLoss {
  /** The share of all emissions that the scenario cuts. */
  readonly cut: number;
  /** The share of today's emissions that is abated rather than paid for. */
  readonly abatementShare: number;
  /** USD per t of today's direct emissions. */
  readonly unitCostUsdPerT: number;
  /** What the buyers of the company's fuel meet; the company's own shock where it sells none. */
  readonly fuelShockUsdPerT: number;
  readonly passThrough: number;
  /** USD a year, before any of it is passed on. */
  readonly grossCostUsd: number;
  /** Changes of the volume sold, at most 0: through the company's own prices, and through those of its fuel. */
  readonly ownVolumeChange: number;
  readonly fuelVolumeChange: number;
  readonly volumeChange: number;
  /** A change of volume is held at its bound. */
  readonly isVolumeFloored: boolean;
  /** USD a year, before and after the limit that owners set: they may close the plant. */
  readonly uncappedUsd: number;
  readonly lossUsd: number;
}

/** The share of cost that prices follow in a year, before any shift. */
export function passThroughOf(industry: Industry, year: number): number {
  const progress = clamp((year - BASE_YEAR) / PASS_THROUGH_YEARS, [0, 1]);
  return industry.passThroughShort + (industry.passThroughLong - industry.passThroughShort) * progress;
}

/**
 * @param of.shockUsdPerT what the scenario asks beyond current policies, and `worldShockUsdPerT`, the same for the buyers
 *   of fuel all over the world
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
  const fuel = fuelOf(industry);
  const fuelShockUsdPerT = fuel === "world" ? of.worldShockUsdPerT : shockUsdPerT;
  const fuelLoss =
    fuel === undefined ? 0 : (demandElasticity * fuelShockUsdPerT * emissions.scope3Downstream) / revenueUsd;
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

/** Per tonne of today's emissions: the price on what is left, and the triangle of what abating the rest costs. */
function unitCost(shockUsdPerT: number, abatement: Abatement): number {
  const abated = abatedShare(shockUsdPerT, abatement);
  return shockUsdPerT * (1 - abated) + 0.5 * abated * Math.min(shockUsdPerT, abatement.backstopUsdPerT);
}

/** Where the fuel that an industry sells is burnt: all over the world, or in its own country. */
function fuelOf({ group }: Industry): "world" | "country" | undefined {
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
