/**
 * Where the time of a 100 km query goes, and of a GET that asks it. Stages that have a function of their own are timed
 * by it, on the same queries; the others are what is left of the whole they belong to. All tiles are in memory but for
 * the cold fetch, which is the first query at each of some places of an atlas just opened. The host writes its ledger to
 * a disk, and its rate limits are raised out of the way.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HazardResult } from "../src/hazard/result.ts";
import { readHazardParameters, readHazardQuery } from "../src/hazard/query.ts";
import { encodeJson } from "../src/host/json.ts";
import { serve } from "../src/host/main.ts";
import { newRequestId } from "../src/host/requestId.ts";
import { Kernel } from "../src/kernel/instance.ts";
import { openLedger } from "../src/ledger/openLedger.ts";
import { type Contender, interleave } from "./interleaved.ts";
import { median } from "./measure.ts";
import { circleOf, circleQuery, type HazardQueryObject, openOurs } from "./ours.ts";
import { print } from "./row.ts";
import { prepare, WORKLOADS } from "./workload.ts";

const RADIUS_KM = 100;
const QUERY_COUNT = 200;
const COLD_COUNT = 20;
const ROUNDS = 25;
const WARMUP_ROUNDS = 3;

const spec = WORKLOADS.find(({ name }) => name === "lat45");
if (spec === undefined) throw new Error("There is no workload lat45.");
const workload = await prepare(await Kernel.load(), spec, {});
const ours = await openOurs(workload);
const { atlas, sampler, set } = ours;
const data = await mkdtemp(join(tmpdir(), "isotherm-stages-"));
const ledger = await openLedger({ data });
const { headers, usage } = await someone();
const { field } = set.resident;
const indices = Array.from({ length: QUERY_COUNT }, (_, i) => i);

for (const method of ["max", "mean"] as const) {
  const queries = indices.map((place) => circleQuery(workload, { place, radiusKm: RADIUS_KM, method }));
  const circles = indices.map((place) => circleOf(workload, place, RADIUS_KM));
  const texts = queries.map(parametersOf);
  const answers: HazardResult[] = [];
  for (const query of queries) answers.push(await atlas.hazardRisk(query));

  const limits = { requestsPerS: 1e6, requestBurst: 1e6 };
  const running = await serve({ atlas, ledger, host: "127.0.0.1", port: 0, limits });
  await running.ready;
  const get = getter(running.address.port);
  try {
    // What each returns goes nowhere, but its length is kept, so that no compiler may leave it out.
    let sink = 0;
    const stage = (name: string, run: (index: number) => unknown): Contender => ({
      name,
      run() {
        for (const index of indices) sink += run(index) === undefined ? 0 : 1;
      },
    });
    const awaited = (name: string, run: (index: number) => Promise<unknown>): Contender => ({
      name,
      async run() {
        for (const index of indices) sink += (await run(index)) === undefined ? 0 : 1;
      },
    });
    const timings = await interleave(
      [
        stage("object", (i) => readHazardQuery(queries[i])),
        stage("text", (i) => readHazardParameters(texts[i] ?? "")),
        stage("plan", (i) => field.grid.setCircle(at(circles, i))),
        stage("kernel", (i) => {
          field.grid.setCircle(at(circles, i));
          return method === "max" ? field.grid.max(field) : field.grid.sums(field);
        }),
        awaited("sample", (i) => sampler.sampleCircle(set, at(circles, i), { method, shares: false })),
        awaited("query", (i) => atlas.hazardRisk(at(queries, i))),
        stage("serialise", (i) => encodeJson(answers[i])),
        awaited("ledger", () => ledger.record({ ...usage, receipt: newRequestId() })),
        awaited("get", (i) => get(at(texts, i))),
      ],
      { rounds: ROUNDS, warmupRounds: WARMUP_ROUNDS },
    );
    const ns = new Map(timings.map(({ name, medianMs }) => [name, (medianMs * 1e6) / QUERY_COUNT]));
    const of = (name: string): number => ns.get(name) ?? Number.NaN;
    if (sink === 0) throw new Error("Nothing was measured.");
    const fetch = await coldNanoseconds(method);

    const asked = {
      "plan: cells": of("plan"),
      kernel: of("kernel") - of("plan"),
      "fetch, all in memory": of("sample") - of("kernel"),
      "plan: layers, and shape": of("query") - of("sample") - of("object"),
    };
    show(method, "query", { parse: of("object"), ...asked });
    show(method, "GET", {
      parse: of("text"),
      ...asked,
      serialise: of("serialise"),
      "write the ledger": of("ledger"),
      "HTTP at both ends, key, rates":
        of("get") - of("text") - (of("query") - of("object")) - of("serialise") - of("ledger"),
    });
    print({
      bench: "stages",
      name: `${method}, query: fetch, where nothing is in memory`,
      grid: workload.spec.name,
      state: "cold",
      unit: "ns",
      ours: fetch - of("query"),
    });
  } finally {
    await running.close();
  }
}
await ledger.close();
await atlas.close();
await rm(data, { recursive: true });

/** An account with a key and a customer, who is asked for. */
async function someone() {
  const { accountId } = await ledger.createAccount({ name: "stages" });
  const { key, secret } = await ledger.createKey({ accountId });
  const { customer } = await ledger.registerCustomer({ accountId, internalId: "stages" });
  const { customerId } = customer;
  return {
    headers: { "X-API-Key": secret, "X-Customer-ID": customerId },
    usage: { accountId, keyId: key.keyId, customerId, meter: "hazard_values", units: 1, route: "/stages" },
  } as const;
}

/** One row a stage; `ratio` is its share of the whole. */
function show(method: string, whole: string, stages: Readonly<Record<string, number>>): void {
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

/** The first query at some places, each of an atlas just opened: nanoseconds, median. */
async function coldNanoseconds(method: "max" | "mean"): Promise<number> {
  const times: number[] = [];
  for (let place = 0; place < COLD_COUNT; place++) {
    const fresh = await openOurs(workload, { isSmall: true });
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

function parametersOf(query: HazardQueryObject): string {
  return Object.entries(query)
    .map(([name, value]) => `${name}=${String(value)}`)
    .join("&");
}

/** Asks over one connection that is kept. @returns bytes of the answer's body */
function getter(port: number): (text: string) => Promise<number> {
  return (text) =>
    new Promise((resolve, reject) => {
      const path = `/api/v1/hazard-risk?${text}`;
      const asked = request({ port, host: "127.0.0.1", path, headers }, (response) => {
        let sizeBytes = 0;
        response.on("data", (piece: Uint8Array) => (sizeBytes += piece.length));
        response.on("end", () => {
          if (response.statusCode === 200) resolve(sizeBytes);
          else reject(new Error(`The host answered ${response.statusCode} to ${text}.`));
        });
      });
      asked.on("error", reject);
      asked.end();
    });
}

function at<T>(list: readonly T[], index: number): T {
  return list[index] as T;
}
