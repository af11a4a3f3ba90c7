/** Upper bounds of amounts of money, USD, and of reported emissions, t CO2e per year: the latter is more than the world emits. */
const MONEY_MAX = 1e15;
const EMISSIONS_MAX = 6e10;
/** Smaller revenue or assets would make some of the ratios exceed what a number can represent. */
const MONEY_MIN = 1e-6;

export interface AmountRule {
  readonly name: string;
  /** Object that the amount is a member of, if not the request itself. */
  readonly parent?: "assumptions";
  readonly min: number;
  readonly max: number;
  readonly isInteger?: true;
}

/** The amounts of a request: members that are numbers, or strings that contain one. */
export const AMOUNTS = {
  revenue: { name: "revenue", min: MONEY_MIN, max: MONEY_MAX },
  totalAssets: { name: "total_assets", min: MONEY_MIN, max: MONEY_MAX },
  ebitda: { name: "ebitda", min: -MONEY_MAX, max: MONEY_MAX },
  totalDebt: { name: "total_debt", min: 0, max: MONEY_MAX },
  scope1: { name: "scope1", min: 0, max: EMISSIONS_MAX },
  scope2: { name: "scope2", min: 0, max: EMISSIONS_MAX },
  scope3: { name: "scope3", min: 0, max: EMISSIONS_MAX },
  scope3Upstream: { name: "scope3_upstream", min: 0, max: EMISSIONS_MAX },
  scope3Downstream: { name: "scope3_downstream", min: 0, max: EMISSIONS_MAX },
  totalLiabilities: { name: "total_liabilities", min: 0, max: MONEY_MAX },
  pd: { name: "pd", min: 0, max: 1 },
  exposure: { name: "exposure", min: 0, max: MONEY_MAX },
  lgd: { name: "lgd", min: 0, max: 1 },
  discountRate: { name: "discount_rate", parent: "assumptions", min: 0, max: 0.3 },
  shockYear: { name: "shock_year", parent: "assumptions", min: 2025, max: 2100, isInteger: true },
  passThrough: { name: "pass_through", parent: "assumptions", min: 0, max: 1 },
} as const satisfies Record<string, AmountRule>;

const AMOUNT = /^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

/** Reads a number, or text with a number and nothing else but spaces around it; undefined for anything else. */
export function parseAmount(given: unknown): number | undefined {
  if (typeof given === "number") return given;
  if (typeof given !== "string") return undefined;
  const trimmed = given.trim();
  return AMOUNT.test(trimmed) ? Number(trimmed) : undefined;
}

/** Describes the accepted values, to follow "must be". */
export function expectedAmount({ min, max, isInteger }: AmountRule): string {
  const kind = isInteger === true ? "a whole number" : "a number";
  return `${kind}, or a string with one (no separators), between ${formatBound(min)} and ${formatBound(max)}`;
}

function formatBound(bound: number): string {
  return bound === MONEY_MIN ? bound.toFixed(6) : String(bound);
}
