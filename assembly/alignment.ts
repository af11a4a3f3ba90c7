import { prepareBlock } from "./alignmentBlocks";
import { recordsOfRow, scopesOf, scoreEntity, scoreLines } from "./alignmentEntity";
import {
  ALIGNMENT_YEAR_MAX,
  ALIGNMENT_YEAR_MIN,
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
  COLUMN_PATHWAYS,
  COLUMN_PROJECTED_REVENUES,
  COLUMN_STARTS,
  EMISSIONS_MAX,
  NO_GROWTH_SERIES,
  PATHWAY_COUNT,
  RECORD_BYTES,
  RESULT_BUDGET_PROJECTED,
  RESULT_SCOPES_1_2,
  TABLE_SERIES_COUNT,
  VARIANT_COUNT,
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
import { usableScopesOf } from "./alignmentLines";
import { scorePairs } from "./alignmentPairs";
import { scorePoint } from "./alignmentRecord";
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
  CURVE_MAX,
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
  TABLE_LAST_RATIO,
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
 *          results   u32[12], pointers in the order of RESULT_*, 0 = not requested
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
 * Cost     On the bases intensity and emissions, without convergence, results by scope and budgets, entities are prepared
 *          in blocks and most rows are scored two at a time; all other rows are scored one by one
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
      // If the block has an invalid value, this path finds it.
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
      // A row without usable scopes has no value on any basis, so scorePoint can store its record.
      const isEmpty = variantBasis == BASIS_CUMULATIVE && (usableScopesOf(call, entity, row) & scopesOf(variant)) == 0;
      if (variantBasis != BASIS_CUMULATIVE || isEmpty) {
        scorePoint(call, entity, row, variantBasis, scopesOf(variant), rowRecords + <usize>variant * RECORD_BYTES);
      }
    }
  }
  scoreLines(call, entity, begin, end, records);
  return STATUS_OK;
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
