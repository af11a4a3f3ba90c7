/** Names in requests and results of the company model. */

/** Damage functions, which give the loss of output as a function of warming; the first one is the default. */
export const DAMAGE_FUNCTIONS = ["ngfs4", "kalkuhl_wenz", "howard_sterner", "dice2016", "ngfs5_kotz"] as const;

/** Models of the NGFS carbon prices; the first one is the default. */
export const PRICE_MODEL_IDS = ["remind", "messageix", "gcam"] as const;
/** Origins of a carbon price: a model of the NGFS, or the ensemble of scenarios of the IPCC. */
export const PRICE_ORIGINS = [...PRICE_MODEL_IDS, "ar6"] as const;
/** Regions of carbon prices. */
export const PRICE_REGIONS = ["World", "R5OECD", "R5ASIA", "R5LAM", "R5MAF", "R5REF"] as const;

export const SCENARIO_FAMILIES = ["NGFS", "IPCC"] as const;
/** NGFS: the phase. IPCC: the assessment report. */
export const SCENARIO_VINTAGES = ["5", "AR6"] as const;

/** A: all figures of the country come from data. B: some are substitutes. */
export const COUNTRY_TIERS = ["A", "B"] as const;

/** Systems of industry codes. */
export const CODE_SYSTEMS = ["isic", "nace", "naics"] as const;

/** How scope 1 of an industry is scaled from the US to another country. */
export const SCOPE1_SCALINGS = ["economy", "grid", "price_level", "none"] as const;
/** How a carbon price reaches the buyers of what an industry sells. */
export const PRODUCT_CHANNELS = ["fuel_world", "fuel", "durable", "none"] as const;
/** Origin of the emission factors of an industry. */
export const FACTOR_QUALITIES = ["reporters", "table", "analogy", "judgment"] as const;
/** Origin of an emissions figure; `split` is a part of a reported total of scope 3. */
export const EMISSION_METHODS = ["modelled", "reported", "split"] as const;
/** EBITDA as sent, or half of the normal margin of the industry. */
export const EBITDA_MEASURES = ["ebitda", "normal_ebitda"] as const;
/** Members of a request that are estimated if they are absent. */
export const ESTIMATED_MEMBERS = ["total_assets", "ebitda", "total_debt"] as const;

export const RATINGS = ["A", "B", "C", "D", "E"] as const;

/**
 * Quality marks, best first: published and checked against the document (P), published and quoted from memory (M),
 * derived from listed data (D), our judgment (J); and figures that the caller reported.
 */
export const QUALITY_MARKS = ["P", "M", "D", "J", "reported"] as const;

/** Codes of warnings about a figure. */
export const REMARK_CODES = [
  "country_fallback",
  "river_flood_not_shown",
  "carbon_intensity_held",
  "scope1_far_from_model",
  "scope2_far_from_model",
  "scope3_far_from_model",
  "emissions_implausible",
  "scope3_split",
  "total_assets_estimated",
  "ebitda_estimated",
  "total_debt_estimated",
  "ebitda_below_normal",
  "ebitda_above_revenue",
  "debt_above_assets",
  "revenue_small",
  "revenue_large",
  "total_liabilities_missing",
  "total_liabilities_unused",
  "no_underwriting",
  "iam_unused",
  "world_price",
  "substitute_price",
  "price_inversion",
  "no_shock",
  "damages_retracted",
] as const;
