import { connect, type Socket } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Problem } from "../../../src/host/problems/problem.ts";
import type { Workforce } from "../../../src/host/work/workforce.ts";
import { parametersOf, queryTextOf, VALID_QUERY } from "../../hazard/queries.ts";
import { ENTITY } from "../entities.ts";
import { atlasOf, HEADER_LINES, type Hosted, hosted, quarters } from "../hosting.ts";

const TARGET = `/api/v1/hazard-risk?${queryTextOf(parametersOf(VALID_QUERY))}`;
const ALIGNMENT = "/api/v1/temperature-alignment-projections";

const hosts: Hosted[] = [];
async function opened(options: Parameters<typeof hosted>[0]): Promise<Hosted> {
  const host = await hosted(options);
  hosts.push(host);
  return host;
}
afterEach(async () => {
  await Promise.all(hosts.splice(0).map((host) => host.close()));
});

/** An atlas whose responses wait until they are released. */
function held() {
  let release = (): void => undefined;
  const opened = new Promise<void>((resolve) => (release = resolve));
  let asked = 0;
  const atlas = atlasOf(async (query) => {
    asked++;
    await opened;
    return quarters(query);
  });
  return { atlas, release, askedCount: () => asked };
}

describe("too many concurrent requests", () => {
  test("are refused with 503 overloaded and Retry-After, while those in progress continue", async () => {
    const { atlas, release, askedCount } = held();
    const host = await opened({ atlas, load: { requestsInWorkMax: 3, accountShare: 1 } });
    const inWork = Array.from({ length: 3 }, () => host.ask(TARGET));
    await vi.waitFor(() => expect(askedCount()).toBe(3));
    const shed = await host.ask(TARGET);
    expect([shed.status, shed.headers.get("retry-after")]).toStrictEqual([503, "1"]);
    expect(shed.headers.get("x-usage-units")).toBe("0");
    expect((await shed.json()) as Problem).toMatchObject({ code: "overloaded", retryable: true });
    // Health checks are always answered.
    expect((await fetch(`${host.address.url}/healthz`)).status).toBe(200);
    release();
    for (const response of await Promise.all(inWork)) expect(response.status).toBe(200);
    expect((await host.ask(TARGET)).status).toBe(200);
    expect(askedCount()).toBe(4);
  });

  test("do not include requests refused for other reasons", async () => {
    const host = await opened({ load: { requestsInWorkMax: 1 } });
    for (let i = 0; i < 3; i++) {
      expect((await host.ask("/api/v1/hazard-risk")).status).toBe(400);
      expect((await fetch(`${host.address.url}${TARGET}`)).status).toBe(401);
    }
    expect((await host.ask(TARGET)).status).toBe(200);
  });
});

describe("a client that disconnects during the customer lookup", () => {
  test("releases its slot", async () => {
    const host = await opened({ load: { requestsInWorkMax: 1, accountShare: 1 } });
    let look = (): void => undefined;
    const looking = new Promise<void>((resolve) => (look = resolve));
    const findCustomer = host.ledger.findCustomer.bind(host.ledger);
    const looked = vi.spyOn(host.ledger, "findCustomer").mockImplementation(async (place) => {
      await looking;
      return findCustomer(place);
    });
    const body = JSON.stringify([ENTITY]);
    const fields = [...HEADER_LINES, "Content-Type: application/json", `Content-Length: ${body.length}`];
    const socket = connect({ host: "127.0.0.1", port: host.address.port });
    socket
      .on("error", () => undefined)
      .write([`POST ${ALIGNMENT} HTTP/1.1`, "Host: h", ...fields, "", body].join("\r\n"));
    await vi.waitFor(() => expect(looked).toHaveBeenCalled());
    socket.resetAndDestroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    look();
    await vi.waitFor(async () => expect((await host.ask(TARGET)).status).toBe(200));
    expect(host.ledger.entries).toHaveLength(1);
  });
});

