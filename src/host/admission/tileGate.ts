import { FairQueue } from "../../concurrency/fairQueue.ts";
import type { HttpError } from "../problems/problem.ts";
import type { ShedReason } from "./loadLimits.ts";

export interface TileGateOptions {
  /** Tiles that are computed at the same time. */
  readonly runningMax: number;
  /** Tiles of one account that wait; further ones are rejected. */
  readonly waitingPerAccountMax: number;
  /** Counts a rejection and returns the error to throw. */
  readonly reject: (reason: ShedReason, message: string) => HttpError;
}

interface WaitingTile {
  readonly accountId: string;
  start(): void;
  isCanceled: boolean;
}

/**
 * Limits how many map tiles are computed at the same time, apart from all other requests, so that clients that pan a map
 * do not delay data calls. Accounts take turns.
 */
export class TileGate {
  readonly #options: TileGateOptions;
  readonly #queue = new FairQueue<WaitingTile>();
  readonly #waitingCounts = new Map<string, number>();
  #runningCount = 0;

  constructor(options: TileGateOptions) {
    this.#options = options;
  }

  /** Number of tiles that are being computed. */
  get runningCount(): number {
    return this.#runningCount;
  }

  /** Number of tiles that wait. */
  get waitingCount(): number {
    return [...this.#waitingCounts.values()].reduce((sum, count) => sum + count, 0);
  }

  /**
   * Runs `compute` when a place is free.
   * @throws HttpError `overloaded` if too many tiles of the account wait; the reason of the signal if it aborts meanwhile
   */
  async run<Result>(accountId: string, signal: AbortSignal, compute: () => Promise<Result>): Promise<Result> {
    signal.throwIfAborted();
    if (this.#runningCount >= this.#options.runningMax) await this.#wait(accountId, signal);
    else this.#runningCount++;
    try {
      return await compute();
    } finally {
      this.#runningCount--;
      this.#startNext();
    }
  }

  /** Waits for a place, which is taken when the promise resolves. */
  async #wait(accountId: string, signal: AbortSignal): Promise<void> {
    const { waitingPerAccountMax, reject } = this.#options;
    const waitingCount = this.#waitingCounts.get(accountId) ?? 0;
    if (waitingCount >= waitingPerAccountMax) {
      const message = `The account already has ${waitingCount} map tiles waiting; retry when some have been answered.`;
      throw reject("too_many_tiles_of_account", message);
    }
    this.#waitingCounts.set(accountId, waitingCount + 1);
    let onAbort: (() => void) | undefined;
    try {
      await new Promise<void>((start, cancel) => {
        const waiting: WaitingTile = { accountId, start, isCanceled: false };
        onAbort = (): void => {
          waiting.isCanceled = true;
          cancel(signal.reason as Error);
        };
        signal.addEventListener("abort", onAbort, { once: true });
        this.#queue.add(accountId, waiting);
      });
    } finally {
      if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
      const leftCount = (this.#waitingCounts.get(accountId) ?? 1) - 1;
      if (leftCount === 0) this.#waitingCounts.delete(accountId);
      else this.#waitingCounts.set(accountId, leftCount);
    }
  }

  #startNext(): void {
    let next = this.#queue.take();
    while (next?.isCanceled === true) next = this.#queue.take();
    if (next === undefined) return;
    this.#queue.charge(next.accountId, 1);
    this.#runningCount++;
    next.start();
  }
}
