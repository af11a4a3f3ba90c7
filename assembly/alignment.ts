import { STATUS_BAD_ALIGNMENT, STATUS_OK } from "./status";

/** Pathways, in the order of the tables. */
export const PATHWAY_ECONOMY: i32 = 0;
export const PATHWAY_POWER: i32 = 1;
export const PATHWAY_ENERGY_SUPPLY: i32 = 2;
export const PATHWAY_INDUSTRY: i32 = 3;
export const PATHWAY_TRANSPORT: i32 = 4;
export const PATHWAY_BUILDINGS: i32 = 5;
export const PATHWAY_COUNT: i32 = 6;
/** Regions of economic growth: "pooled" is the first, and the benchmark's own. */
export const GROWTH_REGION_COUNT: i32 = 3;
export const ANCHOR_COUNT: i32 = 4;

/** What is compared with the pathways. */
export const BASIS_INTENSITY: i32 = 0;
export const BASIS_EMISSIONS: i32 = 1;
export const BASIS_CUMULATIVE: i32 = 2;

/** Years that a baseline or a projection may name. */
export const ALIGNMENT_YEAR_MIN: i32 = 1900;
export const ALIGNMENT_YEAR_MAX: i32 = 2200;
/** Emissions that anybody could mean: at most this in size, either way. */
export const EMISSIONS_MAX: f64 = 1e15;
/** No entity is cooler or warmer than these, degrees C in 2100. */
export const TEMPERATURE_MIN_C: f64 = 1.3;
export const TEMPERATURE_MAX_C: f64 = 6.0;

// Flags. The first three are about names, which the kernel never sees.
const SCOPE_MISSING: i32 = 1 << 3;
const NO_USABLE_SCOPE: i32 = 1 << 4;
const ZERO_BASELINE: i32 = 1 << 5;
const NEGATIVE_SCOPE: i32 = 1 << 6;
const REVENUE_UNUSABLE: i32 = 1 << 7;
const BEYOND_TABLE: i32 = 1 << 8;
const EARLY_BASELINE: i32 = 1 << 9;
const DUPLICATE_YEAR: i32 = 1 << 10;
const CHECK_UNITS: i32 = 1 << 11;
const SHORT_HORIZON: i32 = 1 << 12;
const ANCHORS_CLOSE: i32 = 1 << 13;

// The tables of one benchmark, f64: see alignColumns. Byte offsets.
export const TABLE_FIRST_YEAR: usize = 0;
export const TABLE_LAST_YEAR: usize = 8;
/** No year before this one is told apart by the pathways. */
export const TABLE_HORIZON_YEAR: usize = 16;
/** f64[5]: the temperature where each segment begins, from zero emissions upwards. */
export const TABLE_SEGMENT_STARTS: usize = 64;
/** f64[5]: how much it rises along the segment; in the last, per doubling of the hottest anchor. */
export const TABLE_SEGMENT_RISES: usize = 128;
export const TABLE_INDEX: usize = 192;

const YEAR_STRIDE: usize = 192; // 6 pathways x 4 anchors
const PATHWAY_STRIDE: usize = 32; // 4 anchors
const BASE_STRIDE: usize = 48; // 6 pathways
const REGION_STRIDE: usize = 24; // 3 regions

// The columns: u32 pointers in this order. Byte offsets.
const COLUMN_BASELINE_YEARS: usize = 0; // i32[entityCount]
const COLUMN_PATHWAYS: usize = 4; // u8[entityCount]
const COLUMN_REGIONS: usize = 8; // u8[entityCount]
const COLUMN_BASELINES: usize = 12; // 3 pointers, f64[entityCount]
const COLUMN_STARTS: usize = 24; // u32[entityCount + 1]
const COLUMN_YEARS: usize = 28; // i32[rowCount]
const COLUMN_PROJECTIONS: usize = 32; // 3 pointers, f64[rowCount]
const COLUMN_REVENUES: usize = 44; // f64[entityCount], or 0
const COLUMN_REFERENCES: usize = 48; // 3 pointers, f64[entityCount], or 0
export const ALIGNMENT_COLUMN_COUNT: i32 = 15;

// What scoreRow finds out, f64. Byte offsets.
export const RECORD_TEMPERATURE: usize = 0;
export const RECORD_FLAGS: usize = 8;
export const RECORD_BASELINE: usize = 16;
export const RECORD_PROJECTED: usize = 24;
export const RECORD_GROWTH_FACTOR: usize = 32;
export const RECORD_RATIO_Q: usize = 40;
export const RECORD_EVALUATED_YEAR: usize = 48;
/** 0 to 4: how many anchors lie below the entity. */
export const RECORD_SEGMENT: usize = 56;
/** How far along that segment. */
export const RECORD_WEIGHT: usize = 64;
export const RECORD_KAPPA: usize = 72;
/** Bits 0 to 2: scopes 1 to 3. */
export const RECORD_USABLE: usize = 80;
/** f64[4], after the repair of anchors that lie too close. */
export const RECORD_ANCHORS: usize = 88;
export const RECORD_BYTES: usize = 128;

/** Bytes of scratch that the functions below ask for: a record, a ladder of anchors, a row number for each year. */
export const ALIGNMENT_SCRATCH_BYTES: usize = 2048;
const SCRATCH_LADDER: usize = RECORD_BYTES;
const SCRATCH_BLOCKS: usize = SCRATCH_LADDER + 128; // two ladders
const SCRATCH_KEPT: usize = SCRATCH_BLOCKS + 64;
const SCRATCH_ROWS: usize = SCRATCH_KEPT + 192;

// What alignColumns keeps at hand, f64. Byte offsets.
const KEPT_MOST: usize = 0;
const KEPT_LEAST: usize = 8;
const KEPT_COOLEST: usize = 16;
const KEPT_WARMEST: usize = 24;
const KEPT_WEIGHT_3: usize = 32;
const KEPT_SHARE_1: usize = 40;
const KEPT_SHARE_2: usize = 48;
const KEPT_SHARE_3: usize = 56;
const KEPT_PER_TONNE: usize = 64;
const KEPT_GAP: usize = 72;
const KEPT_SMALL: usize = 80;
const KEPT_LARGE: usize = 88;
/** i32: an entity's own flags, for two rows. */
const KEPT_FLAGS: usize = 96;
/** i32[16]: flags of two rows by what was found: bits 0, 1 something negative, bits 2, 3 units to be checked. */
const KEPT_FLAGS_FOUND: usize = 128;

