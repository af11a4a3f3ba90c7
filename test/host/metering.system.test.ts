import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { eventually } from "../eventually.ts";
import { Fault } from "../../src/errors.ts";
import type { Problem } from "../../src/host/problems/problem.ts";
import { parametersOf, queryTextOf, VALID_QUERY } from "../hazard/queries.ts";
import { ENTITY } from "./entities.ts";
import {
  fakeAtlas,
  HEADER_LINES,
  HEADERS,
  type TestHost,
  startTestHost,
  quarterResult,
  ALIGNMENT_PATH,
} from "./testHost.ts";
import type { HazardResult } from "../../src/contract/wireTypes.ts";

const QUERY_TEXT = queryTextOf(parametersOf(VALID_QUERY));
const TARGET = `/api/v1/hazard-risk?${QUERY_TEXT}`;
const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterEach(() => {
  host.ledger.entries.length = 0;
  vi.restoreAllMocks();
});
afterAll(async () => {
  await host.close();
});

const align = (headers: Record<string, string> = {}, body: unknown = [ENTITY], query = "", space = "") =>
  host.ask(`${ALIGNMENT_PATH}${query}`, {
    method: "POST",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body) + space,
  });

/** Returns a result whose metrics are all null. */
function nullResult(query: Parameters<typeof quarterResult>[0]): HazardResult {
  const text = JSON.stringify(quarterResult(query))
    .replaceAll("0.25}", '0.25},"no_data":"no_data"')
    .replaceAll("0.25", "null");
  return JSON.parse(text) as HazardResult;
}

describe("metered responses", () => {
  test("are recorded under their request id before they are sent", async () => {
    const response = await host.ask(TARGET);
    expect([response.status, response.headers.get("x-usage-units")]).toStrictEqual([200, "8"]);
    const requestId = response.headers.get("x-request-id") ?? "";
    expect(requestId).toMatch(UUID_V7);
    expect(host.ledger.entries).toMatchObject([
      {
        receipt: requestId,
        accountId: host.accountId,
        customerId: HEADERS["X-Customer-ID"],
        keyId: host.keyId,
        meter: "hazard_values",
        units: 8,
        route: "/api/v1/hazard-risk",
        atlasRelease: "test-1",
      },
    ]);
  });

  test("wait for the ledger", async () => {
    let commit = (): void => undefined;
    const committed = new Promise<void>((resolve) => (commit = resolve));
    const record = vi.spyOn(host.ledger, "record").mockImplementation(async ({ units }) => {
      await committed;
      return { units, isReplay: false };
    });
    let isAnswered = false;
    const pendingResponse = host.ask(TARGET).then((response) => {
      isAnswered = true;
      return response;
    });
    await eventually(() => expect(record).toHaveBeenCalledTimes(1));
    // Another request completes in the meantime.
    await fetch(`${host.address.url}/healthz`);
    expect(isAnswered).toBe(false);
    commit();
    expect((await pendingResponse).status).toBe(200);
  });

  test("count the temperatures of an alignment", async () => {
    const response = await align();
    expect([response.status, response.headers.get("x-usage-units")]).toStrictEqual([200, "2"]);
    expect(host.ledger.entries).toMatchObject([{ meter: "alignment_values", units: 2, route: ALIGNMENT_PATH }]);
    expect(host.ledger.entries[0]).not.toHaveProperty("atlasRelease");
  });

  test("of /latest paths are recorded under the same route", async () => {
    await host.ask(`/latest${TARGET}`);
    expect(host.ledger.entries).toMatchObject([{ route: "/api/v1/hazard-risk" }]);
  });
});

describe("usage units", () => {
  test("are not counted for null values", async () => {
    const empty = await startTestHost({ atlas: fakeAtlas((query) => Promise.resolve(nullResult(query))) });
    try {
      const record = vi.spyOn(empty.ledger, "record");
      const response = await empty.ask(TARGET);
      expect([response.status, response.headers.get("x-usage-units")]).toStrictEqual([200, "0"]);
      expect(await response.text()).toContain("null");
      expect(empty.ledger.entries).toStrictEqual([]);
      expect(record).not.toHaveBeenCalled();
    } finally {
      await empty.close();
    }
  });

  test("are not counted for HEAD requests", async () => {
    const response = await host.ask(TARGET, { method: "HEAD" });
    expect([response.status, response.headers.get("x-usage-units")]).toStrictEqual([200, "0"]);
    expect(host.ledger.entries).toStrictEqual([]);
  });

  test("are not counted for 304 responses", async () => {
    const etag = (await host.ask(TARGET)).headers.get("etag") ?? "";
    host.ledger.entries.length = 0;
    const response = await host.ask(TARGET, { headers: { "If-None-Match": etag } });
    expect([response.status, response.headers.get("x-usage-units")]).toStrictEqual([304, "0"]);
    expect(host.ledger.entries).toStrictEqual([]);
  });

  test("are not counted for problem responses", async () => {
    const failing = await startTestHost({ atlas: fakeAtlas(() => Promise.reject(new Error("a bug"))) });
    try {
      for (const [target, status] of [
        [TARGET, 500],
        ["/api/v1/hazard-risk?latitude=100", 400],
      ] as const) {
        const response = await failing.ask(target);
        expect([response.status, response.headers.get("x-usage-units")]).toStrictEqual([status, "0"]);
      }
      expect(failing.ledger.entries).toStrictEqual([]);
    } finally {
      await failing.close();
    }
  });

  test("are not counted for a response that cannot be encoded", async () => {
    const broken = JSON.parse(JSON.stringify(quarterResult(VALID_QUERY)), (name, value: unknown) =>
      name === "intensity" ? NaN : value,
    ) as HazardResult;
    const failing = await startTestHost({ atlas: fakeAtlas(() => Promise.resolve(broken)) });
    try {
      expect((await failing.ask(TARGET)).status).toBe(500);
      expect(failing.ledger.entries).toStrictEqual([]);
    } finally {
      await failing.close();
    }
  });

  test("are not counted for responses to disconnected clients", async () => {
    let release = (): void => undefined;
    const opened = new Promise<void>((resolve) => (release = resolve));
    let reach = (): void => undefined;
    const reached = new Promise<void>((resolve) => (reach = resolve));
    const slowHost = await startTestHost({
      atlas: fakeAtlas(async (query) => {
        reach();
        await opened;
        return quarterResult(query);
      }),
    });
    try {
      const socket = connect({ host: "127.0.0.1", port: slowHost.address.port });
      socket.write([`GET ${TARGET} HTTP/1.1`, "Host: h", ...HEADER_LINES, "", ""].join("\r\n"));
      await reached;
      socket.destroy();
      await once(socket, "close");
      await fetch(`${slowHost.address.url}/healthz`); // The server has noticed the disconnection by then.
      release();
      await eventually(() => expect(slowHost.records.some(({ route }) => route === "/api/v1/hazard-risk")).toBe(true));
      expect(slowHost.ledger.entries).toStrictEqual([]);
    } finally {
      await slowHost.close();
    }
  });
});

