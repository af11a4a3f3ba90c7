import type { CallMessage, ReplyMessage, WorkerThread } from "../../src/concurrency/threadCalls.ts";
import type { AtlasIdentity, PoolCalls } from "../../src/pool/messages.ts";
import type { TaskHandlers } from "../../src/pool/taskKinds.ts";
import { runTasks, type TaskRunnerOptions } from "../../src/pool/taskRunner.ts";

/** A call of a worker: its function, and the id of the task. */
export interface WorkerRequest extends Partial<PoolCalls["begin"]> {
  readonly type: keyof PoolCalls;
  readonly id: number;
}

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
export class InProcessThread implements WorkerThread {
  /** Received requests in order. */
  readonly requests: WorkerRequest[] = [];
  #isDying = false;
  #hasEnded = false;
  #onCall: (message: CallMessage) => void = () => undefined;
  #onMessage: (message: ReplyMessage) => void = () => undefined;
  #onEnd: (error: Error) => void = () => undefined;
  readonly #onGrant: InProcessThreadOptions["onGrant"];
  #previous: Promise<unknown> = Promise.resolve();

  constructor({ atlas, onGrant, ...options }: InProcessThreadOptions) {
    this.#onGrant = onGrant;
    const port = {
      onMessage: (listener: (message: CallMessage) => void) => (this.#onCall = listener),
      send: (message: ReplyMessage, transfer: readonly ArrayBuffer[] = []) => {
        const copy = structuredClone(message, { transfer: [...transfer] });
        setImmediate(() => {
          if (!this.#hasEnded) this.#onMessage(copy);
        });
      },
    };
    const tileUse = { origin: "demo", cachedBytes: 0, onFetch: () => () => undefined } as const;
    const opened = { atlas: "tileUse" in atlas ? atlas : { ...atlas, tileUse }, ...options };
    void runTasks(port, () => Promise.resolve(opened));
  }

  send(message: CallMessage, transfer: readonly ArrayBuffer[] = []): void {
    const copy = structuredClone(message, { transfer: [...transfer] });
    if ("canceledId" in copy) throw new Error("Slices are not canceled, but tasks are.");
    const argument = copy.argument as PoolCalls["begin"];
    const request = { ...argument, type: copy.name as keyof PoolCalls, id: argument.task };
    this.requests.push(request);
    setImmediate(() => {
      if (this.#isDying) return;
      if (this.#onGrant === undefined || request.type === "cancel") this.#onCall(copy);
      else {
        this.#previous = this.#previous.then(async () => {
          await this.#onGrant?.(request, this);
          if (!this.#isDying) this.#onCall(copy);
        });
      }
    });
  }

  onMessage(listener: (message: ReplyMessage) => void): void {
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
