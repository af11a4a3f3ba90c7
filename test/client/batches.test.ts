import { describe, expect, test } from "vitest";
import { type HazardQuery, IsothermClient } from "../../src/client/client.ts";
import { splitIntoChunks } from "../../src/client/chunks.ts";
import { randomFrom } from "../seededRandom.ts";
import { VALID_QUERY } from "../hazard/queries.ts";
import { ENTITY } from "../host/entities.ts";
import { atlasOf, HEADERS, type Hosted, hosted, quarters } from "../host/hosting.ts";
import type { HostLimits } from "../../src/host/routes/route.ts";

const NO_LIMIT = {
  itemCount: Infinity,
  valueCount: Infinity,
  detailCount: Infinity,
  bodyBytes: Infinity,
  valuesOf: () => 1,
  isDetailed: () => true,
};

describe("splitIntoChunks", () => {
  test("puts every item into exactly one chunk, in order, and fills chunks up to the limits", () => {
    const random = randomFrom(7);
    for (let round = 0; round < 500; round++) {
      const items = Array.from({ length: 1 + random.below(60) }, () => ({
        text: "ü".repeat(random.below(30)),
        values: 1 + random.below(9),
        detail: random.chance(0.5),
      }));
      const limits = {
        itemCount: 1 + random.below(10),
        valueCount: 9 + random.below(30),
        detailCount: 9 + random.below(20),
        bodyBytes: 120 + random.below(200),
        valuesOf: (item: (typeof items)[number]) => item.values,
        isDetailed: (item: (typeof items)[number]) => item.detail,
      };
      const chunks = [...splitIntoChunks(items, limits)];
      expect(chunks.flatMap(({ body }) => JSON.parse(body) as unknown[])).toStrictEqual(items);
      let first = 0;
      for (const [index, chunk] of chunks.entries()) {
        expect(chunk.firstIndex).toBe(first);
        first += chunk.count;
        const fits = (more: number): boolean => {
          const part = items.slice(chunk.firstIndex, chunk.firstIndex + chunk.count + more);
          return (
            part.length <= limits.itemCount &&
            part.reduce((sum, { values }) => sum + values, 0) <= limits.valueCount &&
            part.reduce((sum, { values, detail }) => sum + (detail ? values : 0), 0) <= limits.detailCount &&
            new TextEncoder().encode(JSON.stringify(part)).length <= limits.bodyBytes
          );
        };
        expect(fits(0)).toBe(true);
        // The size limit reserves a comma for the last item too, which has none.
        const isNearSizeLimit = new TextEncoder().encode(chunk.body).length + 200 > limits.bodyBytes;
        if (index < chunks.length - 1 && !isNearSizeLimit) expect(fits(1)).toBe(false);
      }
      expect(first).toBe(items.length);
    }
  });

  test("returns one empty chunk for an empty list", () => {
    expect([...splitIntoChunks([], NO_LIMIT)]).toStrictEqual([{ firstIndex: 0, count: 0, body: "[]" }]);
  });

  test("puts an item that exceeds the limits into a chunk of its own", () => {
    const bodies = [...splitIntoChunks(["a", "x".repeat(50), "b"], { ...NO_LIMIT, bodyBytes: 20 })].map(
      ({ body }) => body.length,
    );
    expect(bodies).toStrictEqual([5, 54, 5]);
  });
});

describe("batches against a real service", () => {
  async function withHost(
    limits: Partial<HostLimits>,
    act: (client: IsothermClient, host: Hosted, paths: string[]) => Promise<void>,
  ): Promise<void> {
    const host = await hosted({ limits, atlas: atlasOf((query) => Promise.resolve(quarters(query))) });
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
      await act(client, host, paths);
    } finally {
      await host.close();
    }
  }
  const BATCH = "/api/v1/hazard-risk/batch";
  const queries: readonly HazardQuery[] = Array.from({ length: 23 }, (_, i) => ({
    ...VALID_QUERY,
    latitude: i,
    longitude: -i,
  }));

  test.each([
    ["elements", { batchCount: 5 }, 5],
    ["values", { hazardValueCount: 5 * 8 + 7 }, 5],
    ["bytes", { bodySizeBytes: 800 }, 5],
  ])("splits by the limit of %s and joins the results in order", async (_what, limits, requestCount) => {
    await withHost(limits, async (client, host, paths) => {
      const { results } = await client.hazardRiskBatch(queries);
      expect(results).toStrictEqual(queries.map((query) => JSON.parse(JSON.stringify(quarters(query))) as unknown));
      expect(paths[0]).toBe("/api/v1/limits");
      expect(paths.slice(1)).toStrictEqual(Array.from({ length: requestCount }, () => BATCH));
      expect(host.ledger.entries.reduce((sum, { units }) => sum + units, 0)).toBe(23 * 8);
      await client.hazardRiskBatch(queries.slice(0, 2));
      expect(paths.filter((path) => path === "/api/v1/limits")).toHaveLength(1);
    });
  });

  test("splits by the limit of values with detail", async () => {
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

  test("returns the problem of an invalid query at its index", async () => {
    await withHost({ batchCount: 4 }, async (client) => {
      const invalid = queries.map((query, i) => (i === 6 ? { ...query, latitude: 100 } : query));
      const { results } = await client.hazardRiskBatch(invalid);
      expect(results).toHaveLength(23);
      expect(results.flatMap((result, i) => ("error" in result ? [i] : []))).toStrictEqual([6]);
      expect(results[6]).toMatchObject({ error: { code: "invalid_request", errors: [{ pointer: "/latitude" }] } });
    });
  });

  test("yields earlier results before a later request fails", async () => {
    await withHost({ batchCount: 10 }, async (client, host) => {
      const seen: number[] = [];
      const consuming = (async () => {
        for await (const { first, results } of client.hazardRiskParts(queries)) {
          seen.push(first, results.length);
          if (first === 10) host.ledger.suspendAccount(host.accountId, true).catch(() => undefined);
        }
      })();
      await expect(consuming).rejects.toMatchObject({ problem: { code: "account_suspended" } });
      expect(seen).toStrictEqual([0, 10, 10, 10]);
    });
  });

  test("passes an empty batch to the service, which rejects it", async () => {
    await withHost({}, async (client) => {
      await expect(client.hazardRiskBatch([])).rejects.toMatchObject({ problem: { errors: [{ code: "empty" }] } });
    });
  });

  test("splits entities, and reports faults with pointers into the whole list", async () => {
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
    await expect(client.hazardRiskBatch([VALID_QUERY, VALID_QUERY])).rejects.toThrow("returned 1 results for 2 items");
  });
});
