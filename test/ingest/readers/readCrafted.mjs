// Reads one file after the other as they are named on standard input, and answers each by a line of JSON: what became of
// it, its processor time and the largest resident memory meanwhile. Runs the built reader.
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const { openGeoTiff } = await import(new URL("../../../dist/ingest/readers/geotiff/geotiff.js", import.meta.url).href);

/** Values that are read at a time. */
const CELLS_MAX = 1_000_000;

for await (const file of createInterface({ input: process.stdin })) {
  globalThis.gc?.();
  resetPeak();
  const started = process.cpuUsage();
  const outcome = await outcomeOf(file);
  const line = { ...outcome, ms: processorMs(process.cpuUsage(started)), peakBytes: peakBytes() };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function outcomeOf(file) {
  let raster;
  try {
    raster = await openGeoTiff(file);
    const { rowCount, columnCount } = raster.grid;
    const width = Math.min(columnCount, CELLS_MAX);
    const height = Math.min(rowCount, Math.max(1, Math.floor(CELLS_MAX / width)));
    for (const band of new Set([1, raster.bandCount])) {
      for (const firstRow of new Set([0, Math.floor((rowCount - height) / 2), rowCount - height])) {
        for (const firstColumn of new Set([0, columnCount - width])) {
          await raster.readWindow({ band, firstRow, rowCount: height, firstColumn, columnCount: width });
        }
      }
    }
    return { kind: "read" };
  } catch (error) {
    const isRefusal = error.name === "Fault" && error.code === "source_invalid" && error.message.includes(file);
    return { kind: isRefusal ? "refused" : "failed", message: error.message.slice(0, 400) };
  } finally {
    await raster?.close();
  }
}

function processorMs({ user, system }) {
  return (user + system) / 1000;
}

/** Linux counts the peak of a process anew after this; elsewhere it is that of all files so far. */
function resetPeak() {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // the peak of all files so far is a bound for each
  }
}

function peakBytes() {
  try {
    const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"));
    return Number(kilobytes) * 1024;
  } catch {
    return process.resourceUsage().maxRSS * 1024;
  }
}