/** Anchors lie at least so far apart: else a small difference in emissions would be a large one in temperature. */
const GAP: f64 = 0.02;
/** Means over years open a quarter to half as wide as the years themselves. */
const GAP_OF_MEANS: f64 = 0.005;
/** Emissions below this, or negative sums, count as none. */
const ZERO_EMISSIONS: f64 = 1e-12;
/** What a short horizon can make of a ratio, at most. */
const RATIO_MAX: f64 = 10;
/** Baseline and projection that lie further apart than this are likely in different units. */
const CHECK_UNITS_ABOVE: f64 = 10;
const CHECK_UNITS_BELOW: f64 = 0.01;
/** Nobody is taken to be further from its sector's level than by a factor of four. */
const KAPPA_MIN: f64 = 0.25;
const KAPPA_MAX: f64 = 4;
const ALL_SCOPES: i32 = 7;
const SHORTEST_HORIZON_YEARS: i32 = 5;
const EARLY_BASELINE_YEAR: i32 = 2018;
const CONVERGENCE_YEAR: i32 = 2050;
/** No revenue from here on can make an intensity infinite. */
const PLAIN_REVENUE_MIN: f64 = 1e-280;

/**
 * The implied temperature of many entities in many years.
 *
 * In       tables    f64: first and last year, horizon year at 0, 8, 16 (TABLE_*); segment starts and rises, five each; then,
 *                    for each year from the first to the last,
 *                      index       [year][pathway][anchor], emissions, 1 up to the base year
 *                      sums        [year][pathway][anchor], of the index from the first year on
 *                      perBase     [year][pathway], 1 / what the world emitted in a baseline of that year
 *                      growth      [year][region], size of the economy
 *                      allowance   [year][region], pooled growth / growth
 *          columns   u32[15], pointers in the order of COLUMN_*; NaN = scope not given. starts[i] to starts[i + 1] are
 *                    the rows of entity i, all counted from starts[0]. Without revenues none is judged
 *          weight3   0 to 1, weight of scope 3; 0 leaves it out
 *          basis     BASIS_*
 *          gamma     0 to 1: strength of the convergence; above 0 needs revenues and references
 * Out      temperatures f64[rowCount], NaN = none; flags u16[rowCount]
 *          bad       i32[2]: entity and row (-1: the entity itself) of the first one refused
 * Needs    scratch   ALIGNMENT_SCRATCH_BYTES, zeroed before the first call and left so
 * Units    emissions in any one unit; degrees C in 2100
 * Formula  docs/methods/alignment.md. Ratio and anchors are both taken times the sum of the shares, so that a row
 *          costs one division; the four anchors are two vectors. Grouping entities by pathway was tried and dropped:
 *          all tables together fit the first-level cache, and sorted columns ran no faster than shuffled ones
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
  const firstYear = <i32>load<f64>(tables, TABLE_FIRST_YEAR),
    lastYear = <i32>load<f64>(tables, TABLE_LAST_YEAR),
    horizonYear = <i32>load<f64>(tables, TABLE_HORIZON_YEAR);
  const baselineYears = load<u32>(columns, COLUMN_BASELINE_YEARS),
    pathways = load<u32>(columns, COLUMN_PATHWAYS),
    regions = load<u32>(columns, COLUMN_REGIONS),
    baselines1 = load<u32>(columns, COLUMN_BASELINES),
    baselines2 = load<u32>(columns, COLUMN_BASELINES + 4),
    baselines3 = load<u32>(columns, COLUMN_BASELINES + 8),
    starts = load<u32>(columns, COLUMN_STARTS),
    years = load<u32>(columns, COLUMN_YEARS),
    projections1 = load<u32>(columns, COLUMN_PROJECTIONS),
    projections2 = load<u32>(columns, COLUMN_PROJECTIONS + 4),
    projections3 = load<u32>(columns, COLUMN_PROJECTIONS + 8),
    revenues = load<u32>(columns, COLUMN_REVENUES);
  const index = tables + TABLE_INDEX,
    perBases = perBaseTable(tables),
    allowances = allowanceTable(tables);
  const ladder = scratch + SCRATCH_LADDER,
    blocks = scratch + SCRATCH_BLOCKS;
  const weighed = weight3 > 0 ? 63 : 15,
    weights3 = f64x2.splat(weight3),
    zero = f64x2.splat(0);
  // What does not change from row to row is kept in memory, one load away. In variables V8 would work it out again for
  // each row, divisions included: it has few registers, and builds even constant vectors anew wherever they are used.
  const kept = scratch + SCRATCH_KEPT;
  store<f64>(kept, EMISSIONS_MAX, KEPT_MOST);
  store<f64>(kept, -EMISSIONS_MAX, KEPT_LEAST);
  store<f64>(kept, TEMPERATURE_MIN_C, KEPT_COOLEST);
  store<f64>(kept, TEMPERATURE_MAX_C, KEPT_WARMEST);
  store<f64>(kept, weight3, KEPT_WEIGHT_3);
  for (let found = 0; found < 16; found++) {
    const row = ((found & 1) * NEGATIVE_SCOPE) | (((found >> 2) & 1) * CHECK_UNITS),
      other = (((found >> 1) & 1) * NEGATIVE_SCOPE) | ((found >> 3) * CHECK_UNITS);
    store<i32>(kept + ((<usize>found) << 2), row | (other << 16), KEPT_FLAGS_FOUND);
  }
  const isPlain = basis != BASIS_CUMULATIVE && !(gamma > 0);
  const firstRow = load<u32>(starts);

  for (let entity = 0; entity < entityCount; entity++) {
    const at8 = (<usize>entity) << 3,
      at4 = (<usize>entity) << 2;
    const baselineYear = load<i32>(baselineYears + at4);
    const pathway = <i32>load<u8>(pathways + <usize>entity),
      region = <i32>load<u8>(regions + <usize>entity);
    const e12 = pairOf(baselines1 + at8, baselines2 + at8),
      e3 = v128.load64_zero(baselines3 + at8);
    if (
      baselineYear < ALIGNMENT_YEAR_MIN ||
      pathway >= PATHWAY_COUNT ||
      region >= GROWTH_REGION_COUNT ||
      isTooLarge(e12, e3)
    ) {
      return refused(bad, entity, -1);
    }
    const b12 = zeroIfMissing(e12),
      b3 = f64x2.mul(zeroIfMissing(e3), weights3);
    const p12 = f64x2.pmax(zero, b12),
      p3 = f64x2.pmax(zero, b3);
    const baseline = sumOf(b12, b3),
      shares = sumOf(p12, p3);
    const revenue = revenues != 0 ? load<f64>(revenues + at8) : 1;
    const isPlainEntity = isPlain && baseline >= ZERO_EMISSIONS && revenue >= PLAIN_REVENUE_MIN && revenue < Infinity;

    const baseIndex = <usize>(clampYear(baselineYear, firstYear, lastYear) - firstYear);
    const perBase = perBases + baseIndex * BASE_STRIDE;
    const pathway3 = pathwayOfScope3(pathway);
    store<f64>(kept, f64x2.extract_lane(p12, 0) * load<f64>(perBase + ((<usize>pathway) << 3)), KEPT_SHARE_1);
    store<f64>(kept, f64x2.extract_lane(p12, 1) * load<f64>(perBase, PATHWAY_POWER << 3), KEPT_SHARE_2);
    store<f64>(kept, f64x2.extract_lane(p3, 0) * load<f64>(perBase + ((<usize>pathway3) << 3)), KEPT_SHARE_3);
    const index1 = index + <usize>pathway * PATHWAY_STRIDE,
      index2 = index + PATHWAY_POWER * PATHWAY_STRIDE,
      index3 = index + <usize>pathway3 * PATHWAY_STRIDE;
    // The allowance of the pooled region is 1 in every year: that is the basis `emissions`.
    const allowance = allowances + (basis == BASIS_INTENSITY ? (<usize>region) << 3 : 0);
    store<f64>(kept, shares / (baseline * load<f64>(allowance + baseIndex * REGION_STRIDE)), KEPT_PER_TONNE);
    store<f64>(kept, shares * GAP, KEPT_GAP);
    store<f64>(kept, shares * CHECK_UNITS_BELOW, KEPT_SMALL);
    store<f64>(kept, shares * CHECK_UNITS_ABOVE, KEPT_LARGE);
    const horizon = max(baselineYear + SHORTEST_HORIZON_YEARS, horizonYear);
    const entityFlags = negativeFlag(b12, b3) | (baselineYear < EARLY_BASELINE_YEAR ? EARLY_BASELINE : 0);
    store<i32>(kept, entityFlags | (entityFlags << 16), KEPT_FLAGS);

    const bits12 = i64x2.bitmask(f64x2.eq(e12, e12)),
      bit3 = i64x2.bitmask(f64x2.eq(e3, e3)) & 1;
    // Two bits a scope, as for two rows.
    const given =
      isPlainEntity && horizon <= ALIGNMENT_YEAR_MAX
        ? weighed & (((bits12 & 1) * 3) | ((bits12 >> 1) * 12) | (bit3 * 48))
        : -1;
    const horizonRange = <u32>(ALIGNMENT_YEAR_MAX - horizon);

    const begin = load<u32>(starts + at4) - firstRow,
      end = load<u32>(starts + at4, 4) - firstRow;
    let isAscending = true;
    // Two rows at a time, one in each half of a vector; the last of an odd number stands in both.
    for (let row = begin, before = baselineYear; row < end; row += 2) {
      const other = min(row + 1, end - 1);
      const year = load<i32>(years + ((<usize>row) << 2)),
        otherYear = load<i32>(years + ((<usize>other) << 2));
      if (year <= before || (otherYear <= year && other != row)) isAscending = false;
      before = otherYear;

      const at = (<usize>row) << 3,
        otherAt = (<usize>other) << 3;
      const y1 = pairOf(projections1 + at, projections1 + otherAt),
        y2 = pairOf(projections2 + at, projections2 + otherAt),
        y3 = pairOf(projections3 + at, projections3 + otherAt);
      const is1 = f64x2.eq(y1, y1),
        is2 = f64x2.eq(y2, y2),
        is3 = f64x2.eq(y3, y3);
      const c1 = v128.and(y1, is1),
        c2 = v128.and(y2, is2),
        raw3 = v128.and(y3, is3);
      const givenNow = i64x2.bitmask(is1) | (i64x2.bitmask(is2) << 2) | (i64x2.bitmask(is3) << 4);
      const least12 = f64x2.pmin(c1, c2),
        most12 = f64x2.pmax(c1, c2);
      const isTooLarge = v128.or(
        f64x2.gt(f64x2.pmax(most12, raw3), v128.load64_splat(kept, KEPT_MOST)),
        f64x2.lt(f64x2.pmin(least12, raw3), v128.load64_splat(kept, KEPT_LEAST)),
      );
      if (
        (givenNow & weighed) != given ||
        <u32>(year - horizon) > horizonRange ||
        <u32>(otherYear - horizon) > horizonRange ||
        v128.any_true(isTooLarge)
      ) {
        for (let odd = row; odd <= other; odd++) {
          if (!isRow(columns, entity, odd)) return refused(bad, entity, odd);
          if (basis == BASIS_CUMULATIVE) continue;
          scorePoint(tables, columns, entity, odd, basis, ALL_SCOPES, weight3, gamma, scratch, scratch);
          keep(scratch, odd, temperatures, flags);
        }
        continue;
      }

      const c3 = f64x2.mul(raw3, v128.load64_splat(kept, KEPT_WEIGHT_3));
      const index0 = <usize>(min(year, lastYear) - firstYear),
        otherIndex = <usize>(min(otherYear, lastYear) - firstYear);
      const allowed = pairOf(allowance + index0 * REGION_STRIDE, allowance + otherIndex * REGION_STRIDE);
      const q = f64x2.mul(
        f64x2.mul(f64x2.pmax(zero, f64x2.add(f64x2.add(c1, c2), c3)), allowed),
        v128.load64_splat(kept, KEPT_PER_TONNE),
      );

      // The anchors of each row are two vectors; turned, anchor by anchor, they stand beside those of the other row.
      const at1 = index1 + index0 * YEAR_STRIDE,
        at2 = index2 + index0 * YEAR_STRIDE,
        at3 = index3 + index0 * YEAR_STRIDE;
      const otherAt1 = index1 + otherIndex * YEAR_STRIDE,
        otherAt2 = index2 + otherIndex * YEAR_STRIDE,
        otherAt3 = index3 + otherIndex * YEAR_STRIDE;
      const n1 = v128.load64_splat(kept, KEPT_SHARE_1),
        n2 = v128.load64_splat(kept, KEPT_SHARE_2),
        n3 = v128.load64_splat(kept, KEPT_SHARE_3),
        gaps = v128.load64_splat(kept, KEPT_GAP);
      let low = blend(n1, v128.load(at1), n2, v128.load(at2), n3, v128.load(at3)),
        high = blend(n1, v128.load(at1, 16), n2, v128.load(at2, 16), n3, v128.load(at3, 16)),
        otherLow = blend(n1, v128.load(otherAt1), n2, v128.load(otherAt2), n3, v128.load(otherAt3)),
        otherHigh = blend(n1, v128.load(otherAt1, 16), n2, v128.load(otherAt2, 16), n3, v128.load(otherAt3, 16));
      let x1 = v128.shuffle<f64>(low, otherLow, 0, 2),
        x2 = v128.shuffle<f64>(low, otherLow, 1, 3),
        x3 = v128.shuffle<f64>(high, otherHigh, 0, 2),
        x4 = v128.shuffle<f64>(high, otherHigh, 1, 3);
      let closeFlags = 0;
      const isClose = v128.or(
        v128.or(f64x2.lt(x1, gaps), f64x2.lt(x2, f64x2.add(x1, gaps))),
        v128.or(f64x2.lt(x3, f64x2.add(x2, gaps)), f64x2.lt(x4, f64x2.add(x3, gaps))),
      );
      if (v128.any_true(isClose)) {
        v128.store(ladder, low);
        v128.store(ladder, high, 16);
        v128.store(ladder, otherLow, 32);
        v128.store(ladder, otherHigh, 48);
        const gap = load<f64>(kept, KEPT_GAP);
        if (setApart(ladder, gap, blocks)) closeFlags |= ANCHORS_CLOSE;
        if (setApart(ladder + 32, gap, blocks)) closeFlags |= ANCHORS_CLOSE << 16;
        low = v128.load(ladder);
        high = v128.load(ladder, 16);
        otherLow = v128.load(ladder, 32);
        otherHigh = v128.load(ladder, 48);
        store<f64>(ladder, 0);
        store<f64>(ladder, 0, 64);
        x1 = v128.shuffle<f64>(low, otherLow, 0, 2);
        x2 = v128.shuffle<f64>(low, otherLow, 1, 3);
        x3 = v128.shuffle<f64>(high, otherHigh, 0, 2);
        x4 = v128.shuffle<f64>(high, otherHigh, 1, 3);
      }

      // Where a row stands on its ladder of anchors. A comparison that holds is -1, so that the sum is minus the number
      // of anchors below. To look the segment up costs half of what masks over all five do, and no misprediction.
      const twice = f64x2.add(x4, x4);
      v128.store(ladder, low, 8);
      v128.store(ladder, high, 24);
      v128.store64_lane(ladder, twice, 0, 40);
      v128.store(ladder, otherLow, 72);
      v128.store(ladder, otherHigh, 88);
      v128.store64_lane(ladder, twice, 1, 104);
      const minusSegments = i64x2.add(
        i64x2.add(f64x2.lt(x1, q), f64x2.lt(x2, q)),
        i64x2.add(f64x2.lt(x3, q), f64x2.lt(x4, q)),
      );
      const step = <usize>(i32x4.extract_lane(minusSegments, 0) * -8),
        otherStep = <usize>(i32x4.extract_lane(minusSegments, 2) * -8);
      const from = v128.load64_lane(ladder + otherStep, v128.load64_zero(ladder + step), 1, 64),
        to = v128.load64_lane(ladder + otherStep, v128.load64_zero(ladder + step, 8), 1, 72);
      const segmentStart = v128.load64_lane(
          tables + otherStep,
          v128.load64_zero(tables + step, TABLE_SEGMENT_STARTS),
          1,
          TABLE_SEGMENT_STARTS,
        ),
        segmentRise = v128.load64_lane(
          tables + otherStep,
          v128.load64_zero(tables + step, TABLE_SEGMENT_RISES),
          1,
          TABLE_SEGMENT_RISES,
        );
      const weight = f64x2.div(f64x2.sub(q, from), f64x2.sub(to, from));
      const temperature = f64x2.pmin(
        f64x2.pmax(f64x2.add(segmentStart, f64x2.mul(segmentRise, weight)), v128.load64_splat(kept, KEPT_COOLEST)),
        v128.load64_splat(kept, KEPT_WARMEST),
      );
      v128.store64_lane(temperatures + at, temperature, 0);
      v128.store64_lane(temperatures + otherAt, temperature, 1);

      // Flags of both rows in one number, the other's in its upper half.
      const negative = i64x2.bitmask(f64x2.lt(f64x2.pmin(least12, c3), zero)),
        suspect = i64x2.bitmask(
          v128.or(
            f64x2.gt(q, v128.load64_splat(kept, KEPT_LARGE)),
            v128.and(f64x2.gt(q, zero), f64x2.lt(q, v128.load64_splat(kept, KEPT_SMALL))),
          ),
        );
      const found =
        load<i32>(kept, KEPT_FLAGS) |
        load<i32>(kept + ((<usize>(negative | (suspect << 2))) << 2), KEPT_FLAGS_FOUND) |
        closeFlags |
        (i32(year > lastYear) * BEYOND_TABLE) |
        (i32(otherYear > lastYear) * (BEYOND_TABLE << 16));
      store<u16>(flags + ((<usize>row) << 1), <u16>found);
      store<u16>(flags + ((<usize>other) << 1), <u16>(found >>> 16));
    }
    if (isAscending && basis != BASIS_CUMULATIVE) continue;

    const rowsByYear = scratch + SCRATCH_ROWS;
    rememberRows(rowsByYear, years, begin, end);
    if (basis == BASIS_CUMULATIVE) {
      for (let row = begin; row < end; row++) {
        scoreCumulative(tables, columns, entity, row, ALL_SCOPES, weight3, scratch, scratch);
        keep(scratch, row, temperatures, flags);
      }
    }
    markDuplicates(rowsByYear, years, begin, end, flags);
    forgetRows(rowsByYear, years, begin, end);
  }
  return STATUS_OK;
}

/**
 * How the numbers of one entity came about: all rows, all forms.
 *
 * In       as alignColumns, whose check the columns have passed
 * Out      records   f64[row][6][16], RECORD_*: basis intensity, emissions and cumulative, then scopes 1 to 3 alone in
 *                    the basis asked for; NaN = no such figure
 * Needs    scratch   ALIGNMENT_SCRATCH_BYTES, zeroed before the first call and left so
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
  rememberRows(rowsByYear, years, begin, end);
  let record = records;
  for (let row = begin; row < end; row++) {
    for (let form = 0; form < 6; form++, record += RECORD_BYTES) {
      const formBasis = form < 3 ? form : basis;
      const scopes = form < 3 ? ALL_SCOPES : 1 << (form - 3);
      if (formBasis == BASIS_CUMULATIVE) {
        scoreCumulative(tables, columns, entity, row, scopes, weight3, scratch, record);
      } else scorePoint(tables, columns, entity, row, formBasis, scopes, weight3, gamma, scratch, record);
    }
  }
  forgetRows(rowsByYear, years, begin, end);
  return STATUS_OK;
}

/** One row in one of the point forms, every case of the method. `scopes` are those looked at, as bits. */
function scorePoint(
  tables: usize,
  columns: usize,
  entity: i32,
  row: u32,
  basis: i32,
  scopes: i32,
  weight3: f64,
  gamma: f64,
  scratch: usize,
  record: usize,
): void {
  const usable = beginRecord(tables, columns, entity, row, scopes, weight3, record);
  let flags = <i32>load<f64>(record, RECORD_FLAGS);
  if (usable == 0) {
    store<f64>(record, <f64>(flags | NO_USABLE_SCOPE), RECORD_FLAGS);
    return;
  }
  const firstYear = <i32>load<f64>(tables, TABLE_FIRST_YEAR),
    lastYear = <i32>load<f64>(tables, TABLE_LAST_YEAR);
  const baselineYear = load<i32>(load<u32>(columns, COLUMN_BASELINE_YEARS) + ((<usize>entity) << 2)),
    year = load<i32>(load<u32>(columns, COLUMN_YEARS) + ((<usize>row) << 2)),
    scoredYear = scoredYearOf(tables, baselineYear, year);
  const baseIndex = <usize>(clampYear(baselineYear, firstYear, lastYear) - firstYear),
    scoredIndex = <usize>(clampYear(scoredYear, firstYear, lastYear) - firstYear);
  const baseline = load<f64>(record, RECORD_BASELINE),
    projected = load<f64>(record, RECORD_PROJECTED);
  const reference = referenceOf(columns, entity, usable, weight3),
    revenue = revenueOf(columns, entity),
    converges = gamma > 0 && !(flags & REVENUE_UNUSABLE) && reference > 0 && reference < Infinity;
  const anchors = record + RECORD_ANCHORS;
  const perBase = perBaseTable(tables) + baseIndex * BASE_STRIDE,
    inYear = tables + TABLE_INDEX + scoredIndex * YEAR_STRIDE;

  // As in the fast loop, and in its order, so that both give the same bits: q and anchors times the sum of the shares.
  let q: f64 = 0,
    shares: f64 = 0;
  fill(anchors, 0);
  if (baseline < ZERO_EMISSIONS) {
    fill(anchors, NaN);
    flags |= ZERO_BASELINE;
    store<f64>(record, <f64>flags, RECORD_FLAGS);
    if (projected < ZERO_EMISSIONS) {
      store<f64>(record, TEMPERATURE_MIN_C, RECORD_TEMPERATURE);
      return;
    }
    if (!converges) return;
    // Nothing to measure change by; the sector's own level takes the baseline's place.
    q = projected / (reference * revenue);
    shares = 1;
    const pathway = pathwayOf(columns, entity, 0);
    fill(anchors, 0);
    addAnchors(anchors, inYear + pathway * PATHWAY_STRIDE, load<f64>(perBase + (pathway << 3)));
  } else {
    for (let scope = 0; scope < 3; scope++) {
      const share = shareOf(columns, entity, scope, usable, weight3);
      const pathway = pathwayOf(columns, entity, scope);
      shares += share;
      addAnchors(anchors, inYear + pathway * PATHWAY_STRIDE, share * load<f64>(perBase + (pathway << 3)));
    }
    const yearIndex = <usize>(clampYear(year, firstYear, lastYear) - firstYear),
      region = <usize>load<u8>(load<u32>(columns, COLUMN_REGIONS) + <usize>entity),
      allowance = allowanceTable(tables) + (basis == BASIS_INTENSITY ? region << 3 : 0);
    const perTonne = shares / (baseline * load<f64>(allowance + baseIndex * REGION_STRIDE));
    q = positive(projected) * load<f64>(allowance + yearIndex * REGION_STRIDE) * perTonne;
    if (isSuspect(q, shares)) flags |= CHECK_UNITS;
    if (converges) {
      const kappa = max<f64>(KAPPA_MIN, min<f64>(baseline / revenue / reference, KAPPA_MAX));
      const progress: f64 =
        baselineYear >= CONVERGENCE_YEAR
          ? 1
          : min<f64>(<f64>(year - baselineYear) / <f64>(CONVERGENCE_YEAR - baselineYear), 1);
      q *= Math.pow(kappa, gamma * progress);
      store<f64>(record, kappa, RECORD_KAPPA);
    }
    if (year < scoredYear) {
      const power = <f64>(scoredYear - baselineYear) / <f64>(year - baselineYear);
      q = min<f64>(Math.pow(q / shares, power), RATIO_MAX) * shares;
    }
  }
  if (setApart(anchors, GAP * shares, scratch + SCRATCH_BLOCKS)) flags |= ANCHORS_CLOSE;
  store<f64>(record, <f64>flags, RECORD_FLAGS);
  placeAmongAnchors(tables, record, q, shares, scratch + SCRATCH_LADDER);
}

