/** Limits shared by schemas and other modules. Has no imports, so that modules without schemas do not load TypeBox. */

/** Maximum radius of a hazard query. */
export const RADIUS_KM_MAX = 100;

/** Return periods that a curve query may request, in years. */
export const RETURN_PERIODS = { min: 1, countMax: 32 } as const;
/** Number of points of a damage curve. */
export const DAMAGE_POINTS = { countMin: 2, countMax: 64 } as const;

/** Baseline and projection years of the temperature alignment; must equal those in assembly/alignmentLayout.ts. */
export const ALIGNMENT_YEARS = { min: 1900, max: 2200 } as const;
/**
 * Maximum absolute value of emissions and revenue in the temperature alignment; must equal EMISSIONS_MAX in
 * assembly/alignmentLayout.ts.
 */
export const ALIGNMENT_AMOUNT_MAX = 1e15;
/** Maximum length of the label of a projection, in characters. */
export const LABEL_LENGTH_MAX = 64;
/**
 * Years covered by the US consumer price table of src/alignment/convergenceRevenue.ts, i.e. `price_year` values from which
 * revenue can be converted.
 */
export const PRICE_YEARS = { min: 2015, max: 2024 } as const;

/** Years for which a company's losses can be computed. */
export const ASSESSMENT_YEARS = { min: 2025, max: 2100 } as const;

/** Items per page of a list. */
export const PAGE_ITEMS = { max: 500, default: 50 } as const;

/** Maximum length of the ids and names that an account gives to its customers, in characters (code points). */
export const NAME_LENGTH_MAX = 200;

/** Maximum number of items in a Fault. */
export const FAULT_ITEM_COUNT_MAX = 100;
