import {
  type Exposure,
  lossInYear,
  type ScenarioInputs,
  shareOfEbitda,
  type SensitivityCase,
  type YearLoss,
} from "./loss.ts";
import { hasPriceInYear, priceShocksOf, priceVariantsOf } from "./carbonPrices.ts";

const PASS_THROUGH_SHIFT = 0.15;
/** Uncertainty factors of modeled scope 1 emissions. */
const SCOPE1_FACTORS = [0.5, 2] as const;

/** Range of the loss of a year over the sensitivity cases, as fractions of EBITDA. */
export interface LossRange {
  readonly low: number;
  readonly high: number;
  /** All of EBITDA is lost to the transition in every case. */
  readonly isAlwaysCapped: boolean;
}

/**
 * Computes the range of losses over the other price variants, shifted pass-through and, if modeled, scaled scope 1.
 *
 * @param of.central the central loss, with the same exposure and inputs
 */
export function lossRangeOf(
  year: number,
  of: {
    readonly exposure: Exposure;
    readonly inputs: ScenarioInputs;
    readonly central: YearLoss;
    readonly isScope1Modeled: boolean;
  },
): LossRange {
  const { exposure, inputs, central } = of;
  const { region } = exposure.country;
  const { pricePath } = inputs.scenario;
  const losses = [central];
  for (const variant of priceVariantsOf(pricePath, region)) {
    const prices = priceShocksOf(pricePath, { variant, region });
    if (variant === inputs.prices.variant || !hasPriceInYear(prices, year)) continue;
    losses.push(lossInYear(year, { exposure, inputs: { ...inputs, prices } }));
  }
  const sensitivityCases: readonly SensitivityCase[] = [
    { passThroughShift: -PASS_THROUGH_SHIFT },
    { passThroughShift: PASS_THROUGH_SHIFT },
    ...(of.isScope1Modeled ? SCOPE1_FACTORS.map((scope1Factor) => ({ scope1Factor })) : []),
  ];
  for (const sensitivity of sensitivityCases) losses.push(lossInYear(year, { exposure, inputs, sensitivity }));
  const shares = losses.map(({ totalUsd }) => shareOfEbitda(totalUsd, exposure));
  return {
    low: Math.min(...shares),
    high: Math.max(...shares),
    isAlwaysCapped: losses.every(isCapped),
  };
}

export function isCapped({ transition }: YearLoss): boolean {
  return transition.uncappedUsd > transition.lossUsd;
}