/**
 * One row by the means over all years from its baseline. A year that is given twice counts as its last row, also for
 * the row asked about. Needs the rows remembered by year.
 */
function scoreCumulative(
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
  const perBase = perBaseTable(tables) + baseIndex * BASE_STRIDE;
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
  if (setApart(anchors, GAP_OF_MEANS, scratch + SCRATCH_BLOCKS)) flags |= ANCHORS_CLOSE;
  store<f64>(record, <f64>flags, RECORD_FLAGS);
  placeAmongAnchors(tables, record, sum / baseline / yearCount, 1, scratch + SCRATCH_LADDER);
}

/** Empties a record, fills in what all forms share, and says which scopes are usable. */
function beginRecord(
  tables: usize,
  columns: usize,
  entity: i32,
  row: u32,
  scopes: i32,
  weight3: f64,
  record: usize,
): i32 {
  fill(record, NaN);
  fill(record + 32, NaN);
  fill(record + 64, NaN);
  fill(record + 96, NaN);
  const firstYear = <i32>load<f64>(tables, TABLE_FIRST_YEAR),
    lastYear = <i32>load<f64>(tables, TABLE_LAST_YEAR);
  const baselineYear = load<i32>(load<u32>(columns, COLUMN_BASELINE_YEARS) + ((<usize>entity) << 2)),
    year = load<i32>(load<u32>(columns, COLUMN_YEARS) + ((<usize>row) << 2)),
    region = <usize>load<u8>(load<u32>(columns, COLUMN_REGIONS) + <usize>entity);
  const baseIndex = <usize>(clampYear(baselineYear, firstYear, lastYear) - firstYear),
    yearIndex = <usize>(clampYear(year, firstYear, lastYear) - firstYear);
  const scoredYear = scoredYearOf(tables, baselineYear, year);

  let flags = 0,
    usable = 0,
    baseline: f64 = 0,
    projected: f64 = 0;
  for (let scope = 0; scope < 3; scope++) {
    const weight: f64 = scope == 2 ? weight3 : 1;
    if (!((scopes >> scope) & 1) || !(weight > 0)) continue;
    const before = baselineOf(columns, entity, scope),
      after = projectionOf(columns, row, scope);
    const isBefore = before == before,
      isAfter = after == after;
    if (isBefore != isAfter) flags |= SCOPE_MISSING;
    if (!isBefore || !isAfter) continue;
    usable |= 1 << scope;
    baseline += weight * before;
    projected += weight * after;
    if (before < 0 || after < 0) flags |= NEGATIVE_SCOPE;
  }
  if (scoredYear > lastYear) flags |= BEYOND_TABLE;
  if (baselineYear < EARLY_BASELINE_YEAR) flags |= EARLY_BASELINE;
  if (year < scoredYear) flags |= SHORT_HORIZON;

  const growth = growthTable(tables) + (region << 3),
    grown = load<f64>(growth + yearIndex * REGION_STRIDE) / load<f64>(growth + baseIndex * REGION_STRIDE);
  if (load<u32>(columns, COLUMN_REVENUES) != 0) {
    const revenue = revenueOf(columns, entity);
    const isUsable =
      revenue > 0 &&
      isFinite(revenue * grown) &&
      isFinite(baseline / revenue) &&
      isFinite(projected / (revenue * grown));
    if (!isUsable) flags |= REVENUE_UNUSABLE;
  }
  const allowance = allowanceTable(tables) + (region << 3);
  store<f64>(
    record,
    load<f64>(allowance + yearIndex * REGION_STRIDE) / load<f64>(allowance + baseIndex * REGION_STRIDE),
    RECORD_GROWTH_FACTOR,
  );
  store<f64>(record, <f64>flags, RECORD_FLAGS);
  store<f64>(record, <f64>min(scoredYear, lastYear), RECORD_EVALUATED_YEAR);
  store<f64>(record, <f64>usable, RECORD_USABLE);
  if (usable != 0) {
    store<f64>(record, baseline, RECORD_BASELINE);
    store<f64>(record, projected, RECORD_PROJECTED);
  }
  return usable;
}

