import { prepareBlock } from "./alignmentBlocks";
import { scoreCumulative, storeBudgets, usableScopesOf } from "./alignmentLines";
import { chainLabels, clearLine, firstOfLabel, flagDuplicates, indexLine, nextOfLabel } from "./alignmentLines";
import {
  ALIGNMENT_YEAR_MAX,
  ALIGNMENT_YEAR_MIN,
  ALL_SCOPES,
  BASIS_CUMULATIVE,
  BLOCK_ENTITIES,
  BLOCK_ROWS,
  CALL_BASIS,
  CALL_BUDGET_ANCHOR,
  CALL_COLUMNS,
  CALL_GAMMA,
  CALL_HAS_COVERAGE,
  CALL_RESULTS,
  CALL_TABLES,
  CALL_WEIGHT_3,
  COLUMN_BASELINE_REVENUES,
  COLUMN_GROWTH_SERIES,
  COLUMN_LABELS,
  COLUMN_PATHWAYS,
  COLUMN_PROJECTED_REVENUES,
  COLUMN_STARTS,
  EMISSIONS_MAX,
  NO_GROWTH_SERIES,
  PATHWAY_COUNT,
  RECORD_BYTES,
  RESULT_BUDGET_PROJECTED,
  RESULT_FLAGS,
  RESULT_SCOPES_1_2,
  RESULT_SCOPE_3,
  SCOPE3_ABSENT,
  SCOPES_1_2,
  SCOPE_3,
  SCRATCH_RECORD,
  TABLE_SERIES_COUNT,
  VARIANT_COUNT,
  VARIANT_CUMULATIVE,
  VARIANT_SCOPES_1_2,
  VARIANT_SCOPE_1,
  baselineOf,
  baselineYearOf,
  labelOf,
  optionalAt,
  projectionOf,
  rowsBegin,
  rowsEnd,
  yearOf,
} from "./alignmentLayout";
import { scorePairs } from "./alignmentPairs";
import { scorePoint } from "./alignmentRecord";
import { hasAnchors, storeBudgetResult, storeResult, storeScopeResult } from "./alignmentResults";
import { STATUS_BAD_ALIGNMENT, STATUS_OK } from "./status";

export {
  ALIGNMENT_COLUMN_COUNT,
  ALIGNMENT_RESULT_COUNT,
  ALIGNMENT_SCRATCH_BYTES,
  ALIGNMENT_YEAR_MAX,
  ALIGNMENT_YEAR_MIN,
  ANCHOR_COUNT,
  BASIS_CUMULATIVE,
  BASIS_EMISSIONS,
  BASIS_INTENSITY,
  CALL_HAS_COVERAGE,
  CHANGE_YEARS_MAX,
  CURVE_BYTES,
  CURVE_LAST_RISE_MAX,
  CURVE_P10,
  CURVE_P50,
  CURVE_P90,
  CURVE_RISES,
  CURVE_START,
  EMISSIONS_MAX,
  GROWTH_SOURCE_COUNTRY,
  GROWTH_SOURCE_DEFAULT,
  GROWTH_SOURCE_NONE,
  GROWTH_SOURCE_REGION,
  GROWTH_SOURCE_SUPPLIED,
  NO_GROWTH_SERIES,
  PATHWAY_BUILDINGS,
  PATHWAY_COUNT,
  PATHWAY_ECONOMY,
  PATHWAY_ENERGY_SUPPLY,
  PATHWAY_INDUSTRY,
  PATHWAY_POWER,
  PATHWAY_TRANSPORT,
  RECORD_ANCHORS,
  RECORD_BASELINE,
  RECORD_BUDGET_ALLOWED,
  RECORD_BUDGET_PROJECTED,
  RECORD_BYTES,
  RECORD_CLIMATE_HIGH,
  RECORD_CLIMATE_LOW,
  RECORD_COVERAGE,
  RECORD_EVALUATED_YEAR,
  RECORD_FLAGS,
  RECORD_GROWTH_FACTOR,
  RECORD_GROWTH_SOURCE,
  RECORD_KAPPA,
  RECORD_PROJECTED,
  RECORD_RANGE_HIGH,
  RECORD_RANGE_LOW,
  RECORD_RATIO_Q,
  RECORD_RAW_ANCHORS,
  RECORD_SHARES,
  RECORD_TEMPERATURE,
  RECORD_USABLE,
  SHORTEST_HORIZON_YEARS,
  TABLED_HORIZON_MAX,
  TABLE_CURVES,
  TABLE_FIRST_YEAR,
  TABLE_HORIZON_YEAR,
  TABLE_LAST_YEAR,
  TABLE_PLAUSIBLE_CHANGES,
  TABLE_SCALES,
  TABLE_SERIES_COUNT,
  TABLE_YEARS,
  TEMPERATURE_MAX_C,
  VARIANT_COUNT,
  VARIANT_CUMULATIVE,
  VARIANT_SCOPES_1_2,
  VARIANT_SCOPE_1,
  YEAR_BYTES,
  YEAR_INDEX,
  YEAR_PER_BASE,
  YEAR_POOL,
} from "./alignmentLayout";

