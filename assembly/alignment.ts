import { clearRowIndex, indexRowsByYear, flagDuplicates, scoreCumulative } from "./alignmentCumulative";
import { prepareEntities } from "./alignmentEntities";
import {
  ALIGNMENT_YEAR_MIN,
  ALL_SCOPES,
  BASIS_CUMULATIVE,
  BLOCK_ENTITIES,
  BLOCK_ROWS,
  COLUMN_BASELINE_YEARS,
  COLUMN_PATHWAYS,
  COLUMN_REGIONS,
  COLUMN_STARTS,
  COLUMN_YEARS,
  EMISSIONS_MAX,
  GROWTH_REGION_COUNT,
  PATHWAY_COUNT,
  RECORD_BYTES,
  SCRATCH_ROWS,
  baselineOf,
  isValidRow,
  rowsBegin,
  rowsEnd,
} from "./alignmentLayout";
import { scorePoint, storeResult } from "./alignmentRecord";
import { scoreRows } from "./alignmentRowPairs";
import { STATUS_BAD_ALIGNMENT, STATUS_OK } from "./status";

export {
  ALIGNMENT_COLUMN_COUNT,
  ALIGNMENT_SCRATCH_BYTES,
  ALIGNMENT_YEAR_MAX,
  ALIGNMENT_YEAR_MIN,
  ANCHOR_COUNT,
  BASIS_CUMULATIVE,
  BASIS_EMISSIONS,
  BASIS_INTENSITY,
  EMISSIONS_MAX,
  GROWTH_REGION_COUNT,
  PATHWAY_BUILDINGS,
  PATHWAY_COUNT,
  PATHWAY_ECONOMY,
  PATHWAY_ENERGY_SUPPLY,
  PATHWAY_INDUSTRY,
  PATHWAY_POWER,
  PATHWAY_TRANSPORT,
  RECORD_ANCHORS,
  RECORD_BASELINE,
  RECORD_BYTES,
  RECORD_EVALUATED_YEAR,
  RECORD_FLAGS,
  RECORD_GROWTH_FACTOR,
  RECORD_KAPPA,
  RECORD_PROJECTED,
  RECORD_RATIO_Q,
  RECORD_SEGMENT,
  RECORD_TEMPERATURE,
  RECORD_USABLE,
  RECORD_WEIGHT,
  TABLE_FIRST_YEAR,
  TABLE_HORIZON_YEAR,
  TABLE_LAST_YEAR,
  TABLE_SEGMENTS,
  TABLE_YEARS,
  TEMPERATURE_MAX_C,
  TEMPERATURE_MIN_C,
  YEAR_ALLOWANCE,
  YEAR_BYTES,
  YEAR_GROWTH,
  YEAR_INDEX,
} from "./alignmentLayout";

/**
 * Computes the implied temperature of each row, that is, of each entity in each of its projection years.
 *
 * In       tables    f64: first and last year, horizon year at 0, 8, 16; start and rise of each of five temperature
 *                    segments at 64 (TABLE_*); then
 *                      year        [year] of YEAR_BYTES, from the first to the last:
 *                        index       [pathway][anchor], emissions index; 1 up to the base year
 *                        allowance   [region], pooled growth / growth of the region
 *                        growth      [region], size of the economy
 *                      sums        [year][pathway][anchor], sum of the index from the first year through that year
 *                      perBase     [year][pathway], 1 / emissions index of the world in that year: 1 up to the base
 *                                  year, then 1 / index of the hottest anchor
 *          columns   u32[15], pointers in the order of COLUMN_*; NaN = scope not given. The rows of entity i are
 *                    starts[i] to starts[i + 1], relative to starts[0]. Without a revenue column revenues are not
 *                    checked
 *          weight3   0 to 1, weight of scope 3; 0 excludes it
 *          basis     BASIS_*
 *          gamma     0 to 1, strength of the convergence; a gamma above 0 requires revenues and references
 * Out      temperatures f64[rowCount], NaN = none; flags u16[rowCount]
 *          bad       i32[2]: entity and row of the first invalid value; row -1 if it is a value of the entity
 * Scratch  scratch   ALIGNMENT_SCRATCH_BYTES, zeroed before the first call; every call leaves the index of rows by year
 *                    zeroed
 * Units    emissions in any one unit; degrees C in 2100
 * Formula  docs/methods/alignment.md
 * Cost     Entities are prepared, then scored, in blocks: two rows at a time, which belong to one entity or to two.
 *          Grouping entities by pathway brought no gain: all tables together fit the L1 cache, and sorted columns ran
 *          no faster than shuffled ones
 */
