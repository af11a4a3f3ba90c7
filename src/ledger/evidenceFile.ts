/** Files that the ledger keeps outside its database, as evidence of what the database has contained. */
import { type FileHandle, lstat, mkdir, readFile, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Fault, isFault } from "../errors.ts";
import { isNotFound } from "../files/files.ts";

/** Much larger than the files become. */
const SIZE_BYTES_MAX = 16 << 20;

/**
 * Reads a file. @param name what it is, in an error: "The anchor"
 * @returns undefined if there is none @throws Fault `ledger_unavailable` if it cannot be read
 */
export async function readEvidence(path: string, name: string): Promise<string | undefined> {
  try {
    // Opening a FIFO waits for its other end, and a device may have no end.
    const stats = await stat(path);
    if (stats.isFile() && stats.size <= SIZE_BYTES_MAX) return await readFile(path, "utf8");
    const reason = stats.isFile()
      ? `it has ${stats.size} bytes, more than ${SIZE_BYTES_MAX}`
      : "it is not a regular file";
    throw new Fault("ledger_unavailable", `${name} ${path} cannot be read: ${reason}.`, { details: { file: path } });
  } catch (error) {
    if (isFault(error)) throw error;
    // Also if a file takes the place of the folder, which opening the ledger reports.
    if (isNotFound(error)) return undefined;
    const { code } = error as NodeJS.ErrnoException;
    const advice = code === "EACCES" ? " Make the user that runs the service the owner of the file." : "";
    const message = `${name} ${path} cannot be read (${code ?? String(error)}).${advice}`;
    throw new Fault("ledger_unavailable", message, { cause: error });
  }
}

/** @returns undefined if the text is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/** Creates the folder of the files if it does not exist. */
export async function createFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}

/** Owner and permissions of a file. */
export interface FileAccess {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

/** Returns the access of the current file, or of a new one, which belongs to the owner of the folder. */
export async function accessOf(path: string): Promise<FileAccess> {
  const current = await lstat(path).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });
  if (current?.isFile() === true) return { uid: current.uid, gid: current.gid, mode: current.mode & 0o777 };
  const { uid, gid } = await lstat(dirname(path));
  return { uid, gid, mode: 0o600 };
}

/** Sets owner and permissions of a file. Only root can change its owner; others can change its group, to one of theirs. */
export async function giveAccess(handle: FileHandle, { uid, gid, mode }: FileAccess): Promise<void> {
  const created = await handle.stat();
  if ((created.mode & 0o777) !== mode) await handle.chmod(mode);
  if (created.uid !== uid || created.gid !== gid) {
    await handle
      .chown(uid, gid)
      .catch(() => handle.chown(created.uid, gid))
      .catch(() => undefined);
  }
}
