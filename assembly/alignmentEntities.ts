import {
  ALIGNMENT_YEAR_MAX,
  ALIGNMENT_YEAR_MIN,
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
  GAP,
  GROWTH_REGION_COUNT,
  NEGATIVE_SCOPE,
  PATHWAY_BYTES,
  PATHWAY_COUNT,
  PATHWAY_POWER,
  PLAIN_REVENUE_MAX,
  PLAIN_REVENUE_MIN,
  REVENUE_UNUSABLE,
  SCRATCH_BLOCK_ROWS,
  SCRATCH_ENTITIES,
  SCRATCH_KEPT,
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
  givenOf,
  pairOf,
  pathwayOfScope3,
  perBaseTable,
} from "./alignmentLayout";

// What the rows of an entity need. Byte offsets.
/** f64[2] each, twice the same: the scope's share of the baseline, by what the world emitted in a baseline of that year. */
export const ENTITY_SHARE_1: usize = 0;
export const ENTITY_SHARE_2: usize = 16;
export const ENTITY_SHARE_3: usize = 32;
/** f64: what makes a ratio of emissions. */
export const ENTITY_PER_TONNE: usize = 48;
/** u32: where, in what the tables hold for a year, the pathways of scopes 1 and 3 stand, and the allowance. */
export const ENTITY_PATHWAY: usize = 56;
export const ENTITY_PATHWAY_3: usize = 60;
export const ENTITY_ALLOWANCE: usize = 64;
/** i32: IS_* */
export const ENTITY_STATE: usize = 68;
export const ENTITY_BASELINE_YEAR: usize = 72;
/** i32: scopes of the baseline that count, bits 0, 2, 4; -1: its rows are to be scored one by one. */
export const ENTITY_GIVEN: usize = 76;
export const ENTITY_FLAGS: usize = 80;
export const ENTITY_IS_ASCENDING: usize = 84;
// After two entities: f64[2] of two odd rows.
export const ENTITY_SUM: usize = 192;
export const ENTITY_ALLOWED: usize = 208;
export const ENTITY_EXPONENTS: usize = 224;

/** In both bits, so that it can be compared with a bit for each of two rows: all of the following. */
export const IS_SIMPLE: i32 = 3;
/** Its rows have the scopes that its baseline has, unless that has all. */
export const IS_REGULAR: i32 = 4;
/** Its baseline has all scopes. */
export const IS_COMPLETE: i32 = 8;
/** Its years lie from the horizon up to the last year of the tables. */
export const IS_IN_REACH: i32 = 16;

/** Where scope 2 stands in a year of the index. */
export const POWER_AT: usize = <usize>PATHWAY_POWER * PATHWAY_BYTES;

// What the loops keep at hand in memory, one load away: in variables V8 would build constant vectors anew for each row,
// having few registers. f64[2] each, then i32.
export const KEPT_MOST: usize = 0;
const KEPT_LEAST_BASELINE: usize = 16;
export const KEPT_WARMEST: usize = 32;
export const KEPT_WEIGHT_3: usize = 48;
const KEPT_BASELINE_WEIGHT_3: usize = 64;
export const KEPT_GAP: usize = 80;
export const KEPT_SMALL: usize = 96;
export const KEPT_LARGE: usize = 112;
export const KEPT_ONE: usize = 128;
/** i32[4]: 0, 1, 2, 3 */
const KEPT_COUNTING: usize = 144;
export const KEPT_FIRST_YEAR: usize = 160;
export const KEPT_LAST_YEAR: usize = 164;
export const KEPT_HORIZON_YEAR: usize = 168;

