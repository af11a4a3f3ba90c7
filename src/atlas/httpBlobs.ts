import { Fault } from "../errors.ts";
import type { Blobs, ByteRange } from "./blobs.ts";

export interface HttpBlobsOptions {
  /** Maximum number of concurrent requests; further ones queue in order. Default 8. */
  readonly parallelReadsMax?: number;
  /** Timeout of one request, from its start to the last byte of the response. Default 30 s. */
  readonly timeoutMs?: number;
  /** Minimum delay before the retry of a failed read; jitter adds up to as much again. Default 200 ms. */
  readonly retryDelayMs?: number;
}

/** Upper limit on `Retry-After`: callers have their own deadlines. */
const RETRY_DELAY_MS_MAX = 5000;
/** Overload and gateway failures, which are temporary. Other statuses are not retried. */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Identifies a version of a file. */
interface FileVersion {
  /** `ETag <value>`, or `Last-Modified <value>` where there is no ETag. */
  readonly validator: string;
  readonly sizeBytes: number;
}

/** Result of one request. */
type Outcome =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly version: FileVersion }
  | { readonly kind: "missing" }
  /** The file ends before the range; its size if the server sent it. */
  | { readonly kind: "beyond"; readonly sizeBytes: number | undefined }
  /** The response is unusable. `problem` completes the sentence "the server ...". */
  | { readonly kind: "unusable"; readonly problem: string; readonly status: number; readonly hint?: string }
  /** The request failed and may succeed when retried. */
  | { readonly kind: "failed"; readonly problem: string; readonly delayMs?: number; readonly cause?: unknown };

/**
 * Reads the files of an atlas from a web server by range requests. Works with any static file server that supports
 * ranges and sends an ETag or Last-Modified; in Node, worker threads and browsers.
 *
 * Accepts only status 206 with exactly the requested Content-Range, the complete body and no content coding. Every file
 * must keep the ETag of its first response, so that two releases are never mixed. Redirects are not followed. A failed
 * read is retried once.
 *
 * User name and password in the address are sent as basic authentication, a query string with every request; neither
 * appears in messages.
 *
 * @param address http or https address of the folder that contains `atlas.json`
 * @throws Fault `configuration_invalid` when the address is invalid or an option is out of range
 */
