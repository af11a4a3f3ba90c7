import type { CompanyEcho, CountryParameters } from "../contract/wireTypes.ts";
import { type ListedCountry, LISTED_COUNTRIES } from "../reference/countryNames.ts";
import { COUNTRY_FIGURE_ROWS, type CountryFigureRow } from "./data/countryFigures.generated.ts";

/** Hazards of the GIRI capital losses. */
export type AcuteHazard = "flood" | "wind" | "surge";

/** A country with the figures of the method. */
export interface Country extends ListedCountry {
  /** A: all figures come from data. B: some are substitutes, described in `fallbacks`. */
  readonly tier: CompanyEcho["country"]["tier"];
  /** t CO2e per million USD of GDP, 2022. */
  readonly emissionsTCO2ePerMUSD: number;
  /** The same, relative to the US. */
  readonly carbonIntensityRelativeToUS: number;
  readonly priceLevelRelativeToUS: number;
  readonly gridGCO2PerKWh: number;
  readonly gridIntensityRelativeToUS: number;
  readonly gridSource: string | undefined;
  /** Ratio of local to global warming. */
  readonly warmingRatio: number;
  /** Population-weighted mean temperature around 1990, degrees C. */
  readonly baselineTemperatureC: number;
  readonly baselineTemperatureSource: string | undefined;
  /** Present average annual loss as a fraction of capital; null if the source does not have the hazard. */
  readonly averageLoss: Readonly<Record<AcuteHazard, number | null>>;
  readonly fallbacks: readonly string[];
  /** The figures under the names of their columns, as in a response. */
  readonly parameters: CountryParameters;
}

const BY_MEDIAN = "estimated as the median of the subregion";
/** What the entries of the column `fallbacks` mean. */
const FALLBACK_MEANINGS: Readonly<Record<string, string>> = {
  "ei_t_per_musd_nominal_2022: subregion median": `emissions per GDP, ${BY_MEDIAN}`,
  "price_level_rel_us: subregion median": `price level, ${BY_MEDIAN}`,
  "grid_gco2_kwh: subregion median": `carbon intensity of electricity, ${BY_MEDIAN}`,
  "t0_c: subregion median": `baseline temperature, ${BY_MEDIAN}`,
  "warming_ratio: subregion median": `local warming per degree of global warming, ${BY_MEDIAN}`,
  "aal_flood: subregion median": `average annual loss to river floods, ${BY_MEDIAN}`,
  "ci: PPP intensity / subregion median price level":
    "carbon intensity of the economy, estimated as emissions per GDP at purchasing power parity, divided by the median " +
    "price level of the subregion",
  "grid floored at 20 g/kWh": "carbon intensity of electricity, raised to the minimum of 20 g CO2 per kWh",
};

/**
 * Figures by alpha-3 code. A country without a row (Antarctica) is not supported.
 *
 * Emissions: EDGAR 2024 (CC BY 4.0, European Union, JRC). GDP: World Bank (CC BY 4.0). Electricity: Ember (CC BY 4.0).
 * Losses: GIRI, CDRI 2023 (CC BY 3.0 IGO), storm surge net of the protection standards of FLOPROS (CC BY 3.0). Warming: 21 models of
 * CMIP6, weighted by population.
 */
const FIGURES: ReadonlyMap<string, CountryFigureRow> = new Map(COUNTRY_FIGURE_ROWS.map((row) => [row.iso3, row]));

/** All countries with figures, in the order of LISTED_COUNTRIES. */
export const COUNTRIES: readonly Country[] = LISTED_COUNTRIES.flatMap((listed) => {
  const figures = FIGURES.get(listed.iso3);
  return figures === undefined ? [] : [countryWithFigures(listed, figures)];
});
const COUNTRIES_BY_ISO3 = new Map(COUNTRIES.map((country) => [country.iso3, country]));

/** Returns the figures of a listed country; undefined for one without a row. */
export function countryByIso3(iso3: string): Country | undefined {
  return COUNTRIES_BY_ISO3.get(iso3);
}

/** Countries whose figures all come from data; percentile ranks refer to these. */
export const TIER_A_COUNTRIES: readonly Country[] = COUNTRIES.filter(({ tier }) => tier === "A");

function countryWithFigures(listed: ListedCountry, row: CountryFigureRow): Country {
  return {
    ...listed,
    tier: readTier(row),
    emissionsTCO2ePerMUSD: row.ei_t_per_musd_nominal_2022,
    carbonIntensityRelativeToUS: row.ci_ratio_us,
    priceLevelRelativeToUS: row.price_level_rel_us,
    gridGCO2PerKWh: row.grid_gco2_kwh,
    gridIntensityRelativeToUS: row.grid_ratio_us,
    gridSource: row.grid_year === undefined ? undefined : `${row.grid_source}, ${row.grid_year}`,
    warmingRatio: row.warming_ratio,
    baselineTemperatureC: row.t0_c,
    baselineTemperatureSource: row.t0_source === "" ? undefined : row.t0_source,
    averageLoss: { flood: row.aal_flood ?? null, wind: row.aal_wind ?? null, surge: row.aal_surge ?? null },
    fallbacks: row.fallbacks.map((fallback) => describeFallback(row.iso3, fallback)),
    parameters: {
      ngfs_r5: listed.region,
      ei_t_per_musd_nominal_2022: row.ei_t_per_musd_nominal_2022,
      ci_ratio_us: row.ci_ratio_us,
      price_level_rel_us: row.price_level_rel_us,
      grid_ratio_us: row.grid_ratio_us,
      t0_c: row.t0_c,
      warming_ratio: row.warming_ratio,
      aal_flood: row.aal_flood ?? null,
      aal_wind: row.aal_wind ?? null,
      aal_surge: row.aal_surge ?? null,
    },
  };
}

function readTier({ iso3, tier }: CountryFigureRow): Country["tier"] {
  if (tier === "A" || tier === "B") return tier;
  throw new Error(`The tier of ${iso3} is "${tier}"; expected A or B.`);
}

function describeFallback(iso3: string, fallback: string): string {
  const meaning = FALLBACK_MEANINGS[fallback];
  if (meaning === undefined) throw new Error(`The estimate "${fallback}" of ${iso3} has no explanation.`);
  return meaning;
}
