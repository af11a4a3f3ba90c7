import { cellLatOf, cellLonOf, columnCountOf, northOf, rowCountOf, westOf } from "./field";
import { isGrid } from "./grid";
import { STATUS_BAD_GRID, STATUS_OK } from "./status";

/**
 * Finds the cell that contains each location. This file is the only definition of the cell-edge rule.
 *
 * In       latitudes, longitudes  f64[count], degrees
 * Out      rows, columns          i32[count]; -1, -1 outside the grid and for NaN or infinite coordinates
 * Formula  A cell includes its north and west edges: column c contains the longitudes from west + c * size up to, but
 *          not including, west + (c + 1) * size. A location that is within 1e-9 cells of an edge is on the edge: 14.6
 *          is the north edge of a 0.1-degree row although in f64 it differs from 90 - 754 * 0.1 by a few 1e-15.
 *          Latitude 90 belongs to the first row of a grid that reaches the pole, -90 to the last. Longitudes are taken
 *          modulo 360.
 */
export function locateCells(
  northDeg: f64,
  westDeg: f64,
  cellSizeLatDeg: f64,
  cellSizeLonDeg: f64,
  rowCount: i32,
  columnCount: i32,
  latitudes: usize,
  longitudes: usize,
  count: i32,
  rows: usize,
  columns: usize,
): i32 {
  if (!isGrid(northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg, rowCount, columnCount)) return STATUS_BAD_GRID;
  locate(
    northDeg,
    westDeg,
    cellSizeLatDeg,
    cellSizeLonDeg,
    rowCount,
    columnCount,
    latitudes,
    longitudes,
    count,
    rows,
    columns,
  );
  return STATUS_OK;
}

/**
 * Applies the rule of locateCells to a grid that has been validated.
 *
 * Cost     Locates four locations at a time without a branch. A group that has a pole, a longitude more than 360
 *          degrees from the grid, or a NaN uses the scalar functions, which define the rule.
 */
export function locate(
  northDeg: f64,
  westDeg: f64,
  cellSizeLatDeg: f64,
  cellSizeLonDeg: f64,
  rowCount: i32,
  columnCount: i32,
  latitudes: usize,
  longitudes: usize,
  count: i32,
  rows: usize,
  columns: usize,
): void {
  const lastColumnShift = closesAt360(cellSizeLonDeg, columnCount) ? 1.0 : 0.0;
  let i = 0;
  for (; i + 4 <= count; i += 4) {
    const offset = (<usize>i) << 3,
      to = (<usize>i) << 2;
    const latA = v128.load(latitudes + offset),
      latB = v128.load(latitudes + offset, 16);
    const eastA = f64x2.sub(v128.load(longitudes + offset), f64x2.splat(westDeg)),
      eastB = f64x2.sub(v128.load(longitudes + offset, 16), f64x2.splat(westDeg));
    if (!i64x2.all_true(v128.and(isFastCase(latA, eastA), isFastCase(latB, eastB)))) {
      for (let groupIndex = i; groupIndex < i + 4; groupIndex++) {
        locateOne(
          northDeg,
          westDeg,
          cellSizeLatDeg,
          cellSizeLonDeg,
          rowCount,
          columnCount,
          latitudes,
          longitudes,
          groupIndex,
          rows,
          columns,
        );
      }
      continue;
    }
    const rowA = cellsAt(f64x2.div(f64x2.sub(f64x2.splat(northDeg), latA), f64x2.splat(cellSizeLatDeg))),
      rowB = cellsAt(f64x2.div(f64x2.sub(f64x2.splat(northDeg), latB), f64x2.splat(cellSizeLatDeg)));
    const columnA = columnsOf(
        v128.load(longitudes + offset),
        eastA,
        westDeg,
        cellSizeLonDeg,
        columnCount,
        lastColumnShift,
      ),
      columnB = columnsOf(
        v128.load(longitudes + offset, 16),
        eastB,
        westDeg,
        cellSizeLonDeg,
        columnCount,
        lastColumnShift,
      );
    const isInsideA = v128.and(isBelow(rowA, rowCount), isBelow(columnA, columnCount)),
      isInsideB = v128.and(isBelow(rowB, rowCount), isBelow(columnB, columnCount));
    const isOutside = v128.not(i32x4.shuffle(isInsideA, isInsideB, 0, 2, 4, 6));
    v128.store(rows + to, v128.or(toInt32s(rowA, rowB), isOutside)); // all bits set: -1
    v128.store(columns + to, v128.or(toInt32s(columnA, columnB), isOutside));
  }
  for (; i < count; i++) {
    locateOne(
      northDeg,
      westDeg,
      cellSizeLatDeg,
      cellSizeLonDeg,
      rowCount,
      columnCount,
      latitudes,
      longitudes,
      i,
      rows,
      columns,
    );
  }
}

function locateOne(
  northDeg: f64,
  westDeg: f64,
  cellSizeLatDeg: f64,
  cellSizeLonDeg: f64,
  rowCount: i32,
  columnCount: i32,
  latitudes: usize,
  longitudes: usize,
  i: i32,
  rows: usize,
  columns: usize,
): void {
  const offset = (<usize>i) << 3;
  const row = rowOf(load<f64>(latitudes + offset), northDeg, cellSizeLatDeg, rowCount);
  const column = columnOf(load<f64>(longitudes + offset), westDeg, cellSizeLonDeg, columnCount);
  const isInside = row >= 0 && column >= 0;
  store<i32>(rows + (offset >> 1), isInside ? row : -1);
  store<i32>(columns + (offset >> 1), isInside ? column : -1);
}

