/**
 * Latency of small GETs while another client sends batches of the maximum size back to back. The load is open-loop:
 * requests are sent on a fixed schedule and their latency is measured from the scheduled time, so if a server stalls
 * for a second, the delay counts for every request that was due in that second. Server, batch client and GET client
 * each run in a separate process. Needs `npm run build`; uses the demo atlas. The ledger is kept on tmpfs if available,
 * to exclude disk latency.
 *
 *   npm run bench -- load                    5 s each, three rounds
 *   npm run bench -- load seconds=20
 *   npm run bench -- load rate=500           500 GETs per second instead of half of the server's capacity
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { constants, cpus, setPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type * as isotherm from "../src/index.ts";
import type * as host from "../src/host/main.ts";
import type * as ledgers from "../src/ledger/openLedger.ts";
import { median } from "./measure.ts";
import { print } from "./row.ts";

const DURATION_S = parseNumberArgument("seconds") ?? 5;
const ROUNDS = 3;
const CONNECTION_COUNT = 64;
const GET_QUERY = "hazards=cyclones&analysis_years=2030,2050&scenarios=rcp4p5,rcp8p5";
const BATCH_COUNT = 10_000;

/** The server's port, and the request headers of two accounts. */
interface ServerAddress {
  readonly port: number;
  readonly headers: readonly [string, string];
}

async function measure(): Promise<void> {
  process.once("SIGTERM", () => process.exit(1));
  for (const kind of ["workers", "inline"] as const) {
    const { address, server } = await startServer(kind);
    const requestsPerS = parseNumberArgument("rate") ?? (await measureCapacity(address)) / 2;
    const alone: number[] = [];
    const loaded: number[] = [];
    let batchCount = 0;
    for (let round = 0; round < ROUNDS; round++) {
      alone.push(await measureP99Ms(address, requestsPerS));
      const batches = startProcess("role=batches", JSON.stringify(address));
      await readFirstLine(batches);
      loaded.push(await measureP99Ms(address, requestsPerS));
      batchCount += await stopAndCountBatches(batches);
    }
    server.kill("SIGTERM");
    print({
      bench: "load",
      name: `p99 of small GETs during maximum-size batches ${kind === "workers" ? "in workers" : "on the event loop"}`,
      unit: "ms",
      ours: median(loaded),
      against: "the same GETs alone",
      theirs: median(alone),
      ratio: median(loaded) / median(alone),
      ...(kind === "workers" ? { target: { atMost: 2 } } : {}),
      note:
        `${Math.round(requestsPerS)} GETs/s${parseNumberArgument("rate") === undefined ? ", half of capacity" : ""}; ` +
        `${((BATCH_COUNT * batchCount) / (ROUNDS * DURATION_S)).toFixed(0)} elements/s; ${cpus().length} cores shared by all processes`,
    });
  }
}

/** Returns the 99th percentile of the latencies of GETs scheduled at regular intervals, in milliseconds. */
async function measureP99Ms({ port, headers }: ServerAddress, requestsPerS: number): Promise<number> {
  const count = Math.round(requestsPerS * DURATION_S);
  const times = new Float64Array(count);
  const connections = await Promise.all(
    Array.from({ length: CONNECTION_COUNT }, () => Connection.open(port, headers[0])),
  );
  const startMs = performance.now() + 20;
  let next = 0;
  let answered = 0;
  await new Promise<void>((resolve, reject) => {
    const free = [...connections];
    const send = (): void => {
      while (next < count && startMs + (1000 * next) / requestsPerS <= performance.now()) {
        const connection = free.pop();
        // A request that is due while all connections are busy waits; its latency includes the wait.
        if (connection === undefined) return;
        const index = next++;
        connection.get(index).then(() => {
          times[index] = performance.now() - (startMs + (1000 * index) / requestsPerS);
          free.push(connection);
          if (++answered === count) resolve();
          else send();
        }, reject);
      }
    };
    // Polls with a 1 ms timer, because busy polling would take a core from a server that may have only two.
    const timer = setInterval(() => {
      send();
      if (next >= count) clearInterval(timer);
    }, 1);
  });
  for (const connection of connections) connection.close();
  return times.toSorted()[Math.floor(0.99 * count)] ?? NaN;
}

/** Returns the GETs per second reached when each connection sends its next request as soon as a response arrives. */
async function measureCapacity({ port, headers }: ServerAddress): Promise<number> {
  const connections = await Promise.all(
    Array.from({ length: CONNECTION_COUNT }, () => Connection.open(port, headers[0])),
  );
  const run = async (durationMs: number): Promise<number> => {
    let count = 0;
    const endMs = performance.now() + durationMs;
    await Promise.all(
      connections.map(async (connection) => {
        while (performance.now() < endMs) await connection.get(count++);
      }),
    );
    return count / (durationMs / 1000);
  };
  await run(1500);
  const requestsPerS = await run(2500);
  for (const connection of connections) connection.close();
  return requestsPerS;
}

/** A keep-alive connection with one request in flight. */
class Connection {
  readonly #socket: Socket;
  readonly #headers: string;
  #received = "";
  #pending: { resolve(): void; reject(error: Error): void } | undefined;

  static async open(port: number, headers: string): Promise<Connection> {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new Connection(socket, headers);
  }

