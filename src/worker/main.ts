/** Entry point of a worker thread of the pool: opens the atlas and runs tasks until it is terminated. */
import { constants, setPriority } from "node:os";
import { platform } from "node:process";
import { workerData } from "node:worker_threads";
import { openLocalAtlas } from "../openAtlas.ts";
import { atlasTasks } from "../pool/atlasTasks.ts";
import type { WorkerSetup } from "../pool/messages.ts";
import type { TaskHandlers } from "../pool/taskKinds.ts";
import { runTasks } from "../pool/taskRunner.ts";
import { parentThread } from "../concurrency/nodeThread.ts";

const { atlasAddress, cacheBytes } = workerData as WorkerSetup;
await runTasks(parentThread(), async () => {
  const atlas = await openLocalAtlas(atlasAddress, cacheBytes);
  const libraryHandlers = atlasTasks(atlas);
  // Loaded with their first task, so that users of the library do not load them.
  let hostHandlers: Promise<TaskHandlers> | undefined;
  let placeHandlers: Promise<TaskHandlers> | undefined;

  function laterHandlers(kind: string): Promise<TaskHandlers> {
    return kind.startsWith("places.") ? (placeHandlers ??= loadPlaces()) : (hostHandlers ??= loadHost());
  }

  async function loadPlaces(): Promise<TaskHandlers> {
    const { placeFileTasks } = await import("../places/run/encodedChunks.ts");
    return placeFileTasks();
  }

  async function loadHost(): Promise<TaskHandlers> {
    const { bulkHandlers } = await import("../host/bulk/bulkHandlers.ts");
    // Gives the event loop precedence over workers if there are fewer cores than threads. Only on Linux, because
    // elsewhere the priority would apply to the whole process.
    if (platform === "linux") setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
    return bulkHandlers(atlas);
  }

  return {
    atlas,
    async findHandler(kind) {
      const handler = libraryHandlers.get(kind) ?? (await laterHandlers(kind)).get(kind);
      if (handler === undefined) throw new Error(`Unknown kind of task: ${kind}.`);
      return handler;
    },
  };
});