/** Where q lies among the record's anchors, and the temperature there. Both come, and neither stays, times `scale`. */
function placeAmongAnchors(tables: usize, record: usize, q: f64, scale: f64, ladder: usize): void {
  store<f64>(ladder, 0);
  let segment = 0;
  for (let anchor = 0; anchor < 4; anchor++) {
    const at = record + RECORD_ANCHORS + ((<usize>anchor) << 3);
    const scaled = load<f64>(at);
    store<f64>(ladder + ((<usize>anchor) << 3), scaled, 8);
    store<f64>(at, scaled / scale);
    if (q > scaled) segment++;
  }
  store<f64>(ladder, 2 * load<f64>(ladder, 32), 40);
  const weight = weightOn(ladder, segment, q);
  store<f64>(record, temperatureAt(tables, segment, weight), RECORD_TEMPERATURE);
  store<f64>(record, q / scale, RECORD_RATIO_Q);
  store<f64>(record, <f64>segment, RECORD_SEGMENT);
  store<f64>(record, weight, RECORD_WEIGHT);
}

/**
 * How far q has come along a segment. The ladder is f64[6]: zero, the four anchors, twice the last anchor, so that every
 * segment, also the open one above, has two ends.
 */
function weightOn(ladder: usize, segment: i32, q: f64): f64 {
  const at = ladder + ((<usize>segment) << 3);
  const from = load<f64>(at);
  return (q - from) / (load<f64>(at, 8) - from);
}

