/** Waterfalls of a company's losses: from a figure before them, through their parts, to the figure after them. */
import type { CompanyResult, CompanyValuation } from "../../contract/wireTypes.ts";

/** Parts of a loss in the order of the method. */
export const LOSS_PARTS = ["transition", "chronic", "assets", "interruption", "credit", "closures"] as const;
export type LossPart = (typeof LOSS_PARTS)[number];

const LOSS_PART_NAMES: Readonly<Record<LossPart, string>> = {
  transition: "Transition",
  chronic: "Warming (chronic)",
  assets: "Damage to assets (acute)",
  interruption: "Interruption (acute)",
  credit: "Defaults of borrowers",
  closures: "Overlap by closures",
};

/** What each part is, in words. */
export const LOSS_PART_MEANINGS: Readonly<Record<LossPart, string>> = {
  transition:
    "Carbon prices above current policies: costs that are not passed on, and sales lost because of higher prices.",
  chronic: "Physical risk: output lost because the country is warmer than in 2020.",
  assets: "Physical risk: average annual damage by river floods, wind and storm surge; national averages.",
  interruption: "Physical risk: earnings lost while damaged assets are out of use.",
  credit: "Losses of a bank because borrowers default under the scenario.",
  closures:
    "A plant that closes because of one part has no earnings left to lose to the others. 0, or a reduction of the loss.",
};

/** Loss of each part, USD; the sum is the total loss. `closures` is 0 or less. */
export type LossParts = Readonly<Record<LossPart, number>>;

export function lossPartsOf({ transition, physical, interaction }: CompanyResult): LossParts {
  return {
    transition: transition.loss,
    chronic: physical.chronic.loss,
    assets: physical.acute.asset_loss,
    interruption: physical.acute.interruption,
    credit: transition.credit_loss,
    closures: interaction,
  };
}

/** A bar of a waterfall, USD. */
export interface WaterfallStep {
  readonly id: LossPart | "before" | "after";
  readonly name: string;
  /** Change of the figure by a part (below 0 for a loss); the figure itself in the first and the last bar. */
  readonly amountUsd: number;
  readonly fromUsd: number;
  readonly toUsd: number;
}

interface WaterfallEnds {
  readonly before: { readonly name: string; readonly usd: number };
  readonly after: { readonly name: string; readonly usd: number };
}

/** Returns the bars of a waterfall. Parts that are 0 in all waterfalls of a comparison can be left out. */
function waterfallOf(
  { before, after }: WaterfallEnds,
  parts: LossParts,
  shown: readonly LossPart[],
): readonly WaterfallStep[] {
  let level = before.usd;
  const changes = shown.map((id): WaterfallStep => {
    const fromUsd = level;
    // Subtracting from 0 turns -0 into 0.
    const amountUsd = 0 - parts[id];
    level += amountUsd;
    return { id, name: LOSS_PART_NAMES[id], amountUsd, fromUsd, toUsd: level };
  });
  return [
    { id: "before", name: before.name, amountUsd: before.usd, fromUsd: 0, toUsd: before.usd },
    ...changes,
    { id: "after", name: after.name, amountUsd: after.usd, fromUsd: 0, toUsd: after.usd },
  ];
}

/** Returns the waterfall of one scenario and year: normalized EBITDA, less the parts of the annual loss. */
export function yearWaterfall(
  result: CompanyResult,
  normalizedEbitdaUsd: number,
  shown: readonly LossPart[],
): readonly WaterfallStep[] {
  const ends = {
    before: { name: "EBITDA before losses", usd: normalizedEbitdaUsd },
    after: { name: "EBITDA after losses", usd: normalizedEbitdaUsd - result.total.loss },
  };
  return waterfallOf(ends, lossPartsOf(result), shown);
}

/** Corporate tax rate of the method. */
export const TAX_RATE = 0.25;
const BASE_YEAR = 2025;
/** Years of the losses that the value takes into account. */
export const VALUE_YEARS: readonly number[] = Array.from({ length: 25 }, (_, index) => BASE_YEAR + 1 + index);

/**
 * Returns the present values of the parts, after tax, from the results of the years 2026 to 2050 of one scenario. Their sum
 * is `npv_of_losses` of the scenario.
 */
export function discountedParts(results: readonly CompanyResult[], discountRate: number): LossParts {
  const sums = Object.fromEntries(LOSS_PARTS.map((part) => [part, 0])) as Record<LossPart, number>;
  for (const result of results) {
    const factor = (1 - TAX_RATE) / (1 + discountRate) ** (result.year - BASE_YEAR);
    const parts = lossPartsOf(result);
    for (const part of LOSS_PARTS) sums[part] += factor * parts[part];
  }
  return sums;
}

/** Returns the waterfall of the value of one scenario: the value before, less the present values of the losses to 2050. */
export function valueWaterfall(
  { value_before, npv_of_losses }: CompanyValuation,
  parts: LossParts,
  shown: readonly LossPart[],
): readonly WaterfallStep[] {
  const ends = {
    before: { name: "Value before losses", usd: value_before },
    after: { name: "Value after losses", usd: value_before - npv_of_losses },
  };
  return waterfallOf(ends, parts, shown);
}

/** Returns the parts that are not 0 in at least one of several losses; closures always, so that the sum can be checked. */
export function shownParts(losses: readonly LossParts[]): readonly LossPart[] {
  return LOSS_PARTS.filter((part) => part !== "credit" || losses.some((parts) => parts.credit !== 0));
}
