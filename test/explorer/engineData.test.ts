import { beforeAll, describe, expect, test } from "vitest";
import type { HazardQueryInput } from "../../src/contract/wireTypes.ts";
import { openEngine } from "../../src/explorer/data/engine.ts";
import { type Engine, engineData } from "../../src/explorer/data/engineData.ts";
import { serveEngine } from "../../src/explorer/data/engineServer.ts";
import { type ExplorerData, ExplorerError } from "../../src/explorer/data/explorerData.ts";
import type { CallMessage, ReplyMessage, WorkerThread } from "../../src/concurrency/threadCalls.ts";
import { Fault } from "../../src/errors.ts";
import { alignTemperature, openAtlas, roundTemperatures, totalClimateRisk } from "../../src/index.ts";
import { describeHazards } from "../../src/hazard/hazardCatalog.ts";

const QUERY = {
  latitude: 11.59,
  longitude: 43.15,
  hazards: ["riverine_floods", "coastal_floods"],
  analysis_years: [2050],
  scenarios: ["rcp8p5"],
  radius: 10,
  detail: true,
} as const satisfies HazardQueryInput;

/** A worker on this thread. Messages are copied, as between threads, and are delivered later. */
function localThread(open: (address: string) => Promise<Engine> = openEngine) {
  const requests: CallMessage[] = [];
  let hasEnded = false;
  let onReply: (message: ReplyMessage) => void = () => undefined;
  let onEnd: (error: Error) => void = () => undefined;
  let onCall: (message: CallMessage) => void = () => undefined;
  void serveEngine(
    {
      onMessage: (listener) => (onCall = listener),
      send: (message, transfer = []) => {
        const copy = structuredClone(message, { transfer: [...transfer] });
        queueMicrotask(() => onReply(copy));
      },
    },
    open,
  );
  const thread: WorkerThread = {
    send: (message) => {
      requests.push(message);
      const copy = structuredClone(message);
      setImmediate(() => onCall(copy));
    },
    onMessage: (listener) => (onReply = listener),
    onEnd: (listener) => (onEnd = listener),
    setReferenced: () => undefined,
    end: async () => void (hasEnded = true),
  };
  const fail = (): void => onEnd(new ExplorerError("engine_failed", "out of memory"));
  return { thread, requests, fail, hasEnded: () => hasEnded };
}

describe("the engine of a published page", () => {
  let data: ExplorerData;
  beforeAll(() => {
    data = engineData("demo", localThread().thread);
  });

  test("returns the answers of the library", async () => {
    const atlas = await openAtlas("demo");
    expect(JSON.stringify(await data.hazardRisk(QUERY))).toBe(JSON.stringify(await atlas.hazardRisk(QUERY)));
    expect(await data.catalog()).toEqual(describeHazards(atlas));
    await atlas.close();
  });

  test("returns a problem for each invalid query of a batch", async () => {
    const invalid = { ...QUERY, radius: 200 };
    const unavailable = { ...QUERY, analysis_years: [2025] };
    const [valid, refused, missing] = await data.hazardRiskBatch([QUERY, invalid, unavailable]);
    expect(valid).toEqual(await data.hazardRisk(QUERY));
    expect(refused).toMatchObject({ error: { status: 400, code: "invalid_request", retryable: false } });
    expect(refused).toMatchObject({ error: { errors: [{ pointer: "/radius", code: "out_of_range" }] } });
    expect(missing).toMatchObject({ error: { status: 422, code: "combination_unavailable" } });
  });

  test("returns curves, and a problem for each invalid query of a batch of them", async () => {
    const query = { ...QUERY, hazards: ["riverine_floods"] } as const;
    const [valid, refused] = await data.curveBatch([query, { ...query, radius: 200 }]);
    expect(valid).toEqual(await data.curve(query));
    expect(refused).toMatchObject({ error: { code: "invalid_request", errors: [{ pointer: "/radius" }] } });
  });

  test("returns the answers for companies, with rounded temperatures", async () => {
    const entity = {
      entity_info: { name: "Example", asset_type: "equity" as const, country: "Germany", industry: "Steel" },
      data: [{ year: 2023, emissions: { scope1: 100 }, financials: { revenue: 1e6 } }],
      projected_emissions: [{ year: 2030, emissions: { scope1: 80 } }],
    };
    const aligned = await data.alignTemperature([entity], { budget_scenario: "ndcs", detail: true });
    const expected = roundTemperatures(await alignTemperature([entity], { budgetScenario: "ndcs", detail: true }));
    expect(JSON.stringify(aligned)).toBe(JSON.stringify(expected));
    const company = {
      name: "Example Cement",
      country: "India",
      industry: "cement_lime",
      revenue: "7870000000",
      transition_scenarios: ["NGFS_NET_ZERO_2050"],
      assessment_years: [2030],
    };
    expect(JSON.stringify(await data.totalClimateRisk(company))).toBe(JSON.stringify(totalClimateRisk(company)));
    expect((await data.industries()).items.length).toBeGreaterThan(100);
    expect((await data.countries()).items.length).toBeGreaterThan(100);
    expect((await data.scenarios()).items.length).toBeGreaterThan(5);
  });

  test("cancels a query and a curve in the library", async () => {
    const engine = await openEngine("demo");
    const signal = AbortSignal.abort(new Error("out of date"));
    const curve = { ...QUERY, hazards: ["riverine_floods"], analysis_years: [2050] } as const;
    await expect(engine.hazardRisk(QUERY, signal)).rejects.toThrow("out of date");
    await expect(engine.curve(curve, signal)).rejects.toThrow("out of date");
  });

  test("reports the errors of the library", async () => {
    await expect(data.hazardRisk({ ...QUERY, latitude: 91 })).rejects.toMatchObject({
      name: "ExplorerError",
      code: "invalid_request",
      items: [{ pointer: "/latitude", code: "out_of_range" }],
    });
    await expect(data.alignTemperature([], { benchmark: "another" as never })).rejects.toMatchObject({
      code: "invalid_request",
      items: [{ parameter: "benchmark", code: "not_allowed" }],
    });
  });
});

