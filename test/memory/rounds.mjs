// Samples the same locations repeatedly, in a separate process so that only this work uses its memory, and prints
// one JSON line per round. The first argument holds the parameters as JSON. Run with --expose-gc.
import { readFileSync } from "node:fs";
import { openAtlas } from "../../dist/index.js";

const { address, cacheBytes, workers, rounds, locationCount, radiusKm, method } = JSON.parse(process.argv[2]);
const LAYERS = ["intensity", "depth_meters", "probability"].map((metric) => ({
  scenario: "rcp4p5",
  analysisYear: 2030,
  metric,
}));

// This program keeps its data in typed arrays, so that its own garbage is not attributed to the engine.
const state = Uint32Array.of(20_260_101);
/** Returns a random number of at least 0 and below 1 (splitmix32). */
function random() {
  state[0] += 0x9e3779b9;
  let mixed = Math.imul(state[0] ^ (state[0] >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}

const latitudes = new Float64Array(locationCount);
const longitudes = new Float64Array(locationCount);
const TOWN_COUNT = 400;
const townLatitudes = new Float64Array(TOWN_COUNT);
const townLongitudes = new Float64Array(TOWN_COUNT);
for (let town = 0; town < TOWN_COUNT; town++) {
  townLatitudes[town] = random() * 130 - 60;
  townLongitudes[town] = random() * 359 - 179.5;
}
for (let i = 0; i < locationCount; i++) {
  // Points are anywhere; circles are around towns, as in portfolios.
  const town = Math.floor(random() * TOWN_COUNT);
  latitudes[i] = radiusKm === 0 ? random() * 180 - 90 : townLatitudes[town] + (random() - 0.5) * 0.6;
  longitudes[i] = radiusKm === 0 ? random() * 360 - 180 : townLongitudes[town] + (random() - 0.5) * 0.6;
}

/** Returns the peak resident memory. On Linux, `maxRSS` includes the parent's memory at the time of the fork. */
function peakRssBytes() {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS * 1024;
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))[1]) * 1024;
}

const atlas = await openAtlas(address, { cacheBytes, workers });
const request = { hazard: "riverine_floods", layers: LAYERS, latitudes, longitudes, radiusKm, method };
for (let round = 0; round < rounds; round++) {
  const start = performance.now();
  let { values } = await atlas.sample(request);
  let foundCount = 0;
  for (let i = 0; i < values.length; i++) if (!Number.isNaN(values[i])) foundCount += 1;
  const seconds = (performance.now() - start) / 1000;
  const { arrayBuffers } = process.memoryUsage(); // while the result is still referenced
  values = undefined;
  globalThis.gc();
  await new Promise((resolve) => setTimeout(resolve, 50));
  globalThis.gc(); // collects array buffers released by the first collection
  const { heapUsed, external } = process.memoryUsage();
  const report = {
    round,
    foundCount,
    seconds,
    /** Memory referenced by this thread, including locations and tiles; it is more stable than resident memory. */
    referencedBytes: heapUsed + external,
    rssBytes: process.memoryUsage.rss(),
    peakRssBytes: peakRssBytes(),
    arrayBuffersBytes: arrayBuffers,
  };
  console.log(JSON.stringify(report));
}
await atlas.close();
