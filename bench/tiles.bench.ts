/**
 * Map tiles: tiles per second and CPU time per tile, against a bare node:http server that sends the same bytes; and the
 * latency of GET hazard-risk beside a client that pans a map. The contenders are interleaved in rounds. The loads are
 * closed-loop, except for the map client, which requests a screen of tiles at fixed times, as a browser does.
 *
 * The host keeps the bodies of recent tiles, at most 32 MiB: 85 value tiles or some thousand images. Requested in turn, the
 * value tiles of a set are computed every time, because there are more than 85; the images are computed once.
 */
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { Kernel } from "../src/kernel/instance.ts";
import { pixelOfLatitude, pixelOfLongitude, TILE_PIXELS } from "../src/tiles/mercator.ts";
import { measureThroughput, startServer, type Throughput } from "./forkedServer.ts";
import { median } from "./measure.ts";
import { print } from "./row.ts";
import type { FixedResponse } from "./tileServer.ts";
import { prepare, WORKLOADS, type WorkloadSpec } from "./workload.ts";

const CONNECTION_COUNT = 8;
const ROUNDS = 7;
const ROUND_MS = 700;
/** Time over which the latencies of one round are measured: several moves of the map. */
const LATENCY_ROUND_MS = 2000;
/** Tiles that a map client requests at once when it is moved, the time between two moves, and its connections. */
const PAN = { tileCount: 12, intervalMs: 250, connectionCount: 6 } as const;

interface TileSet {
  readonly name: string;
  readonly z: number;
  readonly extension: "bin" | "png";
  readonly coding: "identity" | "gzip";
}

const TILE_SETS: readonly TileSet[] = [
  { name: "computed values of cells, plain", z: 8, extension: "bin", coding: "identity" },
  { name: "computed values of cells, gzip", z: 8, extension: "bin", coding: "gzip" },
  { name: "cached images of cells", z: 8, extension: "png", coding: "identity" },
  { name: "cached images of block maxima", z: 5, extension: "png", coding: "identity" },
];

const spec = workloadSpec();
const workload = await prepare(await Kernel.load(), spec, { withCompetitorData: false });
const host = await startServer("tileServer.js", { kind: "host", atlasFolder: workload.atlasFolder });
const bare = await startServer("tileServer.js", { kind: "bare", atlasFolder: workload.atlasFolder });
try {
  for (const tileSet of TILE_SETS) await compareThroughput(tileSet);
  await compareLatency();
} finally {
  for (const { child } of [host, bare]) child.disconnect();
}

async function compareThroughput(tileSet: TileSet): Promise<void> {
  const paths = tilePaths(tileSet);
  const header = `Accept-Encoding: ${tileSet.coding}`;
  const responses = await Promise.all(paths.map((path) => fetchFixed(path, tileSet.coding)));
  bare.child.send(responses);
  await once(bare.child, "message");
  const samples = { host: [] as Throughput[], bare: [] as Throughput[] };
  for (let round = -1; round < ROUNDS; round++) {
    for (const [name, server] of [["host", host] as const, ["bare", bare] as const]) {
      const sample = await measureThroughput(server, {
        paths,
        headers: [header],
        connectionCount: CONNECTION_COUNT,
        roundMs: ROUND_MS,
      });
      if (round >= 0) samples[name].push(sample);
    }
  }
  const row = { bench: "tiles", name: tileSet.name, against: "bare node:http, the same bytes" };
  const medianOf = (name: "host" | "bare", figure: keyof Throughput): number =>
    median(samples[name].map((sample) => sample[figure]));
  const [ours, theirs] = [medianOf("host", "perS"), medianOf("bare", "perS")];
  print({ ...row, unit: "tiles/s", ours, theirs, ratio: ours / theirs });
  const [oursUs, theirsUs] = [medianOf("host", "cpuUs"), medianOf("bare", "cpuUs")];
  print({ ...row, unit: "us of CPU per tile, all threads", ours: oursUs, theirs: theirsUs, ratio: theirsUs / oursUs });
}

function workloadSpec(): WorkloadSpec {
  const found = WORKLOADS.find(({ name }) => name === "lat45");
  if (found === undefined) throw new Error("the workload lat45 is not defined");
  return found;
}

