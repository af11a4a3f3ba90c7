/**
 * Reads byte ranges of local and remote files, and sidecar files by HTTP. Reads can be aborted; a read past the end returns
 * fewer bytes, not zeros.
 */
import { type FileHandle, open } from "node:fs/promises";
import { Fault } from "../../errors.ts";
import { messageOf, sourceFault } from "../raster.ts";

export interface ByteSource {
  readonly sizeBytes: number;
  /** Returns the bytes of a range, fewer at the end of the source. Throws the abort reason of the signal. */
  read(offset: number, sizeBytes: number): Promise<Uint8Array<ArrayBuffer>>;
  close(): Promise<void>;
}

/** Largest single read; more than the largest encoded block. */
const READ_BYTES_MAX = 256 << 20;

/**
 * Opens a file on disk, or at an http(s) address.
 * @throws Fault `source_invalid` naming the file; the abort reason of the signal
 */
export async function openBytes(file: string, signal?: AbortSignal): Promise<ByteSource> {
  signal?.throwIfAborted();
  return withPageCache(isHttpAddress(file) ? await openAddress(file, signal) : await openFile(file, signal));
}

async function openAddress(address: string, signal: AbortSignal | undefined): Promise<ByteSource> {
  const version: { etag?: string } = {};
  const request = async (offset: number, sizeBytes: number) => {
    const response = await httpRange(address, { offset, sizeBytes }, signal);
    // All ranges must be of the same version of the file.
    if (version.etag !== undefined && response.etag !== version.etag) {
      throw sourceFault(address, "changed while it was being read. Run the ingest again.");
    }
    if (response.etag !== undefined) version.etag = response.etag;
    return response;
  };
  const { totalBytes } = await request(0, 1);
  return {
    sizeBytes: totalBytes,
    async read(offset, sizeBytes) {
      const size = Math.min(sizeBytes, totalBytes - offset);
      return size <= 0 ? new Uint8Array(0) : (await request(offset, size)).bytes;
    },
    close: () => Promise.resolve(),
  };
}

async function openFile(file: string, signal: AbortSignal | undefined): Promise<ByteSource> {
  let handle: FileHandle;
  try {
    handle = await open(file, "r");
  } catch (error) {
    throw sourceFault(file, `cannot be opened (${messageOf(error)}).`, { cause: error });
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw sourceFault(file, "is not a regular file.");
    return {
      sizeBytes: stat.size,
      read: (offset, sizeBytes) =>
        readFrom(handle, { offset, sizeBytes: Math.min(sizeBytes, stat.size - offset) }, signal),
      close: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error instanceof Fault
      ? error
      : sourceFault(file, `cannot be opened (${messageOf(error)}).`, { cause: error });
  }
}

async function readFrom(
  handle: FileHandle,
  { offset, sizeBytes }: { readonly offset: number; readonly sizeBytes: number },
  signal: AbortSignal | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = new Uint8Array(Math.max(0, sizeBytes));
  let filled = 0;
  while (filled < bytes.length) {
    signal?.throwIfAborted();
    const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, offset + filled);
    if (bytesRead === 0) break; // the file was truncated after it was opened
    filled += bytesRead;
  }
  signal?.throwIfAborted();
  return filled === bytes.length ? bytes : bytes.slice(0, filled);
}

const READ_PAGE_BYTES = 65_536;
const READ_PAGE_COUNT_MAX = 32;

/** Wraps a source with a page cache for small reads: directories and block indexes are read a few bytes at a time. */
function withPageCache(source: ByteSource): ByteSource {
  const pages = new Map<number, Promise<Uint8Array<ArrayBuffer>>>();
  const readPage = (index: number): Promise<Uint8Array<ArrayBuffer>> => {
    let page = pages.get(index);
    if (page === undefined) {
      page = source.read(index * READ_PAGE_BYTES, READ_PAGE_BYTES);
      page.catch(() => pages.delete(index)); // a failed read is not cached
    }
    pages.delete(index);
    pages.set(index, page); // most recently used last
    for (const oldest of pages.keys()) {
      if (pages.size <= READ_PAGE_COUNT_MAX) break;
      pages.delete(oldest);
    }
    return page;
  };
  return {
    sizeBytes: source.sizeBytes,
    close: () => source.close(),
    async read(offset, sizeBytes) {
      if (!(Number.isSafeInteger(offset) && offset >= 0 && sizeBytes >= 0 && sizeBytes <= READ_BYTES_MAX)) {
        throw new RangeError(`a read of ${sizeBytes} bytes at ${offset} is out of range`);
      }
      const index = Math.floor(offset / READ_PAGE_BYTES);
      const isSmall = sizeBytes <= 4096 && Math.floor((offset + sizeBytes - 1) / READ_PAGE_BYTES) === index;
      if (!isSmall) return source.read(offset, sizeBytes);
      const page = await readPage(index);
      return page.slice(offset - index * READ_PAGE_BYTES, offset - index * READ_PAGE_BYTES + sizeBytes);
    },
  };
}

/** Timeout of one request including its response body. */
const REQUEST_TIMEOUT_MS = 60_000;

export function isHttpAddress(file: string): boolean {
  return /^https?:\/\//i.test(file);
}

/**
 * Requests a range of a file.
 * @throws Fault `source_invalid` unless the response is exactly that range; the abort reason of the signal
 */
