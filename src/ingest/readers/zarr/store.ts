/** Reads the keys of a Zarr store from a folder. */
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";

/** The files of a Zarr store. Keys have no leading slash. */
export interface ZarrFiles {
  /**
   * Returns the content of a key, or a part of it; undefined only if the key does not exist.
   * @throws Error if the file cannot be read or is larger than the limit
   */
  read(key: string, range?: ByteRange): Promise<Uint8Array | undefined>;
  /** Returns the names of the folders directly in a folder; "" is the store itself. */
  foldersIn(folder: string): Promise<readonly string[]>;
}

/** Bytes from an offset, or the last bytes. */
export type ByteRange = { readonly offset: number; readonly length: number } | { readonly suffixLength: number };

/** Largest encoded size of a chunk, of a metadata file, or of a part of a shard. */
export const STORED_BYTES_MAX = 300 << 20;

/** Returns offset and length of a range within a file. */
export function rangeWithin(
  range: ByteRange | undefined,
  sizeBytes: number,
): { readonly offset: number; readonly length: number } {
  const { offset, length } =
    range === undefined
      ? { offset: 0, length: sizeBytes }
      : "suffixLength" in range
        ? { offset: sizeBytes - range.suffixLength, length: range.suffixLength }
        : range;
  if (!(Number.isSafeInteger(offset) && offset >= 0 && length >= 0 && offset + length <= sizeBytes))
    throw new Error(`${length} bytes at ${offset} are outside a file of ${sizeBytes} bytes`);
  if (!(length <= STORED_BYTES_MAX)) throw new Error(`${length} bytes are more than the limit of ${STORED_BYTES_MAX}`);
  return { offset, length };
}

/** Returns the files of a store on disk. */
export function zarrFolder(folder: string): ZarrFiles {
  return {
    async read(key, range) {
      const handle = await open(join(folder, key), "r").catch((error: unknown) => {
        // Only these mean that the key does not exist; a chunk that cannot be read must not become missing cells.
        const { code } = error as NodeJS.ErrnoException;
        if (code === "ENOENT" || code === "ENOTDIR") return undefined;
        throw error;
      });
      if (handle === undefined) return undefined;
      try {
        const stat = await handle.stat();
        if (!stat.isFile()) return undefined;
        const { offset, length } = rangeWithin(range, stat.size);
        const bytes = new Uint8Array(length);
        let filled = 0;
        while (filled < length) {
          const { bytesRead } = await handle.read(bytes, filled, length - filled, offset + filled);
          if (bytesRead === 0) throw new Error(`${key} was truncated while it was being read`);
          filled += bytesRead;
        }
        return bytes;
      } finally {
        await handle.close();
      }
    },
    async foldersIn(path) {
      const entries = await readdir(join(folder, path), { withFileTypes: true });
      return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
    },
  };
}
