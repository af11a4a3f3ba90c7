/** What a caller of the temperature alignment can choose, and how it is checked. */
import { checkOptions, type Shape } from "../explain.ts";
import type { AlignmentBasis, AlignmentRule } from "../kernel/alignment.ts";
import type { AlignedColumns } from "../kernel/alignmentColumns.ts";
import type { Benchmark } from "./benchmark.ts";

export const ALIGNMENT_BASES = ["intensity", "emissions", "cumulative"] as const satisfies readonly AlignmentBasis[];

export interface AlignmentOptions {
  /**
   * What is compared with the pathways: emissions per revenue in the year (`intensity`, the default), emissions in the
   * year (`emissions`), or all emissions from the baseline to the year (`cumulative`).
   */
  readonly basis?: AlignmentBasis | undefined;
  /** 0 to 1, default 1: how much of scope 3 counts; 0 leaves it out. */
  readonly scope3Weight?: number | undefined;
  /**
   * Off by default. On, an entity whose level lies above that of its industry is expected to cut more, and one below
   * may cut less: `gamma` (0 to 1, default 0.5) of the way by 2050. Revenue must then be in million USD of 2022.
   */
  readonly convergence?: { readonly gamma?: number | undefined } | undefined;
  /** Default: NGFS Phase V. */
  readonly benchmark?: Benchmark | undefined;
}

export interface AlignColumnsOptions extends AlignmentOptions {
  /**
   * Arrays for the results, one number a row, such as those of an earlier answer: new memory for millions of rows
   * costs about as much as computing them.
   */
  readonly into?: AlignedColumns | undefined;
}

export interface AlignTemperatureOptions extends AlignmentOptions {
  /** Adds to each year how its number came about. Default false. */
  readonly detail?: boolean | undefined;
}

const GAMMA_DEFAULT = 0.5;
const FRACTION: Shape = { type: "number", minimum: 0, maximum: 1 };
const COMMON = {
  basis: { enum: ALIGNMENT_BASES },
  scope3Weight: FRACTION,
  convergence: { type: "object", properties: { gamma: FRACTION }, additionalProperties: false },
  benchmark: { type: "object" },
} as const satisfies Record<keyof AlignmentOptions, Shape>;

const TEMPERATURE_SHAPE: Shape = {
  type: "object",
  properties: { ...COMMON, detail: { type: "boolean" } },
  additionalProperties: false,
};
const COLUMNS_SHAPE: Shape = {
  type: "object",
  properties: {
    ...COMMON,
    into: {
      type: "object",
      properties: { temperaturesC: { type: "object" }, flags: { type: "object" } },
      required: ["temperaturesC", "flags"],
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};

/** @throws Fault `invalid_request` with everything that is wrong with the options of `alignTemperature` */
export function readOptions(options: AlignTemperatureOptions): AlignmentRule {
  checkOptions(options, TEMPERATURE_SHAPE, { code: "invalid_request" });
  return ruleOf(options);
}

/** @throws Fault `invalid_request` with everything that is wrong with the options of `alignColumns` */
export function readColumnsOptions(options: AlignColumnsOptions): AlignmentRule {
  checkOptions(options, COLUMNS_SHAPE, { code: "invalid_request" });
  return ruleOf(options);
}

function ruleOf({ basis = "intensity", scope3Weight = 1, convergence }: AlignmentOptions): AlignmentRule {
  return { basis, scope3Weight, gamma: convergence === undefined ? 0 : (convergence.gamma ?? GAMMA_DEFAULT) };
}
