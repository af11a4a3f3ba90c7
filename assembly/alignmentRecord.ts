import {
  addAnchors,
  extrapolateToHorizon,
  fillFour,
  interpolateTemperature,
  separateRowAnchors,
} from "./alignmentAnchors";
import {
  ANCHORS_CLOSE,
  ANCHOR_GAP_MIN,
  BASIS_INTENSITY,
  BEYOND_TABLE,
  CHECK_UNITS,
  COLUMN_BASELINE_YEARS,
  COLUMN_REFERENCES,
  COLUMN_REGIONS,
  COLUMN_REVENUES,
  COLUMN_YEARS,
  CONVERGENCE_YEAR,
  EARLY_BASELINE,
  EARLY_BASELINE_YEAR,
  KAPPA_MAX,
  KAPPA_MIN,
  NEGATIVE_SCOPE,
  NO_USABLE_SCOPE,
  PATHWAY_BYTES,
  RECORD_ANCHORS,
  RECORD_BASELINE,
  RECORD_EVALUATED_YEAR,
  RECORD_FLAGS,
  RECORD_GROWTH_FACTOR,
  RECORD_KAPPA,
  RECORD_PROJECTED,
  RECORD_TEMPERATURE,
  RECORD_USABLE,
  REVENUE_UNUSABLE,
  SCOPE_MISSING,
  SCRATCH_ANCHORS,
  SHORT_HORIZON,
  TABLE_FIRST_YEAR,
  TABLE_LAST_YEAR,
  TABLE_YEARS,
  TEMPERATURE_MIN_C,
  YEAR_ALLOWANCE,
  YEAR_BASES_BYTES,
  YEAR_BYTES,
  YEAR_GROWTH,
  ZERO_BASELINE,
  ZERO_EMISSIONS,
  baselineOf,
  clampYear,
  isSuspect,
  pathwayOf,
  perBaseTable,
  positive,
  projectionOf,
  revenueOf,
  scoredYearOf,
} from "./alignmentLayout";
import { powers } from "./power";

/**
 * Scores one row on the basis `intensity` or `emissions`; handles every case of the method. `scopes`: bits 0 to 2 of
 * the scopes to include.
 */
export function scorePoint(
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
  const perBase = perBaseTable(tables) + baseIndex * YEAR_BASES_BYTES,
    scoredYearAt = tables + TABLE_YEARS + scoredIndex * YEAR_BYTES;

  // Same order of operations as scoreRows, so that both give the same bits.
  let q: f64 = 0;
  fillFour(anchors, 0);
  if (baseline < ZERO_EMISSIONS) {
    fillFour(anchors, NaN);
    flags |= ZERO_BASELINE;
    store<f64>(record, <f64>flags, RECORD_FLAGS);
    if (projected < ZERO_EMISSIONS) {
      store<f64>(record, TEMPERATURE_MIN_C, RECORD_TEMPERATURE);
      return;
    }
    if (!converges) return;
    // There is no baseline to compare with, so compare with the sector's emissions per revenue.
    q = projected / (reference * revenue);
    const pathway = pathwayOf(columns, entity, 0);
    fillFour(anchors, 0);
    addAnchors(anchors, scoredYearAt + pathway * PATHWAY_BYTES, load<f64>(perBase + (pathway << 3)));
  } else {
    const perShare =
      1 /
      (shareOf(columns, entity, 0, usable, weight3) +
        shareOf(columns, entity, 1, usable, weight3) +
        shareOf(columns, entity, 2, usable, weight3));
    for (let scope = 0; scope < 3; scope++) {
      const share = shareOf(columns, entity, scope, usable, weight3) * perShare,
        pathway = pathwayOf(columns, entity, scope);
      addAnchors(anchors, scoredYearAt + pathway * PATHWAY_BYTES, share * load<f64>(perBase + (pathway << 3)));
    }
    const yearIndex = <usize>(clampYear(year, firstYear, lastYear) - firstYear),
      region = <usize>load<u8>(load<u32>(columns, COLUMN_REGIONS) + <usize>entity),
      allowance = tables + TABLE_YEARS + YEAR_ALLOWANCE + (basis == BASIS_INTENSITY ? region << 3 : 0);
    const perTonne = 1 / (baseline * load<f64>(allowance + baseIndex * YEAR_BYTES));
    q = positive(projected) * load<f64>(allowance + yearIndex * YEAR_BYTES) * perTonne;
    if (isSuspect(q, 1)) flags |= CHECK_UNITS;
    if (converges) {
      const kappa = max<f64>(KAPPA_MIN, min<f64>(baseline / revenue / reference, KAPPA_MAX));
      const progress: f64 =
        baselineYear >= CONVERGENCE_YEAR
          ? 1
          : min<f64>(<f64>(year - baselineYear) / <f64>(CONVERGENCE_YEAR - baselineYear), 1);
      q *= f64x2.extract_lane(powers(f64x2.splat(kappa), f64x2.splat(gamma * progress)), 0);
      store<f64>(record, kappa, RECORD_KAPPA);
    }
    const exponent = <f64>(scoredYear - baselineYear) / <f64>(year - baselineYear);
    if (exponent > 1) q = f64x2.extract_lane(extrapolateToHorizon(f64x2.splat(q), f64x2.splat(exponent)), 0);
  }
  if (separateRowAnchors(anchors, ANCHOR_GAP_MIN, scratch + SCRATCH_ANCHORS)) flags |= ANCHORS_CLOSE;
  store<f64>(record, <f64>flags, RECORD_FLAGS);
  interpolateTemperature(tables, record, q);
}

