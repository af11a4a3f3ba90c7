import { constants, PerformanceObserver } from "node:perf_hooks";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../eventually.ts";
import { bulkFixture, textOf } from "./bulkFixture.ts";

/** Observes the garbage collections that the program has requested. @returns a function that counts them */
function observeCollections(): () => number {
  let count = 0;
  const observer = new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const { flags = 0 } = (entry as { readonly detail?: { readonly flags?: number } }).detail ?? {};
      if ((flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0) count++;
    }
  });
  observer.observe({ entryTypes: ["gc"] });
  onTestFinished(() => observer.disconnect());
  return () => count;
}

test("garbage is collected after each task that parses a large body or a part of it", async () => {
  const { answer, grants } = bulkFixture({ workers: 2 });
  const query = { latitude: 1, hazards: ["wildfire"], analysis_years: [2050], scenarios: ["rcp8p5"] };
  const queries = Array.from({ length: 100 }, (_, index) => ({ ...query, longitude: index }));
  const route = "/api/v1/hazard-risk/batch";
  const collectionCount = observeCollections();
  const small = textOf(await answer({ route, body: queries }));
  const large = textOf(await answer({ route, body: JSON.stringify(queries).padEnd(8 << 20) }));
  expect(large.length).toBe(small.length);
  const begun = grants.filter(({ type }) => type === "begin").map(({ kind }) => kind);
  const tasks = ["http", "http.shard", "http.shard", "http.join"];
  expect(begun).toStrictEqual([...tasks, ...tasks]);
  // After the first three tasks of the large body.
  await eventually(() => expect(collectionCount()).toBe(3));
});
