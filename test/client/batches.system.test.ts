import { describe, expect, test } from "vitest";
import { type HazardQueryInput, IsothermClient } from "../../src/client/client.ts";
import { VALID_QUERY } from "../hazard/queries.ts";
import { ENTITY } from "../host/entities.ts";
import { fakeAtlas, HEADERS, type TestHost, startTestHost, quarterResult } from "../host/testHost.ts";
import type { HostLimits } from "../../src/host/route.ts";

describe("batches against a real service", () => {
  async function withHost(
    limits: Partial<HostLimits>,
    use: (client: IsothermClient, host: TestHost, paths: string[]) => Promise<void>,
  ): Promise<void> {
    const host = await startTestHost({ limits, atlas: fakeAtlas((query) => Promise.resolve(quarterResult(query))) });
    try {
      await host.ready;
      const paths: string[] = [];
      const client = new IsothermClient({
        baseUrl: host.address.url,
        apiKey: HEADERS["X-API-Key"],
        customerId: HEADERS["X-Customer-ID"],
        fetch: (address, init) => {
          paths.push(new URL(address as string).pathname);
          return fetch(address, init);
        },
      });
      await use(client, host, paths);
    } finally {
      await host.close();
    }
  }
  const BATCH = "/api/v1/hazard-risk/batch";
  const queries: readonly HazardQueryInput[] = Array.from({ length: 23 }, (_, i) => ({
    ...VALID_QUERY,
    latitude: i,
    longitude: -i,
  }));

  test.each([
    ["query count", { batchCount: 5 }, 5],
    ["value count", { hazardValueCount: 5 * 8 + 7 }, 5],
    ["body size", { requestBodyBytesMax: 800 }, 5],
  ])("splits by the %s limit and joins the results in order", async (_what, limits, requestCount) => {
    await withHost(limits, async (client, host, paths) => {
      const { results } = await client.hazardRiskBatch(queries);
      expect(results).toStrictEqual(
        queries.map((query) => JSON.parse(JSON.stringify(quarterResult(query))) as unknown),
      );
      expect(paths[0]).toBe("/api/v1/limits");
      expect(paths.slice(1)).toStrictEqual(Array.from({ length: requestCount }, () => BATCH));
      expect(host.ledger.entries.reduce((sum, { units }) => sum + units, 0)).toBe(23 * 8);
      await client.hazardRiskBatch(queries.slice(0, 2));
      expect(paths.filter((path) => path === "/api/v1/limits")).toHaveLength(1);
    });
  });

  test("splits by the detail value limit", async () => {
    await withHost({ detailCount: 16 }, async (client, host, paths) => {
      const detailed = queries.map((query, i) => ({ ...query, detail: i < 8 }));
      expect((await client.hazardRiskBatch(detailed)).results).toHaveLength(23);
      expect(paths.slice(1)).toHaveLength(4);
      const entities = Array.from({ length: 9 }, () => ENTITY);
      expect((await client.alignTemperature(entities, { detail: true })).results).toHaveLength(9);
      expect((await client.alignTemperature(entities)).results).toHaveLength(9);
      expect(paths.slice(5)).toHaveLength(2 + 1);
    });
  });

  test("returns the problem document of an invalid query at that query's index", async () => {
    await withHost({ batchCount: 4 }, async (client) => {
      const withInvalid = queries.map((query, i) => (i === 6 ? { ...query, latitude: 100 } : query));
      const { results } = await client.hazardRiskBatch(withInvalid);
      expect(results).toHaveLength(23);
      expect(results.flatMap((result, i) => ("error" in result ? [i] : []))).toStrictEqual([6]);
      expect(results[6]).toMatchObject({ error: { code: "invalid_request", errors: [{ pointer: "/latitude" }] } });
    });
  });

  test("yields earlier results before a later request fails", async () => {
    await withHost({ batchCount: 10 }, async (client, host) => {
      const seen: number[] = [];
      const consumption = (async () => {
        for await (const { first, results } of client.hazardRiskParts(queries)) {
          seen.push(first, results.length);
          if (first === 10) host.ledger.setAccountSuspended(host.accountId, true).catch(() => undefined);
        }
      })();
      await expect(consumption).rejects.toMatchObject({ problem: { code: "account_suspended" } });
      expect(seen).toStrictEqual([0, 10, 10, 10]);
    });
  });

  test("passes an empty batch to the service, which rejects it", async () => {
    await withHost({}, async (client) => {
      await expect(client.hazardRiskBatch([])).rejects.toMatchObject({ problem: { errors: [{ code: "empty" }] } });
    });
  });

  test("splits entities, and reports errors with pointers into the original list", async () => {
    await withHost({ entityCount: 4, alignmentValueCount: 7 }, async (client, host, paths) => {
      const entities = Array.from({ length: 9 }, () => ENTITY);
      const { results } = await client.alignTemperature(entities);
      expect(results).toHaveLength(9);
      expect(paths.filter((path) => path.endsWith("projections"))).toHaveLength(3);
      expect(host.ledger.entries.map(({ units }) => units)).toStrictEqual([6, 6, 6]);
      const invalid = entities.map((entity, i) => (i === 7 ? { ...entity, data: [] } : entity));
      await expect(client.alignTemperature(invalid)).rejects.toMatchObject({
        status: 400,
        problem: { errors: [{ pointer: "/7/data", code: "empty" }] },
      });
    });
  });

  test("throws if the service returns too few results", async () => {
    const limits = {
      body_bytes: 1000,
      batch_elements: 9,
      hazard_values: 100,
      entities: 9,
      alignment_values: 9,
      detail_values: 9,
    };
    const client = new IsothermClient({
      baseUrl: "http://h",
      fetch: (address) =>
        Promise.resolve(Response.json((address as string).endsWith("limits") ? limits : { results: [{}] })),
    });
    await expect(client.hazardRiskBatch([VALID_QUERY, VALID_QUERY])).rejects.toThrow(
      "one result per item (items: 2, results: 1)",
    );
  });
});