export function alignColumns(
  tables: usize,
  columns: usize,
  entityCount: i32,
  weight3: f64,
  basis: i32,
  gamma: f64,
  scratch: usize,
  temperatures: usize,
  flags: usize,
  bad: usize,
): i32 {
  const starts = load<u32>(columns, COLUMN_STARTS);
  const isFastBasis = basis != BASIS_CUMULATIVE && !(gamma > 0);
  for (let first = 0; first < entityCount;) {
    const firstRow = load<u32>(starts + ((<usize>first) << 2));
    let end = min(first + BLOCK_ENTITIES, entityCount);
    while (end > first + 1 && load<u32>(starts + ((<usize>end) << 2)) - firstRow > BLOCK_ROWS) end--;
    const fitsBlock = load<u32>(starts + ((<usize>end) << 2)) - firstRow <= BLOCK_ROWS;
    if (
      !isFastBasis ||
      !fitsBlock ||
      !prepareEntities(tables, columns, first, end, weight3, basis, scratch) ||
      !scoreRows(tables, columns, first, end, weight3, basis, scratch, temperatures, flags)
    ) {
      // This path is also taken if the block has an invalid value, to find out which one it is.
      for (let entity = first; entity < end; entity++) {
        if (hasInvalidValue(columns, entity, bad)) return STATUS_BAD_ALIGNMENT;
        scoreEntity(tables, columns, entity, weight3, basis, gamma, scratch, temperatures, flags);
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
 * Out      records   f64[row][6][16], RECORD_*: the bases intensity, emissions and cumulative, then each scope alone in
 *                    the requested basis; NaN = the figure does not exist
 * Scratch  scratch   as for alignColumns
 */
export function alignDetail(
  tables: usize,
  columns: usize,
  entity: i32,
  weight3: f64,
  basis: i32,
  gamma: f64,
  scratch: usize,
  records: usize,
): i32 {
  const starts = load<u32>(columns, COLUMN_STARTS),
    years = load<u32>(columns, COLUMN_YEARS);
  const begin = load<u32>(starts + ((<usize>entity) << 2)) - load<u32>(starts),
    end = load<u32>(starts + ((<usize>entity) << 2), 4) - load<u32>(starts);
  const rowsByYear = scratch + SCRATCH_ROWS;
  indexRowsByYear(rowsByYear, years, begin, end);
  let record = records;
  for (let row = begin; row < end; row++) {
    for (let variant = 0; variant < 6; variant++, record += RECORD_BYTES) {
      const variantBasis = variant < 3 ? variant : basis;
      const scopes = variant < 3 ? ALL_SCOPES : 1 << (variant - 3);
      if (variantBasis == BASIS_CUMULATIVE) {
        scoreCumulative(tables, columns, entity, row, scopes, weight3, scratch, record);
      } else scorePoint(tables, columns, entity, row, variantBasis, scopes, weight3, gamma, scratch, record);
    }
  }
  clearRowIndex(rowsByYear, years, begin, end);
  return STATUS_OK;
}

/** Returns whether an entity or one of its rows has an invalid value, and stores the indices of entity and row. */
function hasInvalidValue(columns: usize, entity: i32, bad: usize): bool {
  let isValid =
    load<i32>(load<u32>(columns, COLUMN_BASELINE_YEARS) + ((<usize>entity) << 2)) >= ALIGNMENT_YEAR_MIN &&
    <i32>load<u8>(load<u32>(columns, COLUMN_PATHWAYS) + <usize>entity) < PATHWAY_COUNT &&
    <i32>load<u8>(load<u32>(columns, COLUMN_REGIONS) + <usize>entity) < GROWTH_REGION_COUNT;
  for (let scope = 0; scope < 3; scope++) {
    if (Math.abs(baselineOf(columns, entity, scope)) > EMISSIONS_MAX) isValid = false;
  }
  store<i32>(bad, entity);
  store<i32>(bad, -1, 4);
  if (!isValid) return true;
  const end = rowsEnd(columns, entity);
  for (let row = rowsBegin(columns, entity); row < end; row++) {
    store<i32>(bad, row, 4);
    if (!isValidRow(columns, entity, row)) return true;
  }
  return false;
}

/** Scores the rows of an entity one by one; handles every case of the method. */
function scoreEntity(
  tables: usize,
  columns: usize,
  entity: i32,
  weight3: f64,
  basis: i32,
  gamma: f64,
  scratch: usize,
  temperatures: usize,
  flags: usize,
): void {
  const years = load<u32>(columns, COLUMN_YEARS),
    begin = rowsBegin(columns, entity),
    end = rowsEnd(columns, entity),
    rowsByYear = scratch + SCRATCH_ROWS;
  indexRowsByYear(rowsByYear, years, begin, end);
  for (let row = begin; row < end; row++) {
    if (basis == BASIS_CUMULATIVE) {
      scoreCumulative(tables, columns, entity, row, ALL_SCOPES, weight3, scratch, scratch);
    } else scorePoint(tables, columns, entity, row, basis, ALL_SCOPES, weight3, gamma, scratch, scratch);
    storeResult(scratch, row, temperatures, flags);
  }
  flagDuplicates(rowsByYear, years, begin, end, flags);
  clearRowIndex(rowsByYear, years, begin, end);
}