/**
 * Writes down what the rows of a block of entities need, and for each row where its year and its entity stand.
 *
 * @returns false when an entity or a year is what it may not be
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
  const kept = scratch + SCRATCH_KEPT;
  const firstYear = <i32>load<f64>(tables, TABLE_FIRST_YEAR),
    lastYear = <i32>load<f64>(tables, TABLE_LAST_YEAR),
    horizonYear = <i32>load<f64>(tables, TABLE_HORIZON_YEAR);
  v128.store(kept, f64x2.splat(EMISSIONS_MAX), KEPT_MOST);
  v128.store(kept, f64x2.splat(ZERO_EMISSIONS), KEPT_LEAST_BASELINE);
  v128.store(kept, f64x2.splat(TEMPERATURE_MAX_C), KEPT_WARMEST);
  v128.store(kept, f64x2.splat(weight3), KEPT_WEIGHT_3);
  // A weight of none is a scope that is not given.
  v128.store(kept, f64x2.splat(weight3 > 0 ? weight3 : NaN), KEPT_BASELINE_WEIGHT_3);
  v128.store(kept, f64x2.splat(GAP), KEPT_GAP);
  v128.store(kept, f64x2.splat(CHECK_UNITS_BELOW), KEPT_SMALL);
  v128.store(kept, f64x2.splat(CHECK_UNITS_ABOVE), KEPT_LARGE);
  v128.store(kept, f64x2.splat(1), KEPT_ONE);
  for (let number = 0; number < 4; number++) store<i32>(kept + ((<usize>number) << 2), number, KEPT_COUNTING);
  store<i32>(kept, firstYear, KEPT_FIRST_YEAR);
  store<i32>(kept, lastYear, KEPT_LAST_YEAR);
  store<i32>(kept, horizonYear, KEPT_HORIZON_YEAR);

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
  const perBases = perBaseTable(tables);
  const index = tables + TABLE_YEARS;
  const regionMask = basis == BASIS_INTENSITY ? -1 : 0;
  const zero = f64x2.splat(0);

  let isAllowed = true;
  let rowAt = scratch + SCRATCH_BLOCK_ROWS;
  for (let entity = first, at = scratch + SCRATCH_ENTITIES; entity < end; entity += 2, at += 2 * ENTITY_BYTES) {
    // Two entities at a time, one in each half of a vector; the last of an odd number stands in both.
    const other = min(entity + 1, end - 1);
    const at8 = (<usize>entity) << 3,
      otherAt8 = (<usize>other) << 3;
    const year = load<i32>(baselineYears + ((<usize>entity) << 2)),
      otherYear = load<i32>(baselineYears + ((<usize>other) << 2));
    const pathway = <i32>load<u8>(pathways + <usize>entity),
      otherPathway = <i32>load<u8>(pathways + <usize>other);
    const region = <i32>load<u8>(regions + <usize>entity),
      otherRegion = <i32>load<u8>(regions + <usize>other);
    const raw1 = pairOf(baselines1 + at8, baselines1 + otherAt8),
      raw2 = pairOf(baselines2 + at8, baselines2 + otherAt8),
      raw3 = pairOf(baselines3 + at8, baselines3 + otherAt8);
    const most = v128.load(kept, KEPT_MOST);
    const isTooLarge = v128.or(
      v128.or(f64x2.gt(f64x2.abs(raw1), most), f64x2.gt(f64x2.abs(raw2), most)),
      f64x2.gt(f64x2.abs(raw3), most),
    );
    if (
      min(year, otherYear) < ALIGNMENT_YEAR_MIN ||
      max(pathway, otherPathway) >= PATHWAY_COUNT ||
      max(region, otherRegion) >= GROWTH_REGION_COUNT ||
      v128.any_true(isTooLarge)
    ) {
      return false;
    }
    const weighed3 = f64x2.mul(raw3, v128.load(kept, KEPT_BASELINE_WEIGHT_3));
    const is1 = f64x2.eq(raw1, raw1),
      is2 = f64x2.eq(raw2, raw2),
      is3 = f64x2.eq(weighed3, weighed3);
    const b1 = v128.and(raw1, is1),
      b2 = v128.and(raw2, is2),
      b3 = v128.and(weighed3, is3);
    const p1 = f64x2.pmax(zero, b1),
      p2 = f64x2.pmax(zero, b2),
      p3 = f64x2.pmax(zero, b3);
    const baseline = f64x2.add(f64x2.add(b1, b2), b3),
      shares = f64x2.add(f64x2.add(p1, p2), p3);
    const yearBase = load<i32>(kept, KEPT_FIRST_YEAR),
      yearLast = load<i32>(kept, KEPT_LAST_YEAR);
    const base = <usize>(clampYear(year, yearBase, yearLast) - yearBase),
      otherBase = <usize>(clampYear(otherYear, yearBase, yearLast) - yearBase);
    const perBase = perBases + base * YEAR_BASES_BYTES,
      otherPerBase = perBases + otherBase * YEAR_BASES_BYTES;
    const pathway3 = pathwayOfScope3(pathway),
      otherPathway3 = pathwayOfScope3(otherPathway);
    // The allowance of the pooled region is 1 in every year: that is the basis `emissions`.
    const allowance = YEAR_ALLOWANCE + (region & regionMask) * 8,
      otherAllowance = YEAR_ALLOWANCE + (otherRegion & regionMask) * 8;
    const allowed = pairOf(
      index + base * YEAR_BYTES + <usize>allowance,
      index + otherBase * YEAR_BYTES + <usize>otherAllowance,
    );
    const one = v128.load(kept, KEPT_ONE);
    const perShare = f64x2.div(one, shares),
      perTonne = f64x2.div(one, f64x2.mul(baseline, allowed));
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

    v128.store(at, v128.shuffle<f64>(n1, n1, 0, 0), ENTITY_SHARE_1);
    v128.store(at, v128.shuffle<f64>(n1, n1, 1, 1), ENTITY_BYTES + ENTITY_SHARE_1);
    v128.store(at, v128.shuffle<f64>(n2, n2, 0, 0), ENTITY_SHARE_2);
    v128.store(at, v128.shuffle<f64>(n2, n2, 1, 1), ENTITY_BYTES + ENTITY_SHARE_2);
    v128.store(at, v128.shuffle<f64>(n3, n3, 0, 0), ENTITY_SHARE_3);
    v128.store(at, v128.shuffle<f64>(n3, n3, 1, 1), ENTITY_BYTES + ENTITY_SHARE_3);
    v128.store64_lane(at, perTonne, 0, ENTITY_PER_TONNE);
    v128.store64_lane(at, perTonne, 1, ENTITY_BYTES + ENTITY_PER_TONNE);
    store<u32>(at, <u32>(pathway * <i32>PATHWAY_BYTES), ENTITY_PATHWAY);
    store<u32>(at, <u32>(otherPathway * <i32>PATHWAY_BYTES), ENTITY_BYTES + ENTITY_PATHWAY);
    store<u32>(at, <u32>(pathway3 * <i32>PATHWAY_BYTES), ENTITY_PATHWAY_3);
    store<u32>(at, <u32>(otherPathway3 * <i32>PATHWAY_BYTES), ENTITY_BYTES + ENTITY_PATHWAY_3);
    store<u32>(at, <u32>allowance, ENTITY_ALLOWANCE);
    store<u32>(at, <u32>otherAllowance, ENTITY_BYTES + ENTITY_ALLOWANCE);

    const isPlain = i64x2.bitmask(f64x2.ge(baseline, v128.load(kept, KEPT_LEAST_BASELINE))),
      negative = i64x2.bitmask(f64x2.lt(f64x2.pmin(f64x2.pmin(b1, b2), b3), zero)),
      given1 = i64x2.bitmask(is1),
      given2 = i64x2.bitmask(is2),
      given3 = i64x2.bitmask(is3);
    const given = given1 | (given2 << 2) | (given3 << 4);
    for (let lane = 0; lane < 2; lane++) {
      const one = entity + lane;
      if (one >= end) break;
      const oneAt = at + <usize>lane * ENTITY_BYTES;
      const baselineYear = lane == 0 ? year : otherYear;
      let entityFlags = ((negative >> lane) & 1) * NEGATIVE_SCOPE;
      if (baselineYear < EARLY_BASELINE_YEAR) entityFlags |= EARLY_BASELINE;
      let isOrdinary = (isPlain >> lane) & 1;
      if (revenues != 0) {
        const revenue = load<f64>(revenues + ((<usize>one) << 3));
        if (!(revenue >= PLAIN_REVENUE_MIN && revenue <= PLAIN_REVENUE_MAX)) {
          if (revenue > 0 && revenue < Infinity) isOrdinary = 0;
          else entityFlags |= REVENUE_UNUSABLE;
        }
      }
      const givenHere = (given >> lane) & 21;
      const horizon = max(baselineYear + SHORTEST_HORIZON_YEARS, load<i32>(kept, KEPT_HORIZON_YEAR));
      const row = load<u32>(starts + ((<usize>one) << 2)) - columnsBegin,
        rowEnd = load<u32>(starts + ((<usize>one) << 2), 4) - columnsBegin;
      // Most years need no clamping; where one does, they are written anew.
      const yearsAt = years + ((<usize>row) << 2),
        yearsEnd = years + ((<usize>rowEnd) << 2),
        rowAtBefore = rowAt;
      const entities = i32x4.splat(<i32>oneAt),
        firstIndex = i32x4.splat(<i32>index - yearBase * <i32>YEAR_BYTES);
      // Four years at a time; what is written beyond the last one makes way for the next entity's.
      const yearCount = <i32>(rowEnd - row);
      let isFalling = i32x4.splat(0);
      for (let at = 0; at < yearCount; at += 4) {
        const yearAt = yearsAt + ((<usize>at) << 2);
        const fourYears = v128.load(yearAt),
          isBeforeLast = i32x4.lt_s(v128.load(kept, KEPT_COUNTING), i32x4.splat(yearCount - 1 - at));
        isFalling = v128.or(isFalling, v128.and(i32x4.le_s(v128.load(yearAt, 4), fourYears), isBeforeLast));
        const inYears = i32x4.add(i32x4.shl(fourYears, YEAR_BITS), firstIndex);
        v128.store(rowAt, v128.shuffle<i32>(inYears, entities, 0, 4, 1, 5));
        v128.store(rowAt, v128.shuffle<i32>(inYears, entities, 2, 6, 3, 7), 16);
        rowAt += 32;
      }
      rowAt = rowAtBefore + ((<usize>yearCount) << 3);
      const firstOfYears = yearCount > 0 ? load<i32>(yearsAt) : horizon,
        lastOfYears = yearCount > 0 ? load<i32>(yearsEnd - 4) : horizon;
      const isAscending = i32(!v128.any_true(isFalling));
      let least = firstOfYears,
        greatest = lastOfYears;
      if (!isAscending) {
        for (let yearAt = yearsAt; yearAt < yearsEnd; yearAt += 4) {
          least = min(least, load<i32>(yearAt));
          greatest = max(greatest, load<i32>(yearAt));
        }
      }
      if (least < horizon || greatest > yearLast) {
        rowAt = rowAtBefore;
        for (let yearAt = yearsAt; yearAt < yearsEnd; yearAt += 4, rowAt += 8) {
          const scoredYear = min(max(load<i32>(yearAt), horizon), yearLast);
          store<u32>(rowAt, <u32>(index + <usize>(scoredYear - yearBase) * YEAR_BYTES));
        }
      }
      if ((least <= baselineYear || greatest > ALIGNMENT_YEAR_MAX) && row < rowEnd) isAllowed = false;
      const isComplete = i32(givenHere == 21),
        isInReach = i32(least >= horizon) & i32(greatest <= yearLast);
      let isRegular = isOrdinary;
      if (!isComplete) {
        for (let at = row; at < rowEnd && isRegular; at++) isRegular = i32(givenOf(columns, at, weight3) == givenHere);
      }
      store<i32>(
        oneAt,
        ((isOrdinary & isComplete & isInReach) * IS_SIMPLE) |
          (isRegular * IS_REGULAR) |
          (isComplete * IS_COMPLETE) |
          (isInReach * IS_IN_REACH),
        ENTITY_STATE,
      );
      store<i32>(oneAt, baselineYear, ENTITY_BASELINE_YEAR);
      store<i32>(oneAt, isOrdinary ? givenHere : -1, ENTITY_GIVEN);
      store<i32>(oneAt, entityFlags, ENTITY_FLAGS);
      store<i32>(oneAt, isAscending, ENTITY_IS_ASCENDING);
    }
  }
  return isAllowed;
}
