import { valueBeforeUsd } from "./discounting.ts";
import { type Exposure, lossRatioInYear, type ScenarioInputs } from "./loss.ts";
import { BASE_YEAR } from "./methodConstants.ts";
import { lostShareOf } from "./score.ts";

/** Effect of the losses of 2026 to 2050 on the value of a company, USD of 2025. */
export interface Valuation {
  /** Present value of the losses after tax. */
  readonly npvUsd: number;
  /** Present value of the losses after tax, without closures. */
  readonly npvUncappedUsd: number;
  readonly valueBeforeUsd: number;
  /** Share of the value that is lost, below 1. */
  readonly lostValueShare: number;
}

export function valuationOf(exposure: Exposure, inputs: ScenarioInputs): Valuation {
  const { ebitdaUsd } = exposure;
  const { factors } = inputs.discounting;
  let lost = 0;
  let uncapped = 0;
  for (const [i, factor] of factors.entries()) {
    const lossRatio = lossRatioInYear(BASE_YEAR + 1 + i, exposure, inputs);
    lost += factor * lostShareOf(lossRatio);
    uncapped += factor * lossRatio;
  }
  const beforeUsd = valueBeforeUsd(exposure, inputs.discounting);
  return {
    npvUsd: ebitdaUsd * lost,
    npvUncappedUsd: ebitdaUsd * uncapped,
    valueBeforeUsd: beforeUsd,
    lostValueShare: (ebitdaUsd * lost) / beforeUsd,
  };
}
