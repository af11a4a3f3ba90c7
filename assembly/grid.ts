/**
 * Returns whether the parameters describe a grid that the kernels support: cell sizes above 0 and at most 180 x 360
 * degrees (latitude x longitude), no row entirely beyond a pole, a total width of at most 360 degrees plus one column
 * (some maps repeat their first meridian; the tolerance is 0.001 columns), and a west edge within 360 degrees of
 * Greenwich. The conditions are stated positively so that NaN fails them.
 */
export function isGrid(
  northDeg: f64,
  westDeg: f64,
  cellSizeLatDeg: f64,
  cellSizeLonDeg: f64,
  rowCount: i32,
  columnCount: i32,
): bool {
  return (
    rowCount >= 1 &&
    columnCount >= 1 &&
    cellSizeLatDeg > 0 &&
    cellSizeLatDeg <= 180 &&
    cellSizeLonDeg > 0 &&
    cellSizeLonDeg <= 360 &&
    northDeg - cellSizeLatDeg < 90 &&
    northDeg - <f64>(rowCount - 1) * cellSizeLatDeg > -90 &&
    Math.abs(westDeg) <= 360 &&
    (<f64>columnCount - 1.001) * cellSizeLonDeg <= 360
  );
}
