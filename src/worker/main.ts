/** Entry point of a worker thread of the pool: opens the atlas and runs tasks until it is terminated. */
import { constants, setPriority } from "node:os";
import { platform } from "node:process";
import { parentPort, workerData } from "node:worker_threads";
import { openLocalAtlas } from "../openAtlas.ts";
import { atlasTasks } from "../pool/atlasTasks.ts";
import type { WorkerRequest, WorkerSetup } from "../pool/messages.ts";
import type { TaskHandlers } from "../pool/taskKinds.ts";
import { runTasks, type WorkerPort } from "../pool/taskRunner.ts";
import { packError } from "../concurrency/errorTransfer.ts";

const thread = parentPort;
if (thread === null) throw new Error("This file must run in a worker thread.");
const port: WorkerPort = {
  onRequest: (listener) => thread.on("message", (request: WorkerRequest) => listener(request)),
  send: (message, transfer = []) => thread.postMessage(message, [...transfer]),
};
const { atlasAddress, cacheBytes } = workerData as WorkerSetup;
try {
  const atlas = await openLocalAtlas(atlasAddress, cacheBytes);
  const libraryHandlers = atlasTasks(atlas);
  // Loaded with their first task, so that users of the library do not load them.
  let hostHandlers: Promise<TaskHandlers> | undefined;
  let placeHandlers: Promise<TaskHandlers> | undefined;
  runTasks(port, {
    atlas,
    async findHandler(kind) {
      const handler = libraryHandlers.get(kind) ?? (await laterHandlers(kind)).get(kind);
      if (handler === undefined) throw new Error(`Unknown kind of task: ${kind}.`);
      return handler;
    },
  });

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
} catch (error) {
  port.send({ type: "startFailed", error: packError(error) });
}
