/** Size of a segment. */
export const SEGMENT_BYTES = 32_768;

/**
 * Memory of long request bodies, in segments that all threads share. Segments are reused and never released: V8 does not
 * count shared memory when it decides to collect garbage, so that each released segment would stay in memory for an
 * unlimited time. Their total size is therefore the largest size of the bodies that were ever held at the same time,
 * which `LoadLimits.totalBodyBytesMax` limits.
 */
export class BodySegments {
  readonly #free: Uint8Array[] = [];
  #count = 0;

  /** Size of all segments, free or in use. */
  get allocatedBytes(): number {
    return this.#count * SEGMENT_BYTES;
  }

  /** Returns a segment, whose content is undefined. */
  take(): Uint8Array {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    this.#count++;
    return new Uint8Array(new SharedArrayBuffer(SEGMENT_BYTES));
  }

  giveBack(segments: readonly Uint8Array[]): void {
    for (const segment of segments) this.#free.push(segment);
  }
}

/** Size of the first allocation for a body that may be larger. */
const FIRST_BYTES_MAX = 16_384;
const EMPTY = Buffer.alloc(0);

/** A complete request body. */
export interface RequestBody {
  readonly sizeBytes: number;
  /** The bytes, in order. A body that is not longer than `BodyBufferOptions.contiguousBytesMax` has one part. */
  readonly parts: readonly Uint8Array[];
  /** Ends the use of the parts, whose memory is used for other bodies from then on. Further calls have no effect. */
  release(): void;
}

export interface BodyBufferOptions {
  /** The declared size, or the largest that is allowed. */
  readonly sizeBytesMax: number;
  /** A body above this size is collected in segments. */
  readonly contiguousBytesMax: number;
  readonly segments: BodySegments;
}

/**
 * Collects a body in memory that grows with it, so that what it holds depends on the size of the body and not on the sizes
 * of the chunks in which it arrives: Node.js allocates an object for each chunk and keeps the 64 KiB that it read from the
 * connection.
 */
export class BodyBuffer {
  readonly #sizeBytesMax: number;
  readonly #contiguousBytesMax: number;
  readonly #pool: BodySegments;
  /** Contains the body until it is longer than `contiguousBytesMax`. */
  #contiguous: Buffer = EMPTY;
  #segments: Uint8Array[] = [];
  #sizeBytes = 0;

  constructor({ sizeBytesMax, contiguousBytesMax, segments }: BodyBufferOptions) {
    this.#sizeBytesMax = sizeBytesMax;
    this.#contiguousBytesMax = contiguousBytesMax;
    this.#pool = segments;
  }

  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  /** Size of the allocated memory. */
  get heldBytes(): number {
    return this.#contiguous.length + this.#segments.length * SEGMENT_BYTES;
  }

  /** Returns the memory that the buffer will hold once `extraBytes` more have been appended. */
  heldBytesWith(extraBytes: number): number {
    const neededBytes = this.#sizeBytes + extraBytes;
    if (neededBytes > this.#contiguousBytesMax) return Math.ceil(neededBytes / SEGMENT_BYTES) * SEGMENT_BYTES;
    if (neededBytes <= this.#contiguous.length) return this.#contiguous.length;
    const doubledBytes = Math.max(neededBytes, 2 * this.#contiguous.length, FIRST_BYTES_MAX);
    return Math.max(neededBytes, Math.min(doubledBytes, this.#sizeBytesMax, this.#contiguousBytesMax));
  }

  append(chunk: Uint8Array): void {
    const neededBytes = this.#sizeBytes + chunk.length;
    if (neededBytes <= this.#contiguousBytesMax) {
      this.#resizeContiguous(this.heldBytesWith(chunk.length));
      this.#contiguous.set(chunk, this.#sizeBytes);
    } else {
      if (this.#segments.length === 0 && this.#sizeBytes > 0) {
        this.#write(this.#contiguous.subarray(0, this.#sizeBytes), 0);
        this.#contiguous = EMPTY;
      }
      this.#write(chunk, this.#sizeBytes);
    }
    this.#sizeBytes = neededBytes;
  }

  /** Returns the first bytes of the body. */
  prefix(sizeBytes: number): readonly Uint8Array[] {
    if (this.#segments.length === 0) return [this.#contiguous.subarray(0, sizeBytes)];
    return this.#segments.map((segment, index) =>
      segment.subarray(0, Math.max(0, Math.min(SEGMENT_BYTES, sizeBytes - index * SEGMENT_BYTES))),
    );
  }

  /** Returns the body. The memory of a long one is held until it is released. */
  finish(): RequestBody {
    if (this.#segments.length === 0) this.#resizeContiguous(this.#sizeBytes);
    return { sizeBytes: this.#sizeBytes, parts: this.prefix(this.#sizeBytes), release: () => this.release() };
  }

  /** Gives the segments back. */
  release(): void {
    this.#pool.giveBack(this.#segments);
    this.#segments = [];
  }

  #write(bytes: Uint8Array, offset: number): void {
    for (let from = 0; from < bytes.length;) {
      const position = (offset + from) % SEGMENT_BYTES;
      const index = (offset + from - position) / SEGMENT_BYTES;
      const segment = (this.#segments[index] ??= this.#pool.take());
      const count = Math.min(SEGMENT_BYTES - position, bytes.length - from);
      segment.set(bytes.subarray(from, from + count), position);
      from += count;
    }
  }

  #resizeContiguous(sizeBytes: number): void {
    if (sizeBytes === this.#contiguous.length) return;
    const bytes = Buffer.allocUnsafe(sizeBytes);
    bytes.set(this.#contiguous.subarray(0, Math.min(this.#sizeBytes, sizeBytes)));
    this.#contiguous = bytes;
  }
}
