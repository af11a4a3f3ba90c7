/** Requests on worker threads: responses, fairness, cancellation, admission, and worker deaths. */
import type { Entity, HazardQueryInput } from "../../../src/contract/wireTypes.ts";
import { setTimeout } from "node:timers/promises";
import { describe, expect, test, vi } from "vitest";
import { Fault } from "../../../src/errors.ts";
import { DEFAULT_LOAD_LIMITS } from "../../../src/host/admission/resources.ts";
import { encodeJson } from "../../../src/text/json/json.ts";
import { alignment } from "../../../src/host/routes/alignment.ts";
import { hazardRiskBatch } from "../../../src/host/routes/hazardRiskBatch.ts";
import { WorkerDeathError } from "../../../src/pool/workerDeath.ts";
import { randomFrom, shuffled } from "../../seededRandom.ts";
import { LIMITS } from "../routeCaller.ts";
import type { AlignmentAnswer } from "../../../src/contract/wireTypes.ts";
import { ENTITY } from "../entities.ts";
import { bulkFixture, type Grant, localAtlasOf, LOCATIONS_ATLAS, textOf } from "./bulkFixture.ts";

const random = randomFrom(61);
const BATCH = hazardRiskBatch.path;
const ALIGNMENT = alignment.path;

function query(): HazardQueryInput {
  return {
    latitude: random.between({ min: -90, max: 90 }),
    longitude: random.between({ min: -180, max: 180 }),
    hazards: shuffled(random, ["riverine_floods", "coastal_floods"] as const).slice(0, 1 + random.below(2)),
    analysis_years: [2030, 2050].slice(random.below(2)),
    scenarios: ["rcp4p5"],
    ...(random.chance(0.5) ? { radius: random.between({ min: 0, max: 100 }) } : {}),
  };
}
const queries = (count: number): HazardQueryInput[] => Array.from({ length: count }, query);

/** Returns the expected response to a batch: the results of its queries, computed one by one. */
async function expectedText(batch: readonly HazardQueryInput[]): Promise<string> {
  const texts = await Promise.all(batch.map(async (each) => encodeJson(await LOCATIONS_ATLAS.hazardRisk(each))));
  return `{"results":[${texts.join(",")}]}`;
}

const accountOf = ({ payload }: Grant): string | undefined =>
  "caller" in payload ? payload.caller.accountId : undefined;
const isShard = ({ kind }: Grant): boolean => kind === "http.shard";

/** Returns an `onGrant` that delays slices until `release` is called. */
function gate(): { readonly release: () => void; readonly onGrant: () => Promise<void> } {
  let release = (): void => undefined;
  const opened = new Promise<void>((resolve) => (release = resolve));
  return { release, onGrant: () => opened };
}

/** Returns an `onGrant` and a promise that resolves after this many slices. */
function afterGrants(count: number): { readonly reached: Promise<void>; readonly onGrant: () => void } {
  let reach = (): void => undefined;
  let grantCount = 0;
  const reached = new Promise<void>((resolve) => (reach = resolve));
  return {
    reached,
    onGrant: () => {
      if (++grantCount === count) reach();
    },
  };
}

