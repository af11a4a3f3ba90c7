import { CLASSIFICATION_SYSTEMS, type ClassificationSystem, readSystem } from "../reference/industryCodes.ts";
import { matchCountry, suggestCountryName } from "../reference/countryNames.ts";
import { matchPathway, type PathwayMatch, suggestIndustryName } from "../reference/pathwayNames.ts";
import { flagBit } from "./answer.ts";
import { type Benchmark, growthSeriesOf } from "./benchmark.ts";
import type { Entity, NameSuggestions } from "../contract/wireTypes.ts";

/** What the country, industry and sector names of an entity resolve to. */
export interface EntityClassification {
  readonly match: PathwayMatch;
  /** Index into the benchmark's `growth`; `NO_GROWTH_SERIES` without a known country. */
  readonly growthSeries: number;
  /** Bits of the flags that concern names. */
  readonly flags: number;
  /** The known name nearest to each text that matched nothing; undefined if there is none. */
  readonly didYouMean: NameSuggestions | undefined;
}

export function classifyEntity({ entity_info }: Entity, benchmark: Benchmark): EntityClassification {
  const country = givenText(entity_info.country);
  const industry = givenText(entity_info.industry);
  const sector = givenText(entity_info.sector);
  const system = givenText(entity_info.industry_classification_system)?.trim().toLowerCase();
  // The system does not affect the matching of names, only that of codes.
  const named = system === undefined ? undefined : readSystem(system);
  const match = pathwayOf(industry, sector, named?.kind === "found" ? named.system : undefined);
  const found = country === undefined ? undefined : matchCountry(country);
  const isUnknownCountry = found !== undefined && found.kind !== "found";
  return {
    match,
    growthSeries: growthSeriesOf(benchmark, found?.kind === "found" ? found.country : undefined),
    flags:
      match.flags.reduce((bits, flag) => bits | flagBit(flag), 0) |
      (isUnknownCountry ? UNKNOWN_COUNTRY : 0) |
      (system === undefined || CLASSIFICATION_SYSTEMS.some((known) => known === system) ? 0 : UNKNOWN_CLASSIFICATION),
    didYouMean: suggestionsFor({
      country: isUnknownCountry ? country : undefined,
      industry: match.matched?.on === "industry" ? undefined : industry,
      sector: match.matched === undefined ? sector : undefined,
    }),
  };
}

const UNKNOWN_COUNTRY = flagBit("unknown_country");
const UNKNOWN_CLASSIFICATION = flagBit("unknown_classification");

/** Returns undefined for a text that is absent or has only white space. */
function givenText(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === "" ? undefined : text;
}

function pathwayOf(
  industry: string | undefined,
  sector: string | undefined,
  codeSystem: ClassificationSystem | undefined,
): PathwayMatch {
  return matchPathway({
    ...(industry === undefined ? {} : { industry }),
    ...(sector === undefined ? {} : { sector }),
    ...(codeSystem === undefined ? {} : { codeSystem }),
  });
}

/** Returns the known name nearest to each text; undefined if none is near enough to any. */
function suggestionsFor(unmatched: {
  readonly [Member in keyof NameSuggestions]-?: string | undefined;
}): NameSuggestions | undefined {
  const country = unmatched.country === undefined ? undefined : suggestCountryName(unmatched.country);
  const industry = unmatched.industry === undefined ? undefined : suggestIndustryName(unmatched.industry);
  const sector = unmatched.sector === undefined ? undefined : suggestIndustryName(unmatched.sector);
  if (country === undefined && industry === undefined && sector === undefined) return undefined;
  return {
    ...(country === undefined ? {} : { country }),
    ...(industry === undefined ? {} : { industry }),
    ...(sector === undefined ? {} : { sector }),
  };
}
