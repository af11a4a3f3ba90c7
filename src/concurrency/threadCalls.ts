/** Calls of functions that run in a worker thread, for the pool, the ledger, the ingest and the explorer. */
import { type PackedError, packError, unpackError } from "./errorTransfer.ts";

/** A message to a thread: a call, or the cancellation of one. */
export type CallMessage =
  { readonly id: number; readonly name: string; readonly argument: unknown } | { readonly canceledId: number };

/** A message from a thread: the result or error of a call, or an event. The result with id 0 reports that it has started. */
export type ReplyMessage =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: PackedError }
  | { readonly event: unknown };

/** A worker thread, as seen by the thread that started it. */
export interface WorkerThread {
  /** @param transfer buffers in the message that are moved to the worker instead of copied */
  send(message: CallMessage, transfer?: readonly ArrayBuffer[]): void;
  onMessage(listener: (message: ReplyMessage) => void): void;
  /** Registers a listener for the end of the thread, including a failed start. */
  onEnd(listener: (error: Error) => void): void;
  /** Sets whether the thread keeps the process running. */
  setReferenced(isReferenced: boolean): void;
  end(): Promise<void>;
}

/** The thread that started a worker thread, as seen by the worker. */
export interface ParentPort {
  onMessage(listener: (message: CallMessage) => void): void;
  send(message: ReplyMessage, transfer?: readonly ArrayBuffer[]): void;
}

interface PendingCall {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Calls functions of a thread, which keeps the process running while calls are pending. */
export class ThreadCalls {
  /** Resolves with what the thread reports when it has started. Rejects if it could not start, or ends before. */
  readonly started: Promise<unknown>;
  readonly #thread: WorkerThread;
  readonly #onFailure: (error: Error) => void;
  readonly #pending = new Map<number, PendingCall>();
  #lastId = 0;
  #failure: Error | undefined;

  /** @param options.onFailure called when the thread ends, also by `end` */
  constructor(
    thread: WorkerThread,
    options: { readonly onEvent?: (event: never) => void; readonly onFailure?: (error: Error) => void } = {},
  ) {
    const { onEvent, onFailure = () => undefined } = options;
    this.#thread = thread;
    this.#onFailure = onFailure;
    this.started = new Promise((resolve, reject) => this.#pending.set(0, { resolve, reject }));
    this.started.catch(() => undefined); // need not be awaited
    thread.setReferenced(true);
    thread.onMessage((message) => {
      if ("event" in message) onEvent?.(message.event as never);
      else {
        const call = this.#take(message.id);
        if ("error" in message) call?.reject(unpackError(message.error));
        else call?.resolve(message.result);
      }
    });
    thread.onEnd((error) => this.fail(error));
  }

  /** Why the thread cannot be called any more. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /**
   * Calls a function.
   * @param options.transfer buffers in the argument that are moved to the thread instead of copied
   * @param options.signal cancels the call
   * @throws the error of the function; the error with which the thread has ended; the signal's reason
   */
  call(
    name: string,
    argument: unknown,
    {
      transfer,
      signal,
    }: {
      readonly transfer?: readonly ArrayBuffer[] | undefined;
      readonly signal?: AbortSignal | undefined;
    } = {},
  ): Promise<unknown> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    if (signal?.aborted === true) return Promise.reject(signal.reason as Error);
    const id = ++this.#lastId;
    const result = new Promise((resolve, reject) => {
      this.#thread.send({ id, name, argument }, transfer);
      if (this.#pending.size === 0) this.#thread.setReferenced(true);
      this.#pending.set(id, { resolve, reject });
    });
    if (signal === undefined) return result;
    const cancel = (): void => {
      const call = this.#take(id);
      if (call !== undefined) this.#thread.send({ canceledId: id });
      call?.reject(signal.reason);
    };
    signal.addEventListener("abort", cancel, { once: true });
    return result.finally(() => signal.removeEventListener("abort", cancel));
  }

  /** Rejects all calls, pending and later ones. */
  fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    const calls = [...this.#pending.values()];
    this.#pending.clear();
    this.#thread.setReferenced(false);
    this.#onFailure(error);
    for (const { reject } of calls) reject(error);
  }

  /** Ends the thread. @param reason what pending and later calls are rejected with */
  async end(reason = new Error("The thread has ended.")): Promise<void> {
    this.fail(reason);
    await this.#thread.end();
  }

  #take(id: number): PendingCall | undefined {
    const call = this.#pending.get(id);
    this.#pending.delete(id);
    if (call !== undefined && this.#pending.size === 0) this.#thread.setReferenced(false);
    return call;
  }
}

/** What a function returns to the calling thread. */
export interface CallResult {
  readonly result: unknown;
  /** Buffers in the result that are moved instead of copied. */
  readonly transfer?: readonly ArrayBuffer[];
}

/** A function of a thread. Its signal aborts when the caller cancels the call; then nothing is returned. */
export type ThreadFunction = (argument: never, signal: AbortSignal) => CallResult | Promise<CallResult>;

/**
 * Answers the calls of a port, in any order.
 * @param start opens what the functions need, and returns them and what `ThreadCalls.started` resolves with
 */
export async function serveCalls(
  port: ParentPort,
  start: () => Promise<{ readonly functions: Readonly<Record<string, ThreadFunction>>; readonly started?: unknown }>,
): Promise<void> {
  const running = new Map<number, AbortController>();
  const answer = async (
    functions: Readonly<Record<string, ThreadFunction>>,
    { id, name, argument }: Exclude<CallMessage, { readonly canceledId: number }>,
  ): Promise<void> => {
    const abort = new AbortController();
    running.set(id, abort);
    try {
      const call = functions[name];
      if (call === undefined) throw new Error(`The thread has no function ${name}.`);
      const { result, transfer } = await call(argument as never, abort.signal);
      if (!abort.signal.aborted) port.send({ id, result }, transfer);
    } catch (error) {
      // Includes results that cannot be cloned.
      if (!abort.signal.aborted) port.send({ id, error: packError(error) });
    } finally {
      running.delete(id);
    }
  };
  try {
    const { functions, started } = await start();
    port.onMessage((message) => {
      if ("canceledId" in message) running.get(message.canceledId)?.abort();
      else void answer(functions, message);
    });
    port.send({ id: 0, result: started });
  } catch (error) {
    port.send({ id: 0, error: packError(error) });
  }
}