describe("a batch", () => {
  test.each([1, 2, 3])("has the same bytes as separate queries with %i workers", async (workers) => {
    for (const count of [1, 2, 63, 64, 65, 400]) {
      const body = queries(count);
      const answer = await bulkFixture({ workers }).answer({ route: BATCH, body });
      expect(textOf(answer)).toBe(await expectedText(body));
      const queriesWithData = body.filter(({ longitude }) => longitude <= 170);
      expect(answer.units).toBe(
        queriesWithData.reduce((sum, each) => sum + each.hazards.length * each.analysis_years.length, 0),
      );
      expect(answer.headers).toEqual({ "X-Item-Errors": "0" });
    }
  });

  test("has results in the order of its queries", async () => {
    const batch = queries(300);
    const order = shuffled(random, [...batch.keys()]);
    const fixture = bulkFixture();
    const resultsOf = async (body: readonly unknown[]): Promise<readonly unknown[]> =>
      (JSON.parse(textOf(await fixture.answer({ route: BATCH, body }))) as { results: unknown[] }).results;
    const results = await resultsOf(batch);
    expect(await resultsOf(order.map((i) => batch[i]))).toEqual(order.map((i) => results[i]));
  });

  test("returns a problem with the request id at the index of each invalid query and the same results for all others", async () => {
    const batch: unknown[] = queries(200);
    const invalid = new Map<number, { readonly element: unknown; readonly code: string; readonly pointer: string }>([
      [0, { element: { ...query(), latitude: 91 }, code: "invalid_request", pointer: "/latitude" }],
      [17, { element: null, code: "invalid_request", pointer: "" }],
      [
        64,
        {
          element: { ...query(), analysis_years: [2025] },
          code: "combination_unavailable",
          pointer: "/analysis_years/0",
        },
      ],
      [130, { element: { ...query(), radios: 5 }, code: "invalid_request", pointer: "/radios" }],
      [199, { element: "here", code: "invalid_request", pointer: "" }],
    ]);
    const mixed = batch.map((each, i) => (invalid.has(i) ? invalid.get(i)?.element : each));
    const fixture = bulkFixture();
    const clean = JSON.parse(textOf(await fixture.answer({ route: BATCH, body: batch }))) as { results: unknown[] };
    const requestId = "00000000-0000-7000-8000-00000000abcd";
    const answer = await fixture.answer({ route: BATCH, body: mixed, requestId });
    const { results } = JSON.parse(textOf(answer)) as { results: { error?: Record<string, unknown> }[] };
    expect(answer.headers).toEqual({ "X-Item-Errors": "5" });
    for (const [i, result] of results.entries()) {
      const expected = invalid.get(i);
      if (expected === undefined) expect(result).toEqual(clean.results[i]);
      else {
        const { code, pointer } = expected;
        expect(result.error).toMatchObject({ code, request_id: requestId, errors: [{ pointer }] });
      }
    }
  });

  test("sends each location to the worker that owns it", async () => {
    const { answer, grants } = bulkFixture({ workers: 3 });
    await answer({ route: BATCH, body: queries(400) });
    const owners = new Map<number, Set<number>>();
    for (const { type, kind, payload, worker } of grants) {
      if (type !== "begin" || kind !== "http.shard" || !("bytes" in payload)) continue;
      const shard = JSON.parse(new TextDecoder().decode(payload.bytes)) as HazardQueryInput[];
      for (const { longitude } of shard) {
        const neighborhood = Math.floor((longitude + 180) / 10);
        owners.set(neighborhood, (owners.get(neighborhood) ?? new Set()).add(worker));
      }
    }
    expect([...owners.values()].every(({ size }) => size === 1)).toBe(true);
    expect(new Set([...owners.values()].flatMap((each) => [...each])).size).toBe(3);
  });

  test("that is short is divided among the workers if it takes more than one slice", async () => {
    const slow = localAtlasOf(async (input) => {
      await setTimeout(6);
      return LOCATIONS_ATLAS.hazardRisk(input);
    });
    const body = queries(20);
    const { answer, grants } = bulkFixture({ workers: 2, atlas: slow });
    expect(textOf(await answer({ route: BATCH, body }))).toBe(await expectedText(body));
    expect(grants.filter(isShard).length).toBeGreaterThan(2);
    const fast = bulkFixture({ workers: 2, sliceMs: 600_000 });
    await fast.answer({ route: BATCH, body: body.slice(0, 2) });
    expect(fast.grants.map(({ kind }) => kind)).toEqual(["http"]);
  });

  test.each([
    ["not JSON", "[{]", { code: "json_malformed", details: { line: 1, column: 3 } }],
    ["not a list", { latitude: 1 }, { code: "invalid_request", items: [{ pointer: "", code: "wrong_type" }] }],
    ["an empty list", [], { code: "invalid_request", items: [{ pointer: "", code: "empty" }] }],
    ["longer than batchCount", Array(11).fill({}), { code: "too_many_values", details: { requested: 11, limit: 10 } }],
    [
      "above hazardValueCount",
      Array.from({ length: 10 }, () => ({ ...query(), hazards: ["cyclones"], analysis_years: [2030, 2050] })),
      { code: "too_many_values", details: { requested: 20, limit: 19 } },
    ],
  ])("is rejected as a whole if it is %s", async (_, body, expected) => {
    const rejected = bulkFixture({ limits: { batchCount: 10, hazardValueCount: 19 } }).answer({ route: BATCH, body });
    await expect(rejected).rejects.toBeInstanceOf(Fault);
    await expect(rejected).rejects.toMatchObject(expected);
  });

  test("is rejected with query parameters", async () => {
    const rejected = bulkFixture().answer({ route: BATCH, body: queries(1), queryText: "detail=true" });
    await expect(rejected).rejects.toMatchObject({
      code: "invalid_request",
      items: [{ parameter: "detail", code: "unknown" }],
    });
  });

  test("fails as a whole if the atlas cannot be read, with the cause", async () => {
    const fault = new Fault("atlas_unavailable", "tiles.pack is truncated.", {
      details: { file: "tiles.pack" },
      cause: Object.assign(new Error("EIO: i/o error"), { code: "EIO" }),
    });
    const body = queries(500);
    const broken = localAtlasOf((input) =>
      input.latitude === body[321]?.latitude ? Promise.reject(fault) : LOCATIONS_ATLAS.hazardRisk(input),
    );
    const { answer, admission } = bulkFixture({ atlas: broken });
    const rejected = await answer({ route: BATCH, body }).catch((error: unknown) => error);
    expect(rejected).toMatchObject({
      name: "Fault",
      code: "atlas_unavailable",
      message: "tiles.pack is truncated.",
      details: { file: "tiles.pack" },
      cause: { message: "EIO: i/o error", code: "EIO" },
    });
    expect(admission.jobs.count).toBe(0);
  });
});

