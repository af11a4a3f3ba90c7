/** How cells of a file are placed in its coordinate system. */

/**
 * The outer corner (or center) of the first cell of the file, and signed cell sizes: x east, y north. The unit is that of the
 * coordinate system of the map: degrees, or a unit of length.
 */
export interface Transform {
  readonly originX: number;
  readonly originY: number;
  readonly pixelSizeX: number;
  readonly pixelSizeY: number;
}
