/** Options of `alignColumns` and their validation. */
import { checkOptions, type ValueSchema } from "../schemaErrors.ts";
import { ALIGNMENT_BASES } from "../contract/alignmentNames.ts";
import type { AlignmentBasis } from "../contract/wireTypes.ts";
import type { AlignmentRule } from "../kernel/alignment.ts";
import { type AlignedColumns, type AlignmentInclude, RESULT_COLUMNS } from "../kernel/alignmentColumns.ts";
import { ANCHOR_COUNT } from "../kernel/alignmentTables.ts";
import type { Benchmark } from "./benchmark.ts";

export interface AlignColumnsOptions {
  /**
   * Quantity that is compared with the pathways: emissions per revenue in the year (`intensity`, the default), emissions
   * in the year (`emissions`), or the sum of emissions from the baseline year to the year (`cumulative`).
   */
  readonly basis?: AlignmentBasis | undefined;
  /** Weight of scope 3, 0 to 1, default 1; 0 excludes it. */
  readonly scope3Weight?: number | undefined;
  /**
   * Convergence to the intensity of the industry; off by default. Needs the columns `convergenceRevenues` and
   * `references`. `gamma`, 0 to 1, default 0.5, is the fraction of the gap that is closed by 2050.
   */
  readonly convergence?: { readonly gamma?: number | undefined } | undefined;
  /** Default: NGFS Phase V. */
  readonly benchmark?: Benchmark | undefined;
  /** Further results; what is not asked for is not computed. */
  readonly include?: AlignmentInclude | undefined;
  /**
   * Arrays for the results, one element per row, such as those of a previous answer: allocating memory for millions of
   * rows takes about as long as computing them.
   */
  readonly into?: AlignedColumns | undefined;
}

const GAMMA_DEFAULT = 0.5;
const FRACTION: ValueSchema = { type: "number", minimum: 0, maximum: 1 };
const SHAPE: ValueSchema = {
  type: "object",
  properties: {
    basis: { enum: ALIGNMENT_BASES },
    scope3Weight: FRACTION,
    convergence: { type: "object", properties: { gamma: FRACTION }, additionalProperties: false },
    benchmark: { type: "object" },
    include: {
      type: "object",
      properties: {
        climateRange: { type: "boolean" },
        byScope: { type: "boolean" },
        budget: { type: "integer", minimum: 0, maximum: ANCHOR_COUNT - 1 },
        overall: { type: "boolean" },
      },
      additionalProperties: false,
    },
    into: {
      type: "object",
      properties: Object.fromEntries(RESULT_COLUMNS.map((name) => [name, { type: "object" }])),
      required: ["temperaturesC", "rangeLowC", "rangeHighC", "flags", "coverage"],
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};

/** @throws Fault `invalid_request` listing every invalid option of `alignColumns` */
export function readColumnsOptions(options: AlignColumnsOptions): AlignmentRule {
  checkOptions(options, SHAPE, { code: "invalid_request" });
  const { basis = "intensity", scope3Weight = 1, convergence } = options;
  return { basis, scope3Weight, gamma: convergence === undefined ? 0 : (convergence.gamma ?? GAMMA_DEFAULT) };
}
