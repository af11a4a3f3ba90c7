import {
  ALIGNMENT_YEAR_MAX,
  ALIGNMENT_YEAR_MIN,
  ALL_GIVEN,
  ANCHOR_GAP_MIN,
  BASIS_INTENSITY,
  CHECK_UNITS_ABOVE,
  CHECK_UNITS_BELOW,
  COLUMN_BASELINES,
  COLUMN_BASELINE_YEARS,
  COLUMN_PATHWAYS,
  COLUMN_REGIONS,
  COLUMN_REVENUES,
  COLUMN_STARTS,
  COLUMN_YEARS,
  EARLY_BASELINE,
  EARLY_BASELINE_YEAR,
  EMISSIONS_MAX,
  ENTITY_BYTES,
  GROWTH_REGION_COUNT,
  NEGATIVE_SCOPE,
  ORDINARY_REVENUE_MAX,
  ORDINARY_REVENUE_MIN,
  PATHWAY_BYTES,
  PATHWAY_COUNT,
  PATHWAY_POWER,
  REVENUE_UNUSABLE,
  SCRATCH_BLOCK_ROWS,
  SCRATCH_ENTITIES,
  SCRATCH_LOOP_CONSTANTS,
  SHORTEST_HORIZON_YEARS,
  TABLE_FIRST_YEAR,
  TABLE_HORIZON_YEAR,
  TABLE_LAST_YEAR,
  TABLE_YEARS,
  TEMPERATURE_MAX_C,
  YEAR_ALLOWANCE,
  YEAR_BASES_BYTES,
  YEAR_BITS,
  YEAR_BYTES,
  ZERO_EMISSIONS,
  clampYear,
  givenScopesOf,
  pairOf,
  pathwayOfScope3,
  perBaseTable,
} from "./alignmentLayout";

// Record of a prepared entity: the figures that its rows have in common. Byte offsets.
/** f64[2] each, both lanes equal: the scope's share of the baseline x perBase of the baseline year. */
export const ENTITY_SHARE_1: usize = 0;
export const ENTITY_SHARE_2: usize = 16;
export const ENTITY_SHARE_3: usize = 32;
/** f64: factor from emissions x allowance to the ratio q. */
export const ENTITY_PER_TONNE: usize = 48;
/** u32: offsets of the pathways of scopes 1 and 3 and of the allowance within a year of the tables. */
export const ENTITY_PATHWAY: usize = 56;
export const ENTITY_PATHWAY_3: usize = 60;
export const ENTITY_ALLOWANCE: usize = 64;
/** i32: IS_* */
export const ENTITY_STATE: usize = 68;
export const ENTITY_BASELINE_YEAR: usize = 72;
/** i32: bit mask GIVEN_SCOPE_* of the usable baseline scopes; -1 if the rows must be scored one by one. */
export const ENTITY_GIVEN_SCOPES: usize = 76;
export const ENTITY_FLAGS: usize = 80;
export const ENTITY_IS_ASCENDING: usize = 84;
// Figures of two rows, f64[2] each, after the two entities that prepareEntityForRow has copied.
export const ROW_SUM: usize = 2 * ENTITY_BYTES;
export const ROW_ALLOWANCE: usize = ROW_SUM + 16;
export const ROW_EXPONENT: usize = ROW_SUM + 32;

/**
 * Set if all conditions below hold. Uses two bits so that ANDing it with a two-row bit mask yields IS_SIMPLE only if
 * both rows qualify.
 */
export const IS_SIMPLE: i32 = 3;
/**
 * Baseline and revenue are in the normal range, and the baseline is complete or every row has exactly its scopes.
 */
export const IS_REGULAR: i32 = 4;
/** The baseline has all scopes. */
export const IS_COMPLETE: i32 = 8;
/** No row's year is before the entity's horizon or after the last year of the tables. */
export const IS_WITHIN_TABLES: i32 = 16;

/** Offset of scope 2's pathway within a year of the tables. */
export const POWER_OFFSET: usize = <usize>PATHWAY_POWER * PATHWAY_BYTES;

