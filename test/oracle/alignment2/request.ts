/** Shape of an entity request, of the options and of the rows that an entity yields. */
import type { Convergence, Row } from "./row.ts";
import type { Basis } from "./row.ts";
import type { Scopes } from "./figures.ts";
import { findCountry, findIndustryRow, growthSeriesOf, matchIndustry } from "./names.ts";
import type { Industry, Reference } from "./reference.ts";

/** Price year of the industry factors. */
const FACTOR_PRICE_YEAR = 2022;

export interface EmissionsMember {
  readonly scope1?: number | null;
  readonly scope2?: number | null;
  readonly scope3?: number | null;
}

export interface ProjectionRecord {
  readonly year: number;
  readonly emissions: EmissionsMember;
  readonly financials?: { readonly revenue?: number | null };
  readonly label?: string;
  readonly probability?: number;
}

export interface EntityRequest {
  readonly entity_info: {
    readonly name: string;
    readonly asset_type: string;
    readonly country?: string | null;
    readonly industry?: string | null;
    readonly sector?: string | null;
    readonly industry_classification_system?: string | null;
  };
  readonly data: readonly {
    readonly year: number;
    readonly emissions: EmissionsMember;
    readonly financials?: {
      readonly revenue?: number | null;
      readonly ebitda?: number | null;
      readonly currency?: string;
      readonly price_year?: number;
    };
  }[];
  readonly projected_emissions: readonly ProjectionRecord[];
}

export interface EntityOptions {
  readonly basis?: Basis;
  /** Convergence rate γ. */
  readonly convergence?: number;
  /** Weight w3 of scope 3. */
  readonly scope3Weight?: number;
}

/** Returns null for an absent member and for a text of spaces. */
export function givenText(text: string | null | undefined): string | null {
  return text === undefined || text === null || text.trim() === "" ? null : text;
}

function scopesOf(emissions: EmissionsMember): Scopes {
  return [emissions.scope1 ?? null, emissions.scope2 ?? null, emissions.scope3 ?? null];
}

/** The only baseline record of the request. */
export function baselineOf(request: EntityRequest): EntityRequest["data"][number] {
  const [baseline] = request.data;
  if (baseline === undefined || request.data.length !== 1) throw new Error("an entity has one baseline record");
  return baseline;
}

/** Returns the row of each projection record in the order submitted. */
export function rowsOf(reference: Reference, request: EntityRequest, options: EntityOptions): readonly Row[] {
  const { entity_info: info, projected_emissions: records } = request;
  const baseline = baselineOf(request);
  const { pathway } = matchIndustry(reference, givenText(info.industry), givenText(info.sector));
  const country = givenText(info.country);
  const iso3 = country === null ? null : findCountry(reference, country);
  const convergence = convergenceOf(reference, request, options);
  return records.map((record) => ({
    basis: options.basis ?? "intensity",
    pathway,
    growthSeries: iso3 === null ? null : growthSeriesOf(reference, iso3),
    weights: [1, 1, options.scope3Weight ?? 1],
    baselineYear: baseline.year,
    baseline: scopesOf(baseline.emissions),
    year: record.year,
    projected: scopesOf(record.emissions),
    points: records
      .filter(({ label }) => label === record.label)
      .map(({ year, emissions }) => ({ year, emissions: scopesOf(emissions) })),
    revenue: baseline.financials?.revenue ?? null,
    projectedRevenue: record.financials?.revenue ?? null,
    convergence,
    isDuplicateYear: records.filter(({ year, label }) => year === record.year && label === record.label).length > 1,
  }));
}

/** Revenue R_m and the factors of the industry, for convergence; `unusable` where the entity does not state what it needs. */
function convergenceOf(
  reference: Reference,
  request: EntityRequest,
  options: EntityOptions,
): Convergence | "unusable" | null {
  if (options.convergence === undefined) return null;
  const { financials } = baselineOf(request);
  const industry = industryOf(reference, request);
  const priceThen = reference.consumerPrices.get(financials?.price_year ?? NaN);
  const priceNow = reference.consumerPrices.get(FACTOR_PRICE_YEAR);
  const revenue = financials?.revenue ?? null;
  if (financials?.currency !== "USD" || priceThen === undefined || priceNow === undefined) return "unusable";
  if (revenue === null || !(revenue > 0) || industry === null) return "unusable";
  return {
    gamma: options.convergence,
    revenueMUsd2022: (revenue / 1e6) * (priceNow / priceThen),
    industryFactors: industry.factors,
  };
}

/** Row of the industry table: by the industry text, or by the sector text where no industry is found. */
function industryOf(reference: Reference, { entity_info: info }: EntityRequest): Industry | null {
  return findIndustryRow(reference, givenText(info.industry)) ?? findIndustryRow(reference, givenText(info.sector));
}
