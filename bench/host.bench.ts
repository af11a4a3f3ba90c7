/**
 * Compares the host with a bare node:http server that returns a fixed body of 1 KB: requests per second over keep-alive
 * connections, and CPU time per request. Each server runs in its own process; the contenders are interleaved in rounds.
 *
 * The load is closed-loop (the next request is sent when the response has arrived): it measures throughput, not
 * latency.
 */
import { Kernel } from "../src/kernel/instance.ts";
import { type ForkedServer, measureThroughput, startServer, type Throughput } from "./forkedServer.ts";
import type { ServerKind } from "./hostServer.ts";
import { median } from "./measure.ts";
import { print } from "./row.ts";
import { prepare, WORKLOADS } from "./workload.ts";

const CONNECTION_COUNT = 32;
const ROUNDS = 11;
const WARMUP_ROUNDS = 2;
const ROUND_MS = 700;

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
const servers = new Map<ServerKind, ForkedServer>();
for (const kind of ["bare", "host", "ledger"] as const)
  servers.set(kind, await startServer("hostServer.js", { kind, atlasFolder: workload.atlasFolder }));
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

/** Runs one round of a contender. */
async function measureOnce({ kind, paths }: Contender): Promise<Throughput> {
  const server = servers.get(kind);
  if (server === undefined) throw new Error(`the ${kind} server is not running`);
  return measureThroughput(server, { paths, connectionCount: CONNECTION_COUNT, roundMs: ROUND_MS });
}
