/**
 * Names in requests and results: of hazards, of the temperature alignment, of the company model, of portfolios, of usage.
 * Has no imports, so that modules without schemas do not load TypeBox.
 */

/** Scenarios of hazards, in ascending order of warming. */
export const SCENARIOS = ["baseline", "rcp2p6", "rcp4p5", "rcp6p0", "rcp8p5"] as const;

export const HAZARD_NAMES = ["cyclones", "wildfire", "coastal_floods", "riverine_floods"] as const;

export const METRIC_NAMES = [
  "intensity",
  "wind_speed_mps",
  "fire_danger_days",
  "depth_meters",
  "probability",
  "total_hazard",
] as const;

export const AGGREGATION_METHODS = ["max", "mean"] as const;

/** Reasons why a metric has no value. */
export const NO_DATA_REASONS = ["outside_coverage", "no_data", "layer_missing"] as const;

/** Id of the method, shown in every response because results of different versions are not comparable. */
export const ALIGNMENT_METHOD = "alignment/2";

/** Ids of the benchmarks that requests can select; the first one is the default. */
export const BENCHMARK_IDS = ["ngfs-phase5-message-r12/2"] as const;

/** Quantities compared with the pathways. */
export const ALIGNMENT_BASES = ["intensity", "emissions", "cumulative"] as const;

/** Pathways of the benchmark: the whole economy and its sectors. */
export const PATHWAYS = ["economy", "power", "energy_supply", "industry", "transport", "buildings"] as const;

/** Flags of an entity, which are the first bits of a flag column. */
const ENTITY_FLAGS = [
  "unknown_industry",
  "industry_from_sector",
  "unknown_country",
  "unknown_classification",
  "scope3_absent",
  "early_baseline",
] as const;

/** Flags of a projected year, which are the remaining bits of a flag column. */
const YEAR_FLAGS = [
  "scope_dropped",
  "no_usable_scope",
  "zero_baseline",
  "negative_scope",
  "implausible_change",
  "growth_default",
  "growth_region",
  "growth_limited",
  "growth_driven",
  "revenue_unusable",
  "short_horizon",
  "beyond_table",
  "duplicate_year",
  "anchors_close",
  "sensitive",
] as const;

/** Flags that qualify a temperature, in the order of the bits of a flag column. */
export const ALIGNMENT_FLAGS = [...ENTITY_FLAGS, ...YEAR_FLAGS] as const;

/** Number of flags that concern the entity as a whole. */
export const ENTITY_FLAG_COUNT = ENTITY_FLAGS.length;

/** Reasons for a temperature that is null. */
export const ALIGNMENT_REASONS = ["no_usable_scope", "zero_baseline"] as const;

/** Members that a request can add to the results. */
export const ALIGNMENT_INCLUDES = ["by_scope", "budget", "climate_range", "overall"] as const;

/** Scenarios that a budget can be computed against, in the order of the benchmark's anchors. */
export const BUDGET_SCENARIOS = ["net_zero_2050", "below_2c", "ndcs", "current_policies"] as const;

/** Where the growth of an entity's revenue comes from. */
export const GROWTH_SOURCES = ["supplied", "country", "region", "default"] as const;

export const ASSET_TYPES = ["equity"] as const;

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

/** Version of the method, a member of every response. */
export const PORTFOLIO_METHOD_ID = "portfolio/1";

/** Weightings of holdings, with the names of the CDP-WWF temperature rating method. */
export const PORTFOLIO_METHODS = ["WATS", "TETS", "MOTS", "EOTS", "ECOTS", "AOTS", "ROTS"] as const;

/** Scopes that a portfolio is aggregated over. */
export const PORTFOLIO_SCOPES = ["s1s2", "s3", "s1s2s3"] as const;

/**
 * Why a holding is uncovered, in the order in which the reasons are checked. With a default score, holdings of
 * `score_missing` count in the temperature and are still uncovered.
 */
export const UNCOVERED_REASONS = [
  "emissions_missing",
  "emissions_negative",
  "denominator_missing",
  "denominator_not_positive",
  "score_missing",
] as const;

/** Why a portfolio or a group has no temperature: the weights of its holdings that count add up to 0. */
export const NO_WEIGHT = "no_weight";

/** Why a holding has no attribution factor. */
export const UNATTRIBUTED_REASONS = ["denominator_missing", "denominator_not_positive"] as const;

/** Name of the group of holdings without an entry under a key of `group_by`. */
export const UNASSIGNED_GROUP = "unassigned";

/** Maximum number of lines of a portfolio. */
export const HOLDING_COUNT_MAX = 5000;
/** Maximum number of keys that a portfolio can be grouped by. */
export const GROUP_KEY_COUNT_MAX = 20;

/** Maximum absolute value of an amount of money, in any currency. */
export const MONEY_MAX = 1e18;
/** Smallest positive denominator of a weight, so that no weight overflows. */
export const DENOMINATOR_MIN = 1e-12;

/** Exclusive minimum, and maximum, of a score that the caller sends, degrees C. */
export const SCORE_RANGE_C = { above: 0, max: 20 } as const;

/** Defaults of `missing_low` and `missing_high`, which bounds use for a missing score, degrees C. */
export const MISSING_SCORE_C = { low: 1.3, high: 3.2 } as const;

/** Quantities in which usage is counted. */
export const METERS = ["hazard_values", "alignment_values", "company_results"] as const;

/** Fields by which usage can be grouped. */
export const USAGE_GROUPS = ["customer", "meter", "day", "month"] as const;
