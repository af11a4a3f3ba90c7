/** Names in requests and results of the temperature alignment. */

/** Quantities compared with the pathways. */
export const ALIGNMENT_BASES = ["intensity", "emissions", "cumulative"] as const;

/** Sectors of the benchmark. */
export const PATHWAYS = ["economy", "power", "energy_supply", "industry", "transport", "buildings"] as const;

/** Flags that qualify a temperature, in the order of the bits of a flag column. */
export const ALIGNMENT_FLAGS = [
  "unknown_industry",
  "unknown_country",
  "unknown_classification",
  "scope_missing",
  "no_usable_scope",
  "zero_baseline",
  "negative_scope",
  "revenue_unusable",
  "beyond_table",
  "early_baseline",
  "duplicate_year",
  "check_units",
  "short_horizon",
  "anchors_close",
] as const;

/** Reasons for a temperature that is null. */
export const ALIGNMENT_REASONS = ["no_usable_scope", "zero_baseline"] as const;

export const ASSET_TYPES = ["equity"] as const;
