import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { IsothermClient } from "../../src/client/client.ts";
import { ENTITY } from "../host/entities.ts";
import { HEADERS, startTestHost } from "../host/testHost.ts";

describe("against a real service", () => {
  test("retries after a lost response and is metered once", async () => {
    const host = await startTestHost();
    try {
      let postCount = 0;
      const units: (number | undefined)[] = [];
      const client = new IsothermClient({
        baseUrl: host.address.url,
        apiKey: HEADERS["X-API-Key"],
        customerId: HEADERS["X-Customer-ID"],
        onAnswer: ({ usageUnits }) => units.push(usageUnits),
        async fetch(address, init) {
          const response = await fetch(address, init);
          // Drops the first response of a data call.
          if (init?.method !== "POST" || postCount++ > 0) return response;
          await response.text();
          throw new TypeError("terminated");
        },
      });
      const { results } = await client.alignTemperature([ENTITY]);
      expect(results).toHaveLength(1);
      expect(postCount).toBe(2);
      expect(host.ledger.entries.map((entry) => entry.units)).toStrictEqual([2]);
      expect(units).toStrictEqual([undefined, 0]);
    } finally {
      await host.close();
    }
  });

  test("does not follow redirects, so that the API key is sent only to the service", async () => {
    const host = await startTestHost();
    const redirecting = createServer((_request, response) => {
      response.writeHead(307, { Location: `${host.address.url}/api/v1/limits` }).end();
    });
    await new Promise<void>((resolve) => redirecting.listen(0, "127.0.0.1", resolve));
    try {
      const { port } = redirecting.address() as AddressInfo;
      const baseUrl = `http://127.0.0.1:${port}`;
      const client = new IsothermClient({ baseUrl, apiKey: HEADERS["X-API-Key"], retry: { attempts: 1 } });
      await expect(client.limits()).rejects.toThrow(TypeError);
      expect(host.records).toStrictEqual([]);
    } finally {
      redirecting.closeAllConnections();
      redirecting.close();
      await host.close();
    }
  });

  test("retries rate-limited requests until they succeed", async () => {
    const host = await startTestHost({ limits: { requestsPerS: 2, requestBurst: 1 } });
    try {
      const client = new IsothermClient({ baseUrl: host.address.url, apiKey: HEADERS["X-API-Key"] });
      const all = await Promise.all([client.limits(), client.limits()]);
      expect(all.map(({ request_burst }) => request_burst)).toStrictEqual([1, 1]);
      expect(host.records.some(({ code }) => code === "rate_limited")).toBe(true);
    } finally {
      await host.close();
    }
  });
});
