/** Pathways, in the order of the tables. */
export const PATHWAY_ECONOMY: i32 = 0;
export const PATHWAY_POWER: i32 = 1;
export const PATHWAY_ENERGY_SUPPLY: i32 = 2;
export const PATHWAY_INDUSTRY: i32 = 3;
export const PATHWAY_TRANSPORT: i32 = 4;
export const PATHWAY_BUILDINGS: i32 = 5;
export const PATHWAY_COUNT: i32 = 6;
/** Regions of economic growth. The benchmark is based on the first, "pooled". */
export const GROWTH_REGION_COUNT: i32 = 3;
export const ANCHOR_COUNT: i32 = 4;

/** Quantities that can be compared with the pathways. */
export const BASIS_INTENSITY: i32 = 0;
export const BASIS_EMISSIONS: i32 = 1;
export const BASIS_CUMULATIVE: i32 = 2;

/** Range of baseline and projection years. */
export const ALIGNMENT_YEAR_MIN: i32 = 1900;
export const ALIGNMENT_YEAR_MAX: i32 = 2200;
/** Largest absolute value accepted for emissions. */
export const EMISSIONS_MAX: f64 = 1e15;
/** Range of temperatures, degrees C in 2100. */
export const TEMPERATURE_MIN_C: f64 = 1.3;
export const TEMPERATURE_MAX_C: f64 = 6.0;

// Flags. Bits 0 to 2 are about names, which the kernel does not receive.
export const SCOPE_MISSING: i32 = 1 << 3;
export const NO_USABLE_SCOPE: i32 = 1 << 4;
export const ZERO_BASELINE: i32 = 1 << 5;
export const NEGATIVE_SCOPE: i32 = 1 << 6;
export const REVENUE_UNUSABLE: i32 = 1 << 7;
export const BEYOND_TABLE: i32 = 1 << 8;
export const EARLY_BASELINE: i32 = 1 << 9;
export const DUPLICATE_YEAR: i32 = 1 << 10;
export const CHECK_UNITS: i32 = 1 << 11;
export const SHORT_HORIZON: i32 = 1 << 12;
export const ANCHORS_CLOSE: i32 = 1 << 13;

// Tables of one benchmark, f64 (see alignColumns). Byte offsets.
export const TABLE_FIRST_YEAR: usize = 0;
export const TABLE_LAST_YEAR: usize = 8;
/** First year in which the pathways are distinguishable. */
export const TABLE_HORIZON_YEAR: usize = 16;
/** f64[5][2]: temperature at the start of each segment, from zero emissions upwards, and its rise along the segment. */
export const TABLE_SEGMENTS: usize = 64;
export const TABLE_YEARS: usize = 192;
/** One year of the tables. Byte offsets. */
export const YEAR_INDEX: usize = 0;
export const YEAR_ALLOWANCE: usize = 192;
export const YEAR_GROWTH: usize = 216;
export const YEAR_BITS: i32 = 8;
export const YEAR_BYTES: usize = 1 << YEAR_BITS;

export const YEAR_SUMS_BYTES: usize = 192; // 6 pathways x 4 anchors
export const PATHWAY_BYTES: usize = 32; // 4 anchors
export const YEAR_BASES_BYTES: usize = 48; // 6 pathways

// Columns: u32 pointers in this order. Byte offsets.
export const COLUMN_BASELINE_YEARS: usize = 0; // i32[entityCount]
export const COLUMN_PATHWAYS: usize = 4; // u8[entityCount]
export const COLUMN_REGIONS: usize = 8; // u8[entityCount]
export const COLUMN_BASELINES: usize = 12; // 3 pointers, f64[entityCount]
export const COLUMN_STARTS: usize = 24; // u32[entityCount + 1]
export const COLUMN_YEARS: usize = 28; // i32[rowCount]
export const COLUMN_PROJECTIONS: usize = 32; // 3 pointers, f64[rowCount]
export const COLUMN_REVENUES: usize = 44; // f64[entityCount], or 0
export const COLUMN_REFERENCES: usize = 48; // 3 pointers, f64[entityCount], or 0
export const ALIGNMENT_COLUMN_COUNT: i32 = 15;