function temperatureAt(tables: usize, segment: i32, weight: f64): f64 {
  const at = tables + ((<usize>segment) << 3);
  const temperature = load<f64>(at, TABLE_SEGMENT_STARTS) + load<f64>(at, TABLE_SEGMENT_RISES) * weight;
  return f64x2.extract_lane(clamp(f64x2.splat(temperature)), 0);
}

/**
 * Puts four anchors in order and apart, in place: the first at least `gap`; neighbouring blocks out of order take the
 * mean of their members (pool adjacent violators); then each at least `gap` above the one before.
 *
 * @returns whether one was moved
 */
function setApart(anchors: usize, gap: f64, blocks: usize): bool {
  const old = v128.load(anchors),
    oldHigh = v128.load(anchors, 16);
  if (load<f64>(anchors) < gap) store<f64>(anchors, gap);

  let blockCount = 0;
  for (let anchor: usize = 0; anchor < 4; anchor++) {
    let sum = load<f64>(anchors + (anchor << 3)),
      size: f64 = 1;
    while (blockCount > 0) {
      const last = blocks + ((<usize>(blockCount - 1)) << 4);
      const lastSum = load<f64>(last),
        lastSize = load<f64>(last, 8);
      if (lastSum * size <= sum * lastSize) break;
      sum += lastSum;
      size += lastSize;
      blockCount--;
    }
    store<f64>(blocks + ((<usize>blockCount) << 4), sum);
    store<f64>(blocks + ((<usize>blockCount) << 4), size, 8);
    blockCount++;
  }
  let anchor: usize = 0;
  for (let block = 0; block < blockCount; block++) {
    const at = blocks + ((<usize>block) << 4);
    const size = load<f64>(at, 8);
    if (size == 1) anchor++;
    else {
      const mean = load<f64>(at) / size;
      for (let member: f64 = 0; member < size; member++, anchor++) store<f64>(anchors + (anchor << 3), mean);
    }
  }

  for (let anchor: usize = 1; anchor < 4; anchor++) {
    const at = anchors + (anchor << 3);
    const least = load<f64>(at - 8) + gap;
    if (load<f64>(at) < least) store<f64>(at, least);
  }
  const isSame = v128.and(f64x2.eq(old, v128.load(anchors)), f64x2.eq(oldHigh, v128.load(anchors, 16)));
  return !i64x2.all_true(isSame);
}

