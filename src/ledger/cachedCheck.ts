import { Fault } from "../errors.ts";

export interface CachedCheckOptions {
  /** Rejects with the problem that it has found. */
  readonly check: () => Promise<void>;
  /** How long a result is used again. */
  readonly validMs: number;
  /** Time after which a check that has not finished counts as failed. It runs on, and no other one starts beside it. */
  readonly timeoutMs: number;
  /** A clock that never decreases, in milliseconds. */
  readonly nowMs?: () => number;
}

/** A check whose results are shared, so that the number of callers does not matter for what is checked. */
export class CachedCheck {
  readonly #options: CachedCheckOptions;
  readonly #nowMs: () => number;
  #running: { readonly startMs: number; readonly finished: Promise<void> } | undefined;
  #result: { readonly atMs: number; readonly problem?: unknown } | undefined;

  constructor(options: CachedCheckOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  /** @throws the problem that the latest check has found; Fault `ledger_unavailable` if it does not finish in time */
  async run(): Promise<void> {
    const { validMs, timeoutMs } = this.#options;
    const isValid = this.#result !== undefined && this.#nowMs() - this.#result.atMs < validMs;
    if (this.#running === undefined && !isValid) this.#start();
    const running = this.#running;
    if (running !== undefined) {
      await settledWithin(running.finished, running.startMs + timeoutMs - this.#nowMs());
      if (this.#running === running) {
        throw new Fault("ledger_unavailable", `The storage of the ledger has not responded for ${timeoutMs / 1000} s.`);
      }
    }
    if (this.#result !== undefined && "problem" in this.#result) throw this.#result.problem;
  }

  #start(): void {
    const startMs = this.#nowMs();
    const finish = (problem: { readonly problem?: unknown }): void => {
      this.#running = undefined;
      this.#result = { atMs: this.#nowMs(), ...problem };
    };
    const finished = this.#options.check().then(
      () => finish({}),
      (problem: unknown) => finish({ problem }),
    );
    this.#running = { startMs, finished };
  }
}

/** Resolves when a promise that never rejects has resolved, or after a time. */
async function settledWithin(promise: Promise<void>, timeMs: number): Promise<void> {
  if (timeMs <= 0) return;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, timeMs)));
  await Promise.race([promise, timeout]);
  clearTimeout(timer);
}
