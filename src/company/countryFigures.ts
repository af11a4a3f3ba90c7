import { type ListedCountry, LISTED_COUNTRIES } from "../reference/countries.ts";
import { COUNTRY_TABLE } from "./countryFigureTable.ts";

/** What can befall capital, as the losses of GIRI divide it. */
export const ACUTE_HAZARDS = ["flood", "wind", "surge"] as const;
export type AcuteHazard = (typeof ACUTE_HAZARDS)[number];

/** A country and all that the method knows of it. */
export interface Country extends ListedCountry {
  /** A: all figures from data. B: some are stand-ins, `fallbacks` says which. */
  readonly tier: "A" | "B";
  /** t CO2e per million USD of GDP, 2022. */
  readonly emissionsTCO2ePerMUSD: number;
  /** The same, relative to the US. */
  readonly carbonIntensityToUS: number;
  readonly priceLevelToUS: number;
  readonly gridGCO2PerKWh: number;
  readonly gridToUS: number;
  readonly gridSource: string | undefined;
  /** Local over global warming. */
  readonly warmingRatio: number;
  /** About 1990, weighted by population. */
  readonly baselineTemperatureC: number;
  readonly baselineTemperatureSource: string | undefined;
  /** Average yearly loss as a fraction of capital, today. */
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

/** The columns after the code, by alpha-3 code. */
const FIGURES: ReadonlyMap<string, readonly string[]> = new Map(
  COUNTRY_TABLE.trim()
    .split("\n")
    .map((line) => line.split("|"))
    .map(([iso3 = "", ...figures]) => [iso3, figures]),
);

/** All that can be computed, in the order of their English names. */
export const COUNTRIES: readonly Country[] = LISTED_COUNTRIES.flatMap((listed) => {
  const figures = FIGURES.get(listed.iso3);
  return figures === undefined ? [] : [readFigures(listed, figures)];
});
/** What is on the list of countries and has no economy that a company could stand in. */
export const UNSUPPORTED_COUNTRIES = LISTED_COUNTRIES.filter(({ iso3 }) => !FIGURES.has(iso3));

/** The countries that others are ranked among: all of their figures come from data. */
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
