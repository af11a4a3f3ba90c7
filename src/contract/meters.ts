/** Quantities in which usage is counted. */
export const METERS = ["hazard_values", "alignment_values", "company_results"] as const;

/** Fields by which usage can be grouped. */
export const USAGE_GROUPS = ["customer", "meter", "day", "month"] as const;
