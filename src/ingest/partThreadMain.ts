/** Entry point of a thread that computes parts. It opens the maps of the plan itself. */
import { parentPort, workerData } from "node:worker_threads";
import { Kernel } from "../kernel/instance.ts";
import { packError } from "../concurrency/errorTransfer.ts";
import type { GroupRows } from "./partComputer.ts";
import { type PartMessage, type PartRequest, type PartThreadSetup, restorePlan, tileComputer } from "./partThreads.ts";
import { MapFiles } from "./readers/mapFiles.ts";

const port = parentPort;
if (port === null) throw new Error("partThreadMain must run in a worker thread.");
const { plan, options, placement } = workerData as PartThreadSetup;
const computer = openComputer();
computer.catch(() => undefined); // reported with every part

port.on("message", (request: PartRequest) => void compute(request));

async function openComputer(): Promise<ReturnType<typeof tileComputer>> {
  const maps = new MapFiles();
  const rasters = await Promise.all(plan.specs.map((spec) => maps.openSpec(spec)));
  return tileComputer(await Kernel.load(), restorePlan(plan, rasters), { options, placement });
}

async function compute({ id, key }: PartRequest): Promise<void> {
  const send = (message: PartMessage, transfer: readonly ArrayBuffer[] = []): void =>
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
