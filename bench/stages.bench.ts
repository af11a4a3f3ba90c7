/**
 * Breakdown of the time of a 100 km query, and of a GET for it. Stages that are separate functions are timed by calling
 * the function with the same queries; the others are differences between measured times. All tiles are in memory except
 * for the cold fetch, which is the first query of a newly opened atlas, repeated at several places. The host writes its
 * ledger to disk; its rate limits are raised so that they do not apply.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseHazardParameters, parseHazardQuery } from "../src/hazard/query.ts";
import { encodeJson } from "../src/text/json/json.ts";
import { serve } from "../src/host/main.ts";
import { newRequestId } from "../src/host/http/exchange.ts";
import { Kernel } from "../src/kernel/instance.ts";
import { openLedger } from "../src/ledger/openLedger.ts";
import { type Contender, interleave } from "./interleave.ts";
import { median } from "./measure.ts";
import { circleOf, circleQuery, type HazardQueryObject, openInstrumentedAtlas } from "./isotherm.ts";
import { print } from "./row.ts";
import { prepare, WORKLOADS } from "./workload.ts";
import type { HazardResult } from "../src/contract/wireTypes.ts";

const RADIUS_KM = 100;
const QUERY_COUNT = 200;
const COLD_COUNT = 20;
const ROUNDS = 25;
const WARMUP_ROUNDS = 3;

const spec = WORKLOADS.find(({ name }) => name === "lat45");
if (spec === undefined) throw new Error("the workload lat45 is not defined");
const workload = await prepare(await Kernel.load(), spec, {});
const opened = await openInstrumentedAtlas(workload);
const { atlas, sampler, set } = opened;
const data = await mkdtemp(join(tmpdir(), "isotherm-stages-"));
const ledger = await openLedger({ data });
const { headers, usage } = await createClient();
const { field } = set.cachedField;
const indices = Array.from({ length: QUERY_COUNT }, (_, i) => i);

for (const method of ["max", "mean"] as const) {
  const queries = indices.map((place) => circleQuery(workload, { place, radiusKm: RADIUS_KM, method }));
  const circles = indices.map((place) => circleOf(workload, place, RADIUS_KM));
  const queryStrings = queries.map(queryStringOf);
  const results: HazardResult[] = [];
  for (const query of queries) results.push(await atlas.hazardRisk(query));

  const limits = { requestsPerS: 1e6, requestBurst: 1e6 };
  const running = await serve({ atlas, ledger, host: "127.0.0.1", port: 0, limits });
  await running.ready;
  const get = httpGetter(running.address.port);
  try {
    // Counts the results, so that the compiler cannot eliminate the calls.
    let sink = 0;
    const stage = (name: string, run: (index: number) => unknown): Contender => ({
      name,
      run() {
        for (const index of indices) sink += run(index) === undefined ? 0 : 1;
      },
    });
    const asyncStage = (name: string, run: (index: number) => Promise<unknown>): Contender => ({
      name,
      async run() {
        for (const index of indices) sink += (await run(index)) === undefined ? 0 : 1;
      },
    });
    const timings = await interleave(
      [
        stage("parse object", (i) => parseHazardQuery(queries[i])),
        stage("parse text", (i) => parseHazardParameters(queryStrings[i] ?? "")),
        stage("plan", (i) => field.grid.setCircle(elementAt(circles, i))),
        stage("kernel", (i) => {
          field.grid.setCircle(elementAt(circles, i));
          return method === "max" ? field.grid.max(field) : field.grid.sums(field);
        }),
        asyncStage("sample", (i) => sampler.sampleCircle(set, elementAt(circles, i), { method, shares: false })),
        asyncStage("query", (i) => atlas.hazardRisk(elementAt(queries, i))),
        stage("serialize", (i) => encodeJson(results[i])),
        asyncStage("ledger", () => ledger.record({ ...usage, receipt: newRequestId() })),
        asyncStage("get", (i) => get(elementAt(queryStrings, i))),
      ],
      { rounds: ROUNDS, warmupRounds: WARMUP_ROUNDS },
    );
    const ns = new Map(timings.map(({ name, medianMs }) => [name, (medianMs * 1e6) / QUERY_COUNT]));
    const nsOf = (name: string): number => ns.get(name) ?? Number.NaN;
    if (sink === 0) throw new Error("nothing was measured");
    const coldNs = await measureColdNs(method);

    const queryStages = {
      "plan: cells": nsOf("plan"),
      kernel: nsOf("kernel") - nsOf("plan"),
      "fetch, all in memory": nsOf("sample") - nsOf("kernel"),
      "look up layers, build result": nsOf("query") - nsOf("sample") - nsOf("parse object"),
    };
    printStages(method, "query", { parse: nsOf("parse object"), ...queryStages });
    printStages(method, "GET", {
      parse: nsOf("parse text"),
      ...queryStages,
      serialize: nsOf("serialize"),
      "write the ledger": nsOf("ledger"),
      "HTTP on both ends, API key, rate limits":
        nsOf("get") - nsOf("parse text") - (nsOf("query") - nsOf("parse object")) - nsOf("serialize") - nsOf("ledger"),
    });
    print({
      bench: "stages",
      name: `${method}, query: fetch, cold cache`,
      grid: workload.spec.name,
      state: "cold",
      unit: "ns",
      ours: coldNs - nsOf("query"),
    });
  } finally {
    await running.close();
  }
}
await ledger.close();
await atlas.close();
await rm(data, { recursive: true });

/** Creates an account with a key and a customer; returns the request headers and the usage to record. */
async function createClient() {
  const { accountId } = await ledger.createAccount({ name: "stages" });
  const { key, secret } = await ledger.createKey({ accountId });
  const { customer } = await ledger.registerCustomer({ accountId, internalId: "stages" });
  const { customerId } = customer;
  return {
    headers: { "X-API-Key": secret, "X-Customer-ID": customerId },
    usage: { accountId, keyId: key.keyId, customerId, meter: "hazard_values", units: 1, route: "/stages" },
  } as const;
}

