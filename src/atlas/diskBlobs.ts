import { constants } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { join } from "node:path";
import { Fault, isFault } from "../errors.ts";
import type { Blobs, ByteRange } from "./blobs.ts";
import { isNotFound } from "../files/files.ts";

/** Reads blobs from a folder. Each file is opened once and remains open, so that a reader always reads the same release. */
export function diskBlobs(folder: string): Blobs {
  const handles = new Map<string, Promise<FileHandle>>();
  let isClosed = false;

  const handleOf = (name: string): Promise<FileHandle> => {
    if (isClosed) throw unreadable(name, "the atlas is closed");
    let handle = handles.get(name);
    if (handle === undefined) {
      handle = openFile(join(folder, name));
      handles.set(name, handle);
      handle.catch(() => handles.delete(name)); // a later read opens the file again
    }
    return handle;
  };

  const openFile = async (path: string): Promise<FileHandle> => {
    const { O_RDONLY, O_NONBLOCK } = constants;
    // Check the type before opening, because opening a device can have effects and opening a FIFO waits for a writer.
    // O_NONBLOCK is for a FIFO that replaces the file after the check.
    if ((await stat(path)).isFile()) {
      const handle = await open(path, O_RDONLY | O_NONBLOCK);
      if ((await handle.stat()).isFile()) return handle;
      await handle.close();
    }
    throw new NotRegularFileError();
  };

  const unreadable = (name: string, problem: string, cause?: unknown): Fault => {
    const code = (cause as NodeJS.ErrnoException | undefined)?.code;
    const reason = cause instanceof NotRegularFileError ? "it is not a regular file" : problem;
    return new Fault(
      "atlas_unavailable",
      `${join(folder, name)}: ${reason}${code === undefined || isNotFound(cause) ? "" : ` (${code})`}.`,
      { details: { file: name, address: folder }, cause },
    );
  };

  return {
    description: folder,

    async sizeBytes(name) {
      // By handle, not by path: the path may already name a file of the next release.
      try {
        return (await (await handleOf(name)).stat()).size;
      } catch (error) {
        if (isFault(error)) throw error;
        if (isNotFound(error)) return undefined;
        throw unreadable(name, "it cannot be opened", error);
      }
    },

    async read(name, range) {
      const bytes = new Uint8Array(range.sizeBytes);
      let filled = 0;
      try {
        const handle = await handleOf(name);
        while (filled < bytes.length) {
          const { bytesRead } = await handle.read(bytes, filled, bytes.length - filled, range.offset + filled);
          if (bytesRead === 0) break;
          filled += bytesRead;
        }
      } catch (error) {
        if (isFault(error)) throw error;
        throw unreadable(
          name,
          isNotFound(error) ? "there is no such file" : `it cannot be read ${describeRange(range)}`,
          error,
        );
      }
      if (filled < bytes.length)
        throw unreadable(
          name,
          `it ends ${range.sizeBytes - filled} bytes before the end of the requested range ${describeRange(range)}`,
        );
      return bytes;
    },

    async close() {
      isClosed = true;
      const opened = [...handles.values()];
      handles.clear();
      await Promise.all(opened.map(async (handle) => (await handle.catch(() => undefined))?.close()));
    },
  };
}

/** A folder, FIFO, socket or device where a file is expected. */
class NotRegularFileError extends Error {}

function describeRange({ offset, sizeBytes }: ByteRange): string {
  return `(offset ${offset}, ${sizeBytes} bytes)`;
}
