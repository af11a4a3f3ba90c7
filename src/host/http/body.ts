import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import type { BodyMemory } from "../admission/admissionControl.ts";
import { Fault } from "../../errors.ts";
import { BodyBuffer, type BodySegments, type RequestBody } from "./bodyBuffer.ts";
import { malformedJson, positionAfterBytes } from "../../text/json/json.ts";
import { type JsonLimits, JsonStructureScan } from "../../text/json/jsonScan.ts";

const CONTENT_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

/**
 * Checks that a body is declared as JSON in UTF-8 without a content coding. Header fields may be repeated.
 * @throws Fault `content_type_unsupported`
 */
export function checkBodyHeaders({ headersDistinct }: IncomingMessage): void {
  const { "content-type": contentTypes = [], "content-encoding": contentEncodings = [] } = headersDistinct;
  const [contentType, ...others] = contentTypes;
  if (contentType === undefined) {
    throw new Fault(
      "content_type_unsupported",
      "The request has a body without a content type; send Content-Type: application/json.",
    );
  }
  if (others.length > 0 || !CONTENT_TYPE.test(contentType)) {
    const message = `Content-Type must be application/json in UTF-8 (got ${contentTypes.join(" and ")}).`;
    throw new Fault("content_type_unsupported", message);
  }
  if (contentEncodings.some((coding) => coding.toLowerCase() !== "identity")) {
    const message = `Compressed bodies are not supported; omit Content-Encoding (got ${contentEncodings.join(", ")}).`;
    throw new Fault("content_type_unsupported", message, { headers: { "Accept-Encoding": "identity" } });
  }
}

/** Checks a declared body size. @throws Fault `body_too_large` */
export function checkDeclaredSize(contentLengthBytes: number | undefined, limitBytes: number): void {
  if ((contentLengthBytes ?? 0) > limitBytes) throw tooLarge(limitBytes);
}

/** The slowest rate at which a client may send a body. */
export interface BodyRate {
  /** Bytes per second, on average since the reading began; 0 allows any rate. */
  readonly bytesPerSMin: number;
  /** Time before the rate is checked. */
  readonly graceMs: number;
}

const RATE_CHECK_INTERVAL_MS = 1_000;
/** A chunk of this size takes longer to copy than to receive. */
export const SHORT_CHUNK_BYTES_MAX = 256;
/** Short chunks of a body that are read before it is paused; 64 KiB of chunks of one byte are 11,000. */
const SHORT_CHUNKS_PER_TURN_MAX = 1_024;
/**
 * Memory of the chunks that Node.js holds while a body of short chunks is paused: those of up to 16 KiB of content and of
 * the last 64 KiB read from the connection, 27,000 objects of 200 bytes.
 */
const SHORT_CHUNKS_HELD_BYTES = 27_000 * 200;

/** The rest of a rejected body is read and discarded up to this size, so that the connection can be used again. */
const DISCARDED_BYTES_MAX = 65_536;

export interface ReadBodyOptions {
  readonly limitBytes: number;
  /** Size in the header Content-Length, if there is one. */
  readonly declaredBytes: number | undefined;
  /** A body above this size is read into `segments`, which all threads share. */
  readonly contiguousBytesMax: number;
  readonly segments: BodySegments;
  readonly structure: JsonLimits;
  readonly rate: BodyRate;
  /** Aborts the reading; its reason is thrown. */
  readonly signal: AbortSignal;
  /** Called after a number of short chunks; returns the time to wait before further ones are read. */
  readonly shortChunksDelayMs: (chunkCount: number) => number;
  /** Called before the body takes more memory, and after it has released some; an error that it throws ends the reading. */
  readonly onResize: (memory: BodyMemory) => void;
}

/**
 * Reads a whole body, and checks its structure as it arrives. The stream is not destroyed on errors, so that a response can
 * still be written.
 *
 * @throws Fault `body_too_large` as soon as more bytes than allowed have been received, `request_timeout` if they
 *   arrive too slowly, `http_malformed` if the stream ends before the body does; Fault `json_malformed` if there are more levels, values or keys than allowed, without waiting for the rest of the
 *   body if it is long
 */
