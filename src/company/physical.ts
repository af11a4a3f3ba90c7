import type { DAMAGE_FUNCTIONS } from "../contract/companyNames.ts";
import type { AcuteHazard, Country } from "./countryFigures.ts";
import type { Industry } from "./industryParameters.ts";
import {
  BASELINE_WARMING_C,
  DICE_2016,
  HOWARD_STERNER,
  KALKUHL_WENZ,
  LOSS_GROWTH_PER_C,
  LOSS_RATIO_WARMING_C,
  NGFS4_SCALE,
  NGFS5_SCALE,
  STICKY_LABOR_SHARE,
  TABLE_START_YEAR,
} from "./methodConstants.ts";
import { warmingOf } from "./temperaturePaths.ts";
import { valueInYear } from "./yearlySeries.ts";

/**
 * Damage functions: loss of output as a function of warming since 2020.
 *
 * - `ngfs4` (default): `kalkuhl_wenz` times 3.35, the magnitude of NGFS Phase IV
 * - `kalkuhl_wenz`: local temperature (Kalkuhl and Wenz 2020)
 * - `howard_sterner`, `dice2016`: global warming, the same for all countries (Howard and Sterner 2017; Nordhaus 2017)
 * - `ngfs5_kotz`: `kalkuhl_wenz` times 10.1, the magnitude of NGFS Phase V. Its source, Kotz et al. 2024 (Nature), was
 *   retracted in December 2025.
 */
export type DamageFunction = (typeof DAMAGE_FUNCTIONS)[number];

/** Climate of a country in one year. */
export interface Climate {
  readonly warmingC: number;
  readonly startWarmingC: number;
  /** Mean temperature of the country in the year and in 2020. */
  readonly temperatureC: number;
  readonly startTemperatureC: number;
}

export function climateOf(
  country: Country,
  { temperaturePath, year }: { readonly temperaturePath: string; readonly year: number },
): Climate {
  const warming = warmingOf(temperaturePath);
  const warmingC = valueInYear(warming, year);
  const startWarmingC = valueInYear(warming, TABLE_START_YEAR);
  return {
    warmingC,
    startWarmingC,
    temperatureC: localTemperatureC(country, warmingC),
    startTemperatureC: localTemperatureC(country, startWarmingC),
  };
}

function localTemperatureC({ baselineTemperatureC, warmingRatio }: Country, warmingC: number): number {
  return baselineTemperatureC + warmingRatio * (warmingC - BASELINE_WARMING_C);
}

/** Returns the fraction of output that is lost to the warming since 2020, at least 0: gains of cold countries are left out. */
export function damageFractionOf(damageFunction: DamageFunction, climate: Climate): number {
  switch (damageFunction) {
    case "ngfs4":
      return NGFS4_SCALE * kalkuhlWenz(climate);
    case "kalkuhl_wenz":
      return kalkuhlWenz(climate);
    case "ngfs5_kotz":
      return NGFS5_SCALE * kalkuhlWenz(climate);
    case "howard_sterner":
      return Math.max(0, HOWARD_STERNER * squareDifference(climate));
    case "dice2016":
      return Math.max(0, DICE_2016 * squareDifference(climate));
    default:
      return damageFunction satisfies never;
  }
}

function squareDifference({ warmingC, startWarmingC }: Climate): number {
  return warmingC * warmingC - startWarmingC * startWarmingC;
}

function kalkuhlWenz({ startTemperatureC: start, temperatureC: end }: Climate): number {
  const { linear, quadratic } = KALKUHL_WENZ;
  return Math.max(0, -(linear * (end - start) + (quadratic / 2) * (end * end - start * start)));
}

/**
 * Returns the loss of EBITDA to a loss of output, USD per year. A part of labor cost does not fall with output, so EBITDA
 * falls by more than output.
 */
export function chronicLossUsd(
  damageFraction: number,
  of: { readonly industry: Industry; readonly revenueUsd: number; readonly ebitdaUsd: number },
): number {
  const { industry, revenueUsd, ebitdaUsd } = of;
  const laborUsd = Math.max(0, industry.valueAddedShare * revenueUsd - ebitdaUsd);
  return damageFraction * industry.heatSensitivity * (ebitdaUsd + STICKY_LABOR_SHARE * laborUsd);
}

/** Average annual loss as a fraction of capital, by hazard and in total. */
export interface AcuteLoss {
  /** null if the source does not have the hazard, which counts as 0 in the total. */
  readonly byHazard: Readonly<Record<AcuteHazard, number | null>>;
  readonly fraction: number;
}

export function acuteLossOf({ averageLoss }: Country, warmingC: number): AcuteLoss {
  const additionalWarmingC = Math.max(0, warmingC - LOSS_RATIO_WARMING_C);
  const scaled = (hazard: AcuteHazard): number | null => {
    const present = averageLoss[hazard];
    return present === null ? null : present * (1 + LOSS_GROWTH_PER_C[hazard] * additionalWarmingC);
  };
  const byHazard = { flood: scaled("flood"), wind: scaled("wind"), surge: scaled("surge") };
  return { byHazard, fraction: (byHazard.flood ?? 0) + (byHazard.wind ?? 0) + (byHazard.surge ?? 0) };
}
