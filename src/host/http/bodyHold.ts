import type { Readable } from "node:stream";
import { SHORT_CHUNK_BYTES_MAX } from "./body.ts";
import { BodyBuffer } from "./bodyBuffer.ts";
import { BodySegments } from "./bodySegments.ts";

/** Size from which Node.js is asked to stop reading the connection. It still parses the bytes that it has read: 64 KiB. */
const HELD_BYTES_MAX = 16_384;
/** Of all holds, which use contiguous memory only. */
const segments = new BodySegments();

/**
 * Holds what arrives of a body before anybody reads it. Node.js would keep an object for each chunk, which is 4 MiB for
 * chunks of one byte, and the 64 KiB that it read from the connection with them.
 *
 * It replaces `push` of the stream, which Node's parser calls for each chunk and at the end.
 */
export class BodyHold {
  readonly #stream: Readable;
  readonly #push: Readable["push"];
  readonly #buffer = new BodyBuffer({ sizeBytesMax: Infinity, contiguousBytesMax: Infinity, segments });
  #shortChunkCount = 0;
  #isComplete = false;
  #isEnded = false;

  constructor(stream: Readable) {
    this.#stream = stream;
    this.#push = stream.push;
    stream.push = (chunk: Uint8Array | null) => this.#add(chunk);
  }

  /** Size of the memory that is held. */
  get heldBytes(): number {
    return this.#isEnded ? 0 : this.#buffer.heldBytes;
  }

  /** Gives the stream what has arrived, in one chunk. Further calls have no effect. @returns the number of short chunks in it */
  release(): number {
    if (this.#isEnded) return 0;
    this.#isEnded = true;
    const stream = this.#stream;
    stream.push = this.#push;
    if (stream.destroyed) return 0;
    if (this.#buffer.sizeBytes > 0) for (const part of this.#buffer.finish().parts) stream.push(part);
    if (this.#isComplete) stream.push(null);
    return this.#shortChunkCount;
  }

  #add(chunk: Uint8Array | null): boolean {
    if (chunk === null) {
      this.#isComplete = true;
      this.#buffer.finish();
      return false;
    }
    if (chunk.length <= SHORT_CHUNK_BYTES_MAX) this.#shortChunkCount++;
    this.#buffer.append(chunk);
    return this.#buffer.sizeBytes < HELD_BYTES_MAX;
  }
}

/** Discards what arrives of a body that will never be read. @param isMoreRead returns whether to continue reading the connection */
export function discardBody(stream: Readable, isMoreRead: () => boolean): void {
  stream.push = isMoreRead;
}
