import { Fault } from "../errors.ts";
import { anchorFault, type AnchorFile, anchorOf, anchorProblem, readAnchorFile, writeAnchor } from "./anchor.ts";
import type { ChainState } from "./chainAudit.ts";

/** Minimum time between two writes, which each sync the disk. */
const WRITE_INTERVAL_MS = 1_000;

/**
 * Time for which the anchor may not be written before the ledger counts as unable to record. A loss of the batches since
 * then would not be noticed, so this bounds how much usage is recorded without evidence.
 */
const UNWRITTEN_MS_MAX = 10_000;

/** Time for which closing waits for the last write, which hangs if the file system or the storage does. */
const CLOSE_MS_MAX = 5_000;

/**
 * Keeps the anchor of an open ledger up to date. Each write first compares the ledger with the current anchor, which is
 * never replaced by the head of a ledger that has lost or changed batches: only `isotherm usage accept-restored` does that.
 */
export class AnchorKeeper {
  readonly #path: string;
  readonly #readState: (query: { readonly batch?: number }) => Promise<ChainState>;
  readonly #readFile: (path: string) => Promise<AnchorFile | undefined>;
  readonly #intervalMs: number;
  readonly #unwrittenMsMax: number;
  readonly #closeMsMax: number;
  #writtenAtMs = -Infinity;
  /** The last anchor that this process has read or written, in case the file disappears. */
  #latest: AnchorFile | undefined;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  /** When the write in progress has started, if there is one. */
  #pendingSinceMs: number | undefined;
  #isStale = false;
  #isClosed = false;
  /** Whether a write was given up when the ledger was closed; it must not take place later. */
  #isAbandoned = false;
  #failure: { readonly sinceMs: number; readonly error: unknown; readonly isMismatch: boolean } | undefined;
  #mismatch: Fault | undefined;

  /**
   * @param options `readState`: reads the end of the chain and the hash of a batch; what it returns must be on disk;
   *   `readFile`: reads the anchor
   */
  constructor(options: {
    readonly path: string;
    readonly readState: (query: { readonly batch?: number }) => Promise<ChainState>;
    readonly readFile?: (path: string) => Promise<AnchorFile | undefined>;
    readonly intervalMs?: number;
    readonly unwrittenMsMax?: number;
    readonly closeMsMax?: number;
  }) {
    this.#path = options.path;
    this.#readState = options.readState;
    this.#readFile = options.readFile ?? readAnchorFile;
    this.#intervalMs = options.intervalMs ?? WRITE_INTERVAL_MS;
    this.#unwrittenMsMax = options.unwrittenMsMax ?? UNWRITTEN_MS_MAX;
    this.#closeMsMax = options.closeMsMax ?? CLOSE_MS_MAX;
  }

  /**
   * How long writing the anchor has failed, or has taken if that is more than the interval between two writes,
   * milliseconds; 0 if the last attempt succeeded.
   */
  get unwrittenMs(): number {
    const nowMs = performance.now();
    if (this.#failure !== undefined) return nowMs - this.#failure.sinceMs;
    const pendingMs = nowMs - (this.#pendingSinceMs ?? nowMs);
    return pendingMs > this.#intervalMs ? pendingMs : 0;
  }

  /**
   * The reason why the ledger has no current evidence: it does not match its anchor, or the anchor could not be written
   * for longer than permitted.
   */
  get fault(): Fault | undefined {
    if (this.#mismatch !== undefined) return this.#mismatch;
    const { unwrittenMs } = this;
    if (unwrittenMs === 0 || unwrittenMs <= this.#unwrittenMsMax) return undefined;
    const error = this.#failure?.error;
    const reason = error === undefined ? "the file system or the ledger does not respond" : reasonText(error);
    const message =
      `The anchor of the ledger, ${this.#path}, has not been written for ${Math.round(unwrittenMs / 1000)} s, ` +
      `so that a loss of recorded usage would not be noticed: ${reason}.`;
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
      await this.#writeCurrent().then(
        () => this.#noteSuccess(),
        (error: unknown) => this.#noteFailure(error),
      );
      this.#writtenAtMs = performance.now();
    });
  }

  /**
   * Writes the anchor a last time. A write that hangs is given up, with a warning. If it continues later, it does not
   * replace the anchor, unless it hangs in the system call that does so.
   */
  async close(): Promise<void> {
    this.#isClosed = true;
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<"timeout">((resolve) => {
      timer = setTimeout(() => resolve("timeout"), this.#closeMsMax);
    });
    const result = await Promise.race([this.flush(), timeout]);
    clearTimeout(timer);
    if (result !== "timeout") return;
    this.#isAbandoned = true;
    const seconds = this.#closeMsMax / 1000;
    warn(
      `The anchor of the ledger, ${this.#path}, could not be written within ${seconds} s while the ledger was closed.`,
    );
  }

  /** Writes the anchor now. @throws Fault `ledger_unavailable` if the ledger does not match the current one */
  async write(): Promise<void> {
    await this.#exclusively(() => this.#writeCurrent());
  }

  /** Replaces the anchor by the head of the ledger, also if the ledger does not match it. */
  async replace(): Promise<void> {
    await this.#exclusively(async () => {
      const state = await this.#readState({});
      // A damaged file is replaced, too.
      const previous = await this.#readFile(this.#path).catch(() => undefined);
      this.#latest = await writeAnchor(this.#path, state, { previous, replaces: true });
    });
  }