// Record of the intermediate figures of one row, f64. Byte offsets.
export const RECORD_TEMPERATURE: usize = 0;
export const RECORD_FLAGS: usize = 8;
export const RECORD_BASELINE: usize = 16;
export const RECORD_PROJECTED: usize = 24;
export const RECORD_GROWTH_FACTOR: usize = 32;
export const RECORD_RATIO_Q: usize = 40;
export const RECORD_EVALUATED_YEAR: usize = 48;
/** 0 to 4: number of anchors below the ratio. */
export const RECORD_SEGMENT: usize = 56;
/** Fraction along that segment, 0 at its start. */
export const RECORD_WEIGHT: usize = 64;
export const RECORD_KAPPA: usize = 72;
/** Bits 0 to 2: scopes 1 to 3. */
export const RECORD_USABLE: usize = 80;
/** f64[4], after anchors that are too close have been separated. */
export const RECORD_ANCHORS: usize = 88;
export const RECORD_BYTES: usize = 128;

/** Entities and rows that are prepared and scored together; the prepared data fits the L1 cache. */
export const BLOCK_ENTITIES: i32 = 128;
export const BLOCK_ROWS: u32 = 1024;

// Scratch. Byte offsets.
/** f64[4][2] */
export const SCRATCH_ANCHORS: usize = RECORD_BYTES;
export const SCRATCH_LOOP_CONSTANTS: usize = SCRATCH_ANCHORS + 64;
/** u32[301]: last row of each year, plus one. The only part that must be zero before a call. */
export const SCRATCH_ROWS: usize = SCRATCH_LOOP_CONSTANTS + 176;
/** Two entities copied by prepareEntityForRow, then ROW_SUM to ROW_EXPONENT. */
export const SCRATCH_ROW_ENTITIES: usize = SCRATCH_ROWS + 1216;
/** u32[BLOCK_ROWS][2]: address of the row's year in the tables, address of its prepared entity. */
export const SCRATCH_BLOCK_ROWS: usize = SCRATCH_ROW_ENTITIES + 240;
export const SCRATCH_ENTITIES: usize = SCRATCH_BLOCK_ROWS + 8 * <usize>BLOCK_ROWS + 32;
export const ENTITY_BYTES: usize = 96;
/** Size of the scratch memory of alignColumns and alignDetail. */
export const ALIGNMENT_SCRATCH_BYTES: usize = SCRATCH_ENTITIES + <usize>BLOCK_ENTITIES * ENTITY_BYTES;

/**
 * Minimum distance between anchors: closer ones would turn small differences in emissions into large ones in
 * temperature.
 */
export const ANCHOR_GAP_MIN: f64 = 0.02;
/** Minimum distance between means over years, which are spread a quarter to half as wide as values of single years. */
export const MEAN_ANCHOR_GAP_MIN: f64 = 0.005;
/** Emissions below this, including negative sums, are treated as zero. */
export const ZERO_EMISSIONS: f64 = 1e-12;
/** Upper limit of a ratio that is extrapolated from a short horizon. */
export const RATIO_MAX: f64 = 10;
/** Ratios of projection to baseline outside this range suggest different units. */
export const CHECK_UNITS_ABOVE: f64 = 10;
export const CHECK_UNITS_BELOW: f64 = 0.01;
/** Limits of the ratio of an entity's intensity to its sector's. */
export const KAPPA_MIN: f64 = 0.25;
export const KAPPA_MAX: f64 = 4;
/** Bits 0 to 2: scopes 1 to 3. */
export const ALL_SCOPES: i32 = 7;
/** Bits of givenScopesOf, two apart: the bit masks of two rows, one per lane, can be interleaved. */
export const GIVEN_SCOPE_1: i32 = 1;
export const GIVEN_SCOPE_2: i32 = 4;
export const GIVEN_SCOPE_3: i32 = 16;
export const ALL_GIVEN: i32 = GIVEN_SCOPE_1 | GIVEN_SCOPE_2 | GIVEN_SCOPE_3;
export const SHORTEST_HORIZON_YEARS: i32 = 5;
export const EARLY_BASELINE_YEAR: i32 = 2018;
export const CONVERGENCE_YEAR: i32 = 2050;
/** Range of revenues for which no intensity overflows. */
export const ORDINARY_REVENUE_MIN: f64 = 1e-280;
export const ORDINARY_REVENUE_MAX: f64 = 1e280;

/** Returns an entity's revenue in its baseline year, or NaN if there is no revenue column. */
export function revenueOf(columns: usize, entity: i32): f64 {
  const revenues = load<u32>(columns, COLUMN_REVENUES);
  return revenues == 0 ? NaN : load<f64>(revenues + ((<usize>entity) << 3));
}

/** Returns an entity's baseline emissions in scope `scope` + 1, or NaN if they are not given. */
export function baselineOf(columns: usize, entity: i32, scope: i32): f64 {
  return load<f64>(load<u32>(columns + COLUMN_BASELINES + ((<usize>scope) << 2)) + ((<usize>entity) << 3));
}

