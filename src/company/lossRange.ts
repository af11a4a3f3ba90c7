import { hasPriceInYear, otherVariants, priceShocksOf } from "./carbonPrices.ts";
import { type Exposure, lossInYear, type ScenarioInputs, type YearLoss } from "./loss.ts";
import type { DamageFunction } from "./physical.ts";
import type { EmissionsFigure } from "../contract/wireTypes.ts";

const PASS_THROUGH_SHIFTS = [-0.15, 0.15] as const;
const ALTERNATIVE_DAMAGES = ["kalkuhl_wenz", "howard_sterner"] as const satisfies readonly DamageFunction[];

/** Range of the share of EBITDA lost in a year, from one changed assumption at a time. */
export interface LossRange {
  readonly low: number;
  readonly high: number;
}

/**
 * Computes the range over the central case, the other prices of the scenario, shifted pass-through, the range of modeled
 * scope 1, and other damage functions.
 *
 * @param of.central the central loss, with the same exposure and inputs
 */
export function lossRangeOf(
  year: number,
  of: {
    readonly exposure: Exposure;
    readonly inputs: ScenarioInputs;
    readonly central: YearLoss;
    readonly scope1: EmissionsFigure;
  },
): LossRange {
  const { exposure, inputs, scope1 } = of;
  let low = of.central.lostShare;
  let high = low;
  const cover = ({ lostShare }: YearLoss): void => {
    low = Math.min(low, lostShare);
    high = Math.max(high, lostShare);
  };
  const { scenario, prices, damageFunction } = inputs;
  for (const variant of otherVariants(scenario, prices.variant)) {
    const others = priceShocksOf(scenario.pricePath, { variant, region: exposure.country.region });
    if (others === undefined || !hasPriceInYear(others.scenario, year)) continue;
    cover(lossInYear(year, { exposure, inputs: { ...inputs, prices: others } }));
  }
  if (inputs.passThrough === undefined) {
    for (const passThroughShift of PASS_THROUGH_SHIFTS) cover(lossInYear(year, { exposure, inputs, passThroughShift }));
  }
  if (scope1.method === "modelled") {
    for (const tonnes of [scope1.low, scope1.high]) {
      const emissions = { ...exposure.emissions, scope1: tonnes };
      cover(lossInYear(year, { exposure: { ...exposure, emissions }, inputs }));
    }
  }
  for (const alternative of ALTERNATIVE_DAMAGES) {
    if (alternative === damageFunction) continue;
    cover(lossInYear(year, { exposure, inputs: { ...inputs, damageFunction: alternative } }));
  }
  return { low, high };
}
