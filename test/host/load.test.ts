import { afterEach, describe, expect, test, vi } from "vitest";
import type { Problem } from "../../src/host/problem.ts";
import type { Workforce } from "../../src/host/work.ts";
import { parametersOf, queryTextOf, RIGHT } from "../hazard/queries.ts";
import { ENTITY } from "./entities.ts";
import { atlasOf, type Hosted, hosted, quarters } from "./hosting.ts";

const TARGET = `/api/v1/hazard-risk?${queryTextOf(parametersOf(RIGHT))}`;
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

/** An atlas whose answers wait until they are let go. */
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

describe("too many requests at a time", () => {
  test("are refused at once: 503 overloaded with Retry-After, while those in work go on", async () => {
    const { atlas, release, askedCount } = held();
    const host = await opened({ atlas, load: { requestsInWorkMax: 3 } });
    const inWork = Array.from({ length: 3 }, () => host.ask(TARGET));
    await vi.waitFor(() => expect(askedCount()).toBe(3));
    const shed = await host.ask(TARGET);
    expect([shed.status, shed.headers.get("retry-after")]).toStrictEqual([503, "1"]);
    expect(shed.headers.get("x-usage-units")).toBe("0");
    expect((await shed.json()) as Problem).toMatchObject({ code: "overloaded", retryable: true });
    // Whoever watches over the service is always answered.
    expect((await fetch(`${host.address.url}/healthz`)).status).toBe(200);
    release();
    for (const response of await Promise.all(inWork)) expect(response.status).toBe(200);
    expect((await host.ask(TARGET)).status).toBe(200);
    expect(askedCount()).toBe(4);
  });

  test("do not include those that were refused for something else", async () => {
    const host = await opened({ load: { requestsInWorkMax: 1 } });
    for (let i = 0; i < 3; i++) {
      expect((await host.ask("/api/v1/hazard-risk")).status).toBe(400);
      expect((await fetch(`${host.address.url}${TARGET}`)).status).toBe(401);
    }
    expect((await host.ask(TARGET)).status).toBe(200);
  });
});

describe("bodies", () => {
  test("that are too many bytes together are refused, and asked for no further", async () => {
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
    const host = await opened({ workforce, load: { bodyBytesMax: 100_000 } });
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
    // One that is longer than all that is allowed together must still have its turn.
    expect((await post(200_000)).status).toBe(200);
    expect(taken).toBe(2);
  });
});

describe("work for other threads", () => {
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

  test("is what long bodies ask for: bytes, units and fields come back as they are", async () => {
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

  test("refuses as the route would", async () => {
    const workforce = recording(() => Promise.reject(new Error("a worker died")));
    const host = await opened({ workforce });
    const response = await post(host, long);
    expect([response.status, response.headers.get("x-usage-units")]).toStrictEqual([500, "0"]);
    expect(host.ledger.entries).toStrictEqual([]);
  });

  test("ends when the client goes", async () => {
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

  test("ends when it takes too long: 503 overloaded", async () => {
    const workforce = recording(
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
        }),
    );
    const host = await opened({ workforce, patience: { workTimeoutMs: 20 } });
    const response = await post(host, long);
    expect([response.status, ((await response.json()) as Problem).code]).toStrictEqual([503, "overloaded"]);
  });
});
