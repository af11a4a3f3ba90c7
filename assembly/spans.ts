import { DEGREE, E2, WGS84_A } from "./ellipsoid";
import { cellLatOf, cellLonOf, columnCountOf, northOf, rowCountOf, rowStrideOf, rowTableOf, westOf } from "./field";
import { GUARD_M, MERIDIAN_RADIUS_M_MIN, RADIUS_M_MAX } from "./geodesy";
import { STATUS_AMBIGUOUS, STATUS_BAD_LOCATION, STATUS_BAD_RADIUS, STATUS_FULL, STATUS_OK } from "./status";

/**
 * Span table: one span of columns for each row of a circle.
 *
 *   i32 firstRow, rowCount; firstColumn and lastColumn over all spans, before clipping to the grid; capacity in rows;
 *   then i32[capacity] first columns, i32[capacity] last columns; first > last for an empty row;
 *   then scratch, f64[capacity]: the part of the squared chord available for the difference in longitude
 *
 * A circle that crosses the edge where the grid wraps around needs two tables over the same rows: `spans`, and
 * `wrappedSpans` for the circle shifted by 360 degrees.
 */
const FIRST_ROW: usize = 0;
const ROW_COUNT: usize = 4;
const WESTMOST: usize = 8;
const EASTMOST: usize = 12;
const CAPACITY: usize = 16;
export const SPANS_HEADER_BYTES: i32 = 32;

export function spansFirstRow(spans: usize): i32 {
  return load<i32>(spans, FIRST_ROW);
}
export function spansRowCount(spans: usize): i32 {
  return load<i32>(spans, ROW_COUNT);
}
/** Returns the address of the first columns; the last columns follow `spansStride` bytes later. */
export function spansFirsts(spans: usize): usize {
  return spans + <usize>SPANS_HEADER_BYTES;
}
export function spansStride(spans: usize): usize {
  return (<usize>load<i32>(spans, CAPACITY)) << 2;
}

/** Closer to the poles, the arc sine series is too short and a row can be a full circle of latitude. */
const LAT_DEG_MAX: f64 = 85.0;

/**
 * Finds the row spans of a circle that stays within 85 degrees of latitude, faster than geodesy.rowSpans. Returns
 * STATUS_AMBIGUOUS outside that range and if a cell center is too close to the rim to decide; the caller then uses
 * geodesy.rowSpans.
 *
 * Out       spans  span table, clipped to the grid; the caller has set its capacity
 * Requires  lonDeg shifted by the multiple of 360 degrees that is to be used; other multiples are not considered
 * Formula   As geodesy.rowSpans, from the row table, two rows at a time. asin(sqrt h) is the series up to h^5: within
 *           85 degrees h stays below 0.01 and the error below 1e-14.
 *           Test for ambiguous centers: at a distance of f columns from the rim, the squared chord differs from that at
 *           the rim by at least f / 2 times its slope there, lonChord2Max sqrt(h (1 - h)), if the span's half-width is
 *           at least two columns. The few narrower rows are tested column by column.
 */