async function httpRange(
  address: string,
  range: { readonly offset: number; readonly sizeBytes: number },
  signal: AbortSignal | undefined,
): Promise<{
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly totalBytes: number;
  readonly etag: string | undefined;
}> {
  const last = range.offset + range.sizeBytes - 1;
  return request(address, { headers: { range: `bytes=${range.offset}-${last}` }, signal }, async (response) => {
    if (response.status !== 206) {
      const why = response.status === 200 ? "the server does not support range requests" : `status ${response.status}`;
      throw sourceFault(address, `cannot be read as a GeoTIFF (${why}). Download it and give the local file.`, {
        details: { status: response.status },
      });
    }
    const contentRange = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(response.headers.get("content-range") ?? "");
    const [, first = NaN, end = NaN, totalBytes = NaN] = (contentRange ?? []).map(Number);
    // A range past the end of the file is truncated by the server.
    if (first !== range.offset || end !== Math.min(last, totalBytes - 1)) {
      throw sourceFault(
        address,
        `cannot be read as a GeoTIFF: bytes ${range.offset} to ${last} were requested, but the server sent ` +
          `${JSON.stringify(response.headers.get("content-range"))}. Download it and give the local file.`,
      );
    }
    const bytes = await readBody(address, response, end - first + 1);
    if (bytes.length !== end - first + 1) {
      throw sourceFault(
        address,
        `the server closed the connection after ${bytes.length} of ${end - first + 1} bytes. Run the ingest again.`,
      );
    }
    return { bytes, totalBytes, etag: response.headers.get("etag") ?? undefined };
  });
}

/**
 * Downloads a small file.
 * @returns undefined if the file does not exist (404 or 410)
 * @throws Fault `source_invalid` for any other failure
 */
export async function httpFile(
  address: string,
  {
    file,
    sizeBytesMax,
    signal,
  }: { readonly file: string; readonly sizeBytesMax: number; readonly signal?: AbortSignal },
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  return request(address, { headers: {}, signal, file }, async (response) => {
    if (response.status === 404 || response.status === 410) return undefined;
    if (response.status !== 200) {
      throw sourceFault(
        file,
        `the server returned status ${response.status} for the sidecar ${address}; only 404 or 410 would mean that there is ` +
          "none. Download the map with its sidecar files and give the local file.",
        { details: { sidecar: address, status: response.status } },
      );
    }
    const bytes = await readBody(file, response, sizeBytesMax + 1);
    if (bytes.length > sizeBytesMax) {
      throw sourceFault(file, `its sidecar ${address} is larger than the limit of ${sizeBytesMax} bytes.`);
    }
    return bytes;
  });
}

/** Returns whether a file exists, without downloading it. */
export async function httpExists(
  address: string,
  options: { readonly file: string; readonly signal?: AbortSignal },
): Promise<boolean> {
  // Not HEAD, because some servers respond to HEAD and GET differently. The body is not read.
  return request(address, { headers: { range: "bytes=0-0" }, ...options }, (response) => {
    if (response.status === 404 || response.status === 410) return Promise.resolve(false);
    if ([200, 206, 416].includes(response.status)) return Promise.resolve(true);
    throw sourceFault(
      options.file,
      `the server returned status ${response.status} for the sidecar ${address}; only 404 or 410 would mean that there is ` +
        "none. Download the map with its sidecar files and give the local file.",
      { details: { sidecar: address, status: response.status } },
    );
  });
}

async function request<T>(
  address: string,
  options: {
    readonly headers: Record<string, string>;
    readonly signal?: AbortSignal | undefined;
    readonly file?: string;
  },
  handle: (response: Response) => Promise<T>,
): Promise<T> {
  const { headers, signal, file = address } = options;
  signal?.throwIfAborted();
  // Not AbortSignal.timeout: Node 22.12 collects its signal, with the timer, while only AbortSignal.any refers to it.
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), REQUEST_TIMEOUT_MS);
  let response: Response | undefined;
  try {
    response = await fetch(address, {
      headers,
      signal: AbortSignal.any([timeout.signal, ...(signal === undefined ? [] : [signal])]),
    });
    return await handle(response);
  } catch (error) {
    if (signal?.aborted === true) throw signal.reason;
    if (error instanceof TypeError || timeout.signal.aborted) {
      const why = timeout.signal.aborted ? `no response within ${REQUEST_TIMEOUT_MS} ms` : reasonOf(error);
      throw sourceFault(file, `${file === address ? "it" : address} cannot be reached (${why}).`, { cause: error });
    }
    throw error;
  } finally {
    clearTimeout(timer);
    // Cancels a body that was not read, such as a whole file.
    if (response?.bodyUsed === false) await response.body?.cancel().catch(() => undefined);
  }
}

/** Reads a body until at least `sizeBytesMax` bytes have arrived, even if the server sends more. */
async function readBody(file: string, response: Response, sizeBytesMax: number): Promise<Uint8Array<ArrayBuffer>> {
  if (response.body === null) return new Uint8Array(0);
  const parts: Uint8Array[] = [];
  let size = 0;
  const reader = response.body.getReader();
  try {
    while (size < sizeBytesMax) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value);
      size += value.length;
    }
    if (size > sizeBytesMax && response.status === 206) {
      throw sourceFault(
        file,
        `the server sends more than the ${sizeBytesMax} bytes requested. Download it and give the local file.`,
      );
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