/**
 * Returns, per lane, whether a location is not at a pole and at most one shift of 360 degrees moves it to 0 to 360
 * degrees east of the grid's west edge.
 */
function isFastCase(lat: v128, east: v128): v128 {
  return v128.and(
    f64x2.lt(f64x2.abs(lat), f64x2.splat(90)),
    f64x2.lt(f64x2.abs(f64x2.sub(east, f64x2.splat(180))), f64x2.splat(540)),
  );
}

/** Returns `columnOf` of two longitudes, `east` degrees east of the west edge, without checking the last column. */
function columnsOf(lon: v128, east: v128, westDeg: f64, sizeDeg: f64, columnCount: i32, lastColumnShift: f64): v128 {
  const turn = f64x2.splat(360);
  const wrapped = f64x2.sub(
    f64x2.add(lon, v128.and(f64x2.lt(east, f64x2.splat(0)), turn)),
    v128.and(f64x2.ge(east, turn), turn),
  );
  const column = cellsAt(f64x2.div(f64x2.sub(wrapped, f64x2.splat(westDeg)), f64x2.splat(sizeDeg)));
  const isAfterLast = f64x2.eq(column, f64x2.splat(<f64>columnCount));
  const isFirst = f64x2.le(f64x2.sub(f64x2.splat(westDeg + 360), wrapped), f64x2.splat(SAME_EDGE * sizeDeg));
  return v128.andnot(f64x2.sub(column, v128.and(isAfterLast, f64x2.splat(lastColumnShift))), isFirst);
}

/** Returns `cellAt` of two positions. */
function cellsAt(position: v128): v128 {
  const edge = f64x2.floor(f64x2.add(position, f64x2.splat(0.5)));
  const isOnEdge = f64x2.le(f64x2.abs(f64x2.sub(position, edge)), f64x2.splat(SAME_EDGE));
  return v128.bitselect(edge, f64x2.floor(position), isOnEdge);
}

/** Returns, per lane, whether a cell index is at least 0 and below the count. */
function isBelow(cell: v128, count: i32): v128 {
  return v128.and(f64x2.ge(cell, f64x2.splat(0)), f64x2.lt(cell, f64x2.splat(<f64>count)));
}

/** Converts two pairs of f64 to four i32. */
function toInt32s(a: v128, b: v128): v128 {
  return i32x4.shuffle(i32x4.trunc_sat_f64x2_s_zero(a), i32x4.trunc_sat_f64x2_s_zero(b), 0, 1, 4, 5);
}

/** Returns the cell of a field that contains a location as row * columnCount + column, or -1 outside the grid. */
export function cellOf(field: usize, latDeg: f64, lonDeg: f64): f64 {
  const row = rowOf(latDeg, northOf(field), cellLatOf(field), rowCountOf(field));
  const column = columnOf(lonDeg, westOf(field), cellLonOf(field), columnCountOf(field));
  return row >= 0 && column >= 0 ? <f64>row * <f64>columnCountOf(field) + <f64>column : -1;
}

/**
 * Distance, in cells, up to which a location is on an edge. The rounding error of degrees in f64 is a thousand times
 * smaller; the last digit of a coordinate is far larger.
 */
const SAME_EDGE: f64 = 1e-9;

/** Returns the row that contains a latitude, or -1 outside the grid. */
function rowOf(latDeg: f64, northDeg: f64, sizeDeg: f64, rowCount: i32): i32 {
  if (!(latDeg >= -90 && latDeg <= 90)) return -1;
  // A pole on the outer edge, or beyond it by rounding, belongs to the row that touches it.
  if (latDeg == 90 && Math.abs(northDeg - 90) < 1e-6 * sizeDeg) return 0;
  if (latDeg == -90 && Math.abs(northDeg - <f64>rowCount * sizeDeg + 90) < 1e-6 * sizeDeg) return rowCount - 1;
  const row = cellAt((northDeg - latDeg) / sizeDeg);
  return row >= 0 && row < <f64>rowCount ? <i32>row : -1;
}

/** Returns the column that contains a longitude, or -1 outside the grid. */
function columnOf(lonDeg: f64, westDeg: f64, sizeDeg: f64, columnCount: i32): i32 {
  const lon = lonDeg - 360 * Math.floor((lonDeg - westDeg) / 360);
  if (westDeg + 360 - lon <= SAME_EDGE * sizeDeg) return 0; // on the west edge, 360 degrees farther east
  let column = cellAt((lon - westDeg) / sizeDeg);
  if (column == <f64>columnCount && closesAt360(sizeDeg, columnCount)) {
    column -= 1; // a grid that is short of 360 degrees only by rounding has no gap before its west edge
  }
  return column >= 0 && column < <f64>columnCount ? <i32>column : -1;
}

/** Returns whether the grid spans 360 degrees, so that its last column adjoins its first. */
function closesAt360(sizeDeg: f64, columnCount: i32): bool {
  return Math.abs(<f64>columnCount * sizeDeg - 360) < 1e-3 * sizeDeg;
}

/** Returns the index of the cell at `position`, a distance from the grid's first edge in cells. */
function cellAt(position: f64): f64 {
  const edge = Math.floor(position + 0.5);
  return Math.abs(position - edge) <= SAME_EDGE ? edge : Math.floor(position);
}
