import { Fault } from "../errors.ts";

/** A range of bytes of a blob. */
export interface ByteRange {
  readonly offset: number;
  readonly sizeBytes: number;
}

/** Storage of the files of an atlas, which are read by name, offset and size. */
export interface Blobs {
  /** The folder or address, for messages. */
  readonly description: string;
  /** Returns the size of a blob, or undefined if it does not exist. */
  sizeBytes(name: string): Promise<number | undefined>;
  /**
   * Returns exactly the requested range, in a separate buffer.
   * @throws Fault `atlas_unavailable` if the blob is missing, too short or unreadable
   */
  read(name: string, range: ByteRange): Promise<Uint8Array>;
  close(): Promise<void>;
}

/**
 * Maximum size of a blob that is read completely. Sufficient for a catalog of 65,536 layers at one kilobyte per layer.
 */
const BLOB_BYTES_MAX = 64 << 20;

/**
 * Reads a small blob completely. Returns undefined if it does not exist.
 * @throws Fault `atlas_unavailable` if it cannot be read or is larger than 64 MiB
 */
export async function readBlob(blobs: Blobs, name: string): Promise<Uint8Array | undefined> {
  const sizeBytes = await blobs.sizeBytes(name);
  if (sizeBytes === undefined) return undefined;
  if (sizeBytes > BLOB_BYTES_MAX) {
    throw new Fault(
      "atlas_unavailable",
      `${name}: its size must be at most ${BLOB_BYTES_MAX} bytes (got ${sizeBytes}).`,
      {
        details: { file: name, sizeBytes },
      },
    );
  }
  return blobs.read(name, { offset: 0, sizeBytes });
}

/** Returns the fault `atlas_unavailable` for a damaged or missing file of an atlas: `<file>: <problem>.` */
export function damagedFile(
  name: string,
  problem: string,
  details: Readonly<Record<string, unknown>> = {},
  cause?: unknown,
): Fault {
  return new Fault("atlas_unavailable", `${name}: ${problem}.`, { details: { file: name, ...details }, cause });
}
