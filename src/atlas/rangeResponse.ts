import type { ByteRange } from "./blobs.ts";

/** Upper limit on `Retry-After`, because callers have their own deadlines. */
const RETRY_DELAY_MS_MAX = 5000;
/**
 * Statuses of overload and gateway failures, which are temporary. Requests that fail with other statuses are not
 * retried.
 */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Identifies a version of a file. */
export interface FileVersion {
  /** `ETag <value>`, or `Last-Modified <value>` if there is no ETag. */
  readonly validator: string;
  readonly sizeBytes: number;
}

/** Result of one range request. */
export type RangeOutcome =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly version: FileVersion }
  | { readonly kind: "missing" }
  /** The file ends before the range. `sizeBytes` is the size of the file if the server sent it. */
  | { readonly kind: "beyond"; readonly sizeBytes: number | undefined }
  /** The response is unusable. `problem` completes the sentence "the server ...". */
  | { readonly kind: "unusable"; readonly problem: string; readonly status: number; readonly hint?: string }
  /** The request failed and may succeed when retried. */
  | { readonly kind: "failed"; readonly problem: string; readonly delayMs?: number; readonly cause?: unknown };

/** Validates the response to a range request. Reads the body only if it is exactly the requested range. */
export async function readResponse(response: Response, range: ByteRange): Promise<RangeOutcome> {
  const { status, headers } = response;
  if (status === 404 || status === 410) return { kind: "missing" };
  if (status === 416) {
    const total = /^bytes \*\/(\d+)$/i.exec(headers.get("content-range") ?? "")?.[1];
    return { kind: "beyond", sizeBytes: total === undefined ? undefined : Number(total) };
  }
  // An empty file has no valid range; some servers then send the complete file with status 200.
  if (status === 200 && headers.get("content-length") === "0") return { kind: "beyond", sizeBytes: 0 };
  if (RETRIED_STATUSES.has(status)) {
    const seconds = /^\d+$/.exec(headers.get("retry-after") ?? "")?.[0];
    const problem = `responded with ${describeStatus(response)}`;
    if (seconds === undefined) return { kind: "failed", problem };
    return { kind: "failed", problem, delayMs: Math.min(Number(seconds) * 1000, RETRY_DELAY_MS_MAX) };
  }
  const unusable = (problem: string, hint?: string): RangeOutcome => ({
    kind: "unusable",
    problem,
    status,
    ...(hint === undefined ? {} : { hint }),
  });
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400 && status !== 304)) {
    return unusable("responded with a redirect", "redirects are not followed: use the final address of the atlas");
  }
  if (status !== 206) {
    const type = headers.get("content-type")?.split(";")[0];
    const hint = status === 200 ? "it does not support ranges, or serves a page instead of the file" : undefined;
    return unusable(
      `responded with ${describeStatus(response)}${type === undefined ? "" : ` (${type})`} instead of 206`,
      hint,
    );
  }
  const coding = headers.get("content-encoding") ?? "identity";
  if (coding.toLowerCase() !== "identity") {
    return unusable(
      `responded with content coding ${coding}`,
      "the files of an atlas must be served without compression",
    );
  }
  const contentRange = headers.get("content-range");
  if (contentRange === null) {
    return unusable(
      "responded with 206 without a Content-Range header",
      "a browser on another origin needs Access-Control-Expose-Headers: Content-Range, ETag",
    );
  }
  const [first, last, total] = (/^bytes (\d+)-(\d+)\/(\d+)$/i.exec(contentRange) ?? []).slice(1).map(Number);
  const end = range.offset + range.sizeBytes;
  if (total === undefined || first !== range.offset || last !== Math.min(end, total) - 1) {
    return unusable(`responded with another range (Content-Range: ${contentRange})`);
  }
  const etag = headers.get("etag");
  const lastModified = headers.get("last-modified");
  if (etag === null && lastModified === null) {
    return unusable(
      "sent neither an ETag nor a Last-Modified header",
      "one of them is needed to detect that the atlas was replaced",
    );
  }
  // A weak ETag or a date can stay the same when bytes change; the checksums and the content-based file names of the
  // atlas then detect the change. If-Match and If-Range are not sent: comparing the ETag of each response is equivalent,
  // and in browsers those headers require a CORS preflight.
  const validator = etag === null ? `Last-Modified ${lastModified}` : `ETag ${etag}`;
  const bytes = await readRangeBody(response, last - first + 1);
  if (typeof bytes === "string") return unusable(bytes);
  return { kind: "bytes", bytes, version: { validator, sizeBytes: total } };
}

/**
 * Returns the body, or a problem if its size differs from that in Content-Range. Stops reading when that size is
 * exceeded.
 */
async function readRangeBody(response: Response, sizeBytes: number): Promise<Uint8Array | string> {
  const bytes = new Uint8Array(sizeBytes);
  let filledBytes = 0;
  const reader = response.body?.getReader();
  for (let chunk = await reader?.read(); chunk?.done === false; chunk = await reader?.read()) {
    if (filledBytes + chunk.value.length > sizeBytes) {
      await reader?.cancel();
      return `sent more than the announced ${sizeBytes} bytes`;
    }
    bytes.set(chunk.value, filledBytes);
    filledBytes += chunk.value.length;
  }
  return filledBytes === sizeBytes ? bytes : `sent ${filledBytes} of the announced ${sizeBytes} bytes`;
}

function describeStatus({ status, statusText }: Response): string {
  return statusText === "" ? String(status) : `${status} ${statusText}`;
}
