/** Success. Kernels never throw: they return one of these codes, and src/kernel turns unexpected ones into errors. */
export const STATUS_OK: i32 = 0;
/** The grid is invalid (grid.isGrid), or a cell or tile is outside it. */
export const STATUS_BAD_GRID: i32 = 1;
/** The radius is negative, not a number, or above RADIUS_M_MAX. */
export const STATUS_BAD_RADIUS: i32 = 2;
/** The location is not a number or is beyond a pole. */
export const STATUS_BAD_LOCATION: i32 = 3;
/** The output buffer is too small: call again with a larger one. */
export const STATUS_FULL: i32 = 4;
/** A value is negative; the output holds the index of the first such cell. */
export const STATUS_NEGATIVE_VALUE: i32 = 5;
/** A value is outside the range of the layer's steps; the output holds the index of the first such cell. */
export const STATUS_OUT_OF_RANGE: i32 = 6;
/** A return-period curve needs at least one map and ascending variates. */
export const STATUS_BAD_CURVE: i32 = 7;
/** A column of the temperature alignment contains an invalid value; the output holds its entity and row. */
export const STATUS_BAD_ALIGNMENT: i32 = 8;
/** A cell center is too close to the rim for the fast kernel to decide: use the exact path. */
export const STATUS_AMBIGUOUS: i32 = 9;
/** Required tiles are not in memory; the output lists them. */
export const STATUS_MISSING: i32 = 10;
