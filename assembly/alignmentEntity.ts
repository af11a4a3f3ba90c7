import {
  ALL_SCOPES,
  BASIS_CUMULATIVE,
  CALL_BASIS,
  CALL_COLUMNS,
  CALL_RESULTS,
  CALL_WEIGHT_3,
  COLUMN_LABELS,
  RECORD_BYTES,
  RESULT_BUDGET_PROJECTED,
  RESULT_FLAGS,
  RESULT_SCOPES_1_2,
  RESULT_SCOPE_3,
  SCOPE3_ABSENT,
  SCOPES_1_2,
  SCOPE_3,
  SCRATCH_RECORD,
  VARIANT_COUNT,
  VARIANT_CUMULATIVE,
  VARIANT_SCOPES_1_2,
  VARIANT_SCOPE_1,
  baselineOf,
  projectionOf,
  rowsBegin,
  rowsEnd,
  yearOf,
} from "./alignmentLayout";
import {
  chainLabels,
  clearLine,
  firstOfLabel,
  flagDuplicates,
  indexLine,
  nextOfLabel,
  scoreCumulative,
  storeBudgets,
  usableScopesOf,
} from "./alignmentLines";
import { scorePoint } from "./alignmentRecord";
import { hasAnchors, storeBudgetResult, storeResult, storeScopeResult } from "./alignmentResults";

export function recordsOfRow(records: usize, index: u32): usize {
  return records + <usize>index * <usize>VARIANT_COUNT * RECORD_BYTES;
}

/** Returns the scopes of a variant as bits 0 to 2. */
export function scopesOf(variant: i32): i32 {
  if (variant == VARIANT_SCOPES_1_2) return SCOPES_1_2;
  return variant < VARIANT_SCOPE_1 ? ALL_SCOPES : 1 << (variant - VARIANT_SCOPE_1);
}

/** Scores the rows of an entity one by one; handles every case of the method. */
export function scoreEntity(call: usize, entity: i32): void {
  const columns = load<u32>(call, CALL_COLUMNS),
    results = load<u32>(call, CALL_RESULTS),
    basis = load<i32>(call, CALL_BASIS),
    begin = rowsBegin(columns, entity),
    end = rowsEnd(columns, entity),
    record = call + SCRATCH_RECORD;
  const hasByScope = load<u32>(results, RESULT_SCOPES_1_2) != 0,
    hasBudget = load<u32>(results, RESULT_BUDGET_PROJECTED) != 0;
  for (let row = begin; row < end; row++) {
    // On the cumulative basis, scoreLines stores the values; this loop clears the results by scope and scores the rows
    // without usable scopes.
    const isPoint = basis != BASIS_CUMULATIVE;
    if (hasBudget) storeBudgetResult(call, row, 0);
    if (hasByScope) {
      storeScopeResult(call, row, RESULT_SCOPES_1_2, 0);
      storeScopeResult(call, row, RESULT_SCOPE_3, 0);
    }
    if (isPoint && hasByScope) {
      scorePoint(call, entity, row, basis, SCOPES_1_2, record);
      storeScopeResult(call, row, RESULT_SCOPES_1_2, record);
      scorePoint(call, entity, row, basis, SCOPE_3, record);
      storeScopeResult(call, row, RESULT_SCOPE_3, record);
    }
    if (isPoint || usableScopesOf(call, entity, row) == 0) {
      scorePoint(call, entity, row, basis, ALL_SCOPES, record);
      storeResult(call, row, record, 0);
    }
  }
  if (basis == BASIS_CUMULATIVE || hasBudget) scoreLines(call, entity, begin, end, 0);
  flagEntity(call, entity, begin, end);
}

