import { bandWeight, DEGREE, E2, WGS84_A } from "./ellipsoid";
import { isGrid } from "./grid";
import { STATUS_BAD_GRID, STATUS_BAD_LOCATION, STATUS_BAD_RADIUS, STATUS_FULL, STATUS_OK } from "./status";

/**
 * Smallest radius of curvature of a meridian, at the equator, meters. The rows of a circle of radius R are at most
 * R / MERIDIAN_RADIUS_M_MIN radians of latitude from its center.
 */
export const MERIDIAN_RADIUS_M_MIN: f64 = WGS84_A * (1.0 - E2);

/** Maximum radius; beyond it the formula's error (1.3e-6 m at 150 km) is no longer safely below GUARD_M. */
export const RADIUS_M_MAX: f64 = 140000.0;
/**
 * Cell centers within this distance of the rim are reported as ambiguous; the caller classifies them with
 * GeographicLib.
 */
export const GUARD_M: f64 = 2e-6;

/**
 * Finds the cells with centers within a geodesic radius of a point, as row spans.
 *
 * Out       spans      i32[spanCount][3]: row, first column, last column; rows ascending, first <= last, spans of the
 *                      same row disjoint
 *           ambiguous  i32[ambiguousCount][2]: row, column of cells whose center is within GUARD_M of the rim; cells on
 *                      the meridian of the circle's center, or its antimeridian, may be listed twice
 *           counts     i32[2]: spanCount, ambiguousCount
 * Units     degrees, meters. Row 0 is the northernmost, column 0 begins at westDeg; the center of a row that extends
 *           beyond a pole is clamped to the pole
 * Requires  |latDeg| <= 90, 0 <= radiusM <= RADIUS_M_MAX; westDeg <= lonDeg < westDeg + 360 (the check accepts a
 *           longitude up to 1 degree outside this range on either side)
 * Formula   docs/methods/geodesy.md. With N = a / sqrt(1 - e2 sin(lat)^2), the prime-vertical radius, p = N cos(lat),
 *           z = N (1 - e2) sin(lat) and h = sin(dlon / 2)^2, the squared chord between two points is
 *           c^2 = dp^2 + dz^2 + 4 p0 p1 h. How far the chord dips below the tangent planes at its ends gives u^2, the
 *           squared sine of half the angle that the arc turns through, and the geodesic is c asin(u) / u to within
 *           2e-7 m at 100 km. Solving for h, with one correction for the curvature, gives the half-width of the span
 *           in each row.
 * Cost      About 0.2 us per row: a sine, a cosine and up to three arc sines.
 */
