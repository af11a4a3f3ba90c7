import type { CatalogGrid } from "../../contract/wireTypes.ts";
import { type MapPixel, pixelCenter } from "../../tiles/mercator.ts";
import type { MapPoint } from "./mapOverlay.ts";

/** Decimals of a place that is chosen on the map; 5 decimals are about a meter. */
const PLACE_DECIMALS = 5;
/** A coordinate closer to an edge than this, in cells, is not rounded. The engine takes 1e-9 cells as on the edge. */
const EDGE_DISTANCE_MIN = 1e-6;

/**
 * Returns the center of a pixel, with rounded coordinates unless they could be in another cell. Tiles show the cell at the exact
 * center, so that the values of the place are those that the map shows.
 *
 * @param grid the cells of the map; null if the atlas has none
 */
export function placeOfPixel(pixel: MapPixel, grid: CatalogGrid | null): MapPoint {
  const { latDeg, lonDeg } = pixelCenter(pixel);
  if (grid === null) return { latitude: rounded(latDeg), longitude: rounded(lonDeg) };
  const { north_deg, west_deg, cell_size_lat_deg, cell_size_lon_deg } = grid;
  const turn = (deg: number): number => ((deg % 360) + 360) % 360;
  return {
    latitude: roundedInCell(latDeg, (deg) => (north_deg - deg) / cell_size_lat_deg),
    longitude: roundedInCell(lonDeg, (deg) => turn(deg - west_deg) / cell_size_lon_deg),
  };
}

/** @param positionOf returns the distance from the edge of the grid, in cells */
function roundedInCell(deg: number, positionOf: (deg: number) => number): number {
  const [exact, near] = [positionOf(deg), positionOf(rounded(deg))];
  const isInSameCell = Math.floor(exact) === Math.floor(near);
  return isInSameCell && isOffEdge(exact) && isOffEdge(near) ? rounded(deg) : deg;
}

function isOffEdge(position: number): boolean {
  return Math.abs(position - Math.round(position)) >= EDGE_DISTANCE_MIN;
}

function rounded(deg: number): number {
  return Number(deg.toFixed(PLACE_DECIMALS));
}
