// A program of its own, so that the memory it has is that of the work alone: asks the same places again and again, and
// prints one JSON line a round. What to do comes as JSON in the first argument. Run with --expose-gc.
import { readFileSync } from "node:fs";
import { openAtlas } from "../../dist/index.js";

const { address, cacheBytes, workers, rounds, placeCount, radiusKm, method } = JSON.parse(process.argv[2]);
const LAYERS = ["intensity", "depth_meters", "probability"].map((metric) => ({
  scenario: "rcp4p5",
  analysisYear: 2030,
  metric,
}));

// In arrays of numbers, here and below: what this program itself strews about would count as the engine's.
const state = Uint32Array.of(20_260_101);
/** splitmix32. */
function random() {
  state[0] += 0x9e3779b9;
  let mixed = Math.imul(state[0] ^ (state[0] >>> 16), 0x21f0aaad);
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}

const latitudes = new Float64Array(placeCount);
const longitudes = new Float64Array(placeCount);
const TOWN_COUNT = 400;
const townLatitudes = new Float64Array(TOWN_COUNT);
const townLongitudes = new Float64Array(TOWN_COUNT);
for (let town = 0; town < TOWN_COUNT; town++) {
  townLatitudes[town] = random() * 130 - 60;
  townLongitudes[town] = random() * 359 - 179.5;
}
for (let i = 0; i < placeCount; i++) {
  // Points anywhere; circles around towns, as portfolios have them.
  const town = Math.floor(random() * TOWN_COUNT);
  latitudes[i] = radiusKm === 0 ? random() * 180 - 90 : townLatitudes[town] + (random() - 0.5) * 0.6;
  longitudes[i] = radiusKm === 0 ? random() * 360 - 180 : townLongitudes[town] + (random() - 0.5) * 0.6;
}

/** The most that the system has lent. Linux counts into `maxRSS` what the parent had when it started this program. */
function peakRssBytes() {
  if (process.platform !== "linux") return process.resourceUsage().maxRSS * 1024;
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))[1]) * 1024;
}

const atlas = await openAtlas(address, { cacheBytes, workers });
const request = { hazard: "riverine_floods", layers: LAYERS, latitudes, longitudes, radiusKm, method };
for (let round = 0; round < rounds; round++) {
  const start = performance.now();
  let { values } = await atlas.sample(request);
  let found = 0;
  for (let i = 0; i < values.length; i++) if (!Number.isNaN(values[i])) found += 1;
  const seconds = (performance.now() - start) / 1000;
  const { arrayBuffers } = process.memoryUsage(); // with the answer in hand
  values = undefined;
  globalThis.gc();
  await new Promise((resolve) => setTimeout(resolve, 50));
  globalThis.gc(); // what the first freed may have held array buffers
  const { heapUsed, external } = process.memoryUsage();
  const line = {
    round,
    found,
    seconds,
    /** What this thread still holds, places and tiles included: steadier than what the system has lent. */
    heldBytes: heapUsed + external,
    rssBytes: process.memoryUsage.rss(),
    peakRssBytes: peakRssBytes(),
    arrayBuffersBytes: arrayBuffers,
  };
  console.log(JSON.stringify(line));
}
await atlas.close();
