/**
 * A server process measured by bulk.bench.ts: Isotherm from a folder with built files, or a bare node:http server that
 * parses the body as JSON and encodes a recorded response. Reports its CPU time and runs library calls on request.
 */
import { mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as isotherm from "../src/index.ts";
import type * as host from "../src/host/main.ts";
import { randomFrom } from "../test/seededRandom.ts";

/** Sent to the parent once the server listens. */
export interface BulkServerAddress {
  readonly port: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A request from the parent: the library call to run, or `none` to report the CPU time only. The reply is a
 * `BulkServerReport`.
 */
export type LibraryCall = "points" | "circles" | "queries" | "none";

export interface BulkServerReport {
  /** Time of the library call. */
  readonly ms: number;
  /** CPU time of the process so far, all threads. */
  readonly cpuMs: number;
}

const COUNTS = { points: 1_000_000, circles: 100_000, queries: 10_000 } as const;

const [folder = "."] = process.argv.slice(2);
const { address, run } = folder === "bare" ? await bareServer() : await isothermServer();
process.on("message", (call: LibraryCall) => {
  void (async () => {
    const startMs = performance.now();
    if (call !== "none") await run(call);
    const ms = performance.now() - startMs;
    const { user, system } = process.cpuUsage();
    process.send?.({ ms, cpuMs: (user + system) / 1000 } satisfies BulkServerReport);
  })();
});
process.on("disconnect", () => process.exit(0));
process.send?.(address);

interface RunningBulkServer {
  readonly address: BulkServerAddress;
  run(call: Exclude<LibraryCall, "none">): Promise<void>;
}

async function bareServer(): Promise<RunningBulkServer> {
  /** The response to encode; the parent sets it with PUT before each case. */
  let recordedResponse: unknown = {};
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const parsed: unknown = JSON.parse(Buffer.concat(parts).toString());
      if (request.method === "PUT") recordedResponse = parsed;
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(recordedResponse));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: { port: (server.address() as AddressInfo).port, headers: {} },
    run: () => Promise.reject(new Error("The bare server has no library.")),
  };
}

async function isothermServer(): Promise<RunningBulkServer> {
  const built = (file: string): Promise<unknown> => import(pathToFileURL(join(folder, "dist", file)).href);
  const { openAtlas } = (await built("index.js")) as typeof isotherm;
  const { serve, openLedger } = (await built("host/main.js")) as typeof host;
  const ledger = await openLedger({ data: mkdtempSync(join(tmpdir(), "isotherm-bench-bulk-")) });
  const { accountId } = await ledger.createAccount({ name: "Bench" });
  const { secret } = await ledger.createKey({ accountId });
  const { customer } = await ledger.registerCustomer({ accountId, internalId: "bench" });
  const atlas = await openAtlas("demo", { workers: Math.max(1, cpus().length - 1) });
  const limits = { requestsPerS: 1e9, requestBurst: 1e9, requestBodyBytesMax: 64 << 20 };
  const running = await serve({ atlas, ledger, host: "127.0.0.1", port: 0, limits });
  await running.ready;
  return {
    address: {
      port: running.address.port,
      headers: { "X-API-Key": secret, "X-Customer-ID": customer.customerId },
    },
    run: (call) => (call === "queries" ? runQueries(atlas) : runSample(atlas, call)),
  };
}

async function runQueries(atlas: isotherm.Atlas): Promise<void> {
  const random = randomFrom(5);
  const queries = Array.from({ length: COUNTS.queries }, (): isotherm.HazardQueryInput => ({
    latitude: random.between({ min: 40, max: 48 }),
    longitude: random.between({ min: 4, max: 16 }),
    hazards: ["cyclones", "wildfire"],
    analysis_years: [2030, 2050],
    scenarios: ["rcp8p5"],
    radius: 10,
  }));
  await atlas.hazardRiskBatch(queries);
}

async function runSample(atlas: isotherm.Atlas, call: "points" | "circles"): Promise<void> {
  const random = randomFrom(6);
  const count = COUNTS[call];
  await atlas.sample({
    hazard: "cyclones",
    layers: [{ scenario: "rcp8p5", analysisYear: 2050, metric: "wind_speed_mps" }],
    latitudes: Float64Array.from({ length: count }, () => random.between({ min: 40, max: 48 })),
    longitudes: Float64Array.from({ length: count }, () => random.between({ min: 4, max: 16 })),
    radiusKm: call === "points" ? 0 : 10,
  });
}
