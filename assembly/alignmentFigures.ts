import {
  BASIS_INTENSITY,
  BEYOND_TABLE,
  CHANGE_BITS,
  CHANGE_YEARS_MAX,
  COLUMN_BASELINE_REVENUES,
  COLUMN_PROJECTED_REVENUES,
  COLUMN_GROWTH_SERIES,
  COUNTRY_GROWTH_MAX,
  COUNTRY_GROWTH_MIN,
  CALL_COLUMNS,
  CALL_HAS_COVERAGE,
  CALL_TABLES,
  EARLY_BASELINE,
  EARLY_BASELINE_YEAR,
  GROWTH_DEFAULT,
  GROWTH_LIMITED,
  GROWTH_REGION,
  GROWTH_SOURCE_COUNTRY,
  GROWTH_SOURCE_DEFAULT,
  GROWTH_SOURCE_NONE,
  GROWTH_SOURCE_REGION,
  GROWTH_SOURCE_SUPPLIED,
  IMPLAUSIBLE_CHANGE,
  NEGATIVE_SCOPE,
  NOTABLE_SHARE,
  NO_GROWTH_SERIES,
  NO_USABLE_SCOPE,
  RECORD_BASELINE,
  RECORD_BYTES,
  RECORD_COVERAGE,
  RECORD_EVALUATED_YEAR,
  RECORD_FLAGS,
  RECORD_GROWTH_FACTOR,
  RECORD_GROWTH_SOURCE,
  RECORD_PROJECTED,
  RECORD_SHARES,
  RECORD_USABLE,
  REVENUE_UNUSABLE,
  SCOPE_DROPPED,
  SHORT_HORIZON,
  SUPPLIED_GROWTH_MAX,
  SUPPLIED_GROWTH_MIN,
  TABLE_LAST_YEAR,
  TABLE_PLAUSIBLE_CHANGES,
  TABLE_YEARS,
  YEAR_BYTES,
  YEAR_POOL,
  baselineOf,
  baselineYearOf,
  growthRow,
  optionalAt,
  positive,
  projectionOf,
  scoredYearOf,
  weightOf,
  yearIndexOf,
  yearOf,
} from "./alignmentLayout";

/**
 * Clears a record and stores what all bases have in common: usable scopes, sums, shares, coverage, and the flags of
 * scopes and years.
 *
 * @param scopes bits 0 to 2 of the scopes to include
 * @returns the usable scopes as bits 0 to 2
 */
export function beginRecord(call: usize, entity: i32, row: u32, scopes: i32, record: usize): i32 {
  for (let offset: usize = 0; offset < RECORD_BYTES; offset += 8) store<f64>(record + offset, NaN);
  const tables = load<u32>(call, CALL_TABLES),
    columns = load<u32>(call, CALL_COLUMNS);
  const baselineYear = baselineYearOf(columns, entity),
    year = yearOf(columns, row),
    scoredYear = scoredYearOf(tables, baselineYear, year),
    lastYear = <i32>load<f64>(tables, TABLE_LAST_YEAR);
  let flags = 0,
    usable = 0,
    baseline: f64 = 0,
    projected: f64 = 0,
    shares: f64 = 0;
  for (let scope = 0; scope < 3; scope++) {
    const weight = weightOf(call, scope),
      before = baselineOf(columns, entity, scope),
      after = projectionOf(columns, row, scope);
    if (before < 0 || after < 0) flags |= NEGATIVE_SCOPE;
    store<f64>(record + RECORD_SHARES + ((<usize>scope) << 3), 0);
    if (!(weight > 0)) continue;
    const hasBaseline = before == before,
      hasProjection = after == after;
    if (hasBaseline != hasProjection) flags |= SCOPE_DROPPED;
    if (!hasBaseline || !hasProjection || !((scopes >> scope) & 1)) continue;
    usable |= 1 << scope;
    baseline += weight * before;
    projected += weight * after;
    shares += weight * positive(before);
  }
  if (scoredYear > lastYear) flags |= BEYOND_TABLE;
  if (baselineYear < EARLY_BASELINE_YEAR) flags |= EARLY_BASELINE;
  if (year < scoredYear) flags |= SHORT_HORIZON;
  store<f64>(record, <f64>min(scoredYear, lastYear), RECORD_EVALUATED_YEAR);
  store<f64>(record, <f64>usable, RECORD_USABLE);
  if (flags & SCOPE_DROPPED) {
    store<f64>(record, coverageOf(call, entity, row, usable), RECORD_COVERAGE);
    store<u32>(call, 1, CALL_HAS_COVERAGE);
  }
  if (usable == 0) {
    store<f64>(record, <f64>(flags | NO_USABLE_SCOPE), RECORD_FLAGS);
    return 0;
  }
  store<f64>(record, <f64>flags, RECORD_FLAGS);
  store<f64>(record, baseline, RECORD_BASELINE);
  store<f64>(record, projected, RECORD_PROJECTED);
  for (let scope = 0; scope < 3; scope++) {
    if (!((usable >> scope) & 1)) continue;
    const share = (weightOf(call, scope) * positive(baselineOf(columns, entity, scope))) / shares;
    store<f64>(record + RECORD_SHARES + ((<usize>scope) << 3), share);
  }
  return usable;
}

