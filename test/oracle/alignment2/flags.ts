/** Flags: the closed list in mask order and the test of `implausible_change`. */

export const ENTITY_FLAGS = [
  "unknown_industry",
  "industry_from_sector",
  "unknown_country",
  "unknown_classification",
  "scope3_absent",
  "early_baseline",
] as const;
export const YEAR_FLAGS = [
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
export type EntityFlag = (typeof ENTITY_FLAGS)[number];
export type YearFlag = (typeof YEAR_FLAGS)[number];

/** A figure must move by more than this to raise `growth_driven` or `sensitive`, °C. */
export const NOTABLE_DIFFERENCE_C = 0.3;

/** Flags that a row without a usable scope or with a baseline of zero never raises: bits 10 to 15, 19 and 20. */
const FLAGS_OF_A_SCORE: ReadonlySet<YearFlag> = new Set([
  "implausible_change",
  "growth_default",
  "growth_region",
  "growth_limited",
  "growth_driven",
  "revenue_unusable",
  "anchors_close",
  "sensitive",
] as const);

/** Returns the raised flags of a year in list order. */
export function raisedFlags(
  conditions: Readonly<Partial<Record<YearFlag, boolean>>>,
  hasScore: boolean,
): readonly YearFlag[] {
  return YEAR_FLAGS.filter((flag) => conditions[flag] === true && (hasScore || !FLAGS_OF_A_SCORE.has(flag)));
}

/** Returns the u32 mask: bits 0 to 5 flags of the entity, 6 to 20 flags of the year. */
export function flagMask(flags: readonly (EntityFlag | YearFlag)[]): number {
  const all: readonly string[] = [...ENTITY_FLAGS, ...YEAR_FLAGS];
  return flags.reduce((mask, flag) => mask + 2 ** all.indexOf(flag), 0);
}

/** Test of `implausible_change`: true where both values are positive and their ratio is out of bounds. */
export function isImplausibleChange(before: number, after: number, years: number): boolean {
  if (!(before > 0 && after > 0)) return false;
  const exponent = Math.max(years, 3);
  const ratio = after / before;
  return !(ratio >= Math.max(0.002, 0.7 ** exponent) && ratio <= Math.min(10, 1.25 ** exponent));
}
