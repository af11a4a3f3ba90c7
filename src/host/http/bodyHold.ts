import type { Readable } from "node:stream";
import { SHORT_CHUNK_BYTES_MAX } from "./body.ts";
import { BodyBuffer } from "./bodyBuffer.ts";
import { BodySegments } from "./bodySegments.ts";

/** Of all holds, which use contiguous memory only. */
const segments = new BodySegments();

export interface BodyHoldOptions {
  /** The declared size; undefined if there is none. */
  readonly declaredBytes: number | undefined;
  /** Called when something has arrived, unless `hasManyShortChunks`, and when the hold has been released or discarded. */
  readonly onChange: () => void;
}

/** Short chunks of an unread body from which its connection is read no further: Node.js takes 2 to 3 µs for each. */
const SHORT_CHUNK_COUNT_MAX = 1_024;

/**
 * Holds what arrives of a body before anybody reads it. Node.js would keep an object for each chunk, which is 4 MiB for
 * chunks of one byte, and the 64 KiB that it read from the connection with them.
 *
 * It replaces `push` of the stream, which Node's parser calls for each chunk and at the end.
 */
export class BodyHold {
  readonly #stream: Readable;
  readonly #push: Readable["push"];
  readonly #onChange: () => void;
  /** Undefined once the body has been released or discarded. */
  #buffer: BodyBuffer | undefined;
  #shortChunkCount = 0;
  #isComplete = false;
  /** Whether the stream gets the chunks: the body is being read. */
  #isReleased = false;
  #onEnd: (() => void) | undefined;

  constructor(stream: Readable, { declaredBytes = Infinity, onChange }: BodyHoldOptions) {
    this.#stream = stream;
    this.#push = stream.push;
    this.#onChange = onChange;
    this.#buffer = new BodyBuffer({ sizeBytesMax: declaredBytes, contiguousBytesMax: Infinity, segments });
    stream.push = (chunk: Uint8Array | null) => this.#add(chunk);
  }

  /** Whether so many short chunks have arrived of a body that nobody reads that the connection must be read no further. */
  get hasManyShortChunks(): boolean {
    return !this.#isReleased && this.#shortChunkCount >= SHORT_CHUNK_COUNT_MAX;
  }

  /** Size of the memory that is held. */
  get heldBytes(): number {
    return this.#buffer?.heldBytes ?? 0;
  }

  /** Bytes of the body that are held. */
  get sizeBytes(): number {
    return this.#buffer?.sizeBytes ?? 0;
  }

  /**
   * Gives the stream what has arrived, in one chunk, unless it has been discarded. Further calls have no effect.
   * @returns the number of short chunks in it
   */
  release(): number {
    if (this.#isReleased) return 0;
    this.#isReleased = true;
    const stream = this.#stream;
    const buffer = this.#buffer;
    this.#buffer = undefined;
    stream.push = this.#push;
    if (!stream.destroyed) {
      if (buffer !== undefined && buffer.sizeBytes > 0) for (const part of buffer.finish().parts) stream.push(part);
      if (this.#isComplete) stream.push(null);
    }
    this.#onChange();
    return this.#shortChunkCount;
  }

  /** Discards what has arrived, and what arrives until the release. */
  discard(): void {
    this.#buffer = undefined;
    this.#onChange();
  }

  /**
   * Discards what has arrived and what will arrive, also after the release. The stream ends when the body is complete, so that
   * the response need not wait any longer.
   */
  discardRest(): void {
    this.#buffer = undefined;
    const end = (): void => void this.#push.call(this.#stream, null);
    if (this.#isReleased) this.#shortChunkCount = 0;
    else if (this.#isComplete) end();
    this.#onEnd = end;
    this.#isReleased = false;
    this.#stream.push = (chunk: Uint8Array | null) => this.#add(chunk);
    this.#onChange();
  }

  /** Returns true, because the connection is read no further by `ConnectionInput`. */
  #add(chunk: Uint8Array | null): boolean {
    const { heldBytes } = this;
    if (chunk === null) {
      this.#isComplete = true;
      this.#buffer?.finish();
      this.#onEnd?.();
    } else {
      if (chunk.length <= SHORT_CHUNK_BYTES_MAX) this.#shortChunkCount++;
      this.#buffer?.append(chunk);
    }
    // Nothing but the memory can change any more once the connection is read no further.
    const isStopped = this.#shortChunkCount > SHORT_CHUNK_COUNT_MAX && chunk !== null;
    if (!isStopped || this.heldBytes !== heldBytes) this.#onChange();
    return true;
  }
}
