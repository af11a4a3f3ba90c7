/** Pathways, in the order of the tables. */
export const PATHWAY_ECONOMY: i32 = 0;
export const PATHWAY_POWER: i32 = 1;
export const PATHWAY_ENERGY_SUPPLY: i32 = 2;
export const PATHWAY_INDUSTRY: i32 = 3;
export const PATHWAY_TRANSPORT: i32 = 4;
export const PATHWAY_BUILDINGS: i32 = 5;
export const PATHWAY_COUNT: i32 = 6;
export const ANCHOR_COUNT: i32 = 4;
/** Value of the column of growth series for an entity without one. */
export const NO_GROWTH_SERIES: i32 = 255;

/** Quantities that can be compared with the pathways. */
export const BASIS_INTENSITY: i32 = 0;
export const BASIS_EMISSIONS: i32 = 1;
export const BASIS_CUMULATIVE: i32 = 2;

/** Range of baseline and projection years. */
export const ALIGNMENT_YEAR_MIN: i32 = 1900;
export const ALIGNMENT_YEAR_MAX: i32 = 2200;
/** Largest absolute value accepted for emissions and revenues. */
export const EMISSIONS_MAX: f64 = 1e15;
/** Upper limit of temperatures at the median climate response, degrees C in 2100. */
export const TEMPERATURE_MAX_C: f64 = 6.0;

// Flags (docs/methods/alignment.md). Bits 0 to 3 concern names, which the kernel does not receive.
export const SCOPE3_ABSENT: i32 = 1 << 4;
export const EARLY_BASELINE: i32 = 1 << 5;
export const SCOPE_DROPPED: i32 = 1 << 6;
export const NO_USABLE_SCOPE: i32 = 1 << 7;
export const ZERO_BASELINE: i32 = 1 << 8;
export const NEGATIVE_SCOPE: i32 = 1 << 9;
export const IMPLAUSIBLE_CHANGE: i32 = 1 << 10;
export const GROWTH_DEFAULT: i32 = 1 << 11;
export const GROWTH_REGION: i32 = 1 << 12;
export const GROWTH_LIMITED: i32 = 1 << 13;
export const GROWTH_DRIVEN: i32 = 1 << 14;
export const REVENUE_UNUSABLE: i32 = 1 << 15;
export const SHORT_HORIZON: i32 = 1 << 16;
export const BEYOND_TABLE: i32 = 1 << 17;
export const DUPLICATE_YEAR: i32 = 1 << 18;
export const ANCHORS_CLOSE: i32 = 1 << 19;
export const SENSITIVE: i32 = 1 << 20;

// Tables of one benchmark, f64 (src/kernel/alignmentTables.ts). Byte offsets.
export const TABLE_FIRST_YEAR: usize = 0;
export const TABLE_LAST_YEAR: usize = 8;
/** First year in which the pathways are distinguishable. */
export const TABLE_HORIZON_YEAR: usize = 16;
export const TABLE_SERIES_COUNT: usize = 24;
/** Ratio to the last anchor from which temperatures are constant. */
export const TABLE_LAST_RATIO: usize = 32;
/** Curves of temperature over the emissions ratio: median, p10, p90; see CURVE_*. */
export const TABLE_CURVES: usize = 64;
/**
 * f64[CHANGE_YEARS_MAX + 1][4]: smallest and largest plausible ratio of emissions after each number of years, then
 * the same limits a little closer together, so that ratios between them are plausible regardless of rounding.
 */
export const TABLE_PLAUSIBLE_CHANGES: usize = 256;
export const CHANGE_BITS: i32 = 5;
/** Number of years after which the limits no longer change. */
export const CHANGE_YEARS_MAX: i32 = 18;
/**
 * f64[horizon - SHORTEST_HORIZON_YEARS][years][4]: 0.925, 0.95, 1.05 and 1.075 to the power horizon / years, for
 * horizons up to TABLED_HORIZON_MAX years, and years from 1 up to the horizon.
 */
export const TABLE_SCALES: usize = 896;
export const TABLED_HORIZON_MAX: i32 = 30;
export const SCALE_BYTES: usize = 32;
export const TABLE_YEARS: usize =
  TABLE_SCALES + <usize>(TABLED_HORIZON_MAX - 4) * <usize>TABLED_HORIZON_MAX * SCALE_BYTES;

/** Curve, f64[7]: temperature without emissions, rises along the five segments, highest temperature. Byte offsets. */
export const CURVE_START: usize = 0;
export const CURVE_RISES: usize = 8;
export const CURVE_MAX: usize = 48;
export const CURVE_BYTES: usize = 56;
export const CURVE_P50: i32 = 0;
export const CURVE_P10: i32 = 1;
export const CURVE_P90: i32 = 2;