describe("request bodies", () => {
  test("are refused when they exceed the limit together", async () => {
    let release = (): void => undefined;
    const opening = new Promise<void>((resolve) => (release = resolve));
    let taken = 0;
    const workforce: Workforce = {
      answer: async () => {
        taken++;
        await opening;
        return { parts: [Buffer.from("{}")], units: 1, headers: {} };
      },
      warmUp: () => Promise.resolve(),
      state: { jobCount: 0, heldBytes: 0, workerDeathCount: 0 },
      close: () => Promise.resolve(),
    };
    const host = await opened({ workforce, load: { bodyBytesMax: 100_000, accountShare: 1 } });
    const post = (sizeBytes: number) =>
      host.ask(ALIGNMENT, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify([ENTITY]).padEnd(sizeBytes),
      });
    const first = post(60_000);
    await vi.waitFor(() => expect(taken).toBe(1));
    const shed = await post(50_000);
    expect([shed.status, ((await shed.json()) as Problem).code]).toStrictEqual([503, "overloaded"]);
    const small = await post(1_000);
    expect(small.status).toBe(200);
    release();
    expect((await first).status).toBe(200);
    // A single body above the limit is accepted when no other body is held.
    expect((await post(200_000)).status).toBe(200);
    expect(taken).toBe(2);
  });
});

