import { beginRecord, growthFactorOf, implausibleChangeOf } from "./alignmentFigures";
import {
  ALIGNMENT_YEAR_MAX,
  ALIGNMENT_YEAR_MIN,
  BASIS_CUMULATIVE,
  CALL_COLUMNS,
  CALL_FIRST_GIVEN_YEAR,
  CALL_RESULTS,
  CALL_TABLES,
  COLUMN_LABELS,
  DUPLICATE_YEAR,
  MEAN_ANCHOR_GAP_MIN,
  PATHWAY_BYTES,
  RANGE_CHANGE,
  RECORD_BASELINE,
  RECORD_BUDGET_ALLOWED,
  RECORD_BUDGET_PROJECTED,
  RECORD_FLAGS,
  RECORD_RAW_ANCHORS,
  RESULT_FLAGS,
  SCRATCH_LABELS,
  SCRATCH_ROWS,
  SENSITIVE_CHANGE,
  TABLE_FIRST_YEAR,
  TABLE_LAST_YEAR,
  TABLE_YEARS,
  YEAR_BYTES,
  YEAR_SUMS_BYTES,
  ZERO_BASELINE_MAX,
  baselineOf,
  baselineYearOf,
  labelOf,
  pathwayOf,
  positive,
  projectionOf,
  scoredYearOf,
  sumTable,
  weightOf,
  yearIndexOf,
  yearOf,
} from "./alignmentLayout";
import { finishRecord, finishZeroBaseline, perBaseShareOf, prepareCurveOf } from "./alignmentRecord";

// A line describes the emissions of an entity by year, from the rows of one label that give all scopes of a set. It is
// linear between the years of these rows and constant after the last ("Cumulative basis and budget" in
// docs/methods/alignment.md).

/** Links the rows of each label in a list. Returns an upper bound on the number of labels. */
export function chainLabels(call: usize, begin: u32, end: u32): u32 {
  const columns = load<u32>(call, CALL_COLUMNS),
    chains = call + SCRATCH_LABELS;
  const labelCount: u32 = load<u32>(columns, COLUMN_LABELS) == 0 ? 1 : end - begin;
  for (let label: u32 = 0; label < labelCount; label++) store<u32>(chains + ((<usize>label) << 3), 0);
  for (let row = end; row > begin;) {
    row--;
    const head = chains + ((<usize>labelOf(columns, row)) << 3);
    store<u32>(chains + ((<usize>(row - begin)) << 3), load<u32>(head), 4);
    store<u32>(head, row + 1);
  }
  return labelCount;
}

/** Returns the first row of a label, plus one; 0 if it has none. */
export function firstOfLabel(call: usize, label: u32): u32 {
  return load<u32>(call + SCRATCH_LABELS + ((<usize>label) << 3));
}

/** Returns the next row of the same label, plus one; 0 after the last. */
export function nextOfLabel(call: usize, begin: u32, row: u32): u32 {
  return load<u32>(call + SCRATCH_LABELS + ((<usize>(row - begin)) << 3), 4);
}

/**
 * Indexes by year the rows of a label that give all of these scopes; if several rows have the same year, the last one
 * counts.
 */
export function indexLine(call: usize, begin: u32, firstRow: u32, scopes: i32): void {
  const columns = load<u32>(call, CALL_COLUMNS);
  for (let next = firstRow; next != 0; next = nextOfLabel(call, begin, next - 1)) {
    const row = next - 1;
    if ((givenScopesOf(columns, row) & scopes) == scopes) store<u32>(entryOf(call, yearOf(columns, row)), next);
  }
}

/** Clears the index of a label. */
export function clearLine(call: usize, begin: u32, firstRow: u32): void {
  const columns = load<u32>(call, CALL_COLUMNS);
  for (let next = firstRow; next != 0; next = nextOfLabel(call, begin, next - 1)) {
    store<u32>(entryOf(call, yearOf(columns, next - 1)), 0);
  }
}

function entryOf(call: usize, year: i32): usize {
  return call + SCRATCH_ROWS + ((<usize>(year - ALIGNMENT_YEAR_MIN)) << 2);
}

/** Returns the scopes that a row gives, as bits 0 to 2. */
function givenScopesOf(columns: usize, row: u32): i32 {
  const y1 = projectionOf(columns, row, 0),
    y2 = projectionOf(columns, row, 1),
    y3 = projectionOf(columns, row, 2);
  return i32(y1 == y1) | (i32(y2 == y2) << 1) | (i32(y3 == y3) << 2);
}

