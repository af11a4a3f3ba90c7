import type { Readable } from "node:stream";
import { Refusal } from "../problems/problem.ts";

const CONTENT_TYPE = /^application\/json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;

/**
 * Only plain JSON in UTF-8 is read. A field may be given more than once.
 * @throws Refusal `content_type_unsupported` where the body is declared as anything else
 */
export function checkContentType({
  contentTypes,
  contentEncodings,
}: {
  readonly contentTypes: readonly string[];
  readonly contentEncodings: readonly string[];
}): void {
  const [contentType, ...others] = contentTypes;
  if (contentType === undefined) {
    throw new Refusal(
      "content_type_unsupported",
      "The request does not say what its body is: send Content-Type: application/json.",
    );
  }
  if (others.length > 0 || !CONTENT_TYPE.test(contentType)) {
    const message = `The body must be declared as application/json in UTF-8, not as ${contentTypes.join(" and ")}.`;
    throw new Refusal("content_type_unsupported", message);
  }
  if (contentEncodings.some((coding) => coding.toLowerCase() !== "identity")) {
    const message = `A body is read as it is: send it without Content-Encoding ${contentEncodings.join(", ")}.`;
    throw new Refusal("content_type_unsupported", message, { "Accept-Encoding": "identity" });
  }
}

/** @throws Refusal `body_too_large` where a body is declared as longer than allowed */
export function checkDeclaredSize(contentLengthBytes: number | undefined, limitBytes: number): void {
  if ((contentLengthBytes ?? 0) > limitBytes) throw tooLarge(limitBytes);
}

/**
 * All bytes of a body. The stream is left as it is when this throws, so that an answer can still go out beside it.
 *
 * @param signal ends the waiting; its reason is thrown
 * @param onPart told how many bytes have come; what it throws ends the waiting too
 * @throws Refusal `body_too_large` as soon as more bytes than allowed have come, `http_malformed` when the stream ends
 *   before the body does
 */
export function readBody(
  stream: Readable,
  options: {
    readonly limitBytes: number;
    readonly signal: AbortSignal;
    readonly onPart: (sizeBytes: number) => void;
  },
): Promise<Buffer> {
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
    const onEnd = (): void => settle(() => resolve(Buffer.concat(parts, sizeBytes)));
    const onCut = (): void => {
      settle(() => reject(new Refusal("http_malformed", "The connection ended before the body did.")));
    };
    const onAbort = (): void => settle(() => reject(signal.reason as Error));
    const settle = (finish: () => void): void => {
      stream.off("data", onData).off("end", onEnd).off("error", onCut).off("close", onCut);
      signal.removeEventListener("abort", onAbort);
      // What breaks off from here on is nobody's news.
      stream.on("error", () => undefined);
      finish();
    };
    if (signal.aborted) onAbort();
    // It says so no more.
    else if (stream.destroyed) onCut();
    else {
      signal.addEventListener("abort", onAbort);
      stream.on("data", onData).on("end", onEnd).on("error", onCut).on("close", onCut);
    }
  });
}

function tooLarge(limitBytes: number): Refusal {
  return new Refusal("body_too_large", `A body may be ${limitBytes} bytes long. Ask in several requests.`);
}