/** Clears a record, stores the figures common to all bases, and returns the usable scopes as bits 0 to 2. */
export function beginRecord(
  tables: usize,
  columns: usize,
  entity: i32,
  row: u32,
  scopes: i32,
  weight3: f64,
  record: usize,
): i32 {
  fillFour(record, NaN);
  fillFour(record + 32, NaN);
  fillFour(record + 64, NaN);
  fillFour(record + 96, NaN);
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
    const baselineEmissions = baselineOf(columns, entity, scope),
      projectedEmissions = projectionOf(columns, row, scope);
    const hasBaseline = baselineEmissions == baselineEmissions,
      hasProjection = projectedEmissions == projectedEmissions;
    if (hasBaseline != hasProjection) flags |= SCOPE_MISSING;
    if (!hasBaseline || !hasProjection) continue;
    usable |= 1 << scope;
    baseline += weight * baselineEmissions;
    projected += weight * projectedEmissions;
    if (baselineEmissions < 0 || projectedEmissions < 0) flags |= NEGATIVE_SCOPE;
  }
  if (scoredYear > lastYear) flags |= BEYOND_TABLE;
  if (baselineYear < EARLY_BASELINE_YEAR) flags |= EARLY_BASELINE;
  if (year < scoredYear) flags |= SHORT_HORIZON;

  const regionYearAt = tables + TABLE_YEARS + yearIndex * YEAR_BYTES + (region << 3),
    regionBaseAt = tables + TABLE_YEARS + baseIndex * YEAR_BYTES + (region << 3);
  const growth = load<f64>(regionYearAt, YEAR_GROWTH) / load<f64>(regionBaseAt, YEAR_GROWTH);
  if (load<u32>(columns, COLUMN_REVENUES) != 0) {
    const revenue = revenueOf(columns, entity);
    const isUsable =
      revenue > 0 &&
      isFinite(revenue * growth) &&
      isFinite(baseline / revenue) &&
      isFinite(projected / (revenue * growth));
    if (!isUsable) flags |= REVENUE_UNUSABLE;
  }
  store<f64>(
    record,
    load<f64>(regionYearAt, YEAR_ALLOWANCE) / load<f64>(regionBaseAt, YEAR_ALLOWANCE),
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

/** Returns a scope's weighted baseline emissions; 0 if they are negative or the scope is not usable. */
export function shareOf(columns: usize, entity: i32, scope: i32, usable: i32, weight3: f64): f64 {
  if (!((usable >> scope) & 1)) return 0;
  return (scope == 2 ? weight3 : 1) * positive(baselineOf(columns, entity, scope));
}

/** Returns the sector's emissions per unit of revenue in the usable scopes, or NaN if unknown. */
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

/** Stores the temperature and flags of a record as the result of a row. */
export function storeResult(record: usize, row: u32, temperatures: usize, flags: usize): void {
  store<f64>(temperatures + ((<usize>row) << 3), load<f64>(record, RECORD_TEMPERATURE));
  store<u16>(flags + ((<usize>row) << 1), <u16>(<i32>load<f64>(record, RECORD_FLAGS)));
}
