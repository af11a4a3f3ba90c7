import { usageNotRecorded } from "./entry.ts";
import type { RecordResult, UsageEntry } from "./ledger.ts";

/** An entry that waits to be recorded or is being recorded. After its deadline, further results are ignored. */
export interface PendingEntry {
  readonly entry: UsageEntry;
  resolve(result: RecordResult): void;
  reject(error: Error): void;
}

interface QueuedEntry extends PendingEntry {
  readonly deadlineAtMs: number;
}

/**
 * Entries that wait to be recorded, in order. Every entry gets a result within the timeout, even if the storage hangs:
 * one that still waits then is never recorded; for one that is being recorded, it is unknown whether it will be.
 */
export class RecordQueue {
  readonly #timeoutMs: number;
  #waiting: QueuedEntry[] = [];
  /** Waiting entries and those being recorded, in the order of their deadlines. */
  readonly #pending = new Set<QueuedEntry>();
  #isTimerRunning = false;

  constructor({ timeoutMs }: { readonly timeoutMs: number }) {
    this.#timeoutMs = timeoutMs;
  }

  get waitingCount(): number {
    return this.#waiting.length;
  }

  /** Adds an entry. @throws Fault `usage_not_recorded` after the timeout; the error that the entry is rejected with */
  add(entry: UsageEntry): Promise<RecordResult> {
    return new Promise((resolve, reject) => {
      const queued: QueuedEntry = {
        entry,
        deadlineAtMs: performance.now() + this.#timeoutMs,
        resolve: (result) => {
          this.#pending.delete(queued);
          resolve(result);
        },
        reject: (error) => {
          this.#pending.delete(queued);
          reject(error);
        },
      };
      this.#waiting.push(queued);
      this.#pending.add(queued);
      // One timer for all entries: a timer for each would take longer than recording it.
      if (!this.#isTimerRunning) this.#startTimer(this.#timeoutMs);
    });
  }

  /** Removes and returns waiting entries, which the caller records. */
  take(countMax = Infinity): readonly PendingEntry[] {
    if (countMax < this.#waiting.length) return this.#waiting.splice(0, countMax);
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }

  #startTimer(delayMs: number): void {
    this.#isTimerRunning = true;
    setTimeout(() => this.#rejectLateEntries(), delayMs).unref(); // the requests keep the process running
  }

  #rejectLateEntries(): void {
    this.#isTimerRunning = false;
    const nowMs = performance.now();
    for (const queued of this.#pending) {
      const leftMs = queued.deadlineAtMs - nowMs;
      if (leftMs > 0) {
        this.#startTimer(Math.ceil(leftMs));
        break;
      }
      queued.reject(usageNotRecorded(new Error(`The ledger did not respond within ${this.#timeoutMs / 1000} s.`)));
    }
    this.#waiting = this.#waiting.filter((queued) => this.#pending.has(queued));
  }
}
