/** Bounds, sources and caveats on the wire: of the demo, by GET and in a batch, against the published document. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Atlas } from "../../../src/hazard/answer.ts";
import type { HazardResult } from "../../../src/hazard/result.ts";
import { openAtlas } from "../../../src/openAtlas.ts";
import { type Hosted, hosted } from "../hosting.ts";
import { responseFaults, OPERATIONS } from "../openapi/publishedDocument.ts";

let atlas: Atlas;
let host: Hosted;
beforeAll(async () => {
  atlas = await openAtlas("demo");
  host = await hosted({ atlas });
});
afterAll(async () => {
  await host.close();
  await atlas.close();
});

/** A coast that floods, and hills where nothing does. */
const PLACES = [
  { latitude: 11.59, longitude: 43.15 },
  { latitude: 16.2, longitude: 121.1 },
];
const QUERIES = PLACES.flatMap((place) =>
  [
    {},
    { total_hazard: true, radius: 10 },
    { total_hazard: true, anthropogenic: true, detail: true },
    { radius: 10, aggregation_method: "mean", detail: true },
    { radius: 10, anthropogenic: true, detail: true, total_hazard: true },
  ].map((more) => ({
    ...place,
    hazards: ["riverine_floods", "coastal_floods", "cyclones"].slice(0, "radius" in more ? 2 : 3),
    analysis_years: [2030, 1980],
    scenarios: ["rcp8p5"],
    ...more,
  })),
);

test("an answer with bounds and sources is what the document says, and the same in a batch, byte for byte", async () => {
  const operation = OPERATIONS.find(({ operationId }) => operationId === "getHazardRisk");
  if (operation === undefined) throw new Error("no such operation");
  const texts: string[] = [];
  const kinds = new Set<string>();
  for (const query of QUERIES) {
    const parameters = Object.entries(query).map(([name, value]) => `${name}=${String(value)}`);
    const answer = await host.ask(`/api/v1/hazard-risk?${parameters.join("&")}`);
    expect(answer.status).toBe(200);
    const text = await answer.text();
    texts.push(text);
    const result = JSON.parse(text) as HazardResult;
    expect(responseFaults(operation, 200, "application/json", result)).toStrictEqual([]);
    expect("sources" in result).toBe("detail" in query);
    for (const year of result.results.flatMap(({ scenarios }) => scenarios.flatMap((each) => each.analysis_years))) {
      kinds.add(year.bounds?.probability.bound ?? "exact");
      if (year.bounds !== undefined) expect("total_hazard" in year.bounds).toBe("total_hazard" in query);
      const { source, baseline_source } = year.detail ?? {};
      for (const id of [source, baseline_source]) if (id !== undefined) expect(result.sources).toHaveProperty([id]);
    }
  }
  expect(kinds).toStrictEqual(new Set(["exact", "at_least", "at_most", "indeterminate"]));
  const batch = await host.ask("/api/v1/hazard-risk/batch", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(QUERIES),
  });
  expect(await batch.text()).toBe(`{"results":[${texts.join(",")}]}`);
});
