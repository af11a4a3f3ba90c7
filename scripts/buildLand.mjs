// Computes the distances to the coast for the demo world and writes src/demo/land.generated.ts.
//
// The outlines are those of Natural Earth, from world-atlas. They include the coast of the Caspian Sea but no other
// lakes, which are therefore treated as land. The grid has a node at every tenth of a degree with the signed distance
// to the nearest coast, positive on land. Distances are stored as signed square roots, which gives the finest steps at
// the shore and needs one byte per node; a planar predictor and DEFLATE then make the file small. The same outlines
// give the same nodes on every machine; the SHA-256 identifies the nodes, because the deflated bytes may depend on the
// zlib version. Does nothing if the file is up to date.
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { constants, deflateRawSync } from "node:zlib";
import { feature } from "topojson-client";
import { hashInputs, inputLine, isUpToDate } from "./generatedSource.mjs";

const TARGET = new URL("../src/demo/land.generated.ts", import.meta.url);
const OUTLINES = createRequire(import.meta.url).resolve("world-atlas/land-10m.json");

const NODES_PER_DEG = 10;
const COLUMNS = 360 * NODES_PER_DEG;
/** Both poles have a row of nodes. */
const ROWS = 180 * NODES_PER_DEG + 1;
const EARTH_RADIUS_KM = 6371;
/** Upper limits of the stored distances; nothing in the demo depends on larger ones. */
const INLAND_KM_MAX = 400;
const OFFSHORE_KM_MAX = 50;
const CODE_MAX = 127;
/** Maximum spacing of the points that represent a coast. */
const COAST_STEP_KM = 1;
const DEGREE = Math.PI / 180;

const inputHash = hashInputs({ files: ["scripts/buildLand.mjs"], packages: ["world-atlas", "topojson-client"] });
if (isUpToDate(TARGET, inputHash)) process.exit();

const outlines = JSON.parse(await readFile(OUTLINES, "utf8"));
const polygons = feature(outlines, outlines.objects.land).features.flatMap(({ geometry }) =>
  geometry.type === "Polygon"
    ? [geometry.coordinates.map(unrollRing)]
    : geometry.coordinates.map((p) => p.map(unrollRing)),
);

const isLand = findLandNodes(polygons.flat());
const islands = keepSmallIslands(polygons, isLand);
const nearest = findNearestSquaredChords(sampleCoast(polygons.flat()));
const codes = encodeDistances(isLand, islands, nearest);

// Z_RLE compresses the residuals best: the result is 5 % smaller than with zlib's default strategy.
const deflated = deflateRawSync(computePredictionResiduals(codes), {
  level: 9,
  memLevel: 9,
  strategy: constants.Z_RLE,
});
await writeFile(
  TARGET,
  `// Written by scripts/buildLand.mjs from world-atlas (Natural Earth, public domain). Do not edit.
${inputLine(inputHash)}

/** Nodes per degree, starting at 90 north and 180 west; both poles have a row, 180 east has no column. */
export const LAND_NODES_PER_DEG = ${NODES_PER_DEG};

/** Kilometers per squared code: the distance to the coast is code x |code| times this, positive on land. */
export const LAND_KM_PER_CODE_SQUARED = ${INLAND_KM_MAX} / ${CODE_MAX ** 2};

/** SHA-256 of the codes, i8[row][column]. */
export const LAND_SHA256 = "${createHash("sha256").update(codes).digest("hex")}";

/**
 * The codes minus their prediction (west + north - northwest neighbor, 0 beyond the edges)
 * modulo 256, as raw DEFLATE in base64.
 */
export const LAND_DEFLATED_BASE64: string =
  "${deflated.toString("base64")}";
`,
);
const landShare = isLand.reduce((sum, land) => sum + land, 0) / isLand.length;
console.log(
  `land: ${ROWS} x ${COLUMNS} nodes, ${(100 * landShare).toFixed(1)} % land, ${deflated.length} bytes deflated`,
);

/**
 * Unwraps the longitudes of a ring, which continue beyond 180 degrees where it crosses the antimeridian. A ring around
 * the south pole ends 360 degrees from its start.
 */
function unrollRing(ring) {
  let turns = 0;
  return ring.map(([lon, lat], i) => {
    const step = i === 0 ? 0 : lon - ring[i - 1][0];
    if (Math.abs(step) > 180) turns -= Math.sign(step);
    return [lon + 360 * turns, lat];
  });
}

