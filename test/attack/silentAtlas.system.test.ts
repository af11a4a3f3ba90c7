/** An atlas server that stops responding: every request must still be answered, and nothing be billed. */
import { expect, test } from "vitest";
import type { Problem } from "../../src/host/problems/problem.ts";
import type { HostAtlas } from "../../src/pool/hostAtlas.ts";
import { VALID_QUERY } from "../hazard/queries.ts";
import { fakeAtlas, QUERY_TARGET, startTestHost } from "../host/testHost.ts";
import { attackSize } from "./attackSize.ts";

const REQUEST_COUNT = attackSize("SILENT_REQUESTS", { small: 12, full: 200 });

test("requests to a silent atlas are answered at their deadline, and release what they hold", async () => {
  let isSilent = true;
  const answering = fakeAtlas();
  const never = (): Promise<never> => new Promise(() => undefined);
  const atlas: HostAtlas = {
    ...answering,
    hazardRisk: (query) => (isSilent ? never() : answering.hazardRisk(query)),
    hazardRiskBatch: (queries, options) => (isSilent ? never() : answering.hazardRiskBatch(queries, options)),
  };
  const host = await startTestHost({
    atlas,
    warmUp: false,
    timeouts: { workTimeoutMs: 200 },
    load: { requestsInProgressMax: REQUEST_COUNT, accountShare: 1 },
  });
  try {
    const batch = (key: number): Promise<Response> =>
      host.ask("/api/v1/hazard-risk/batch", {
        method: "POST",
        headers: { "Content-Type": "application/json", "Idempotency-Key": `key-${key}` },
        body: JSON.stringify([VALID_QUERY]),
      });
    const send = (i: number): Promise<Response> => (i % 2 === 0 ? host.ask(QUERY_TARGET) : batch(i));
    const requests = Array.from({ length: REQUEST_COUNT }, (_, i) => i);
    for (const response of await Promise.all(requests.map(send))) {
      expect([response.status, ((await response.json()) as Problem).code]).toEqual([503, "overloaded"]);
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    expect(host.ledger.entries).toEqual([]);
    isSilent = false;
    // On a busy machine, a request may miss the short deadline again, and then be retried.
    const sendUntilAnswered = async (i: number): Promise<void> => {
      let status = 503;
      while (status === 503) ({ status } = await send(i));
      expect(status).toBe(200);
    };
    await Promise.all(requests.map(sendUntilAnswered));
    expect(host.ledger.entries).toHaveLength(REQUEST_COUNT);
  } finally {
    await host.close();
  }
});