/** Returns the scopes with a weight above 0 that the baseline and a row give, as bits 0 to 2. */
export function usableScopesOf(call: usize, entity: i32, row: u32): i32 {
  const columns = load<u32>(call, CALL_COLUMNS);
  let usable = givenScopesOf(columns, row);
  for (let scope = 0; scope < 3; scope++) {
    const baseline = baselineOf(columns, entity, scope);
    if (!(baseline == baseline && weightOf(call, scope) > 0)) usable &= ~(1 << scope);
  }
  return usable;
}

/** Flags all rows that share year and label with another row. */
export function flagDuplicates(call: usize, begin: u32, end: u32): void {
  const columns = load<u32>(call, CALL_COLUMNS),
    flags = load<u32>(load<u32>(call, CALL_RESULTS), RESULT_FLAGS);
  const labelCount = chainLabels(call, begin, end);
  for (let label: u32 = 0; label < labelCount; label++) {
    const firstRow = firstOfLabel(call, label);
    indexLine(call, begin, firstRow, 0);
    for (let next = firstRow; next != 0; next = nextOfLabel(call, begin, next - 1)) {
      const last = load<u32>(entryOf(call, yearOf(columns, next - 1)));
      if (last == next) continue;
      addFlag(flags, next - 1, DUPLICATE_YEAR);
      addFlag(flags, last - 1, DUPLICATE_YEAR);
    }
    clearLine(call, begin, firstRow);
  }
}

function addFlag(flags: usize, row: u32, flag: i32): void {
  const flagsAt = flags + ((<usize>row) << 2);
  store<u32>(flagsAt, load<u32>(flagsAt) | (<u32>flag));
}

/**
 * Scores one row by the mean over all years from the baseline to the scored year. Requires that indexLine has indexed
 * the row's label for the row's usable scopes among `scopes`.
 */
export function scoreCumulative(call: usize, entity: i32, row: u32, scopes: i32, record: usize): void {
  const usable = beginRecord(call, entity, row, scopes, record);
  if (usable == 0) return;
  const tables = load<u32>(call, CALL_TABLES),
    columns = load<u32>(call, CALL_COLUMNS),
    baselineYear = baselineYearOf(columns, entity),
    scoredYear = scoredYearOf(tables, baselineYear, yearOf(columns, row));
  const baseline = load<f64>(record, RECORD_BASELINE);
  if (baseline < ZERO_BASELINE_MAX) {
    finishZeroBaseline(call, record, hasEmissions(call, usable, baselineYear));
    return;
  }
  growthFactorOf(call, entity, row, BASIS_CUMULATIVE, record);
  const yearCount = <f64>(scoredYear - baselineYear + 1),
    sum = baseline + sumOfLine(call, usable, baselineYear, baseline, scoredYear),
    q = sum / baseline / yearCount;
  for (let anchor: usize = 0; anchor < 4; anchor++) {
    const total = sumOfAnchor(call, entity, record, anchor, baselineYear - 1, scoredYear);
    store<f64>(record + (anchor << 3), total / yearCount, RECORD_RAW_ANCHORS);
  }
  prepareCurveOf(call, MEAN_ANCHOR_GAP_MIN, record);
  const flags = (<i32>load<f64>(record, RECORD_FLAGS)) | implausibleChangeOf(call, entity, row, record);
  store<f64>(record, <f64>flags, RECORD_FLAGS);
  // The part of q that comes from the given years, without the baseline.
  const firstGivenYear = load<i32>(call, CALL_FIRST_GIVEN_YEAR),
    baselinePart = (<f64>(firstGivenYear - baselineYear + 1) * 0.5) / yearCount,
    givenPart = positive(q - baselinePart);
  finishRecord(
    call,
    record,
    q,
    q - RANGE_CHANGE * givenPart,
    q + RANGE_CHANGE * givenPart,
    q - SENSITIVE_CHANGE * givenPart,
    q + SENSITIVE_CHANGE * givenPart,
  );
}

/**
 * Stores projected and allowed emissions of the years after the baseline through the row's year in the row's record.
 * Requires a record of a row with a value and anchors, and the index that scoreCumulative requires.
 */