describe("an alignment", () => {
  const NAMES = ["Ωμέγα", 'quote " and \\ and \n', "\ud800", ""];
  /** Returns an entity. Entities differ in their optional members, and cover every reason for a missing temperature. */
  const entity = (i: number): Entity => ({
    entity_info: {
      name: `Entity ${i} ${NAMES[i % NAMES.length]}`,
      asset_type: "equity",
      ...(i % 2 === 0 ? { identifier: String(i), country: ["Germany", "Atlantis", "IN"][i % 3] } : {}),
      ...(i % 5 === 0 ? { industry_classification_system: "gics", industry: "Steel" } : {}),
      ...(i % 7 === 0 ? { sector: "Utilities" } : {}),
    },
    data: [
      { year: 2020 + (i % 3), emissions: { scope1: i % 5 === 0 ? 0 : 100 * i, ...(i % 4 === 0 ? {} : { scope2: 7 }) } },
    ],
    projected_emissions: Array.from({ length: 1 + (i % 40) }, (_, k) => ({
      year: 2080 - k,
      emissions: k % 9 === 8 ? { scope3: 5 } : { scope1: i * k },
      ...(i % 11 === 0 ? { label: k % 2 === 0 ? "target" : "trajectory" } : {}),
    })),
  });

  test.each([
    ["", 1],
    ["", 600],
    ["basis=emissions", 300],
    ["detail=true&basis=cumulative", 130],
    ["include=by_scope,budget,climate_range,overall&budget_scenario=ndcs&convergence=0.5", 300],
  ])("with the query %j and %i entities has the same bytes as on the event loop", async (queryText, count) => {
    const body = Array.from({ length: count }, (_, i) => entity(i));
    const request = alignment.parse({ queryText, path: {}, body, limits: LIMITS });
    const expected = await alignment.handle(request, {} as never);
    const answer = await bulkFixture().answer({ route: ALIGNMENT, body, queryText });
    expect(textOf(answer)).toBe(expected.text);
    expect(answer.units).toBe(alignment.metered?.units(expected));
    expect(answer.headers).toBeUndefined();
    if (count < 100) return;
    const years = (JSON.parse(expected.text) as AlignmentAnswer).results.flatMap(({ data }) => data);
    const reasons = new Set(years.map(({ reason }) => reason));
    expect(reasons).toEqual(new Set([undefined, "no_usable_scope", "zero_baseline"]));
  });

  test("is computed by a single worker in slices, and the size of its partial response is tracked", async () => {
    const jobBytesByGrant: number[] = [];
    const fixture = bulkFixture({ onGrant: () => jobBytesByGrant.push(fixture.admission.jobs.heldBytes) });
    await fixture.answer({ route: ALIGNMENT, body: Array.from({ length: 600 }, (_, i) => entity(i)) });
    const { grants } = fixture;
    expect(grants.length).toBeGreaterThan(4);
    expect(new Set(grants.map(({ kind, worker }) => `${kind} ${worker}`)).size).toBe(1);
    expect(jobBytesByGrant.at(-1)).toBeGreaterThan(jobBytesByGrant[0] ?? Infinity);
    expect(fixture.admission.jobs.heldBytes).toBe(0);
  });

  test("is rejected with the same errors as on the event loop", async () => {
    const rejected = bulkFixture().answer({ route: ALIGNMENT, body: [ENTITY, { ...ENTITY, data: [] }] });
    await expect(rejected).rejects.toMatchObject({
      name: "Fault",
      code: "invalid_request",
      items: [{ pointer: "/1/data" }],
    });
  });
});

