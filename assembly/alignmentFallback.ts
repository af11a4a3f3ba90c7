import {
  ENTITY_ALLOWANCE,
  ENTITY_ALLOWED,
  ENTITY_EXPONENTS,
  ENTITY_FLAGS,
  ENTITY_GIVEN,
  ENTITY_PATHWAY,
  ENTITY_PATHWAY_3,
  ENTITY_PER_TONNE,
  ENTITY_SHARE_1,
  ENTITY_SHARE_2,
  ENTITY_SHARE_3,
  ENTITY_SUM,
  POWER_OFFSET,
} from "./alignmentEntities";
import {
  ALL_SCOPES,
  BEYOND_TABLE,
  COLUMN_BASELINE_YEARS,
  COLUMN_YEARS,
  ENTITY_BYTES,
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
  givenOf,
  perBaseTable,
  positive,
  projectionOf,
  scoredYearOf,
} from "./alignmentLayout";
import { scorePoint, storeResult } from "./alignmentRow";

/** Returns the index of the entity that is prepared at an address. */
export function entityAt(scratch: usize, first: i32, at: usize): i32 {
  return first + <i32>((at - (scratch + SCRATCH_ENTITIES)) / ENTITY_BYTES);
}

/** Scores two rows that the fast loop cannot handle. */
export function scoreBothRows(
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
  const entity = entityAt(scratch, first, <usize>load<u32>(rowAt, 4)),
    other = entityAt(scratch, first, <usize>load<u32>(rowAt, 12));
  scorePoint(tables, columns, entity, row, basis, ALL_SCOPES, weight3, 0, scratch, scratch);
  storeResult(scratch, row, temperatures, flags);
  scorePoint(tables, columns, other, row + 1, basis, ALL_SCOPES, weight3, 0, scratch, scratch);
  storeResult(scratch, row + 1, temperatures, flags);
}

/**
 * Copies a prepared entity, restricted to the scopes that it and one of its rows have in common, with the flags, the
 * sum of emissions, the allowance and the extrapolation exponent of that row.
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
  const given = load<i32>(prepared, ENTITY_GIVEN);
  if (given < 0) return false;
  const firstYear = <i32>load<f64>(tables, TABLE_FIRST_YEAR),
    lastYear = <i32>load<f64>(tables, TABLE_LAST_YEAR);
  const baselineYear = load<i32>(load<u32>(columns, COLUMN_BASELINE_YEARS) + ((<usize>entity) << 2)),
    year = load<i32>(load<u32>(columns, COLUMN_YEARS) + ((<usize>row) << 2)),
    scoredYear = scoredYearOf(tables, baselineYear, year);
  const y1 = projectionOf(columns, row, 0),
    y2 = projectionOf(columns, row, 1),
    y3 = weight3 * projectionOf(columns, row, 2);
  const rowGiven = givenOf(columns, row, weight3),
    usable = given & rowGiven;
  const copy = rowEntities + <usize>lane * ENTITY_BYTES;
  for (let at: usize = 0; at < ENTITY_BYTES; at += 16) v128.store(copy + at, v128.load(prepared + at));
  let found = load<i32>(prepared, ENTITY_FLAGS);
  if (rowGiven != given) {
    if (usable == 0) return false;
    const b1: f64 = usable & 1 ? baselineOf(columns, entity, 0) : 0,
      b2: f64 = usable & 4 ? baselineOf(columns, entity, 1) : 0,
      b3: f64 = usable & 16 ? weight3 * baselineOf(columns, entity, 2) : 0;
    const baseline = b1 + b2 + b3;
    if (!(baseline >= ZERO_EMISSIONS)) return false;
    const p1 = positive(b1),
      p2 = positive(b2),
      p3 = positive(b3);
    const perShare = 1 / (p1 + p2 + p3);
    const base = <usize>(clampYear(baselineYear, firstYear, lastYear) - firstYear);
    const perBase = perBaseTable(tables) + base * YEAR_BASES_BYTES;
    const allowed = load<f64>(tables + TABLE_YEARS + base * YEAR_BYTES + <usize>load<u32>(prepared, ENTITY_ALLOWANCE));
    const n1 = p1 * perShare * load<f64>(perBase + ((<usize>load<u32>(prepared, ENTITY_PATHWAY)) >> 2)),
      n2 = p2 * perShare * load<f64>(perBase + (POWER_OFFSET >> 2)),
      n3 = p3 * perShare * load<f64>(perBase + ((<usize>load<u32>(prepared, ENTITY_PATHWAY_3)) >> 2));
    v128.store(copy, f64x2.splat(n1), ENTITY_SHARE_1);
    v128.store(copy, f64x2.splat(n2), ENTITY_SHARE_2);
    v128.store(copy, f64x2.splat(n3), ENTITY_SHARE_3);
    store<f64>(copy, 1 / (baseline * allowed), ENTITY_PER_TONNE);
    found = (found & ~NEGATIVE_SCOPE) | SCOPE_MISSING | (i32(b1 < 0 || b2 < 0 || b3 < 0) * NEGATIVE_SCOPE);
  }
  const c1: f64 = usable & 1 ? y1 : 0,
    c2: f64 = usable & 4 ? y2 : 0,
    c3: f64 = usable & 16 ? y3 : 0;
  if (c1 < 0 || c2 < 0 || c3 < 0) found |= NEGATIVE_SCOPE;
  if (scoredYear > lastYear) found |= BEYOND_TABLE;
  if (year < scoredYear) found |= SHORT_HORIZON;
  store<i32>(copy, found, ENTITY_FLAGS);
  const inYear = tables + TABLE_YEARS + <usize>(clampYear(year, firstYear, lastYear) - firstYear) * YEAR_BYTES;
  const half = rowEntities + ((<usize>lane) << 3);
  store<f64>(half, positive(c1 + c2 + c3), ENTITY_SUM);
  store<f64>(half, load<f64>(inYear + <usize>load<u32>(prepared, ENTITY_ALLOWANCE)), ENTITY_ALLOWED);
  store<f64>(half, <f64>(scoredYear - baselineYear) / <f64>(year - baselineYear), ENTITY_EXPONENTS);
  return true;
}