// Constants of the loops, loaded from memory at each use: V8 has too few registers to keep them and would otherwise
// rebuild constant vectors for every row. f64[2] each, then i32.
export const LOOP_EMISSIONS_MAX: usize = 0;
const LOOP_BASELINE_MIN: usize = 16;
export const LOOP_TEMPERATURE_MAX: usize = 32;
export const LOOP_WEIGHT_3: usize = 48;
const LOOP_BASELINE_WEIGHT_3: usize = 64;
export const LOOP_ANCHOR_GAP: usize = 80;
export const LOOP_CHECK_UNITS_BELOW: usize = 96;
export const LOOP_CHECK_UNITS_ABOVE: usize = 112;
export const LOOP_ONE: usize = 128;
/** i32[4]: 0, 1, 2, 3 */
const LOOP_LANE_INDICES: usize = 144;
export const LOOP_FIRST_YEAR: usize = 160;
export const LOOP_LAST_YEAR: usize = 164;
export const LOOP_HORIZON_YEAR: usize = 168;

/**
 * Writes one prepared record per entity, and per row the addresses of its year's table entry and of its entity's
 * record.
 *
 * In       tables, columns, weight3, basis  as for alignColumns
 *          first, end  entities of the block; `end` is the index after the last
 * Out      scratch     SCRATCH_LOOP_CONSTANTS; at SCRATCH_ENTITIES one record of ENTITY_BYTES per entity; at
 *                      SCRATCH_BLOCK_ROWS u32[row][2]
 * Returns  false if an entity or a year is invalid
 * Requires end - first <= BLOCK_ENTITIES, and at most BLOCK_ROWS rows; basis intensity or emissions
 */
