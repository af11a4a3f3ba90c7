// Writes the coastlines of the maps in reports, src/places/summary/report/coastlines.generated.ts.
//
// The outlines are those of Natural Earth 1:50m, from world-atlas, simplified so that no coast moves by more than the
// tolerance. Rings that cross the antimeridian
// continue beyond 180 degrees. Does nothing if the file is up to date.
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { feature } from "topojson-client";
import { hashInputs, inputLine, isUpToDate } from "./generatedSource.mjs";

const TARGET = new URL("../src/places/summary/report/coastlines.generated.ts", import.meta.url);
const OUTLINES = createRequire(import.meta.url).resolve("world-atlas/land-50m.json");

const STEPS_PER_DEG = 20;
const TOLERANCE_DEG = 0.06;

const inputHash = hashInputs({ files: ["scripts/buildCoastlines.mjs"], packages: ["world-atlas", "topojson-client"] });
if (isUpToDate(TARGET, inputHash)) process.exit();

const outlines = JSON.parse(await readFile(OUTLINES, "utf8"));
const rings = feature(outlines, outlines.objects.land)
  .features.flatMap(({ geometry }) =>
    geometry.type === "Polygon" ? geometry.coordinates : geometry.coordinates.flat(),
  )
  .map((ring) => simplify(unrollRing(ring)).map((point) => point.map((deg) => Math.round(deg * STEPS_PER_DEG))))
  .map(withoutRepetition)
  .filter((ring) => ring.length >= 4);

const bytes = Buffer.from(rings.flatMap(encodeRing));
await writeFile(
  TARGET,
  `// Written by scripts/buildCoastlines.mjs from world-atlas (Natural Earth, public domain). Do not edit.
${inputLine(inputHash)}

export const COASTLINE_STEPS_PER_DEG = ${STEPS_PER_DEG};

/**
 * Closed rings in base64: for each the number of its points, then for each point the change of longitude and of latitude
 * in steps since the previous point (since 0, 0 for the first). Numbers are LEB128, signed ones in zigzag encoding.
 */
export const COASTLINE_RINGS_BASE64: string =
  "${bytes.toString("base64")}";
`,
);
const pointCount = rings.reduce((count, ring) => count + ring.length, 0);
console.log(`coastlines: ${rings.length} rings, ${pointCount} points, ${bytes.length} bytes`);

/**
 * Unwraps the longitudes of a ring. A ring around the south pole ends 360 degrees from its start and is closed along the
 * pole.
 */
function unrollRing(ring) {
  let turns = 0;
  const unrolled = ring.map(([lon, lat], i) => {
    const step = i === 0 ? 0 : lon - ring[i - 1][0];
    if (Math.abs(step) > 180) turns -= Math.sign(step);
    return [lon + 360 * turns, lat];
  });
  const [start, end] = [unrolled[0], unrolled.at(-1)];
  return start[0] === end[0] ? unrolled : [...unrolled, [end[0], -90], [start[0], -90], start];
}

/**
 * Removes points that are closer than the tolerance to the line between the points that remain (Ramer 1972, Douglas and
 * Peucker 1973).
 */
function simplify(ring) {
  const isKept = new Uint8Array(ring.length);
  // The ends of a ring coincide, so that it is divided at its most distant point first.
  const far = ring.reduce((best, point, i) => (distance(point, ring[0]) > distance(ring[best], ring[0]) ? i : best), 0);
  isKept[0] = isKept[far] = isKept[ring.length - 1] = 1;
  const open = [
    [0, far],
    [far, ring.length - 1],
  ];
  while (open.length > 0) {
    const [first, last] = open.pop();
    let farthest = -1;
    let farthestDeg = TOLERANCE_DEG;
    for (let i = first + 1; i < last; i++) {
      const deg = distanceToLine(ring[i], ring[first], ring[last]);
      if (deg > farthestDeg) [farthest, farthestDeg] = [i, deg];
    }
    if (farthest < 0) continue;
    isKept[farthest] = 1;
    open.push([first, farthest], [farthest, last]);
  }
  return ring.filter((_, i) => isKept[i] === 1);
}

function distance([x, y], [otherX, otherY]) {
  return Math.hypot(x - otherX, y - otherY);
}

function distanceToLine(point, start, end) {
  const [dx, dy] = [end[0] - start[0], end[1] - start[1]];
  const square = dx * dx + dy * dy;
  const share = square === 0 ? 0 : ((point[0] - start[0]) * dx + (point[1] - start[1]) * dy) / square;
  const clamped = Math.min(1, Math.max(0, share));
  return distance(point, [start[0] + clamped * dx, start[1] + clamped * dy]);
}

function withoutRepetition(ring) {
  return ring.filter(([x, y], i) => i === 0 || x !== ring[i - 1][0] || y !== ring[i - 1][1]);
}

function encodeRing(ring) {
  const changes = ring.flatMap(([x, y], i) => (i === 0 ? [x, y] : [x - ring[i - 1][0], y - ring[i - 1][1]]));
  return [...encodeNumber(ring.length), ...changes.flatMap((change) => encodeNumber((change << 1) ^ (change >> 31)))];
}

function encodeNumber(number) {
  const encoded = [];
  let rest = number;
  for (; rest > 127; rest >>>= 7) encoded.push((rest & 127) | 128);
  return [...encoded, rest];
}
