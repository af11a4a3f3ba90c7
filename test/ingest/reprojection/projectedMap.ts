/** Projected maps in memory, for tests. */
import { projStringOf } from "../../../src/ingest/crsDefinition.ts";
import type { BandWindow, PlaneGrid, ProjectedRaster } from "../../../src/ingest/raster.ts";
import { crsOfText } from "../../../src/ingest/reprojection/crsText.ts";

/** A projected map whose values are the numbers of its cells, counted from 1. */
export function projectedMap(
  definition: string,
  plane: PlaneGrid,
  { blockSize = 64, onRead = () => undefined }: { blockSize?: number; onRead?: (window: BandWindow) => void } = {},
): ProjectedRaster {
  const { crs } = crsOfText(definition, { assumeWgs84: true });
  return {
    spec: { kind: "file", file: "map.tif", options: {} },
    file: "map.tif",
    plane,
    projectedCrs: crs,
    crs: projStringOf(crs),
    bands: [{ name: undefined, type: "float64", nodata: [], scale: 1, offset: 0, unit: undefined, coordinates: {} }],
    blockRowCount: blockSize,
    blockColumnCount: blockSize,
    notes: {},
    readWindow(window) {
      onRead(window);
      const values = new Float64Array(window.rowCount * window.columnCount);
      for (let row = 0; row < window.rowCount; row++) {
        for (let column = 0; column < window.columnCount; column++) {
          const cell = (window.firstRow + row) * plane.columnCount + window.firstColumn + column;
          values[row * window.columnCount + column] = cell + 1;
        }
      }
      return Promise.resolve(values);
    },
    close: () => Promise.resolve(),
  };
}

const square = (
  westX: number,
  northY: number,
  cellSize: number,
  rowCount: number,
  columnCount = rowCount,
): PlaneGrid => ({
  westX,
  northY,
  cellWidth: cellSize,
  cellHeight: cellSize,
  rowCount,
  columnCount,
});

/** Maps in every kind of projection, at edges and poles. */
export const PROJECTED_MAPS: readonly (readonly [name: string, definition: string, plane: PlaneGrid])[] = [
  ["UTM", "EPSG:32633", square(300_000, 5_800_000, 1000, 120)],
  ["UTM across the antimeridian", "EPSG:32760", square(700_000, 8_100_000, 2000, 100)],
  ["Web Mercator", "EPSG:3857", square(-1_000_000, 6_000_000, 4000, 150)],
  ["Web Mercator from 0 to 360", "EPSG:3857", square(0, 6_000_000, 40_075_016.68557849 / 240, 70, 240)],
  ["Lambert conformal conic", "EPSG:2154", square(300_000, 7_000_000, 9000, 80)],
  ["Lambert azimuthal equal area", "EPSG:3035", square(2_500_000, 5_000_000, 30_000, 100)],
  ["Albers", "EPSG:5070", square(-2_300_000, 3_100_000, 40_000, 70, 110)],
  ["polar stereographic around the pole", "EPSG:3413", square(-2_500_000, 2_500_000, 50_000, 100)],
  ["sinusoidal", "+proj=sinu +datum=WGS84", square(-20_015_000, 10_010_000, 200_150, 100, 200)],
  ["Mollweide", "+proj=moll +datum=WGS84", square(-18_050_000, 9_025_000, 180_500, 100, 200)],
  ["degrees on another datum", "+proj=longlat +ellps=clrk66 +towgs84=-8,160,176", square(-100, 45, 0.05, 90)],
];
