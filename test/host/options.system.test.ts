import { expect, test } from "vitest";
import { type ServeOptions, serve } from "../../src/host/main.ts";
import { fakeAtlas, startTestHost } from "./testHost.ts";
import { MemoryLedger } from "./memoryLedger.ts";

const validOptions = (): ServeOptions => ({
  atlas: fakeAtlas(),
  ledger: new MemoryLedger(),
  host: "127.0.0.1",
  port: 0,
});

test.each([
  ["an unknown option", { admin_port: 0 }, [{ pointer: "/admin_port", code: "unknown", did_you_mean: "adminPort" }]],
  ["an unknown limit", { limits: { batch: 5 } }, [{ pointer: "/limits/batch", did_you_mean: "batchCount" }]],
  ["a limit of 0", { limits: { batchCount: 0 } }, [{ pointer: "/limits/batchCount", code: "out_of_range" }]],
  ["a rate of 0", { limits: { requestsPerS: 0 } }, [{ pointer: "/limits/requestsPerS", code: "out_of_range" }]],
  [
    "an infinite rate",
    { limits: { requestsPerS: Infinity } },
    [{ pointer: "/limits/requestsPerS", code: "not_finite" }],
  ],
  [
    "a fractional limit",
    { limits: { hazardValueCount: 0.5 } },
    [{ pointer: "/limits/hazardValueCount", code: "wrong_type" }],
  ],
  ["an unknown load limit", { load: { requests: 5 } }, [{ pointer: "/load/requests", code: "unknown" }]],
  [
    "a load limit as text",
    { load: { totalBodyBytesMax: "1e9" } },
    [{ pointer: "/load/totalBodyBytesMax", code: "wrong_type" }],
  ],
  ["an account share of 2", { load: { accountShare: 2 } }, [{ pointer: "/load/accountShare", code: "out_of_range" }]],
  [
    "an unknown timeout",
    { timeouts: { drainDelay: 5 } },
    [{ pointer: "/timeouts/drainDelay", did_you_mean: "drainDelayMs" }],
  ],
  [
    "a timeout of NaN",
    { timeouts: { workTimeoutMs: NaN } },
    [{ pointer: "/timeouts/workTimeoutMs", code: "not_finite" }],
  ],
  [
    "a timeout above the maximum of Node.js timers",
    { timeouts: { drainTimeoutMs: 2 ** 31 } },
    [{ pointer: "/timeouts/drainTimeoutMs" }],
  ],
  [
    "an origin that is not in a list",
    { corsOrigins: "https://example.org" },
    [{ pointer: "/corsOrigins", code: "wrong_type" }],
  ],
  ["a warmUp that is text", { warmUp: "no" }, [{ pointer: "/warmUp", code: "wrong_type" }]],
  ["a log that is not a function", { log: "log.ndjson" }, [{ pointer: "/log", code: "wrong_type" }]],
  ["a port that is text", { port: "8080" }, [{ pointer: "/port", code: "wrong_type" }]],
  ["an admin port out of range", { adminPort: 65_536 }, [{ pointer: "/adminPort", code: "out_of_range" }]],
  [
    "several invalid options",
    { host: "", port: -1, limit: {} },
    [{ pointer: "/host" }, { pointer: "/port" }, { pointer: "/limit", did_you_mean: "limits" }],
  ],
])("serve rejects %s", async (_what, options, items) => {
  const serving = serve({ ...validOptions(), ...(options as Partial<ServeOptions>) });
  await expect(serving).rejects.toMatchObject({ name: "Fault", code: "configuration_invalid", items });
});

test("serve reports all missing options", async () => {
  await expect(serve({} as never)).rejects.toMatchObject({
    code: "configuration_invalid",
    items: ["/atlas", "/ledger", "/host", "/port"].map((pointer) => ({ pointer, code: "missing" })),
  });
  await expect(serve(undefined as never)).rejects.toMatchObject({ code: "configuration_invalid" });
});

test("serve applies defaults to undefined options", async () => {
  const host = await startTestHost({
    timeouts: { drainDelayMs: undefined, drainTimeoutMs: 50 },
    log: undefined,
  } as never);
  await host.ready;
  await host.close();
});

test("close rejects unknown options and can be called again", async () => {
  const host = await startTestHost();
  await expect(host.close({ drainDelay: 1 } as never)).rejects.toMatchObject({
    code: "configuration_invalid",
    items: [{ pointer: "/drainDelay", code: "unknown", did_you_mean: "drainDelayMs" }],
  });
  await expect(host.close({ drainDelayMs: -1 })).rejects.toMatchObject({ items: [{ code: "out_of_range" }] });
  expect((await fetch(`${host.address.url}/healthz`)).status).toBe(200);
  await host.close();
});
