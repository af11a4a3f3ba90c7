/** Names in requests and results of the company model. */

/** Functions of output lost to warming; the first one is the default. */
export const DAMAGE_FUNCTIONS = ["kalkuhl_wenz", "howard_sterner", "dice2016", "ngfs5_kotz"] as const;

/** Models of the NGFS carbon prices; the first one is the default. */
export const PRICE_MODEL_IDS = ["remind", "messageix", "gcam"] as const;

/** Maximum number of transition scenarios in a request: all of GET /api/v1/reference/scenarios. */
export const TRANSITION_SCENARIO_COUNT_MAX = 21;

export const SCENARIO_FAMILIES = ["NGFS", "IPCC"] as const;
/** NGFS: the phase. IPCC: the assessment report. */
export const SCENARIO_VINTAGES = ["5", "AR6"] as const;

/** A: all figures of the country come from data. B: some are substitutes. */
export const COUNTRY_TIERS = ["A", "B"] as const;

/** Systems of industry codes. */
export const CODE_SYSTEMS = ["isic", "nace", "naics"] as const;

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
  "industry_code_guessed",
  "scope1_far_from_model",
  "revenue_small",
  "revenue_large",
  "ebitda_above_revenue",
  "ebitda_not_positive",
  "debt_above_assets",
  "total_liabilities_missing",
  "total_liabilities_unused",
  "no_underwriting",
  "iam_unused",
  "world_price",
  "substitute_price",
  "no_shock",
  "damages_retracted",
] as const;