/** One year of the tables. Byte offsets. */
export const YEAR_INDEX: usize = 0;
export const YEAR_PER_BASE: usize = 192;
export const YEAR_POOL: usize = 240;
export const YEAR_BITS: i32 = 8;
export const YEAR_BYTES: usize = 1 << YEAR_BITS;

export const YEAR_SUMS_BYTES: usize = 192; // 6 pathways x 4 anchors
export const PATHWAY_BYTES: usize = 32; // 4 anchors

// Columns: u32 pointers in this order. Byte offsets.
export const COLUMN_BASELINE_YEARS: usize = 0; // i32[entityCount]
export const COLUMN_PATHWAYS: usize = 4; // u8[entityCount]
export const COLUMN_GROWTH_SERIES: usize = 8; // u8[entityCount]
export const COLUMN_BASELINES: usize = 12; // 3 pointers, f64[entityCount]
export const COLUMN_STARTS: usize = 24; // u32[entityCount + 1]
export const COLUMN_YEARS: usize = 28; // i32[rowCount]
export const COLUMN_PROJECTIONS: usize = 32; // 3 pointers, f64[rowCount]
export const COLUMN_BASELINE_REVENUES: usize = 44; // f64[entityCount], or 0
export const COLUMN_PROJECTED_REVENUES: usize = 48; // f64[rowCount], or 0
export const COLUMN_CONVERGENCE_REVENUES: usize = 52; // f64[entityCount], or 0
export const COLUMN_REFERENCES: usize = 56; // 3 pointers, f64[entityCount], or 0
export const COLUMN_LABELS: usize = 68; // u16[rowCount], or 0
export const ALIGNMENT_COLUMN_COUNT: i32 = 18;

// Results: u32 pointers in this order, 0 = not requested; f64[rowCount] except flags. Byte offsets.
export const RESULT_TEMPERATURES: usize = 0;
export const RESULT_RANGE_LOW: usize = 4;
export const RESULT_RANGE_HIGH: usize = 8;
export const RESULT_FLAGS: usize = 12; // u32[rowCount]
/** Written only for rows with SCOPE_DROPPED. */
export const RESULT_COVERAGE: usize = 16;
export const RESULT_CLIMATE_LOW: usize = 20;
export const RESULT_CLIMATE_HIGH: usize = 24;
export const RESULT_SCOPES_1_2: usize = 28;
export const RESULT_SCOPE_3: usize = 32;
export const RESULT_BUDGET_PROJECTED: usize = 36;
export const RESULT_BUDGET_ALLOWED: usize = 40;
export const RESULT_ANCHOR_SPREAD: usize = 44;
export const ALIGNMENT_RESULT_COUNT: i32 = 12;

// Record of the intermediate figures of one row, f64. Byte offsets.
export const RECORD_TEMPERATURE: usize = 0;
export const RECORD_FLAGS: usize = 8;
export const RECORD_BASELINE: usize = 16;
export const RECORD_PROJECTED: usize = 24;
export const RECORD_GROWTH_FACTOR: usize = 32;
/** GROWTH_SOURCE_* */
export const RECORD_GROWTH_SOURCE: usize = 40;
export const RECORD_RATIO_Q: usize = 48;
export const RECORD_EVALUATED_YEAR: usize = 56;
export const RECORD_KAPPA: usize = 64;
/** Bits 0 to 2: scopes 1 to 3. */
export const RECORD_USABLE: usize = 72;
export const RECORD_COVERAGE: usize = 80;
export const RECORD_RANGE_LOW: usize = 88;
export const RECORD_RANGE_HIGH: usize = 96;
export const RECORD_CLIMATE_LOW: usize = 104;
export const RECORD_CLIMATE_HIGH: usize = 112;
/** f64[4]: anchors after separation. */
export const RECORD_ANCHORS: usize = 120;
/** f64[4]: anchors before separation. */
export const RECORD_RAW_ANCHORS: usize = 152;
/** f64[3]: shares of the scopes in the baseline. */
export const RECORD_SHARES: usize = 184;
export const RECORD_BUDGET_PROJECTED: usize = 208;
/** f64[4] */
export const RECORD_BUDGET_ALLOWED: usize = 216;
export const RECORD_BYTES: usize = 248;

/** Origin of the growth factor; NONE if the basis has no growth factor. */
export const GROWTH_SOURCE_NONE: i32 = 0;
export const GROWTH_SOURCE_SUPPLIED: i32 = 1;
export const GROWTH_SOURCE_COUNTRY: i32 = 2;
export const GROWTH_SOURCE_REGION: i32 = 3;
export const GROWTH_SOURCE_DEFAULT: i32 = 4;

