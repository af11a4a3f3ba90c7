/** File operations with durable writes and errors that name the file. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, writeFile } from "node:fs/promises";

/** Writes a file and syncs it to storage. @param mode permissions of a new file; the system's default if absent */
export async function writeSynced(path: string, content: Uint8Array | string, mode?: number): Promise<void> {
  const handle = await open(path, "w", mode);
  try {
    await withPathInErrors(path, writeFile(handle, content));
    await withPathInErrors(path, handle.sync());
  } finally {
    await handle.close();
  }
}

/** Syncs a folder, so that renames in it are durable. */
export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot open folders.
  if (process.platform === "win32") return;
  const handle = await open(folder, "r");
  try {
    await withPathInErrors(folder, handle.sync());
  } finally {
    await handle.close();
  }
}

/** Adds the path to a system error that lacks one. */
export async function withPathInErrors<T>(path: string, operation: Promise<T>): Promise<T> {
  try {
    return await operation;
  } catch (error) {
    addPath(path, error);
    throw error;
  }
}

function addPath(path: string, error: unknown): void {
  const { syscall, path: errorPath } = error as NodeJS.ErrnoException;
  if (error instanceof Error && syscall !== undefined && errorPath === undefined) Object.assign(error, { path });
}

/** Reads a file in chunks. Errors name the file. */
export async function* readChunks(path: string, chunkSizeBytes?: number): AsyncGenerator<Buffer, void, undefined> {
  const stream = createReadStream(path, { highWaterMark: chunkSizeBytes });
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) yield chunk;
  } catch (error) {
    addPath(path, error);
    throw error;
  }
}

/** Returns whether a system error means that the file or folder does not exist. */
export function isNotFound(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}

/** Returns the SHA-256 of a file in hexadecimal. @param onRead called with the size of each part that has been read */
export async function hashFile(path: string, onRead?: (sizeBytes: number) => void): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of readChunks(path)) {
    hash.update(chunk);
    onRead?.(chunk.length);
  }
  return hash.digest("hex");
}

/** Fills a buffer with the bytes at a position of a file. @throws Error if the file ends before */
export async function readFully(file: FileHandle, target: Uint8Array, position: number): Promise<void> {
  for (let read = 0; read < target.length;) {
    const { bytesRead } = await file.read(target, read, target.length - read, position + read);
    if (bytesRead === 0) throw new Error("The file has become shorter while it was read.");
    read += bytesRead;
  }
}