/**
 * Computes the implied temperature of each row, that is, of each entity in each of its projection years, with its
 * interval and flags.
 *
 * In       tables    f64: TABLE_*, then
 *                      year        [year] of YEAR_BYTES, from the first to the last:
 *                        index       [pathway][anchor], emissions index; 1 up to the base year
 *                        perBase     [pathway], 1 / emissions index of the world in that year: 1 up to the base year,
 *                                    then 1 / index of the hottest anchor
 *                        pool        size of the benchmark's economy
 *                      sums        [year][pathway][anchor], sum of the index from the first year through that year
 *                      growth      [series]: 1 for a region, 0 for a country; then [year], size of the benchmark's
 *                                  economy / size of the series
 *          columns   u32[18], pointers in the order of COLUMN_*; NaN = not given. The rows of entity i are starts[i] to
 *                    starts[i + 1], relative to starts[0]
 *          results   u32[12], pointers in the order of RESULT_*, 0 = not asked for
 *          weight3   0 to 1, weight of scope 3; 0 excludes it
 *          basis     BASIS_*
 *          gamma     0 to 1, strength of the convergence; a gamma above 0 requires revenues and references
 *          budgetAnchor  0 to 3, anchor of the allowed budget
 * Out      results   NaN = none; coverage only for rows with SCOPE_DROPPED
 *          bad       i32[2]: entity and row of the first invalid value; row -1 if it is a value of the entity
 * Scratch  call      ALIGNMENT_SCRATCH_BYTES + 8 bytes for each row of the largest entity, zeroed before the first call;
 *                    every call leaves the index of rows by year zeroed. u32 at CALL_HAS_COVERAGE: 1 if a coverage was
 *                    written
 * Units    emissions in any one unit; degrees C in 2100
 * Formula  docs/methods/alignment.md
 * Cost     Without convergence, scopes and budgets, entities are prepared in blocks, and most rows are scored two at a
 *          time; all other rows one by one
 */
export function alignColumns(
  tables: usize,
  columns: usize,
  entityCount: i32,
  weight3: f64,
  basis: i32,
  gamma: f64,
  budgetAnchor: i32,
  call: usize,
  results: usize,
  bad: usize,
): i32 {
  beginCall(call, tables, columns, results, weight3, basis, gamma, budgetAnchor);
  const starts = load<u32>(columns, COLUMN_STARTS),
    isFast =
      basis != BASIS_CUMULATIVE &&
      !(gamma > 0) &&
      load<u32>(results, RESULT_SCOPES_1_2) == 0 &&
      load<u32>(results, RESULT_BUDGET_PROJECTED) == 0;
  for (let first = 0; first < entityCount;) {
    const firstRow = load<u32>(starts + ((<usize>first) << 2));
    let end = min(first + BLOCK_ENTITIES, entityCount);
    while (end > first + 1 && load<u32>(starts + ((<usize>end) << 2)) - firstRow >= BLOCK_ROWS) end--;
    const fitsBlock = load<u32>(starts + ((<usize>end) << 2)) - firstRow < BLOCK_ROWS;
    if (!isFast || !fitsBlock || !prepareBlock(call, first, end) || !scorePairs(call, first, end)) {
      // This path is also taken if the block has an invalid value, to find out which one it is.
      for (let entity = first; entity < end; entity++) {
        if (hasInvalidValue(tables, columns, entity, bad)) return STATUS_BAD_ALIGNMENT;
        scoreEntity(call, entity);
      }
    }
    first = end;
  }
  return STATUS_OK;
}

/**
 * Computes the intermediate figures of all rows of one entity.
 *
 * In       as for alignColumns, which must have accepted the columns
 * Out      records   f64[row][VARIANT_COUNT][31], RECORD_*: the bases intensity, emissions and cumulative, then each
 *                    scope alone and scopes 1 and 2 in the requested basis; NaN = the figure does not exist. The budgets
 *                    are in the record of the cumulative basis
 * Scratch  call      as for alignColumns
 */
