/**
 * Compares the host with a bare node:http server that returns a fixed body of 1 KB: requests per second over keep-alive
 * connections, and CPU time per request. Each server runs in its own process; the contenders are interleaved in rounds.
 *
 * The load is closed-loop (the next request is sent when the response has arrived): it measures throughput, not
 * latency.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { Kernel } from "../src/kernel/instance.ts";
import { ClosedLoopClient } from "./closedLoopClient.ts";
import type { Listening, ServerKind } from "./hostServer.ts";
import { median } from "./measure.ts";
import { print } from "./row.ts";
import { prepare, WORKLOADS } from "./workload.ts";

const CONNECTION_COUNT = 32;
const ROUNDS = 11;
const WARMUP_ROUNDS = 2;
const ROUND_MS = 700;

interface Running extends Listening {
  readonly child: ChildProcess;
}

interface Contender {
  readonly name: string;
  readonly kind: ServerKind;
  /** Request paths, used one after another. */
  readonly paths: readonly string[];
  readonly target?: number;
}

const spec = WORKLOADS.find(({ name }) => name === "lat45");
if (spec === undefined) throw new Error("the workload lat45 is not defined");
const workload = await prepare(await Kernel.load(), spec, { withCompetitorData: false });
const POINT = "hazards=riverine_floods&analysis_years=2050&scenarios=rcp8p5";
const LAYERS_21 = "hazards=riverine_floods&analysis_years=2030,2050,2080&scenarios=baseline,rcp4p5,rcp8p5&radius=100";
const pathsOf = (query: string): string[] =>
  workload.places.map(({ latDeg, lonDeg }) => `/api/v1/hazard-risk?latitude=${latDeg}&longitude=${lonDeg}&${query}`);

const bare: Contender = { name: "bare node:http, 1 KB", kind: "bare", paths: ["/"] };
const contenders: readonly Contender[] = [
  bare,
  { name: "GET hazard-risk, a point", kind: "host", paths: pathsOf(POINT), target: 0.7 },
  { name: "GET hazard-risk, 21 layers within 100 km", kind: "host", paths: pathsOf(LAYERS_21), target: 0.48 },
  { name: "GET hazard-risk, a point, recorded", kind: "ledger", paths: pathsOf(POINT), target: 0.45 },
  {
    name: "GET hazard-risk, 21 layers within 100 km, recorded",
    kind: "ledger",
    paths: pathsOf(LAYERS_21),
    target: 0.35,
  },
];
const servers = new Map<ServerKind, Running>();
for (const kind of ["bare", "host", "ledger"] as const) servers.set(kind, await startServer(kind));
try {
  const samples = new Map(contenders.map((contender) => [contender, [] as { perS: number; cpuUs: number }[]]));
  for (let round = -WARMUP_ROUNDS; round < ROUNDS; round++) {
    for (const contender of contenders) {
      const sample = await measureOnce(contender);
      if (round >= 0) samples.get(contender)?.push(sample);
    }
  }
  const medianOf = (contender: Contender, figure: "perS" | "cpuUs"): number =>
    median((samples.get(contender) ?? []).map((sample) => sample[figure]));
  for (const contender of contenders) {
    const { name, target } = contender;
    if (contender === bare) continue;
    const row = { bench: "host", name, against: bare.name };
    const [ours, theirs] = [medianOf(contender, "perS"), medianOf(bare, "perS")];
    const withTarget = target === undefined ? {} : { target: { atLeast: target } };
    print({ ...row, unit: "requests/s", ours, theirs, ratio: ours / theirs, ...withTarget });
    const [oursUs, theirsUs] = [medianOf(contender, "cpuUs"), medianOf(bare, "cpuUs")];
    print({
      ...row,
      unit: "us of CPU per request, all threads",
      ours: oursUs,
      theirs: theirsUs,
      ratio: theirsUs / oursUs,
    });
  }
} finally {
  for (const { child } of servers.values()) child.disconnect();
}

async function startServer(kind: ServerKind): Promise<Running> {
  const child = fork(fileURLToPath(new URL("hostServer.js", import.meta.url)), [kind, workload.atlasFolder]);
  child.once("exit", (code) => {
    if (code !== 0) throw new Error(`the ${kind} server exited with code ${code}`);
  });
  const [listening] = (await once(child, "message")) as [Listening];
  return { child, ...listening };
}

async function readCpuMicroseconds({ child }: Running): Promise<number> {
  child.send("cpu");
  const [message] = (await once(child, "message")) as [{ readonly cpuMicroseconds: number }];
  return message.cpuMicroseconds;
}

/** Runs one round of a contender. */
async function measureOnce({ kind, paths }: Contender): Promise<{ perS: number; cpuUs: number }> {
  const server = servers.get(kind);
  if (server === undefined) throw new Error(`the ${kind} server is not running`);
  const requests = paths.map((path) =>
    Buffer.from([`GET ${path} HTTP/1.1`, "Host: bench", ...server.headers, "", ""].join("\r\n")),
  );
  const clients = await Promise.all(
    Array.from({ length: CONNECTION_COUNT }, (_, i) => ClosedLoopClient.open(server.port, requests, i * 31)),
  );
  const cpuBefore = await readCpuMicroseconds(server);
  const startMs = performance.now();
  for (const client of clients) client.sendNext();
  await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
  await Promise.all(clients.map((client) => client.finish()));
  const tookMs = performance.now() - startMs;
  const cpuUs = (await readCpuMicroseconds(server)) - cpuBefore;
  const count = clients.reduce((sum, client) => sum + client.count, 0);
  return { perS: (count / tookMs) * 1000, cpuUs: cpuUs / count };
}