export function storeBudgets(call: usize, entity: i32, row: u32, usable: i32, record: usize): void {
  const columns = load<u32>(call, CALL_COLUMNS),
    baselineYear = baselineYearOf(columns, entity),
    year = yearOf(columns, row),
    baseline = load<f64>(record, RECORD_BASELINE);
  store<f64>(record, sumOfLine(call, usable, baselineYear, baseline, year), RECORD_BUDGET_PROJECTED);
  for (let anchor: usize = 0; anchor < 4; anchor++) {
    const allowed = baseline * sumOfAnchor(call, entity, record, anchor, baselineYear, year);
    store<f64>(record + (anchor << 3), allowed, RECORD_BUDGET_ALLOWED);
  }
}

/**
 * Returns the sum of the indexed line over the years after the baseline through `lastYear`, and stores the line's first
 * given year.
 */
function sumOfLine(call: usize, scopes: i32, baselineYear: i32, baseline: f64, lastYear: i32): f64 {
  let previousYear = baselineYear,
    previous = baseline,
    firstGivenYear = 0,
    sum: f64 = 0;
  for (let year = baselineYear + 1; year <= lastYear; year++) {
    const next = load<u32>(entryOf(call, year));
    if (next == 0) continue;
    if (firstGivenYear == 0) firstGivenYear = year;
    const emissions = positive(sumOfRow(call, next - 1, scopes)),
      steps = <f64>(year - previousYear);
    // Between given years the line is an arithmetic series.
    sum += steps * previous + (emissions - previous) * (steps + 1) * 0.5;
    previousYear = year;
    previous = emissions;
  }
  if (previousYear < lastYear) {
    // No given year from here through `lastYear`: the line runs towards the next one, or stays constant.
    let year = lastYear + 1;
    while (year <= ALIGNMENT_YEAR_MAX && load<u32>(entryOf(call, year)) == 0) year++;
    const steps = <f64>(lastYear - previousYear);
    sum += steps * previous;
    if (year <= ALIGNMENT_YEAR_MAX) {
      const emissions = positive(sumOfRow(call, load<u32>(entryOf(call, year)) - 1, scopes));
      sum += ((emissions - previous) / <f64>(year - previousYear)) * (steps * (steps + 1) * 0.5);
    }
  }
  store<i32>(call, firstGivenYear, CALL_FIRST_GIVEN_YEAR);
  return sum;
}

/** Returns whether the indexed line has emissions in any of its given years after the baseline year. */
function hasEmissions(call: usize, scopes: i32, baselineYear: i32): bool {
  for (let year = baselineYear + 1; year <= ALIGNMENT_YEAR_MAX; year++) {
    const next = load<u32>(entryOf(call, year));
    if (next != 0 && sumOfRow(call, next - 1, scopes) > 0) return true;
  }
  return false;
}

/** Returns the weighted sum of a row's emissions in the scopes whose bits are set. */
function sumOfRow(call: usize, row: u32, scopes: i32): f64 {
  const columns = load<u32>(call, CALL_COLUMNS);
  let sum: f64 = 0;
  for (let scope = 0; scope < 3; scope++) {
    if ((scopes >> scope) & 1) sum += weightOf(call, scope) * projectionOf(columns, row, scope);
  }
  return sum;
}

/** Returns the sum of an anchor's blended pathway over the years after `afterYear` through `lastYear`. */
function sumOfAnchor(call: usize, entity: i32, record: usize, anchor: usize, afterYear: i32, lastYear: i32): f64 {
  const tables = load<u32>(call, CALL_TABLES),
    columns = load<u32>(call, CALL_COLUMNS);
  let sum: f64 = 0;
  for (let scope = 0; scope < 3; scope++) {
    const offset = pathwayOf(columns, entity, scope) * PATHWAY_BYTES + (anchor << 3);
    sum +=
      perBaseShareOf(call, entity, scope, record) *
      (indexSumThrough(tables, offset, lastYear) - indexSumThrough(tables, offset, afterYear));
  }
  return sum;
}

/**
 * Returns the sum of the emissions index at `offset` from the table's first year through `year`; outside the table the
 * index is constant.
 */
function indexSumThrough(tables: usize, offset: usize, year: i32): f64 {
  const firstYear = <i32>load<f64>(tables, TABLE_FIRST_YEAR),
    lastYear = <i32>load<f64>(tables, TABLE_LAST_YEAR),
    yearIndex = yearIndexOf(tables, year);
  const sum = load<f64>(sumTable(tables) + yearIndex * YEAR_SUMS_BYTES + offset),
    emissionsIndex = load<f64>(tables + TABLE_YEARS + yearIndex * YEAR_BYTES + offset);
  return sum + <f64>(year - max(firstYear, min(year, lastYear))) * emissionsIndex;
}
