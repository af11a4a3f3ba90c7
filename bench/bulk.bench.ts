/**
 * Times large requests and bulk calls, which run in worker threads. Response times over HTTP are compared with those of
 * a bare node:http server, which only parses the body and encodes the response on its main thread. The servers run in
 * separate processes and are measured alternately. Needs `npm run build`.
 *
 *   npm run bench -- bulk
 *   npm run bench -- bulk against=/path/to/another/checkout    compares with another built version instead
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { BulkServerAddress, BulkServerReport, LibraryCall } from "./bulkServer.ts";
import { median } from "./measure.ts";
import { print } from "./row.ts";
import { randomFrom } from "../test/seededRandom.ts";

const ROUNDS = 11;
const WARMUP_ROUNDS = 3;

interface BulkServer extends BulkServerAddress {
  readonly child: ChildProcess;
}

interface BulkCase {
  readonly name: string;
  readonly path?: string;
  readonly body?: Uint8Array<ArrayBuffer>;
  /** Requests per round. */
  readonly count: number;
  readonly call?: LibraryCall;
}

/** Response time and CPU time of one request or call. */
interface Sample {
  readonly ms: number;
  readonly cpuMs: number;
}

const otherFolder = process.argv.find((argument) => argument.startsWith("against="))?.slice("against=".length);
const random = randomFrom(21);
const upTo = (max: number): number => random.below(max);
const between = (min: number, max: number): number => random.between({ min, max });
const emissions = (): object => ({ scope1: upTo(1e6), scope2: upTo(1e6), scope3: upTo(1e7) });

function alignmentBody(entityCount: number): Uint8Array<ArrayBuffer> {
  const industries = ["Steel", "Banks", "Electric utilities", "Oil & gas", "Airlines", "Software", "Cement", "Retail"];
  const countries = ["Germany", "US", "France", "IN", "Brazil", "JP"];
  const entities = Array.from({ length: entityCount }, (_, i) => ({
    entity_info: {
      identifier: String(i),
      name: `Company ${i}`,
      asset_type: "equity",
      country: countries[i % countries.length],
      industry_classification_system: "gics",
      industry: industries[i % industries.length],
    },
    data: [{ year: 2023, emissions: emissions(), financials: { revenue: upTo(1e9) } }],
    projected_emissions: Array.from({ length: 20 }, (_unused, k) => ({ year: 2025 + k, emissions: emissions() })),
  }));
  return new TextEncoder().encode(JSON.stringify(entities));
}

function batchBody(queryCount: number): Uint8Array<ArrayBuffer> {
  const queries = Array.from({ length: queryCount }, () => ({
    latitude: between(-55, 65),
    longitude: between(-180, 180),
    hazards: ["cyclones", "wildfire"],
    analysis_years: [2030, 2050],
    scenarios: ["rcp4p5", "rcp8p5"],
    ...(random.chance(0.3) ? { radius: between(0, 50) } : {}),
  }));
  return new TextEncoder().encode(JSON.stringify(queries));
}

const ALIGNMENT = "/api/v1/temperature-alignment-projections";
const BATCH = "/api/v1/hazard-risk/batch";
const httpCases: readonly BulkCase[] = [
  {
    name: "POST temperature alignment, 5,000 entities x 20 years",
    path: ALIGNMENT,
    body: alignmentBody(5000),
    count: 1,
  },
  { name: "POST temperature alignment, 200 entities x 20 years", path: ALIGNMENT, body: alignmentBody(200), count: 10 },
  { name: "POST batch of 500 locations", path: BATCH, body: batchBody(500), count: 5 },
  { name: "POST batch of 10,000 locations", path: BATCH, body: batchBody(10_000), count: 1 },
];
const libraryCases: readonly BulkCase[] = [
  { name: "sample, 1,000,000 points in workers", call: "points", count: 1 },
  { name: "sample, 100,000 circles of 10 km in workers", call: "circles", count: 1 },
  { name: "hazardRiskBatch, 10,000 circles in workers", call: "queries", count: 1 },
];

const ours = await start(".");
const theirs = await start(otherFolder ?? "bare");
const against = otherFolder === undefined ? "bare node:http, JSON only" : "the other version";
try {
  for (const bulkCase of [...httpCases, ...(otherFolder === undefined ? [] : libraryCases)]) await compare(bulkCase);
} finally {
  for (const { child } of [ours, theirs]) child.disconnect();
}

async function compare(bulkCase: BulkCase): Promise<void> {
  if (bulkCase.body !== undefined) {
    const response = await send(ours, bulkCase);
    const expected =
      otherFolder === undefined
        ? await send(theirs, { ...bulkCase, body: new Uint8Array(response) }, "PUT")
        : await send(theirs, bulkCase);
    if (!response.equals(expected)) throw new Error(`${bulkCase.name}: the responses differ`);
  }
  const samples = new Map([ours, theirs].map((server) => [server, [] as Sample[]]));
  for (let round = -WARMUP_ROUNDS; round < ROUNDS; round++) {
    for (const server of round % 2 === 0 ? [ours, theirs] : [theirs, ours]) {
      const sample = await measureOnce(server, bulkCase);
      if (round >= 0) samples.get(server)?.push(sample);
    }
  }
  const medianOf = (server: BulkServer, figure: keyof Sample): number =>
    median((samples.get(server) ?? []).map((sample) => sample[figure]));
  const row = { bench: "bulk", name: bulkCase.name, against };
  print({ ...row, unit: "ms", ours: medianOf(ours, "ms"), theirs: medianOf(theirs, "ms") });
  print({ ...row, unit: "ms of CPU, all threads", ours: medianOf(ours, "cpuMs"), theirs: medianOf(theirs, "cpuMs") });
}

async function measureOnce(server: BulkServer, bulkCase: BulkCase): Promise<Sample> {
  const before = await report(server, "none");
  let ms: number;
  if (bulkCase.call === undefined) {
    const startMs = performance.now();
    for (let i = 0; i < bulkCase.count; i++) await send(server, bulkCase);
    ms = performance.now() - startMs;
  } else ({ ms } = await report(server, bulkCase.call));
  const after = await report(server, "none");
  return { ms: ms / bulkCase.count, cpuMs: (after.cpuMs - before.cpuMs) / bulkCase.count };
}

async function send(
  { port, headers }: BulkServer,
  { path = "", body = new Uint8Array() }: BulkCase,
  method = "POST",
): Promise<Buffer> {
  const init: RequestInit = {
    method,
    headers: { ...headers, "Content-Type": "application/json", "Accept-Encoding": "identity" },
    body,
  };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, init);
  const bytes = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200)
    throw new Error(`${path} returned ${response.status}: ${bytes.toString().slice(0, 200)}`);
  return bytes;
}

async function report({ child }: BulkServer, call: LibraryCall): Promise<BulkServerReport> {
  child.send(call);
  const [reported] = (await once(child, "message")) as [BulkServerReport];
  return reported;
}

async function start(folder: string): Promise<BulkServer> {
  const file = fileURLToPath(new URL("bulkServer.js", import.meta.url));
  // The same flag that `isotherm serve` sets.
  const child = fork(file, [folder], { execArgv: ["--heap-growing-percent=300"] });
  const [address] = (await once(child, "message")) as [BulkServerAddress];
  return { ...address, child };
}
