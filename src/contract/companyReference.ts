import { type TSchema, Type } from "typebox";
import {
  type CODE_SYSTEMS,
  COUNTRY_TIERS,
  FACTOR_QUALITIES,
  PRICE_REGIONS,
  PRODUCT_CHANNELS,
  SCENARIO_FAMILIES,
  SCENARIO_VINTAGES,
  SCOPE1_SCALINGS,
} from "./names.ts";
import { numberOrNull, textOrNull } from "./schemaKinds.ts";

const number = (description: string) => Type.Number({ description });
const intensity = (scope: string) => number(`${scope}, t CO2e per million USD of 2022 revenue in the US.`);

/** Columns of the industry table that the method uses, under the names of the table. */
export const IndustryParametersSchema = Type.Object(
  {
    s1_t_per_musd: intensity("Scope 1"),
    s2_t_per_musd: intensity("Scope 2"),
    s3up_t_per_musd: intensity("Scope 3, upstream"),
    s3down_t_per_musd: intensity("Scope 3, downstream"),
    theta_s1: number("Exponent of scope 1 on the carbon intensity of the economy."),
    s1_scaling: Type.Enum(SCOPE1_SCALINGS, {
      description:
        "How scope 1 is scaled to the country: by the carbon intensity of its economy (`economy`), by its grid and price level " +
        "(`grid`), by its price level (`price_level`), or not at all (`none`).",
    }),
    s1_range: number("Factor from modeled scope 1 to the ends of its range."),
    s2_range: number("Factor from modeled scope 2 to the ends of its range."),
    s3_range: number("Factor from modeled scope 3 to the ends of its range, in both directions."),
    factor_quality: Type.Enum(FACTOR_QUALITIES, {
      description:
        "Origin of the emission factors: checked against companies that report (`reporters`), taken from the table of the US " +
        "EPA (`table`), derived from related industries (`analogy`), or estimated (`judgment`).",
    }),
    archetype: Type.String({ description: "Group of industries with the same parameters." }),
    va_share: number("Value added as a share of revenue."),
    ebitda_margin: number("Normal EBITDA as a share of revenue."),
    assets_to_revenue: number("Normal total assets divided by revenue."),
    debt_to_assets: number("Normal total debt divided by total assets."),
    pass_through: number("Share of costs that is passed on to prices in 2025."),
    pass_through_long: number("Share of costs that is passed on to prices from 2040."),
    abatement_backstop_usd_t: number(
      "Carbon price at which all abatement that renewed capital allows takes place, USD per t.",
    ),
    abatement_years: number("Years until all capital is renewed."),
    abatement_max_share: number("Largest share of scope 1 that can be abated."),
    demand_elasticity: number("Relative loss of sales volume per relative increase in price."),
    product_channel: Type.Enum(PRODUCT_CHANNELS, {
      description:
        "How a carbon price reaches buyers: through fuel at world prices (`fuel_world`), through fuel at the prices of the " +
        "country (`fuel`), through the use of durable goods (`durable`), or not at all (`none`).",
    }),
    tangible_share: number("Share of total assets that floods and storms can damage."),
    heat_sensitivity: number("Sensitivity to heat relative to the average industry."),
    asset_vol: number("Annual volatility of the value of the assets."),
  },
  { description: "Parameters of an industry." },
);

/** Columns of the country table that the method uses, under the names of the table. */
export const CountryParametersSchema = Type.Object(
  {
    ngfs_r5: Type.Enum(
      PRICE_REGIONS.filter((region) => region !== "World"),
      { description: "Region of the NGFS scenarios." },
    ),
    ei_t_per_musd_nominal_2022: number("Emissions per GDP, t CO2e per million USD, 2022."),
    ci_ratio_us: number("Carbon intensity of the economy relative to the US."),
    price_level_rel_us: number("Price level relative to the US."),
    grid_ratio_us: number("Carbon intensity of electricity relative to the US."),
    t0_c: number("Mean temperature around 1990, weighted by population, degrees C."),
    warming_ratio: number("Local warming divided by global warming."),
    aal_flood: numberOrNull({ description: "Average annual loss to river floods, as a fraction of capital." }),
    aal_wind: numberOrNull({ description: "Average annual loss to wind, as a fraction of capital." }),
    aal_surge: numberOrNull({ description: "Average annual loss to storm surge, as a fraction of capital." }),
  },
  { description: "Figures of a country." },
);

const codes = (system: string) => Type.Array(Type.String(), { description: `${system} codes.` });
const NAMED = {
  id: Type.String(),
  name: Type.String(),
  aliases: Type.Array(Type.String(), {
    description: "Other accepted names. Case, accents and punctuation are ignored.",
  }),
};

export const ReferenceIndustrySchema = Type.Object({
  ...NAMED,
  sector: Type.String(),
  ...({
    isic: codes("ISIC, revision 4"),
    nace: codes("NACE, revision 2"),
    naics: codes("NAICS, 2017"),
  } satisfies Record<(typeof CODE_SYSTEMS)[number], TSchema>),
  factor_source: Type.String({ description: "Source of the emission factors." }),
  parameters: IndustryParametersSchema,
});

export const ReferenceCountrySchema = Type.Object({
  ...NAMED,
  iso2: Type.String({ description: "ISO 3166-1 alpha-2 code; the id is the alpha-3 code." }),
  tier: Type.Enum(COUNTRY_TIERS, { description: "A: all figures come from data. B: some are substitutes." }),
  fallbacks: Type.Array(Type.String(), { description: "Descriptions of the figures that are substitutes." }),
  parameters: CountryParametersSchema,
});

export const ReferenceScenarioSchema = Type.Object({
  ...NAMED,
  family: Type.Enum(SCENARIO_FAMILIES),
  vintage: Type.Enum(SCENARIO_VINTAGES, { description: "NGFS: the phase. IPCC: the assessment report." }),
  narrative: Type.String(),
  category: Type.String({ description: "AR6 scenario category." }),
  ssp: textOrNull({ description: "The closest shared socioeconomic pathway." }),
  iams: Type.Array(Type.String(), {
    description:
      "Integrated assessment models that `iam` can select for the scenario; empty for scenarios of the IPCC.",
  }),
  world_price: Type.Boolean({ description: "Whether there is one global price instead of regional prices." }),
  price_substitute: textOrNull({
    description: "Prices used instead, if the scenario's own prices have not been published.",
  }),
});

const listOf = <Schema extends TSchema>(item: Schema) => Type.Object({ items: Type.Array(item) });

/** The response of GET /api/v1/reference/industries. */
export const ReferenceIndustriesSchema = listOf(ReferenceIndustrySchema);
/** The response of GET /api/v1/reference/countries. */
export const ReferenceCountriesSchema = listOf(ReferenceCountrySchema);
/** The response of GET /api/v1/reference/scenarios. */
export const ReferenceScenariosSchema = listOf(ReferenceScenarioSchema);
