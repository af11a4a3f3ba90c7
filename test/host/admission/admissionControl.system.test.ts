import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { eventually } from "../../eventually.ts";
import { DEFAULT_LOAD_LIMITS } from "../../../src/host/admission/resources.ts";
import { DEFAULT_HANDLER_TIMEOUTS, DEFAULT_TIMEOUTS } from "../../../src/host/http/timeouts.ts";
import type { Problem } from "../../../src/host/problems/problem.ts";
import type { HttpPayload } from "../../../src/host/bulk/bulkTasks.ts";
import { jsonReply } from "../../../src/host/route.ts";
import type { HostAtlas } from "../../../src/pool/hostAtlas.ts";
import type { TaskExecutor } from "../../../src/pool/executor.ts";
import { VALID_QUERY } from "../../hazard/queries.ts";
import { ENTITY } from "../entities.ts";
import {
  fakeAtlas,
  HEADER_LINES,
  type TestHost,
  startTestHost,
  quarterResult,
  QUERY_TARGET,
  ALIGNMENT_PATH,
} from "../testHost.ts";

const hosts: TestHost[] = [];
async function openHost(options: Parameters<typeof startTestHost>[0]): Promise<TestHost> {
  const host = await startTestHost(options);
  hosts.push(host);
  return host;
}
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

/** Returns an atlas that delays its responses until `release` is called. */
function heldAtlas() {
  let release = (): void => undefined;
  const released = new Promise<void>((resolve) => (release = resolve));
  let queryCount = 0;
  const atlas = fakeAtlas(async (query) => {
    queryCount++;
    await released;
    return quarterResult(query);
  });
  return { atlas, release, askedCount: () => queryCount };
}

describe("too many concurrent requests", () => {
  test("are rejected with 503 overloaded and Retry-After, while those in progress continue", async () => {
    const { atlas, release, askedCount } = heldAtlas();
    const host = await openHost({ atlas, load: { requestsInProgressMax: 3, accountShare: 1 } });
    const pending = Array.from({ length: 3 }, () => host.ask(QUERY_TARGET));
    await eventually(() => expect(askedCount()).toBe(3));
    const shed = await host.ask(QUERY_TARGET);
    expect([shed.status, shed.headers.get("retry-after")]).toStrictEqual([503, "1"]);
    expect(shed.headers.get("x-usage-units")).toBe("0");
    expect((await shed.json()) as Problem).toMatchObject({ code: "overloaded", retryable: true });
    // Health checks are always answered.
    expect((await fetch(`${host.address.url}/healthz`)).status).toBe(200);
    release();
    for (const response of await Promise.all(pending)) expect(response.status).toBe(200);
    expect((await host.ask(QUERY_TARGET)).status).toBe(200);
    expect(askedCount()).toBe(4);
  });

  test("do not include requests rejected for other reasons", async () => {
    const host = await openHost({ load: { requestsInProgressMax: 1 } });
    for (let i = 0; i < 3; i++) {
      expect((await host.ask("/api/v1/hazard-risk")).status).toBe(400);
      expect((await fetch(`${host.address.url}${QUERY_TARGET}`)).status).toBe(401);
    }
    expect((await host.ask(QUERY_TARGET)).status).toBe(200);
  });
});

describe("a client that disconnects during the customer lookup", () => {
  test("releases its slot", async () => {
    const host = await openHost({ load: { requestsInProgressMax: 1, accountShare: 1 } });
    let finishLookup = (): void => undefined;
    const lookupAllowed = new Promise<void>((resolve) => (finishLookup = resolve));
    const findCustomer = host.ledger.findCustomer.bind(host.ledger);
    const findCustomerMock = vi.spyOn(host.ledger, "findCustomer").mockImplementation(async (ids) => {
      await lookupAllowed;
      return findCustomer(ids);
    });
    const body = JSON.stringify([ENTITY]);
    const fields = [...HEADER_LINES, "Content-Type: application/json", `Content-Length: ${body.length}`];
    const socket = connect({ host: "127.0.0.1", port: host.address.port });
    socket
      .on("error", () => undefined)
      .write([`POST ${ALIGNMENT_PATH} HTTP/1.1`, "Host: h", ...fields, "", body].join("\r\n"));
    await eventually(() => expect(findCustomerMock).toHaveBeenCalled());
    socket.resetAndDestroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    finishLookup();
    await eventually(async () => expect((await host.ask(QUERY_TARGET)).status).toBe(200));
    expect(host.ledger.entries).toHaveLength(1);
  });
});

