/** Names and ranges in requests and results of portfolios. Has no imports, so that it does not load TypeBox. */

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
