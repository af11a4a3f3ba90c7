import type { TileUse } from "../atlas/tileUse.ts";
import { type CallResult, type ParentPort, serveCalls } from "../concurrency/threadCalls.ts";
import type { AtlasIdentity, FetchedEvent, PoolCalls } from "./messages.ts";
import { Task, type TaskTimes } from "./task.ts";
import type { TaskHandler } from "./taskKinds.ts";

export interface TaskRunnerOptions extends TaskTimes {
  /** The atlas that the worker has opened. */
  readonly atlas: AtlasIdentity & { readonly tileUse: TileUse };
  /** Returns the handler of a kind; rejects unknown kinds. */
  readonly findHandler: (kind: string) => Promise<TaskHandler<never, unknown>>;
}

/**
 * Runs the tasks of a worker thread: one time slice after another, in the order in which they are granted.
 * @param open opens the atlas; an error is reported to the parent
 */
export async function runTasks(port: ParentPort, open: () => Promise<TaskRunnerOptions>): Promise<void> {
  await serveCalls(port, async () => {
    const { atlas, findHandler, sliceMs, readWaitMs } = await open();
    const { release, contentHash, tileUse } = atlas;
    const tasks = new Map<number, Task>();
    let previousSlice: Promise<unknown> = Promise.resolve();
    let fetchDurationsMs: number[] = [];
    tileUse.onFetch((durationMs) => fetchDurationsMs.push(durationMs));

    const runSlice = async (id: number): Promise<CallResult> => {
      try {
        const { end, transfer } = (await tasks.get(id)?.runSlice()) ?? { end: { type: "unused" } };
        if (end.type !== "paused") tasks.delete(id);
        return { result: end, ...(transfer === undefined ? {} : { transfer }) };
      } catch (error) {
        tasks.delete(id);
        throw error;
      } finally {
        if (fetchDurationsMs.length > 0) {
          const event: FetchedEvent = { cachedBytes: tileUse.cachedBytes, durationsMs: fetchDurationsMs };
          fetchDurationsMs = [];
          port.send({ event });
        }
      }
    };
    const grant = (id: number): Promise<CallResult> => {
      const slice = previousSlice.then(() => runSlice(id));
      // Without a reference to the result of the slice.
      const ignore = (): void => undefined;
      previousSlice = slice.then(ignore, ignore);
      return slice;
    };

    const functions = {
      begin: ({ task, kind, payload }: PoolCalls["begin"]) => {
        tasks.set(task, new Task(async () => findHandler(kind), payload, { sliceMs, readWaitMs }));
        return grant(task);
      },
      resume: ({ task }: PoolCalls["resume"]) => grant(task),
      cancel: ({ task }: PoolCalls["cancel"]) => {
        tasks.get(task)?.cancel();
        tasks.delete(task);
        return { result: undefined };
      },
    };
    return { functions, started: { release, contentHash } satisfies AtlasIdentity };
  });
}
