/** Which attributes of HDF5 files are read. */
import type { Metadata } from "h5wasm/node";

/** Largest size of one attribute. */
export const ATTRIBUTE_BYTES_MAX = 1 << 20;

/** HDF5 type classes. */
export const [CLASS_INTEGER, CLASS_FLOAT, CLASS_TEXT] = [0, 1, 3];

/**
 * Type classes of attributes that are read. h5wasm allocates the members of lists of references before it checks their number,
 * which ends the process if the number is damaged.
 */
export const READ_CLASSES: readonly number[] = [CLASS_INTEGER, CLASS_FLOAT, CLASS_TEXT];

/** Returns whether an attribute is small enough to be read. */
export function isSmall({ size, total_size }: Pick<Metadata, "size" | "total_size">): boolean {
  return Math.max(1, size) * total_size <= ATTRIBUTE_BYTES_MAX;
}
