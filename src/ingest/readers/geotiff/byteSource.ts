/**
 * Reads byte ranges of local and remote files. Reads can be aborted; a read past the end returns fewer bytes, not zeros.
 */
import { type FileHandle, open } from "node:fs/promises";
import { Fault } from "../../../errors.ts";
import { messageOf, sourceFault } from "../../raster.ts";
import { httpRange, isHttpAddress } from "./http.ts";

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
