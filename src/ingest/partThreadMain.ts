/** Entry point of a thread that computes parts. It opens the maps of the plan itself. */
import { parentPort, workerData } from "node:worker_threads";
import { Kernel } from "../kernel/instance.ts";
import { packError } from "../threads/errorTransfer.ts";
import { clampToleranceOf } from "./options.ts";
import { createPartComputer } from "./createPartComputer.ts";
import type { PartMessage, PartRequest, PartThreadSetup } from "./partThreads.ts";
import { restorePlan } from "./planDescription.ts";
import { openRaster } from "./rasterSpec.ts";
import { MapFiles } from "./readers/mapFiles.ts";

const port = parentPort;
if (port === null) throw new Error("partThreadMain must run in a worker thread.");
const { plan, options, atlasRowOfSource } = workerData as PartThreadSetup;
const computer = openComputer();
computer.catch(() => undefined); // reported with every part

port.on("message", (request: PartRequest) => void compute(request));

async function openComputer(): Promise<ReturnType<typeof createPartComputer>> {
  const maps = new MapFiles();
  const rasters = await Promise.all(plan.specs.map((spec) => openRaster(spec, { maps })));
  return createPartComputer(await Kernel.load(), restorePlan(plan, rasters), {
    atlasRowOfSource,
    clampToleranceOf: (unit) => clampToleranceOf(options, unit),
  });
}

async function compute({ id, key }: PartRequest): Promise<void> {
  const send = (message: PartMessage, transfer: readonly ArrayBuffer[] = []): void =>
    port?.postMessage(message, [...transfer]);
  try {
    const rows = await (await computer).compute(key);
    send({ id, rows }, [rows.steps.buffer as ArrayBuffer]);
  } catch (error) {
    send({ id, error: packError(error) });
  }
}
