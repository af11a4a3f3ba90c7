import { TILE_SIZE } from "./cells";
import { isGrid } from "./grid";
import { STATUS_BAD_GRID, STATUS_OK } from "./status";

/**
 * Which cell contains each location. The one owner of the cell-edge rule.
 *
 * In       latitudes, longitudes  f64[count], degrees
 * Out      rows, columns          i32[count]; -1, -1 outside the grid and for what is no number
 * Formula  Cell c owns its north and west edges: it holds a longitude from west + c * size up to, not
 *          with, west + (c + 1) * size. A location nearer than a billionth of a cell to an edge is on
 *          it: 14.6 is the north edge of a 0.1-degree row, though in f64 it lies a few 1e-15 beside
 *          90 - 754 * 0.1. Latitude 90 belongs to the first row of a grid that reaches the pole, -90
 *          to the last. Longitudes are taken modulo 360.
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
  for (let i = 0; i < count; i++) {
    const at = (<usize>i) << 3;
    const row = rowOf(load<f64>(latitudes + at), northDeg, cellSizeLatDeg, rowCount);
    const column = columnOf(load<f64>(longitudes + at), westDeg, cellSizeLonDeg, columnCount);
    const isInside = row >= 0 && column >= 0;
    store<i32>(rows + ((<usize>i) << 2), isInside ? row : -1);
    store<i32>(columns + ((<usize>i) << 2), isInside ? column : -1);
  }
  return STATUS_OK;
}

/** In cells. Rounding of degrees in f64 stays a thousand times below, a coordinate's last digit far above. */
const SAME_EDGE: f64 = 1e-9;

function rowOf(latDeg: f64, northDeg: f64, sizeDeg: f64, rowCount: i32): i32 {
  if (!(latDeg >= -90 && latDeg <= 90)) return -1;
  // A pole on the outer edge, or beyond it by rounding, belongs to the row that touches it.
  if (latDeg == 90 && Math.abs(northDeg - 90) < 1e-6 * sizeDeg) return 0;
  if (latDeg == -90 && Math.abs(northDeg - <f64>rowCount * sizeDeg + 90) < 1e-6 * sizeDeg) return rowCount - 1;
  const row = cellAt((northDeg - latDeg) / sizeDeg);
  return row >= 0 && row < <f64>rowCount ? <i32>row : -1;
}

function columnOf(lonDeg: f64, westDeg: f64, sizeDeg: f64, columnCount: i32): i32 {
  const lon = lonDeg - 360 * Math.floor((lonDeg - westDeg) / 360);
  if (westDeg + 360 - lon <= SAME_EDGE * sizeDeg) return 0; // on the first edge, a turn further
  let column = cellAt((lon - westDeg) / sizeDeg);
  if (column == <f64>columnCount && Math.abs(<f64>columnCount * sizeDeg - 360) < 1e-3 * sizeDeg) {
    column -= 1; // a grid that closes but for rounding has no gap before its seam
  }
  return column >= 0 && column < <f64>columnCount ? <i32>column : -1;
}

/** The cell that a distance from the grid's first edge, in cells, falls into. */
function cellAt(position: f64): f64 {
  const edge = Math.floor(position + 0.5);
  return Math.abs(position - edge) <= SAME_EDGE ? edge : Math.floor(position);
}

/**
 * Reads cells of one tile. An index outside it is refused.
 *
 * In       cells    u16[64][64][layerCount]
 *          indices  i32[count]: row * 64 + column within the tile
 * Out      out      u16[count][layerCount]
 */
export function gatherCells(cells: usize, layerCount: i32, indices: usize, count: i32, out: usize): i32 {
  const stride = (<usize>layerCount) << 1;
  let target = out;
  for (let i = 0; i < count; i++) {
    const index = load<i32>(indices + ((<usize>i) << 2));
    if (index < 0 || index >= TILE_SIZE * TILE_SIZE) return STATUS_BAD_GRID;
    memory.copy(target, cells + <usize>index * stride, stride);
    target += stride;
  }
  return STATUS_OK;
}
