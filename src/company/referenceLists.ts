import type { ReferenceCountry, ReferenceIndustry, ReferenceScenario } from "../contract/wireTypes.ts";
import { COUNTRIES } from "./countryFigures.ts";
import { INDUSTRIES } from "./industryParameters.ts";
import { isWorldPrice, modelsWithPrices, SUBSTITUTE_PRICES } from "./carbonPrices.ts";
import { TRANSITION_SCENARIOS } from "./scenarios.ts";

/** Returns the industries that company requests accept, with the parameters of the method (docs/methods/company.md). */
export function referenceIndustries(): readonly ReferenceIndustry[] {
  return INDUSTRIES.map(({ id, name, names, sector, codes, factorSource, parameters }) => ({
    id,
    name,
    aliases: names.slice(1),
    sector,
    ...codes,
    factor_source: factorSource,
    parameters,
  }));
}

/** Returns the countries that company requests accept, with ISO 3166 alpha-3 codes as ids and the parameters of the method. */
export function referenceCountries(): readonly ReferenceCountry[] {
  return COUNTRIES.map(({ iso3, iso2, name, names, tier, fallbacks, parameters }) => {
    const aliases = [...new Set(names)].filter((other) => other !== name && other !== iso3 && other !== iso2);
    return { id: iso3, name, aliases, iso2, tier, fallbacks, parameters };
  });
}

/** Returns the transition scenarios that company requests accept. */
export function referenceScenarios(): readonly ReferenceScenario[] {
  return TRANSITION_SCENARIOS.map(({ id, family, vintage, narrative, category, ssp, pricePath }) => ({
    id,
    name: id.replaceAll("_", " "),
    aliases: [],
    family,
    vintage,
    narrative,
    category,
    ssp: ssp ?? null,
    iams: family === "NGFS" ? modelsWithPrices(pricePath, "R5OECD") : [],
    world_price: isWorldPrice(pricePath),
    price_substitute: SUBSTITUTE_PRICES.get(pricePath) ?? null,
  }));
}
