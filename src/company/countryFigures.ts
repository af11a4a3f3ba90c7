import { indexCountries, type ListedCountry, LISTED_COUNTRIES, withoutTitles } from "../reference/countries.ts";
import { COUNTRY_TABLE } from "./countryFigureTable.ts";
import { nameKey, NameSuggestions } from "./nameSuggestions.ts";

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
const UNSUPPORTED_COUNTRIES = LISTED_COUNTRIES.filter(({ iso3 }) => !FIGURES.has(iso3));

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

/** No country that can be computed. */
export interface UnknownCountry {
  readonly nearest: readonly string[];
  /** The text names a place for which there are no figures. */
  readonly isUnsupported: boolean;
}

const BY_KEY = indexCountries(COUNTRIES, withoutTitles);
const UNSUPPORTED_BY_KEY = indexCountries(UNSUPPORTED_COUNTRIES, withoutTitles);
const SUGGESTIONS = new NameSuggestions(COUNTRIES);

/**
 * The country that a text names: ISO 3166 alpha-3 or alpha-2, name or other name; upper and lower case, accents and
 * punctuation do not count, nor do a leading "the" and "republic of" where only one country is left.
 */
export function findCountry(text: string): Country | UnknownCountry {
  const key = nameKey(text);
  const country = lookUpCountry(key);
  return country ?? { nearest: SUGGESTIONS.nearest(text), isUnsupported: UNSUPPORTED_BY_KEY.has(key) };
}

/** Of a name with its titles, which may be more than the table gives the country, and then with one after the other gone. */
function lookUpCountry(key: string): Country | undefined {
  for (const form of [key, ...withoutTitles(key)]) {
    const country = BY_KEY.get(form);
    // China is nobody's "republic of China": where two countries have the words in a longer name, neither is meant.
    if (country !== undefined || countCountriesNamed(form) > 1) return country;
  }
  return undefined;
}

/** How many countries have these words in a name. */
function countCountriesNamed(key: string): number {
  const known = [...BY_KEY].filter(([name]) => ` ${name} `.includes(` ${key} `));
  return new Set(known.map(([, country]) => country)).size;
}