export function httpBlobs(address: string, options: HttpBlobsOptions = {}): Blobs {
  const { parallelReadsMax = 8, timeoutMs = 30_000, retryDelayMs = 200 } = options;
  for (const [name, value] of Object.entries({ parallelReadsMax, timeoutMs, retryDelayMs })) {
    if (!(Number.isInteger(value) && value >= 1 && value < 2 ** 31)) {
      throw new Fault("configuration_invalid", `${name} must be an integer of at least 1 (got ${value}).`, {
        details: { [name]: value },
      });
    }
  }
  const { folder, query, headers, description } = parseAddress(address);
  const versions = new Map<string, FileVersion>();
  const closing = new AbortController();
  const acquireSlot = semaphore(parallelReadsMax);

  const refusal = (name: string, problem: string, details: Record<string, unknown> = {}, cause?: unknown): Fault =>
    new Fault("atlas_unavailable", `${name}: ${problem}.`, {
      details: { file: name, address: description, ...details },
      cause,
    });

  const closed = (name: string): Fault => refusal(name, "the atlas is closed");

  /** Sends one request and reads the response. */
  const request = async (url: string, range: ByteRange): Promise<Outcome> => {
    // Not AbortSignal.any: on Node 20 the derived signal lives as long as the long-lived source signal.
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    const timer = setTimeout(abort, timeoutMs);
    closing.signal.addEventListener("abort", abort);
    try {
      const response = await fetch(url, {
        // With a range, `fetch` itself requests the identity coding.
        headers: { ...headers, range: `bytes=${range.offset}-${range.offset + range.sizeBytes - 1}` },
        redirect: "manual", // not "error", which looks like a network failure and would be retried
        cache: "no-store", // browsers serialize reads of one file through their cache, and tiles have a cache already
        signal: controller.signal,
      });
      const outcome = await readResponse(response, range);
      if (outcome.kind !== "bytes") {
        await response.body?.cancel().catch(() => undefined); // for example, a complete file instead of a range
      }
      return outcome;
    } catch (error) {
      const problem = controller.signal.aborted
        ? `did not respond within ${timeoutMs} ms`
        : "could not be reached or closed the connection";
      return { kind: "failed", problem, cause: error };
    } finally {
      clearTimeout(timer);
      closing.signal.removeEventListener("abort", abort);
    }
  };

  const requestInSlot = async (name: string, range: ByteRange): Promise<Outcome> => {
    const releaseSlot = await acquireSlot();
    try {
      if (closing.signal.aborted) throw closed(name);
      return await request(`${folder}${name}${query}`, range);
    } finally {
      releaseSlot();
    }
  };

  /** Sends a request, retries it once after a temporary failure, and checks that the version of the file is unchanged. */
  const requestWithRetry = async (
    name: string,
    range: ByteRange,
  ): Promise<Exclude<Outcome, { kind: "unusable" | "failed" }>> => {
    // ".." would leave the folder; the schema of the catalog permits both names.
    if (!/^[A-Za-z0-9_.-]+$/.test(name) || name === "." || name === "..") {
      throw refusal(
        name,
        "this is not a valid file name in an atlas (letters, digits, dots, dashes and underscores; not . or ..)",
      );
    }
    let outcome = await requestInSlot(name, range);
    if (outcome.kind === "failed" && !closing.signal.aborted) {
      await delay(outcome.delayMs ?? retryDelayMs * (1 + Math.random()), closing.signal);
      outcome = await requestInSlot(name, range);
    }
    if (closing.signal.aborted) throw closed(name);
    const prefix = `at offset ${range.offset} (${range.sizeBytes} bytes), the server`;
    const details = { offset: range.offset, sizeBytes: range.sizeBytes };
    if (outcome.kind === "failed") {
      throw refusal(name, `${prefix} ${outcome.problem}, twice`, details, outcome.cause);
    }
    if (outcome.kind === "unusable") {
      const { problem, status, hint } = outcome;
      throw refusal(name, `${prefix} ${problem}${hint === undefined ? "" : `; ${hint}`}`, { ...details, status });
    }
    const known = versions.get(name);
    if (outcome.kind === "bytes") {
      const { version } = outcome;
      if (known === undefined) versions.set(name, version);
      else if (known.validator !== version.validator || known.sizeBytes !== version.sizeBytes) {
        throw refusal(
          name,
          `${prefix} has another version of it (${describeVersion(version)}, not ${describeVersion(known)}); ${REPLACED}`,
          details,
        );
      }
    } else if (outcome.kind === "missing" && known !== undefined) {
      throw refusal(name, `it no longer exists on the server; ${REPLACED}`, details);
    } else if (
      outcome.kind === "beyond" &&
      known !== undefined &&
      (outcome.sizeBytes ?? known.sizeBytes) !== known.sizeBytes
    ) {
      throw refusal(
        name,
        `its size changed from ${known.sizeBytes} to ${outcome.sizeBytes} bytes; ${REPLACED}`,
        details,
      );
    }
    return outcome;
  };

  /** Requests one byte instead of HEAD, which also shows that the server supports ranges. */
  const sizeBytes = async (name: string): Promise<number | undefined> => {
    const known = versions.get(name);
    if (known !== undefined) return known.sizeBytes;
    const outcome = await requestWithRetry(name, { offset: 0, sizeBytes: 1 });
    if (outcome.kind === "missing") return undefined;
    return outcome.kind === "bytes" ? outcome.version.sizeBytes : (outcome.sizeBytes ?? 0);
  };

  return {
    description,
    sizeBytes,

    async read(name, range) {
      const { offset } = range;
      if (range.sizeBytes === 0) {
        // An empty range cannot be requested; only check that the file exists.
        if ((await sizeBytes(name)) === undefined) throw refusal(name, "there is no such file");
        return new Uint8Array(0);
      }
      const outcome = await requestWithRetry(name, range);
      if (outcome.kind === "missing") throw refusal(name, "there is no such file");
      const bytes = outcome.kind === "bytes" ? outcome.bytes : new Uint8Array(0);
      const shortBytes = range.sizeBytes - bytes.length;
      if (shortBytes === 0) return bytes;
      throw refusal(
        name,
        `it ends ${shortBytes} bytes before the end of the requested range (offset ${offset}, ${range.sizeBytes} bytes)`,
      );
    },

    async close() {
      closing.abort();
    },
  };
}