/** Prints one row per stage; `ratio` is its share of the total. */
function printStages(method: string, whole: string, stages: Readonly<Record<string, number>>): void {
  const total = Object.values(stages).reduce((sum, nanoseconds) => sum + nanoseconds, 0);
  for (const [stage, nanoseconds] of Object.entries(stages)) {
    print({
      bench: "stages",
      name: `${method}, ${whole}: ${stage}`,
      grid: workload.spec.name,
      state: "random",
      unit: "ns",
      ours: nanoseconds,
      ratio: nanoseconds / total,
    });
  }
}

/** Returns the median time of the first query of a newly opened atlas, over some places, in nanoseconds. */
async function measureColdNs(method: "max" | "mean"): Promise<number> {
  const times: number[] = [];
  for (let place = 0; place < COLD_COUNT; place++) {
    const fresh = await openInstrumentedAtlas(workload, { hasDefaultCache: true });
    try {
      const start = performance.now();
      await fresh.atlas.hazardRisk(circleQuery(workload, { place, radiusKm: RADIUS_KM, method }));
      times.push((performance.now() - start) * 1e6);
    } finally {
      await fresh.atlas.close();
    }
  }
  return median(times);
}

function queryStringOf(query: HazardQueryObject): string {
  return Object.entries(query)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join("&");
}

/** Returns a function that sends a GET over a keep-alive connection and resolves to the body size of the response. */
function httpGetter(port: number): (queryString: string) => Promise<number> {
  return (queryString) =>
    new Promise((resolve, reject) => {
      const path = `/api/v1/hazard-risk?${queryString}`;
      const outgoing = request({ port, host: "127.0.0.1", path, headers }, (response) => {
        let sizeBytes = 0;
        response.on("data", (chunk: Uint8Array) => (sizeBytes += chunk.length));
        response.on("end", () => {
          if (response.statusCode === 200) resolve(sizeBytes);
          else reject(new Error(`the host returned ${response.statusCode} for ${queryString}`));
        });
      });
      outgoing.on("error", reject);
      outgoing.end();
    });
}

function elementAt<T>(list: readonly T[], index: number): T {
  return list[index] as T;
}
