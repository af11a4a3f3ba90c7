import type { HeldResources } from "./slot.ts";

/** Long jobs of one account that run at the same time: while one waits for tiles, another computes. */
const RUNNING_COUNT_MAX = 2;

interface AccountTurns {
  runningCount: number;
  /** In the order of admission. */
  readonly waiting: Set<() => void>;
}

/**
 * Runs the long jobs of an account in the order of their admission, a few at a time. If all ran at the same time, each would
 * remove the tiles of the others from the cache, and all would miss their deadlines.
 */
export class JobTurns {
  readonly #accounts = new WeakMap<HeldResources, AccountTurns>();

  /**
   * Waits for a turn.
   * @returns a function that ends the turn
   * @throws the signal's reason
   */
  async take(account: HeldResources, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    const turns = this.#turnsOf(account);
    if (turns.runningCount < RUNNING_COUNT_MAX) turns.runningCount++;
    else {
      await new Promise<void>((resolve, reject) => {
        const begin = (): void => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        };
        const onAbort = (): void => {
          turns.waiting.delete(begin);
          reject(signal.reason as Error);
        };
        signal.addEventListener("abort", onAbort, { once: true });
        turns.waiting.add(begin);
      });
    }
    return () => {
      const [next] = turns.waiting;
      if (next === undefined) turns.runningCount--;
      else {
        // The next job takes over the place of this one.
        turns.waiting.delete(next);
        next();
      }
    };
  }

  #turnsOf(account: HeldResources): AccountTurns {
    let turns = this.#accounts.get(account);
    if (turns === undefined) {
      turns = { runningCount: 0, waiting: new Set() };
      this.#accounts.set(account, turns);
    }
    return turns;
  }
}
