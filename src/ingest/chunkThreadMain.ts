/** Entry point of a thread that computes chunks. It opens the maps of the plan itself. */
import { parentPort, workerData } from "node:worker_threads";
import { Kernel } from "../kernel/instance.ts";
import { packError } from "../concurrency/errorTransfer.ts";
import type { GroupRows } from "./chunkComputer.ts";
import {
  type ChunkMessage,
  type ChunkRequest,
  type ChunkThreadSetup,
  restorePlan,
  tileComputer,
} from "./chunkThreads.ts";
import { MapFiles } from "./readers/mapFiles.ts";

const port = parentPort;
if (port === null) throw new Error("chunkThreadMain must run in a worker thread.");
const { plan, options, placement } = workerData as ChunkThreadSetup;
const computer = openComputer();
computer.catch(() => undefined); // reported with every chunk

port.on("message", (request: ChunkRequest) => void compute(request));

async function openComputer(): Promise<ReturnType<typeof tileComputer>> {
  const maps = new MapFiles();
  const rasters = await Promise.all(plan.specs.map((spec) => maps.openSpec(spec)));
  return tileComputer(await Kernel.load(), restorePlan(plan, rasters), { options, placement });
}

async function compute({ id, key }: ChunkRequest): Promise<void> {
  const send = (message: ChunkMessage, transfer: readonly ArrayBuffer[] = []): void =>
    port?.postMessage(message, [...transfer]);
  try {
    const computeTiles = await computer;
    const rows = await computeTiles(key);
    send({ id, rows }, buffersOf(rows));
  } catch (error) {
    send({ id, error: packError(error) });
  }
}

function buffersOf({ steps, tiles = [] }: GroupRows): readonly ArrayBuffer[] {
  const ofTiles = tiles.flatMap(({ states, bytes, byteEnds, bounds, totals }) => [
    states,
    bytes,
    byteEnds,
    bounds,
    totals,
  ]);
  return [steps, ...ofTiles].map(({ buffer }) => buffer as ArrayBuffer);
}
