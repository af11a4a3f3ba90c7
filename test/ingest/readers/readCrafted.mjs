// Reads the files named on standard input with the built reader, and prints a line of JSON for each: the outcome, the CPU
// time and the peak resident memory.
import { readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";

const { openGeoTiff } = await import(new URL("../../../dist/ingest/readers/geotiff/geotiff.js", import.meta.url).href);

/** Maximum number of values that are read together. */
const VALUE_COUNT_MAX = 1_000_000;

for await (const file of createInterface({ input: process.stdin })) {
  await releaseMemory();
  resetPeak();
  const started = process.cpuUsage();
  const outcome = await outcomeOf(file);
  const line = { ...outcome, ms: cpuMs(process.cpuUsage(started)), peakBytes: peakBytes() };
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

async function outcomeOf(file) {
  let raster;
  try {
    raster = await openGeoTiff(file);
    const { rowCount, columnCount } = raster.grid;
    const width = Math.min(columnCount, VALUE_COUNT_MAX);
    const height = Math.min(rowCount, Math.max(1, Math.floor(VALUE_COUNT_MAX / width)));
    for (const band of new Set([1, raster.bands.length])) {
      for (const share of [0, 0.25, 0.5, 0.75, 1]) {
        const firstRow = Math.floor(share * (rowCount - height));
        for (const firstColumn of new Set([0, columnCount - width])) {
          await raster.readWindow({ band, firstRow, rowCount: height, firstColumn, columnCount: width });
        }
      }
    }
    return { kind: "read" };
  } catch (error) {
    const isRejection = error.name === "Fault" && error.code === "source_invalid" && error.message.includes(file);
    return { kind: isRejection ? "rejected" : "failed", message: error.message.slice(0, 400) };
  } finally {
    await raster?.close();
  }
}

/** Releases the memory of the previous file; buffers are freed after the collection, on another thread. */
async function releaseMemory() {
  for (let i = 0; i < 3; i++) {
    globalThis.gc?.();
    await setTimeout(2);
  }
}

function cpuMs({ user, system }) {
  return (user + system) / 1000;
}

/** Resets the peak memory of the process on Linux; elsewhere the peak covers all files so far. */
function resetPeak() {
  try {
    writeFileSync("/proc/self/clear_refs", "5");
  } catch {
    // Not Linux: the peak of all files so far is an upper bound for each.
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