export function rowSpans(
  northDeg: f64,
  westDeg: f64,
  cellSizeLatDeg: f64,
  cellSizeLonDeg: f64,
  rowCount: i32,
  columnCount: i32,
  latDeg: f64,
  lonDeg: f64,
  radiusM: f64,
  spans: usize,
  spanCapacity: i32,
  ambiguous: usize,
  ambiguousCapacity: i32,
  counts: usize,
): i32 {
  if (!isGrid(northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg, rowCount, columnCount)) return STATUS_BAD_GRID;
  if (!(radiusM >= 0 && radiusM <= RADIUS_M_MAX)) return STATUS_BAD_RADIUS;
  if (!(latDeg >= -90 && latDeg <= 90) || !(Math.abs(lonDeg - westDeg - 180) <= 181)) return STATUS_BAD_LOCATION;

  const sin0 = Math.sin(latDeg * DEGREE);
  const cos0 = Math.abs(latDeg) == 90 ? 0.0 : Math.cos(latDeg * DEGREE); // cos(90 degrees) is 6e-17 in f64
  const n0 = WGS84_A / Math.sqrt(1.0 - E2 * sin0 * sin0);
  const p0 = n0 * cos0;
  const z0 = n0 * (1.0 - E2) * sin0;
  const meridional0 = (n0 * (1.0 - E2)) / (1.0 - E2 * sin0 * sin0);
  const radius2 = radiusM * radiusM;
  const x0 = radius2 / (4.0 * meridional0 * n0);
  const chord2AtCenter = radius2 * (1.0 - x0 / 3.0 - (x0 * x0) / 15.0);

  const reachDeg = radiusM / MERIDIAN_RADIUS_M_MIN / DEGREE;
  const firstRow = <i32>Math.max(0, Math.floor((northDeg - latDeg - reachDeg) / cellSizeLatDeg - 0.5) - 1);
  const lastRow = <i32>(
    Math.min(<f64>(rowCount - 1), Math.ceil((northDeg - latDeg + reachDeg) / cellSizeLatDeg - 0.5) + 1)
  );
  const cellLonRad = cellSizeLonDeg * DEGREE;
  const columnsPerTurn = 360.0 / cellSizeLonDeg;
  // The circle's center, in columns east of the center of column 0.
  const middle = (lonDeg - westDeg) / cellSizeLonDeg - 0.5;
  const guard2 = 2.0 * Math.max(radiusM, GUARD_M) * GUARD_M; // change of the squared chord over GUARD_M at the rim

  let spanCount: i32 = 0,
    ambiguousCount: i32 = 0;
  for (let row = firstRow; row <= lastRow; row++) {
    const rowLatRad = Math.max(-90.0, Math.min(90.0, northDeg - (<f64>row + 0.5) * cellSizeLatDeg)) * DEGREE;
    const sin1 = Math.sin(rowLatRad),
      cos1 = Math.max(0.0, Math.cos(rowLatRad));
    const n1 = WGS84_A / Math.sqrt(1.0 - E2 * sin1 * sin1);
    const p1 = n1 * cos1;
    const dp = p1 - p0,
      dz = n1 * (1.0 - E2) * sin1 - z0;
    const meridianChord2 = dp * dp + dz * dz;
    const lonChord2Max = 4.0 * p0 * p1; // increase of the squared chord from h = 0 to h = 1

    const h1 = lonChord2Max > 0 ? Math.min(1.0, Math.max(0.0, (chord2AtCenter - meridianChord2) / lonChord2Max)) : 0.0;
    const dip0 = -(cos0 * (dp - 2.0 * p1 * h1) + sin0 * dz);
    const dip1 = cos1 * (dp + 2.0 * p0 * h1) + sin1 * dz;
    const x = radius2 > 0 ? (dip0 * dip1) / chord2AtCenter : 0.0;
    const chord2 = radius2 * (1.0 - x / 3.0 - (x * x) / 15.0 - (31.0 * x * x * x) / 945.0);
    const lonChord2 = chord2 - meridianChord2; // part of the squared chord available for the difference in longitude

    if (lonChord2 >= lonChord2Max) {
      if (spanCount == spanCapacity) return STATUS_FULL;
      storeSpan(spans, spanCount++, row, 0, columnCount - 1);
    } else if (lonChord2 >= 0) {
      const halfWidth = halfWidthOf(lonChord2, lonChord2Max, cellLonRad);
      for (let turn = -1; turn <= 1; turn++) {
        // Turns -1 and 1 are the same circle shifted by 360 degrees, for grids that wrap around.
        const centerColumn = middle + <f64>turn * columnsPerTurn;
        const first = Math.max(0, Math.ceil(centerColumn - halfWidth));
        const last = Math.min(<f64>(columnCount - 1), Math.floor(centerColumn + halfWidth));
        if (first > last) continue;
        if (spanCount == spanCapacity) return STATUS_FULL;
        storeSpan(spans, spanCount++, row, <i32>first, <i32>last);
      }
    }

    // Ambiguous cells are those between a slightly smaller and a slightly larger circle, on both sides of the center.
    if (lonChord2 < -guard2 || lonChord2 > lonChord2Max + guard2) continue;
    const inner = halfWidthOf(lonChord2 - guard2, lonChord2Max, cellLonRad);
    const outer = halfWidthOf(lonChord2 + guard2, lonChord2Max, cellLonRad);
    for (let turn = -1; turn <= 1; turn++) {
      const centerColumn = middle + <f64>turn * columnsPerTurn;
      for (let side = -1; side <= 1; side += 2) {
        const west = side < 0 ? centerColumn - outer : centerColumn + inner;
        const east = side < 0 ? centerColumn - inner : centerColumn + outer;
        const last = Math.min(<f64>(columnCount - 1), Math.floor(east));
        for (let column = Math.max(0, Math.ceil(west)); column <= last; column++) {
          if (ambiguousCount == ambiguousCapacity) return STATUS_FULL;
          store<i32>(ambiguous + ((<usize>ambiguousCount) << 3), row);
          store<i32>(ambiguous + ((<usize>ambiguousCount) << 3), <i32>column, 4);
          ambiguousCount++;
        }
      }
    }
  }
  store<i32>(counts, spanCount);
  store<i32>(counts, ambiguousCount, 4);
  return STATUS_OK;
}

/**
 * Returns the half-width, in columns, of the span whose ends are `lonChord2` from the center's meridian; it is at most
 * 180 degrees.
 */
function halfWidthOf(lonChord2: f64, lonChord2Max: f64, cellLonRad: f64): f64 {
  if (lonChord2 >= lonChord2Max) return Math.PI / cellLonRad;
  return lonChord2 > 0 ? (2.0 * Math.asin(Math.sqrt(lonChord2 / lonChord2Max))) / cellLonRad : 0.0;
}

function storeSpan(spans: usize, spanIndex: i32, row: i32, first: i32, last: i32): void {
  const span = spans + <usize>spanIndex * 12;
  store<i32>(span, row);
  store<i32>(span, first, 4);
  store<i32>(span, last, 8);
}

/**
 * Computes the relative area of one cell of each row on the ellipsoid (ellipsoid.bandWeight). A row that extends beyond
 * a pole ends at the pole.
 *
 * Out  weights  f64[count]
 */
export function rowWeights(northDeg: f64, cellSizeLatDeg: f64, firstRow: i32, count: i32, weights: usize): i32 {
  if (!(cellSizeLatDeg > 0) || !isFinite(northDeg)) return STATUS_BAD_GRID;
  for (let i = 0; i < count; i++) {
    const row = <f64>(firstRow + i);
    const northRad = Math.min(90.0, northDeg - row * cellSizeLatDeg) * DEGREE;
    const southRad = Math.max(-90.0, northDeg - (row + 1.0) * cellSizeLatDeg) * DEGREE;
    store<f64>(weights + ((<usize>i) << 3), bandWeight(northRad, southRad));
  }
  return STATUS_OK;
}
