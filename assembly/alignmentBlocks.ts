import {
  ALIGNMENT_YEAR_MAX,
  ALIGNMENT_YEAR_MIN,
  BASIS_INTENSITY,
  BEYOND_TABLE,
  CALL_BASIS,
  CALL_COLUMNS,
  CALL_TABLES,
  CALL_WEIGHT_3,
  CHANGE_BITS,
  CHANGE_YEARS_MAX,
  COLUMN_BASELINES,
  COLUMN_BASELINE_REVENUES,
  COLUMN_BASELINE_YEARS,
  COLUMN_GROWTH_SERIES,
  COLUMN_LABELS,
  COLUMN_PATHWAYS,
  COLUMN_PROJECTED_REVENUES,
  COLUMN_STARTS,
  COLUMN_YEARS,
  EARLY_BASELINE,
  EARLY_BASELINE_YEAR,
  EMISSIONS_MAX,
  ENTITY_BYTES,
  GROWTH_DEFAULT,
  GROWTH_REGION,
  NOTABLE_SHARE,
  NO_GROWTH_SERIES,
  PATHWAY_BYTES,
  PATHWAY_COUNT,
  PATHWAY_POWER,
  ROW_BYTES,
  SCOPE3_ABSENT,
  SCRATCH_BLOCK_ROWS,
  SCRATCH_ENTITIES,
  SHORTEST_HORIZON_YEARS,
  SHORT_HORIZON,
  TABLED_HORIZON_MAX,
  TABLE_FIRST_YEAR,
  TABLE_HORIZON_YEAR,
  TABLE_LAST_YEAR,
  TABLE_PLAUSIBLE_CHANGES,
  TABLE_SERIES_COUNT,
  TABLE_YEARS,
  YEAR_BITS,
  YEAR_PER_BASE,
  ZERO_BASELINE_MAX,
  growthRow,
  labelOf,
  optionalAt,
  pairOf,
  pathwayOfScope3,
  projectionOf,
  rowsBegin,
  rowsEnd as rowsEndOf,
  scalesOf,
} from "./alignmentLayout";

// Record of a prepared entity: what its rows have in common. Byte offsets.
/** f64[3]: the scope's share of the baseline / emissions index of the world in the baseline year. */
export const ENTITY_SHARES: usize = 0;
/** f64: E(b) */
export const ENTITY_BASELINE: usize = 24;
/** f64[3]: 1 / the scope's emissions in the baseline; NaN if its share is too small for IMPLAUSIBLE_CHANGE. */
export const ENTITY_PER_SCOPE: usize = 32;
/** f64: 1 / growth ratio of the baseline year. */
export const ENTITY_PER_GROWTH: usize = 56;
/** u32: offsets of the pathways of scopes 1 and 3 within a year of the tables. */
export const ENTITY_PATHWAY: usize = 64;
export const ENTITY_PATHWAY_3: usize = 68;
/**
 * i32: the scopes that a row must give to be scored in a pair, as bits 0, 2 and 4; -1 if all rows must be scored one by
 * one.
 */
export const ENTITY_GIVEN_SCOPES: usize = 72;
export const ENTITY_INDEX: usize = 76;
/** i32: whether years ascend, so that none is given twice. */
export const ENTITY_IS_ASCENDING: usize = 80;

// Record of a prepared row. Byte offsets.
/** u32: addresses of the scored year in the tables, of the prepared entity, and of the growth ratio of the year. */
export const ROW_YEAR: usize = 0;
export const ROW_ENTITY: usize = 4;
export const ROW_GROWTH: usize = 8;
/** u32: address of the closer limits of IMPLAUSIBLE_CHANGE. */
export const ROW_LIMITS: usize = 12;
export const ROW_FLAGS: usize = 16;
/** u32: address of the powers of scales if the year is before the horizon, else 0. */
export const ROW_SCALES: usize = 20;
/** f64: exponent of the extrapolation, if the year is before the horizon. */
export const ROW_EXPONENT: usize = 24;

/**
 * ENTITY_GIVEN_SCOPES of an entity with all scopes: bits 0, 2 and 4. The bits are two apart so that those of two rows,
 * one per lane, can be interleaved.
 */
export const ALL_GIVEN: i32 = 21;

/** Offset of scope 2's pathway within a year of the tables. */
export const POWER_OFFSET: usize = <usize>PATHWAY_POWER * PATHWAY_BYTES;

/**
 * Writes one record per entity and one per row of a block, and repeats the record of the last row after it.
 *
 * In       first, end  entities of the block; `end` is the index after the last
 * Returns  false if a value is invalid, except the projected emissions, which are not read
 * Requires end - first <= BLOCK_ENTITIES and less than BLOCK_ROWS rows; basis intensity or emissions
 */
