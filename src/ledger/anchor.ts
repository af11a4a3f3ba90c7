/**
 * The anchor: a small file outside the database that holds the head of the hash chain. A database that has vanished, was
 * replaced by another one, or has lost its last batches does not match it.
 */
import { createHash } from "node:crypto";
import { mkdir, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Fault } from "../errors.ts";
import { isNotFound, syncFolder, writeSynced } from "../files.ts";
import type { Anchor, ChainProblem } from "./chainReport.ts";
import type { ChainState } from "./chainState.ts";

/** File name of the anchor of a SQLite ledger, in its data folder. */
const SQLITE_ANCHOR_NAME = "ledger-anchor.json";
const FORMAT = 1;
/** Minimum time between two writes, which each sync the disk. */
const WRITE_INTERVAL_MS = 1_000;

/**
 * Time for which the anchor may not be written before the ledger counts as unable to record. A loss of the batches since
 * then would not be noticed, so this bounds how much usage is recorded without evidence.
 */
const UNWRITTEN_MS_MAX = 10_000;

/** The contents of an anchor file. */
interface AnchorFile {
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
  if (file === undefined) return undefined;
  return {
    ledgerId: file.ledger_id,
    sequence: file.sequence,
    batch: file.batch,
    hash: file.hash,
    writtenAt: file.written_at,
  };
}

async function readAnchorFile(path: string): Promise<AnchorFile | undefined> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    // Also if a file takes the place of the folder, which opening the ledger reports.
    if (isNotFound(error)) return undefined;
    const message = `The anchor ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)}).`;
    throw new Fault("ledger_unavailable", message, { cause: error });
  }
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

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Writes the anchor: the file is complete and on disk before it takes the place of the previous one.
 * @param replaces whether the operator replaces an anchor that does not match, which the file then lists
 */
async function writeAnchor(path: string, state: ChainState, replaces: boolean): Promise<void> {
  const previous = replaces ? await readAnchorFile(path).catch(() => undefined) : await readAnchorFile(path);
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
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporaryPath = `${path}.writing-${process.pid}`;
  await writeSynced(temporaryPath, `${JSON.stringify(file)}\n`, 0o600);
  await rename(temporaryPath, path);
  await syncFolder(folder);
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

/** Keeps the anchor of an open ledger up to date. */
export class AnchorKeeper {
  readonly #path: string;
  readonly #readState: () => Promise<ChainState>;
  readonly #intervalMs: number;
  readonly #unwrittenMsMax: number;
  #writtenAtMs = -Infinity;
  #writtenBatch = -1;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isStale = false;
  #isClosed = false;
  #failure: { readonly sinceMs: number; readonly error: unknown } | undefined;

  /** @param options `readState`: reads the end of the chain; what it returns must be on disk */
  constructor(options: {
    readonly path: string;
    readonly readState: () => Promise<ChainState>;
    readonly intervalMs?: number;
    readonly unwrittenMsMax?: number;
  }) {
    this.#path = options.path;
    this.#readState = options.readState;
    this.#intervalMs = options.intervalMs ?? WRITE_INTERVAL_MS;
    this.#unwrittenMsMax = options.unwrittenMsMax ?? UNWRITTEN_MS_MAX;
  }

  /** How long writing the anchor has failed, milliseconds; 0 if the last attempt succeeded. */
  get unwrittenMs(): number {
    return this.#failure === undefined ? 0 : performance.now() - this.#failure.sinceMs;
  }

  /** The reason why the ledger has no current evidence; undefined as long as the anchor is written or only briefly was not. */
  get fault(): Fault | undefined {
    if (this.#failure === undefined || this.unwrittenMs <= this.#unwrittenMsMax) return undefined;
    const { error } = this.#failure;
    const message =
      `The anchor of the ledger, ${this.#path}, has not been written for ${Math.round(this.unwrittenMs / 1000)} s, ` +
      `so that a loss of recorded usage would not be noticed: ${reasonText(error)}.`;
    return new Fault("ledger_unavailable", message, { details: { path: this.#path }, cause: error });
  }

  /** Schedules a write after a commit. */
  update(): void {
    this.#isStale = true;
    if (this.#timer !== undefined || this.#writing !== undefined) return;
    const delayMs = Math.max(0, this.#writtenAtMs + this.#intervalMs - performance.now());
    this.#timer = setTimeout(() => void this.flush(), delayMs).unref();
  }

  /** Writes the anchor now if there were commits since the last write. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#exclusively(async () => {
      if (!this.#isStale) return;
      this.#isStale = false;
      await this.#write().then(
        (isCurrent) => {
          if (isCurrent) this.#noteSuccess();
        },
        (error: unknown) => this.#noteFailure(error),
      );
      this.#writtenAtMs = performance.now();
    });
  }

  /** Writes the anchor a last time. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.flush();
  }

  /** Writes the anchor, even if the ledger does not match the current one. */
  async write(options: { readonly replaces: boolean }): Promise<void> {
    await this.#exclusively(async () => {
      const state = await this.#readState();
      await writeAnchor(this.#path, state, options.replaces);
      this.#writtenBatch = state.head.batch;
    });
  }

  /** Runs a write when no other one is in progress: both use the same temporary file. */
  async #exclusively(write: () => Promise<void>): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    const writing = write();
    this.#writing = writing.catch(() => undefined);
    try {
      await writing;
    } finally {
      this.#writing = undefined;
      // Commits during the write have scheduled none.
      if (this.#isStale && !this.#isClosed) this.update();
    }
  }

  /** @returns whether the anchor is current; false if the storage could not be read, which the calls that need it report */
  async #write(): Promise<boolean> {
    let state: ChainState;
    try {
      state = await this.#readState();
    } catch {
      this.#isStale = true;
      return false;
    }
    if (state.head.batch < this.#writtenBatch) {
      throw new Error(
        `the ledger has lost batches: it ends with batch ${state.head.batch} after ${this.#writtenBatch}`,
      );
    }
    if (state.head.batch !== this.#writtenBatch) {
      await writeAnchor(this.#path, state, false);
      this.#writtenBatch = state.head.batch;
    }
    return true;
  }

  #noteSuccess(): void {
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    warn(`The anchor of the ledger, ${this.#path}, is written again.`);
  }

  #noteFailure(error: unknown): void {
    // The next attempt is after the interval.
    this.#isStale = true;
    // Logged once, because attempts are repeated every second.
    if (this.#failure === undefined) {
      warn(`The anchor of the ledger, ${this.#path}, could not be written: ${reasonText(error)}.`);
    }
    this.#failure = { sinceMs: this.#failure?.sinceMs ?? performance.now(), error };
  }
}

/** Name of the warnings about a ledger, which a service also logs. */
export const LEDGER_WARNING = "LedgerWarning";

function warn(message: string): void {
  process.emitWarning(message, LEDGER_WARNING);
}

function reasonText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
