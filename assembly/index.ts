/** Exports of the kernel. Each has a binding in src/kernel. */
export * from "./status";
export * from "./cells";
export * from "./memory";
export { cellOf, locateCells } from "./points";
export { REASON_NODATA, REASON_OUTSIDE, findCellAddresses, gatherCells, selectLanes, stepsToValues } from "./sampling";
export {
  BOUND_AT_LEAST,
  BOUND_AT_MOST,
  BOUND_EXACT,
  BOUND_INDETERMINATE,
  SCORE_LAYER_MISSING,
  SCORE_NO_DATA,
  SCORE_OUTSIDE,
  SCORE_VALUE,
  SCORE_ZERO,
  scoreBounds,
  scoreColumns,
} from "./scores";
export { RADIUS_M_MAX, rowSpans, rowWeights } from "./geodesy";
export { SEEN_NODATA, SEEN_OUTSIDE, addTile, meanOfRows } from "./radius";
export { BLOCK_SIZE, COUNT_SHIFT, FIELD_BYTES, PYRAMID_SIZE, fillRowTable } from "./field";
export { SPANS_HEADER_BYTES, fastRowSpans, includeCell } from "./spans";
export { circleMax } from "./maximum";
export { circleSums, rowPlanBytes } from "./mean";
export { copyToLanes16, copyToLanes32, prefixTile } from "./tiles";
export {
  CURVE_AT_FIRST,
  CURVE_GUMBEL,
  CURVE_LOG,
  CURVE_PARTLY_MISSING,
  CURVE_RAISED,
  MISSING_MARKER_MIN,
  curveMetrics,
  toSteps,
} from "./curve";
export { CELL_COUNTS, LAYER_BYTES, LAYER_PRODUCT, LAYER_SHARE, LAYER_VALUES, layerSteps } from "./layerSteps";
export { crc32 } from "./checksum";
export {
  DEMO_COASTAL_FLOODS,
  DEMO_CYCLONES,
  DEMO_LAYER_COUNT,
  DEMO_RIVERINE_FLOODS,
  DEMO_TILE_CELLS,
  DEMO_TILE_NODATA,
  DEMO_TILE_ZERO,
  DEMO_VERSION,
  DEMO_WILDFIRE,
  demoCells,
  demoTile,
  demoTileState,
} from "./demo";
export * from "./alignment";
