import { COUNTRY_ROWS, type CountryRow } from "./data/countries.generated.ts";
import type { Named } from "./names.ts";

const NGFS_REGIONS = ["R5OECD", "R5ASIA", "R5LAM", "R5MAF", "R5REF"] as const;
/** The five regions of the NGFS scenarios that a country can belong to. */
export type NgfsRegion = (typeof NGFS_REGIONS)[number];

/** A country and its names, shared by all methods. `names` includes its codes. */
export interface ListedCountry extends Named {
  readonly iso3: string;
  readonly iso2: string;
  readonly region: NgfsRegion;
}

/**
 * All countries with an ISO 3166-1 code, in the order of data/countries.csv.
 *
 * Codes and regions: ISO 3166-1; the R5 regions of the IAMC as used by the NGFS scenarios (Phase V). Names: Unicode CLDR,
 * UN M49, and the spellings of EDGAR 2024, the World Bank and Our World in Data.
 */
export const LISTED_COUNTRIES: readonly ListedCountry[] = COUNTRY_ROWS.map(readCountry);

function readCountry({ iso3, iso2, name, official_name, aliases, ngfs_r5 }: CountryRow): ListedCountry {
  const region = NGFS_REGIONS.find((known) => known === ngfs_r5);
  if (region === undefined) {
    throw new Error(`The NGFS region of ${iso3} is "${ngfs_r5}"; expected ${NGFS_REGIONS.join(", ")}.`);
  }
  const names = [name, iso3, iso2, official_name, ...aliases].filter((known) => known !== "");
  return { name, names, iso3, iso2, region };
}
