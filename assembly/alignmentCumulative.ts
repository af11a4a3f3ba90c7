import { fillFour, interpolateTemperature, separateRowAnchors } from "./alignmentAnchors";
import {
  ALIGNMENT_YEAR_MAX,
  ALIGNMENT_YEAR_MIN,
  ANCHORS_CLOSE,
  CHECK_UNITS,
  COLUMN_BASELINE_YEARS,
  COLUMN_YEARS,
  DUPLICATE_YEAR,
  MEAN_ANCHOR_GAP_MIN,
  NO_USABLE_SCOPE,
  PATHWAY_BYTES,
  RECORD_ANCHORS,
  RECORD_BASELINE,
  RECORD_FLAGS,
  RECORD_PROJECTED,
  RECORD_TEMPERATURE,
  SCRATCH_ANCHORS,
  SCRATCH_ROWS,
  TABLE_FIRST_YEAR,
  TABLE_LAST_YEAR,
  TABLE_YEARS,
  TEMPERATURE_MIN_C,
  YEAR_BASES_BYTES,
  YEAR_BYTES,
  YEAR_SUMS_BYTES,
  ZERO_BASELINE,
  ZERO_EMISSIONS,
  clampYear,
  isSuspect,
  pathwayOf,
  perBaseTable,
  positive,
  projectionOf,
  rowsBegin,
  rowsEnd,
  scoredYearOf,
  sumTable,
} from "./alignmentLayout";
import { beginRecord, shareOf } from "./alignmentRecord";

/**
 * Scores one row by the mean over all years from the baseline to the row's year. If several rows have the same year,
 * the last one is used, even if it is not `requestedRow`. Requires that indexRowsByYear has indexed the entity's rows.
 */
export function scoreCumulative(
  tables: usize,
  columns: usize,
  entity: i32,
  requestedRow: u32,
  scopes: i32,
  weight3: f64,
  scratch: usize,
  record: usize,
): void {
  const rowsByYear = scratch + SCRATCH_ROWS;
  const years = load<u32>(columns, COLUMN_YEARS);
  const year = load<i32>(years + ((<usize>requestedRow) << 2));
  const row = lastRowOfYear(rowsByYear, year);
  const usable = beginRecord(tables, columns, entity, row, scopes, weight3, record);
  let flags = <i32>load<f64>(record, RECORD_FLAGS);
  if (usable == 0) {
    store<f64>(record, <f64>(flags | NO_USABLE_SCOPE), RECORD_FLAGS);
    return;
  }
  const firstYear = <i32>load<f64>(tables, TABLE_FIRST_YEAR),
    lastYear = <i32>load<f64>(tables, TABLE_LAST_YEAR);
  const baselineYear = load<i32>(load<u32>(columns, COLUMN_BASELINE_YEARS) + ((<usize>entity) << 2)),
    scoredYear = scoredYearOf(tables, baselineYear, year);
  const baseline = load<f64>(record, RECORD_BASELINE),
    hasBaseline = baseline >= ZERO_EMISSIONS;

  // Sum of the entity's emissions over the years. Between given years they are interpolated linearly, so each interval
  // is an arithmetic series.
  let previousYear = baselineYear,
    previousEmissions: f64 = hasBaseline ? baseline : 0,
    sum = previousEmissions;
  for (let givenYear = baselineYear + 1; givenYear <= ALIGNMENT_YEAR_MAX && previousYear < scoredYear; givenYear++) {
    if (!hasRowOfYear(rowsByYear, givenYear)) continue;
    const emissions = sumIfComplete(columns, lastRowOfYear(rowsByYear, givenYear), usable, weight3);
    if (emissions != emissions) continue;
    const nextEmissions: f64 = !hasBaseline && emissions < ZERO_EMISSIONS ? 0 : positive(emissions);
    const steps = <f64>(min(givenYear, scoredYear) - previousYear);
    sum +=
      steps * previousEmissions +
      ((nextEmissions - previousEmissions) / <f64>(givenYear - previousYear)) * (steps * (steps + 1) * 0.5);
    previousYear = givenYear;
    previousEmissions = nextEmissions;
  }
  if (previousYear < scoredYear) sum += <f64>(scoredYear - previousYear) * previousEmissions;

  if (!hasBaseline) {
    store<f64>(record, <f64>(flags | ZERO_BASELINE), RECORD_FLAGS);
    if (!(sum > 0)) store<f64>(record, TEMPERATURE_MIN_C, RECORD_TEMPERATURE);
    return;
  }
  if (isSuspect(positive(load<f64>(record, RECORD_PROJECTED)), baseline)) flags |= CHECK_UNITS;

  const yearCount = <f64>(scoredYear - baselineYear + 1);
  const baseIndex = <usize>(clampYear(baselineYear, firstYear, lastYear) - firstYear);
  const perBase = perBaseTable(tables) + baseIndex * YEAR_BASES_BYTES;
  const anchors = record + RECORD_ANCHORS;
  fillFour(anchors, 0);
  let shares: f64 = 0;
  for (let scope = 0; scope < 3; scope++) shares += shareOf(columns, entity, scope, usable, weight3);
  for (let scope = 0; scope < 3; scope++) {
    const pathway = pathwayOf(columns, entity, scope);
    const share =
      ((shareOf(columns, entity, scope, usable, weight3) / shares) * load<f64>(perBase + (pathway << 3))) / yearCount;
    for (let anchor: usize = 0; anchor < 4; anchor++) {
      const sumOfYears =
        indexSumThrough(tables, pathway, anchor, scoredYear) -
        indexSumThrough(tables, pathway, anchor, baselineYear - 1);
      const anchorAt = anchors + (anchor << 3);
      store<f64>(anchorAt, load<f64>(anchorAt) + share * sumOfYears);
    }
  }
  if (separateRowAnchors(anchors, MEAN_ANCHOR_GAP_MIN, scratch + SCRATCH_ANCHORS)) flags |= ANCHORS_CLOSE;
  store<f64>(record, <f64>flags, RECORD_FLAGS);
  interpolateTemperature(tables, record, sum / baseline / yearCount);
}