const REPLACED = "the atlas was replaced while open and must be reopened";

/** Splits an address into the parts that are requested, the credentials, and a description without secrets. */
function parseAddress(address: string): {
  readonly folder: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly description: string;
} {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new Fault("configuration_invalid", "The address of an atlas must start with http:// or https:// and a host.");
  }
  const folder = `${url.origin}${url.pathname.replace(/\/*$/, "/")}`;
  return {
    folder,
    query: url.search,
    headers: url.username === "" && url.password === "" ? {} : { authorization: basicAuthorization(url) },
    description: folder.slice(0, -1),
  };
}

/** RFC 7617, in UTF-8. */
function basicAuthorization({ username, password }: URL): string {
  let account: string;
  try {
    account = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  } catch {
    const message = "User name and password in the address of an atlas must be percent-encoded UTF-8.";
    throw new Fault("configuration_invalid", message);
  }
  const bytes = new TextEncoder().encode(account);
  return `Basic ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
}

/** Validates the response to a range request. Reads the body only if it is exactly the requested range. */
async function readResponse(response: Response, range: ByteRange): Promise<Outcome> {
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
    const problem = `responded with ${statusOf(response)}`;
    if (seconds === undefined) return { kind: "failed", problem };
    return { kind: "failed", problem, delayMs: Math.min(Number(seconds) * 1000, RETRY_DELAY_MS_MAX) };
  }
  const unusable = (problem: string, hint?: string): Outcome => ({
    kind: "unusable",
    problem,
    status,
    ...(hint === undefined ? {} : { hint }),
  });
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    return unusable("responded with a redirect", "redirects are not followed: use the final address of the atlas");
  }
  if (status !== 206) {
    const type = headers.get("content-type")?.split(";")[0];
    const hint = status === 200 ? "it does not support ranges, or serves a page instead of the file" : undefined;
    return unusable(
      `responded with ${statusOf(response)}${type === undefined ? "" : ` (${type})`} instead of 206`,
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
      "responded with 206 without a Content-Range",
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
      "sent neither an ETag nor a Last-Modified",
      "one of them is needed to detect that the atlas was replaced",
    );
  }
  // A weak ETag or a date can stay the same when bytes change; the checksums of the atlas and its content-based file
  // names then detect the change. If-Match and If-Range are not sent: comparing the ETag of each response is equivalent,
  // and in browsers those headers require a CORS preflight.
  const validator = etag === null ? `Last-Modified ${lastModified}` : `ETag ${etag}`;
  const bytes = await readBody(response, last - first + 1);
  if (typeof bytes === "string") return unusable(bytes);
  return { kind: "bytes", bytes, version: { validator, sizeBytes: total } };
}

/** Returns the body, or the problem if its size differs from Content-Range. Stops reading beyond that size. */
async function readBody(response: Response, sizeBytes: number): Promise<Uint8Array | string> {
  const bytes = new Uint8Array(sizeBytes);
  let filled = 0;
  const reader = response.body?.getReader();
  for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
    if (filled + piece.value.length > sizeBytes) {
      await reader?.cancel();
      return `sent more than the announced ${sizeBytes} bytes`;
    }
    bytes.set(piece.value, filled);
    filled += piece.value.length;
  }
  return filled === sizeBytes ? bytes : `sent ${filled} of the announced ${sizeBytes} bytes`;
}

function statusOf({ status, statusText }: Response): string {
  return statusText === "" ? String(status) : `${status} ${statusText}`;
}

function describeVersion({ validator, sizeBytes }: FileVersion): string {
  return `${validator}, ${sizeBytes} bytes`;
}

/** Waits for the delay or until the signal is aborted. */
function delay(delayMs: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, delayMs);
    signal.addEventListener("abort", done);
  });
}

/** Creates a first-in, first-out semaphore. Acquiring it resolves to the function that releases it. */
function semaphore(countMax: number): () => Promise<() => void> {
  const waiting: (() => void)[] = [];
  let usedCount = 0;
  const release = (): void => {
    const next = waiting.shift();
    if (next === undefined) usedCount -= 1;
    else next(); // takes over the slot
  };
  return async () => {
    if (usedCount < countMax) usedCount += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return release;
  };
}