/** Returns a row's projected emissions in scope `scope` + 1, or NaN if they are not given. */
export function projectionOf(columns: usize, row: u32, scope: i32): f64 {
  return load<f64>(load<u32>(columns + COLUMN_PROJECTIONS + ((<usize>scope) << 2)) + ((<usize>row) << 3));
}

/** Returns the pathway that an entity's emissions in scope `scope` + 1 are compared with. */
export function pathwayOf(columns: usize, entity: i32, scope: i32): usize {
  const pathway = <i32>load<u8>(load<u32>(columns, COLUMN_PATHWAYS) + <usize>entity);
  return <usize>(scope == 0 ? pathway : scope == 1 ? PATHWAY_POWER : pathwayOfScope3(pathway));
}

/** Returns the pathway that scope 3 is compared with if scope 1 is compared with `pathway`. */
export function pathwayOfScope3(pathway: i32): i32 {
  return pathway == PATHWAY_TRANSPORT || pathway == PATHWAY_BUILDINGS ? pathway : PATHWAY_ECONOMY;
}

/** Returns the year to score: `year`, but at least five years after the baseline and not before the horizon year. */
export function scoredYearOf(tables: usize, baselineYear: i32, year: i32): i32 {
  const horizon = max(baselineYear + SHORTEST_HORIZON_YEARS, <i32>load<f64>(tables, TABLE_HORIZON_YEAR));
  return max(year, horizon);
}

/** Returns whether the year and the emissions of a row are valid. */
export function isValidRow(columns: usize, entity: i32, row: u32): bool {
  const baselineYear = load<i32>(load<u32>(columns, COLUMN_BASELINE_YEARS) + ((<usize>entity) << 2)),
    year = load<i32>(load<u32>(columns, COLUMN_YEARS) + ((<usize>row) << 2));
  if (year <= baselineYear || year > ALIGNMENT_YEAR_MAX) return false;
  for (let scope = 0; scope < 3; scope++) {
    if (Math.abs(projectionOf(columns, row, scope)) > EMISSIONS_MAX) return false;
  }
  return true;
}

export function clampYear(year: i32, firstYear: i32, lastYear: i32): i32 {
  return max(firstYear, min(year, lastYear));
}

/** Returns the index of an entity's first row. */
export function rowsBegin(columns: usize, entity: i32): u32 {
  const starts = load<u32>(columns, COLUMN_STARTS);
  return load<u32>(starts + ((<usize>entity) << 2)) - load<u32>(starts);
}

/** Returns the index after an entity's last row. */
export function rowsEnd(columns: usize, entity: i32): u32 {
  return rowsBegin(columns, entity + 1);
}

/** Returns the scopes that a row gives, as bits GIVEN_SCOPE_*; scope 3 only if its weight is above 0. */
export function givenScopesOf(columns: usize, row: u32, weight3: f64): i32 {
  const y1 = projectionOf(columns, row, 0),
    y2 = projectionOf(columns, row, 1),
    y3 = projectionOf(columns, row, 2);
  return i32(y1 == y1) | (i32(y2 == y2) << 2) | (i32(weight3 > 0 && y3 == y3) << 4);
}

function yearCountOf(tables: usize): usize {
  return <usize>(<i32>load<f64>(tables, TABLE_LAST_YEAR) - <i32>load<f64>(tables, TABLE_FIRST_YEAR) + 1);
}

/** Returns the address of the sums of the emissions index (alignColumns). */
export function sumTable(tables: usize): usize {
  return tables + TABLE_YEARS + yearCountOf(tables) * YEAR_BYTES;
}

/** Returns the address of the reciprocals of the world's emissions index (alignColumns). */
export function perBaseTable(tables: usize): usize {
  return sumTable(tables) + yearCountOf(tables) * YEAR_SUMS_BYTES;
}

/** Loads two f64 into the lanes of a vector. */
export function pairOf(first: usize, second: usize): v128 {
  return v128.load64_lane(second, v128.load64_zero(first), 1);
}

/** Returns the value, or 0 if it is negative or NaN. */
export function positive(value: f64): f64 {
  return f64x2.extract_lane(f64x2.pmax(f64x2.splat(0), f64x2.splat(value)), 0);
}

/** Returns whether the ratio of projection to baseline suggests that they are in different units. */
export function isSuspect(projection: f64, baseline: f64): bool {
  return bool(
    i32(projection > baseline * CHECK_UNITS_ABOVE) |
      (i32(projection > 0) & i32(projection < baseline * CHECK_UNITS_BELOW)),
  );
}
