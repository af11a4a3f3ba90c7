/** Options of the temperature alignment and their validation. */
import { checkOptions, type ValueSchema } from "../schemaErrors.ts";
import { ALIGNMENT_BASES } from "../contract/alignmentNames.ts";
import type { AlignmentBasis } from "../contract/wireTypes.ts";
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
   * Convergence to the intensity of the industry; off by default. An entity above its industry's intensity is expected
   * to cut more, one below it may cut less, closing the fraction `gamma` (0 to 1, default 0.5) of the gap by 2050.
   * Revenue must then be in million USD of 2022.
   */
  readonly convergence?: { readonly gamma?: number | undefined } | undefined;
  /** Default: NGFS Phase V. */
  readonly benchmark?: Benchmark | undefined;
}

export interface AlignTemperatureOptions extends AlignmentOptions {
  /** Adds to each year the figures that its temperature was computed from. Default false. */
  readonly detail?: boolean | undefined;
}

const GAMMA_DEFAULT = 0.5;
const FRACTION: ValueSchema = { type: "number", minimum: 0, maximum: 1 };
const COMMON = {
  basis: { enum: ALIGNMENT_BASES },
  scope3Weight: FRACTION,
  convergence: { type: "object", properties: { gamma: FRACTION }, additionalProperties: false },
  benchmark: { type: "object" },
} as const satisfies Record<keyof AlignmentOptions, ValueSchema>;

const TEMPERATURE_SHAPE: ValueSchema = {
  type: "object",
  properties: { ...COMMON, detail: { type: "boolean" } },
  additionalProperties: false,
};
/** @throws Fault `invalid_request` listing every invalid option of `alignTemperature` */
export function readOptions(options: AlignTemperatureOptions): AlignmentRule {
  checkOptions(options, TEMPERATURE_SHAPE, { code: "invalid_request" });
  return ruleOf(options);
}

function ruleOf({ basis = "intensity", scope3Weight = 1, convergence }: AlignmentOptions): AlignmentRule {
  return { basis, scope3Weight, gamma: convergence === undefined ? 0 : (convergence.gamma ?? GAMMA_DEFAULT) };
}