export function alignDetail(
  tables: usize,
  columns: usize,
  entity: i32,
  weight3: f64,
  basis: i32,
  gamma: f64,
  call: usize,
  records: usize,
): i32 {
  beginCall(call, tables, columns, 0, weight3, basis, gamma, 0);
  const begin = rowsBegin(columns, entity),
    end = rowsEnd(columns, entity);
  for (let row = begin; row < end; row++) {
    const rowRecords = recordsOfRow(records, row - begin);
    for (let variant = 0; variant < VARIANT_COUNT; variant++) {
      const variantBasis = variant < VARIANT_SCOPE_1 ? variant : basis;
      // A line without scopes has no value, whatever its index.
      const isEmpty = variantBasis == BASIS_CUMULATIVE && (usableScopesOf(call, entity, row) & scopesOf(variant)) == 0;
      if (variantBasis != BASIS_CUMULATIVE || isEmpty) {
        scorePoint(call, entity, row, variantBasis, scopesOf(variant), rowRecords + <usize>variant * RECORD_BYTES);
      }
    }
  }
  scoreLines(call, entity, begin, end, records);
  return STATUS_OK;
}

function recordsOfRow(records: usize, index: u32): usize {
  return records + <usize>index * <usize>VARIANT_COUNT * RECORD_BYTES;
}

/** Returns the scopes of a variant as bits 0 to 2. */
function scopesOf(variant: i32): i32 {
  if (variant == VARIANT_SCOPES_1_2) return SCOPES_1_2;
  return variant < VARIANT_SCOPE_1 ? ALL_SCOPES : 1 << (variant - VARIANT_SCOPE_1);
}

function beginCall(
  call: usize,
  tables: usize,
  columns: usize,
  results: usize,
  weight3: f64,
  basis: i32,
  gamma: f64,
  budgetAnchor: i32,
): void {
  store<u32>(call, <u32>tables, CALL_TABLES);
  store<u32>(call, <u32>columns, CALL_COLUMNS);
  store<u32>(call, <u32>results, CALL_RESULTS);
  store<i32>(call, basis, CALL_BASIS);
  store<f64>(call, weight3, CALL_WEIGHT_3);
  store<f64>(call, gamma, CALL_GAMMA);
  store<i32>(call, budgetAnchor, CALL_BUDGET_ANCHOR);
  store<u32>(call, 0, CALL_HAS_COVERAGE);
}

/** Returns whether an entity or one of its rows has an invalid value, and stores the indices of entity and row. */
function hasInvalidValue(tables: usize, columns: usize, entity: i32, bad: usize): bool {
  const series = <i32>load<u8>(load<u32>(columns, COLUMN_GROWTH_SERIES) + <usize>entity);
  const baselineYear = baselineYearOf(columns, entity);
  let isValid =
    baselineYear >= ALIGNMENT_YEAR_MIN &&
    <i32>load<u8>(load<u32>(columns, COLUMN_PATHWAYS) + <usize>entity) < PATHWAY_COUNT &&
    (series == NO_GROWTH_SERIES || series < <i32>load<f64>(tables, TABLE_SERIES_COUNT)) &&
    !(Math.abs(optionalAt(columns, COLUMN_BASELINE_REVENUES, entity)) > EMISSIONS_MAX);
  for (let scope = 0; scope < 3; scope++) {
    if (Math.abs(baselineOf(columns, entity, scope)) > EMISSIONS_MAX) isValid = false;
  }
  store<i32>(bad, entity);
  store<i32>(bad, -1, 4);
  if (!isValid) return true;
  const begin = rowsBegin(columns, entity),
    end = rowsEnd(columns, entity);
  for (let row = begin; row < end; row++) {
    const year = yearOf(columns, row);
    if (
      year <= baselineYear ||
      year > ALIGNMENT_YEAR_MAX ||
      labelOf(columns, row) >= end - begin ||
      Math.abs(optionalAt(columns, COLUMN_PROJECTED_REVENUES, row)) > EMISSIONS_MAX
    ) {
      isValid = false;
    }
    for (let scope = 0; scope < 3; scope++) {
      if (Math.abs(projectionOf(columns, row, scope)) > EMISSIONS_MAX) isValid = false;
    }
    if (isValid) continue;
    store<i32>(bad, row, 4);
    return true;
  }
  return false;
}

/** Scores the rows of an entity one by one; handles every case of the method. */
function scoreEntity(call: usize, entity: i32): void {
  const columns = load<u32>(call, CALL_COLUMNS),
    results = load<u32>(call, CALL_RESULTS),
    basis = load<i32>(call, CALL_BASIS),
    begin = rowsBegin(columns, entity),
    end = rowsEnd(columns, entity),
    record = call + SCRATCH_RECORD;
  const hasByScope = load<u32>(results, RESULT_SCOPES_1_2) != 0,
    hasBudget = load<u32>(results, RESULT_BUDGET_PROJECTED) != 0;
  for (let row = begin; row < end; row++) {
    // In the cumulative basis this leaves the values of scoreLines empty.
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
 * Computes what depends on the lines of an entity: values in the cumulative basis and budgets. Each line is indexed once
 * for all rows of a label with the same usable scopes.
 *
 * @param records 0 to store results, or the records of alignDetail
 */
function scoreLines(call: usize, entity: i32, begin: u32, end: u32, records: usize): void {
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