export function prepareEntities(
  tables: usize,
  columns: usize,
  first: i32,
  end: i32,
  weight3: f64,
  basis: i32,
  scratch: usize,
): bool {
  const constants = scratch + SCRATCH_LOOP_CONSTANTS;
  const firstYear = <i32>load<f64>(tables, TABLE_FIRST_YEAR),
    lastYear = <i32>load<f64>(tables, TABLE_LAST_YEAR),
    horizonYear = <i32>load<f64>(tables, TABLE_HORIZON_YEAR);
  v128.store(constants, f64x2.splat(EMISSIONS_MAX), LOOP_EMISSIONS_MAX);
  v128.store(constants, f64x2.splat(ZERO_EMISSIONS), LOOP_BASELINE_MIN);
  v128.store(constants, f64x2.splat(TEMPERATURE_MAX_C), LOOP_TEMPERATURE_MAX);
  v128.store(constants, f64x2.splat(weight3), LOOP_WEIGHT_3);
  // NaN makes scope 3 a missing scope if its weight is 0.
  v128.store(constants, f64x2.splat(weight3 > 0 ? weight3 : NaN), LOOP_BASELINE_WEIGHT_3);
  v128.store(constants, f64x2.splat(ANCHOR_GAP_MIN), LOOP_ANCHOR_GAP);
  v128.store(constants, f64x2.splat(CHECK_UNITS_BELOW), LOOP_CHECK_UNITS_BELOW);
  v128.store(constants, f64x2.splat(CHECK_UNITS_ABOVE), LOOP_CHECK_UNITS_ABOVE);
  v128.store(constants, f64x2.splat(1), LOOP_ONE);
  for (let lane = 0; lane < 4; lane++) store<i32>(constants + ((<usize>lane) << 2), lane, LOOP_LANE_INDICES);
  store<i32>(constants, firstYear, LOOP_FIRST_YEAR);
  store<i32>(constants, lastYear, LOOP_LAST_YEAR);
  store<i32>(constants, horizonYear, LOOP_HORIZON_YEAR);

  const baselineYears = load<u32>(columns, COLUMN_BASELINE_YEARS),
    pathways = load<u32>(columns, COLUMN_PATHWAYS),
    regions = load<u32>(columns, COLUMN_REGIONS),
    baselines1 = load<u32>(columns, COLUMN_BASELINES),
    baselines2 = load<u32>(columns, COLUMN_BASELINES + 4),
    baselines3 = load<u32>(columns, COLUMN_BASELINES + 8),
    starts = load<u32>(columns, COLUMN_STARTS),
    years = load<u32>(columns, COLUMN_YEARS),
    revenues = load<u32>(columns, COLUMN_REVENUES);
  const columnsBegin = load<u32>(starts);
  const perBaseOfYears = perBaseTable(tables);
  const yearTable = tables + TABLE_YEARS;
  const regionMask = basis == BASIS_INTENSITY ? -1 : 0;
  const zero = f64x2.splat(0);

  let areYearsValid = true;
  let rowAt = scratch + SCRATCH_BLOCK_ROWS;
  for (
    let entity = first, entityAt = scratch + SCRATCH_ENTITIES;
    entity < end;
    entity += 2, entityAt += 2 * ENTITY_BYTES
  ) {
    // Two entities at a time, one per lane; an odd last entity is in both lanes.
    const other = min(entity + 1, end - 1);
    const offset8 = (<usize>entity) << 3,
      otherOffset8 = (<usize>other) << 3;
    const year = load<i32>(baselineYears + ((<usize>entity) << 2)),
      otherYear = load<i32>(baselineYears + ((<usize>other) << 2));
    const pathway = <i32>load<u8>(pathways + <usize>entity),
      otherPathway = <i32>load<u8>(pathways + <usize>other);
    const region = <i32>load<u8>(regions + <usize>entity),
      otherRegion = <i32>load<u8>(regions + <usize>other);
    const raw1 = pairOf(baselines1 + offset8, baselines1 + otherOffset8),
      raw2 = pairOf(baselines2 + offset8, baselines2 + otherOffset8),
      raw3 = pairOf(baselines3 + offset8, baselines3 + otherOffset8);
    const emissionsMax = v128.load(constants, LOOP_EMISSIONS_MAX);
    const isTooLarge = v128.or(
      v128.or(f64x2.gt(f64x2.abs(raw1), emissionsMax), f64x2.gt(f64x2.abs(raw2), emissionsMax)),
      f64x2.gt(f64x2.abs(raw3), emissionsMax),
    );
    if (
      min(year, otherYear) < ALIGNMENT_YEAR_MIN ||
      max(pathway, otherPathway) >= PATHWAY_COUNT ||
      max(region, otherRegion) >= GROWTH_REGION_COUNT ||
      v128.any_true(isTooLarge)
    ) {
      return false;
    }
    const weighted3 = f64x2.mul(raw3, v128.load(constants, LOOP_BASELINE_WEIGHT_3));
    const is1 = f64x2.eq(raw1, raw1),
      is2 = f64x2.eq(raw2, raw2),
      is3 = f64x2.eq(weighted3, weighted3);
    const b1 = v128.and(raw1, is1),
      b2 = v128.and(raw2, is2),
      b3 = v128.and(weighted3, is3);
    const p1 = f64x2.pmax(zero, b1),
      p2 = f64x2.pmax(zero, b2),
      p3 = f64x2.pmax(zero, b3);
    const baseline = f64x2.add(f64x2.add(b1, b2), b3),
      shares = f64x2.add(f64x2.add(p1, p2), p3);
    const tableFirstYear = load<i32>(constants, LOOP_FIRST_YEAR),
      tableLastYear = load<i32>(constants, LOOP_LAST_YEAR);
    const baseIndex = <usize>(clampYear(year, tableFirstYear, tableLastYear) - tableFirstYear),
      otherBaseIndex = <usize>(clampYear(otherYear, tableFirstYear, tableLastYear) - tableFirstYear);
    const perBase = perBaseOfYears + baseIndex * YEAR_BASES_BYTES,
      otherPerBase = perBaseOfYears + otherBaseIndex * YEAR_BASES_BYTES;
    const pathway3 = pathwayOfScope3(pathway),
      otherPathway3 = pathwayOfScope3(otherPathway);
    // Basis `emissions` uses the pooled region, which has an allowance of 1 in every year.
    const allowance = YEAR_ALLOWANCE + (region & regionMask) * 8,
      otherAllowance = YEAR_ALLOWANCE + (otherRegion & regionMask) * 8;
    const baseAllowances = pairOf(
      yearTable + baseIndex * YEAR_BYTES + <usize>allowance,
      yearTable + otherBaseIndex * YEAR_BYTES + <usize>otherAllowance,
    );
    const ones = v128.load(constants, LOOP_ONE);
    const perShare = f64x2.div(ones, shares),
      perTonne = f64x2.div(ones, f64x2.mul(baseline, baseAllowances));
    const n1 = f64x2.mul(
        f64x2.mul(p1, perShare),
        pairOf(perBase + ((<usize>pathway) << 3), otherPerBase + ((<usize>otherPathway) << 3)),
      ),
      n2 = f64x2.mul(
        f64x2.mul(p2, perShare),
        pairOf(perBase + (PATHWAY_POWER << 3), otherPerBase + (PATHWAY_POWER << 3)),
      ),
      n3 = f64x2.mul(
        f64x2.mul(p3, perShare),
        pairOf(perBase + ((<usize>pathway3) << 3), otherPerBase + ((<usize>otherPathway3) << 3)),
      );

    v128.store(entityAt, v128.shuffle<f64>(n1, n1, 0, 0), ENTITY_SHARE_1);
    v128.store(entityAt, v128.shuffle<f64>(n1, n1, 1, 1), ENTITY_BYTES + ENTITY_SHARE_1);
    v128.store(entityAt, v128.shuffle<f64>(n2, n2, 0, 0), ENTITY_SHARE_2);
    v128.store(entityAt, v128.shuffle<f64>(n2, n2, 1, 1), ENTITY_BYTES + ENTITY_SHARE_2);
    v128.store(entityAt, v128.shuffle<f64>(n3, n3, 0, 0), ENTITY_SHARE_3);
    v128.store(entityAt, v128.shuffle<f64>(n3, n3, 1, 1), ENTITY_BYTES + ENTITY_SHARE_3);
    v128.store64_lane(entityAt, perTonne, 0, ENTITY_PER_TONNE);
    v128.store64_lane(entityAt, perTonne, 1, ENTITY_BYTES + ENTITY_PER_TONNE);
    store<u32>(entityAt, <u32>(pathway * <i32>PATHWAY_BYTES), ENTITY_PATHWAY);
    store<u32>(entityAt, <u32>(otherPathway * <i32>PATHWAY_BYTES), ENTITY_BYTES + ENTITY_PATHWAY);
    store<u32>(entityAt, <u32>(pathway3 * <i32>PATHWAY_BYTES), ENTITY_PATHWAY_3);
    store<u32>(entityAt, <u32>(otherPathway3 * <i32>PATHWAY_BYTES), ENTITY_BYTES + ENTITY_PATHWAY_3);
    store<u32>(entityAt, <u32>allowance, ENTITY_ALLOWANCE);
    store<u32>(entityAt, <u32>otherAllowance, ENTITY_BYTES + ENTITY_ALLOWANCE);

    const isOrdinaryBaseline = i64x2.bitmask(f64x2.ge(baseline, v128.load(constants, LOOP_BASELINE_MIN))),
      negative = i64x2.bitmask(f64x2.lt(f64x2.pmin(f64x2.pmin(b1, b2), b3), zero)),
      given1 = i64x2.bitmask(is1),
      given2 = i64x2.bitmask(is2),
      given3 = i64x2.bitmask(is3);
    const given = given1 | (given2 << 2) | (given3 << 4);
    for (let lane = 0; lane < 2; lane++) {
      const laneEntity = entity + lane;
      if (laneEntity >= end) break;
      const laneEntityAt = entityAt + <usize>lane * ENTITY_BYTES;
      const baselineYear = lane == 0 ? year : otherYear;
      let entityFlags = ((negative >> lane) & 1) * NEGATIVE_SCOPE;
      if (baselineYear < EARLY_BASELINE_YEAR) entityFlags |= EARLY_BASELINE;
      let isOrdinary = (isOrdinaryBaseline >> lane) & 1;
      if (revenues != 0) {
        const revenue = load<f64>(revenues + ((<usize>laneEntity) << 3));
        if (!(revenue >= ORDINARY_REVENUE_MIN && revenue <= ORDINARY_REVENUE_MAX)) {
          if (revenue > 0 && revenue < Infinity) isOrdinary = 0;
          else entityFlags |= REVENUE_UNUSABLE;
        }
      }
      const laneScopes = (given >> lane) & ALL_GIVEN;
      const horizon = max(baselineYear + SHORTEST_HORIZON_YEARS, load<i32>(constants, LOOP_HORIZON_YEAR));
      const row = load<u32>(starts + ((<usize>laneEntity) << 2)) - columnsBegin,
        rowEnd = load<u32>(starts + ((<usize>laneEntity) << 2), 4) - columnsBegin;
      const yearsAt = years + ((<usize>row) << 2),
        yearsEnd = years + ((<usize>rowEnd) << 2),
        firstRowAt = rowAt;
      const entityAddresses = i32x4.splat(<i32>laneEntityAt),
        yearZeroAddress = i32x4.splat(<i32>yearTable - tableFirstYear * <i32>YEAR_BYTES);
      // Four years at a time; the next entity's years overwrite the surplus.
      const yearCount = <i32>(rowEnd - row);
      let isNotAscending = i32x4.splat(0);
      for (let yearIndex = 0; yearIndex < yearCount; yearIndex += 4) {
        const yearAt = yearsAt + ((<usize>yearIndex) << 2);
        const fourYears = v128.load(yearAt),
          isBeforeLast = i32x4.lt_s(v128.load(constants, LOOP_LANE_INDICES), i32x4.splat(yearCount - 1 - yearIndex));
        isNotAscending = v128.or(isNotAscending, v128.and(i32x4.le_s(v128.load(yearAt, 4), fourYears), isBeforeLast));
        const yearAddresses = i32x4.add(i32x4.shl(fourYears, YEAR_BITS), yearZeroAddress);
        v128.store(rowAt, v128.shuffle<i32>(yearAddresses, entityAddresses, 0, 4, 1, 5));
        v128.store(rowAt, v128.shuffle<i32>(yearAddresses, entityAddresses, 2, 6, 3, 7), 16);
        rowAt += 32;
      }
      rowAt = firstRowAt + ((<usize>yearCount) << 3);
      const firstOfYears = yearCount > 0 ? load<i32>(yearsAt) : horizon,
        lastOfYears = yearCount > 0 ? load<i32>(yearsEnd - 4) : horizon;
      const isAscending = i32(!v128.any_true(isNotAscending));
      let minYear = firstOfYears,
        maxYear = lastOfYears;
      if (!isAscending) {
        for (let yearAt = yearsAt; yearAt < yearsEnd; yearAt += 4) {
          minYear = min(minYear, load<i32>(yearAt));
          maxYear = max(maxYear, load<i32>(yearAt));
        }
      }
      // Rare: some years must be clamped to the horizon or to the tables, so all addresses are written again.
      if (minYear < horizon || maxYear > tableLastYear) {
        rowAt = firstRowAt;
        for (let yearAt = yearsAt; yearAt < yearsEnd; yearAt += 4, rowAt += 8) {
          const scoredYear = min(max(load<i32>(yearAt), horizon), tableLastYear);
          store<u32>(rowAt, <u32>(yearTable + <usize>(scoredYear - tableFirstYear) * YEAR_BYTES));
        }
      }
      if ((minYear <= baselineYear || maxYear > ALIGNMENT_YEAR_MAX) && row < rowEnd) areYearsValid = false;
      const isComplete = i32(laneScopes == ALL_GIVEN),
        isWithinTables = i32(minYear >= horizon) & i32(maxYear <= tableLastYear);
      let isRegular = isOrdinary;
      if (!isComplete) {
        for (let laneRow = row; laneRow < rowEnd && isRegular; laneRow++) {
          isRegular = i32(givenScopesOf(columns, laneRow, weight3) == laneScopes);
        }
      }
      store<i32>(
        laneEntityAt,
        ((isOrdinary & isComplete & isWithinTables) * IS_SIMPLE) |
          (isRegular * IS_REGULAR) |
          (isComplete * IS_COMPLETE) |
          (isWithinTables * IS_WITHIN_TABLES),
        ENTITY_STATE,
      );
      store<i32>(laneEntityAt, baselineYear, ENTITY_BASELINE_YEAR);
      store<i32>(laneEntityAt, isOrdinary ? laneScopes : -1, ENTITY_GIVEN_SCOPES);
      store<i32>(laneEntityAt, entityFlags, ENTITY_FLAGS);
      store<i32>(laneEntityAt, isAscending, ENTITY_IS_ASCENDING);
    }
  }
  return areYearsValid;
}
