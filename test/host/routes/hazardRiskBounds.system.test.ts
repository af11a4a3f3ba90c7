/** Bounds and sources in responses of the demo atlas, to GET and to a batch, against the OpenAPI document. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Atlas } from "../../../src/hazard/answer.ts";
import { openAtlas } from "../../../src/openAtlas.ts";
import { type TestHost, startTestHost } from "../testHost.ts";
import { responseViolations, OPERATIONS } from "../openapi/publishedDocument.ts";
import type { HazardResult } from "../../../src/contract/wireTypes.ts";

let atlas: Atlas;
let host: TestHost;
beforeAll(async () => {
  atlas = await openAtlas("demo");
  host = await startTestHost({ atlas });
});
afterAll(async () => {
  await host.close();
  await atlas.close();
});

/** A coast with floods, and hills without floods. */
const LOCATIONS = [
  { latitude: 11.59, longitude: 43.15 },
  { latitude: 16.2, longitude: 121.1 },
];
const QUERIES = LOCATIONS.flatMap((location) =>
  [
    {},
    { total_hazard: true, radius: 10 },
    { total_hazard: true, anthropogenic: true, detail: true },
    { radius: 10, aggregation_method: "mean", detail: true },
    { radius: 10, anthropogenic: true, detail: true, total_hazard: true },
  ].map((options) => ({
    ...location,
    hazards: ["riverine_floods", "coastal_floods", "cyclones"].slice(0, "radius" in options ? 2 : 3),
    analysis_years: [2030, 1980],
    scenarios: ["rcp8p5"],
    ...options,
  })),
);

test("results with bounds and sources match the document, and the batch returns the same bytes", async () => {
  const operation = OPERATIONS.find(({ operationId }) => operationId === "getHazardRisk");
  if (operation === undefined) throw new Error("the document has no operation getHazardRisk");
  const texts: string[] = [];
  const boundKinds = new Set<string>();
  for (const query of QUERIES) {
    const parameters = Object.entries(query).map(([name, value]) => `${name}=${String(value)}`);
    const response = await host.ask(`/api/v1/hazard-risk?${parameters.join("&")}`);
    expect(response.status).toBe(200);
    const text = await response.text();
    texts.push(text);
    const result = JSON.parse(text) as HazardResult;
    expect(responseViolations(operation, 200, "application/json", result)).toStrictEqual([]);
    expect("sources" in result).toBe("detail" in query);
    for (const year of result.results.flatMap(({ scenarios }) => scenarios.flatMap((each) => each.analysis_years))) {
      boundKinds.add(year.bounds?.probability.bound ?? "exact");
      if (year.bounds !== undefined) expect("total_hazard" in year.bounds).toBe("total_hazard" in query);
      const { source, baseline_source } = year.detail ?? {};
      for (const id of [source, baseline_source]) if (id !== undefined) expect(result.sources).toHaveProperty([id]);
    }
  }
  expect(boundKinds).toStrictEqual(new Set(["exact", "at_least", "at_most", "indeterminate"]));
  const batch = await host.ask("/api/v1/hazard-risk/batch", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(QUERIES),
  });
  expect(await batch.text()).toBe(`{"results":[${texts.join(",")}]}`);
});
