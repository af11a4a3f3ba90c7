import {
  ALIGNMENT_YEAR_MAX,
  ALIGNMENT_YEAR_MIN,
  BASIS_INTENSITY,
  BEYOND_TABLE,
  CALL_BASIS,
  CALL_COLUMNS,
  CALL_TABLES,
  CALL_WEIGHT_3,
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
  optionalAt,
  pathwayOfScope3,
  projectionOf,
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
/** i32: bits GIVEN_* of the scopes that rows must give; -1 if they must be scored one by one. */
export const ENTITY_GIVEN_SCOPES: usize = 72;
export const ENTITY_INDEX: usize = 76;
/** i32: whether years ascend, so that none is given twice. */
export const ENTITY_IS_ASCENDING: usize = 80;

// Record of a prepared row. Byte offsets.
/** u32: addresses of the scored year in the tables, of the prepared entity, and of the growth ratio of the year. */
export const ROW_YEAR: usize = 0;
export const ROW_ENTITY: usize = 4;
export const ROW_GROWTH: usize = 8;
/** u32: address of the limits of IMPLAUSIBLE_CHANGE. */
export const ROW_LIMITS: usize = 12;
export const ROW_FLAGS: usize = 16;
/** u32: address of the powers of scales if the year is before the horizon, else 0; and the exponent, f64. */
export const ROW_SCALES: usize = 20;
export const ROW_EXPONENT: usize = 24;

/** Bits of ENTITY_GIVEN_SCOPES, two apart: the bits of two rows, one per lane, can be interleaved. */
export const GIVEN_SCOPE_1: i32 = 1;
export const GIVEN_SCOPE_2: i32 = 4;
export const GIVEN_SCOPE_3: i32 = 16;

/** Offset of scope 2's pathway within a year of the tables. */
export const POWER_OFFSET: usize = <usize>PATHWAY_POWER * PATHWAY_BYTES;

/**
 * Writes one record per entity and per row of a block; after the last row a copy of it.
 *
 * In       first, end  entities of the block; `end` is the index after the last
 * Returns  false if a value is invalid, except the projected emissions, which are not read
 * Requires end - first <= BLOCK_ENTITIES and less than BLOCK_ROWS rows; basis intensity or emissions
 */
export function prepareBlock(call: usize, first: i32, end: i32): bool {
  const columns = load<u32>(call, CALL_COLUMNS),
    starts = load<u32>(columns, COLUMN_STARTS),
    columnsBegin = load<u32>(starts),
    weight3 = load<f64>(call, CALL_WEIGHT_3);
  let entityAt = call + SCRATCH_ENTITIES,
    rowAt = call + SCRATCH_BLOCK_ROWS;
  for (let entity = first; entity < end; entity++, entityAt += ENTITY_BYTES) {
    const flags = prepareEntity(call, columns, entity, entityAt, weight3);
    if (flags < 0) return false;
    const begin = load<u32>(starts + ((<usize>entity) << 2)) - columnsBegin,
      rowsEnd = load<u32>(starts + ((<usize>entity) << 2), 4) - columnsBegin;
    if (!prepareRows(call, columns, entity, entityAt, rowAt, begin, rowsEnd, flags)) return false;
    rowAt += <usize>(rowsEnd - begin) * ROW_BYTES;
  }
  if (rowAt > call + SCRATCH_BLOCK_ROWS) {
    v128.store(rowAt, v128.load(rowAt - ROW_BYTES));
    v128.store(rowAt, v128.load(rowAt - ROW_BYTES, 16), 16);
  }
  return true;
}

/** Writes the record of an entity, and returns the flags of all of its rows; -1 if a value is invalid. */
function prepareEntity(call: usize, columns: usize, entity: i32, entityAt: usize, weight3: f64): i32 {
  const tables = load<u32>(call, CALL_TABLES),
    at8 = (<usize>entity) << 3;
  const baselineYear = load<i32>(load<u32>(columns, COLUMN_BASELINE_YEARS) + ((<usize>entity) << 2)),
    pathway = <i32>load<u8>(load<u32>(columns, COLUMN_PATHWAYS) + <usize>entity),
    givenSeries = <i32>load<u8>(load<u32>(columns, COLUMN_GROWTH_SERIES) + <usize>entity),
    seriesCount = <i32>load<f64>(tables, TABLE_SERIES_COUNT);
  const e1 = load<f64>(load<u32>(columns, COLUMN_BASELINES) + at8),
    e2 = load<f64>(load<u32>(columns, COLUMN_BASELINES + 4) + at8),
    e3 = load<f64>(load<u32>(columns, COLUMN_BASELINES + 8) + at8);
  if (
    baselineYear < ALIGNMENT_YEAR_MIN ||
    pathway >= PATHWAY_COUNT ||
    (givenSeries != NO_GROWTH_SERIES && givenSeries >= seriesCount) ||
    Math.abs(e1) > EMISSIONS_MAX ||
    Math.abs(e2) > EMISSIONS_MAX ||
    Math.abs(e3) > EMISSIONS_MAX ||
    Math.abs(optionalAt(columns, COLUMN_BASELINE_REVENUES, entity)) > EMISSIONS_MAX
  ) {
    return -1;
  }
  const has1 = e1 == e1,
    has2 = e2 == e2,
    has3 = e3 == e3 && weight3 > 0;
  const w1: f64 = has1 ? e1 : 0,
    w2: f64 = has2 ? e2 : 0,
    w3: f64 = has3 ? weight3 * e3 : 0;
  const baseline = w1 + w2 + w3;
  // Without negative scopes the sum is that of the shares as well.
  const isRegular = baseline >= ZERO_BASELINE_MAX && !(e1 < 0) && !(e2 < 0) && !(e3 < 0);
  const firstYear = <i32>load<f64>(tables, TABLE_FIRST_YEAR),
    lastYear = <i32>load<f64>(tables, TABLE_LAST_YEAR),
    baseIndex = <usize>(max(firstYear, min(baselineYear, lastYear)) - firstYear),
    perBase = tables + TABLE_YEARS + (baseIndex << YEAR_BITS) + YEAR_PER_BASE;
  const pathway3 = pathwayOfScope3(pathway);
  const share1 = w1 / baseline,
    share2 = w2 / baseline,
    share3 = w3 / baseline;
  store<f64>(entityAt, share1 * load<f64>(perBase + ((<usize>pathway) << 3)), ENTITY_SHARES);
  store<f64>(entityAt, share2 * load<f64>(perBase + (PATHWAY_POWER << 3)), ENTITY_SHARES + 8);
  store<f64>(entityAt, share3 * load<f64>(perBase + ((<usize>pathway3) << 3)), ENTITY_SHARES + 16);
  store<f64>(entityAt, baseline, ENTITY_BASELINE);
  store<f64>(entityAt, share1 >= NOTABLE_SHARE ? 1 / e1 : NaN, ENTITY_PER_SCOPE);
  store<f64>(entityAt, share2 >= NOTABLE_SHARE ? 1 / e2 : NaN, ENTITY_PER_SCOPE + 8);
  store<f64>(entityAt, share3 >= NOTABLE_SHARE ? 1 / e3 : NaN, ENTITY_PER_SCOPE + 16);
  store<u32>(entityAt, <u32>(pathway * <i32>PATHWAY_BYTES), ENTITY_PATHWAY);
  store<u32>(entityAt, <u32>(pathway3 * <i32>PATHWAY_BYTES), ENTITY_PATHWAY_3);
  const given = i32(has1) | (i32(has2) << 2) | (i32(has3) << 4);
  store<i32>(entityAt, isRegular ? given : -1, ENTITY_GIVEN_SCOPES);
  store<i32>(entityAt, entity, ENTITY_INDEX);
  const isIntensity = load<i32>(call, CALL_BASIS) == BASIS_INTENSITY,
    growth = growthRow(tables, isIntensity ? givenSeries : NO_GROWTH_SERIES);
  store<f64>(entityAt, 1 / load<f64>(growth + (baseIndex << 3), 8), ENTITY_PER_GROWTH);
  let flags = baselineYear < EARLY_BASELINE_YEAR ? EARLY_BASELINE : 0;
  if (isIntensity && givenSeries == NO_GROWTH_SERIES) flags |= GROWTH_DEFAULT;
  if (isIntensity && givenSeries != NO_GROWTH_SERIES && load<f64>(growth) > 0) flags |= GROWTH_REGION;
  return flags | (i32(e3 != e3 && weight3 > 0) * SCOPE3_ABSENT);
}

/** Writes the records of an entity's rows. Returns false if a year, revenue or label is invalid. */
function prepareRows(
  call: usize,
  columns: usize,
  entity: i32,
  entityAt: usize,
  firstRowAt: usize,
  begin: u32,
  end: u32,
  entityFlags: i32,
): bool {
  const tables = load<u32>(call, CALL_TABLES);
  const firstYear = <i32>load<f64>(tables, TABLE_FIRST_YEAR),
    lastYear = <i32>load<f64>(tables, TABLE_LAST_YEAR),
    baselineYear = load<i32>(load<u32>(columns, COLUMN_BASELINE_YEARS) + ((<usize>entity) << 2)),
    horizon = max(baselineYear + SHORTEST_HORIZON_YEARS, <i32>load<f64>(tables, TABLE_HORIZON_YEAR));
  const isIntensity = load<i32>(call, CALL_BASIS) == BASIS_INTENSITY,
    series = <i32>load<u8>(load<u32>(columns, COLUMN_GROWTH_SERIES) + <usize>entity),
    growth = growthRow(tables, isIntensity ? series : NO_GROWTH_SERIES) + 8,
    limits = tables + TABLE_PLAUSIBLE_CHANGES,
    yearTable = tables + TABLE_YEARS;
  let flags = entityFlags;
  if (flags & SCOPE3_ABSENT) {
    for (let row = begin; row < end; row++) {
      const projected3 = projectionOf(columns, row, 2);
      if (projected3 == projected3) flags &= ~SCOPE3_ABSENT;
    }
  }
  const years = load<u32>(columns, COLUMN_YEARS);
  let rowAt = firstRowAt,
    previousYear = baselineYear,
    isAscending = load<u32>(columns, COLUMN_LABELS) == 0;
  for (let row = begin; row < end; row++, rowAt += ROW_BYTES) {
    const year = load<i32>(years + ((<usize>row) << 2));
    if (year <= baselineYear || year > ALIGNMENT_YEAR_MAX) return false;
    if (year <= previousYear) isAscending = false;
    previousYear = year;
    const elapsed = year - baselineYear,
      isShort = year < horizon,
      scoredYear = max(year, horizon);
    store<u32>(rowAt, <u32>(yearTable + ((<usize>(min(scoredYear, lastYear) - firstYear)) << YEAR_BITS)), ROW_YEAR);
    store<u32>(rowAt, <u32>entityAt, ROW_ENTITY);
    store<u32>(rowAt, <u32>(growth + ((<usize>(max(firstYear, min(year, lastYear)) - firstYear)) << 3)), ROW_GROWTH);
    store<u32>(rowAt, <u32>(limits + ((<usize>min<i32>(elapsed, CHANGE_YEARS_MAX)) << 4)), ROW_LIMITS);
    store<i32>(rowAt, flags | (i32(isShort) * SHORT_HORIZON) | (i32(scoredYear > lastYear) * BEYOND_TABLE), ROW_FLAGS);
    store<u32>(rowAt, 0, ROW_SCALES);
    if (!isShort) continue;
    const horizonYears = horizon - baselineYear;
    store<u32>(rowAt, <u32>scalesOf(tables, horizonYears, elapsed), ROW_SCALES);
    store<f64>(rowAt, <f64>horizonYears / <f64>elapsed, ROW_EXPONENT);
    // Beyond the table of scales every row is scored alone.
    if (horizonYears > TABLED_HORIZON_MAX) store<i32>(entityAt, -1, ENTITY_GIVEN_SCOPES);
  }
  store<i32>(entityAt, i32(isAscending), ENTITY_IS_ASCENDING);
  return areRevenuesAndLabelsValid(columns, begin, end);
}

function areRevenuesAndLabelsValid(columns: usize, begin: u32, end: u32): bool {
  const labels = load<u32>(columns, COLUMN_LABELS),
    revenues = load<u32>(columns, COLUMN_PROJECTED_REVENUES);
  if (labels != 0) {
    for (let row = begin; row < end; row++) {
      if (<u32>load<u16>(labels + ((<usize>row) << 1)) >= end - begin) return false;
    }
  }
  if (revenues != 0) {
    for (let row = begin; row < end; row++) {
      if (Math.abs(load<f64>(revenues + ((<usize>row) << 3))) > EMISSIONS_MAX) return false;
    }
  }
  return true;
}
