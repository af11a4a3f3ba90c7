import { Fault } from "../errors.ts";
import type { Blobs, ByteRange } from "./blobs.ts";

export interface HttpBlobsOptions {
  /** Requests under way at the same time; more wait in the order they came. Default 8. */
  readonly parallelReadsMax?: number;
  /** One request, from its start to the last byte of its answer. Default 30 s. */
  readonly timeoutMs?: number;
  /** Before the second try of a read that may well succeed then, and up to as much again by chance. Default 200 ms. */
  readonly retryDelayMs?: number;
}

/** What `Retry-After` may ask for at most: whoever waits for the answer has a limit of their own. */
const RETRY_DELAY_MS_MAX = 5000;
/** Overload and failures on the way, which pass; nothing else is worth a second try. */
const RETRIED_STATUSES: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** What tells one version of a file from the next. */
interface Version {
  /** The ETag, or Last-Modified where there is none, with the header's name before it. */
  readonly validator: string;
  readonly sizeBytes: number;
}

/** What became of one request. */
type Outcome =
  | { readonly kind: "bytes"; readonly bytes: Uint8Array; readonly version: Version }
  | { readonly kind: "missing" }
  /** The file has no byte in the range; its size where the server says it. */
  | { readonly kind: "beyond"; readonly sizeBytes: number | undefined }
  /** Not an answer to build on, in the words that follow "the server ...". */
  | { readonly kind: "refused"; readonly why: string; readonly status: number; readonly hint?: string }
  /** May go well when tried again. */
  | { readonly kind: "failed"; readonly why: string; readonly delayMs?: number; readonly cause?: unknown };

/**
 * The files of an atlas behind a web server, each read by range requests: any server of static files will do that
 * answers ranges and sends an ETag or a Last-Modified. Node, workers and browsers alike.
 *
 * Nothing but the very range that was asked for is taken: 206 with that Content-Range, that many bytes and no content
 * coding. Each file is held to the ETag it had when it was first met, so that two releases are never mixed; redirects
 * are not followed. A read that failed on the way is tried once more.
 *
 * A user name and password in the address are sent as basic authentication, a query is sent with every file;
 * neither appears in a message.
 *
 * @param address http or https, of the folder that holds `atlas.json`
 * @throws Fault `configuration_invalid` when the address is none, or an option is out of range
 */
