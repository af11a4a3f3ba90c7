import { Fault } from "../errors.ts";

/** Some bytes of a blob. */
export interface ByteRange {
  readonly offset: number;
  readonly sizeBytes: number;
}

/** Where the files of an atlas lie. Read by name, offset and length; nothing else is asked of a storage. */
export interface Blobs {
  /** For messages: the folder or address. */
  readonly description: string;
  /** @returns undefined when there is no such blob */
  sizeBytes(name: string): Promise<number | undefined>;
  /**
   * Exactly the range asked for, in a buffer of its own.
   * @throws Fault `atlas_unavailable` when the blob is missing, too short or unreadable
   */
  read(name: string, range: ByteRange): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** No catalog comes near it: at a kilobyte a layer this is 65,536 layers. */
const WHOLE_BYTES_MAX = 64 << 20;

/**
 * The whole of a small blob.
 * @returns undefined when there is no such blob
 * @throws Fault `atlas_unavailable` when it cannot be read, or has more than 64 MiB
 */
export async function readBlob(blobs: Blobs, name: string): Promise<Uint8Array | undefined> {
  const sizeBytes = await blobs.sizeBytes(name);
  if (sizeBytes === undefined) return undefined;
  if (sizeBytes > WHOLE_BYTES_MAX) {
    throw new Fault("atlas_unavailable", `${name}: it has ${sizeBytes} bytes; at most ${WHOLE_BYTES_MAX} are read.`, {
      details: { file: name, sizeBytes },
    });
  }
  return blobs.read(name, { offset: 0, sizeBytes });
}
