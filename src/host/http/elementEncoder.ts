/** The encoded result of one query of a batch. */
export interface EncodedElement {
  readonly text: string;
  readonly units: number;
  /** Whether the element has a problem in place of a result. */
  readonly isRefused: boolean;
}

/** Encoded elements of a list, separated by commas. */
export interface EncodedElements {
  /** Size of each element in bytes. */
  readonly lengths: Uint32Array;
  readonly bytes: Uint8Array<ArrayBuffer>;
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
const encoder = new TextEncoder();

/** Joins the encoded elements of a list, which are added in any order, and adds up their units. */
export class ElementEncoder {
  readonly #chunks: Uint8Array[] = [];
  /** Chunk, offset in it and length of each element. */
  readonly #ranges: Uint32Array;
  #usedBytes = 0;
  #sizeBytes = 0;
  #units = 0;
  #refusedCount = 0;

  constructor(elementCount: number) {
    this.#ranges = new Uint32Array(3 * elementCount);
  }

  /** Size of the elements that have been added. */
  get sizeBytes(): number {
    return this.#sizeBytes;
  }

  get units(): number {
    return this.#units;
  }

  /** Number of elements that have a problem in place of a result. */
  get refusedCount(): number {
    return this.#refusedCount;
  }

  add(index: number, { text, units, isRefused }: EncodedElement): void {
    this.#units += units;
    if (isRefused) this.#refusedCount++;
    const sizeBytesMax = 3 * text.length; // UTF-8 takes at most three bytes per UTF-16 code unit
    let chunk = this.#chunks.at(-1);
    if (chunk === undefined || chunk.length - this.#usedBytes < sizeBytesMax) {
      chunk = new Uint8Array(Math.max(CHUNK_BYTES, sizeBytesMax));
      this.#chunks.push(chunk);
      this.#usedBytes = 0;
    }
    const { written } = encoder.encodeInto(text, chunk.subarray(this.#usedBytes));
    this.#ranges[3 * index] = this.#chunks.length - 1;
    this.#ranges[3 * index + 1] = this.#usedBytes;
    this.#ranges[3 * index + 2] = written;
    this.#usedBytes += written;
    this.#sizeBytes += written;
  }

  /** Returns all elements in the order of their indices. */
  elements(): EncodedElements {
    return { lengths: this.#lengths(), bytes: this.#concatenate("", "") };
  }

  /** Returns the response that consists of all elements. */
  response(): Uint8Array<ArrayBuffer> {
    return this.#concatenate(OPENING, CLOSING);
  }

  #lengths(): Uint32Array {
    return Uint32Array.from({ length: this.#ranges.length / 3 }, (_, i) => this.#ranges[3 * i + 2] ?? 0);
  }

  #concatenate(opening: string, closing: string): Uint8Array<ArrayBuffer> {
    const count = this.#ranges.length / 3;
    const listBytes = this.#sizeBytes + Math.max(0, count - 1);
    const whole = new Uint8Array(opening.length + listBytes + closing.length);
    encoder.encodeInto(opening, whole);
    let offset = opening.length;
    for (let i = 0; i < count; i++) {
      const start = this.#ranges[3 * i + 1] ?? 0;
      const length = this.#ranges[3 * i + 2] ?? 0;
      const chunk = this.#chunks[this.#ranges[3 * i] ?? 0];
      if (i > 0) whole[offset++] = COMMA;
      if (chunk !== undefined) whole.set(chunk.subarray(start, start + length), offset);
      offset += length;
    }
    encoder.encodeInto(closing, whole.subarray(offset));
    return whole;
  }
}

/** Returns the response that consists of the elements of several parts. */
export function joinResponse(parts: readonly PositionedElements[]): Uint8Array<ArrayBuffer> {
  const count = parts.reduce((sum, { positions }) => sum + positions.length, 0);
  /** Offset of each element in the response; elements are separated by one byte. */
  const starts = new Float64Array(count + 1);
  for (const { positions, lengths } of parts) {
    for (const [i, position] of positions.entries()) starts[position + 1] = (lengths[i] ?? 0) + 1;
  }
  starts[0] = OPENING.length;
  for (let i = 0; i < count; i++) starts[i + 1] = (starts[i + 1] ?? 0) + (starts[i] ?? 0);
  const end = Math.max(OPENING.length, (starts[count] ?? 0) - 1);
  const whole = new Uint8Array(end + CLOSING.length).fill(COMMA);
  encoder.encodeInto(OPENING, whole);
  encoder.encodeInto(CLOSING, whole.subarray(end));
  for (const { positions, lengths, bytes } of parts) {
    let offset = 0;
    for (const [i, position] of positions.entries()) {
      const length = lengths[i] ?? 0;
      whole.set(bytes.subarray(offset, offset + length), starts[position]);
      offset += length + 1;
    }
  }
  return whole;
}
