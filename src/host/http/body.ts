import type { IncomingMessage } from "node:http";
import type { Readable } from "node:stream";
import { HttpError } from "../problems/problem.ts";

const CONTENT_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

/**
 * Checks that a body is declared as JSON in UTF-8 without a content coding. Header fields may be repeated.
 * @throws HttpError `content_type_unsupported`
 */
export function checkBodyHeaders({ headersDistinct }: IncomingMessage): void {
  const { "content-type": contentTypes = [], "content-encoding": contentEncodings = [] } = headersDistinct;
  const [contentType, ...others] = contentTypes;
  if (contentType === undefined) {
    throw new HttpError(
      "content_type_unsupported",
      "The request has a body without a content type; send Content-Type: application/json.",
    );
  }
  if (others.length > 0 || !CONTENT_TYPE.test(contentType)) {
    const message = `Content-Type must be application/json in UTF-8 (got ${contentTypes.join(" and ")}).`;
    throw new HttpError("content_type_unsupported", message);
  }
  if (contentEncodings.some((coding) => coding.toLowerCase() !== "identity")) {
    const message = `Compressed bodies are not supported; omit Content-Encoding (got ${contentEncodings.join(", ")}).`;
    throw new HttpError("content_type_unsupported", message, { "Accept-Encoding": "identity" });
  }
}

/** Checks a declared body size. @throws HttpError `body_too_large` */
export function checkDeclaredSize(contentLengthBytes: number | undefined, limitBytes: number): void {
  if ((contentLengthBytes ?? 0) > limitBytes) throw tooLarge(limitBytes);
}

/**
 * Reads a whole body and returns its parts. The stream is not destroyed on errors, so that a response can still be written.
 *
 * @param signal aborts the reading; its reason is thrown
 * @param onPart called with the size of each received part; an error that it throws ends the reading
 * @throws HttpError `body_too_large` as soon as more bytes than allowed have been received, `http_malformed` if the
 *   stream ends before the body does
 */
export function readBody(
  stream: Readable,
  options: {
    readonly limitBytes: number;
    readonly signal: AbortSignal;
    readonly onPart: (sizeBytes: number) => void;
  },
): Promise<readonly Buffer[]> {
  const { limitBytes, signal, onPart } = options;
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let sizeBytes = 0;
    const onData = (part: Buffer): void => {
      sizeBytes += part.length;
      try {
        if (sizeBytes > limitBytes) throw tooLarge(limitBytes);
        onPart(part.length);
        parts.push(part);
      } catch (error) {
        settle(() => reject(error));
      }
    };
    const onEnd = (): void => settle(() => resolve(parts));
    const onTruncated = (): void => {
      settle(() => reject(new HttpError("http_malformed", "The connection ended before the body was complete.")));
    };
    const onAbort = (): void => settle(() => reject(signal.reason as Error));
    const settle = (finish: () => void): void => {
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
    }
  });
}

/** Joins the parts of a body. @param isShared whether other threads will read the body, which then needs no copy */
export function joinParts(parts: readonly Buffer[], { isShared }: { readonly isShared: boolean }): Buffer {
  if (!isShared) return Buffer.concat(parts);
  const joined = Buffer.from(new SharedArrayBuffer(sizeOf(parts)));
  let offset = 0;
  for (const part of parts) offset += part.copy(joined, offset);
  return joined;
}

/** Returns the total size of the parts of a body. */
export function sizeOf(parts: readonly Buffer[]): number {
  return parts.reduce((sizeBytes, part) => sizeBytes + part.length, 0);
}

function tooLarge(limitBytes: number): HttpError {
  return new HttpError("body_too_large", `The body must be at most ${limitBytes} bytes long; split the request.`);
}
