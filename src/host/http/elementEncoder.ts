/** The encoded result of one query of a batch. */
export interface EncodedElement {
  readonly text: string;
  readonly units: number;
  /** Whether the element has a problem in place of a result. */
  readonly isRefused: boolean;
}

/** Encoded elements of a list, in any order. */
export interface EncodedElements {
  readonly chunks: readonly Uint8Array<ArrayBuffer>[];
  /** Chunk, offset in it and length of each element. */
  readonly ranges: Uint32Array;
}

/** Encoded elements, and the position of each in the whole list. */
export interface PositionedElements extends EncodedElements {
  readonly positions: Uint32Array;
}

const OPENING = '{"results":[';
const CLOSING = "]}";
const COMMA = 0x2c;
/** Elements are collected in chunks, so that a growing list is not copied repeatedly. */
const CHUNK_BYTES = 1 << 16;
/** A longer element has a chunk to itself, so that little of a chunk remains unused. */
const SHARED_BYTES_MAX = CHUNK_BYTES / 8;
const encoder = new TextEncoder();

/** Encodes the elements of a list, which are added in any order, and adds up their units. */
export class ElementEncoder {
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  readonly #ranges: Uint32Array;
  /** Index of the chunk that the next short element is added to. */
  #sharedIndex = -1;
  #usedBytes = CHUNK_BYTES;
  #allocatedBytes: number;
  #units = 0;
  #refusedCount = 0;

  constructor(elementCount: number) {
    this.#ranges = new Uint32Array(3 * elementCount);
    this.#allocatedBytes = this.#ranges.byteLength;
  }

  /** Size of the memory that holds the elements. */
  get allocatedBytes(): number {
    return this.#allocatedBytes;
  }

  get units(): number {
    return this.#units;
  }

  /** Number of elements that have a problem in place of a result. */
  get refusedCount(): number {
    return this.#refusedCount;
  }

  /** All elements, by their indices. */
  get elements(): EncodedElements {
    return { chunks: this.#chunks, ranges: this.#ranges };
  }

  add(index: number, { text, units, isRefused }: EncodedElement): void {
    this.#units += units;
    if (isRefused) this.#refusedCount++;
    const sizeBytes = Buffer.byteLength(text);
    let chunkIndex = this.#sharedIndex;
    let offset = 0;
    if (sizeBytes > SHARED_BYTES_MAX) chunkIndex = this.#addChunk(sizeBytes);
    else {
      if (CHUNK_BYTES - this.#usedBytes < sizeBytes) {
        chunkIndex = this.#sharedIndex = this.#addChunk(CHUNK_BYTES);
        this.#usedBytes = 0;
      }
      offset = this.#usedBytes;
      this.#usedBytes += sizeBytes;
    }
    const chunk = this.#chunks[chunkIndex];
    if (chunk === undefined) throw new Error(`There is no chunk ${chunkIndex}.`);
    encoder.encodeInto(text, chunk.subarray(offset));
    this.#ranges[3 * index] = chunkIndex;
    this.#ranges[3 * index + 1] = offset;
    this.#ranges[3 * index + 2] = sizeBytes;
  }

  /** Returns the response that consists of all elements. */
  response(): Uint8Array<ArrayBuffer> {
    const positions = Uint32Array.from({ length: this.#ranges.length / 3 }, (_, i) => i);
    return joinResponse([{ ...this.elements, positions }]);
  }

  #addChunk(sizeBytes: number): number {
    this.#allocatedBytes += sizeBytes;
    return this.#chunks.push(new Uint8Array(sizeBytes)) - 1;
  }
}

/** Returns the size of the memory that holds encoded elements. */
export function elementsBytes({ chunks, ranges }: EncodedElements): number {
  return chunks.reduce((sum, { length }) => sum + length, ranges.byteLength);
}

/** Returns the size of the response that consists of the elements of several parts. */
export function responseBytes(parts: readonly EncodedElements[]): number {
  let count = 0;
  let sizeBytes = OPENING.length + CLOSING.length;
  for (const { ranges } of parts) {
    count += ranges.length / 3;
    for (let i = 2; i < ranges.length; i += 3) sizeBytes += ranges[i] ?? 0;
  }
  return sizeBytes + Math.max(0, count - 1);
}

/** Returns the response that consists of the elements of several parts. */
export function joinResponse(parts: readonly PositionedElements[]): Uint8Array<ArrayBuffer> {
  const count = parts.reduce((sum, { positions }) => sum + positions.length, 0);
  /** Offset of each element in the response; elements are separated by one byte. */
  const starts = new Float64Array(count + 1);
  for (const { positions, ranges } of parts) {
    for (const [i, position] of positions.entries()) starts[position + 1] = (ranges[3 * i + 2] ?? 0) + 1;
  }
  starts[0] = OPENING.length;
  for (let i = 0; i < count; i++) starts[i + 1] = (starts[i + 1] ?? 0) + (starts[i] ?? 0);
  const whole = new Uint8Array(responseBytes(parts)).fill(COMMA);
  encoder.encodeInto(OPENING, whole);
  encoder.encodeInto(CLOSING, whole.subarray(whole.length - CLOSING.length));
  for (const { positions, ranges, chunks } of parts) {
    for (const [i, position] of positions.entries()) {
      const offset = ranges[3 * i + 1] ?? 0;
      const element = chunks[ranges[3 * i] ?? 0]?.subarray(offset, offset + (ranges[3 * i + 2] ?? 0));
      if (element !== undefined) whole.set(element, starts[position]);
    }
  }
  return whole;
}