describe("one account", () => {
  /** Opens a connection that sends these bytes and then stalls. */
  async function stalled(host: Hosted, bytes: string): Promise<Socket> {
    const socket = connect({ host: "127.0.0.1", port: host.address.port });
    socket.on("error", () => undefined);
    await new Promise<void>((resolve) => socket.write(bytes, () => resolve()));
    return socket;
  }
  const head = (...fields: string[]): string =>
    [
      `POST ${ALIGNMENT} HTTP/1.1`,
      "Host: h",
      ...HEADER_LINES,
      "Content-Type: application/json",
      ...fields,
      "",
      "",
    ].join("\r\n");
  const post = (host: Hosted, body = JSON.stringify([ENTITY])) =>
    host.ask(ALIGNMENT, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  /** A client of another account on the same host. */
  async function otherAccount({ ledger, address }: Hosted): Promise<(body: string) => Promise<Response>> {
    const { accountId } = await ledger.createAccount({ name: "Other" });
    const { secret } = await ledger.createKey({ accountId });
    const { customer } = await ledger.registerCustomer({ accountId, internalId: "theirs" });
    const headers = { "X-API-Key": secret, "X-Customer-ID": customer.customerId, "Content-Type": "application/json" };
    return (body) => fetch(address.url + ALIGNMENT, { method: "POST", headers, body });
  }

  test.each([
    ["declare a large size", "Content-Length: 8388608", "["],
    ["do not declare a size", "Transfer-Encoding: chunked", "1\r\n[\r\n"],
  ])("may send bodies that %s, of which only received bytes count", async (_what, field, body) => {
    const host = await opened({});
    const sockets = await Promise.all(Array.from({ length: 80 }, () => stalled(host, head(field) + body)));
    // A response to a later request shows that the earlier ones have been read.
    for (let i = 0; i < 3; i++) await fetch(`${host.address.url}/healthz`);
    expect((await post(host)).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  test("has a share of the body limit, and leaves the rest to others", async () => {
    const host = await opened({ load: { bodyBytesMax: 400_000, accountShare: 0.25 } });
    const other = await otherAccount(host);
    const first = await stalled(host, head("Transfer-Encoding: chunked") + `15f90\r\n${" ".repeat(90_000)}`);
    await vi.waitFor(async () => {
      const refused = await post(host, JSON.stringify([ENTITY]).padEnd(20_000));
      expect([refused.status, ((await refused.json()) as Problem).code]).toStrictEqual([503, "overloaded"]);
    });
    expect((await other(JSON.stringify([ENTITY]).padEnd(20_000))).status).toBe(200);
    first.destroy();
    await vi.waitFor(async () => expect((await post(host, JSON.stringify([ENTITY]).padEnd(20_000))).status).toBe(200));
  });

  test("has a share of the request limit", async () => {
    const { atlas, release, askedCount } = held();
    const host = await opened({ atlas, load: { requestsInWorkMax: 8, accountShare: 0.25 } });
    const other = await otherAccount(host);
    const inWork = [host.ask(TARGET), host.ask(TARGET)];
    await vi.waitFor(() => expect(askedCount()).toBe(2));
    expect((await host.ask(TARGET)).status).toBe(503);
    expect((await other(JSON.stringify([ENTITY]))).status).toBe(200);
    release();
    for (const response of await Promise.all(inWork)) expect(response.status).toBe(200);
  });

  test("that does not read its responses is refused, while others are served", async () => {
    const wide = atlasOf((query) => {
      const answer = quarters(query);
      if (query.radius !== 1) return Promise.resolve(answer);
      // Several megabytes, more than the socket buffers hold.
      return Promise.resolve({ ...answer, results: Array.from({ length: 40_000 }, () => answer.results).flat() });
    });
    const host = await opened({ atlas: wide, load: { answerBytesMax: 80 << 20, accountShare: 0.25 } });
    const other = await otherAccount(host);
    const request = [`GET ${TARGET}&radius=1 HTTP/1.1`, "Host: h", ...HEADER_LINES, "", ""].join("\r\n");
    const sockets: Socket[] = [];
    let refused: Response | undefined;
    while (refused === undefined && sockets.length < 12) {
      const socket = await stalled(host, request);
      socket.pause();
      sockets.push(socket);
      await vi.waitFor(() => expect(host.ledger.entries.length).toBe(sockets.length));
      const next = await host.ask(TARGET);
      if (next.status === 503) refused = next;
    }
    expect(((await refused?.json()) as Problem | undefined)?.code).toBe("overloaded");
    expect(host.ledger.entries.length).toBe(sockets.length);
    expect((await other(JSON.stringify([ENTITY]))).status).toBe(200);
    for (const socket of sockets) socket.destroy();
    await vi.waitFor(async () => expect((await host.ask(TARGET)).status).toBe(200));
  });
});

describe("requests for worker threads", () => {
  function recording(answer: Workforce["answer"]): Workforce & { readonly jobs: Parameters<Workforce["answer"]>[0][] } {
    const jobs: Parameters<Workforce["answer"]>[0][] = [];
    return {
      jobs,
      answer: (job) => {
        jobs.push(job);
        return answer(job);
      },
      warmUp: () => Promise.resolve(),
      state: { jobCount: 0, heldBytes: 0, workerDeathCount: 0 },
      close: () => Promise.resolve(),
    };
  }
  const long = JSON.stringify([ENTITY]).padEnd(20_000);
  const post = (host: Hosted, body: string, query = "") =>
    host.ask(`${ALIGNMENT}${query}`, { method: "POST", headers: { "Content-Type": "application/json" }, body });

  test("include long bodies; bytes, units and header fields are passed through", async () => {
    const workforce = recording(() =>
      Promise.resolve({
        parts: [Buffer.from('{"a":'), Buffer.from("1}")],
        units: 7,
        headers: { "X-Item-Errors": "2" },
      }),
    );
    const host = await opened({ workforce });
    const response = await post(host, long, "?detail=true");
    expect([response.status, await response.text()]).toStrictEqual([200, '{"a":1}']);
    const { headers } = response;
    expect(
      ["content-type", "x-usage-units", "x-item-errors", "x-benchmark"].map((name) => headers.get(name)),
    ).toStrictEqual(["application/json", "7", "2", "ngfs-phase5-message-r12/1"]);
    expect(workforce.jobs).toMatchObject([
      { route: ALIGNMENT, queryText: "detail=true", caller: { accountId: host.accountId, keyId: host.keyId } },
    ]);
    expect(Buffer.from(workforce.jobs[0]?.body ?? []).toString()).toBe(long);
    expect(host.ledger.entries).toMatchObject([{ units: 7, receipt: headers.get("x-request-id") }]);
    await post(host, JSON.stringify([ENTITY]));
    expect(workforce.jobs).toHaveLength(1);
  });

  test("return the error of the worker", async () => {
    const workforce = recording(() => Promise.reject(new Error("a worker died")));
    const host = await opened({ workforce });
    const response = await post(host, long);
    expect([response.status, response.headers.get("x-usage-units")]).toStrictEqual([500, "0"]);
    expect(host.ledger.entries).toStrictEqual([]);
  });

  test("are aborted when the client disconnects", async () => {
    let reason: unknown;
    const workforce = recording(
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            reason = signal.reason;
            reject(signal.reason as Error);
          });
        }),
    );
    const host = await opened({ workforce });
    const leaving = new AbortController();
    const asked = host.ask(ALIGNMENT, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: long,
      signal: leaving.signal,
    });
    await vi.waitFor(() => expect(workforce.jobs).toHaveLength(1));
    leaving.abort();
    await expect(asked).rejects.toThrow(/abort/);
    await vi.waitFor(() => expect(reason).toBeInstanceOf(Error));
    expect(host.ledger.entries).toStrictEqual([]);
  });

  test("return 503 overloaded after the work timeout", async () => {
    const workforce = recording(
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        }),
    );
    const host = await opened({ workforce, timeouts: { workTimeoutMs: 20 } });
    const response = await post(host, long);
    expect([response.status, ((await response.json()) as Problem).code]).toStrictEqual([503, "overloaded"]);
  });
});
