/** A call that is running, and its callers. */
interface SharedCall<Result> {
  readonly result: Promise<Result>;
  readonly abort: AbortController;
  /** Callers that have not aborted. */
  waitingCount: number;
}

/** Runs a function once for all callers that ask for the same result at the same time. */
export class SharedCalls<Result> {
  readonly #running = new Map<string, SharedCall<Result>>();

  /**
   * Returns the result of the call that is running under this name, or of a new call.
   *
   * @param call starts at once if there is none; its signal is aborted when all callers have aborted
   * @throws the error of the call; the reason of the caller's signal
   */
  async run(
    name: string,
    call: (signal: AbortSignal) => Promise<Result>,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    signal?.throwIfAborted();
    const shared = this.#running.get(name) ?? this.#start(name, call);
    shared.waitingCount += 1;
    try {
      return await untilAborted(shared.result, signal);
    } finally {
      shared.waitingCount -= 1;
      if (shared.waitingCount === 0 && signal?.aborted === true) {
        this.#forget(name, shared);
        shared.abort.abort(signal.reason);
      }
    }
  }

  #start(name: string, call: (signal: AbortSignal) => Promise<Result>): SharedCall<Result> {
    const abort = new AbortController();
    const shared: SharedCall<Result> = { result: call(abort.signal), abort, waitingCount: 0 };
    this.#running.set(name, shared);
    const forget = (): void => this.#forget(name, shared);
    // Also handles the error of a call without callers.
    shared.result.then(forget, forget);
    return shared;
  }

  #forget(name: string, shared: SharedCall<Result>): void {
    if (this.#running.get(name) === shared) this.#running.delete(name);
  }
}

/** Returns the result of a promise unless the signal is aborted first. */
function untilAborted<Result>(result: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (signal === undefined) return result;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason as Error);
    signal.addEventListener("abort", onAbort, { once: true });
    result.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