/** Adds the flags of an entity, and of years that are given more than once, to those of its rows. */
function flagEntity(call: usize, entity: i32, begin: u32, end: u32): void {
  const columns = load<u32>(call, CALL_COLUMNS),
    flags = load<u32>(load<u32>(call, CALL_RESULTS), RESULT_FLAGS);
  const baseline3 = baselineOf(columns, entity, 2);
  let isScope3Absent = baseline3 != baseline3 && load<f64>(call, CALL_WEIGHT_3) > 0,
    isAscending = load<u32>(columns, COLUMN_LABELS) == 0;
  for (let row = begin; row < end; row++) {
    const projected3 = projectionOf(columns, row, 2);
    if (projected3 == projected3) isScope3Absent = false;
    if (row > begin && yearOf(columns, row) <= yearOf(columns, row - 1)) isAscending = false;
  }
  if (isScope3Absent) {
    for (let row = begin; row < end; row++) {
      const flagsAt = flags + ((<usize>row) << 2);
      store<u32>(flagsAt, load<u32>(flagsAt) | SCOPE3_ABSENT);
    }
  }
  if (!isAscending) flagDuplicates(call, begin, end);
}

/**
 * Computes what depends on the lines of an entity: values on the cumulative basis and budgets. Each line is indexed
 * once for all rows of a label with the same usable scopes.
 *
 * @param records 0 to store results, or the records of alignDetail
 */
export function scoreLines(call: usize, entity: i32, begin: u32, end: u32, records: usize): void {
  const labelCount = chainLabels(call, begin, end);
  for (let label: u32 = 0; label < labelCount; label++) {
    const firstRow = firstOfLabel(call, label);
    if (firstRow == 0) continue;
    for (let scopes = 1; scopes <= ALL_SCOPES; scopes++) {
      let isIndexed = false;
      for (let next = firstRow; next != 0; next = nextOfLabel(call, begin, next - 1)) {
        const row = next - 1,
          usable = usableScopesOf(call, entity, row);
        if ((usable & scopes) != scopes) continue;
        if (!isIndexed) indexLine(call, begin, firstRow, scopes);
        isIndexed = true;
        if (records == 0) scoreLineOfRow(call, entity, row, usable, scopes);
        else detailLineOfRow(call, entity, row, usable, scopes, recordsOfRow(records, row - begin));
      }
      if (isIndexed) clearLine(call, begin, firstRow);
    }
  }
}

/** Stores the results of a row that depend on the line of these scopes. */
function scoreLineOfRow(call: usize, entity: i32, row: u32, usable: i32, scopes: i32): void {
  const results = load<u32>(call, CALL_RESULTS),
    isCumulative = load<i32>(call, CALL_BASIS) == BASIS_CUMULATIVE,
    record = call + SCRATCH_RECORD;
  if (usable == scopes) {
    scoreCumulative(call, entity, row, scopes, record);
    if (isCumulative) storeResult(call, row, record, 0);
    if (load<u32>(results, RESULT_BUDGET_PROJECTED) != 0 && hasAnchors(record)) {
      storeBudgets(call, entity, row, scopes, record);
      storeBudgetResult(call, row, record);
    }
  }
  if (!isCumulative || load<u32>(results, RESULT_SCOPES_1_2) == 0) return;
  if ((usable & SCOPES_1_2) == scopes) {
    scoreCumulative(call, entity, row, SCOPES_1_2, record);
    storeScopeResult(call, row, RESULT_SCOPES_1_2, record);
  }
  if ((usable & SCOPE_3) == scopes) {
    scoreCumulative(call, entity, row, SCOPE_3, record);
    storeScopeResult(call, row, RESULT_SCOPE_3, record);
  }
}

/** Stores the records of a row that depend on the line of these scopes. */
function detailLineOfRow(call: usize, entity: i32, row: u32, usable: i32, scopes: i32, rowRecords: usize): void {
  if (usable == scopes) {
    const record = rowRecords + <usize>VARIANT_CUMULATIVE * RECORD_BYTES;
    scoreCumulative(call, entity, row, ALL_SCOPES, record);
    if (hasAnchors(record)) storeBudgets(call, entity, row, scopes, record);
  }
  if (load<i32>(call, CALL_BASIS) != BASIS_CUMULATIVE) return;
  for (let variant = VARIANT_SCOPE_1; variant < VARIANT_COUNT; variant++) {
    if ((usable & scopesOf(variant)) != scopes) continue;
    scoreCumulative(call, entity, row, scopesOf(variant), rowRecords + <usize>variant * RECORD_BYTES);
  }
}
