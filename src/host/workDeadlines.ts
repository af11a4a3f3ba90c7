import { Fault } from "../errors.ts";

/** Time after which a client may retry a request whose work did not end, for example because a server does not respond. */
const RETRY_AFTER_S = 5;

interface PendingWork {
  readonly deadlineAtMs: number;
  readonly reject: (error: Fault) => void;
}

/**
 * Ends the wait for work that takes longer than a timeout. All work has the same timeout, so that one timer suffices: a
 * timer for each request would take longer than many requests.
 */
export class WorkDeadlines {
  readonly #timeoutMs: number;
  /** In the order of their deadlines. */
  readonly #pending = new Set<PendingWork>();
  #isTimerRunning = false;

  constructor({ timeoutMs }: { readonly timeoutMs: number }) {
    this.#timeoutMs = timeoutMs;
  }

  /** Returns the result of work. @throws Fault `overloaded` after the timeout; the error of the work */
  limit<Result>(work: Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const pending = { deadlineAtMs: performance.now() + this.#timeoutMs, reject };
      this.#pending.add(pending);
      if (!this.#isTimerRunning) this.#startTimer(this.#timeoutMs);
      work.then(
        (result) => {
          this.#pending.delete(pending);
          resolve(result);
        },
        (error: unknown) => {
          this.#pending.delete(pending);
          reject(error);
        },
      );
    });
  }

  #startTimer(delayMs: number): void {
    this.#isTimerRunning = true;
    setTimeout(() => this.#endLateWork(), delayMs).unref(); // open connections keep the process running
  }

  #endLateWork(): void {
    this.#isTimerRunning = false;
    const nowMs = performance.now();
    for (const pending of this.#pending) {
      const leftMs = pending.deadlineAtMs - nowMs;
      if (leftMs > 0) {
        this.#startTimer(Math.ceil(leftMs));
        return;
      }
      this.#pending.delete(pending);
      const message = `The request was not answered within ${this.#timeoutMs / 1000} s; retry later.`;
      pending.reject(new Fault("overloaded", message, { headers: { "Retry-After": String(RETRY_AFTER_S) } }));
    }
  }
}