function addAnchors(anchors: usize, indices: usize, share: f64): void {
  const shares = f64x2.splat(share);
  v128.store(anchors, f64x2.add(v128.load(anchors), f64x2.mul(shares, v128.load(indices))));
  v128.store(anchors, f64x2.add(v128.load(anchors, 16), f64x2.mul(shares, v128.load(indices, 16))), 16);
}

/** The index summed over the years from the table's first up to this one; flat outside the table, so also before it. */
function indexSumUntil(tables: usize, pathway: usize, anchor: usize, year: i32): f64 {
  const firstYear = <i32>load<f64>(tables, TABLE_FIRST_YEAR),
    lastYear = <i32>load<f64>(tables, TABLE_LAST_YEAR);
  const inYear = clampYear(year, firstYear, lastYear);
  const at = <usize>(inYear - firstYear) * YEAR_STRIDE + pathway * PATHWAY_STRIDE + (anchor << 3);
  return load<f64>(sumTable(tables) + at) + <f64>(year - inYear) * load<f64>(tables + TABLE_INDEX + at);
}

/** The emissions of a row in all of these scopes; NaN where it lacks one. */
function sumIfAllGiven(columns: usize, row: u32, scopes: i32, weight3: f64): f64 {
  let sum: f64 = 0;
  for (let scope = 0; scope < 3; scope++) {
    if ((scopes >> scope) & 1) sum += (scope == 2 ? weight3 : 1) * projectionOf(columns, row, scope);
  }
  return sum;
}