export function fastRowSpans(field: usize, latDeg: f64, lonDeg: f64, radiusM: f64, spans: usize): i32 {
  if (!(radiusM >= 0 && radiusM <= RADIUS_M_MAX)) return STATUS_BAD_RADIUS;
  if (!(latDeg >= -90 && latDeg <= 90) || !(Math.abs(lonDeg) <= 1080)) return STATUS_BAD_LOCATION;
  const reachDeg = radiusM / MERIDIAN_RADIUS_M_MIN / DEGREE;
  if (!(Math.abs(latDeg) + reachDeg < LAT_DEG_MAX)) return STATUS_AMBIGUOUS;
  if (radiusM < GUARD_M) return STATUS_AMBIGUOUS; // the square of the radius may underflow

  const cellLatDeg = cellLatOf(field),
    cellLonDeg = cellLonOf(field),
    northDeg = northOf(field);
  const firstRow = <i32>Math.max(0, Math.floor((northDeg - latDeg - reachDeg) / cellLatDeg - 0.5));
  const lastRow = <i32>(
    Math.min(<f64>(rowCountOf(field) - 1), Math.ceil((northDeg - latDeg + reachDeg) / cellLatDeg - 0.5))
  );
  const rowCount = max(0, lastRow - firstRow + 1);
  if (rowCount + 4 > load<i32>(spans, CAPACITY)) return STATUS_FULL;

  const sin0 = Math.sin(latDeg * DEGREE),
    cos0 = Math.cos(latDeg * DEGREE);
  const normal0 = WGS84_A / Math.sqrt(1.0 - E2 * sin0 * sin0);
  const p0 = normal0 * cos0;
  const z0 = normal0 * (1.0 - E2) * sin0;
  const meridional0 = (normal0 * (1.0 - E2)) / (1.0 - E2 * sin0 * sin0);
  const radius2 = radiusM * radiusM;
  const x0 = radius2 / (4.0 * meridional0 * normal0);
  const chord2AtCenter = radius2 * (1.0 - x0 / 3.0 - (x0 * x0) / 15.0);
  const cellLonRad = cellLonDeg * DEGREE;
  const middle = (lonDeg - westOf(field)) / cellLonDeg - 0.5;
  const guard2 = 2.0 * Math.max(radiusM, GUARD_M) * GUARD_M;
  const columnMax = <f64>(columnCountOf(field) - 1);

  const table = rowTableOf(field) + ((<usize>firstRow) << 3);
  const tableStride = (<usize>rowStrideOf(field)) << 3;
  const firsts = spansFirsts(spans),
    lasts = firsts + spansStride(spans),
    lonChords2 = lasts + spansStride(spans);

  const vp0 = f64x2.splat(p0),
    vz0 = f64x2.splat(z0),
    vsin0 = f64x2.splat(sin0),
    vcos0 = f64x2.splat(cos0);
  const vchord2AtCenter = f64x2.splat(chord2AtCenter),
    vinvChord = f64x2.splat(1.0 / chord2AtCenter),
    vradius2 = f64x2.splat(radius2);
  const vinvP0 = f64x2.splat(1.0 / p0),
    zero = f64x2.splat(0.0),
    one = f64x2.splat(1.0);
  const third = f64x2.splat(-1.0 / 3.0),
    fifteenth = f64x2.splat(-1.0 / 15.0),
    c945 = f64x2.splat(-31.0 / 945.0);
  const s1 = f64x2.splat(1.0 / 6.0),
    s2 = f64x2.splat(3.0 / 40.0),
    s3 = f64x2.splat(15.0 / 336.0),
    s4 = f64x2.splat(105.0 / 3456.0),
    s5 = f64x2.splat(945.0 / 42240.0);
  const vscale = f64x2.splat(2.0 / cellLonRad),
    vmiddle = f64x2.splat(middle);
  // Half the slope of the squared chord at the rim, per column, is 0.5 * 4 p0 p1 * sqrt(h) * cellLonRad * sqrt(1 - h),
  // with sqrt(1 - h) >= 0.99.
  const vslope = f64x2.splat(0.49 * p0 * 4.0 * cellLonRad),
    vguard2 = f64x2.splat(guard2);
  const vnarrow = f64x2.splat(2.0);
  const vlow = zero,
    vhigh = f64x2.splat(columnMax);

  let westmost = f64x2.splat(1e300),
    eastmost = f64x2.splat(-1e300);
  let ambiguous = i64x2.splat(0);
  // Two loops, because each iteration is a long dependency chain: the shorter it is, the more rows the processor
  // overlaps.
  for (let i = 0; i < rowCount; i += 2) {
    const tableEntry = table + ((<usize>i) << 3);
    const sin1 = v128.load(tableEntry),
      cos1 = v128.load(tableEntry + tableStride);
    const p1 = v128.load(tableEntry + 2 * tableStride),
      z1 = v128.load(tableEntry + 3 * tableStride);
    const invLonChord2Max = f64x2.mul(v128.load(tableEntry + 4 * tableStride), vinvP0);
    const dp = f64x2.sub(p1, vp0),
      dz = f64x2.sub(z1, vz0);
    const meridianChord2 = f64x2.add(f64x2.mul(dp, dp), f64x2.mul(dz, dz));

    const h1 = f64x2.pmax(zero, f64x2.mul(f64x2.sub(vchord2AtCenter, meridianChord2), invLonChord2Max));
    const twice = f64x2.add(h1, h1);
    const dip0 = f64x2.add(f64x2.mul(vcos0, f64x2.sub(f64x2.mul(p1, twice), dp)), f64x2.neg(f64x2.mul(vsin0, dz)));
    const dip1 = f64x2.add(f64x2.mul(cos1, f64x2.add(dp, f64x2.mul(vp0, twice))), f64x2.mul(sin1, dz));
    const x = f64x2.mul(f64x2.mul(dip0, dip1), vinvChord);
    const series = f64x2.add(
      one,
      f64x2.mul(x, f64x2.add(third, f64x2.mul(x, f64x2.add(fifteenth, f64x2.mul(x, c945))))),
    );
    v128.store(lonChords2 + ((<usize>i) << 3), f64x2.sub(f64x2.mul(vradius2, series), meridianChord2));
  }
  for (let i = 0; i < rowCount; i += 2) {
    const tableEntry = table + ((<usize>i) << 3);
    const p1 = v128.load(tableEntry + 2 * tableStride);
    const invLonChord2Max = f64x2.mul(v128.load(tableEntry + 4 * tableStride), vinvP0);
    const lonChord2 = v128.load(lonChords2 + ((<usize>i) << 3));
    const h = f64x2.pmax(zero, f64x2.mul(lonChord2, invLonChord2Max));
    const root = f64x2.sqrt(h);
    const arc = f64x2.add(
      one,
      f64x2.mul(
        h,
        f64x2.add(
          s1,
          f64x2.mul(h, f64x2.add(s2, f64x2.mul(h, f64x2.add(s3, f64x2.mul(h, f64x2.add(s4, f64x2.mul(h, s5))))))),
        ),
      ),
    );
    const halfWidth = f64x2.mul(f64x2.mul(root, vscale), arc);
    const west = f64x2.sub(vmiddle, halfWidth),
      east = f64x2.add(vmiddle, halfWidth);
    const first = f64x2.ceil(west),
      last = f64x2.floor(east);

    // Distance from the rim to the nearest cell center, in columns.
    const westRimDistance = f64x2.sub(first, west),
      eastRimDistance = f64x2.sub(east, last);
    const rimDistance = f64x2.pmin(
      f64x2.pmin(westRimDistance, f64x2.sub(one, westRimDistance)),
      f64x2.pmin(eastRimDistance, f64x2.sub(one, eastRimDistance)),
    );
    const change = f64x2.mul(f64x2.mul(rimDistance, f64x2.mul(p1, vslope)), root);
    const isNarrow = f64x2.lt(halfWidth, vnarrow);
    ambiguous = v128.or(ambiguous, v128.andnot(f64x2.le(change, vguard2), isNarrow));
    if (v128.any_true(isNarrow)) {
      // Only the first and last rows of the circle and rows outside it are narrow.
      if (
        isAmbiguousRow(
          f64x2.extract_lane(lonChord2, 0),
          f64x2.extract_lane(p1, 0) * p0 * 4.0,
          middle,
          cellLonRad,
          guard2,
        )
      ) {
        return STATUS_AMBIGUOUS;
      }
      if (
        i + 1 < rowCount &&
        isAmbiguousRow(
          f64x2.extract_lane(lonChord2, 1),
          f64x2.extract_lane(p1, 1) * p0 * 4.0,
          middle,
          cellLonRad,
          guard2,
        )
      ) {
        return STATUS_AMBIGUOUS;
      }
    }

    const isEmpty = f64x2.lt(lonChord2, zero);
    westmost = f64x2.pmin(westmost, v128.bitselect(westmost, first, isEmpty));
    eastmost = f64x2.pmax(eastmost, v128.bitselect(eastmost, last, isEmpty));
    const from = v128.bitselect(one, f64x2.pmax(vlow, first), isEmpty);
    const to = v128.bitselect(zero, f64x2.pmin(vhigh, last), isEmpty);
    v128.store64_lane(firsts + ((<usize>i) << 2), i32x4.trunc_sat_f64x2_s_zero(from), 0);
    v128.store64_lane(lasts + ((<usize>i) << 2), i32x4.trunc_sat_f64x2_s_zero(to), 0);
  }
  if (v128.any_true(ambiguous)) return STATUS_AMBIGUOUS;
  store<i32>(spans, firstRow, FIRST_ROW);
  store<i32>(spans, rowCount, ROW_COUNT);
  store<i32>(spans, clampColumn(Math.min(f64x2.extract_lane(westmost, 0), f64x2.extract_lane(westmost, 1))), WESTMOST);
  store<i32>(spans, clampColumn(Math.max(f64x2.extract_lane(eastmost, 0), f64x2.extract_lane(eastmost, 1))), EASTMOST);
  return STATUS_OK;
}

