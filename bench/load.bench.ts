/**
 * Small GETs beside the largest batch: what whoever asks for one location feels of a client that sends maximal batches
 * back to back. The load is open: requests leave by a fixed schedule and their time counts from the moment they were
 * due, so that a server which stands still for a second is seen to, as one that answers slowly is. Server, batches and
 * GETs each have a process of their own. Needs `npm run build`; works on the demo atlas. The ledger lies in memory where
 * the system has a folder for that: how long a disk takes to write is another question.
 *
 *   npm run bench -- load                    5 s each, three times over
 *   npm run bench -- load seconds=20
 *   npm run bench -- load rate=500           so many GETs a second, instead of half of what the server gives
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

const SECONDS = numberOf("seconds") ?? 5;
const ROUNDS = 3;
const CONNECTIONS = 64;
const GET_QUERY = "hazards=cyclones&analysis_years=2030,2050&scenarios=rcp4p5,rcp8p5";
const BATCH_COUNT = 10_000;

/** Where the server is, and the header fields of two accounts. */
interface Opened {
  readonly port: number;
  readonly fields: readonly [string, string];
}

async function measure(): Promise<void> {
  process.once("SIGTERM", () => process.exit(1));
  for (const kind of ["workers", "inline"] as const) {
    const { opened, server } = await startServer(kind);
    const perS = numberOf("rate") ?? (await capacityOf(opened)) / 2;
    const alone: number[] = [];
    const beside: number[] = [];
    let batchCount = 0;
    for (let round = 0; round < ROUNDS; round++) {
      alone.push(await p99Of(opened, perS));
      const batches = start("role=batches", JSON.stringify(opened));
      await firstLineOf(batches);
      beside.push(await p99Of(opened, perS));
      batchCount += await stopAndCount(batches);
    }
    server.kill("SIGTERM");
    print({
      bench: "load",
      name: `p99 of small GETs beside maximal batches done ${kind === "workers" ? "in workers" : "on the event loop"}`,
      unit: "ms",
      ours: median(beside),
      against: "the same GETs alone",
      rival: median(alone),
      ratio: median(beside) / median(alone),
      ...(kind === "workers" ? { mark: { atMost: 2 } } : {}),
      note:
        `${Math.round(perS)} GETs/s${numberOf("rate") === undefined ? ", half of what the server gives" : ""}; ` +
        `${((BATCH_COUNT * batchCount) / (ROUNDS * SECONDS)).toFixed(0)} elements/s; ${cpus().length} cores for all`,
    });
  }
}

/** The 99th percentile of the times of GETs that are due at regular intervals, milliseconds. */
async function p99Of({ port, fields }: Opened, perS: number): Promise<number> {
  const count = Math.round(perS * SECONDS);
  const times = new Float64Array(count);
  const lines = await Promise.all(Array.from({ length: CONNECTIONS }, () => Line.open(port, fields[0])));
  const startMs = performance.now() + 20;
  let next = 0;
  let answered = 0;
  await new Promise<void>((resolve, reject) => {
    const free = [...lines];
    const send = (): void => {
      while (next < count && startMs + (1000 * next) / perS <= performance.now()) {
        const line = free.pop();
        // Who is due but finds no connection waits, and its time runs.
        if (line === undefined) return;
        const index = next++;
        line.ask(index).then(() => {
          times[index] = performance.now() - (startMs + (1000 * index) / perS);
          free.push(line);
          if (++answered === count) resolve();
          else send();
        }, reject);
      }
    };
    // By the millisecond: who looks at the clock without a pause takes a core from a server that may have but two.
    const ticking = setInterval(() => {
      send();
      if (next >= count) clearInterval(ticking);
    }, 1);
  });
  for (const line of lines) line.end();
  return times.toSorted()[Math.floor(0.99 * count)] ?? NaN;
}

/** GETs a second when each of the connections asks again as soon as it is answered. */
async function capacityOf({ port, fields }: Opened): Promise<number> {
  const lines = await Promise.all(Array.from({ length: CONNECTIONS }, () => Line.open(port, fields[0])));
  const run = async (milliseconds: number): Promise<number> => {
    let count = 0;
    const endMs = performance.now() + milliseconds;
    await Promise.all(
      lines.map(async (line) => {
        while (performance.now() < endMs) await line.ask(count++);
      }),
    );
    return count / (milliseconds / 1000);
  };
  await run(1500);
  const perS = await run(2500);
  for (const line of lines) line.end();
  return perS;
}

/** A connection that is kept, with one request on it at a time. */
class Line {
  readonly #socket: Socket;
  readonly #head: string;
  #received = "";
  #done: { resolve(): void; reject(error: Error): void } | undefined;

