import type { DAMAGE_FUNCTIONS } from "../contract/companyNames.ts";
import { TABLE_START_YEAR } from "./methodConstants.ts";
import { valueInYear } from "./yearlySeries.ts";
import { ACUTE_HAZARDS, type AcuteHazard, type Country, TIER_A_COUNTRIES } from "./countryFigures.ts";
import { warmingOf } from "./temperaturePaths.ts";

/**
 * Damage functions: loss of output as a function of warming.
 *
 * - `kalkuhl_wenz` (default): local temperature (Kalkuhl and Wenz 2020; sums of the current and lagged coefficients of
 *   their panel regression)
 * - `howard_sterner`, `dice2016`: global warming, the same for all countries (Howard and Sterner 2017; Nordhaus 2017)
 * - `ngfs5_kotz`: `kalkuhl_wenz` times 10.1, which gives an average of 15% of world output in 2050 under Current
 *   Policies, the magnitude published by NGFS Phase V. Its source, Kotz et al. 2024 (Nature), was retracted in December
 *   2025.
 */
export type DamageFunction = (typeof DAMAGE_FUNCTIONS)[number];

/** Per degree and per degree squared of the mean temperature of the country. */
const KALKUHL_WENZ = { linear: 0.00986, quadratic: -0.001808 };
const KOTZ_FACTOR = 10.1;
/** Per degree squared of global warming. */
const HOWARD_STERNER = 0.0074 + 0.00113;
const DICE_2016 = 0.00236;

/** Global warming around 1990, the period of the baseline temperatures of the countries. */
const BASELINE_WARMING_C = 0.55;
/** Global warming that the loss ratios refer to. */
const LOSS_RATIO_WARMING_C = 1.23;
/** Relative growth of the loss ratios per degree of global warming. */
const GROWTH_PER_C: Readonly<Record<AcuteHazard, number>> = { flood: 0.65, wind: 0.16, surge: 0.2 };

/** Chronic damage of one year. */
export interface ChronicDamage {
  readonly warmingC: number;
  /** Mean temperature of the country in 2020 and in the requested year. */
  readonly startTemperatureC: number;
  readonly temperatureC: number;
  /** Fraction of output that is lost. */
  readonly damageFraction: number;
}

/** Rule for chronic damage. */
export interface DamageRule {
  readonly damageFunction: DamageFunction;
  /** Whether damage may be negative, i.e. a gain; otherwise it is at least 0. */
  readonly allowsGains: boolean;
}

export function chronicDamage(
  country: Country,
  at: { readonly temperaturePath: string; readonly year: number },
  { damageFunction, allowsGains }: DamageRule,
): ChronicDamage {
  const warming = warmingOf(at.temperaturePath);
  const warmingC = valueInYear(warming, at.year);
  const startWarmingC = valueInYear(warming, TABLE_START_YEAR);
  const startTemperatureC = localTemperatureC(country, startWarmingC);
  const temperatureC = localTemperatureC(country, warmingC);
  const damage = damageOf(damageFunction, { startC: startTemperatureC, endC: temperatureC, startWarmingC, warmingC });
  return {
    warmingC,
    startTemperatureC,
    temperatureC,
    damageFraction: allowsGains ? damage : Math.max(0, damage),
  };
}

function localTemperatureC({ baselineTemperatureC, warmingRatio }: Country, warmingC: number): number {
  return baselineTemperatureC + warmingRatio * (warmingC - BASELINE_WARMING_C);
}

/** Damage by the warming since 2020 as a fraction of output; negative for a gain. */
function damageOf(
  damageFunction: DamageFunction,
  of: {
    readonly startC: number;
    readonly endC: number;
    readonly startWarmingC: number;
    readonly warmingC: number;
  },
): number {
  const { startC, endC, startWarmingC, warmingC } = of;
  const squares = warmingC * warmingC - startWarmingC * startWarmingC;
  switch (damageFunction) {
    case "kalkuhl_wenz":
      return kalkuhlWenz(startC, endC);
    case "ngfs5_kotz":
      return KOTZ_FACTOR * kalkuhlWenz(startC, endC);
    case "howard_sterner":
      return HOWARD_STERNER * squares;
    case "dice2016":
      return DICE_2016 * squares;
    default:
      return damageFunction satisfies never;
  }
}

function kalkuhlWenz(startC: number, endC: number): number {
  const { linear, quadratic } = KALKUHL_WENZ;
  return 0 - (linear * (endC - startC) + (quadratic / 2) * (endC * endC - startC * startC));
}

/** Average annual loss as a fraction of capital, by hazard and in total. */
export interface AcuteLoss {
  readonly byHazard: Readonly<Record<AcuteHazard, number>>;
  readonly fraction: number;
}

export function acuteLoss({ averageLoss }: Country, warmingC: number): AcuteLoss {
  const additionalWarmingC = Math.max(0, warmingC - LOSS_RATIO_WARMING_C);
  const scaled = (hazard: AcuteHazard): number => averageLoss[hazard] * (1 + GROWTH_PER_C[hazard] * additionalWarmingC);
  const byHazard = { flood: scaled("flood"), wind: scaled("wind"), surge: scaled("surge") };
  return { byHazard, fraction: byHazard.flood + byHazard.wind + byHazard.surge };
}

/** Percentile ranks among the tier A countries in the same scenario and year. */
export interface PhysicalPercentiles {
  readonly acute: number;
  readonly chronic: number;
}

const DISTRIBUTIONS = new Map<string, { readonly acute: Float64Array; readonly chronic: Float64Array }>();

export function percentilesOf(
  of: { readonly acuteFraction: number; readonly damageFraction: number },
  at: { readonly temperaturePath: string; readonly year: number },
  rule: DamageRule,
): PhysicalPercentiles {
  const key = `${at.temperaturePath} ${at.year} ${rule.damageFunction} ${rule.allowsGains}`;
  let distribution = DISTRIBUTIONS.get(key);
  if (distribution === undefined) {
    const damages = TIER_A_COUNTRIES.map((country) => chronicDamage(country, at, rule));
    const losses = TIER_A_COUNTRIES.map((country, i) => acuteLoss(country, damages[i]?.warmingC ?? NaN).fraction);
    distribution = {
      acute: Float64Array.from(losses).toSorted(),
      chronic: Float64Array.from(damages, ({ damageFraction }) => damageFraction).toSorted(),
    };
    DISTRIBUTIONS.set(key, distribution);
  }
  return {
    acute: percentile(of.acuteFraction, distribution.acute),
    chronic: percentile(of.damageFraction, distribution.chronic),
  };
}

/** Percentage of smaller values plus half of the equal ones. */
function percentile(value: number, sorted: Float64Array): number {
  const smaller = countBelow(sorted, (other) => other < value);
  const smallerOrEqual = countBelow(sorted, (other) => other <= value);
  return (100 * (smaller + (smallerOrEqual - smaller) / 2)) / sorted.length;
}

/** Counts the leading values for which the predicate holds, by binary search. */
function countBelow(sorted: Float64Array, holds: (other: number) => boolean): number {
  let [min, max] = [0, sorted.length];
  while (min < max) {
    const middle = (min + max) >> 1;
    if (holds(sorted[middle] ?? NaN)) min = middle + 1;
    else max = middle;
  }
  return min;
}

/** Returns the hazards for which the source has no loss in the country. */
export function hazardsWithoutLoss({ averageLoss }: Country): readonly AcuteHazard[] {
  return ACUTE_HAZARDS.filter((hazard) => averageLoss[hazard] === 0);
}
