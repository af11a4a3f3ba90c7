import { bandWeight, DEGREE, E2, WGS84_A } from "./ellipsoid";
import { isGrid } from "./grid";
import { STATUS_BAD_GRID, STATUS_BAD_LOCATION, STATUS_BAD_RADIUS, STATUS_FULL, STATUS_OK } from "./status";

/** Radius of curvature of a meridian at the equator, the smallest there is: no row lies further than R / M_MIN away. */
export const M_MIN: f64 = WGS84_A * (1.0 - E2);

/** Above this the solved rim is more than GUARD_M off (1.3e-6 m at 150 km). */
export const RADIUS_M_MAX: f64 = 140000.0;
/** A cell centre this near the rim is not decided here: the caller asks GeographicLib. */
export const GUARD_M: f64 = 2e-6;

/**
 * The cells whose centres lie within a geodesic radius of a point: runs of columns, row by row.
 *
 * Out      spans  i32[3] each: row, first column, last column; rows ascending, first <= last,
 *                 runs of one row apart from each other
 *          doubts i32[2] each: row, column of cells whose centre is within 2e-6 m of the rim;
 *                 a cell on the meridian of the centre, or opposite, may be named twice
 *          counts i32[2]: how many spans, how many doubts
 * Units    degrees, metres. Row 0 is the northernmost, column 0 begins at westDeg; a row whose centre
 *          would lie beyond a pole has it on the pole
 * Needs    |latDeg| <= 90, 0 <= radiusM <= 140 km; lonDeg from westDeg to 360 degrees east of it
 * Formula  With p = N cos(lat) and z = N (1 - e2) sin(lat), two points h = sin2(dlon / 2) apart in
 *          longitude have the squared chord c2 = dp2 + dz2 + 4 p0 p1 h. Its dip below the tangent
 *          planes at both ends gives sin2 of half the arc's turning, u2, and the geodesic is
 *          c asin(u) / u to within 2e-7 m at 100 km (docs/methods/geodesy.md). Solved for h, with
 *          one correction of the curvature, it gives the half-width of the run in each row.
 * Cost     Some 0.2 us a row: a sine, a cosine and up to three arc sines.
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
  doubts: usize,
  doubtCapacity: i32,
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
  const chord2AtCentre = radius2 * (1.0 - x0 / 3.0 - (x0 * x0) / 15.0);

  const reachDeg = radiusM / M_MIN / DEGREE;
  const firstRow = <i32>Math.max(0, Math.floor((northDeg - latDeg - reachDeg) / cellSizeLatDeg - 0.5) - 1);
  const lastRow = <i32>(
    Math.min(<f64>(rowCount - 1), Math.ceil((northDeg - latDeg + reachDeg) / cellSizeLatDeg - 0.5) + 1)
  );
  const cellLonRad = cellSizeLonDeg * DEGREE;
  const columnsPerTurn = 360.0 / cellSizeLonDeg;
  const middle = (lonDeg - westDeg) / cellSizeLonDeg - 0.5; // the point, in columns between centres
  const guard2 = 2.0 * Math.max(radiusM, GUARD_M) * GUARD_M; // GUARD_M at the rim, as a squared chord

  let spanCount: i32 = 0,
    doubtCount: i32 = 0;
  for (let row = firstRow; row <= lastRow; row++) {
    const rowLatRad = Math.max(-90.0, Math.min(90.0, northDeg - (<f64>row + 0.5) * cellSizeLatDeg)) * DEGREE;
    const sin1 = Math.sin(rowLatRad),
      cos1 = Math.max(0.0, Math.cos(rowLatRad));
    const n1 = WGS84_A / Math.sqrt(1.0 - E2 * sin1 * sin1);
    const p1 = n1 * cos1;
    const dp = p1 - p0,
      dz = n1 * (1.0 - E2) * sin1 - z0;
    const flat2 = dp * dp + dz * dz;
    const reach = 4.0 * p0 * p1; // squared chord gained from h = 0 to h = 1

    const h1 = reach > 0 ? Math.min(1.0, Math.max(0.0, (chord2AtCentre - flat2) / reach)) : 0.0;
    const dip0 = -(cos0 * (dp - 2.0 * p1 * h1) + sin0 * dz);
    const dip1 = cos1 * (dp + 2.0 * p0 * h1) + sin1 * dz;
    const x = radius2 > 0 ? (dip0 * dip1) / chord2AtCentre : 0.0;
    const chord2 = radius2 * (1.0 - x / 3.0 - (x * x) / 15.0 - (31.0 * x * x * x) / 945.0);
    const left2 = chord2 - flat2; // what longitude may still spend of the chord

    if (left2 >= reach) {
      if (spanCount == spanCapacity) return STATUS_FULL;
      storeSpan(spans, spanCount++, row, 0, columnCount - 1);
    } else if (left2 >= 0) {
      const halfWidth = halfWidthOf(left2, reach, cellLonRad);
      for (let turn = -1; turn <= 1; turn++) {
        // the same circle, seen a turn further
        const centre = middle + <f64>turn * columnsPerTurn;
        const first = Math.max(0, Math.ceil(centre - halfWidth));
        const last = Math.min(<f64>(columnCount - 1), Math.floor(centre + halfWidth));
        if (first > last) continue;
        if (spanCount == spanCapacity) return STATUS_FULL;
        storeSpan(spans, spanCount++, row, <i32>first, <i32>last);
      }
    }

    // Which cells of the row are too near the rim for us? Those between a circle a little smaller and one
    // a little larger, on either side of the centre.
    if (left2 < -guard2 || left2 > reach + guard2) continue;
    const inner = halfWidthOf(left2 - guard2, reach, cellLonRad);
    const outer = halfWidthOf(left2 + guard2, reach, cellLonRad);
    for (let turn = -1; turn <= 1; turn++) {
      const centre = middle + <f64>turn * columnsPerTurn;
      for (let side = -1; side <= 1; side += 2) {
        const west = side < 0 ? centre - outer : centre + inner;
        const east = side < 0 ? centre - inner : centre + outer;
        const last = Math.min(<f64>(columnCount - 1), Math.floor(east));
        for (let column = Math.max(0, Math.ceil(west)); column <= last; column++) {
          if (doubtCount == doubtCapacity) return STATUS_FULL;
          store<i32>(doubts + ((<usize>doubtCount) << 3), row);
          store<i32>(doubts + ((<usize>doubtCount) << 3), <i32>column, 4);
          doubtCount++;
        }
      }
    }
  }
  store<i32>(counts, spanCount);
  store<i32>(counts, doubtCount, 4);
  return STATUS_OK;
}

/** Columns from the centre to where the squared chord `left2`, of at most `reach`, is spent: 0 to half a turn. */
function halfWidthOf(left2: f64, reach: f64, cellLonRad: f64): f64 {
  if (left2 >= reach) return Math.PI / cellLonRad;
  return left2 > 0 ? (2.0 * Math.asin(Math.sqrt(left2 / reach))) / cellLonRad : 0.0;
}

function storeSpan(spans: usize, index: i32, row: i32, first: i32, last: i32): void {
  const span = spans + <usize>index * 12;
  store<i32>(span, row);
  store<i32>(span, first, 4);
  store<i32>(span, last, 8);
}

/**
 * The area of one cell of each row on the ellipsoid, but for the factor that all rows share.
 *
 * Out      weights f64[count]
 * Formula  ellipsoid.bandWeight.
 *          Rows that reach over a pole end there.
 */
export function rowWeights(northDeg: f64, cellSizeLatDeg: f64, firstRow: i32, count: i32, weights: usize): i32 {
  if (!(cellSizeLatDeg > 0) || !isFinite(northDeg)) return STATUS_BAD_GRID;
  for (let i = 0; i < count; i++) {
    const row = <f64>(firstRow + i);
    const north = Math.min(90.0, northDeg - row * cellSizeLatDeg) * DEGREE;
    const south = Math.max(-90.0, northDeg - (row + 1.0) * cellSizeLatDeg) * DEGREE;
    store<f64>(weights + ((<usize>i) << 3), bandWeight(north, south));
  }
  return STATUS_OK;
}
