import type { TileUse } from "../atlas/tileUse.ts";
import { packError } from "../concurrency/errorTransfer.ts";
import type { ParentPort } from "../concurrency/workerThread.ts";
import type { AtlasIdentity, WorkerMessage, WorkerRequest } from "./messages.ts";
import { Task, type TaskTimes } from "./task.ts";
import type { TaskHandler } from "./taskKinds.ts";

export type WorkerPort = ParentPort<WorkerRequest, WorkerMessage>;

export interface TaskRunnerOptions extends TaskTimes {
  /** The atlas that the worker has opened. */
  readonly atlas: AtlasIdentity & { readonly tileUse: TileUse };
  /** Returns the handler of a kind; rejects unknown kinds. */
  readonly findHandler: (kind: string) => Promise<TaskHandler<never, unknown>>;
}

/** Runs the tasks of a worker thread: one time slice after another, in the order in which they are granted. */
export function runTasks(port: WorkerPort, { atlas, findHandler, sliceMs, readWaitMs }: TaskRunnerOptions): void {
  const { release, contentHash, tileUse } = atlas;
  const tasks = new Map<number, Task>();
  let previousSlice: Promise<void> = Promise.resolve();
  let fetchDurationsMs: number[] = [];
  tileUse.onFetch((durationMs) => fetchDurationsMs.push(durationMs));

  port.onRequest((request) => {
    const { id } = request;
    if (request.type === "cancel") {
      tasks.get(id)?.cancel();
      tasks.delete(id);
      return;
    }
    if (request.type === "begin") {
      const { kind, payload } = request;
      tasks.set(id, new Task(id, async () => findHandler(kind), payload, { sliceMs, readWaitMs }));
    }
    previousSlice = previousSlice.then(() => runSlice(id));
  });
  port.send({ type: "ready", atlas: { release, contentHash } });

  async function runSlice(id: number): Promise<void> {
    const { reply, transfer } = (await tasks.get(id)?.runSlice()) ?? { reply: { type: "unused", id } as const };
    if (reply.type !== "paused") tasks.delete(id);
    try {
      port.send(reply, transfer ?? []);
    } catch (error) {
      port.send({ type: "failed", id, error: packError(error) }); // the result cannot be cloned
    }
    if (fetchDurationsMs.length === 0) return;
    port.send({ type: "fetched", cachedBytes: tileUse.cachedBytes, durationsMs: fetchDurationsMs });
    fetchDurationsMs = [];
  }
}