export function prepareBlock(call: usize, first: i32, end: i32): bool {
  const tables = load<u32>(call, CALL_TABLES),
    columns = load<u32>(call, CALL_COLUMNS),
    weight3 = load<f64>(call, CALL_WEIGHT_3),
    isIntensity = load<i32>(call, CALL_BASIS) == BASIS_INTENSITY;
  const baselineYears = load<u32>(columns, COLUMN_BASELINE_YEARS),
    pathways = load<u32>(columns, COLUMN_PATHWAYS),
    growthSeries = load<u32>(columns, COLUMN_GROWTH_SERIES),
    baselines1 = load<u32>(columns, COLUMN_BASELINES),
    baselines2 = load<u32>(columns, COLUMN_BASELINES + 4),
    baselines3 = load<u32>(columns, COLUMN_BASELINES + 8),
    starts = load<u32>(columns, COLUMN_STARTS),
    years = load<u32>(columns, COLUMN_YEARS),
    hasLabels = load<u32>(columns, COLUMN_LABELS) != 0,
    columnsBegin = load<u32>(starts);
  const firstYear = <i32>load<f64>(tables, TABLE_FIRST_YEAR),
    lastYear = <i32>load<f64>(tables, TABLE_LAST_YEAR),
    horizonYear = <i32>load<f64>(tables, TABLE_HORIZON_YEAR),
    seriesCount = <i32>load<f64>(tables, TABLE_SERIES_COUNT),
    growthRows = growthRow(tables, 0),
    growthRowBytes = growthRow(tables, 1) - growthRows,
    limits = <i32>tables + <i32>TABLE_PLAUSIBLE_CHANGES + 16,
    yearTable = tables + TABLE_YEARS,
    yearZero = <i32>yearTable - (firstYear << YEAR_BITS);
  const ones = f64x2.splat(1),
    notable = f64x2.splat(NOTABLE_SHARE);

  let rowAt = call + SCRATCH_BLOCK_ROWS;
  for (let entity = first, entityAt = call + SCRATCH_ENTITIES; entity < end; entity++, entityAt += ENTITY_BYTES) {
    const at8 = (<usize>entity) << 3;
    const baselineYear = load<i32>(baselineYears + ((<usize>entity) << 2)),
      pathway = <i32>load<u8>(pathways + <usize>entity),
      givenSeries = <i32>load<u8>(growthSeries + <usize>entity);
    const e12 = pairOf(baselines1 + at8, baselines2 + at8),
      e3 = load<f64>(baselines3 + at8);
    if (
      baselineYear < ALIGNMENT_YEAR_MIN ||
      pathway >= PATHWAY_COUNT ||
      (givenSeries >= seriesCount && givenSeries != NO_GROWTH_SERIES) ||
      v128.any_true(f64x2.gt(f64x2.abs(e12), f64x2.splat(EMISSIONS_MAX))) ||
      Math.abs(e3) > EMISSIONS_MAX
    ) {
      return false;
    }
    const has12 = f64x2.eq(e12, e12),
      has3 = e3 == e3 && weight3 > 0;
    const w12 = v128.and(e12, has12),
      w3: f64 = has3 ? weight3 * e3 : 0;
    const baseline = f64x2.extract_lane(w12, 0) + f64x2.extract_lane(w12, 1) + w3;
    // Without negative scopes, this sum is also the denominator of the shares.
    const isRegular = baseline >= ZERO_BASELINE_MAX && !v128.any_true(f64x2.lt(e12, f64x2.splat(0))) && !(e3 < 0);
    const baseYear = max(firstYear, min(baselineYear, lastYear)),
      perBase = <usize>(yearZero + (baseYear << YEAR_BITS)) + YEAR_PER_BASE,
      pathway3 = pathwayOfScope3(pathway);
    const shares12 = f64x2.div(w12, f64x2.splat(baseline)),
      // Share of scope 3, and 1 / its emissions.
      share3 = f64x2.div(f64x2.replace_lane(ones, 0, w3), f64x2.replace_lane(f64x2.splat(e3), 0, baseline));
    v128.store(
      entityAt,
      f64x2.mul(shares12, pairOf(perBase + ((<usize>pathway) << 3), perBase + (PATHWAY_POWER << 3))),
      ENTITY_SHARES,
    );
    store<f64>(
      entityAt,
      f64x2.extract_lane(share3, 0) * load<f64>(perBase + ((<usize>pathway3) << 3)),
      ENTITY_SHARES + 16,
    );
    store<f64>(entityAt, baseline, ENTITY_BASELINE);
    // OR with all ones gives NaN.
    v128.store(entityAt, v128.or(f64x2.div(ones, e12), v128.not(f64x2.ge(shares12, notable))), ENTITY_PER_SCOPE);
    v128.store64_lane(
      entityAt,
      v128.or(share3, v128.not(f64x2.ge(v128.shuffle<f64>(share3, share3, 0, 0), notable))),
      1,
      ENTITY_PER_SCOPE + 16,
    );
    store<u32>(entityAt, <u32>(pathway * <i32>PATHWAY_BYTES), ENTITY_PATHWAY);
    store<u32>(entityAt, <u32>(pathway3 * <i32>PATHWAY_BYTES), ENTITY_PATHWAY_3);
    const given12 = i64x2.bitmask(has12),
      given = (given12 & 1) | ((given12 & 2) << 1) | (i32(has3) << 4);
    store<i32>(entityAt, isRegular ? given : -1, ENTITY_GIVEN_SCOPES);
    store<i32>(entityAt, entity, ENTITY_INDEX);
    const series = isIntensity ? min(givenSeries, seriesCount) : seriesCount,
      growth = growthRows + <usize>series * growthRowBytes,
      growthZero = <i32>growth + 8 - (firstYear << 3);
    store<f64>(entityAt, 1 / load<f64>(<usize>(growthZero + (baseYear << 3))), ENTITY_PER_GROWTH);

    let flags = i32(baselineYear < EARLY_BASELINE_YEAR) * EARLY_BASELINE;
    if (isIntensity) flags |= series == seriesCount ? GROWTH_DEFAULT : i32(load<f64>(growth) > 0) * GROWTH_REGION;
    const begin = load<u32>(starts + ((<usize>entity) << 2)) - columnsBegin,
      rowsEnd = load<u32>(starts + ((<usize>entity) << 2), 4) - columnsBegin;
    if (e3 != e3 && weight3 > 0 && isScope3Absent(columns, begin, rowsEnd)) flags |= SCOPE3_ABSENT;

    const horizon = max(baselineYear + SHORTEST_HORIZON_YEARS, horizonYear);
    let previousYear = baselineYear,
      isAscending = !hasLabels;
    for (let row = begin; row < rowsEnd; row++, rowAt += ROW_BYTES) {
      const year = load<i32>(years + ((<usize>row) << 2));
      if (year <= baselineYear || year > ALIGNMENT_YEAR_MAX) return false;
      if (year <= previousYear) isAscending = false;
      previousYear = year;
      const elapsed = year - baselineYear,
        scoredYear = max(year, horizon),
        yearAt = yearZero + (min(scoredYear, lastYear) << YEAR_BITS),
        growthAt = growthZero + (max(firstYear, min(year, lastYear)) << 3),
        limitsAt = limits + (min<i32>(elapsed, CHANGE_YEARS_MAX) << CHANGE_BITS),
        rowFlags = flags | (i32(scoredYear > lastYear) * BEYOND_TABLE);
      store<i32>(rowAt, yearAt, ROW_YEAR);
      store<i32>(rowAt, <i32>entityAt, ROW_ENTITY);
      store<i32>(rowAt, growthAt, ROW_GROWTH);
      store<i32>(rowAt, limitsAt, ROW_LIMITS);
      store<u64>(rowAt, <u64>rowFlags, ROW_FLAGS); // also sets ROW_SCALES to 0
      if (year >= horizon) continue;
      const horizonYears = horizon - baselineYear;
      store<i32>(rowAt, rowFlags | SHORT_HORIZON, ROW_FLAGS);
      store<u32>(rowAt, <u32>scalesOf(tables, horizonYears, elapsed), ROW_SCALES);
      store<f64>(rowAt, <f64>horizonYears / <f64>elapsed, ROW_EXPONENT);
      // If the horizon is beyond the table of scales, the rows are scored one by one.
      if (horizonYears > TABLED_HORIZON_MAX) store<i32>(entityAt, -1, ENTITY_GIVEN_SCOPES);
    }
    store<i32>(entityAt, i32(isAscending), ENTITY_IS_ASCENDING);
  }
  if (rowAt > call + SCRATCH_BLOCK_ROWS) {
    v128.store(rowAt, v128.load(rowAt - ROW_BYTES));
    v128.store(rowAt, v128.load(rowAt - ROW_BYTES, 16), 16);
  }
  return areRevenuesAndLabelsValid(columns, first, end);
}

