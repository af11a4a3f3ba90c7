/**
 * Limits the requests in progress so that each is answered within a time, however fast the machine is and whatever else
 * it does: a slow response reduces the limit by a quarter, and each round of fast ones raises it by one.
 */
export class AdaptiveConcurrency {
  readonly #max: number;
  readonly #targetMs: number;
  readonly #nowMs: () => number;
  #limit: number;
  #runningCount = 0;
  #reducedAtMs = -Infinity;
  readonly #waiting: (() => void)[] = [];

  constructor({
    max,
    targetMs,
    nowMs = () => performance.now(),
  }: {
    readonly max: number;
    readonly targetMs: number;
    readonly nowMs?: () => number;
  }) {
    this.#max = max;
    this.#targetMs = targetMs;
    this.#nowMs = nowMs;
    this.#limit = Math.min(max, 4);
  }

  /** Requests that may be in progress. */
  get limit(): number {
    return Math.floor(this.#limit);
  }

  /** Sends a request as soon as the limit allows it. */
  async run<Result>(send: () => Promise<Result>): Promise<Result> {
    while (this.#runningCount >= this.limit) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    this.#runningCount++;
    const startMs = this.#nowMs();
    try {
      return await send();
    } finally {
      this.#runningCount--;
      this.#adapt(this.#nowMs() - startMs);
      for (const wake of this.#waiting.splice(0)) wake();
    }
  }

  #adapt(durationMs: number): void {
    const nowMs = this.#nowMs();
    if (durationMs <= this.#targetMs) this.#limit = Math.min(this.#max, this.#limit + 1 / this.#limit);
    // Responses to requests that were sent before the reduction say nothing about the new limit.
    else if (nowMs - durationMs >= this.#reducedAtMs) {
      this.#limit = Math.max(1, 0.75 * this.#limit);
      this.#reducedAtMs = nowMs;
    }
  }
}
