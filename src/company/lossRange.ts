import { type Exposure, lossIn, type Setting, shareOf, type Variation, type YearLoss } from "./loss.ts";
import { isPriceKnown, shocksOf, variantsOf } from "./carbonPrices.ts";

const PASS_THROUGH_SHIFT = 0.15;
/** How far a modelled scope 1 may be off, either way. */
const SCOPE1_FACTORS = [0.5, 2] as const;

/** How far the loss of a year goes when one thing is taken otherwise; fractions of EBITDA. */
export interface LossRange {
  readonly low: number;
  readonly high: number;
  /** Each time all of EBITDA was lost to the transition. */
  readonly isAlwaysCapped: boolean;
}

/** @param of.central the loss as it is reported, with the same exposure and setting */
export function rangeOf(
  year: number,
  of: {
    readonly exposure: Exposure;
    readonly setting: Setting;
    readonly central: YearLoss;
    readonly isScope1Modelled: boolean;
  },
): LossRange {
  const { exposure, setting, central } = of;
  const { region } = exposure.country;
  const { pricePath } = setting.scenario;
  const losses = [central];
  for (const variant of variantsOf(pricePath, region)) {
    const prices = shocksOf(pricePath, { variant, region });
    if (variant === setting.prices.variant || !isPriceKnown(prices, year)) continue;
    losses.push(lossIn(year, { exposure, setting: { ...setting, prices } }));
  }
  const variations: readonly Variation[] = [
    { passThroughShift: -PASS_THROUGH_SHIFT },
    { passThroughShift: PASS_THROUGH_SHIFT },
    ...(of.isScope1Modelled ? SCOPE1_FACTORS.map((scope1Factor) => ({ scope1Factor })) : []),
  ];
  for (const variation of variations) losses.push(lossIn(year, { exposure, setting, variation }));
  const shares = losses.map(({ totalUsd }) => shareOf(totalUsd, exposure));
  return {
    low: Math.min(...shares),
    high: Math.max(...shares),
    isAlwaysCapped: losses.every(isCapped),
  };
}

export function isCapped({ transition }: YearLoss): boolean {
  return transition.uncappedUsd > transition.lossUsd;
}
