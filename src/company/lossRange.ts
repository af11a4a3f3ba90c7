import { clamp } from "./emissions.ts";
import type { EmissionsFigure } from "../contract/wireTypes.ts";
import { hasPriceInYear, otherVariants, priceShocksOf } from "./carbonPrices.ts";
import { grossCostUsd, transitionLossUsd } from "./transition.ts";
import {
  bankCreditLossUsd,
  type Exposure,
  lossRatioInYear,
  lostShareOf,
  type ScenarioInputs,
  type YearLoss,
} from "./loss.ts";
import { chronicLossUsd, damageFractionOf, type DamageFunction } from "./physical.ts";

const PASS_THROUGH_SHIFTS = [-0.15, 0.15] as const;
const ALTERNATIVE_DAMAGES = ["kalkuhl_wenz", "howard_sterner"] as const satisfies readonly DamageFunction[];

/** Range of the share of EBITDA that is lost in a year; each case changes one assumption. */
export interface LossRange {
  readonly low: number;
  readonly high: number;
}

/** The central loss of a year, and what it was computed from. */
export interface CentralLoss {
  readonly year: number;
  readonly exposure: Exposure;
  readonly inputs: ScenarioInputs;
  readonly loss: YearLoss;
}

/**
 * Computes the range over the central case, the other prices of the scenario, shifted pass-through, the range of modeled
 * scope 1, and other damage functions. The borrowers of a bank follow changes of prices and damages only.
 */
export function lossRangeOf(central: CentralLoss, scope1: EmissionsFigure): LossRange {
  const range = new RatioRange(central.loss.lossRatio);
  coverPrices(range, central);
  coverTransition(range, central, scope1);
  coverDamages(range, central);
  // The share lost rises with the ratio.
  return { low: lostShareOf(range.min), high: lostShareOf(range.max) };
}

/** Smallest and largest loss ratio so far. */
class RatioRange {
  min: number;
  max: number;

  constructor(ratio: number) {
    this.min = ratio;
    this.max = ratio;
  }

  cover(ratio: number): void {
    if (ratio < this.min) this.min = ratio;
    if (ratio > this.max) this.max = ratio;
  }
}

function coverPrices(range: RatioRange, { year, exposure, inputs }: CentralLoss): void {
  const { scenario, prices } = inputs;
  for (const variant of otherVariants(scenario, prices.variant)) {
    const others = priceShocksOf(scenario.pricePath, { variant, region: exposure.country.region });
    if (others === undefined || !hasPriceInYear(others.scenario, year)) continue;
    range.cover(lossRatioInYear(year, exposure, { ...inputs, prices: others }));
  }
}

function coverTransition(range: RatioRange, central: CentralLoss, scope1: EmissionsFigure): void {
  const { year, exposure, inputs, loss } = central;
  const { costs, passThrough, shockUsdPerT, chronicUsd, creditUsd } = loss;
  const coverWith = (grossUsd: number, share: number): void => {
    const transitionUsd = transitionLossUsd(exposure, { grossUsd, useUsd: costs.useUsd }, share);
    range.cover(lossRatioWith(central, transitionUsd, chronicUsd, creditUsd));
  };
  if (inputs.passThrough === undefined) {
    for (const shift of PASS_THROUGH_SHIFTS) coverWith(costs.grossUsd, clamp(passThrough + shift, 0, 1));
  }
  if (scope1.method === "modelled") {
    for (const tonnes of [scope1.low, scope1.high]) {
      const emissions = { ...exposure.emissions, scope1: tonnes };
      coverWith(grossCostUsd(exposure.industry, emissions, shockUsdPerT, year), passThrough);
    }
  }
}

function coverDamages(range: RatioRange, central: CentralLoss): void {
  const { year, exposure, inputs, loss } = central;
  for (const damageFunction of ALTERNATIVE_DAMAGES) {
    if (damageFunction === inputs.damageFunction) continue;
    const damageFraction = damageFractionOf(damageFunction, exposure.country, loss.warming);
    const creditUsd = exposure.industry.isBank ? bankCreditLossUsd(year, exposure, { ...inputs, damageFunction }) : 0;
    range.cover(lossRatioWith(central, loss.transitionUsd, chronicLossUsd(damageFraction, exposure), creditUsd));
  }
}

/** Returns the loss ratio with some parts replaced, added in the order of `lossRatioInYear`. */
function lossRatioWith(
  { loss, exposure }: CentralLoss,
  transitionUsd: number,
  chronicUsd: number,
  creditUsd: number,
): number {
  return (transitionUsd + chronicUsd + loss.assetUsd + loss.interruptionUsd + creditUsd) / exposure.ebitdaUsd;
}