describe("time slices", () => {
  test("alternate between accounts even if one of them sends many requests", async () => {
    const { reached, onGrant } = afterGrants(30);
    const { answer, grants } = bulkFixture({ workers: 1, onGrant });
    const flood = Array.from({ length: 8 }, () => answer({ route: BATCH, body: queries(300), accountId: "flood" }));
    await reached;
    const firstGrant = grants.length;
    const body = queries(50);
    expect(textOf(await answer({ route: BATCH, body, accountId: "small" }))).toBe(await expectedText(body));
    const since = grants.slice(firstGrant);
    const isSmall = (grant: Grant): boolean => accountOf(grant) === "small";
    const smallCount = since.filter(isSmall).length;
    const last = since.findLastIndex(isSmall);
    expect(smallCount).toBeGreaterThanOrEqual(50);
    // The other account had as many slices in the meantime, plus those granted before.
    expect(last + 1 - smallCount).toBeLessThanOrEqual(smallCount + 2);
    await Promise.all(flood);
  });

  test("alternate between the requests of one account", async () => {
    const { reached, onGrant } = afterGrants(10);
    const { answer, grants } = bulkFixture({ workers: 1, onGrant });
    const large = answer({ route: BATCH, body: queries(1000) });
    await reached;
    // Longer requests are completed one after the other.
    await answer({ route: BATCH, body: queries(1) });
    const count = grants.length;
    await large;
    expect(grants.length - count).toBeGreaterThan(25);
  });
});

