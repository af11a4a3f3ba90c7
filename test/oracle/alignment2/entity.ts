/** Scores a whole entity: rows, entity flags, suggestions, `overall` and `blended`. */
import { blendedOf, labelShares, overallOf } from "./blend.ts";
import type { BlendedYear, LabeledScore, Overall } from "./blend.ts";
import { suggestCountry, suggestIndustry } from "./didYouMean.ts";
import type { ScopeIndex } from "./figures.ts";
import { ENTITY_FLAGS } from "./flags.ts";
import type { EntityFlag } from "./flags.ts";
import { findCountry, isKnownClassification, matchIndustry, matchIndustryText } from "./names.ts";
import type { IndustryMatch } from "./names.ts";
import type { Reference } from "./reference.ts";
import { baselineOf, givenText, rowsOf } from "./request.ts";
import type { EntityOptions, EntityRequest } from "./request.ts";
import { restrictedTo, scoreRow } from "./row.ts";
import type { ScoredRow } from "./row.ts";

/** First baseline year that does not raise `early_baseline`. */
const BASELINE_YEAR_RECENT_MIN = 2018;

interface Suggestions {
  readonly country?: string;
  readonly industry?: string;
  readonly sector?: string;
}

export interface ScoredEntity {
  readonly rows: readonly (ScoredRow & { readonly year: number; readonly label: string | null })[];
  readonly overall: Overall | null;
  readonly blended: readonly BlendedYear[];
  readonly flags: readonly EntityFlag[];
  readonly didYouMean: Suggestions;
  readonly matched: IndustryMatch;
  /** ISO alpha-3 code of the country, or null. */
  readonly country: string | null;
}

export function scoreEntity(reference: Reference, request: EntityRequest, options: EntityOptions = {}): ScoredEntity {
  const { entity_info: info, projected_emissions: records } = request;
  const rows = rowsOf(reference, request, options).map((row, index) => ({
    ...scoreRow(reference, row),
    year: row.year,
    label: records[index]?.label ?? null,
  }));
  const shares = labelShares(records);
  const scores = rows.map((row) => ({ ...row, share: row.label === null ? 1 : (shares.get(row.label) ?? NaN) }));
  const country = givenText(info.country);
  return {
    rows,
    overall: overallOf(scores),
    blended: blendedOf(scores),
    flags: entityFlags(reference, request, options),
    didYouMean: suggestions(reference, request),
    matched: matchIndustry(reference, givenText(info.industry), givenText(info.sector)),
    country: country === null ? null : findCountry(reference, country),
  };
}

/** Scores of an entity with its usable scopes restricted to these, for overall and blended values of a part of the scopes. */
export function restrictedScores(
  reference: Reference,
  request: EntityRequest,
  options: EntityOptions,
  scopes: readonly ScopeIndex[],
): readonly LabeledScore[] {
  const shares = labelShares(request.projected_emissions);
  return rowsOf(reference, request, options).map((row, index) => {
    const label = request.projected_emissions[index]?.label ?? null;
    const share = label === null ? 1 : (shares.get(label) ?? NaN);
    return { ...restrictedTo(reference, row, scopes), year: row.year, label, share };
  });
}

/** Flags 0 to 5 of the closed list in flags.ts. */
function entityFlags(reference: Reference, request: EntityRequest, options: EntityOptions): readonly EntityFlag[] {
  const { entity_info: info } = request;
  const industry = givenText(info.industry);
  const country = givenText(info.country);
  const system = givenText(info.industry_classification_system);
  const { on } = matchIndustry(reference, industry, givenText(info.sector));
  const records = [baselineOf(request), ...request.projected_emissions];
  const isRaised: Record<EntityFlag, boolean> = {
    unknown_industry: on === "none",
    industry_from_sector: on === "sector" && industry !== null,
    unknown_country: country !== null && findCountry(reference, country) === null,
    unknown_classification: system !== null && !isKnownClassification(system),
    scope3_absent:
      (options.scope3Weight ?? 1) > 0 && records.every(({ emissions }) => (emissions.scope3 ?? null) === null),
    early_baseline: baselineOf(request).year < BASELINE_YEAR_RECENT_MIN,
  };
  return ENTITY_FLAGS.filter((flag) => isRaised[flag]);
}

/** `did_you_mean` of each text that was looked up and matched nothing; the sector is looked up after the industry. */
function suggestions(reference: Reference, { entity_info: info }: EntityRequest): Suggestions {
  const [country, industry, sector] = [givenText(info.country), givenText(info.industry), givenText(info.sector)];
  const isIndustryMatched = matchIndustryText(reference, industry) !== null;
  const isSectorMatched = isIndustryMatched || matchIndustryText(reference, sector) !== null;
  const isCountryFound = country === null || findCountry(reference, country) !== null;
  const found = {
    country: country === null || isCountryFound ? null : suggestCountry(reference, country),
    industry: industry === null || isIndustryMatched ? null : suggestIndustry(reference, industry),
    sector: sector === null || isSectorMatched ? null : suggestIndustry(reference, sector),
  };
  return Object.fromEntries(Object.entries(found).filter(([, name]) => name !== null));
}