/** Returns an atlas whose executor records the payloads for worker threads and answers them with `answer`. */
function withExecutor(answer: (signal: AbortSignal) => Promise<unknown>) {
  const payloads: HttpPayload[] = [];
  const executor: TaskExecutor = {
    workerCount: 1,
    deathCount: 0,
    run: async (_kind, payload, { signal = new AbortController().signal }) => {
      payloads.push(payload as HttpPayload);
      return (await answer(signal)) as never;
    },
  };
  return { payloads, atlas: { ...fakeAtlas(), executor } satisfies HostAtlas };
}

/** Rejects with the reason of the signal when it aborts. */
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error));
  });

describe("request bodies", () => {
  test("are rejected if their total size exceeds the limit", async () => {
    let release = (): void => undefined;
    const opening = new Promise<void>((resolve) => (release = resolve));
    const { atlas, payloads } = withExecutor(async () => {
      await opening;
      return { kind: "answered", ...jsonReply([Buffer.from("{}")], 1) };
    });
    const host = await openHost({ atlas, load: { totalBodyBytesMax: 100_000, accountShare: 1 } });
    const post = (sizeBytes: number) =>
      host.ask(ALIGNMENT_PATH, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify([ENTITY]).padEnd(sizeBytes),
      });
    const first = post(60_000);
    await eventually(() => expect(payloads).toHaveLength(1));
    const shed = await post(50_000);
    expect([shed.status, ((await shed.json()) as Problem).code]).toStrictEqual([503, "overloaded"]);
    const small = await post(1_000);
    expect(small.status).toBe(200);
    release();
    expect((await first).status).toBe(200);
    // A body above the limit is accepted if it is the only one.
    expect((await post(200_000)).status).toBe(200);
    expect(payloads).toHaveLength(2);
  });
});