// Variants of a row in the detail: the three bases, each scope alone, scopes 1 and 2.
export const VARIANT_CUMULATIVE: i32 = 2;
export const VARIANT_SCOPE_1: i32 = 3;
export const VARIANT_SCOPES_1_2: i32 = 6;
export const VARIANT_COUNT: i32 = 7;

// Scratch. Byte offsets. First the arguments of the call.
export const CALL_TABLES: usize = 0;
export const CALL_COLUMNS: usize = 4;
export const CALL_RESULTS: usize = 8;
export const CALL_BASIS: usize = 12;
export const CALL_WEIGHT_3: usize = 16;
export const CALL_GAMMA: usize = 24;
/** Index of the anchor of the budgets. */
export const CALL_BUDGET_ANCHOR: usize = 32;
/** First given year of the line that was summed last. */
export const CALL_FIRST_GIVEN_YEAR: usize = 36;
/** u32: whether a row has had SCOPE_DROPPED, so that its coverage was written. */
export const CALL_HAS_COVERAGE: usize = 40;
/** f64[12][2], LANES_* in alignmentCurve.ts. */
export const SCRATCH_CURVE: usize = 64;
export const SCRATCH_RECORD: usize = SCRATCH_CURVE + 256;
/** Prepared entities and rows of a block, see alignmentBlocks.ts. */
export const SCRATCH_ENTITIES: usize = SCRATCH_RECORD + 256;
export const BLOCK_ENTITIES: i32 = 64;
export const ENTITY_BYTES: usize = 96;
export const SCRATCH_BLOCK_ROWS: usize = SCRATCH_ENTITIES + <usize>BLOCK_ENTITIES * ENTITY_BYTES;
export const BLOCK_ROWS: u32 = 512;
export const ROW_BYTES: usize = 32;
/** u32[301]: last row of each year, plus one. Must be zero before a call. */
export const SCRATCH_ROWS: usize = SCRATCH_BLOCK_ROWS + <usize>BLOCK_ROWS * ROW_BYTES;
/** u32[rowCount][2]: first row of each label plus one, then for each row the next row of its label plus one. */
export const SCRATCH_LABELS: usize = SCRATCH_ROWS + 1208;
/** Size of the scratch memory of alignColumns and alignDetail, without 8 bytes for each row of the largest entity. */
export const ALIGNMENT_SCRATCH_BYTES: usize = SCRATCH_LABELS;

/**
 * Minimum distance between anchors: closer ones would turn small differences in emissions into large ones in
 * temperature.
 */
export const ANCHOR_GAP_MIN: f64 = 0.02;
/** Minimum distance between means over years, which are spread a quarter to half as wide as values of single years. */
export const MEAN_ANCHOR_GAP_MIN: f64 = 0.005;
/** An anchor that moves by more raises ANCHORS_CLOSE. */
export const ANCHOR_MOVE_MIN: f64 = 1e-12;
/** A baseline below this, including a negative sum, is treated as zero. */
export const ZERO_BASELINE_MAX: f64 = 1e-12;
/** Upper limit of a ratio that is extrapolated from a short horizon. */
export const RATIO_MAX: f64 = 10;
/** Relative change of the emissions for which the range is computed. */
export const RANGE_CHANGE: f64 = 0.05;
/** Relative change of the emissions for which SENSITIVE is determined. */
export const SENSITIVE_CHANGE: f64 = 0.075;
/** Difference of temperatures that raises SENSITIVE and GROWTH_DRIVEN, degrees C. */
export const NOTABLE_DIFFERENCE_C: f64 = 0.3;
/** A scope with this share of the baseline can raise IMPLAUSIBLE_CHANGE. */
export const NOTABLE_SHARE: f64 = 0.1;
/** Limits of the growth factor. */
export const SUPPLIED_GROWTH_MIN: f64 = 0.25;
export const SUPPLIED_GROWTH_MAX: f64 = 4;
export const COUNTRY_GROWTH_MIN: f64 = 2.0 / 3.0;
export const COUNTRY_GROWTH_MAX: f64 = 1.5;
/** Limits of the ratio of an entity's intensity to its industry's. */
export const KAPPA_MIN: f64 = 0.25;
export const KAPPA_MAX: f64 = 4;
/** Bits 0 to 2: scopes 1 to 3. */
export const ALL_SCOPES: i32 = 7;
export const SCOPES_1_2: i32 = 3;
export const SCOPE_3: i32 = 4;
export const SHORTEST_HORIZON_YEARS: i32 = 5;
export const EARLY_BASELINE_YEAR: i32 = 2018;
export const CONVERGENCE_YEAR: i32 = 2050;

