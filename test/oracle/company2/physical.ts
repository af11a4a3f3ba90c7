/** Section 5: chronic and acute physical losses. */
import {
  GSAT_OF_T0,
  GSAT_REF,
  KW_A,
  KW_B,
  NGFS4_SCALE,
  NGFS5_SCALE,
  STICKY,
  S_FLOOD,
  S_SURGE,
  S_WIND,
} from "./constants.ts";
import type { DamageFunction } from "./request.ts";
import { interpolate, type Country, type Industry, type Scenario, type Tables } from "./tables.ts";

/** Global warming of the scenario's own path, degrees C above 1850 to 1900. */
export function gsat(tables: Tables, scenario: Scenario, year: number): number {
  const path = tables.temperatures.get(scenario.temperature_path);
  if (path === undefined) throw new Error(`no temperatures for ${scenario.temperature_path}`);
  return interpolate(path, year);
}

/** T = T0_c + w_c (GSAT - 0.55). */
export function localTemperature(country: Country, globalWarming: number): number {
  return country.t0_c + country.warming_ratio * (globalWarming - GSAT_OF_T0);
}

/** KW = max(0, -[a (T_t - T_2020) + b/2 (T_t^2 - T_2020^2)]). */
function kalkuhlWenz(temperature: number, temperature2020: number): number {
  const linear = KW_A * (temperature - temperature2020);
  const quadratic = (KW_B / 2) * (temperature * temperature - temperature2020 * temperature2020);
  return Math.max(0, -(linear + quadratic));
}

/** D: share of output lost. */
export function chronicDamage(
  damageFunction: DamageFunction,
  country: Country,
  gsatOfYear: number,
  gsat2020: number,
): number {
  const kw = kalkuhlWenz(localTemperature(country, gsatOfYear), localTemperature(country, gsat2020));
  const squares = gsatOfYear * gsatOfYear - gsat2020 * gsat2020;
  return {
    ngfs4: NGFS4_SCALE * kw,
    kalkuhl_wenz: kw,
    ngfs5_kotz: NGFS5_SCALE * kw,
    howard_sterner: Math.max(0, (0.0074 + 0.00113) * squares),
    dice2016: Math.max(0, 0.00236 * squares),
  }[damageFunction];
}

/** L_C = D eta (B + 0.25 max(0, va_share revenue - B)). */
export function chronicLoss(damage: number, industry: Industry, B: number, revenue: number): number {
  return damage * industry.heat_sensitivity * (B + STICKY * Math.max(0, industry.va_share * revenue - B));
}

export interface AcuteHazards {
  readonly flood: number | null;
  readonly wind: number | null;
  readonly surge: number | null;
}

/** AAL_h m_h, with m_h = 1 + s_h max(0, GSAT - 1.23); null where the hazard is missing. */
export function acuteByHazard(country: Country, gsatOfYear: number): AcuteHazards {
  const scaled = (aal: number | null, s: number): number | null =>
    aal === null ? null : aal * (1 + s * Math.max(0, gsatOfYear - GSAT_REF));
  return {
    flood: scaled(country.aal_flood, S_FLOOD),
    wind: scaled(country.aal_wind, S_WIND),
    surge: scaled(country.aal_surge, S_SURGE),
  };
}

/** AAL: sum over the hazards; a missing one counts 0. */
export function averageAnnualLoss(hazards: AcuteHazards): number {
  return (hazards.flood ?? 0) + (hazards.wind ?? 0) + (hazards.surge ?? 0);
}

/** L_A = total_assets tangible_share AAL. */
export function assetLoss(aal: number, industry: Industry, totalAssets: number): number {
  return totalAssets * industry.tangible_share * aal;
}

/** L_B = B AAL. */
export function interruptionLoss(aal: number, B: number): number {
  return B * aal;
}

/** Section 6: 100 (smaller + half of the equal ones) / 180, among the countries of tier A. */
function percentile(own: number, ofTierA: readonly number[]): number {
  const smaller = ofTierA.filter((other) => other < own).length;
  const equal = ofTierA.filter((other) => other === own).length;
  return (100 * (smaller + equal / 2)) / ofTierA.length;
}

/** Percentiles of AAL and of D among the countries of tier A, in the same scenario and year. */
export function percentiles(
  tables: Tables,
  scenario: Scenario,
  damageFunction: DamageFunction,
  country: Country,
  year: number,
): { readonly acute: number; readonly chronic: number } {
  const warming = gsat(tables, scenario, year);
  const warming2020 = gsat(tables, scenario, 2020);
  const acute = (of: Country): number => averageAnnualLoss(acuteByHazard(of, warming));
  const chronic = (of: Country): number => chronicDamage(damageFunction, of, warming, warming2020);
  const tierA = tables.countries.filter(({ tier }) => tier === "A");
  return {
    acute: percentile(acute(country), tierA.map(acute)),
    chronic: percentile(chronic(country), tierA.map(chronic)),
  };
}
