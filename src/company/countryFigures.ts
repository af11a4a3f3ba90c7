import { type ListedCountry, LISTED_COUNTRIES } from "../reference/countries.ts";
import { COUNTRY_TABLE } from "./countryFigureTable.ts";

/** Hazards of the GIRI capital losses. */
export const ACUTE_HAZARDS = ["flood", "wind", "surge"] as const;
export type AcuteHazard = (typeof ACUTE_HAZARDS)[number];

/** A country with the figures of the method. */
export interface Country extends ListedCountry {
  /** A: all figures come from data. B: some are estimates, listed in `fallbacks`. */
  readonly tier: "A" | "B";
  /** t CO2e per million USD of GDP, 2022. */
  readonly emissionsTCO2ePerMUSD: number;
  /** The same, relative to the US. */
  readonly carbonIntensityToUS: number;
  readonly priceLevelToUS: number;
  readonly gridGCO2PerKWh: number;
  readonly gridToUS: number;
  readonly gridSource: string | undefined;
  /** Ratio of local to global warming. */
  readonly warmingRatio: number;
  /** Population-weighted mean temperature around 1990. */
  readonly baselineTemperatureC: number;
  readonly baselineTemperatureSource: string | undefined;
  /** Present average annual loss as a fraction of capital. */
  readonly averageLoss: Readonly<Record<AcuteHazard, number>>;
  readonly fallbacks: readonly string[];
}

const FALLBACKS: Readonly<Record<string, string>> = {
  e: "ei_t_per_musd_nominal_2022: subregion median (emissions per GDP)",
  p: "price_level_rel_us: subregion median (price level)",
  g: "grid_gco2_kwh: subregion median (carbon intensity of electricity)",
  t: "t0_c: subregion median (baseline temperature)",
  w: "warming_ratio: subregion median (local over global warming)",
  f: "aal_flood: subregion median (loss to river floods)",
  c: "ci: PPP intensity / subregion median price level (carbon intensity of the economy)",
  r: "grid floored at 20 g/kWh (carbon intensity of electricity)",
};
const TEMPERATURE_SOURCES: Readonly<Record<string, string>> = {
  B: "Burke, Hsiang and Miguel 2015",
  N: "implied by the damage coefficients of NICE2020",
};

/** Columns after the code, by alpha-3 code. */
const FIGURES: ReadonlyMap<string, readonly string[]> = new Map(
  COUNTRY_TABLE.trim()
    .split("\n")
    .map((line) => line.split("|"))
    .map(([iso3 = "", ...figures]) => [iso3, figures]),
);

/** All countries with figures, ordered by English name. */
export const COUNTRIES: readonly Country[] = LISTED_COUNTRIES.flatMap((listed) => {
  const figures = FIGURES.get(listed.iso3);
  return figures === undefined ? [] : [readFigures(listed, figures)];
});
/** Listed countries without figures, i.e. without an economy. */
export const UNSUPPORTED_COUNTRIES = LISTED_COUNTRIES.filter(({ iso3 }) => !FIGURES.has(iso3));

/** Countries whose figures all come from data; percentile ranks refer to these. */
export const TIER_A_COUNTRIES: readonly Country[] = COUNTRIES.filter(({ tier }) => tier === "A");

function readFigures(listed: ListedCountry, figures: readonly string[]): Country {
  const [tier, emissions, carbonIntensity, priceLevel, grid, gridToUS, gridSource = "", ...rest] = figures;
  const [warmingRatio, temperatureC, temperatureSource = "", flood, wind, surge, fallbacks = ""] = rest;
  return {
    ...listed,
    tier: tier === "A" ? "A" : "B",
    emissionsTCO2ePerMUSD: Number(emissions),
    carbonIntensityToUS: Number(carbonIntensity),
    priceLevelToUS: Number(priceLevel),
    gridGCO2PerKWh: Number(grid),
    gridToUS: Number(gridToUS),
    gridSource: gridSource === "" ? undefined : `Ember by way of Our World in Data, ${gridSource.slice(1)}`,
    warmingRatio: Number(warmingRatio),
    baselineTemperatureC: Number(temperatureC),
    baselineTemperatureSource: TEMPERATURE_SOURCES[temperatureSource],
    averageLoss: { flood: Number(flood), wind: Number(wind), surge: Number(surge) },
    fallbacks: fallbacks.split("").map((letter) => FALLBACKS[letter] ?? ""),
  };
}
