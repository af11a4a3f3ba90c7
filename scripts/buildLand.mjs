// Measures the way to the coast for the demo's world and writes src/demo/land.generated.ts.
//
// The outlines are Natural Earth's, through world-atlas: the coast of the Caspian among them, other lakes
// not, so that these count as land. A node of the field lies on every tenth of a degree and holds the signed
// distance to the nearest coast, positive on land. Distances are stored as their signed square roots, which
// gives the shore the finest steps and leaves one byte for each node; a planar predictor, then DEFLATE,
// make the file small. The same outlines give the same nodes on every machine; their SHA-256 names them, because
// the deflated bytes may differ with the version of zlib.
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { deflateRawSync } from "node:zlib";
import { feature } from "topojson-client";

const TARGET = new URL("../src/demo/land.generated.ts", import.meta.url);
const OUTLINES = createRequire(import.meta.url).resolve("world-atlas/land-10m.json");

const NODES_PER_DEG = 10;
const COLUMNS = 360 * NODES_PER_DEG;
/** Both poles have a row of nodes. */
const ROWS = 180 * NODES_PER_DEG + 1;
const EARTH_RADIUS_KM = 6371;
/** Further from the coast nothing in the demo depends on how far. */
const INLAND_KM_MAX = 400;
const OFFSHORE_KM_MAX = 50;
const CODE_MAX = 127;
/** Coasts are taken as points no further apart than this. */
const COAST_STEP_KM = 1;
const DEGREE = Math.PI / 180;

const outlines = JSON.parse(await readFile(OUTLINES, "utf8"));
const polygons = feature(outlines, outlines.objects.land).features.flatMap(({ geometry }) =>
  geometry.type === "Polygon" ? [geometry.coordinates.map(unrolled)] : geometry.coordinates.map((p) => p.map(unrolled)),
);

const isLand = landNodes(polygons.flat());
const islands = keepSmallIslands(polygons, isLand);
const nearest = squaredChords(coastPoints(polygons.flat()));
const codes = encodeDistances(isLand, islands, nearest);

const deflated = deflateRawSync(predicted(codes), { level: 9 });
await writeFile(
  TARGET,
  `// Written by scripts/buildLand.mjs from world-atlas (Natural Earth, public domain). Not edited by hand.

/** Nodes of the field on one degree, from 90 north and 180 west; both poles have a row, 180 east has no column. */
export const LAND_NODES_PER_DEG = ${NODES_PER_DEG};

/** Distance to the coast in km is code x |code| times this; positive on land. */
export const LAND_KM_PER_SQUARE = ${INLAND_KM_MAX} / ${CODE_MAX ** 2};

/** SHA-256 of the field's codes, i8[row][column]. */
export const LAND_SHA256 = "${createHash("sha256").update(codes).digest("hex")}";

/**
 * The codes, each less its prediction (west + north - north-west neighbour, 0 beyond the field's edges)
 * modulo 256, in raw DEFLATE and base64.
 */
export const LAND_DEFLATED_BASE64 =
  "${deflated.toString("base64")}";
`,
);
const landShare = isLand.reduce((sum, land) => sum + land, 0) / isLand.length;
console.log(
  `land: ${ROWS} x ${COLUMNS} nodes, ${(100 * landShare).toFixed(1)} % land, ${deflated.length} bytes deflated`,
);

/**
 * A ring with longitudes that go on beyond 180 degrees where it crosses the antimeridian. One that goes round the
 * south pole ends 360 degrees from where it began.
 */
function unrolled(ring) {
  let turns = 0;
  return ring.map(([lon, lat], i) => {
    const step = i === 0 ? 0 : lon - ring[i - 1][0];
    if (Math.abs(step) > 180) turns -= Math.sign(step);
    return [lon + 360 * turns, lat];
  });
}

/** Which nodes lie inside the outlines. Each ring turns what it holds, so a hole undoes what surrounds it. */
function landNodes(rings) {
  const nodes = new Uint8Array(ROWS * COLUMNS);
  for (const ring of rings) {
    const [start, end] = [ring[0], ring.at(-1)];
    const closed = start[0] === end[0] ? ring : [...ring, [end[0], -90.01], [start[0], -90.01], start];
    const crossings = new Map();
    for (let i = 1; i < closed.length; i++) {
      const [south, north] = closed[i - 1][1] < closed[i][1] ? [closed[i - 1], closed[i]] : [closed[i], closed[i - 1]];
      // An edge owns its southern end and not its northern: a corner on the parallel counts once.
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
      if (lons.length % 2 !== 0) throw new Error(`An outline is not closed at latitude ${90 - row / NODES_PER_DEG}.`);
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
 * Islands that fall between the nodes would vanish: the node nearest to the middle of each becomes land, as deep inland
 * as the island's size allows.
 *
 * @returns for such nodes their distance to the coast, km
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

/** Points of the coast as unit vectors, f64[count][3]. */
function coastPoints(rings) {
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
 * Squared chord, on the unit sphere, from each node to the nearest point of the coast. Each point tells the nodes
 * around it; from there its number is handed on from neighbour to neighbour in sweeps (Danielsson, "Euclidean
 * distance mapping", 1980, here on the sphere): a node mostly shares its nearest point with some neighbour.
 */
function squaredChords(points) {
  const cosLons = Float64Array.from({ length: COLUMNS }, (_, j) => Math.cos((j / NODES_PER_DEG - 180) * DEGREE));
  const sinLons = Float64Array.from({ length: COLUMNS }, (_, j) => Math.sin((j / NODES_PER_DEG - 180) * DEGREE));
  const owners = new Int32Array(ROWS * COLUMNS).fill(-1);
  const squares = new Float64Array(ROWS * COLUMNS).fill(8);

  let row = 0;
  let cosLat = 0;
  let sinLat = 0;
  const enterRow = (entered) => {
    row = entered;
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
    const before = Math.floor((lonDeg + 180) * NODES_PER_DEG) % COLUMNS;
    for (let r = above; r <= above + 1; r++) {
      enterRow(r);
      offer(before, owner);
      offer((before + 1) % COLUMNS, owner);
    }
  }

  const sweepRow = (r, neighbourRow) => {
    enterRow(r);
    const base = r * COLUMNS;
    const other = neighbourRow * COLUMNS;
    for (let column = 0; column < COLUMNS; column++) {
      const west = column === 0 ? COLUMNS - 1 : column - 1;
      const east = column === COLUMNS - 1 ? 0 : column + 1;
      if (neighbourRow >= 0 && neighbourRow < ROWS) {
        offer(column, owners[other + west]);
        offer(column, owners[other + column]);
        offer(column, owners[other + east]);
      }
      offer(column, owners[base + west]);
    }
    for (let column = COLUMNS - 1; column >= 0; column--) {
      offer(column, owners[base + (column === COLUMNS - 1 ? 0 : column + 1)]);
    }
  };
  // Twice, because a row that closes on itself has no first column to start from.
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

function predicted(field) {
  const at = (row, column) => (row < 0 || column < 0 ? 0 : field[row * COLUMNS + column]);
  const residuals = new Uint8Array(field.length);
  for (let row = 0; row < ROWS; row++) {
    for (let column = 0; column < COLUMNS; column++) {
      const prediction = at(row, column - 1) + at(row - 1, column) - at(row - 1, column - 1);
      residuals[row * COLUMNS + column] = at(row, column) - prediction;
    }
  }
  return residuals;
}