  /** Runs a write when no other one is in progress, so that it reads the anchor that the previous one has written. */
  async #exclusively(write: () => Promise<void>): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    this.#pendingSinceMs = performance.now();
    const writing = write();
    this.#writing = writing.catch(() => undefined);
    try {
      await writing;
    } finally {
      this.#writing = undefined;
      this.#pendingSinceMs = undefined;
      // Commits during the write have scheduled none.
      if (this.#isStale && !this.#isClosed) this.update();
    }
  }

  async #writeCurrent(): Promise<void> {
    for (let isWritten = false; !isWritten;) {
      const current = await this.#readCurrent();
      isWritten = await this.#writeHead(current, await this.#readState(batchOf(current)));
    }
  }

  /** Reads the anchor, which another process may have written or the operator replaced meanwhile. */
  async #readCurrent(): Promise<CurrentAnchor> {
    const file = await this.#readFile(this.#path);
    // It may be one that the operator has accepted.
    if (file !== undefined) this.#latest = file;
    return { anchor: file ?? this.#latest, isOnDisk: file !== undefined };
  }

  /**
   * @returns false if another process has written the anchor since it was read, so that it must be compared again
   * @throws Fault `ledger_unavailable` if the ledger does not match the current anchor
   */
  async #writeHead({ anchor, isOnDisk }: CurrentAnchor, state: ChainState): Promise<boolean> {
    const problem = anchor === undefined ? undefined : anchorProblem(anchorOf(anchor), state);
    this.#mismatch = problem === undefined ? undefined : anchorFault(problem, this.#path);
    if (this.#mismatch !== undefined) throw this.#mismatch;
    if (isOnDisk && anchor?.batch === state.head.batch) return true;
    const sequence = isOnDisk ? anchor?.sequence : undefined;
    const isCurrent = async (): Promise<boolean> =>
      (await this.#readFile(this.#path))?.sequence === sequence && !this.#isAbandoned;
    const written = await writeAnchor(this.#path, state, { previous: anchor, replaces: false, isCurrent });
    if (written !== undefined) this.#latest = written;
    return written !== undefined || this.#isAbandoned;
  }

  #noteSuccess(): void {
    if (this.#failure === undefined) return;
    this.#failure = undefined;
    warn(`The anchor of the ledger, ${this.#path}, is written again.`);
  }

  #noteFailure(error: unknown): void {
    // The next attempt is after the interval.
    this.#isStale = true;
    const isMismatch = this.#mismatch !== undefined;
    // Each reason is logged once, because attempts are repeated every second.
    if (this.#failure?.isMismatch !== isMismatch) {
      warn(
        isMismatch
          ? `The ledger has lost or changed usage while it was open. ${reasonText(error)}`
          : `The anchor of the ledger, ${this.#path}, could not be written: ${reasonText(error)}.`,
      );
    }
    this.#failure = { sinceMs: this.#failure?.sinceMs ?? performance.now(), error, isMismatch };
  }
}

/** The anchor that the ledger is compared with. */
interface CurrentAnchor {
  /** Undefined if there is none yet. */
  readonly anchor: AnchorFile | undefined;
  readonly isOnDisk: boolean;
}

function batchOf({ anchor }: CurrentAnchor): { readonly batch?: number } {
  return anchor === undefined ? {} : { batch: anchor.batch };
}

/** Name of the warnings about a ledger, which a service also logs. */
export const LEDGER_WARNING = "LedgerWarning";

/** Emits a warning about a ledger. */
export function warn(message: string): void {
  process.emitWarning(message, LEDGER_WARNING);
}

function reasonText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
