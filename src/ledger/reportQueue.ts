import { Fault } from "../errors.ts";
import { closedError } from "./ledgerBase.ts";

/** Limits of a `ReportQueue`. */
export interface ReportQueueLimits {
  /** Reports that run at the same time. */
  readonly runningCountMax: number;
  /** Reports of one account that wait; further ones are rejected. */
  readonly waitingCountMax: number;
}

interface WaitingReport {
  readonly start: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs reports in turns: one of each account after the other, so that the reports of an account delay those of the
 * others by at most one report each. A report whose signal aborts before it has started never runs.
 */
export class ReportQueue {
  readonly #limits: ReportQueueLimits;
  /** Waiting reports by account. The first account is the next one; it moves to the end after its turn. */
  readonly #waiting = new Map<string, Set<WaitingReport>>();
  #runningCount = 0;
  #isClosed = false;

  constructor(limits: ReportQueueLimits) {
    this.#limits = limits;
  }

  /** Number of reports that wait for their turn. */
  get waitingCount(): number {
    let count = 0;
    for (const { size } of this.#waiting.values()) count += size;
    return count;
  }

  /**
   * Runs `work` when it is its turn.
   * @param request `accountId`: the account that the report belongs to, empty for reports on all accounts
   * @throws Fault `rate_limited` if too many reports of the account are waiting; the reason of the signal
   */
  run<T>(
    work: () => Promise<T>,
    { accountId, signal }: { readonly accountId: string; readonly signal?: AbortSignal | undefined },
  ): Promise<T> {
    if (this.#isClosed) return Promise.reject(closedError());
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const waiting = this.#waiting.get(accountId) ?? new Set<WaitingReport>();
    const { waitingCountMax } = this.#limits;
    if (waiting.size >= waitingCountMax) {
      const message = `${waitingCountMax} reports of this account are waiting already; send the next one after a response.`;
      return Promise.reject(new Fault("rate_limited", message));
    }
    return new Promise<T>((resolve, reject) => {
      const onAbort = (): void => {
        this.#remove(accountId, report);
        reject(signal?.reason as Error);
      };
      const report: WaitingReport = {
        start: () => {
          this.#runningCount++;
          work()
            .then(resolve, reject)
            .finally(() => {
              signal?.removeEventListener("abort", onAbort);
              this.#runningCount--;
              this.#startNext();
            });
        },
        reject: (error) => {
          signal?.removeEventListener("abort", onAbort);
          reject(error);
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      waiting.add(report);
      this.#waiting.set(accountId, waiting);
      this.#startNext();
    });
  }

  /** Rejects the reports that wait, and all further ones. */
  close(): void {
    this.#isClosed = true;
    const reports = [...this.#waiting.values()].flatMap((waiting) => [...waiting]);
    this.#waiting.clear();
    for (const { reject } of reports) reject(closedError());
  }

  #startNext(): void {
    while (this.#runningCount < this.#limits.runningCountMax) {
      const [turn] = this.#waiting;
      if (turn === undefined) return;
      const [accountId, waiting] = turn;
      const [report] = waiting;
      this.#waiting.delete(accountId);
      if (report === undefined) continue;
      waiting.delete(report);
      if (waiting.size > 0) this.#waiting.set(accountId, waiting);
      report.start();
    }
  }

  #remove(accountId: string, report: WaitingReport): void {
    const waiting = this.#waiting.get(accountId);
    if (waiting?.delete(report) === true && waiting.size === 0) this.#waiting.delete(accountId);
  }
}
