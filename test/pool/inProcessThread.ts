import type { AtlasIdentity, WorkerMessage, WorkerRequest } from "../../src/pool/messages.ts";
import type { PoolThread } from "../../src/pool/poolWorker.ts";
import type { TaskHandlers } from "../../src/pool/taskKinds.ts";
import { runTasks, type TaskRunnerOptions } from "../../src/pool/taskRunner.ts";

export interface InProcessThreadOptions extends Omit<TaskRunnerOptions, "atlas"> {
  readonly atlas: TaskRunnerOptions["atlas"] | AtlasIdentity;
  /** Called when a slice is granted; the slice starts when the returned promise resolves. */
  readonly onGrant?: (request: WorkerRequest, thread: InProcessThread) => unknown;
}

/** Returns a `findHandler` for a fixed set of handlers. */
export function handlersOf(handlers: TaskHandlers): TaskRunnerOptions["findHandler"] {
  return async (kind) => {
    const handler = handlers.get(kind);
    if (handler === undefined) throw new Error(`Unknown kind of task: ${kind}.`);
    return handler;
  };
}

/** A worker on the calling thread: runs the code of a worker thread, and copies and transfers messages as a worker thread does. */
export class InProcessThread implements PoolThread {
  /** Received requests in order. */
  readonly requests: WorkerRequest[] = [];
  #isDying = false;
  #hasEnded = false;
  #onRequest: (request: WorkerRequest) => void = () => undefined;
  #onMessage: (message: WorkerMessage) => void = () => undefined;
  #onEnd: (error: Error) => void = () => undefined;
  readonly #onGrant: InProcessThreadOptions["onGrant"];
  #previous: Promise<unknown> = Promise.resolve();

  constructor({ atlas, onGrant, ...options }: InProcessThreadOptions) {
    this.#onGrant = onGrant;
    const port = {
      onRequest: (listener: (request: WorkerRequest) => void) => (this.#onRequest = listener),
      send: (message: WorkerMessage, transfer: readonly ArrayBuffer[] = []) => {
        const copy = structuredClone(message, { transfer: [...transfer] });
        setImmediate(() => {
          if (!this.#hasEnded) this.#onMessage(copy);
        });
      },
    };
    const tileUse = { origin: "demo", cachedBytes: 0, onFetch: () => () => undefined } as const;
    runTasks(port, { atlas: "tileUse" in atlas ? atlas : { ...atlas, tileUse }, ...options });
  }

  send(request: WorkerRequest, transfer: readonly ArrayBuffer[] = []): void {
    const copy = structuredClone(request, { transfer: [...transfer] });
    this.requests.push(copy);
    setImmediate(() => {
      if (this.#isDying) return;
      if (this.#onGrant === undefined || copy.type === "cancel") this.#onRequest(copy);
      else {
        this.#previous = this.#previous.then(async () => {
          await this.#onGrant?.(copy, this);
          if (!this.#isDying) this.#onRequest(copy);
        });
      }
    });
  }

  onMessage(listener: (message: WorkerMessage) => void): void {
    this.#onMessage = listener;
  }

  onEnd(listener: (error: Error) => void): void {
    this.#onEnd = listener;
  }

  setReferenced(): void {}

  end(): Promise<void> {
    this.die("A worker ended with code 1.");
    return Promise.resolve();
  }

  /** Ends after the messages sent so far have been received, as threads do. */
  die(message: string): void {
    if (this.#isDying) return;
    this.#isDying = true;
    setImmediate(() => {
      this.#hasEnded = true;
      this.#onEnd(new Error(message));
    });
  }
}
