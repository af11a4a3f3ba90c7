/** Names in requests and results of the temperature alignment. */

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
