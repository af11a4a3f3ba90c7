/** What goes to the workers: the same answers, fair turns, an end in time, and a service that outlives its workers. */
import { setTimeout } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { Fault } from "../../../src/errors.ts";
import type { HazardQueryInput } from "../../../src/hazard/query.ts";
import { encodeJson } from "../../../src/host/http/json.ts";
import { Refusal } from "../../../src/host/problems/problem.ts";
import type { HostTask } from "../../../src/host/work/tasks.ts";
import { alignment } from "../../../src/host/routes/alignment.ts";
import { hazardRiskBatch } from "../../../src/host/routes/hazardRiskBatch.ts";
import { randomFrom, shuffled } from "../../seededRandom.ts";
import { LIMITS } from "../calling.ts";
import { ENTITY } from "../entities.ts";
import { atlasOf } from "../hosting.ts";
import { jobOf, PLACES_ATLAS, textOf, workshop } from "./workshop.ts";

const random = randomFrom(61);
const BATCH = hazardRiskBatch.path;

function query(): HazardQueryInput {
  return {
    latitude: random.between({ least: -90, most: 90 }),
    longitude: random.between({ least: -180, most: 180 }),
    hazards: shuffled(random, ["riverine_floods", "coastal_floods"] as const).slice(0, 1 + random.below(2)),
    analysis_years: [2030, 2050].slice(random.below(2)),
    scenarios: ["rcp4p5"],
    ...(random.chance(0.5) ? { radius: random.between({ least: 0, most: 100 }) } : {}),
  };
}
const queries = (count: number): HazardQueryInput[] => Array.from({ length: count }, query);

/** What a batch is to say by the definition: the texts of single answers, one after the other. */
async function expectedText(asked: readonly HazardQueryInput[]): Promise<string> {
  const texts = await Promise.all(asked.map(async (each) => encodeJson(await PLACES_ATLAS.hazardRisk(each))));
  return `{"results":[${texts.join(",")}]}`;
}

const anEntity = (i: number) => ({
  ...ENTITY,
  entity_info: { ...ENTITY.entity_info, name: `Entity ${i} — Ωμέγα` },
  data: [{ year: 2020 + (i % 3), emissions: { scope1: i % 5 === 0 ? 0 : 100 * i, scope2: 7 } }],
  projected_emissions: Array.from({ length: 1 + (i % 4) }, (_, k) => ({
    year: 2030 + k,
    emissions: { scope1: i * k },
  })),
});