  constructor(socket: Socket, headers: string) {
    this.#socket = socket;
    this.#headers = ` HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n`;
    socket.setEncoding("latin1").on("data", (text: string) => this.#receive(text));
    socket.on("close", () => this.#pending?.reject(new Error("the server closed a connection")));
  }

  get(index: number): Promise<void> {
    const [latitude, longitude] = [20 + (index % 97) / 50, 120 + (index % 89) / 50];
    const place = `latitude=${latitude}&longitude=${longitude}${index % 2 === 0 ? "" : "&radius=20"}`;
    this.#socket.write(`GET /api/v1/hazard-risk?${place}&${GET_QUERY}${this.#headers}`);
    return new Promise((resolve, reject) => (this.#pending = { resolve, reject }));
  }

  close(): void {
    this.#pending = undefined;
    this.#socket.destroy();
  }

  #receive(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const length = Number(/\r\ncontent-length: ([0-9]+)/i.exec(this.#received)?.[1]);
    if (this.#received.length < headEnd + 4 + length) return;
    const isOk = this.#received.startsWith("HTTP/1.1 200 ");
    const { 0: status = "" } = this.#received.split("\r\n", 1);
    this.#received = "";
    const pending = this.#pending;
    this.#pending = undefined;
    if (isOk) pending?.resolve();
    else pending?.reject(new Error(`a GET returned ${status}`));
  }
}

async function sendBatches({ port, headers: serverHeaders }: ServerAddress): Promise<void> {
  // Low priority: in production the batch client runs on another machine and must not compete with the processes being
  // measured.
  setPriority(constants.priority.PRIORITY_LOW);
  const batch = Array.from({ length: BATCH_COUNT }, (_, i) => ({
    latitude: 60 - (i % 120),
    longitude: -179.9 + ((i * 0.377) % 359),
    hazards: ["cyclones"],
    analysis_years: [2025, 2030, 2040, 2050, 2080],
    scenarios: ["rcp4p5", "rcp8p5"],
  }));
  const body = JSON.stringify(batch);
  const headers = Object.fromEntries(
    serverHeaders[1].split("\r\n").map((line) => line.split(": ") as [string, string]),
  );
  let count = 0;
  const stop = new AbortController();
  process.on("SIGTERM", () => stop.abort());
  while (!stop.signal.aborted) {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/hazard-risk/batch`, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json", "Accept-Encoding": "identity" },
      body,
    });
    if (response.status !== 200) throw new Error(`a batch returned ${response.status}`);
    await response.arrayBuffer();
    if (count++ === 0) console.log("{}");
  }
  console.log(JSON.stringify({ count: count - 1 }));
}

async function serveUntilTerminated({ hasWorkers }: { readonly hasWorkers: boolean }): Promise<void> {
  // Worker threads run the built files, so the server does too.
  const importBuilt = (file: string): Promise<unknown> => import(pathToFileURL(join("dist", file)).href);
  const { openAtlas } = (await importBuilt("index.js")) as typeof isotherm;
  const { serve } = (await importBuilt("host/main.js")) as typeof host;
  const { openLedger } = (await importBuilt("ledger/openLedger.js")) as typeof ledgers;
  const data = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "isotherm-load-"));
  const atlas = await openAtlas("demo", { workers: hasWorkers ? Math.max(1, cpus().length - 1) : 0 });
  const ledger = await openLedger({ data });
  const createClient = async (name: string): Promise<string> => {
    const { accountId } = await ledger.createAccount({ name });
    const { secret } = await ledger.createKey({ accountId });
    const { customer } = await ledger.registerCustomer({ accountId, internalId: name });
    return `X-API-Key: ${secret}\r\nX-Customer-ID: ${customer.customerId}`;
  };
  const headers = [await createClient("gets"), await createClient("batches")] as const;
  const limits = { requestsPerS: 1e6, requestBurst: 1e6 };
  const running = await serve({ atlas, ledger, host: "127.0.0.1", port: 0, limits });
  await running.ready;
  process.once("SIGTERM", () => {
    void running
      .close()
      .then(() => Promise.all([ledger.close(), atlas.close()]))
      .then(() => rm(data, { recursive: true }));
  });
  console.log(JSON.stringify({ port: running.address.port, headers } satisfies ServerAddress));
}

/** Parses a numeric command-line argument such as `seconds=20`. */
function parseNumberArgument(name: string): number | undefined {
  const argument = process.argv.find((candidate) => candidate.startsWith(`${name}=`));
  return argument === undefined ? undefined : Number(argument.slice(name.length + 1));
}

function startProcess(...args: readonly string[]): ChildProcess {
  // The same flag that `isotherm serve` sets.
  const flags = ["--heap-growing-percent=300"];
  const child = spawn(process.execPath, [...flags, process.argv[1] ?? "", ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.once("exit", () => child.kill("SIGKILL"));
  return child;
}

async function startServer(kind: string): Promise<{ readonly address: ServerAddress; readonly server: ChildProcess }> {
  const server = startProcess("role=server", kind);
  return { address: JSON.parse(await readFirstLine(server)) as ServerAddress, server };
}

function readFirstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once("close", (code) => reject(new Error(`a benchmark process exited with code ${code}`)));
    child.stdout?.once("data", (bytes: Buffer) => resolve(bytes.toString().split("\n")[0] ?? ""));
  });
}

/** Stops the batch client. @returns the number of batches that it completed */
async function stopAndCountBatches(batches: ChildProcess): Promise<number> {
  const line = new Promise<string>((resolve) => {
    batches.stdout?.once("data", (bytes: Buffer) => resolve(bytes.toString()));
  });
  batches.kill("SIGTERM");
  const { count } = JSON.parse(await line) as { count: number };
  await setTimeout(200);
  return count;
}

const [, , role, detail = ""] = process.argv;
if (role === "role=server") await serveUntilTerminated({ hasWorkers: detail === "workers" });
else if (role === "role=batches") await sendBatches(JSON.parse(detail) as ServerAddress);
else await measure();
