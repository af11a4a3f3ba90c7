import { COUNTRIES, type Country } from "./countryFigures.ts";
import { type CodeSystem, INDUSTRIES } from "./industryParameters.ts";
import { isWorldPrice, SUBSTITUTE_PRICES, priceVariantsOf } from "./carbonPrices.ts";
import { type Scenario, SCENARIOS } from "./scenarios.ts";

/** Something that a request can name. */
interface ReferenceItem {
  readonly id: string;
  readonly name: string;
  /** What else it may be called. Case, accents and punctuation do not count. */
  readonly aliases: readonly string[];
}

export interface ReferenceIndustry extends ReferenceItem, Readonly<Record<CodeSystem, readonly string[]>> {
  readonly sector: string;
  /** Where its emission factors come from. */
  readonly factor_source: string;
}

export interface ReferenceCountry extends ReferenceItem {
  readonly iso2: string;
  /** A: all figures come from data. B: some are stand-ins. */
  readonly tier: Country["tier"];
  readonly fallbacks: readonly string[];
}

export interface ReferenceScenario extends ReferenceItem, Pick<Scenario, "family" | "vintage" | "narrative"> {
  /** The category of AR6 that it belongs to. */
  readonly category: string;
  readonly ssp: string | null;
  /** Models with prices of it, where they are those of a model. */
  readonly iams: readonly string[];
  /** One price for the whole world rather than one by region. */
  readonly world_price: boolean;
  /** What stands for prices that nobody has published. */
  readonly price_substitute: string | null;
}

/** The industries that the company model knows. */
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

/** The countries that the company model knows, by alpha-3 code. */
export function referenceCountries(): readonly ReferenceCountry[] {
  return COUNTRIES.map(({ iso3, iso2, name, names, tier, fallbacks }) => {
    const aliases = names.slice(1).filter((other) => other !== iso3 && other !== iso2);
    return { id: iso3, name, aliases, iso2, tier, fallbacks };
  });
}

/** The scenarios that the company model knows. */
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
