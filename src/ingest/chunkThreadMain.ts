/** Entry point of a thread that computes chunks. It opens the maps of the plan itself. */
import { workerData } from "node:worker_threads";
import { parentThread } from "../concurrency/nodeThread.ts";
import { serveCalls } from "../concurrency/threadCalls.ts";
import { Kernel } from "../kernel/instance.ts";
import type { GroupRows, ChunkKey } from "./chunkComputer.ts";
import { type ChunkThreadSetup, restorePlan, tileComputer } from "./chunkThreads.ts";
import { MapFiles } from "./readers/mapFiles.ts";

const { plan, options, placement } = workerData as ChunkThreadSetup;
const computer = openComputer();
computer.catch(() => undefined); // reported with every chunk

await serveCalls(parentThread(), async () => ({
  functions: {
    compute: async (key: ChunkKey) => {
      const rows = await (await computer)(key);
      return { result: rows, transfer: buffersOf(rows) };
    },
  },
}));

async function openComputer(): Promise<ReturnType<typeof tileComputer>> {
  const maps = new MapFiles();
  const rasters = await Promise.all(plan.specs.map((spec) => maps.openSpec(spec)));
  return tileComputer(await Kernel.load(), restorePlan(plan, rasters), { options, placement });
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
