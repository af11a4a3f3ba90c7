import { Fault } from "../errors.ts";
import type { Blobs, ByteRange } from "./blobs.ts";
import { type FileVersion, type RangeOutcome, readResponse } from "./rangeResponse.ts";

const SCHEME = /^([a-z][a-z0-9+.-]+):\/\//i;

/** Returns the scheme of the address of an atlas in lower case, or undefined if it is a folder or "demo". */
export function schemeOf(address: string): string | undefined {
  return SCHEME.exec(address)?.[1]?.toLowerCase();
}

/** Returns the address without user name, password, query and fragment, for logs and messages. Folders are unchanged. */
export function withoutSecrets(address: string): string {
  const scheme = SCHEME.exec(address)?.[0];
  if (scheme === undefined) return address;
  const [authority = "", ...path] = (address.slice(scheme.length).split(/[?#]/, 1)[0] ?? "").split("/");
  return [scheme + authority.slice(authority.lastIndexOf("@") + 1), ...path].join("/");
}

export interface HttpBlobsOptions {
  /** Maximum number of concurrent requests; further requests wait in order of arrival. Default 8. */
  readonly parallelReadsMax?: number;
  /** Timeout of one request, from its start to the last byte of the response. Default 10 s. */
  readonly timeoutMs?: number;
  /** Timeout of a read with its retry and the wait for earlier reads. Default 25 s. */
  readonly readTimeoutMs?: number;
  /** Minimum delay before the retry of a failed read; random jitter adds up to the same delay. Default 200 ms. */
  readonly retryDelayMs?: number;
}

/**
 * Reads the files of an atlas from a web server by range requests. Works in Node, worker threads and browsers, with any
 * static file server that supports ranges and sends an ETag or Last-Modified.
 *
 * Accepts only status 206 with exactly the requested Content-Range, the complete body and no content coding. Every file
 * must keep the ETag of its first response, so that two releases are never mixed. Redirects are not followed. A failed
 * read is retried once.
 *
 * A user name and password in the address are sent as basic authentication, and a query string is sent with every request.
 * Messages contain neither.
 *
 * @param address http or https address of the folder that contains `atlas.json`
 * @throws Fault `configuration_invalid` if the address is invalid or an option is out of range
 */
export function httpBlobs(address: string, options: HttpBlobsOptions = {}): Blobs {
  const { parallelReadsMax = 8, timeoutMs = 10_000, readTimeoutMs = 25_000, retryDelayMs = 200 } = options;
  for (const [name, value] of Object.entries({ parallelReadsMax, timeoutMs, readTimeoutMs, retryDelayMs })) {
    if (!(Number.isInteger(value) && value >= 1 && value < 2 ** 31)) {
      throw new Fault(
        "configuration_invalid",
        `${name} must be an integer between 1 and ${2 ** 31 - 1} (got ${value}).`,
        {
          details: { [name]: value },
        },
      );
    }
  }
  const { folder, query, headers, description } = parseAddress(address);
  const versions = new Map<string, FileVersion>();
  const closing = new AbortController();
  const acquireSlot = semaphore(parallelReadsMax);

  const unavailable = (name: string, problem: string, details: Record<string, unknown> = {}, cause?: unknown): Fault =>
    new Fault("atlas_unavailable", `${name}: ${problem}.`, {
      details: { file: name, address: description, ...details },
      cause,
    });

  const closedFault = (name: string): Fault => unavailable(name, "the atlas is closed");

  /** Sends one request and reads the response. */
  const request = async (url: string, range: ByteRange, limitMs: number): Promise<RangeOutcome> => {
    // Not AbortSignal.timeout: Node 22.12 collects its signal, with the timer, while only AbortSignal.any refers to it.
    const timeout = new AbortController();
    const timer = setTimeout(() => timeout.abort(), limitMs);
    try {
      const response = await fetch(url, {
        // With a range, `fetch` itself requests the identity coding.
        headers: { ...headers, range: `bytes=${range.offset}-${range.offset + range.sizeBytes - 1}` },
        redirect: "manual", // not "error", which looks like a network failure and would be retried
        cache: "no-store", // browsers serialize reads of one file through their cache, and tiles have a cache already
        signal: AbortSignal.any([timeout.signal, closing.signal]),
      });
      const outcome = await readResponse(response, range);
      if (outcome.kind !== "bytes") {
        await response.body?.cancel().catch(() => undefined); // for example, a complete file instead of a range
      }
      return outcome;
    } catch (error) {
      const problem = timeout.signal.aborted
        ? `did not respond within ${Math.round(limitMs)} ms`
        : "could not be reached or closed the connection";
      return { kind: "failed", problem, cause: error };
    } finally {
      clearTimeout(timer);
    }
  };

  const requestInSlot = async (name: string, range: ByteRange, deadlineAtMs: number): Promise<RangeOutcome> => {
    const releaseSlot = await acquireSlot();
    try {
      if (closing.signal.aborted) throw closedFault(name);
      const leftMs = deadlineAtMs - performance.now();
      if (leftMs < 1) return { kind: "failed", problem: `did not respond to earlier reads within ${readTimeoutMs} ms` };
      return await request(`${folder}${name}${query}`, range, Math.min(timeoutMs, leftMs));
    } finally {
      releaseSlot();
    }
  };

  /**
   * Sends a request, retries it once after a temporary failure, and checks that the version of the file is unchanged.
   */
  const requestWithRetry = async (
    name: string,
    range: ByteRange,
  ): Promise<Exclude<RangeOutcome, { kind: "unusable" | "failed" }>> => {
    // The schema of the catalog permits "." and "..", which are folders.
    if (!/^[A-Za-z0-9_.-]+$/.test(name) || name === "." || name === "..") {
      throw unavailable(
        name,
        "this is not a valid file name in an atlas (letters, digits, dots, dashes and underscores; not . or ..)",
      );
    }
    const deadlineAtMs = performance.now() + readTimeoutMs;
    let outcome = await requestInSlot(name, range, deadlineAtMs);
    if (outcome.kind === "failed" && !closing.signal.aborted) {
      await delay(outcome.delayMs ?? retryDelayMs * (1 + Math.random()), closing.signal);
      outcome = await requestInSlot(name, range, deadlineAtMs);
    }
    if (closing.signal.aborted) throw closedFault(name);
    const prefix = `at offset ${range.offset} (${range.sizeBytes} bytes), the server`;
    const details = { offset: range.offset, sizeBytes: range.sizeBytes };
    if (outcome.kind === "failed") {
      throw unavailable(name, `${prefix} ${outcome.problem}, twice`, details, outcome.cause);
    }
    if (outcome.kind === "unusable") {
      const { problem, status, hint } = outcome;
      throw unavailable(name, `${prefix} ${problem}${hint === undefined ? "" : `; ${hint}`}`, { ...details, status });
    }
    const known = versions.get(name);
    if (outcome.kind === "bytes") {
      const { version } = outcome;
      if (known === undefined) versions.set(name, version);
      else if (known.validator !== version.validator || known.sizeBytes !== version.sizeBytes) {
        throw unavailable(
          name,
          `${prefix} has another version of it (${describeVersion(version)}, not ${describeVersion(known)}); ${REPLACED}`,
          details,
        );
      }
    } else if (outcome.kind === "missing" && known !== undefined) {
      throw unavailable(name, `it no longer exists on the server; ${REPLACED}`, details);
    } else if (
      outcome.kind === "beyond" &&
      known !== undefined &&
      (outcome.sizeBytes ?? known.sizeBytes) !== known.sizeBytes
    ) {
      throw unavailable(
        name,
        `its size changed from ${known.sizeBytes} to ${outcome.sizeBytes} bytes; ${REPLACED}`,
        details,
      );
    }
    return outcome;
  };

  /**
   * Returns the size of a file. Requests one byte instead of sending a HEAD request, which also checks that the server
   * supports ranges.
   */
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
        if ((await sizeBytes(name)) === undefined) throw unavailable(name, "there is no such file");
        return new Uint8Array(0);
      }
      const outcome = await requestWithRetry(name, range);
      if (outcome.kind === "missing") throw unavailable(name, "there is no such file");
      const bytes = outcome.kind === "bytes" ? outcome.bytes : new Uint8Array(0);
      const shortBytes = range.sizeBytes - bytes.length;
      if (shortBytes === 0) return bytes;
      throw unavailable(
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

/** Returns the basic authorization header (RFC 7617), with UTF-8 encoding. */
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
    else next(); // passes the slot to the next waiting call
  };
  return async () => {
    if (usedCount < countMax) usedCount += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return release;
  };
}