function shareOf(columns: usize, entity: i32, scope: i32, usable: i32, weight3: f64): f64 {
  if (!((usable >> scope) & 1)) return 0;
  return (scope == 2 ? weight3 : 1) * positive(baselineOf(columns, entity, scope));
}

/** What the entity's sector emits per unit of revenue in these scopes; NaN where that is not known. */
function referenceOf(columns: usize, entity: i32, usable: i32, weight3: f64): f64 {
  if (load<u32>(columns, COLUMN_REFERENCES) == 0) return NaN;
  let sum: f64 = 0;
  for (let scope = 0; scope < 3; scope++) {
    if (!((usable >> scope) & 1)) continue;
    const reference = load<f64>(
      load<u32>(columns + COLUMN_REFERENCES + ((<usize>scope) << 2)) + ((<usize>entity) << 3),
    );
    sum += (scope == 2 ? weight3 : 1) * reference;
  }
  return sum;
}

function revenueOf(columns: usize, entity: i32): f64 {
  const revenues = load<u32>(columns, COLUMN_REVENUES);
  return revenues == 0 ? NaN : load<f64>(revenues + ((<usize>entity) << 3));
}

function baselineOf(columns: usize, entity: i32, scope: i32): f64 {
  return load<f64>(load<u32>(columns + COLUMN_BASELINES + ((<usize>scope) << 2)) + ((<usize>entity) << 3));
}

function projectionOf(columns: usize, row: u32, scope: i32): f64 {
  return load<f64>(load<u32>(columns + COLUMN_PROJECTIONS + ((<usize>scope) << 2)) + ((<usize>row) << 3));
}

