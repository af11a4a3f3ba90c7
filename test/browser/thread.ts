/** Runs the golden queries in a Node worker thread, with the built package. */
import { parentPort, workerData } from "node:worker_threads";
import { openAtlas } from "../../src/index.ts";
import { goldenHash } from "../goldenQueries.ts";
import type { PageRun } from "./page.ts";

const { address, ...run } = workerData as PageRun;
const atlas = await openAtlas(address);
// oxlint-disable-next-line unicorn/require-post-message-target-origin -- for windows; workers have no target origin
parentPort?.postMessage(await goldenHash(atlas, run));
await atlas.close();