export function httpBlobs(address: string, options: HttpBlobsOptions = {}): Blobs {
  const { parallelReadsMax = 8, timeoutMs = 30_000, retryDelayMs = 200 } = options;
  for (const [name, value] of Object.entries({ parallelReadsMax, timeoutMs, retryDelayMs })) {
    if (!(Number.isInteger(value) && value >= 1 && value < 2 ** 31)) {
      throw new Fault("configuration_invalid", `${name} must be a whole number of at least 1, not ${value}.`, {
        details: { [name]: value },
      });
    }
  }
  const { folder, query, headers, description } = placeOf(address);
  const versions = new Map<string, Version>();
  const closing = new AbortController();
  const enter = turnstile(parallelReadsMax);

  const refusal = (name: string, why: string, details: Record<string, unknown> = {}, cause?: unknown): Fault =>
    new Fault("atlas_unavailable", `${name}: ${why}.`, {
      details: { file: name, address: description, ...details },
      cause,
    });

  const closed = (name: string): Fault => refusal(name, "the atlas was closed before this was read");

  /** One request and all of its answer. */
  const request = async (url: string, range: ByteRange): Promise<Outcome> => {
    // Not AbortSignal.any: on Node 20 what it makes of a long-lived signal stays as long as that signal.
    const controller = new AbortController();
    const abort = (): void => controller.abort();
    const timer = setTimeout(abort, timeoutMs);
    closing.signal.addEventListener("abort", abort);
    try {
      const response = await fetch(url, {
        // With a range, `fetch` itself asks for the bytes as they are, without a content coding.
        headers: { ...headers, range: `bytes=${range.offset}-${range.offset + range.sizeBytes - 1}` },
        redirect: "manual", // not "error": that looks like a broken line, and would be tried again
        cache: "no-store", // the tile cache is ours; browsers let reads of one file wait for each other in theirs
        signal: controller.signal,
      });
      const outcome = await readAnswer(response, range);
      if (outcome.kind !== "bytes") {
        await response.body?.cancel().catch(() => undefined); // of a whole file, say, which nobody wants
      }
      return outcome;
    } catch (error) {
      const why = controller.signal.aborted
        ? `did not answer within ${timeoutMs} ms`
        : "could not be reached, or broke off";
      return { kind: "failed", why, cause: error };
    } finally {
      clearTimeout(timer);
      closing.signal.removeEventListener("abort", abort);
    }
  };

  const requestInTurn = async (name: string, range: ByteRange): Promise<Outcome> => {
    const leave = await enter();
    try {
      if (closing.signal.aborted) throw closed(name);
      return await request(`${folder}${name}${query}`, range);
    } finally {
      leave();
    }
  };

  /** A request, and another where that may help. Compares the file's version with the one that is known. */
  const ask = async (name: string, range: ByteRange): Promise<Exclude<Outcome, { kind: "refused" | "failed" }>> => {
    // A relative step would lead out of the folder. The catalog's own check lets these two through.
    if (!/^[A-Za-z0-9_.-]+$/.test(name) || name === "." || name === "..") {
      throw refusal(name, "this cannot be the name of a file of an atlas");
    }
    let outcome = await requestInTurn(name, range);
    if (outcome.kind === "failed" && !closing.signal.aborted) {
      await delay(outcome.delayMs ?? retryDelayMs * (1 + Math.random()), closing.signal);
      outcome = await requestInTurn(name, range);
    }
    if (closing.signal.aborted) throw closed(name);
    const place = `at byte ${range.offset} (${range.sizeBytes} bytes wanted)`;
    const details = { offset: range.offset, sizeBytes: range.sizeBytes };
    if (outcome.kind === "failed") {
      throw refusal(name, `${place} the server ${outcome.why}, twice`, details, outcome.cause);
    }
    if (outcome.kind === "refused") {
      const { why, status, hint } = outcome;
      throw refusal(name, `${place} the server ${why}${hint === undefined ? "" : `; ${hint}`}`, { ...details, status });
    }
    const known = versions.get(name);
    if (outcome.kind === "bytes") {
      const { version } = outcome;
      if (known === undefined) versions.set(name, version);
      else if (known.validator !== version.validator || known.sizeBytes !== version.sizeBytes) {
        throw refusal(
          name,
          `${place} the server has another version of it (${said(version)}, not ${said(known)}); ${REPLACED}`,
          details,
        );
      }
    } else if (outcome.kind === "missing" && known !== undefined) {
      throw refusal(name, `it is gone from the server; ${REPLACED}`, details);
    } else if (
      outcome.kind === "beyond" &&
      known !== undefined &&
      (outcome.sizeBytes ?? known.sizeBytes) !== known.sizeBytes
    ) {
      throw refusal(
        name,
        `${place} it has ${outcome.sizeBytes} bytes, no longer ${known.sizeBytes}; ${REPLACED}`,
        details,
      );
    }
    return outcome;
  };

  /** By a range of one byte, not by HEAD: only so is it known that the server answers ranges, and of what size. */
  const sizeBytes = async (name: string): Promise<number | undefined> => {
    const known = versions.get(name);
    if (known !== undefined) return known.sizeBytes;
    const outcome = await ask(name, { offset: 0, sizeBytes: 1 });
    if (outcome.kind === "missing") return undefined;
    return outcome.kind === "bytes" ? outcome.version.sizeBytes : (outcome.sizeBytes ?? 0);
  };

  return {
    description,
    sizeBytes,

    async read(name, range) {
      const { offset } = range;
      if (range.sizeBytes === 0) {
        // No range can ask for nothing; what is left to find out is whether there is such a file.
        if ((await sizeBytes(name)) === undefined) throw refusal(name, "there is no such file");
        return new Uint8Array(0);
      }
      const outcome = await ask(name, range);
      if (outcome.kind === "missing") throw refusal(name, "there is no such file");
      const bytes = outcome.kind === "bytes" ? outcome.bytes : new Uint8Array(0);
      const shortBytes = range.sizeBytes - bytes.length;
      if (shortBytes === 0) return bytes;
      throw refusal(name, `it ends ${shortBytes} bytes short at byte ${offset} (${range.sizeBytes} bytes wanted)`);
    },

    async close() {
      closing.abort();
    },
  };
}

const REPLACED = "the atlas was replaced while it was open and must be opened again";

/** Tells an address apart into what may be said and what is only sent. */
function placeOf(address: string): {
  readonly folder: string;
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly description: string;
} {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw new Fault("configuration_invalid", "The address of an atlas begins with http:// or https:// and a host.");
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
    const message = "User name and password in an atlas's address are percent-encoded UTF-8; this address has others.";
    throw new Fault("configuration_invalid", message);
  }
  const bytes = new TextEncoder().encode(account);
  return `Basic ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))}`;
}