/** The pathway that a scope of an entity is compared with. */
function pathwayOf(columns: usize, entity: i32, scope: i32): usize {
  const pathway = <i32>load<u8>(load<u32>(columns, COLUMN_PATHWAYS) + <usize>entity);
  return <usize>(scope == 0 ? pathway : scope == 1 ? PATHWAY_POWER : pathwayOfScope3(pathway));
}

function pathwayOfScope3(pathway: i32): i32 {
  return pathway == PATHWAY_TRANSPORT || pathway == PATHWAY_BUILDINGS ? pathway : PATHWAY_ECONOMY;
}

/** Before five years have passed, and before the horizon year, the worlds lie too close together to tell them apart. */
function scoredYearOf(tables: usize, baselineYear: i32, year: i32): i32 {
  const horizon = max(baselineYear + SHORTEST_HORIZON_YEARS, <i32>load<f64>(tables, TABLE_HORIZON_YEAR));
  return max(year, horizon);
}

function keep(record: usize, row: u32, temperatures: usize, flags: usize): void {
  store<f64>(temperatures + ((<usize>row) << 3), load<f64>(record, RECORD_TEMPERATURE));
  store<u16>(flags + ((<usize>row) << 1), <u16>(<i32>load<f64>(record, RECORD_FLAGS)));
}

/** Writes down the last row of each year, plus one: 0 is no row. */
function rememberRows(rowsByYear: usize, years: usize, begin: u32, end: u32): void {
  for (let row = begin; row < end; row++) {
    store<u32>(slotOf(rowsByYear, load<i32>(years + ((<usize>row) << 2))), row + 1);
  }
}

function forgetRows(rowsByYear: usize, years: usize, begin: u32, end: u32): void {
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

/** Flags each row whose year another row has too. Needs the rows remembered by year. */
function markDuplicates(rowsByYear: usize, years: usize, begin: u32, end: u32, flags: usize): void {
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

function refused(bad: usize, entity: i32, row: i32): i32 {
  store<i32>(bad, entity);
  store<i32>(bad, row, 4);
  return STATUS_BAD_ALIGNMENT;
}

// A baseline is two vectors: scopes 1 and 2, scope 3. V8 has no choice between two f64, so that anything like
// `x > 0 ? x : 0` is a branch to be mispredicted; between vectors there is one.

function pairOf(first: usize, second: usize): v128 {
  return v128.load64_lane(second, v128.load64_zero(first), 1);
}

/** Never true of NaN, which is a scope that is not given. */
function isTooLarge(scopes12: v128, scope3: v128): bool {
  const most = f64x2.splat(EMISSIONS_MAX);
  return v128.any_true(v128.or(f64x2.gt(f64x2.abs(scopes12), most), f64x2.gt(f64x2.abs(scope3), most)));
}

/** Whether a row holds nothing that it may not. */
function isRow(columns: usize, entity: i32, row: u32): bool {
  const baselineYear = load<i32>(load<u32>(columns, COLUMN_BASELINE_YEARS) + ((<usize>entity) << 2)),
    year = load<i32>(load<u32>(columns, COLUMN_YEARS) + ((<usize>row) << 2));
  if (year <= baselineYear || year > ALIGNMENT_YEAR_MAX) return false;
  for (let scope = 0; scope < 3; scope++) {
    if (Math.abs(projectionOf(columns, row, scope)) > EMISSIONS_MAX) return false;
  }
  return true;
}

function blend(n1: v128, x1: v128, n2: v128, x2: v128, n3: v128, x3: v128): v128 {
  return f64x2.add(f64x2.add(f64x2.mul(n1, x1), f64x2.mul(n2, x2)), f64x2.mul(n3, x3));
}

function zeroIfMissing(scopes: v128): v128 {
  return v128.and(scopes, f64x2.eq(scopes, scopes));
}

function sumOf(scopes12: v128, scope3: v128): f64 {
  return f64x2.extract_lane(scopes12, 0) + f64x2.extract_lane(scopes12, 1) + f64x2.extract_lane(scope3, 0);
}

function negativeFlag(scopes12: v128, scope3: v128): i32 {
  const zero = f64x2.splat(0);
  return i32(v128.any_true(v128.or(f64x2.lt(scopes12, zero), f64x2.lt(scope3, zero)))) * NEGATIVE_SCOPE;
}

/** Whether `part` is so large or so small a part of `whole` that their units may differ. */
function isSuspect(part: f64, whole: f64): bool {
  return bool(i32(part > whole * CHECK_UNITS_ABOVE) | (i32(part > 0) & i32(part < whole * CHECK_UNITS_BELOW)));
}

function positive(value: f64): f64 {
  return f64x2.extract_lane(f64x2.pmax(f64x2.splat(0), f64x2.splat(value)), 0);
}

/** Both halves to the range that temperatures have. */
function clamp(temperatures: v128): v128 {
  const low = f64x2.pmax(f64x2.splat(TEMPERATURE_MIN_C), temperatures);
  return f64x2.pmin(f64x2.splat(TEMPERATURE_MAX_C), low);
}

function clampYear(year: i32, firstYear: i32, lastYear: i32): i32 {
  return max(firstYear, min(year, lastYear));
}

/** f64[4] */
function fill(at: usize, value: f64): void {
  const values = f64x2.splat(value);
  v128.store(at, values);
  v128.store(at, values, 16);
}

function yearCountOf(tables: usize): usize {
  return <usize>(<i32>load<f64>(tables, TABLE_LAST_YEAR) - <i32>load<f64>(tables, TABLE_FIRST_YEAR) + 1);
}

function sumTable(tables: usize): usize {
  return tables + TABLE_INDEX + yearCountOf(tables) * YEAR_STRIDE;
}

function perBaseTable(tables: usize): usize {
  return tables + TABLE_INDEX + yearCountOf(tables) * (2 * YEAR_STRIDE);
}

function growthTable(tables: usize): usize {
  return perBaseTable(tables) + yearCountOf(tables) * BASE_STRIDE;
}

function allowanceTable(tables: usize): usize {
  return growthTable(tables) + yearCountOf(tables) * REGION_STRIDE;
}
