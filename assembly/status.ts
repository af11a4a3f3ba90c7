/** What a kernel answers. A kernel never throws; src/kernel turns anything but OK into an error. */
export const STATUS_OK: i32 = 0;
/** These numbers are no grid (see grid.isGrid), or a cell is asked for that the grid or tile does not have. */
export const STATUS_BAD_GRID: i32 = 1;
/** The radius is negative, not a number, or above RADIUS_M_MAX. */
export const STATUS_BAD_RADIUS: i32 = 2;
/** The location is not a number or lies beyond a pole. */
export const STATUS_BAD_LOCATION: i32 = 3;
/** The output does not fit: reserve more and call again. */
export const STATUS_FULL: i32 = 4;
/** A value below zero was met; the index of the first such cell is in the output. */
export const STATUS_NEGATIVE_VALUE: i32 = 5;
/** A value has no step in this layer; the index of the first such cell is in the output. */
export const STATUS_OUT_OF_RANGE: i32 = 6;
/** A return-period curve needs at least one map and ascending variates. */
export const STATUS_BAD_CURVE: i32 = 7;
/** A column of the temperature alignment holds what it may not; entity and row of the first such place are in the output. */
export const STATUS_BAD_ALIGNMENT: i32 = 8;
/** Something is too near to be decided here: the slow, exact way has the word. */
export const STATUS_UNSURE: i32 = 9;
/** Tiles that are needed are not in memory; which ones is in the output. */
export const STATUS_MISSING: i32 = 10;