/** Reads an answer to a range request as far as it is of use: no body but that of the range itself. */
async function readAnswer(response: Response, range: ByteRange): Promise<Outcome> {
  const { status, headers } = response;
  if (status === 404 || status === 410) return { kind: "missing" };
  if (status === 416) {
    const total = /^bytes \*\/(\d+)$/i.exec(headers.get("content-range") ?? "")?.[1];
    return { kind: "beyond", sizeBytes: total === undefined ? undefined : Number(total) };
  }
  // An empty file has no range to answer with, and some servers then send all of it.
  if (status === 200 && headers.get("content-length") === "0") return { kind: "beyond", sizeBytes: 0 };
  if (RETRIED_STATUSES.has(status)) {
    const seconds = /^\d+$/.exec(headers.get("retry-after") ?? "")?.[0];
    const why = `answered ${statusOf(response)}`;
    if (seconds === undefined) return { kind: "failed", why };
    return { kind: "failed", why, delayMs: Math.min(Number(seconds) * 1000, RETRY_DELAY_MS_MAX) };
  }
  const refused = (why: string, hint?: string): Outcome => ({
    kind: "refused",
    why,
    status,
    ...(hint === undefined ? {} : { hint }),
  });
  if (response.type === "opaqueredirect" || (status >= 300 && status < 400)) {
    return refused(
      "answered with a redirect",
      "redirects are not followed: give the address that the atlas is really at",
    );
  }
  if (status !== 206) {
    const type = headers.get("content-type")?.split(";")[0];
    const hint = status === 200 ? "it does not serve ranges, or serves a page in the file's place" : undefined;
    return refused(`answered ${statusOf(response)}${type === undefined ? "" : ` (${type})`} instead of 206`, hint);
  }
  const coding = headers.get("content-encoding") ?? "identity";
  if (coding.toLowerCase() !== "identity") {
    return refused(`answered in content coding ${coding}`, "the files of an atlas are served as they are");
  }
  const contentRange = headers.get("content-range");
  if (contentRange === null) {
    return refused(
      "answered 206 without a Content-Range",
      "to a browser on another origin it must be exposed (Access-Control-Expose-Headers: Content-Range, ETag)",
    );
  }
  const [first, last, total] = (/^bytes (\d+)-(\d+)\/(\d+)$/i.exec(contentRange) ?? []).slice(1).map(Number);
  const end = range.offset + range.sizeBytes;
  if (total === undefined || first !== range.offset || last !== Math.min(end, total) - 1) {
    return refused(`answered with another range (Content-Range: ${contentRange})`);
  }
  const etag = headers.get("etag");
  const lastModified = headers.get("last-modified");
  if (etag === null && lastModified === null) {
    return refused(
      "sends neither an ETag nor a Last-Modified",
      "without one nobody could tell when the atlas is replaced",
    );
  }
  // A weak ETag, or a date, may stay when bytes change: it is then the checksums of the atlas that find out, and a
  // release has file names of its own. No If-Match and no If-Range, then: the ETag on each answer says as much, and
  // a browser would have to ask every file's permission first.
  const validator = etag === null ? `Last-Modified ${lastModified}` : `ETag ${etag}`;
  const bytes = await readBody(response, last - first + 1);
  if (typeof bytes === "string") return refused(bytes);
  return { kind: "bytes", bytes, version: { validator, sizeBytes: total } };
}

/** @returns what is wrong where the body is not of the size announced; more than that is not read */
async function readBody(response: Response, sizeBytes: number): Promise<Uint8Array | string> {
  const bytes = new Uint8Array(sizeBytes);
  let filled = 0;
  const reader = response.body?.getReader();
  for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
    if (filled + piece.value.length > sizeBytes) {
      await reader?.cancel();
      return `sent more than the ${sizeBytes} bytes that it announced`;
    }
    bytes.set(piece.value, filled);
    filled += piece.value.length;
  }
  return filled === sizeBytes ? bytes : `sent ${filled} of the ${sizeBytes} bytes that it announced`;
}

function statusOf({ status, statusText }: Response): string {
  return statusText === "" ? String(status) : `${status} ${statusText}`;
}

function said({ validator, sizeBytes }: Version): string {
  return `${validator}, ${sizeBytes} bytes`;
}

/** Waits, but not on after the signal. */
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

/** Lets so many in at a time, the others in the order they came. What it resolves to is called on leaving. */
function turnstile(countMax: number): () => Promise<() => void> {
  const waiting: (() => void)[] = [];
  let insideCount = 0;
  const leave = (): void => {
    const next = waiting.shift();
    if (next === undefined) insideCount -= 1;
    else next(); // takes over the place
  };
  return async () => {
    if (insideCount < countMax) insideCount += 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    return leave;
  };
}
