/** Size of the first allocation for a body that may be larger. */
const FIRST_BYTES_MAX = 16_384;
const COMMA = 0x2c;
const OPENING_BRACKET = 0x5b;
const OPENING_BRACE = 0x7b;
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
  #delimiterCount = 0;

  constructor({ sizeBytesMax, sharedAboveBytes }: BodyBufferOptions) {
    this.#sizeBytesMax = sizeBytesMax;
    this.#sharedAboveBytes = sharedAboveBytes;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Commas, opening brackets and opening braces; those in strings included. Bounds the number of values in JSON. */
  get delimiterCount(): number {
    return this.#delimiterCount;
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
    this.#delimiterCount += countDelimiters(chunk);
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

function countDelimiters(bytes: Uint8Array): number {
  let count = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === COMMA || byte === OPENING_BRACKET || byte === OPENING_BRACE) count++;
  }
  return count;
}
