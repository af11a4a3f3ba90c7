import {
  ENTITY_ALLOWANCE,
  ROW_ALLOWANCE,
  ROW_EXPONENT,
  ENTITY_FLAGS,
  ENTITY_GIVEN_SCOPES,
  ENTITY_PATHWAY,
  ENTITY_PATHWAY_3,
  ENTITY_PER_TONNE,
  ENTITY_SHARE_1,
  ENTITY_SHARE_2,
  ENTITY_SHARE_3,
  ROW_SUM,
  POWER_OFFSET,
} from "./alignmentEntities";
import {
  ALL_SCOPES,
  BEYOND_TABLE,
  COLUMN_BASELINE_YEARS,
  COLUMN_YEARS,
  ENTITY_BYTES,
  GIVEN_SCOPE_1,
  GIVEN_SCOPE_2,
  GIVEN_SCOPE_3,
  NEGATIVE_SCOPE,
  SCOPE_MISSING,
  SCRATCH_ENTITIES,
  SHORT_HORIZON,
  TABLE_FIRST_YEAR,
  TABLE_LAST_YEAR,
  TABLE_YEARS,
  YEAR_BASES_BYTES,
  YEAR_BYTES,
  ZERO_EMISSIONS,
  baselineOf,
  clampYear,
  givenScopesOf,
  perBaseTable,
  positive,
  projectionOf,
  scoredYearOf,
} from "./alignmentLayout";
import { scorePoint, storeResult } from "./alignmentRecord";

/** Returns the index of the entity whose prepared record is at `entityAt`. */
export function entityIndexOf(scratch: usize, first: i32, entityAt: usize): i32 {
  return first + <i32>((entityAt - (scratch + SCRATCH_ENTITIES)) / ENTITY_BYTES);
}

/** Scores two consecutive rows that the fast loop cannot handle. */
export function scoreRowPairSlowly(
  tables: usize,
  columns: usize,
  first: i32,
  row: u32,
  weight3: f64,
  basis: i32,
  scratch: usize,
  rowAt: usize,
  temperatures: usize,
  flags: usize,
): void {
  const entity = entityIndexOf(scratch, first, <usize>load<u32>(rowAt, 4)),
    other = entityIndexOf(scratch, first, <usize>load<u32>(rowAt, 12));
  scorePoint(tables, columns, entity, row, basis, ALL_SCOPES, weight3, 0, scratch, scratch);
  storeResult(scratch, row, temperatures, flags);
  scorePoint(tables, columns, other, row + 1, basis, ALL_SCOPES, weight3, 0, scratch, scratch);
  storeResult(scratch, row + 1, temperatures, flags);
}

/**
 * Copies a prepared entity, restricted to the scopes that it and one of its rows have in common, and stores that row's
 * flags, sum of emissions, allowance and extrapolation exponent in the copy.
 *
 * @returns false if the row must be scored by scorePoint
 */
export function prepareEntityForRow(
  tables: usize,
  columns: usize,
  entity: i32,
  row: u32,
  weight3: f64,
  prepared: usize,
  rowEntities: usize,
  lane: i32,
): bool {
  const entityScopes = load<i32>(prepared, ENTITY_GIVEN_SCOPES);
  if (entityScopes < 0) return false;
  const firstYear = <i32>load<f64>(tables, TABLE_FIRST_YEAR),
    lastYear = <i32>load<f64>(tables, TABLE_LAST_YEAR);
  const baselineYear = load<i32>(load<u32>(columns, COLUMN_BASELINE_YEARS) + ((<usize>entity) << 2)),
    year = load<i32>(load<u32>(columns, COLUMN_YEARS) + ((<usize>row) << 2)),
    scoredYear = scoredYearOf(tables, baselineYear, year);
  const y1 = projectionOf(columns, row, 0),
    y2 = projectionOf(columns, row, 1),
    y3 = weight3 * projectionOf(columns, row, 2);
  const rowScopes = givenScopesOf(columns, row, weight3),
    usableScopes = entityScopes & rowScopes;
  const copy = rowEntities + <usize>lane * ENTITY_BYTES;
  for (let offset: usize = 0; offset < ENTITY_BYTES; offset += 16) {
    v128.store(copy + offset, v128.load(prepared + offset));
  }
  let rowFlags = load<i32>(prepared, ENTITY_FLAGS);
  if (rowScopes != entityScopes) {
    if (usableScopes == 0) return false;
    const b1: f64 = usableScopes & GIVEN_SCOPE_1 ? baselineOf(columns, entity, 0) : 0,
      b2: f64 = usableScopes & GIVEN_SCOPE_2 ? baselineOf(columns, entity, 1) : 0,
      b3: f64 = usableScopes & GIVEN_SCOPE_3 ? weight3 * baselineOf(columns, entity, 2) : 0;
    const baseline = b1 + b2 + b3;
    if (!(baseline >= ZERO_EMISSIONS)) return false;
    const p1 = positive(b1),
      p2 = positive(b2),
      p3 = positive(b3);
    const perShare = 1 / (p1 + p2 + p3);
    const baseIndex = <usize>(clampYear(baselineYear, firstYear, lastYear) - firstYear);
    const perBase = perBaseTable(tables) + baseIndex * YEAR_BASES_BYTES;
    const baseAllowance = load<f64>(
      tables + TABLE_YEARS + baseIndex * YEAR_BYTES + <usize>load<u32>(prepared, ENTITY_ALLOWANCE),
    );
    const n1 = p1 * perShare * load<f64>(perBase + ((<usize>load<u32>(prepared, ENTITY_PATHWAY)) >> 2)),
      n2 = p2 * perShare * load<f64>(perBase + (POWER_OFFSET >> 2)),
      n3 = p3 * perShare * load<f64>(perBase + ((<usize>load<u32>(prepared, ENTITY_PATHWAY_3)) >> 2));
    v128.store(copy, f64x2.splat(n1), ENTITY_SHARE_1);
    v128.store(copy, f64x2.splat(n2), ENTITY_SHARE_2);
    v128.store(copy, f64x2.splat(n3), ENTITY_SHARE_3);
    store<f64>(copy, 1 / (baseline * baseAllowance), ENTITY_PER_TONNE);
    rowFlags = (rowFlags & ~NEGATIVE_SCOPE) | SCOPE_MISSING | (i32(b1 < 0 || b2 < 0 || b3 < 0) * NEGATIVE_SCOPE);
  }
  const c1: f64 = usableScopes & GIVEN_SCOPE_1 ? y1 : 0,
    c2: f64 = usableScopes & GIVEN_SCOPE_2 ? y2 : 0,
    c3: f64 = usableScopes & GIVEN_SCOPE_3 ? y3 : 0;
  if (c1 < 0 || c2 < 0 || c3 < 0) rowFlags |= NEGATIVE_SCOPE;
  if (scoredYear > lastYear) rowFlags |= BEYOND_TABLE;
  if (year < scoredYear) rowFlags |= SHORT_HORIZON;
  store<i32>(copy, rowFlags, ENTITY_FLAGS);
  const yearAt = tables + TABLE_YEARS + <usize>(clampYear(year, firstYear, lastYear) - firstYear) * YEAR_BYTES;
  const laneAt = rowEntities + ((<usize>lane) << 3);
  store<f64>(laneAt, positive(c1 + c2 + c3), ROW_SUM);
  store<f64>(laneAt, load<f64>(yearAt + <usize>load<u32>(prepared, ENTITY_ALLOWANCE)), ROW_ALLOWANCE);
  store<f64>(laneAt, <f64>(scoredYear - baselineYear) / <f64>(year - baselineYear), ROW_EXPONENT);
  return true;
}
