import {
  CALL_BUDGET_ANCHOR,
  CALL_RESULTS,
  RECORD_ANCHORS,
  RECORD_BUDGET_ALLOWED,
  RECORD_BUDGET_PROJECTED,
  RECORD_CLIMATE_HIGH,
  RECORD_CLIMATE_LOW,
  RECORD_COVERAGE,
  RECORD_FLAGS,
  RECORD_RANGE_HIGH,
  RECORD_RANGE_LOW,
  RECORD_TEMPERATURE,
  RESULT_ANCHOR_SPREAD,
  RESULT_BUDGET_ALLOWED,
  RESULT_BUDGET_PROJECTED,
  RESULT_CLIMATE_HIGH,
  RESULT_CLIMATE_LOW,
  RESULT_COVERAGE,
  RESULT_FLAGS,
  RESULT_RANGE_HIGH,
  RESULT_RANGE_LOW,
  RESULT_TEMPERATURES,
} from "./alignmentLayout";

/** Returns whether a record has anchors: its row has usable scopes and a baseline above zero. */
export function hasAnchors(record: usize): bool {
  const first = load<f64>(record, RECORD_ANCHORS);
  return first == first;
}

/** Stores the figures of a record as the result of a row, with further flags. */
export function storeResult(call: usize, row: u32, record: usize, furtherFlags: i32): void {
  const results = load<u32>(call, CALL_RESULTS),
    offset = (<usize>row) << 3,
    flags = (<i32>load<f64>(record, RECORD_FLAGS)) | furtherFlags;
  store<f64>(load<u32>(results, RESULT_TEMPERATURES) + offset, load<f64>(record, RECORD_TEMPERATURE));
  store<f64>(load<u32>(results, RESULT_RANGE_LOW) + offset, load<f64>(record, RECORD_RANGE_LOW));
  store<f64>(load<u32>(results, RESULT_RANGE_HIGH) + offset, load<f64>(record, RECORD_RANGE_HIGH));
  store<u32>(load<u32>(results, RESULT_FLAGS) + (offset >> 1), <u32>flags);
  const coverage = load<f64>(record, RECORD_COVERAGE);
  if (coverage == coverage) store<f64>(load<u32>(results, RESULT_COVERAGE) + offset, coverage);
  const climateLow = load<u32>(results, RESULT_CLIMATE_LOW);
  if (climateLow != 0) {
    store<f64>(climateLow + offset, load<f64>(record, RECORD_CLIMATE_LOW));
    store<f64>(load<u32>(results, RESULT_CLIMATE_HIGH) + offset, load<f64>(record, RECORD_CLIMATE_HIGH));
  }
  const spread = load<u32>(results, RESULT_ANCHOR_SPREAD);
  if (spread != 0) {
    const value = hasAnchors(record) ? load<f64>(record, RECORD_ANCHORS + 24) - load<f64>(record, RECORD_ANCHORS) : 0;
    store<f64>(spread + offset, value);
  }
}

/** Stores the temperature of a record in a result by scope; none if there is no record. */
export function storeScopeResult(call: usize, row: u32, result: usize, record: usize): void {
  const target = load<u32>(load<u32>(call, CALL_RESULTS) + result);
  store<f64>(target + ((<usize>row) << 3), record == 0 ? NaN : load<f64>(record, RECORD_TEMPERATURE));
}

/** Stores the budgets of a record; none if there is no record. */
export function storeBudgetResult(call: usize, row: u32, record: usize): void {
  const results = load<u32>(call, CALL_RESULTS),
    offset = (<usize>row) << 3;
  const anchorAt = record + ((<usize>load<i32>(call, CALL_BUDGET_ANCHOR)) << 3);
  store<f64>(
    load<u32>(results, RESULT_BUDGET_PROJECTED) + offset,
    record == 0 ? NaN : load<f64>(record, RECORD_BUDGET_PROJECTED),
  );
  store<f64>(
    load<u32>(results, RESULT_BUDGET_ALLOWED) + offset,
    record == 0 ? NaN : load<f64>(anchorAt, RECORD_BUDGET_ALLOWED),
  );
}