describe("an account", () => {
  /** Opens a connection that sends these bytes and then stalls. */
  async function openStalledConnection(host: TestHost, bytes: string): Promise<Socket> {
    const socket = connect({ host: "127.0.0.1", port: host.address.port });
    socket.on("error", () => undefined);
    await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
    return socket;
  }
  const head = (...fields: string[]): string =>
    [
      `POST ${ALIGNMENT_PATH} HTTP/1.1`,
      "Host: h",
      ...HEADER_LINES,
      "Content-Type: application/json",
      ...fields,
      "",
      "",
    ].join("\r\n");
  const post = (host: TestHost, body = JSON.stringify([ENTITY])) =>
    host.ask(ALIGNMENT_PATH, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  /** Returns a function that sends bodies as another account of the same host. */
  async function postAsOtherAccount({ ledger, address }: TestHost): Promise<(body: string) => Promise<Response>> {
    const { accountId } = await ledger.createAccount({ name: "Other" });
    const { secret } = await ledger.createKey({ accountId });
    const { customer } = await ledger.registerCustomer({ accountId, internalId: "theirs" });
    const headers = { "X-API-Key": secret, "X-Customer-ID": customer.customerId, "Content-Type": "application/json" };
    return (body) => fetch(address.url + ALIGNMENT_PATH, { method: "POST", headers, body });
  }

  test.each([
    ["declare a large size", "Content-Length: 8388608", "["],
    ["do not declare a size", "Transfer-Encoding: chunked", "1\r\n[\r\n"],
  ])("may send bodies that %s: only received bytes are charged to it", async (_what, field, body) => {
    const host = await openHost({});
    const sockets = await Promise.all(
      Array.from({ length: 80 }, () => openStalledConnection(host, head(field) + body)),
    );
    // A response to a later request shows that the earlier ones have been read.
    for (let i = 0; i < 3; i++) await fetch(`${host.address.url}/healthz`);
    expect((await post(host)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  test("has a limited share of the body limit, and leaves the rest to other accounts", async () => {
    const host = await openHost({ load: { totalBodyBytesMax: 400_000, accountShare: 0.25 } });
    const other = await postAsOtherAccount(host);
    const first = await openStalledConnection(
      host,
      head("Transfer-Encoding: chunked") + `15f90\r\n${" ".repeat(90_000)}`,
    );
    await eventually(async () => {
      const rejected = await post(host, JSON.stringify([ENTITY]).padEnd(20_000));
      expect([rejected.status, ((await rejected.json()) as Problem).code]).toStrictEqual([503, "overloaded"]);
    });
    expect((await other(JSON.stringify([ENTITY]).padEnd(20_000))).status).toBe(200);
    first.destroy();
    await eventually(async () => expect((await post(host, JSON.stringify([ENTITY]).padEnd(20_000))).status).toBe(200));
  });

  test("has a limited share of the request limit", async () => {
    const { atlas, release, askedCount } = heldAtlas();
    const host = await openHost({ atlas, load: { requestsInProgressMax: 8, accountShare: 0.25 } });
    const other = await postAsOtherAccount(host);
    const pending = [host.ask(QUERY_TARGET), host.ask(QUERY_TARGET)];
    await eventually(() => expect(askedCount()).toBe(2));
    expect((await host.ask(QUERY_TARGET)).status).toBe(503);
    expect((await other(JSON.stringify([ENTITY]))).status).toBe(200);
    release();
    for (const response of await Promise.all(pending)) expect(response.status).toBe(200);
  });

  test("that does not read its responses is rejected, while other accounts are served", async () => {
    const wide = fakeAtlas((query) => {
      const answer = quarterResult(query);
      if (query.radius !== 1) return Promise.resolve(answer);
      // Several megabytes, more than the socket buffers hold.
      return Promise.resolve({ ...answer, results: Array.from({ length: 40_000 }, () => answer.results).flat() });
    });
    const host = await openHost({ atlas: wide, load: { responseBytesMax: 80 << 20, accountShare: 0.25 } });
    const other = await postAsOtherAccount(host);
    const request = [`GET ${QUERY_TARGET}&radius=1 HTTP/1.1`, "Host: h", ...HEADER_LINES, "", ""].join("\r\n");
    const sockets: Socket[] = [];
    let rejected: Response | undefined;
    while (rejected === undefined && sockets.length < 12) {
      const socket = await openStalledConnection(host, request);
      socket.pause();
      sockets.push(socket);
      await eventually(() => expect(host.ledger.entries.length).toBe(sockets.length));
      const next = await host.ask(QUERY_TARGET);
      if (next.status === 503) rejected = next;
    }
    expect(((await rejected?.json()) as Problem | undefined)?.code).toBe("overloaded");
    expect(host.ledger.entries.length).toBe(sockets.length);
    expect((await other(JSON.stringify([ENTITY]))).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await eventually(async () => expect((await host.ask(QUERY_TARGET)).status).toBe(200));
  });

  test("has a limited share of the memory for the unread responses to requests that it sends at the same time", async () => {
    const { atlas: held, release, askedCount } = heldAtlas();
    const atlas = {
      ...held,
      hazardRisk: async (...query: Parameters<typeof held.hazardRisk>) => {
        const answer = await held.hazardRisk(...query);
        // Many megabytes, more than the socket buffers hold.
        return { ...answer, results: Array.from({ length: 20_000 }, () => answer.results).flat() };
      },
    };
    const memoryBytesMax = 120 << 20;
    const host = await openHost({ atlas, load: { memoryBytesMax, accountShare: 0.5 } });
    const request = [`GET ${QUERY_TARGET} HTTP/1.1`, "Host: h", ...HEADER_LINES, "", ""].join("\r\n");
    const sockets = await Promise.all(Array.from({ length: 6 }, () => openStalledConnection(host, request)));
    for (const socket of sockets) socket.pause();
    await eventually(() => expect(askedCount()).toBe(sockets.length));
    release();
    const rejectedCount = () => host.records.filter(({ code }) => code === "overloaded").length;
    await eventually(() => expect(host.ledger.entries.length + rejectedCount()).toBe(sockets.length));
    for (const socket of sockets) socket.destroy();
    await eventually(() => expect(host.records).toHaveLength(sockets.length));
    const sizeBytes = Buffer.byteLength(await (await host.ask(QUERY_TARGET)).text());
    expect(host.ledger.entries.length).toBe(1 + Math.floor((0.5 * memoryBytesMax) / sizeBytes));
  });
});

describe("requests for worker threads", () => {
  const long = JSON.stringify([ENTITY]).padEnd(20_000);
  const post = (host: TestHost, body: string, query = "") =>
    host.ask(`${ALIGNMENT_PATH}${query}`, { method: "POST", headers: { "Content-Type": "application/json" }, body });

  test("are those with long bodies; the bytes, units and header fields of the worker reach the client", async () => {
    const reply = jsonReply([Buffer.from('{"a":'), Buffer.from("1}")], 7, { "X-Item-Errors": "2" });
    const { atlas, payloads } = withExecutor(async () => ({ kind: "answered", ...reply }));
    const host = await openHost({ atlas });
    const response = await post(host, long, "?detail=true");
    expect([response.status, await response.text()]).toStrictEqual([200, '{"a":1}']);
    const { headers } = response;
    expect(
      ["content-type", "x-usage-units", "x-item-errors", "x-benchmark"].map((name) => headers.get(name)),
    ).toStrictEqual(["application/json", "7", "2", "ngfs-phase5-message-r12/2"]);
    expect(payloads).toMatchObject([
      { route: ALIGNMENT_PATH, queryText: "detail=true", caller: { accountId: host.accountId, keyId: host.keyId } },
    ]);
    const parts = payloads[0]?.body ?? [];
    expect(Buffer.concat(parts).toString()).toBe(long);
    // Other threads read it without a copy.
    expect(parts.map(({ buffer }) => buffer instanceof SharedArrayBuffer)).toStrictEqual([true]);
    expect(host.ledger.entries).toMatchObject([{ units: 7, receipt: headers.get("x-request-id") }]);
    await post(host, JSON.stringify([ENTITY]));
    expect(payloads).toHaveLength(1);
  });

  test("return 500 if the worker fails", async () => {
    const { atlas } = withExecutor(() => Promise.reject(new Error("a worker died")));
    const host = await openHost({ atlas });
    const response = await post(host, long);
    expect([response.status, response.headers.get("x-usage-units")]).toStrictEqual([500, "0"]);
    expect(host.ledger.entries).toStrictEqual([]);
  });

  test("are aborted when the client disconnects", async () => {
    let reason: unknown;
    const { atlas, payloads } = withExecutor((signal) => {
      signal.addEventListener("abort", () => (reason = signal.reason));
      return untilAborted(signal);
    });
    const host = await openHost({ atlas });
    const leaving = new AbortController();
    const asked = host.ask(ALIGNMENT_PATH, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: long,
      signal: leaving.signal,
    });
    await eventually(() => expect(payloads).toHaveLength(1));
    leaving.abort();
    await expect(asked).rejects.toThrow(/abort/);
    await eventually(() => expect(reason).toBeInstanceOf(Error));
    expect(host.ledger.entries).toStrictEqual([]);
  });

  test("have the same default deadline as other work", () => {
    expect(DEFAULT_LOAD_LIMITS.jobDeadlineMs).toBe(DEFAULT_TIMEOUTS.workTimeoutMs);
    expect(DEFAULT_LOAD_LIMITS.jobDeadlineMs).toBe(DEFAULT_HANDLER_TIMEOUTS.workTimeoutMs);
  });

  test.each([
    ["equal to the work timeout, as by default", { jobDeadlineMs: 20, workTimeoutMs: 20 }],
    ["shorter than the work timeout", { jobDeadlineMs: 20, workTimeoutMs: 60_000 }],
    ["limited by the work timeout", { jobDeadlineMs: 60_000, workTimeoutMs: 20 }],
  ])("return 503 and are counted as too_late after a job deadline %s", async (_, { jobDeadlineMs, workTimeoutMs }) => {
    const { atlas } = withExecutor(untilAborted);
    const host = await openHost({ atlas, load: { jobDeadlineMs }, timeouts: { workTimeoutMs }, adminPort: 0 });
    const response = await post(host, long);
    expect([response.status, (await response.json()) as Problem]).toMatchObject([
      503,
      { code: "overloaded", detail: expect.stringContaining("was not answered within 0.02 s") as string },
    ]);
    const metrics = await (await fetch(`${host.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/^isotherm_shed_total\{reason="too_late"\} 1$/m);
  });
});

describe("large requests without worker threads", () => {
  const batch = JSON.stringify([VALID_QUERY, VALID_QUERY]);
  const post = (host: TestHost) =>
    host.ask("/api/v1/hazard-risk/batch", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: batch,
    });

  test("are limited in number, while other requests are answered", async () => {
    const held = heldAtlas();
    const atlas = { ...held.atlas, hazardRisk: fakeAtlas().hazardRisk };
    const host = await openHost({ atlas, load: { jobsPerAccountMax: 1 }, adminPort: 0 });
    const first = post(host);
    await eventually(() => expect(held.askedCount()).toBe(1));
    const second = await post(host);
    expect([second.status, (await second.json()) as Problem]).toMatchObject([
      503,
      { code: "overloaded", detail: expect.stringContaining("already has 1 large requests in progress") as string },
    ]);
    expect((await host.ask(QUERY_TARGET)).status).toBe(200);
    const metrics = await (await fetch(`${host.adminUrl}/metrics`)).text();
    expect(metrics).toMatch(/^isotherm_work_jobs 1$/m);
    expect(metrics).toMatch(new RegExp(`^isotherm_work_held_bytes ${batch.length}$`, "m"));
    expect(metrics).toMatch(/^isotherm_shed_total\{reason="too_many_of_account"\} 1$/m);
    held.release();
    expect((await first).status).toBe(200);
    expect((await post(host)).status).toBe(200);
  });

  test("include single queries that their route classifies as long", async () => {
    const held = heldAtlas();
    const atlas: HostAtlas = { ...held.atlas, isLong: () => true };
    const host = await openHost({ atlas, load: { jobsPerAccountMax: 1 } });
    const first = host.ask(QUERY_TARGET);
    await eventually(() => expect(held.askedCount()).toBe(1));
    expect((await host.ask(QUERY_TARGET)).status).toBe(503);
    held.release();
    expect((await first).status).toBe(200);
  });

  test("return 503 after the job deadline, and are not metered", async () => {
    const atlas: HostAtlas = {
      ...fakeAtlas(),
      hazardRiskBatch: (_, { signal = new AbortController().signal } = {}) => untilAborted(signal),
    };
    const host = await openHost({ atlas, load: { jobDeadlineMs: 20 } });
    const response = await post(host);
    expect([response.status, (await response.json()) as Problem]).toMatchObject([
      503,
      { code: "overloaded", detail: expect.stringContaining("was not answered within 0.02 s") as string },
    ]);
    expect(host.ledger.entries).toStrictEqual([]);
  });
});
