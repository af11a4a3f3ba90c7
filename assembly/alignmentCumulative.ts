import { fill, placeAmongAnchors, setOneApart } from "./alignmentAnchors";
import {
  ALIGNMENT_YEAR_MAX,
  ALIGNMENT_YEAR_MIN,
  ANCHORS_CLOSE,
  CHECK_UNITS,
  COLUMN_BASELINE_YEARS,
  COLUMN_YEARS,
  DUPLICATE_YEAR,
  GAP_OF_MEANS,
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
import { beginRecord, shareOf } from "./alignmentRow";

/**
 * One row by the means over all years from its baseline. A year that is given twice counts as its last row, also for
 * the row asked about. Needs the rows remembered by year.
 */
export function scoreCumulative(
  tables: usize,
  columns: usize,
  entity: i32,
  rowAsked: u32,
  scopes: i32,
  weight3: f64,
  scratch: usize,
  record: usize,
): void {
  const rowsByYear = scratch + SCRATCH_ROWS;
  const years = load<u32>(columns, COLUMN_YEARS);
  const year = load<i32>(years + ((<usize>rowAsked) << 2));
  const row = lastRowOf(rowsByYear, year);
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

  // The line of the entity, summed year by year: between two given years it is straight, so the years after the first
  // up to the second are an arithmetic series.
  let lineYear = baselineYear,
    line: f64 = hasBaseline ? baseline : 0,
    sum = line;
  for (let given = baselineYear + 1; given <= ALIGNMENT_YEAR_MAX && lineYear < scoredYear; given++) {
    if (!hasRowOf(rowsByYear, given)) continue;
    const emissions = sumIfAllGiven(columns, lastRowOf(rowsByYear, given), usable, weight3);
    if (emissions != emissions) continue;
    const next: f64 = !hasBaseline && emissions < ZERO_EMISSIONS ? 0 : positive(emissions);
    const steps = <f64>(min(given, scoredYear) - lineYear);
    sum += steps * line + ((next - line) / <f64>(given - lineYear)) * (steps * (steps + 1) * 0.5);
    lineYear = given;
    line = next;
  }
  if (lineYear < scoredYear) sum += <f64>(scoredYear - lineYear) * line;

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
  fill(anchors, 0);
  let shares: f64 = 0;
  for (let scope = 0; scope < 3; scope++) shares += shareOf(columns, entity, scope, usable, weight3);
  for (let scope = 0; scope < 3; scope++) {
    const pathway = pathwayOf(columns, entity, scope);
    const share =
      ((shareOf(columns, entity, scope, usable, weight3) / shares) * load<f64>(perBase + (pathway << 3))) / yearCount;
    for (let anchor: usize = 0; anchor < 4; anchor++) {
      const sumOfYears =
        indexSumUntil(tables, pathway, anchor, scoredYear) - indexSumUntil(tables, pathway, anchor, baselineYear - 1);
      const at = anchors + (anchor << 3);
      store<f64>(at, load<f64>(at) + share * sumOfYears);
    }
  }
  if (setOneApart(anchors, GAP_OF_MEANS, scratch + SCRATCH_ANCHORS)) flags |= ANCHORS_CLOSE;
  store<f64>(record, <f64>flags, RECORD_FLAGS);
  placeAmongAnchors(tables, record, sum / baseline / yearCount);
}

/** The index summed over the years from the table's first up to this one; flat outside the table, so also before it. */
function indexSumUntil(tables: usize, pathway: usize, anchor: usize, year: i32): f64 {
  const firstYear = <i32>load<f64>(tables, TABLE_FIRST_YEAR),
    lastYear = <i32>load<f64>(tables, TABLE_LAST_YEAR);
  const inYear = clampYear(year, firstYear, lastYear);
  const yearIndex = <usize>(inYear - firstYear),
    at = pathway * PATHWAY_BYTES + (anchor << 3);
  const sum = load<f64>(sumTable(tables) + yearIndex * YEAR_SUMS_BYTES + at),
    index = load<f64>(tables + TABLE_YEARS + yearIndex * YEAR_BYTES + at);
  return sum + <f64>(year - inYear) * index;
}

/** The emissions of a row in all of these scopes; NaN where it lacks one. */
function sumIfAllGiven(columns: usize, row: u32, scopes: i32, weight3: f64): f64 {
  let sum: f64 = 0;
  for (let scope = 0; scope < 3; scope++) {
    if ((scopes >> scope) & 1) sum += (scope == 2 ? weight3 : 1) * projectionOf(columns, row, scope);
  }
  return sum;
}

/** Writes down the last row of each year, plus one: 0 is no row. */
export function rememberRows(rowsByYear: usize, years: usize, begin: u32, end: u32): void {
  for (let row = begin; row < end; row++) {
    store<u32>(slotOf(rowsByYear, load<i32>(years + ((<usize>row) << 2))), row + 1);
  }
}

export function forgetRows(rowsByYear: usize, years: usize, begin: u32, end: u32): void {
  for (let row = begin; row < end; row++) store<u32>(slotOf(rowsByYear, load<i32>(years + ((<usize>row) << 2))), 0);
}

function hasRowOf(rowsByYear: usize, year: i32): bool {
  return load<u32>(slotOf(rowsByYear, year)) != 0;
}

function lastRowOf(rowsByYear: usize, year: i32): u32 {
  return load<u32>(slotOf(rowsByYear, year)) - 1;
}

function slotOf(rowsByYear: usize, year: i32): usize {
  return rowsByYear + ((<usize>(year - ALIGNMENT_YEAR_MIN)) << 2);
}

export function flagDuplicates(columns: usize, entity: i32, scratch: usize, flags: usize): void {
  const years = load<u32>(columns, COLUMN_YEARS),
    begin = rowsBegin(columns, entity),
    end = rowsEnd(columns, entity),
    rowsByYear = scratch + SCRATCH_ROWS;
  rememberRows(rowsByYear, years, begin, end);
  markDuplicates(rowsByYear, years, begin, end, flags);
  forgetRows(rowsByYear, years, begin, end);
}

/** Flags each row whose year another row has too. Needs the rows remembered by year. */
export function markDuplicates(rowsByYear: usize, years: usize, begin: u32, end: u32, flags: usize): void {
  for (let row = begin; row < end; row++) {
    const last = lastRowOf(rowsByYear, load<i32>(years + ((<usize>row) << 2)));
    if (last == row) continue;
    mark(flags, row, DUPLICATE_YEAR);
    mark(flags, last, DUPLICATE_YEAR);
  }
}

function mark(flags: usize, row: u32, flag: i32): void {
  const at = flags + ((<usize>row) << 1);
  store<u16>(at, <u16>((<i32>load<u16>(at)) | flag));
}
