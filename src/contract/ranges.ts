/**
 * Ranges and counts that schemas state and that other modules also need. The file has no imports, so that modules that need no schema do not
 * load TypeBox.
 */

/** Maximum radius of a hazard query. */
export const RADIUS_KM_MAX = 100;

/** Years of baselines and projections of the temperature alignment, as in assembly/alignment.ts. */
export const ALIGNMENT_YEARS = { min: 1900, max: 2200 } as const;
/** Maximum absolute value of emissions and revenue of the temperature alignment, as in assembly/alignment.ts. */
export const ALIGNMENT_AMOUNT_MAX = 1e15;
/** Maximum length of the label of a projection, in characters. */
export const LABEL_LENGTH_MAX = 64;
/** Years that revenue can be converted from, i.e. those of the consumer price index of the benchmark. */
export const PRICE_YEARS = { min: 2015, max: 2024 } as const;

/** Years that losses of a company are computed for. */
export const ASSESSMENT_YEARS = { min: 2025, max: 2100 } as const;

/** Items per page of a list. */
export const PAGE_ITEMS = { max: 500, default: 50 } as const;

/** Maximum length of ids and names that users choose, in characters. */
export const NAME_LENGTH_MAX = 200;

/** Maximum number of errors in the list of a Fault. */
export const FAULT_ITEM_COUNT_MAX = 100;
