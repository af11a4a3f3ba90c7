/** Writing files so that they last: synced, renamed into place, with errors that name them. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, writeFile } from "node:fs/promises";

export async function writeSynced(path: string, bytes: Uint8Array): Promise<void> {
  const handle = await open(path, "w");
  try {
    await withPathInErrors(path, writeFile(handle, bytes));
    await withPathInErrors(path, handle.sync());
  } finally {
    await handle.close();
  }
}

/** Makes renames in the folder durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Adds the path to an error of the system that came without one. */
export async function withPathInErrors<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { syscall, path: known } = error as NodeJS.ErrnoException;
    if (error instanceof Error && syscall !== undefined && known === undefined) Object.assign(error, { path });
    throw error;
  }
}

export function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT" || code === "ENOTDIR";
}

export async function hashOfFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const piece of createReadStream(path)) hash.update(piece as Uint8Array);
  return hash.digest("hex");
}