  static async open(port: number, fields: string): Promise<Line> {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true });
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    return new Line(socket, fields);
  }

  constructor(socket: Socket, fields: string) {
    this.#socket = socket;
    this.#head = ` HTTP/1.1\r\nHost: localhost\r\n${fields}\r\n\r\n`;
    socket.setEncoding("latin1").on("data", (text: string) => this.#take(text));
    socket.on("close", () => this.#done?.reject(new Error("The server closed a connection.")));
  }

  ask(index: number): Promise<void> {
    const [latitude, longitude] = [20 + (index % 97) / 50, 120 + (index % 89) / 50];
    const place = `latitude=${latitude}&longitude=${longitude}${index % 2 === 0 ? "" : "&radius=20"}`;
    this.#socket.write(`GET /api/v1/hazard-risk?${place}&${GET_QUERY}${this.#head}`);
    return new Promise((resolve, reject) => (this.#done = { resolve, reject }));
  }

  end(): void {
    this.#done = undefined;
    this.#socket.destroy();
  }

  #take(text: string): void {
    this.#received += text;
    const headEnd = this.#received.indexOf("\r\n\r\n");
    if (headEnd < 0) return;
    const length = Number(/\r\ncontent-length: ([0-9]+)/i.exec(this.#received)?.[1]);
    if (this.#received.length < headEnd + 4 + length) return;
    const isRight = this.#received.startsWith("HTTP/1.1 200 ");
    const { 0: status = "" } = this.#received.split("\r\n", 1);
    this.#received = "";
    const done = this.#done;
    this.#done = undefined;
    if (isRight) done?.resolve();
    else done?.reject(new Error(`A GET was answered with ${status}.`));
  }
}

async function sendBatches({ port, fields }: Opened): Promise<void> {
  // Elsewhere, in life: what it takes to read ten megabytes is to be taken from nobody who is measured.
  setPriority(constants.priority.PRIORITY_LOW);
  const batch = Array.from({ length: BATCH_COUNT }, (_, i) => ({
    latitude: 60 - (i % 120),
    longitude: -179.9 + ((i * 0.377) % 359),
    hazards: ["cyclones"],
    analysis_years: [2025, 2030, 2040, 2050, 2080],
    scenarios: ["rcp4p5", "rcp8p5"],
  }));
  const body = JSON.stringify(batch);
  const headers = Object.fromEntries(fields[1].split("\r\n").map((line) => line.split(": ") as [string, string]));
  let count = 0;
  const stop = new AbortController();
  process.on("SIGTERM", () => stop.abort());
  while (!stop.signal.aborted) {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/hazard-risk/batch`, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json", "Accept-Encoding": "identity" },
      body,
    });
    if (answer.status !== 200) throw new Error(`A batch was answered with ${answer.status}.`);
    await answer.arrayBuffer();
    if (count++ === 0) console.log("{}");
  }
  console.log(JSON.stringify({ count: count - 1 }));
}

async function serveUntilToldToStop({ hasWorkers }: { readonly hasWorkers: boolean }): Promise<void> {
  // Worker threads run the built files.
  const built = (file: string): Promise<unknown> => import(pathToFileURL(join("dist", file)).href);
  const { openAtlas } = (await built("index.js")) as typeof isotherm;
  const { serve } = (await built("host/main.js")) as typeof host;
  const { openLedger } = (await built("ledger/openLedger.js")) as typeof ledgers;
  const data = await mkdtemp(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "isotherm-load-"));
  const atlas = await openAtlas("demo", { workers: hasWorkers ? Math.max(1, cpus().length - 1) : 0 });
  const ledger = await openLedger({ data });
  const someone = async (name: string): Promise<string> => {
    const { accountId } = await ledger.createAccount({ name });
    const { secret } = await ledger.createKey({ accountId });
    const { customer } = await ledger.registerCustomer({ accountId, internalId: name });
    return `X-API-Key: ${secret}\r\nX-Customer-ID: ${customer.customerId}`;
  };
  const fields = [await someone("gets"), await someone("batches")] as const;
  const limits = { requestsPerS: 1e6, requestBurst: 1e6 };
  const running = await serve({ atlas, ledger, host: "127.0.0.1", port: 0, limits });
  await running.ready;
  process.once("SIGTERM", () => {
    void running
      .close()
      .then(() => Promise.all([ledger.close(), atlas.close()]))
      .then(() => rm(data, { recursive: true }));
  });
  console.log(JSON.stringify({ port: running.address.port, fields } satisfies Opened));
}

/** What a word of the command line says, such as `seconds=20`. */
function numberOf(name: string): number | undefined {
  const word = process.argv.find((each) => each.startsWith(`${name}=`));
  return word === undefined ? undefined : Number(word.slice(name.length + 1));
}

function start(...words: readonly string[]): ChildProcess {
  // As `isotherm serve` tells the engine.
  const flags = ["--heap-growing-percent=300"];
  const child = spawn(process.execPath, [...flags, process.argv[1] ?? "", ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  process.once("exit", () => child.kill("SIGKILL"));
  return child;
}

async function startServer(kind: string): Promise<{ readonly opened: Opened; readonly server: ChildProcess }> {
  const server = start("role=server", kind);
  return { opened: JSON.parse(await firstLineOf(server)) as Opened, server };
}

function firstLineOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once("close", (code) => reject(new Error(`A process of the bench ended with ${code}.`)));
    child.stdout?.once("data", (bytes: Buffer) => resolve(bytes.toString().split("\n")[0] ?? ""));
  });
}

/** @returns batches that were answered */
async function stopAndCount(batches: ChildProcess): Promise<number> {
  const line = new Promise<string>((resolve) => {
    batches.stdout?.once("data", (bytes: Buffer) => resolve(bytes.toString()));
  });
  batches.kill("SIGTERM");
  const { count } = JSON.parse(await line) as { count: number };
  await setTimeout(200);
  return count;
}

const [, , role, detail = ""] = process.argv;
if (role === "role=server") await serveUntilToldToStop({ hasWorkers: detail === "workers" });
else if (role === "role=batches") await sendBatches(JSON.parse(detail) as Opened);
else await measure();
