import type { NgfsRegion } from "../reference/countries.ts";
import { type PriceModel, pricesOf } from "./carbonPrices.ts";
import type { TransitionScenario } from "./scenarios.ts";
import { valueInYear } from "./yearlySeries.ts";

/** Narratives of the scenarios whose carbon prices are expected to be lower than those of the orderly ones. */
const LESS_AMBITIOUS_NARRATIVES = new Set(["Hot house world", "Too little, too late"]);
const ORDERLY_PATHS = ["NGFS_NET_ZERO_2050", "NGFS_LOW_DEMAND", "NGFS_BELOW_2C"];
/** Ratio of prices above which the order is inverted. */
const RATIO_MIN = 1.1;

/** Years in which a less ambitious scenario has the higher carbon price. */
export interface PriceInversion {
  /** Id of the more ambitious scenario. */
  readonly scenario: string;
  readonly years: readonly number[];
}

/**
 * Finds the requested years in which the price of a less ambitious NGFS scenario exceeds the price of an orderly scenario of
 * the same model and region by more than 10 %. REMIND forces each region to its pledge by 2030, so NDC prices of some regions are high then.
 */
export function priceInversionsOf(
  { family, narrative, pricePath }: TransitionScenario,
  of: { readonly model: PriceModel; readonly region: NgfsRegion; readonly years: readonly number[] },
): readonly PriceInversion[] {
  const prices = pricesOf(pricePath, { variant: of.model, region: of.region });
  if (family !== "NGFS" || prices === undefined || !LESS_AMBITIOUS_NARRATIVES.has(narrative)) return [];
  return ORDERLY_PATHS.flatMap((scenario) => {
    const orderly = pricesOf(scenario, { variant: of.model, region: of.region });
    if (orderly === undefined) return [];
    const years = of.years.filter((year) => valueInYear(prices, year) > RATIO_MIN * valueInYear(orderly, year));
    return years.length === 0 ? [] : [{ scenario, years }];
  });
}