/** Returns the share of the given emissions that the usable scopes cover, in the year in which it is smaller. */
function coverageOf(call: usize, entity: i32, row: u32, usable: i32): f64 {
  const columns = load<u32>(call, CALL_COLUMNS);
  let givenBefore: f64 = 0,
    givenAfter: f64 = 0,
    usedBefore: f64 = 0,
    usedAfter: f64 = 0;
  for (let scope = 0; scope < 3; scope++) {
    const weight = weightOf(call, scope),
      before = weight * positive(baselineOf(columns, entity, scope)),
      after = weight * positive(projectionOf(columns, row, scope));
    givenBefore += before;
    givenAfter += after;
    if ((usable >> scope) & 1) {
      usedBefore += before;
      usedAfter += after;
    }
  }
  const sideBefore: f64 = givenBefore > 0 ? usedBefore / givenBefore : 1,
    sideAfter: f64 = givenAfter > 0 ? usedAfter / givenAfter : 1;
  return min<f64>(sideBefore, sideAfter);
}

/** Returns the growth factor, and adds its source and flags to the record. Requires a row with a value. */
export function growthFactorOf(call: usize, entity: i32, row: u32, basis: i32, record: usize): f64 {
  const tables = load<u32>(call, CALL_TABLES),
    columns = load<u32>(call, CALL_COLUMNS);
  let flags = <i32>load<f64>(record, RECORD_FLAGS),
    source = GROWTH_SOURCE_NONE,
    factor: f64 = 1;
  if (basis == BASIS_INTENSITY) {
    const baseIndex = yearIndexOf(tables, baselineYearOf(columns, entity)),
      yearIndex = yearIndexOf(tables, yearOf(columns, row));
    const revenue = optionalAt(columns, COLUMN_BASELINE_REVENUES, entity),
      projectedRevenue = optionalAt(columns, COLUMN_PROJECTED_REVENUES, row),
      series = <i32>load<u8>(load<u32>(columns, COLUMN_GROWTH_SERIES) + <usize>entity);
    let ratio: f64 = 1;
    if (revenue > 0 && projectedRevenue > 0) {
      const pool = tables + TABLE_YEARS + YEAR_POOL;
      ratio =
        load<f64>(pool + yearIndex * YEAR_BYTES) /
        load<f64>(pool + baseIndex * YEAR_BYTES) /
        (projectedRevenue / revenue);
      factor = max<f64>(SUPPLIED_GROWTH_MIN, min<f64>(ratio, SUPPLIED_GROWTH_MAX));
      source = GROWTH_SOURCE_SUPPLIED;
    } else if (series != NO_GROWTH_SERIES) {
      const growth = growthRow(tables, series);
      ratio = load<f64>(growth + (yearIndex << 3), 8) * (1 / load<f64>(growth + (baseIndex << 3), 8));
      factor = max<f64>(COUNTRY_GROWTH_MIN, min<f64>(ratio, COUNTRY_GROWTH_MAX));
      source = load<f64>(growth) > 0 ? GROWTH_SOURCE_REGION : GROWTH_SOURCE_COUNTRY;
    } else source = GROWTH_SOURCE_DEFAULT;
    if (factor != ratio) flags |= GROWTH_LIMITED;
    if (source == GROWTH_SOURCE_REGION) flags |= GROWTH_REGION;
    if (source == GROWTH_SOURCE_DEFAULT) flags |= GROWTH_DEFAULT;
    if (projectedRevenue == projectedRevenue && source != GROWTH_SOURCE_SUPPLIED) flags |= REVENUE_UNUSABLE;
  }
  store<f64>(record, factor, RECORD_GROWTH_FACTOR);
  store<f64>(record, <f64>source, RECORD_GROWTH_SOURCE);
  store<f64>(record, <f64>flags, RECORD_FLAGS);
  return factor;
}

/** Returns IMPLAUSIBLE_CHANGE or 0 for a row with a value, whose record has its sums and shares. */
export function implausibleChangeOf(call: usize, entity: i32, row: u32, record: usize): i32 {
  const columns = load<u32>(call, CALL_COLUMNS),
    usable = <i32>load<f64>(record, RECORD_USABLE);
  const years = yearOf(columns, row) - baselineYearOf(columns, entity),
    limits =
      load<u32>(call, CALL_TABLES) +
      TABLE_PLAUSIBLE_CHANGES +
      ((<usize>min<i32>(years, CHANGE_YEARS_MAX)) << CHANGE_BITS);
  let isImplausible = isImplausibleChange(
    limits,
    load<f64>(record, RECORD_BASELINE),
    load<f64>(record, RECORD_PROJECTED),
  );
  for (let scope = 0; scope < 3; scope++) {
    if (!((usable >> scope) & 1)) continue;
    if (!(load<f64>(record + ((<usize>scope) << 3), RECORD_SHARES) >= NOTABLE_SHARE)) continue;
    if (isImplausibleChange(limits, baselineOf(columns, entity, scope), projectionOf(columns, row, scope))) {
      isImplausible = true;
    }
  }
  const revenue = optionalAt(columns, COLUMN_BASELINE_REVENUES, entity),
    projectedRevenue = optionalAt(columns, COLUMN_PROJECTED_REVENUES, row);
  if (isImplausibleChange(limits, revenue, projectedRevenue)) isImplausible = true;
  return isImplausible ? IMPLAUSIBLE_CHANGE : 0;
}

/** Returns whether both values are above 0 and their ratio is outside the limits, f64[2]. */
function isImplausibleChange(limits: usize, before: f64, after: f64): bool {
  if (!(before > 0 && after > 0)) return false;
  const ratio = after / before;
  return !(ratio >= load<f64>(limits) && ratio <= load<f64>(limits, 8));
}
