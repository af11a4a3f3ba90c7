import type { Readable } from "node:stream";
import { SHORT_CHUNK_BYTES_MAX } from "./body.ts";
import { BodyBuffer } from "./bodyBuffer.ts";
import { BodySegments } from "./bodySegments.ts";

/** Of all holds, which use contiguous memory only. */
const segments = new BodySegments();

export interface BodyHoldOptions {
  /** The declared size; undefined if there is none. */
  readonly declaredBytes: number | undefined;
  /** Called when something has arrived, and when the hold has been released or discarded. */
  readonly onChange: () => void;
}

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
  #isReleased = false;

  constructor(stream: Readable, { declaredBytes = Infinity, onChange }: BodyHoldOptions) {
    this.#stream = stream;
    this.#push = stream.push;
    this.#onChange = onChange;
    this.#buffer = new BodyBuffer({ sizeBytesMax: declaredBytes, contiguousBytesMax: Infinity, segments });
    stream.push = (chunk: Uint8Array | null) => this.#add(chunk);
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

  /** Returns true, because the connection is read no further by `ConnectionInput`. */
  #add(chunk: Uint8Array | null): boolean {
    if (chunk === null) {
      this.#isComplete = true;
      this.#buffer?.finish();
    } else if (this.#buffer !== undefined) {
      if (chunk.length <= SHORT_CHUNK_BYTES_MAX) this.#shortChunkCount++;
      this.#buffer.append(chunk);
    }
    this.#onChange();
    return true;
  }
}