/** Returns the element of an optional f64 column, or NaN if the column is absent. */
export function optionalAt(columns: usize, column: usize, index: u32): f64 {
  const values = load<u32>(columns + column);
  return values == 0 ? NaN : load<f64>(values + ((<usize>index) << 3));
}

export function baselineYearOf(columns: usize, entity: i32): i32 {
  return load<i32>(load<u32>(columns, COLUMN_BASELINE_YEARS) + ((<usize>entity) << 2));
}

export function yearOf(columns: usize, row: u32): i32 {
  return load<i32>(load<u32>(columns, COLUMN_YEARS) + ((<usize>row) << 2));
}

/** Returns an entity's baseline emissions in scope `scope` + 1, or NaN if they are not given. */
export function baselineOf(columns: usize, entity: i32, scope: i32): f64 {
  return load<f64>(load<u32>(columns + COLUMN_BASELINES + ((<usize>scope) << 2)) + ((<usize>entity) << 3));
}

/** Returns a row's projected emissions in scope `scope` + 1, or NaN if they are not given. */
export function projectionOf(columns: usize, row: u32, scope: i32): f64 {
  return load<f64>(load<u32>(columns + COLUMN_PROJECTIONS + ((<usize>scope) << 2)) + ((<usize>row) << 3));
}

/** Returns the label of a row; 0 if there are no labels. */
export function labelOf(columns: usize, row: u32): u32 {
  const labels = load<u32>(columns, COLUMN_LABELS);
  return labels == 0 ? 0 : <u32>load<u16>(labels + ((<usize>row) << 1));
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

/** Returns the weight of scope `scope` + 1. */
export function weightOf(call: usize, scope: i32): f64 {
  return scope == 2 ? load<f64>(call, CALL_WEIGHT_3) : 1;
}

/** Returns the year to score: `year`, but at least five years after the baseline and not before the horizon year. */
export function scoredYearOf(tables: usize, baselineYear: i32, year: i32): i32 {
  const horizon = max(baselineYear + SHORTEST_HORIZON_YEARS, <i32>load<f64>(tables, TABLE_HORIZON_YEAR));
  return max(year, horizon);
}

/** Returns the index of a year in the tables; years outside them count as the first or last. */
export function yearIndexOf(tables: usize, year: i32): usize {
  const firstYear = <i32>load<f64>(tables, TABLE_FIRST_YEAR),
    lastYear = <i32>load<f64>(tables, TABLE_LAST_YEAR);
  return <usize>(max(firstYear, min(year, lastYear)) - firstYear);
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

export function yearCountOf(tables: usize): usize {
  return <usize>(<i32>load<f64>(tables, TABLE_LAST_YEAR) - <i32>load<f64>(tables, TABLE_FIRST_YEAR) + 1);
}

/** Returns the address of the sums of the emissions index (alignColumns). */
export function sumTable(tables: usize): usize {
  return tables + TABLE_YEARS + yearCountOf(tables) * YEAR_BYTES;
}

/** Returns the address of the row of a growth series (alignColumns); NO_GROWTH_SERIES has a row of ones. */
export function growthRow(tables: usize, series: i32): usize {
  const yearCount = yearCountOf(tables);
  const row = min(series, <i32>load<f64>(tables, TABLE_SERIES_COUNT));
  return tables + TABLE_YEARS + yearCount * (YEAR_BYTES + YEAR_SUMS_BYTES) + <usize>row * (yearCount + 1) * 8;
}

/** Returns the value, or 0 if it is negative or NaN. */
export function positive(value: f64): f64 {
  return f64x2.extract_lane(f64x2.pmax(f64x2.splat(0), f64x2.splat(value)), 0);
}

/**
 * Returns the address of the powers of a scale for a row whose year is before its horizon (TABLE_SCALES), or 0 if the
 * horizon is too far for the table.
 */
export function scalesOf(tables: usize, horizonYears: i32, years: i32): usize {
  if (horizonYears > TABLED_HORIZON_MAX) return 0;
  const index = (horizonYears - SHORTEST_HORIZON_YEARS) * TABLED_HORIZON_MAX + years - 1;
  return tables + TABLE_SCALES + <usize>index * SCALE_BYTES;
}

/** Loads two f64 into the lanes of a vector. */
export function pairOf(first: usize, second: usize): v128 {
  return v128.load64_lane(second, v128.load64_zero(first), 1);
}