function isScope3Absent(columns: usize, begin: u32, end: u32): bool {
  for (let row = begin; row < end; row++) {
    const projected3 = projectionOf(columns, row, 2);
    if (projected3 == projected3) return false;
  }
  return true;
}

function areRevenuesAndLabelsValid(columns: usize, first: i32, end: i32): bool {
  const hasBaselineRevenues = load<u32>(columns, COLUMN_BASELINE_REVENUES) != 0,
    hasProjectedRevenues = load<u32>(columns, COLUMN_PROJECTED_REVENUES) != 0,
    hasLabels = load<u32>(columns, COLUMN_LABELS) != 0;
  if (!(hasBaselineRevenues || hasProjectedRevenues || hasLabels)) return true;
  for (let entity = first; entity < end; entity++) {
    if (Math.abs(optionalAt(columns, COLUMN_BASELINE_REVENUES, entity)) > EMISSIONS_MAX) return false;
    if (!(hasProjectedRevenues || hasLabels)) continue;
    const begin = rowsBegin(columns, entity),
      rowCount = rowsEndOf(columns, entity) - begin;
    for (let i: u32 = 0; i < rowCount; i++) {
      if (labelOf(columns, begin + i) >= rowCount) return false;
      if (Math.abs(optionalAt(columns, COLUMN_PROJECTED_REVENUES, begin + i)) > EMISSIONS_MAX) return false;
    }
  }
  return true;
}