describe("a request that ends early", () => {
  test("is granted no further slices after the client disconnects, and rejects at once", async () => {
    const stop = new AbortController();
    let sliceCount = 0;
    const { answer, grants, admission, executor } = bulkFixture({
      onGrant: (grant) => {
        if (isShard(grant) && ++sliceCount === 5) stop.abort(new Error("disconnected"));
      },
    });
    const { signal } = stop;
    await expect(answer({ route: BATCH, body: queries(1000), signal })).rejects.toThrow("disconnected");
    expect([admission.jobs.count, admission.jobs.heldBytes]).toEqual([0, 0]);
    await executor.run({ name: "http.warmUp" }, undefined, { tenant: "" });
    // Each of the two workers may have been granted two slices before.
    expect(grants.filter(isShard).length).toBeLessThanOrEqual(5 + 4);
    await expect(answer({ route: BATCH, body: queries(1), signal })).rejects.toThrow("disconnected");
  });

  test("is granted no further slices after its deadline, and rejected as overloaded", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const { answer, grants, shed, admission, executor, threads } = bulkFixture({
        // The deadline passes when the first shard has begun.
        onGrant: (grant) => {
          if (isShard(grant)) vi.advanceTimersByTime(DEFAULT_LOAD_LIMITS.jobDeadlineMs);
        },
      });
      const late = await answer({ route: BATCH, body: queries(500) }).catch((error: unknown) => error);
      expect(late).toBeInstanceOf(Fault);
      expect(late).toMatchObject({
        code: "overloaded",
        headers: { "Retry-After": expect.stringMatching(/^[1-9][0-9]*$/) as string },
      });
      expect([shed, admission.jobs.count]).toEqual([["too_late"], 0]);
      await executor.run({ name: "http.warmUp" }, undefined, { tenant: "" });
      // Each of the two workers may have been granted two slices before.
      expect(grants.filter(isShard).length).toBeLessThanOrEqual(4);
      const requests = threads.flatMap((thread) => thread.requests);
      expect(requests.filter(({ type }) => type === "cancel").length).toBeGreaterThan(0);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("admission", () => {
  test("rejects requests above the limit of an account while other accounts are admitted", async () => {
    const { release, onGrant } = gate();
    const { answer, shed } = bulkFixture({ onGrant, load: { jobsPerAccountMax: 2, jobsMax: 4 } });
    const send = (accountId: string) => answer({ route: BATCH, body: queries(2), accountId });
    const admitted = [send("a"), send("a"), send("b"), send("c")];
    await expect(send("a")).rejects.toMatchObject({
      name: "Fault",
      code: "overloaded",
      headers: { "Retry-After": expect.stringMatching(/^[1-9][0-9]*$/) as string },
    });
    await expect(send("d")).rejects.toMatchObject({ code: "overloaded" });
    release();
    await Promise.all(admitted);
    await send("a");
    expect(shed).toEqual(["too_many_of_account", "too_many_jobs"]);
  });

  test("rejects requests whose total size is above the limit, except a single request", async () => {
    const { release, onGrant } = gate();
    const { answer, shed, admission } = bulkFixture({ onGrant, load: { jobBytesMax: 1000 } });
    const admitted = answer({ route: BATCH, body: queries(50) });
    await expect(answer({ route: BATCH, body: queries(1) })).rejects.toMatchObject({ code: "overloaded" });
    release();
    await admitted;
    expect([shed, admission.jobs.count, admission.jobs.heldBytes]).toEqual([["too_many_bytes"], 0, 0]);
  });

  test("does not estimate long requests from slow short ones", async () => {
    const { release, onGrant } = gate();
    let isHeld = false;
    const { answer, shed } = bulkFixture({
      workers: 1,
      onGrant: () => (isHeld ? onGrant() : undefined),
      load: { jobDeadlineMs: 5000 },
    });
    // 10 ms for a few bytes.
    for (let i = 0; i < 5; i++) await answer({ route: BATCH, body: "[0]" });
    isHeld = true;
    const long = Array.from({ length: 3 }, () => answer({ route: BATCH, body: queries(100) }));
    release();
    for (const { units } of await Promise.all(long)) expect(units).toBeGreaterThan(0);
    expect(shed).toEqual([]);
  });
});

describe("a worker that dies", () => {
  test("fails the request that it was running; the other requests are restarted on a new worker", async () => {
    const batch = queries(100);
    const entities = Array.from({ length: 600 }, () => ENTITY);
    let hasDied = false;
    const { answer, threads, grants, executor } = bulkFixture({
      workers: 1,
      onGrant: (grant, thread) => {
        // Other requests must be half done first.
        const otherCount = grants.filter((each) => accountOf(each) !== "fatal").length;
        if (hasDied || accountOf(grant) !== "fatal" || grant.type !== "resume" || otherCount < 12) return undefined;
        hasDied = true;
        thread.die("out of memory");
        return new Promise(() => undefined);
      },
    });
    const others = [1, 2].map((i) => answer({ route: BATCH, body: batch, accountId: `other ${i}` }));
    const aligned = answer({ route: ALIGNMENT, body: entities, accountId: "aligned" });
    const fatal = answer({ route: BATCH, body: batch, accountId: "fatal" });
    await expect(fatal).rejects.toBeInstanceOf(WorkerDeathError);
    for (const other of await Promise.all(others)) expect(textOf(other)).toBe(await expectedText(batch));
    expect((JSON.parse(textOf(await aligned)) as { results: unknown[] }).results).toHaveLength(600);
    expect(grants.filter(({ type }) => type === "begin").length).toBeGreaterThanOrEqual(4 + 2);
    expect(textOf(await answer({ route: BATCH, body: batch, accountId: "fatal" }))).toBe(await expectedText(batch));
    expect([threads.length, executor.deathCount]).toEqual([2, 1]);
  });
});

describe("the workers of a host", () => {
  test("are all warmed up, and take no requests after the host has closed", async () => {
    const { bulk, admission, answer, threads, grants } = bulkFixture({ workers: 3 });
    await bulk.warmUp();
    expect(threads.map(({ requests }) => requests.length)).toEqual([1, 1, 1]);
    expect(grants.map(({ kind }) => kind)).toEqual(["http.warmUp", "http.warmUp", "http.warmUp"]);
    const pending = answer({ route: BATCH, body: queries(100) });
    const closed = admission.jobs.close().then(() => admission.jobs.count);
    await expect(answer({ route: BATCH, body: queries(1) })).rejects.toMatchObject({ code: "overloaded" });
    expect(textOf(await pending).length).toBeGreaterThan(0);
    expect(await closed).toBe(0);
  });
});
