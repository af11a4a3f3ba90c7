/**
 * What the 16 bits of a stored cell mean. A value is `steps / stepsPerUnit + offset`;
 * the two largest numbers are no steps but say why there is no value.
 */
export const STEPS_MAX: i32 = 65533;
/** The atlas holds nothing here: outside the coverage of its sources. */
export const STEPS_OUTSIDE: i32 = 65534;
/** The source covers this cell but marks its value as missing: sea, or outside its model. */
export const STEPS_NODATA: i32 = 65535;

/** Cells along one edge of a tile. 64 cells of at most 65,533 steps sum below 2^22. */
export const TILE_SIZE: i32 = 64;
