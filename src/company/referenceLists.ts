import { COUNTRIES, type Country } from "./countryFigures.ts";
import { type CodeSystem, INDUSTRIES } from "./industryParameters.ts";
import { isWorldPrice, SUBSTITUTE_PRICES, priceVariantsOf } from "./carbonPrices.ts";
import { type Scenario, SCENARIOS } from "./scenarios.ts";

/** An item that a request can name. */
interface ReferenceItem {
  readonly id: string;
  readonly name: string;
  /** Other accepted names. Case, accents and punctuation are ignored. */
  readonly aliases: readonly string[];
}

export interface ReferenceIndustry extends ReferenceItem, Readonly<Record<CodeSystem, readonly string[]>> {
  readonly sector: string;
  /** Source of its emission factors. */
  readonly factor_source: string;
}

export interface ReferenceCountry extends ReferenceItem {
  readonly iso2: string;
  /** A: all figures come from data. B: some are estimates. */
  readonly tier: Country["tier"];
  readonly fallbacks: readonly string[];
}

export interface ReferenceScenario extends ReferenceItem, Pick<Scenario, "family" | "vintage" | "narrative"> {
  /** AR6 category of the scenario. */
  readonly category: string;
  readonly ssp: string | null;
  /** Models with prices for the scenario; empty if its prices are those of an ensemble. */
  readonly iams: readonly string[];
  /** Whether there is a single price worldwide instead of one per region. */
  readonly world_price: boolean;
  /** What is used instead of unpublished prices. */
  readonly price_substitute: string | null;
}

/** Returns the industries of the company method. */
export function referenceIndustries(): readonly ReferenceIndustry[] {
  return INDUSTRIES.map(({ id, name, names, sector, codes, factorSource }) => ({
    id,
    name,
    aliases: names.slice(1),
    sector,
    ...codes,
    factor_source: factorSource,
  }));
}

/** Returns the countries of the company method, with alpha-3 codes as ids. */
export function referenceCountries(): readonly ReferenceCountry[] {
  return COUNTRIES.map(({ iso3, iso2, name, names, tier, fallbacks }) => {
    const aliases = names.slice(1).filter((other) => other !== iso3 && other !== iso2);
    return { id: iso3, name, aliases, iso2, tier, fallbacks };
  });
}

/** Returns the scenarios of the company method. */
export function referenceScenarios(): readonly ReferenceScenario[] {
  return SCENARIOS.map(({ id, family, vintage, narrative, category, ssp, pricePath }) => ({
    id,
    name: id.replaceAll("_", " "),
    aliases: [],
    family,
    vintage,
    narrative,
    category,
    ssp: ssp ?? null,
    iams: family === "NGFS" ? priceVariantsOf(pricePath, "R5OECD") : [],
    world_price: isWorldPrice(pricePath),
    price_substitute: SUBSTITUTE_PRICES[pricePath] ?? null,
  }));
}