/** Returns whether a cell center next to the meridian of the circle's center is within GUARD_M of the rim. */
function isAmbiguousRow(lonChord2: f64, lonChord2Max: f64, middle: f64, cellLonRad: f64, guard2: f64): bool {
  const nearest = Math.floor(middle);
  for (let column = nearest - 3.0; column <= nearest + 4.0; column += 1.0) {
    const halfLonRad = 0.5 * (column - middle) * cellLonRad;
    const half2 = halfLonRad * halfLonRad;
    // sin(x)^2 = x^2 - x^4 / 3 + 2 x^6 / 45 - x^8 / 315 + 2 x^10 / 14175 - ...; on the rim, x stays below 0.1 for any
    // cell width, and the truncation error below 1e-7 m.
    const sineSquared =
      half2 * (1.0 - half2 * (1.0 / 3.0 - half2 * (2.0 / 45.0 - half2 * (1.0 / 315.0 - half2 * (2.0 / 14175.0)))));
    if (Math.abs(lonChord2Max * sineSquared - lonChord2) <= guard2) return true;
  }
  return false;
}

/** Converts a column to i32, limited to +-1e9. */
function clampColumn(column: f64): i32 {
  return <i32>Math.max(-1e9, Math.min(1e9, column));
}

/**
 * Adds the cell that contains the circle's center, which belongs to the circle even if its own center does not.
 *
 * In       wrappedSpans  the second span table, or 0
 * In, out  spans         changed only on STATUS_OK
 * Returns  STATUS_AMBIGUOUS if the cell is outside the table's rows, if it is neither in nor adjacent to its row's
 *          span, or if it may be in the second table
 */
