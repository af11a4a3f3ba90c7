/** Options of `alignColumns` and their validation. */
import { checkOptions, type ValueSchema } from "../validation/schemaErrors.ts";
import type { AlignmentRule } from "../kernel/alignment.ts";
import { type AlignedColumns, type IncludedColumns, RESULT_COLUMNS } from "../kernel/alignmentColumns.ts";
import { ANCHOR_COUNT } from "../kernel/alignmentTables.ts";
import { ALIGNMENT_OPTIONS, type AlignmentOptions, ruleOf } from "./options.ts";

/** Convergence needs the columns `convergenceRevenues` and `references`. */
export interface AlignColumnsOptions extends AlignmentOptions {
  /** Results to compute in addition to those that are always computed. */
  readonly include?: IncludedColumns | undefined;
  /**
   * Arrays for the results, one element per row, such as those of a previous answer: allocating memory for millions of
   * rows takes about as long as computing them.
   */
  readonly into?: AlignedColumns | undefined;
}

const SHAPE: ValueSchema = {
  type: "object",
  properties: {
    ...ALIGNMENT_OPTIONS,
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
  return ruleOf(options);
}
