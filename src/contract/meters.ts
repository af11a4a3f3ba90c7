/** Meters: the quantities that usage is counted in. */
export const METERS = ["hazard_values", "alignment_values", "company_results"] as const;

/** Fields that usage can be grouped by. */
export const USAGE_GROUPS = ["customer", "meter", "day", "month"] as const;