export function readBody(stream: Readable, options: ReadBodyOptions): Promise<RequestBody> {
  const { limitBytes, declaredBytes = limitBytes, contiguousBytesMax, segments, rate, signal, onResize } = options;
  const sizeBytesMax = Math.min(declaredBytes, limitBytes);
  const buffer = new BodyBuffer({ sizeBytesMax, contiguousBytesMax, segments });
  const structure = new JsonStructureScan(options.structure);
  return new Promise((resolve, reject) => {
    let shortChunkCount = 0;
    let chunksHeldBytes = 0;
    let pause: NodeJS.Timeout | undefined;
    let pausedMs = 0;
    /** Why the body is rejected once the rest of it has been discarded. */
    let rejection: Fault | undefined;
    let discardedBytes = 0;
    const reserve = (bufferBytes: number): void => {
      const heldBytes = bufferBytes + chunksHeldBytes;
      onResize({ heldBytes, sizeBytes: buffer.sizeBytes, valueBytes: structure.valueBytes });
    };
    const pauseShortChunks = (): void => {
      const delayMs = options.shortChunksDelayMs(shortChunkCount);
      shortChunkCount = 0;
      pausedMs += delayMs;
      stream.pause();
      pause = setTimeout(() => stream.resume(), delayMs);
      if (chunksHeldBytes > 0) return;
      chunksHeldBytes = SHORT_CHUNKS_HELD_BYTES;
      reserve(buffer.heldBytes);
    };
    const onData = (part: Buffer): void => {
      if (rejection !== undefined) {
        discardedBytes += part.length;
        return;
      }
      try {
        if (buffer.sizeBytes + part.length > limitBytes) throw tooLarge(limitBytes);
        const heldBytes = buffer.heldBytesWith(part.length);
        if (heldBytes > buffer.heldBytes) reserve(heldBytes);
        buffer.append(part);
        const excess = structure.advance(part);
        if (excess !== undefined) {
          const error = malformedJson(positionAfterBytes(buffer.prefix(excess.index)), excess.message);
          const isRestShort = (options.declaredBytes ?? Infinity) - buffer.sizeBytes <= DISCARDED_BYTES_MAX;
          if (!isRestShort) throw error;
          rejection = error;
          return;
        }
        if (part.length <= SHORT_CHUNK_BYTES_MAX) shortChunkCount++;
        if (shortChunkCount >= SHORT_CHUNKS_PER_TURN_MAX) pauseShortChunks();
      } catch (error) {
        fail(error);
      }
    };
    const onEnd = (): void => {
      if (rejection !== undefined) {
        fail(rejection);
        return;
      }
      settle(() => {
        const body = buffer.finish();
        chunksHeldBytes = 0;
        try {
          reserve(buffer.heldBytes);
          resolve(body);
        } catch (error) {
          body.release();
          reject(error);
        }
      });
    };
    const fail = (error: unknown): void => {
      settle(() => {
        buffer.release();
        reject(error);
      });
    };
    const onTruncated = (): void => {
      fail(new Fault("http_malformed", "The connection ended before the body was complete."));
    };
    const onAbort = (): void => fail(signal.reason);
    let stopRateChecks: (() => void) | undefined;
    const settle = (finish: () => void): void => {
      stopRateChecks?.();
      clearTimeout(pause);
      stream.off("data", onData).off("end", onEnd).off("error", onTruncated).off("close", onTruncated);
      signal.removeEventListener("abort", onAbort);
      // Later errors of the stream no longer matter, but an `error` event without a listener would end the process.
      stream.on("error", () => undefined);
      finish();
    };
    if (signal.aborted) onAbort();
    // A destroyed stream emits no more events.
    else if (stream.destroyed) onTruncated();
    else {
      signal.addEventListener("abort", onAbort);
      stream.on("data", onData).on("end", onEnd).on("error", onTruncated).on("close", onTruncated);
      // The time for which the body is paused is not the client's.
      const progress = (): BodyProgress => ({ sizeBytes: buffer.sizeBytes + discardedBytes, pausedMs });
      stopRateChecks = checkRate(rate, progress, () => fail(tooSlow(rate)));
    }
  });
}

interface BodyProgress {
  readonly sizeBytes: number;
  /** Time that does not count. */
  readonly pausedMs: number;
}

/** Calls `onTooSlow` when a body grows too slowly. Returns a function that stops the checks. */
function checkRate(
  { bytesPerSMin, graceMs }: BodyRate,
  readProgress: () => BodyProgress,
  onTooSlow: () => void,
): () => void {
  if (bytesPerSMin === 0) return () => undefined;
  const startMs = performance.now();
  let isStopped = false;
  const check = (): void => {
    // On a late event loop, timers run before the bytes that have arrived are read.
    setImmediate(() => {
      if (isStopped) return;
      const { sizeBytes, pausedMs } = readProgress();
      if (sizeBytes < ((performance.now() - startMs - pausedMs) / 1000) * bytesPerSMin) onTooSlow();
      else timer = setTimeout(check, RATE_CHECK_INTERVAL_MS);
    });
  };
  let timer = setTimeout(check, graceMs);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

function tooLarge(limitBytes: number): Fault {
  return new Fault("body_too_large", `The body must be at most ${limitBytes} bytes long; split the request.`);
}

function tooSlow({ bytesPerSMin }: BodyRate): Fault {
  const message = `The body arrives too slowly; send at least ${bytesPerSMin} bytes per second.`;
  return new Fault("request_timeout", message);
}