/** An engine whose only function waits until it is aborted. */
function waitingEngine(): { readonly engine: Engine; readonly signals: (AbortSignal | undefined)[] } {
  const signals: (AbortSignal | undefined)[] = [];
  const hazardRisk = (_: HazardQueryInput, signal?: AbortSignal) => {
    signals.push(signal);
    return new Promise<never>(() => undefined);
  };
  return { engine: { hazardRisk } as unknown as Engine, signals };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("calls of the engine", () => {
  test("end when their signal is aborted, in the page and in the worker", async () => {
    const { engine, signals } = waitingEngine();
    const data = engineData("demo", localThread(() => Promise.resolve(engine)).thread);
    const abort = new AbortController();
    const call = data.hazardRisk(QUERY, abort.signal);
    await settled();
    expect(signals.map((signal) => signal?.aborted)).toEqual([false]);
    abort.abort(new Error("out of date"));
    await expect(call).rejects.toThrow("out of date");
    await settled();
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });

  test("are not sent if their signal is already aborted", async () => {
    const { thread, requests } = localThread(() => Promise.resolve(waitingEngine().engine));
    const data = engineData("demo", thread);
    await expect(data.hazardRisk(QUERY, AbortSignal.abort(new Error("too late")))).rejects.toThrow("too late");
    expect(requests).toMatchObject([{ name: "open" }]);
    expect(requests).toHaveLength(1);
  });

  test("report why the atlas could not be opened", async () => {
    const fault = new Fault("atlas_unavailable", "atlas.json: responded with 200 OK instead of 206");
    const data = engineData("http://host.test/atlas/", localThread(() => Promise.reject(fault)).thread);
    for (let i = 0; i < 2; i++) {
      await expect(data.catalog()).rejects.toMatchObject({ code: "atlas_unavailable", message: fault.message });
    }
  });

  test("report a worker that failed, and so do later calls", async () => {
    const { thread, fail } = localThread(() => Promise.resolve(waitingEngine().engine));
    const data = engineData("demo", thread);
    const call = data.hazardRisk(QUERY);
    fail();
    await expect(call).rejects.toMatchObject({ name: "ExplorerError", code: "engine_failed" });
    await expect(data.catalog()).rejects.toMatchObject({ code: "engine_failed" });
  });

  test("end with the worker when the data is closed", async () => {
    const { thread, hasEnded } = localThread(() => Promise.resolve(waitingEngine().engine));
    const data = engineData("demo", thread);
    const call = data.hazardRisk(QUERY);
    expect(hasEnded()).toBe(false);
    data.close();
    expect(hasEnded()).toBe(true);
    await expect(call).rejects.toMatchObject({ name: "ExplorerError", code: "engine_closed" });
    await expect(data.catalog()).rejects.toMatchObject({ code: "engine_closed" });
  });

  test("report a bug of the engine as such", async () => {
    const catalog = () => Promise.reject(new TypeError("x is not a function"));
    const engine = { catalog } as unknown as Engine;
    const data = engineData("demo", localThread(() => Promise.resolve(engine)).thread);
    await expect(data.catalog()).rejects.toMatchObject({ code: "internal_error" });
  });

  test("move the steps of a tile instead of copying them", async () => {
    const steps = new Uint16Array(65_536).fill(7);
    const tile = { stepsPerUnit: 1, offset: 0, isBlockMaximum: false, blockSizeCells: 1, steps };
    const engine = { valueTile: () => Promise.resolve(tile) } as unknown as Engine;
    const data = engineData("demo", localThread(() => Promise.resolve(engine)).thread);
    const layer = { hazard: "cyclones", scenario: "rcp8p5", analysisYear: 2050, metric: "intensity" } as const;
    expect((await data.valueTile({ ...layer, z: 0, x: 0, y: 0 })).steps).toEqual(new Uint16Array(65_536).fill(7));
    expect(steps.buffer.byteLength).toBe(0);
  });
});