describe("a batch in the workers", () => {
  test.each([1, 2, 3])("is its singles, byte for byte, with %i workers", async (workers) => {
    for (const count of [1, 2, 63, 64, 65, 700]) {
      const asked = queries(count);
      const { parts, units, headers } = await workshop({ workers }).workforce.answer(jobOf(BATCH, asked));
      expect(textOf(parts)).toBe(await expectedText(asked));
      const valued = asked.filter(({ longitude }) => longitude <= 170);
      expect(units).toBe(valued.reduce((sum, each) => sum + each.hazards.length * each.analysis_years.length, 0));
      expect(headers).toEqual({ "X-Item-Errors": "0" });
    }
  });

  test("permuted gives the results permuted", async () => {
    const asked = queries(300);
    const order = shuffled(random, [...asked.keys()]);
    const { workforce } = workshop();
    const resultsOf = async (batch: readonly unknown[]): Promise<readonly unknown[]> =>
      (JSON.parse(textOf((await workforce.answer(jobOf(BATCH, batch))).parts)) as { results: unknown[] }).results;
    const results = await resultsOf(asked);
    expect(await resultsOf(order.map((i) => asked[i]))).toEqual(order.map((i) => results[i]));
  });

  test("answers wrong elements in their place, with the request's id, and leaves the others untouched", async () => {
    const asked: unknown[] = queries(200);
    const wrong = new Map<number, { readonly element: unknown; readonly code: string; readonly pointer: string }>([
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
    const mixed = asked.map((each, i) => wrong.get(i)?.element ?? each);
    mixed[17] = null;
    const { workforce } = workshop();
    const clean = JSON.parse(textOf((await workforce.answer(jobOf(BATCH, asked))).parts)) as { results: unknown[] };
    const job = jobOf(BATCH, mixed);
    const { parts, headers } = await workforce.answer(job);
    const { results } = JSON.parse(textOf(parts)) as { results: { error?: Record<string, unknown> }[] };
    expect(headers).toEqual({ "X-Item-Errors": "5" });
    for (const [i, result] of results.entries()) {
      const expected = wrong.get(i);
      if (expected === undefined) expect(result).toEqual(clean.results[i]);
      else {
        const { code, pointer } = expected;
        expect(result.error).toMatchObject({ code, request_id: job.requestId, errors: [{ pointer }] });
      }
    }
  });

  test("sends each place to the one worker that owns it, and joins what comes back", async () => {
    const asked = queries(400);
    const { workforce, threads } = workshop({ workers: 3 });
    await workforce.answer(jobOf(BATCH, asked));
    const owners = new Map<number, Set<number>>();
    for (const [worker, { orders }] of threads.entries()) {
      for (const order of orders) {
        const task = order.kind === "task" ? (order.task as { share?: { bytes: Uint8Array } }) : undefined;
        if (task?.share === undefined) continue;
        const { elements } = JSON.parse(new TextDecoder().decode(task.share.bytes)) as { elements: HazardQueryInput[] };
        for (const { longitude } of elements) {
          const neighbourhood = Math.floor((longitude + 180) / 10);
          owners.set(neighbourhood, (owners.get(neighbourhood) ?? new Set()).add(worker));
        }
      }
    }
    expect([...owners.values()].every(({ size }) => size === 1)).toBe(true);
    expect(new Set([...owners.values()].flatMap((each) => [...each])).size).toBe(3);
  });

  test("whose elements take longer than a turn gives way between them, and loses none", async () => {
    const slow = atlasOf(async (input) => {
      await setTimeout(6);
      return PLACES_ATLAS.hazardRisk(input);
    });
    const asked = queries(100);
    const { workforce, begun } = workshop({ workers: 1, atlas: slow });
    const { parts } = await workforce.answer(jobOf(BATCH, asked));
    expect(textOf(parts)).toBe(await expectedText(asked));
    // Sixteen are begun before the first has come back; then the turn is over.
    expect(begun.filter(({ kind }) => kind === "turn").length).toBeGreaterThanOrEqual(Math.floor(100 / 16));
  });

  test.each([
    ["not JSON", "[{]", { code: "json_malformed", details: { line: 1, column: 3 } }],
    ["no list", { latitude: 1 }, { code: "invalid_request", items: [{ pointer: "", code: "wrong_type" }] }],
    ["an empty list", [], { code: "invalid_request", items: [{ pointer: "", code: "empty" }] }],
    ["too many elements", Array(11).fill({}), { code: "too_many_values", details: { requested: 11, limit: 10 } }],
    [
      "too many values",
      Array.from({ length: 10 }, () => ({ ...query(), hazards: ["cyclones"], analysis_years: [2030, 2050] })),
      { code: "too_many_values", details: { requested: 20, limit: 19 } },
    ],
  ])("is refused as a whole where it is %s", async (_, body, expected) => {
    const { workforce } = workshop({ limits: { batchCount: 10, hazardValueCount: 19 } });
    const refused = workforce.answer(jobOf(BATCH, body));
    await expect(refused).rejects.toBeInstanceOf(Fault);
    await expect(refused).rejects.toMatchObject(expected);
  });

  test("with parameters is refused: it has none", async () => {
    const { workforce } = workshop();
    await expect(workforce.answer(jobOf(BATCH, queries(1), { queryText: "detail=true" }))).rejects.toMatchObject({
      code: "invalid_request",
      items: [{ parameter: "detail", code: "unknown" }],
    });
  });

  test("fails as a whole where the atlas cannot be read, with the fault's cause", async () => {
    const fault = new Fault("atlas_unavailable", "tiles.pack is cut short.", {
      details: { file: "tiles.pack" },
      cause: Object.assign(new Error("EIO: i/o error"), { code: "EIO" }),
    });
    const asked = queries(500);
    const broken = atlasOf((input) =>
      input.latitude === asked[321]?.latitude ? Promise.reject(fault) : PLACES_ATLAS.hazardRisk(input),
    );
    const { workforce } = workshop({ atlas: broken });
    const refused = await workforce.answer(jobOf(BATCH, asked)).catch((error: unknown) => error);
    expect(refused).toMatchObject({
      name: "Fault",
      code: "atlas_unavailable",
      message: "tiles.pack is cut short.",
      details: { file: "tiles.pack" },
      cause: { message: "EIO: i/o error", code: "EIO" },
    });
    while (workforce.state.jobCount > 0) await setTimeout(1);
  });
});

describe("an alignment in the workers", () => {
  test.each([
    ["", 1],
    ["", 300],
    ["detail=true&basis=cumulative", 130],
  ])("?%s of %i entities is what the route itself answers, byte for byte", async (queryText, count) => {
    const body = Array.from({ length: count }, (_, i) => anEntity(i));
    const request = alignment.parse({ queryText, path: {}, body, limits: LIMITS });
    const { services, ...context } = { services: {} as never, caller: {} as never, requestId: "", signal: {} as never };
    const answer = await alignment.handle(request, { services, ...context });
    const { parts, units, headers } = await workshop().workforce.answer(jobOf(alignment.path, body, { queryText }));
    expect(textOf(parts)).toBe(encodeJson(answer));
    expect(units).toBe(alignment.metered?.units(answer));
    expect(headers).toEqual({});
  });

  test("is refused with the same faults", async () => {
    const body = [anEntity(0), { ...anEntity(1), data: [] }];
    await expect(workshop().workforce.answer(jobOf(alignment.path, body))).rejects.toMatchObject({
      name: "Fault",
      code: "invalid_request",
      items: [{ pointer: "/1/data" }],
    });
  });
});

describe("turns", () => {
  test("an account with one small batch waits for one turn of another's at a time, however much that one sends", async () => {
    const { workforce, begun } = workshop({ workers: 1 });
    const flood = Array.from({ length: 8 }, () =>
      workforce.answer(jobOf(BATCH, queries(2000), { accountId: "flood" })),
    );
    while (begun.length < 30) await setTimeout(1);
    const before = begun.length;
    const small = queries(500);
    const { parts } = await workforce.answer(jobOf(BATCH, small, { accountId: "small" }));
    expect(textOf(parts)).toBe(await expectedText(small));
    const since = begun.slice(before);
    const isOwn = (task: (typeof begun)[number]): boolean => "caller" in task && task.caller.accountId === "small";
    const own = since.filter(isOwn).length;
    const last = since.findLastIndex(isOwn);
    // Read, four turns or a fifth that finds nothing left, then given; others' in between: one each, and what the
    // worker had before it already.
    expect(own).toBeGreaterThanOrEqual(6);
    expect(last + 1 - own).toBeLessThanOrEqual(own + 2);
    await Promise.all(flood);
  });

  test("requests of one account take turns too: a small one does not wait for a large one to end", async () => {
    const { workforce, begun } = workshop({ workers: 1 });
    const large = workforce.answer(jobOf(BATCH, queries(5000)));
    while (begun.length < 10) await setTimeout(1);
    await workforce.answer(jobOf(BATCH, queries(100)));
    const before = begun.length;
    await large;
    expect(begun.length - before).toBeGreaterThan(25);
  });
});

describe("an end in time", () => {
  test("no turn is begun once the client has gone, and its reason is thrown at once", async () => {
    const stop = new AbortController();
    let turns = 0;
    const { workforce, begun } = workshop({
      onBegin: ({ kind }) => {
        if (kind === "turn" && ++turns === 5) stop.abort(new Error("gone"));
      },
    });
    await expect(workforce.answer(jobOf(BATCH, queries(5000), { signal: stop.signal }))).rejects.toThrow("gone");
    while (workforce.state.jobCount > 0) await setTimeout(1);
    // The two workers may each have had two orders before them.
    expect(begun.filter(({ kind }) => kind === "turn").length).toBeLessThanOrEqual(5 + 4);
    await expect(workforce.answer(jobOf(BATCH, queries(1), { signal: stop.signal }))).rejects.toThrow("gone");
  });

  test("nor once its time is over, which is told as overload", async () => {
    const { workforce, begun, shed } = workshop({
      workLimits: { deadlineMs: 60 },
      onBegin: ({ kind }) => (kind === "turn" ? setTimeout(20) : undefined),
    });
    const late = await workforce.answer(jobOf(BATCH, queries(5000))).catch((error: unknown) => error);
    expect(late).toBeInstanceOf(Refusal);
    expect(late).toMatchObject({ code: "overloaded", headers: { "Retry-After": "1" } });
    while (workforce.state.jobCount > 0) await setTimeout(1);
    const turns = (): number => begun.filter(({ kind }) => kind === "turn").length;
    const count = turns();
    await setTimeout(60);
    expect(turns()).toBe(count);
    expect(shed).toEqual(["too_late"]);
    expect(count).toBeLessThan(5000 / 128);
    expect(begun.filter(({ kind }) => kind === "drop").length).toBeGreaterThan(0);
  });
});

describe("too much", () => {
  const held = (): { readonly release: () => void; readonly onBegin: () => Promise<void> } => {
    let release = (): void => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    return { release, onBegin: () => gate };
  };

  test("of one account is refused while others are still taken", async () => {
    const { release, onBegin } = held();
    const { workforce, shed } = workshop({ onBegin, workLimits: { accountJobCountMax: 2, jobCountMax: 4 } });
    const asked = (accountId: string) => workforce.answer(jobOf(BATCH, queries(2), { accountId }));
    const taken = [asked("a"), asked("a"), asked("b"), asked("c")];
    await expect(asked("a")).rejects.toMatchObject({
      name: "Refusal",
      code: "overloaded",
      headers: { "Retry-After": expect.stringMatching(/^[1-9][0-9]*$/) as string },
    });
    await expect(asked("d")).rejects.toMatchObject({ code: "overloaded" });
    release();
    await Promise.all(taken);
    await asked("a");
    expect(shed).toEqual(["too_many_of_account", "too_many_jobs"]);
  });

  test("to hold in memory is refused, but never the only one", async () => {
    const { release, onBegin } = held();
    const { workforce, shed } = workshop({ onBegin, workLimits: { heldBytesMax: 1000 } });
    const taken = workforce.answer(jobOf(BATCH, queries(50)));
    await expect(workforce.answer(jobOf(BATCH, queries(1)))).rejects.toMatchObject({ code: "overloaded" });
    release();
    await taken;
    expect([shed, workforce.state]).toEqual([["too_many_bytes"], { jobCount: 0, heldBytes: 0, workerDeathCount: 0 }]);
  });

  test("is not believed of long requests because short ones took their time", async () => {
    const { release, onBegin } = held();
    let isHeld = false;
    const { workforce, shed } = workshop({
      workers: 1,
      onBegin: () => (isHeld ? onBegin() : undefined),
      workLimits: { deadlineMs: 5000 },
    });
    // Ten milliseconds for a handful of bytes.
    for (let i = 0; i < 5; i++) await workforce.answer(jobOf(BATCH, "[0]"));
    isHeld = true;
    const long = Array.from({ length: 3 }, () => workforce.answer(jobOf(BATCH, queries(100))));
    release();
    for (const { units } of await Promise.all(long)) expect(units).toBeGreaterThan(0);
    expect(shed).toEqual([]);
  });

  test("to be done in time is refused before it is begun, by what such requests have cost", async () => {
    const { release, onBegin } = held();
    let isHeld = false;
    // By the workshop's clock an order takes ten milliseconds at least; 640 queries are five turns and more.
    const { workforce, begun, shed } = workshop({
      workers: 1,
      onBegin: () => (isHeld ? onBegin() : undefined),
      workLimits: { deadlineMs: 5000 },
    });
    const asked = queries(640);
    await workforce.answer(jobOf(BATCH, asked));
    isHeld = true;
    const others = Array.from({ length: 60 }, (_, i) => workforce.answer(jobOf(BATCH, asked, { accountId: `${i}` })));
    const outcomes = Promise.allSettled(others);
    const before = begun.length;
    await expect(
      workforce.answer(jobOf(BATCH, [...asked, ...asked, ...asked], { accountId: "x" })),
    ).rejects.toMatchObject({
      code: "overloaded",
      message: expect.stringContaining("longer than the 5 s") as string,
    });
    expect(begun.length - before).toBeLessThanOrEqual(1);
    expect(shed).toContain("too_long_a_wait");
    // What is quick is taken all the same: it need not wait for the others to end.
    const quick = workforce.answer(jobOf(BATCH, asked.slice(0, 5), { accountId: "y" }));
    release();
    await quick;
    await outcomes;
  });
});

describe("a worker that dies", () => {
  test("fails the request it was busy with, is started anew, and the others are answered", async () => {
    const isOf = (accountId: string, task: unknown): boolean =>
      (task as { readonly caller?: { readonly accountId: string } }).caller?.accountId === accountId;
    const asked = queries(1000);
    let isOver = false;
    const { workforce, threads, begun } = workshop({
      workers: 1,
      onBegin: (task, thread) => {
        // Not before others have work both behind this one and half done.
        const last = thread.orders.at(-1);
        const isOtherBehind =
          last?.kind === "task" && (last.task as HostTask).kind === "turn" && !isOf("deadly", last.task);
        const othersTurns = begun.filter((each) => each.kind === "turn" && !isOf("deadly", each)).length;
        if (isOver || task.kind !== "turn" || !isOf("deadly", task)) return undefined;
        if (!isOtherBehind || othersTurns < 6) return undefined;
        isOver = true;
        thread.die("out of memory");
        return new Promise(() => undefined);
      },
    });
    const others = [1, 2, 3].map((i) => workforce.answer(jobOf(BATCH, asked, { accountId: `other ${i}` })));
    const deadly = workforce.answer(jobOf(BATCH, asked, { accountId: "deadly" }));
    await expect(deadly).rejects.toThrow("out of memory");
    for (const { parts } of await Promise.all(others)) expect(textOf(parts)).toBe(await expectedText(asked));
    // What the others had been answered already was lost, and their shares were told again.
    expect(begun.filter((each) => each.kind === "turn" && each.share !== undefined).length).toBeGreaterThanOrEqual(
      4 + 3,
    );
    const again = await workforce.answer(jobOf(BATCH, asked, { accountId: "deadly" }));
    expect(textOf(again.parts)).toBe(await expectedText(asked));
    expect([threads.length, workforce.state.workerDeathCount]).toEqual([2, 1]);
  });
});

describe("the workforce", () => {
  test("warms up every worker, and takes no work once it is closed", async () => {
    const { workforce, threads, begun } = workshop({ workers: 3 });
    await workforce.warmUp();
    expect(threads.map(({ orders }) => orders.length)).toEqual([1, 1, 1]);
    expect(begun.map(({ kind }) => kind)).toEqual(["warm", "warm", "warm"]);
    const answer = workforce.answer(jobOf(BATCH, queries(500)));
    const closed = workforce.close().then(() => workforce.state.jobCount);
    await expect(workforce.answer(jobOf(BATCH, queries(1)))).rejects.toMatchObject({ code: "overloaded" });
    expect(textOf((await answer).parts).length).toBeGreaterThan(0);
    expect(await closed).toBe(0);
  });

  test("takes a body that lies in a larger buffer without taking the rest", async () => {
    const bytes = new TextEncoder().encode(`xx${JSON.stringify(queries(2))}xx`);
    const { workforce } = workshop();
    await workforce.answer({ ...jobOf(BATCH, []), body: bytes.subarray(2, -2) });
    expect(bytes[0]).toBe("x".charCodeAt(0));
  });
});