export function includeCell(spans: usize, wrappedSpans: usize, row: i32, column: i32): i32 {
  const firsts = spansFirsts(spans),
    stride = spansStride(spans);
  if (spansRowCount(spans) == 0) {
    store<i32>(spans, row, FIRST_ROW);
    store<i32>(spans, 1, ROW_COUNT);
    store<i32>(firsts, column);
    store<i32>(firsts + stride, column);
    return STATUS_OK;
  }
  const spanIndex = row - spansFirstRow(spans);
  if (spanIndex < 0 || spanIndex >= spansRowCount(spans)) return STATUS_AMBIGUOUS;
  const firstAddress = firsts + ((<usize>spanIndex) << 2);
  const first = load<i32>(firstAddress),
    last = load<i32>(firstAddress + stride);
  if (first > last) {
    // Just west of the edge where the grid wraps around, the containing cell is the first of the row, which the second
    // table may already include.
    if (wrappedSpans != 0) return STATUS_AMBIGUOUS;
    store<i32>(firstAddress, column);
    store<i32>(firstAddress + stride, column);
  } else if (column < first - 1 || column > last + 1) {
    return STATUS_AMBIGUOUS;
  } else {
    store<i32>(firstAddress, min(first, column));
    store<i32>(firstAddress + stride, max(last, column));
  }
  return STATUS_OK;
}
