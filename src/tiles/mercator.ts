/**
 * Web Mercator tiles (EPSG:3857), as map clients address them: at zoom z the world is a square of 2^z by 2^z tiles; x
 * counts from 180 degrees west to the east, y from 85.0511 degrees north to the south.
 */

/** Pixels along one edge of a tile. */
export const TILE_PIXELS = 256;
export const ZOOM_MAX = 22;
/** Latitude at which Web Mercator ends in the north and in the south. */
export const MERCATOR_LAT_DEG_MAX = (Math.atan(Math.sinh(Math.PI)) * 180) / Math.PI;

/** Address of a tile. */
export interface TileAddress {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

/** Returns the number of tiles along one edge of the world; also the exclusive maximum of x and y. */
export function tilesPerEdge(z: number): number {
  return 2 ** z;
}

/** Returns the width of a pixel in degrees of longitude. Its height in degrees of latitude is at most as large. */
export function pixelWidthDeg(z: number): number {
  return 360 / (TILE_PIXELS * tilesPerEdge(z));
}

/** Returns the longitude of a position in pixels of zoom z, counted from 180 degrees west. */
export function longitudeOfPixel(z: number, pixel: number): number {
  return pixel * pixelWidthDeg(z) - 180;
}

/** Returns the latitude of a position in pixels of zoom z, counted from the northern edge of Web Mercator. */
export function latitudeOfPixel(z: number, pixel: number): number {
  const mercatorY = Math.PI * (1 - (2 * pixel) / (TILE_PIXELS * tilesPerEdge(z)));
  return (Math.atan(Math.sinh(mercatorY)) * 180) / Math.PI;
}

/** Returns the position of a longitude in pixels of zoom z: the inverse of `longitudeOfPixel`. */
export function pixelOfLongitude(z: number, lonDeg: number): number {
  return (lonDeg + 180) / pixelWidthDeg(z);
}

/** Returns the position of a latitude in pixels of zoom z; latitudes beyond the edges of Web Mercator give the edge. */
export function pixelOfLatitude(z: number, latDeg: number): number {
  const clampedDeg = Math.max(-MERCATOR_LAT_DEG_MAX, Math.min(MERCATOR_LAT_DEG_MAX, latDeg));
  const mercatorY = Math.asinh(Math.tan((clampedDeg * Math.PI) / 180));
  return ((1 - mercatorY / Math.PI) / 2) * TILE_PIXELS * tilesPerEdge(z);
}

/** Returns the center of a tile. */
export function tileCenter({ z, x, y }: TileAddress): { readonly latDeg: number; readonly lonDeg: number } {
  return { latDeg: latitudeOfPixel(z, (y + 0.5) * TILE_PIXELS), lonDeg: longitudeOfPixel(z, (x + 0.5) * TILE_PIXELS) };
}

/** A pixel of the map: `column` counts from 180 degrees west, `row` from the northern edge of Web Mercator. */
export interface MapPixel {
  readonly z: number;
  readonly column: number;
  readonly row: number;
}

/** Returns the center of a pixel, bit for bit as `pixelLatitudes` and `pixelLongitudes` do. Tiles show the cell at this location. */
export function pixelCenter({ z, column, row }: MapPixel): { readonly latDeg: number; readonly lonDeg: number } {
  return { latDeg: centerLatDeg(z, row), lonDeg: centerLonDeg(z, column) };
}

/** Returns the pixel at a location. Longitudes are taken modulo 360, and latitudes beyond the edges of Web Mercator as the edge. */
export function pixelAt(z: number, { latDeg, lonDeg }: { readonly latDeg: number; readonly lonDeg: number }): MapPixel {
  const worldPixels = TILE_PIXELS * tilesPerEdge(z);
  return {
    z,
    column: wrapColumn(z, Math.floor(pixelOfLongitude(z, lonDeg))),
    row: Math.max(0, Math.min(worldPixels - 1, Math.floor(pixelOfLatitude(z, latDeg)))),
  };
}

/** Returns the column between 0 and the width of the world that a column of a copy of the world repeats. */
export function wrapColumn(z: number, column: number): number {
  const worldPixels = TILE_PIXELS * tilesPerEdge(z);
  return ((column % worldPixels) + worldPixels) % worldPixels;
}

/** Returns the tile that contains a pixel, and the index of the pixel in the tile, row by row from the north. */
export function tileOfPixel({ z, column, row }: MapPixel): { readonly address: TileAddress; readonly index: number } {
  const [x, y] = [Math.floor(column / TILE_PIXELS), Math.floor(row / TILE_PIXELS)];
  return { address: { z, x, y }, index: (row - y * TILE_PIXELS) * TILE_PIXELS + (column - x * TILE_PIXELS) };
}

/** Returns the longitudes of the centers of a tile's columns of pixels, from west to east. */
export function pixelLongitudes({ z, x }: TileAddress): Float64Array {
  return Float64Array.from({ length: TILE_PIXELS }, (_, column) => centerLonDeg(z, x * TILE_PIXELS + column));
}

/** Returns the latitudes of the centers of a tile's rows of pixels, from north to south. */
export function pixelLatitudes({ z, y }: TileAddress): Float64Array {
  return Float64Array.from({ length: TILE_PIXELS }, (_, row) => centerLatDeg(z, y * TILE_PIXELS + row));
}

function centerLonDeg(z: number, column: number): number {
  return longitudeOfPixel(z, column + 0.5);
}

function centerLatDeg(z: number, row: number): number {
  return latitudeOfPixel(z, row + 0.5);
}

/** Returns the smallest zoom at which a pixel is at most as wide as a cell, at most `ZOOM_MAX`. */
export function nativeZoom(cellSizeDeg: number): number {
  let z = 0;
  while (z < ZOOM_MAX && pixelWidthDeg(z) > cellSizeDeg) z += 1;
  return z;
}