/** Measures the latency of queries with and without a client that pans a map, in turn. */
async function compareLatency(): Promise<void> {
  const paths = tilePaths({ z: 8, extension: "bin" });
  let requestedCount = 0;
  // Continues in the next round where the last one ended, so that no tile is in memory.
  const nextPath = (): string => paths[requestedCount++ % paths.length] ?? "";
  const figures = { alone: [] as number[], beside: [] as number[] };
  for (let round = -1; round < ROUNDS; round++) {
    const alone = await measureP99Ms();
    const stop = startPanning(nextPath);
    const beside = await measureP99Ms();
    await stop();
    if (round < 0) continue;
    figures.alone.push(alone);
    figures.beside.push(beside);
  }
  const [ours, theirs] = [median(figures.beside), median(figures.alone)];
  print({
    bench: "tiles",
    name: "p99 of GET hazard-risk beside a panning client, tiles computed",
    unit: "ms",
    ours,
    against: "the same GETs alone",
    theirs,
    ratio: ours / theirs,
    note: `${requestedCount} value tiles, ${paths.length} different ones in turn`,
  });
}

/** Returns the paths of the tiles of a zoom that cover the grid. */
function tilePaths({ z, extension }: Pick<TileSet, "z" | "extension">): readonly string[] {
  const { northDeg, westDeg, cellSizeLatDeg, cellSizeLonDeg, rowCount, columnCount } = spec.grid;
  const tileOf = (pixel: number): number => Math.floor(pixel / TILE_PIXELS);
  const [firstX, lastX] = [westDeg, westDeg + columnCount * cellSizeLonDeg].map((lon) =>
    tileOf(pixelOfLongitude(z, lon)),
  );
  const [firstY, lastY] = [northDeg, northDeg - rowCount * cellSizeLatDeg].map((lat) =>
    tileOf(pixelOfLatitude(z, lat)),
  );
  const paths: string[] = [];
  for (let y = firstY ?? 0; y <= (lastY ?? -1); y++) {
    for (let x = firstX ?? 0; x <= (lastX ?? -1); x++) {
      paths.push(`/api/v1/tiles/riverine_floods/rcp8p5/2050/depth_meters/${z}/${x}/${y}.${extension}`);
    }
  }
  return paths;
}

/** Fetches a tile from the host without decoding its body. */
async function fetchFixed(path: string, coding: string): Promise<FixedResponse> {
  const fields = Object.fromEntries(host.headers.map((line) => line.split(": ")));
  const request = get({ host: "127.0.0.1", port: host.port, path, headers: { ...fields, "Accept-Encoding": coding } });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  if (response.statusCode !== 200) throw new Error(Buffer.concat(parts).toString());
  const body = Buffer.concat(parts);
  const encoding = response.headers["content-encoding"];
  return {
    path,
    fields: [
      "Content-Type",
      response.headers["content-type"] ?? "",
      "Content-Length",
      String(body.length),
      ...(encoding === undefined ? [] : ["Content-Encoding", encoding]),
    ],
    bodyBase64: body.toString("base64"),
  };
}

/** Sends queries one after another for a fixed time. @returns the 99th percentile of their latencies */
async function measureP99Ms(): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const latenciesMs: number[] = [];
  const endMs = performance.now() + LATENCY_ROUND_MS;
  for (let i = 0; performance.now() < endMs; i++) {
    const { latDeg, lonDeg } = workload.places[i % workload.places.length] ?? { latDeg: 45, lonDeg: 15 };
    const query = `latitude=${latDeg}&longitude=${lonDeg}&hazards=riverine_floods&analysis_years=2050&scenarios=rcp8p5`;
    const startMs = performance.now();
    await fetchThrough(agent, `/api/v1/hazard-risk?${query}&radius=10`);
    latenciesMs.push(performance.now() - startMs);
  }
  agent.destroy();
  return latenciesMs.toSorted((a, b) => a - b)[Math.floor(latenciesMs.length * 0.99)] ?? NaN;
}

/**
 * Requests a screen of tiles at once, and then at fixed times.
 * @returns a function that stops, and waits for the open requests
 */
function startPanning(nextPath: () => string): () => Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: PAN.connectionCount });
  const open = new Set<Promise<void>>();
  const requestScreen = (): void => {
    for (let i = 0; i < PAN.tileCount; i++) {
      const tile = fetchThrough(agent, nextPath()).finally(() => open.delete(tile));
      open.add(tile);
    }
  };
  requestScreen();
  const timer = setInterval(requestScreen, PAN.intervalMs);
  return async () => {
    clearInterval(timer);
    await Promise.all(open);
    agent.destroy();
  };
}

async function fetchThrough(agent: Agent, path: string): Promise<void> {
  const headers = Object.fromEntries(host.headers.map((line) => line.split(": ")));
  const request = get({ agent, host: "127.0.0.1", port: host.port, path, headers });
  const [response] = (await once(request, "response")) as [IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`${path}: status ${response.statusCode}`);
  response.resume();
  await once(response, "end");
}
