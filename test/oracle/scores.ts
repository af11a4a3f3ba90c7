/**
 * Scores of stored steps by definition, cell by cell: values, statuses and bounds of probabilities. Does not import code
 * under test.
 */

const OUTSIDE = 65_534;
const NODATA = 65_535;

/** The numbers of SCORE_STATUSES and SCORE_BOUNDS. */
const STATUS = { value: 0, zero: 1, no_data: 2, outside_coverage: 3, layer_missing: 4 } as const;
const BOUND = { exact: 0, at_least: 1, at_most: 2, indeterminate: 3 } as const;

export interface OracleColumn {
  /** Undefined if the layer is missing. */
  readonly lane: number | undefined;
  readonly stepsPerUnit: number;
  readonly offset: number;
}

export interface OracleGroup {
  /** Undefined if the probability is always exact. */
  readonly lane: number | undefined;
  readonly firstSteps: number;
  readonly atLeast: number;
  readonly atMost: number;
}

export function valueByDefinition(
  cell: ArrayLike<number>,
  { lane, stepsPerUnit, offset }: OracleColumn,
): { readonly value: number; readonly status: number } {
  if (lane === undefined) return { value: NaN, status: STATUS.layer_missing };
  const steps = cell[lane];
  if (steps === undefined) throw new RangeError(`the cell has no lane ${lane}`);
  if (steps === OUTSIDE) return { value: NaN, status: STATUS.outside_coverage };
  if (steps === NODATA) return { value: NaN, status: STATUS.no_data };
  const value = steps / stepsPerUnit + offset;
  return { value, status: value === 0 ? STATUS.zero : STATUS.value };
}

export function boundByDefinition(
  cell: ArrayLike<number>,
  { lane, firstSteps, atLeast, atMost }: OracleGroup,
): { readonly bound: number; readonly limit: number } {
  const steps = lane === undefined ? undefined : cell[lane];
  if (steps === 0 && firstSteps === 0) return { bound: BOUND.indeterminate, limit: NaN };
  if (steps === 0) return { bound: BOUND.at_most, limit: atMost };
  if (steps === firstSteps) return { bound: BOUND.at_least, limit: atLeast };
  return { bound: BOUND.exact, limit: NaN };
}