/** Returns which nodes are inside the outlines. Each ring toggles the nodes it encloses, so that holes are excluded. */
function findLandNodes(rings) {
  const nodes = new Uint8Array(ROWS * COLUMNS);
  for (const ring of rings) {
    const [start, end] = [ring[0], ring.at(-1)];
    const closedRing = start[0] === end[0] ? ring : [...ring, [end[0], -90.01], [start[0], -90.01], start];
    const crossings = new Map();
    for (let i = 1; i < closedRing.length; i++) {
      const [south, north] =
        closedRing[i - 1][1] < closedRing[i][1]
          ? [closedRing[i - 1], closedRing[i]]
          : [closedRing[i], closedRing[i - 1]];
      // An edge includes its southern end and excludes its northern end, so that a corner on the parallel is counted once.
      const last = Math.min(ROWS - 1, Math.floor((90 - south[1]) * NODES_PER_DEG));
      for (let row = Math.ceil((90 - north[1]) * NODES_PER_DEG); row <= last; row++) {
        const lat = 90 - row / NODES_PER_DEG;
        if (lat < south[1] || lat >= north[1]) continue;
        const share = (lat - south[1]) / (north[1] - south[1]);
        const lons = crossings.get(row) ?? [];
        lons.push(south[0] + share * (north[0] - south[0]));
        crossings.set(row, lons);
      }
    }
    for (const [row, lons] of crossings) {
      lons.sort((a, b) => a - b);
      if (lons.length % 2 !== 0) throw new Error(`an outline is not closed at latitude ${90 - row / NODES_PER_DEG}`);
      for (let i = 0; i < lons.length; i += 2) {
        const columnEnd = Math.ceil((lons[i + 1] + 180) * NODES_PER_DEG);
        for (let column = Math.ceil((lons[i] + 180) * NODES_PER_DEG); column < columnEnd; column++) {
          nodes[row * COLUMNS + modulo(column, COLUMNS)] ^= 1;
        }
      }
    }
  }
  return nodes;
}

function modulo(value, divisor) {
  return ((value % divisor) + divisor) % divisor;
}

/**
 * Keeps islands that fall between the nodes: the node nearest to the middle of each becomes land, as far inland as the
 * island's size allows.
 *
 * @returns the distance to the coast of each such node, km
 */
function keepSmallIslands(all, nodes) {
  const kept = new Map();
  for (const [ring] of all) {
    const lons = ring.map(([lon]) => lon);
    const lats = ring.map(([, lat]) => lat);
    const [west, east] = [Math.min(...lons), Math.max(...lons)];
    const [south, north] = [Math.min(...lats), Math.max(...lats)];
    if (east - west > 0.3 || north - south > 0.3) continue;
    const row = Math.round((90 - (south + north) / 2) * NODES_PER_DEG);
    const column = modulo(Math.round(((west + east) / 2 + 180) * NODES_PER_DEG), COLUMNS);
    const node = row * COLUMNS + column;
    if (nodes[node] === 1 && !kept.has(node)) continue;
    const kmPerDeg = EARTH_RADIUS_KM * DEGREE;
    const radiusKm = Math.sqrt((north - south) * (east - west) * Math.cos(north * DEGREE)) * kmPerDeg * 0.4;
    nodes[node] = 1;
    kept.set(node, Math.max(radiusKm, kept.get(node) ?? 0.5));
  }
  return kept;
}

/** Returns points of the coast as unit vectors, f64[count][3]. */
function sampleCoast(rings) {
  const points = [];
  for (const ring of rings) {
    for (let i = 1; i < ring.length; i++) {
      const [from, to] = [ring[i - 1], ring[i]];
      const widthDeg = (to[0] - from[0]) * Math.cos(((from[1] + to[1]) / 2) * DEGREE);
      const lengthKm = Math.hypot(widthDeg, to[1] - from[1]) * DEGREE * EARTH_RADIUS_KM;
      const count = Math.max(1, Math.ceil(lengthKm / COAST_STEP_KM));
      for (let k = 0; k < count; k++) {
        points.push(
          ...unitVector(from[1] + (k / count) * (to[1] - from[1]), from[0] + (k / count) * (to[0] - from[0])),
        );
      }
    }
  }
  return Float64Array.from(points);
}

function unitVector(latDeg, lonDeg) {
  const cosLat = Math.cos(latDeg * DEGREE);
  return [cosLat * Math.cos(lonDeg * DEGREE), cosLat * Math.sin(lonDeg * DEGREE), Math.sin(latDeg * DEGREE)];
}

/**
 * Returns for each node the squared chord, on the unit sphere, to the nearest point of the coast. Each coast point is
 * assigned to the nodes around it, then propagated from neighbor to neighbor in sweeps (Danielsson, "Euclidean distance
 * mapping", 1980, here on the sphere), because the nearest point of a node is usually that of some neighbor.
 */