describe("usage that cannot be recorded", () => {
  test("leads to 503 usage_not_recorded with Retry-After instead of the response", async () => {
    const other = await startTestHost();
    try {
      await other.ready;
      other.ledger.fail(new Error("disk full"));
      const response = await other.ask(TARGET);
      expect(response.status).toBe(503);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(response.headers.get("x-usage-units")).toBe("0");
      const text = await response.text();
      expect(JSON.parse(text)).toMatchObject({ code: "usage_not_recorded", retryable: true });
      expect(text).not.toMatch(/0\.25|disk/);
      expect(await other.failed).toMatchObject({ message: "disk full" });
      // Unmetered routes still respond, but /readyz reports that the service is not ready.
      expect((await other.ask("/api/v1/limits")).status).toBe(200);
      expect((await other.ask("/readyz")).status).toBe(503);
    } finally {
      await other.close();
    }
  });
});

describe("Idempotency-Key", () => {
  test("makes a repeated request return the same response and be metered once", async () => {
    const first = await align({ "Idempotency-Key": "a" });
    const second = await align({ "Idempotency-Key": "a" });
    expect([first.status, second.status]).toStrictEqual([200, 200]);
    expect(await second.text()).toBe(await first.text());
    expect([first, second].map(({ headers }) => headers.get("x-usage-units"))).toStrictEqual(["2", "0"]);
    expect([first, second].map(({ headers }) => headers.get("idempotent-replayed"))).toStrictEqual([null, "true"]);
    expect(host.ledger.entries).toHaveLength(1);
  });

  test("applies to GET and to /latest", async () => {
    const headers = { "Idempotency-Key": "b" };
    await host.ask(TARGET, { headers });
    const second = await host.ask(`/latest${TARGET}`, { headers });
    expect([second.status, second.headers.get("idempotent-replayed")]).toStrictEqual([200, "true"]);
    expect(host.ledger.entries).toHaveLength(1);
  });

  test.each([
    ["another body", () => align({ "Idempotency-Key": "c" }, [ENTITY, ENTITY])],
    ["another byte of white space", () => align({ "Idempotency-Key": "c" }, [ENTITY], "", " ")],
    ["another query", () => align({ "Idempotency-Key": "c" }, [ENTITY], "?detail=true")],
  ])("returns 422 idempotency_key_reused with %s", async (_what, again) => {
    await align({ "Idempotency-Key": "c" });
    const count = host.ledger.entries.length;
    const response = await again();
    expect([response.status, response.headers.get("x-usage-units")]).toStrictEqual([422, "0"]);
    expect(((await response.json()) as Problem).code).toBe("idempotency_key_reused");
    expect(host.ledger.entries).toHaveLength(count);
  });

  test("is scoped to a customer and a route", async () => {
    const { customer } = await host.ledger.registerCustomer({ accountId: host.accountId, internalId: "second" });
    await align({ "Idempotency-Key": "d" });
    const other = await align({ "Idempotency-Key": "d", "X-Customer-ID": customer.customerId });
    expect(other.headers.get("x-usage-units")).toBe("2");
    const get = await host.ask(TARGET, { headers: { "Idempotency-Key": "d" } });
    expect(get.headers.get("x-usage-units")).toBe("8");
  });

  test.each(["", "a b", "x".repeat(256), "\u00e4", "a, a"])("is rejected with 400 if it is '%s'", async (key) => {
    const response = await align({ "Idempotency-Key": key });
    const problem = (await response.json()) as Problem;
    expect([response.status, problem.code]).toStrictEqual([400, "invalid_request"]);
    expect(problem.errors).toMatchObject([{ header: "Idempotency-Key", code: "malformed" }]);
  });

  test("is checked for responses without units", async () => {
    const record = vi.spyOn(host.ledger, "record").mockRejectedValue(new Fault("idempotency_key_reused", "Reused."));
    const zeroBaseline = { ...ENTITY, data: [{ year: 2024, emissions: { scope1: 0 } }] };
    const response = await align({ "Idempotency-Key": "e" }, [zeroBaseline]);
    expect(response.status).toBe(422);
    expect(record.mock.calls).toMatchObject([[{ units: 0, idempotency: { key: "e" } }]]);
  });
});