/**
 * Returns the sum of the emissions index from the table's first year through `year`; outside the table the index is
 * constant.
 */
function indexSumThrough(tables: usize, pathway: usize, anchor: usize, year: i32): f64 {
  const firstYear = <i32>load<f64>(tables, TABLE_FIRST_YEAR),
    lastYear = <i32>load<f64>(tables, TABLE_LAST_YEAR);
  const clampedYear = clampYear(year, firstYear, lastYear);
  const yearIndex = <usize>(clampedYear - firstYear),
    offset = pathway * PATHWAY_BYTES + (anchor << 3);
  const sum = load<f64>(sumTable(tables) + yearIndex * YEAR_SUMS_BYTES + offset),
    emissionsIndex = load<f64>(tables + TABLE_YEARS + yearIndex * YEAR_BYTES + offset);
  return sum + <f64>(year - clampedYear) * emissionsIndex;
}

/** Returns the weighted sum of a row's emissions in the scopes whose bits are set, or NaN if one of them is missing. */
function sumIfComplete(columns: usize, row: u32, scopes: i32, weight3: f64): f64 {
  let sum: f64 = 0;
  for (let scope = 0; scope < 3; scope++) {
    if ((scopes >> scope) & 1) sum += (scope == 2 ? weight3 : 1) * projectionOf(columns, row, scope);
  }
  return sum;
}

/** Stores, for each year, the index of its last row plus 1; 0 means that the year has no row. */
export function indexRowsByYear(rowsByYear: usize, years: usize, begin: u32, end: u32): void {
  for (let row = begin; row < end; row++) {
    store<u32>(entryAddress(rowsByYear, load<i32>(years + ((<usize>row) << 2))), row + 1);
  }
}

/** Sets the entries that indexRowsByYear has written back to 0. */
export function clearRowIndex(rowsByYear: usize, years: usize, begin: u32, end: u32): void {
  for (let row = begin; row < end; row++)
    store<u32>(entryAddress(rowsByYear, load<i32>(years + ((<usize>row) << 2))), 0);
}

function hasRowOfYear(rowsByYear: usize, year: i32): bool {
  return load<u32>(entryAddress(rowsByYear, year)) != 0;
}

function lastRowOfYear(rowsByYear: usize, year: i32): u32 {
  return load<u32>(entryAddress(rowsByYear, year)) - 1;
}

function entryAddress(rowsByYear: usize, year: i32): usize {
  return rowsByYear + ((<usize>(year - ALIGNMENT_YEAR_MIN)) << 2);
}

/** Indexes the rows of an entity by year, flags those that share their year with another row, and clears the index. */
export function indexAndFlagDuplicates(columns: usize, entity: i32, scratch: usize, flags: usize): void {
  const years = load<u32>(columns, COLUMN_YEARS),
    begin = rowsBegin(columns, entity),
    end = rowsEnd(columns, entity),
    rowsByYear = scratch + SCRATCH_ROWS;
  indexRowsByYear(rowsByYear, years, begin, end);
  flagDuplicates(rowsByYear, years, begin, end, flags);
  clearRowIndex(rowsByYear, years, begin, end);
}

/** Flags all rows that share their year with another row. Requires that indexRowsByYear has indexed the rows. */
export function flagDuplicates(rowsByYear: usize, years: usize, begin: u32, end: u32, flags: usize): void {
  for (let row = begin; row < end; row++) {
    const last = lastRowOfYear(rowsByYear, load<i32>(years + ((<usize>row) << 2)));
    if (last == row) continue;
    addFlag(flags, row, DUPLICATE_YEAR);
    addFlag(flags, last, DUPLICATE_YEAR);
  }
}

function addFlag(flags: usize, row: u32, flag: i32): void {
  const flagsAt = flags + ((<usize>row) << 1);
  store<u16>(flagsAt, <u16>((<i32>load<u16>(flagsAt)) | flag));
}
