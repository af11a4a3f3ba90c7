/**
 * The anchor: a small file outside the database that holds the head of the hash chain. A database that has vanished, was
 * replaced by another one, or has lost its last batches does not match it.
 */
import { createHash } from "node:crypto";
import { type FileHandle, lstat, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault, isFault } from "../errors.ts";
import { isNotFound, syncFolder, withPathInErrors } from "../files/files.ts";
import type { Anchor, ChainProblem } from "./chainReport.ts";
import type { ChainState } from "./chainAudit.ts";

/** File name of the anchor of a SQLite ledger, in its data folder. */
const SQLITE_ANCHOR_NAME = "ledger-anchor.json";
const FORMAT = 1;
let writeCount = 0;

/** The contents of an anchor file. */
export interface AnchorFile {
  readonly format: typeof FORMAT;
  readonly ledger_id: string;
  readonly sequence: number;
  readonly batch: number;
  readonly hash: string;
  readonly written_at: string;
  /** Anchors that the operator has replaced, oldest first. */
  readonly replaced?: readonly object[];
}

/** Returns the path of the anchor of a ledger. Each PostgreSQL database has its own anchor in the folder. */
export function anchorPath(folder: string, database: string | undefined): string {
  if (database === undefined) return join(folder, SQLITE_ANCHOR_NAME);
  const { host, pathname } = new URL(database);
  const id = createHash("sha256").update(`${host}${pathname}`).digest("hex").slice(0, 12);
  return join(folder, `ledger-anchor-${id}.json`);
}

/** @returns undefined if there is no anchor @throws Fault `ledger_unavailable` if the file is not an anchor */
export async function readAnchor(path: string): Promise<Anchor | undefined> {
  const file = await readAnchorFile(path);
  return file === undefined ? undefined : anchorOf(file);
}

export function anchorOf(file: AnchorFile): Anchor {
  return {
    ledgerId: file.ledger_id,
    sequence: file.sequence,
    batch: file.batch,
    hash: file.hash,
    writtenAt: file.written_at,
  };
}

export async function readAnchorFile(path: string): Promise<AnchorFile | undefined> {
  const text = await readEvidence(path, "The anchor");
  if (text === undefined) return undefined;
  const file = parseJson(text) as Partial<AnchorFile> | undefined | null;
  const isAnchor =
    file?.format === FORMAT &&
    typeof file.ledger_id === "string" &&
    Number.isSafeInteger(file.sequence) &&
    Number.isSafeInteger(file.batch) &&
    typeof file.hash === "string" &&
    typeof file.written_at === "string";
  if (isAnchor) return file as AnchorFile;
  const message = `${path} is not an anchor of format ${FORMAT}. Restore the file, or see "Accept a restored ledger" in docs/operations.md.`;
  throw new Fault("ledger_unavailable", message);
}

/**
 * Writes the anchor: the file is complete and on disk before it takes the place of the previous one. Its owner and
 * permissions stay, so that a service can read what the operator has written as another user.
 * @param options `previous`: the current anchor; `replaces`: whether the operator replaces it because the ledger does not
 *   match it, so that the file lists it; `isCurrent`: returns whether the write may still take place, right before it does
 * @returns undefined if it may not
 */
export async function writeAnchor(
  path: string,
  state: ChainState,
  options: {
    readonly previous: AnchorFile | undefined;
    readonly replaces: boolean;
    readonly isCurrent?: () => Promise<boolean>;
  },
): Promise<AnchorFile | undefined> {
  const { previous, replaces, isCurrent = () => Promise.resolve(true) } = options;
  const { replaced = [], ...replacedAnchor } = previous ?? {};
  const isReplaced = replaces && previous !== undefined;
  const file: AnchorFile = {
    format: FORMAT,
    ledger_id: state.ledgerId,
    sequence: (previous?.sequence ?? 0) + 1,
    batch: state.head.batch,
    hash: state.head.hash,
    written_at: new Date().toISOString(),
    ...(isReplaced ? { replaced: [...replaced, replacedAnchor] } : replaced.length > 0 ? { replaced } : {}),
  };
  const folder = dirname(path);
  await createFolder(folder);
  // Not the name of another write, which may still hang after its ledger was closed.
  const temporaryPath = `${path}.writing-${process.pid}-${++writeCount}`;
  try {
    await writePrivate(temporaryPath, `${JSON.stringify(file)}\n`, await accessOf(path));
    if (!(await isCurrent())) return undefined;
    await rename(temporaryPath, path);
  } finally {
    await rm(temporaryPath, { force: true });
  }
  await syncFolder(folder);
  return file;
}

/** Writes and syncs a new file. It follows no link, because root may write it into the folder of another user. */
async function writePrivate(path: string, text: string, access: FileAccess): Promise<void> {
  await rm(path, { force: true });
  const handle = await open(path, "wx", 0o600);
  try {
    await withPathInErrors(path, handle.writeFile(text));
    await giveAccess(handle, access);
    await withPathInErrors(path, handle.sync());
  } finally {
    await handle.close();
  }
}

/** Compares a ledger with its anchor. @param state with the hash at the batch of the anchor */
export function anchorProblem(anchor: Anchor, state: ChainState): ChainProblem | undefined {
  const mismatch = (detail: string): ChainProblem => ({ code: "anchor_mismatch", batch: anchor.batch, detail });
  if (anchor.ledgerId !== state.ledgerId) {
    return mismatch(
      `The anchor belongs to another ledger, ${anchor.ledgerId}, with ${anchor.batch} batches; this one is ${state.ledgerId}.`,
    );
  }
  if (state.head.batch < anchor.batch) {
    const count = anchor.batch - state.head.batch;
    return mismatch(
      `The last ${count === 1 ? "batch is" : `${count} batches are`} missing: ` +
        `the ledger ends with batch ${state.head.batch}, but had batch ${anchor.batch} at ${anchor.writtenAt}.`,
    );
  }
  const { pruned } = state;
  const hash = pruned?.last_batch === anchor.batch ? pruned.last_hash : state.hashAtBatch;
  if (hash === undefined && pruned !== undefined && anchor.batch < pruned.last_batch) return undefined;
  if (hash === anchor.hash) return undefined;
  return mismatch(`Batch ${anchor.batch} had another hash at ${anchor.writtenAt}: the ledger was changed or replaced.`);
}

/** Creates the error of a ledger that does not match its anchor. */
export function anchorFault(problem: ChainProblem, path: string): Fault {
  const advice =
    "Restore the current ledger. If you have restored an older one on purpose, run isotherm usage accept-restored.";
  return new Fault("ledger_unavailable", `${problem.detail} ${advice} (Anchor: ${path}.)`, { details: { path } });
}

/** Files that the ledger keeps outside its database, as evidence of what the database has contained. */

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
