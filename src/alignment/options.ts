/** Options of the temperature alignment and their validation. */
import { checkOptions, type ValueSchema } from "../validation/schemaErrors.ts";
import { ALIGNMENT_BASES, ALIGNMENT_INCLUDES, BUDGET_SCENARIOS } from "../contract/names.ts";
import type { AlignmentBasis, AlignmentInclude, BudgetScenario } from "../contract/wireTypes.ts";
import type { AlignmentRule } from "../kernel/alignment.ts";
import type { Benchmark } from "./benchmark.ts";

export interface AlignmentOptions {
  /**
   * Quantity that is compared with the pathways: emissions per revenue in the year (`intensity`, the default), emissions
   * in the year (`emissions`), or the sum of emissions from the baseline year to the year (`cumulative`).
   */
  readonly basis?: AlignmentBasis | undefined;
  /** Weight of scope 3, 0 to 1, default 1; 0 excludes it. */
  readonly scope3Weight?: number | undefined;
  /**
   * Fraction of the gap to the emissions intensity of the industry that closes by 2050, above 0 and at most 1; off by
   * default. An entity above its industry's intensity is then expected to cut more, and one below it may cut less.
   */
  readonly convergence?: number | undefined;
  /** Default: NGFS Phase 5. */
  readonly benchmark?: Benchmark | undefined;
}

/** Members that are added to the results. */
export interface AlignmentMembers {
  /**
   * `by_scope`: temperature of scopes 1 and 2 together, and of scope 3 alone. `budget`: emissions compared with those of a scenario.
   * `climate_range`: temperatures at the 10th and 90th percentile of the climate response. `overall`: one temperature for
   * all projection records.
   */
  readonly include?: readonly AlignmentInclude[] | undefined;
  /** Scenario of `budget`, default `net_zero_2050`. Naming one adds `budget`. */
  readonly budgetScenario?: BudgetScenario | undefined;
  /** Adds to each year the figures that its temperature was computed from, and all members of `include`. Default false. */
  readonly detail?: boolean | undefined;
}

export interface AlignTemperatureOptions extends AlignmentOptions, AlignmentMembers {}

const FRACTION: ValueSchema = { type: "number", minimum: 0, maximum: 1 };
/** Schemas of the options of `alignTemperature` and `alignColumns`. */
export const ALIGNMENT_OPTIONS = {
  basis: { enum: ALIGNMENT_BASES },
  scope3Weight: FRACTION,
  convergence: { type: "number", exclusiveMinimum: 0, maximum: 1 },
  benchmark: { type: "object" },
} as const satisfies Record<keyof AlignmentOptions, ValueSchema>;

const MEMBERS = {
  include: { type: "array", items: { enum: ALIGNMENT_INCLUDES }, uniqueItems: true },
  budgetScenario: { enum: BUDGET_SCENARIOS },
  detail: { type: "boolean" },
} as const satisfies Record<keyof AlignmentMembers, ValueSchema>;

const TEMPERATURE_SHAPE: ValueSchema = {
  type: "object",
  properties: { ...ALIGNMENT_OPTIONS, ...MEMBERS },
  additionalProperties: false,
};
/** @throws Fault `invalid_request` listing every invalid option of `alignTemperature` */
export function checkTemperatureOptions(options: AlignTemperatureOptions): void {
  checkOptions(options, TEMPERATURE_SHAPE, { code: "invalid_request" });
}

/** Returns the kernel's rule for valid options. */
export function ruleOf({ basis = "intensity", scope3Weight = 1, convergence = 0 }: AlignmentOptions): AlignmentRule {
  return { basis, scope3Weight, gamma: convergence };
}
