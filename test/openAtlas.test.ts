import { expect, test } from "vitest";
import { HAZARDS } from "../src/hazard/hazards.ts";
import type { HazardQueryInput } from "../src/hazard/query.ts";
import { openAtlas } from "../src/openAtlas.ts";

/** Returns the smallest cache size allowed, parsed from the error for a smaller one. */
async function smallestCacheBytes(): Promise<number> {
  const refused = await openAtlas("demo", { cacheBytes: 1 }).then(
    () => "expected a rejection",
    (error: unknown) => String(error),
  );
  return Number(/from (\d+) to/.exec(refused)?.[1]);
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

test("a closed atlas rejects all queries, including those it has in memory", async () => {
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
  for (const result of [
    atlas.hazardRisk(query),
    atlas.hazardRiskBatch([query]),
    atlas.sample({ ...places, layers } as never),
    atlas.sampleSteps({ ...places, layers } as never),
  ]) {
    await expect(result).rejects.toMatchObject({ code: "atlas_unavailable", message: "The atlas was closed." });
  }
});
