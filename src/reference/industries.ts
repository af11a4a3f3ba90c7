import { INDUSTRY_ROWS, type IndustryRow } from "./data/industries.generated.ts";
import type { Named } from "./names.ts";

/** An industry and its names, shared by all methods. */
export interface ListedIndustry extends Named {
  readonly id: string;
  /** Key of the source of the intensities in src/company/industryParameters.ts. */
  readonly factorSourceKey: string;
  /** t CO2e per million USD of 2022 revenue. */
  readonly intensity: {
    readonly scope1: number;
    readonly scope2: number;
    readonly scope3Upstream: number;
    readonly scope3Downstream: number;
  };
}

/**
 * All industries, in the order of the table.
 *
 * Intensities are derived from the US EPA Supply Chain Greenhouse Gas Emission Factors v1.3 and USEEIO v2.0.1 (US public
 * domain), at producer prices, and moved towards what companies report (Carbon Gap, CC BY 4.0); the columns
 * `factor_source` and `useeio_codes` give the source and the commodities of each row. Scope 3 downstream is our judgment, an order of
 * magnitude only.
 */
export const LISTED_INDUSTRIES: readonly ListedIndustry[] = INDUSTRY_ROWS.map(readIndustry);

/** Id of the average of the economy, for companies whose industry is not known. */
export const UNCLASSIFIED_INDUSTRY_ID = "miscellaneous";

function readIndustry(row: IndustryRow): ListedIndustry {
  const { id, name, alias } = row;
  const names = alias === "" ? [name] : [name, alias];
  return {
    id,
    name,
    names,
    factorSourceKey: row.factor_source,
    intensity: {
      scope1: row.s1_t_per_musd,
      scope2: row.s2_t_per_musd,
      scope3Upstream: row.s3up_t_per_musd,
      scope3Downstream: row.s3down_t_per_musd,
    },
  };
}
