import { COUNTRY_TABLE } from "./countryTable.ts";
import { foldName, type Named, Suggestions } from "./names.ts";

export const NGFS_REGIONS = ["R5OECD", "R5ASIA", "R5LAM", "R5MAF", "R5REF"] as const;
/** The five regions of the NGFS scenarios that a country can belong to. */
export type NgfsRegion = (typeof NGFS_REGIONS)[number];

/** What can befall capital, as the losses of GIRI divide it. */
export const ACUTE_HAZARDS = ["flood", "wind", "surge"] as const;
export type AcuteHazard = (typeof ACUTE_HAZARDS)[number];

/** A country and all that the method knows of it. */
export interface Country extends Named {
  readonly iso3: string;
  readonly iso2: string;
  /** A: all figures from data. B: some are stand-ins, `fallbacks` says which. */
  readonly tier: "A" | "B";
  readonly region: NgfsRegion;
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

const LINES = COUNTRY_TABLE.trim()
  .split("\n")
  .map((line) => line.split("|"));
const isComputed = ([, , tier]: readonly string[]): boolean => tier !== "C";

/** All that can be computed, in the order of their English names. */
export const COUNTRIES: readonly Country[] = LINES.filter(isComputed).map(readCountry);
/** The names of what is on the list of countries and has no economy that a company could stand in. */
const NOT_COMPUTED: readonly Named[] = LINES.filter((line) => !isComputed(line)).map(readNames);

/** The countries that others are ranked among: all of their figures come from data. */
export const TIER_A_COUNTRIES: readonly Country[] = COUNTRIES.filter(({ tier }) => tier === "A");

function readNames([iso3 = "", iso2 = "", , , name = "", others = ""]: readonly string[]): Named {
  return { name, names: [name, iso3, iso2, ...others.split(";").filter((other) => other !== "")] };
}

function readCountry(cells: readonly string[]): Country {
  const [iso3 = "", iso2 = "", tier, region, , , emissions, carbonIntensity, priceLevel, grid, gridToUS, ...rest] =
    cells;
  const [gridSource = "", warmingRatio, temperatureC, temperatureSource = "", flood, wind, surge, fallbacks = ""] =
    rest;
  const ngfsRegion = NGFS_REGIONS.find((known) => known === `R5${region}`);
  if (ngfsRegion === undefined) throw new Error(`${iso3} lies in no region.`);
  return {
    ...readNames(cells),
    iso3,
    iso2,
    tier: tier === "A" ? "A" : "B",
    region: ngfsRegion,
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
export interface CountryMiss {
  readonly nearest: readonly string[];
  /** The text names a place for which there are no figures. */
  readonly isWithoutFigures: boolean;
}

const TITLES = ["the ", "republic of ", "the "];

const BY_KEY = indexOf(COUNTRIES);
const KEYS_NOT_COMPUTED = indexOf(NOT_COMPUTED);
const SUGGESTIONS = new Suggestions(COUNTRIES);

/**
 * The country that a text names: ISO 3166 alpha-3 or alpha-2, name or other name; upper and lower case, accents and
 * punctuation do not count, nor do a leading "the" and "republic of" where only one country is left.
 */
export function findCountry(text: string): Country | CountryMiss {
  const key = foldName(text);
  const country = BY_KEY.get(key) ?? withoutTitle(key);
  return country ?? { nearest: SUGGESTIONS.nearest(text), isWithoutFigures: KEYS_NOT_COMPUTED.has(key) };
}

/** Every key, and those without their title that no other country has. */
function indexOf<Item extends Named>(items: readonly Item[]): ReadonlyMap<string, Item> {
  const index = new Map<string, Item>();
  for (const item of items) for (const name of item.names) index.set(foldName(name), item);
  const shortened = new Map<string, Set<Item>>();
  for (const [key, item] of index) {
    for (const short of shortForms(key)) shortened.set(short, (shortened.get(short) ?? new Set()).add(item));
  }
  for (const [short, [item, ...others]] of shortened) {
    if (item !== undefined && others.length === 0 && !index.has(short)) index.set(short, item);
  }
  return index;
}

/** The text may have a title that the table does not give the country. */
function withoutTitle(key: string): Country | undefined {
  const forms = shortForms(key);
  if (forms.length === 0) return undefined;
  // China is nobody's "republic of China": where two countries have the words in a longer name, neither is meant.
  const bearers = new Set(
    [...BY_KEY].filter(([known]) => ` ${known} `.includes(` ${key} `)).map(([, country]) => country),
  );
  if (bearers.size > 1) return undefined;
  return forms.map((short) => BY_KEY.get(short)).find((country) => country !== undefined);
}

/** What is left of a key when its titles go, one after the other. */
function shortForms(key: string): readonly string[] {
  const forms: string[] = [];
  let rest = key;
  for (const title of TITLES) {
    if (!rest.startsWith(title)) continue;
    rest = rest.slice(title.length);
    forms.push(rest);
  }
  return forms;
}
