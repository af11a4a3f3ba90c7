/**
 * Largest step of a stored 16-bit cell. A cell's value is `steps / stepsPerUnit + offset`; the two numbers above the
 * largest step are reserved for cells without a value.
 */
export const STEPS_MAX: i32 = 65533;
/** Reserved step of a cell outside the coverage of the atlas's sources. */
export const STEPS_OUTSIDE: i32 = 65534;
/** Reserved step of a cell inside the coverage of a source that marks its value as missing, for example at sea. */
export const STEPS_NODATA: i32 = 65535;

/** Cells along one edge of a tile. 64 cells of at most 65,533 steps sum to less than 2^22. */
export const TILE_SIZE: i32 = 64;
