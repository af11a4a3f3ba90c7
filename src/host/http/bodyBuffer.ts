/** Size of the first allocation for a body that may be larger. */
const FIRST_BYTES_MAX = 16_384;
const EMPTY = Buffer.alloc(0);

export interface BodyBufferOptions {
  /** The declared size, or the largest that is allowed. */
  readonly sizeBytesMax: number;
  /** A body above this size is collected in memory that all threads share. */
  readonly sharedAboveBytes: number;
}

/**
 * Collects a body in one buffer that grows, so that the memory it holds depends on the size of the body and not on the
 * sizes of the chunks in which it arrives: Node.js allocates an object for each chunk and keeps the 64 KiB that it read
 * from the connection.
 */
export class BodyBuffer {
  readonly #sizeBytesMax: number;
  readonly #sharedAboveBytes: number;
  #bytes: Buffer = EMPTY;
  #sizeBytes = 0;

  constructor({ sizeBytesMax, sharedAboveBytes }: BodyBufferOptions) {
    this.#sizeBytesMax = sizeBytesMax;
    this.#sharedAboveBytes = sharedAboveBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Size of the allocated memory. */
  get heldBytes(): number {
    return this.#bytes.length;
  }

  /** Returns the memory that the buffer will hold once `extraBytes` more have been appended. */
  heldBytesWith(extraBytes: number): number {
    const neededBytes = this.#sizeBytes + extraBytes;
    if (neededBytes <= this.#bytes.length) return this.#bytes.length;
    const doubledBytes = Math.max(neededBytes, 2 * this.#bytes.length, FIRST_BYTES_MAX);
    const isShared = neededBytes > this.#sharedAboveBytes;
    return Math.max(neededBytes, Math.min(doubledBytes, isShared ? this.#sizeBytesMax : this.#sharedAboveBytes));
  }

  append(chunk: Uint8Array): void {
    this.#resize(this.heldBytesWith(chunk.length));
    this.#bytes.set(chunk, this.#sizeBytes);
    this.#sizeBytes += chunk.length;
  }

  /** Releases the unused memory and returns the body. */
  finish(): Buffer {
    this.#resize(this.#sizeBytes);
    return this.#bytes;
  }

  #resize(heldBytes: number): void {
    if (heldBytes === this.#bytes.length) return;
    const bytes =
      heldBytes > this.#sharedAboveBytes
        ? Buffer.from(new SharedArrayBuffer(heldBytes))
        : Buffer.allocUnsafe(heldBytes);
    bytes.set(this.#bytes.subarray(0, Math.min(this.#sizeBytes, heldBytes)));
    this.#bytes = bytes;
  }
}
