import { expect, test } from "vitest";
import { HAZARDS } from "../src/hazard/hazards.ts";
import { openAtlas } from "../src/openAtlas.ts";
import type { HazardQueryInput } from "../src/contract/wireTypes.ts";

/** Returns the smallest cache size allowed, parsed from the error for a smaller one. */
async function smallestCacheBytes(): Promise<number> {
  const message = await openAtlas("demo", { cacheBytes: 1 }).then(
    () => "expected a rejection",
    (error: unknown) => String(error),
  );
  return Number(/between (\d+) and/.exec(message)?.[1]);
}

test("the smallest cache allowed gives the same results for the largest queries as a large one", async () => {
  const { scenarios, years } = HAZARDS.cyclones;
  const queries = [0, 30, 100].flatMap((radius) =>
    (["max", "mean"] as const).map((aggregation_method): HazardQueryInput => {
      const options = { scenarios: [...scenarios], analysis_years: [...years], radius, aggregation_method };
      return { latitude: 20, longitude: 120, hazards: ["cyclones"], total_hazard: true, detail: true, ...options };
    }),
  );
  const large = await openAtlas("demo");
  const small = await openAtlas("demo", { cacheBytes: await smallestCacheBytes() });
  for (const query of queries) expect(await small.hazardRisk(query)).toEqual(await large.hazardRisk(query));
  await Promise.all([small.close(), large.close()]);
});

test.each([
  ["an unknown option", { worker: 2 }, [{ pointer: "/worker", code: "unknown", did_you_mean: "workers" }]],
  ["a misspelled option", { cache_bytes: 2 ** 30 }, [{ pointer: "/cache_bytes", did_you_mean: "cacheBytes" }]],
  ["text for workers", { workers: "2" }, [{ pointer: "/workers", code: "wrong_type" }]],
  ["NaN for workers", { workers: NaN }, [{ pointer: "/workers", code: "not_finite" }]],
  ["half a worker", { workers: 0.5 }, [{ pointer: "/workers", code: "wrong_type" }]],
  ["too many workers", { workers: 257 }, [{ pointer: "/workers", code: "out_of_range" }]],
  ["text for the cache", { cacheBytes: "1e9" }, [{ pointer: "/cacheBytes", code: "wrong_type" }]],
  ["NaN for the cache", { cacheBytes: NaN }, [{ pointer: "/cacheBytes", code: "not_finite" }]],
  ["a cache too large", { cacheBytes: 2 ** 40 }, [{ pointer: "/cacheBytes", code: "out_of_range" }]],
  ["a number instead of an object", 5, [{ pointer: "", code: "wrong_type" }]],
  ["null", null, [{ pointer: "", code: "wrong_type" }]],
  [
    "several invalid options",
    { workers: -1, cacheBytes: null, release: "x" },
    [{ pointer: "/cacheBytes" }, { pointer: "/workers" }, { pointer: "/release" }],
  ],
])("openAtlas rejects %s", async (_what, options, items) => {
  const opening = openAtlas("demo", options as never);
  await expect(opening).rejects.toMatchObject({ name: "Fault", code: "configuration_invalid", items });
});

test.each([
  ["undefined", undefined, "missing"],
  ["null", null, "wrong_type"],
  ["a number", 5, "wrong_type"],
  ["a URL object", new URL("http://127.0.0.1/"), "wrong_type"],
  ["empty text", "", "empty"],
  ["a space", " ", "empty"],
])("openAtlas rejects %s as the address, together with invalid options", async (_what, address, code) => {
  await expect(openAtlas(address as never)).rejects.toMatchObject({
    code: "configuration_invalid",
    items: [{ pointer: "/address", code }],
  });
  await expect(openAtlas(address as never, { workers: -1 })).rejects.toMatchObject({
    items: [{ pointer: "/address", code }, { pointer: "/workers" }],
  });
});

test("an atlas rejects unknown and mistyped options of a batch, with and without workers", async () => {
  const query = { latitude: 1, longitude: 2, hazards: ["wildfire"], analysis_years: [2050], scenarios: ["rcp4p5"] };
  for (const workers of [0, 1]) {
    const atlas = await openAtlas("demo", { workers });
    // Larger than the share of one worker, so that the batch would go to the pool.
    const queries = Array.from({ length: 1000 }, () => query) as never;
    for (const [options, item] of [
      [{ onprogress: () => 0 }, { pointer: "/onprogress", code: "unknown", did_you_mean: "onProgress" }],
      [{ signal: true }, { pointer: "/signal", code: "wrong_type" }],
    ] as const) {
      await expect(atlas.hazardRiskBatch(queries, options as never)).rejects.toMatchObject({
        code: "invalid_request",
        items: [item],
      });
    }
    await atlas.close();
  }
});

test("a closed atlas rejects all queries, including those that cached tiles could answer", async () => {
  const atlas = await openAtlas("demo");
  const query = {
    latitude: 52.5,
    longitude: 13.4,
    hazards: ["wildfire"],
    analysis_years: [2050],
    scenarios: ["rcp4p5"],
  } as const;
  const layers = [{ hazard: "wildfire", scenario: "rcp4p5", analysis_year: 2050, metric: "intensity" }] as const;
  await atlas.hazardRisk(query);
  await atlas.close();
  const places = { latitudes: Float64Array.of(52.5), longitudes: Float64Array.of(13.4) };
  for (const pending of [
    atlas.hazardRisk(query),
    atlas.hazardRiskBatch([query]),
    atlas.sample({ ...places, layers } as never),
    atlas.sampleSteps({ ...places, layers } as never),
  ]) {
    await expect(pending).rejects.toMatchObject({ code: "atlas_unavailable", message: "The atlas was closed." });
  }
});

test("the change of the baseline is exactly 0, also where its probability is only a bound", async () => {
  const atlas = await openAtlas("demo");
  const query = { latitude: 14.6, longitude: 121, analysis_years: [1980], scenarios: ["baseline" as const] };
  const yearOf = async (anthropogenic: boolean) => {
    const { results } = await atlas.hazardRisk({ ...query, hazards: ["riverine_floods"], anthropogenic });
    return results[0]?.scenarios[0]?.analysis_years[0];
  };
  expect((await yearOf(false))?.bounds).toEqual({ probability: { bound: "at_most", limit: 0.001 } });
  expect(await yearOf(true)).toMatchObject({ metrics: { probability: 0 } });
  expect((await yearOf(true))?.bounds).toBeUndefined();
  await atlas.close();
});