function findNearestSquaredChords(points) {
  const cosLons = Float64Array.from({ length: COLUMNS }, (_, j) => Math.cos((j / NODES_PER_DEG - 180) * DEGREE));
  const sinLons = Float64Array.from({ length: COLUMNS }, (_, j) => Math.sin((j / NODES_PER_DEG - 180) * DEGREE));
  const owners = new Int32Array(ROWS * COLUMNS).fill(-1);
  const squares = new Float64Array(ROWS * COLUMNS).fill(8);

  let row = 0;
  let cosLat = 0;
  let sinLat = 0;
  const selectRow = (selected) => {
    row = selected;
    cosLat = Math.cos((90 - row / NODES_PER_DEG) * DEGREE);
    sinLat = Math.sin((90 - row / NODES_PER_DEG) * DEGREE);
  };
  const offer = (column, owner) => {
    const node = row * COLUMNS + column;
    if (owner < 0 || owner === owners[node]) return;
    const dx = cosLat * cosLons[column] - points[owner * 3];
    const dy = cosLat * sinLons[column] - points[owner * 3 + 1];
    const dz = sinLat - points[owner * 3 + 2];
    const square = dx * dx + dy * dy + dz * dz;
    if (square < squares[node]) {
      squares[node] = square;
      owners[node] = owner;
    }
  };

  for (let owner = 0; owner * 3 < points.length; owner++) {
    const latDeg = Math.asin(Math.min(1, Math.max(-1, points[owner * 3 + 2]))) / DEGREE;
    const lonDeg = Math.atan2(points[owner * 3 + 1], points[owner * 3]) / DEGREE;
    const above = Math.min(ROWS - 2, Math.floor((90 - latDeg) * NODES_PER_DEG));
    const westColumn = Math.floor((lonDeg + 180) * NODES_PER_DEG) % COLUMNS;
    for (let r = above; r <= above + 1; r++) {
      selectRow(r);
      offer(westColumn, owner);
      offer((westColumn + 1) % COLUMNS, owner);
    }
  }

  const sweepRow = (r, neighborRow) => {
    selectRow(r);
    const rowStart = r * COLUMNS;
    const neighborRowStart = neighborRow * COLUMNS;
    for (let column = 0; column < COLUMNS; column++) {
      const west = column === 0 ? COLUMNS - 1 : column - 1;
      const east = column === COLUMNS - 1 ? 0 : column + 1;
      if (neighborRow >= 0 && neighborRow < ROWS) {
        offer(column, owners[neighborRowStart + west]);
        offer(column, owners[neighborRowStart + column]);
        offer(column, owners[neighborRowStart + east]);
      }
      offer(column, owners[rowStart + west]);
    }
    for (let column = COLUMNS - 1; column >= 0; column--) {
      offer(column, owners[rowStart + (column === COLUMNS - 1 ? 0 : column + 1)]);
    }
  };
  // Two rounds, because a row that wraps around has no first column to start from.
  for (let round = 0; round < 2; round++) {
    for (let r = 0; r < ROWS; r++) sweepRow(r, r - 1);
    for (let r = ROWS - 1; r >= 0; r--) sweepRow(r, r + 1);
  }
  return squares;
}

function encodeDistances(nodes, islandKm, squares) {
  const result = new Int8Array(ROWS * COLUMNS);
  for (let node = 0; node < result.length; node++) {
    const arcKm = 2 * Math.asin(Math.min(1, Math.sqrt(squares[node]) / 2)) * EARTH_RADIUS_KM;
    const distanceKm = Math.min(islandKm.get(node) ?? arcKm, nodes[node] === 1 ? INLAND_KM_MAX : OFFSHORE_KM_MAX);
    const code = Math.round(CODE_MAX * Math.sqrt(distanceKm / INLAND_KM_MAX));
    result[node] = nodes[node] === 1 ? Math.max(1, code) : -code;
  }
  return result;
}

function computePredictionResiduals(field) {
  const codeAt = (row, column) => (row < 0 || column < 0 ? 0 : field[row * COLUMNS + column]);
  const residuals = new Uint8Array(field.length);
  for (let row = 0; row < ROWS; row++) {
    for (let column = 0; column < COLUMNS; column++) {
      const prediction = codeAt(row, column - 1) + codeAt(row - 1, column) - codeAt(row - 1, column - 1);
      residuals[row * COLUMNS + column] = codeAt(row, column) - prediction;
    }
  }
  return residuals;
}
