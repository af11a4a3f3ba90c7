import { expect, test } from "vitest";
import { openAtlasHere } from "../../src/openAtlas.ts";
import { Pool } from "../../src/pool/pool.ts";
import { ThreadHere } from "./threadHere.ts";

const CACHE_BYTES = 16 << 20;
const QUERY = {
  longitude: 9,
  hazards: ["cyclones"],
  analysis_years: [2050],
  scenarios: ["rcp8p5"],
  radius: 20,
} as const;

test("what workers fetch and keep is told of with what this thread does, until they end", async () => {
  const here = await openAtlasHere("demo", CACHE_BYTES);
  const there = await openAtlasHere("demo", CACHE_BYTES);
  const threads: ThreadHere[] = [];
  const pool = new Pool({
    workers: 1,
    opened: here.atlas,
    start: () => {
      const thread = new ThreadHere(there.atlas, () => Promise.reject(new Error("There are no tasks here.")));
      threads.push(thread);
      return thread;
    },
  });
  const atlas = pool.behind(here.atlas, here.neighbourhoods);
  let fetchCount = 0;
  const stop = atlas.tileUse.onFetch(() => fetchCount++);
  expect([atlas.tileUse.origin, atlas.tileUse.cachedBytes, fetchCount]).toStrictEqual(["demo", 0, 0]);

  await atlas.hazardRisk({ latitude: 48, ...QUERY });
  const { cachedBytes: ownBytes } = here.atlas.tileUse;
  expect([fetchCount, atlas.tileUse.cachedBytes]).toStrictEqual([1, ownBytes]);
  expect(ownBytes).toBeGreaterThan(0);

  const batch = Array.from({ length: 40 }, (_, i) => ({ latitude: -30 + i, ...QUERY }));
  await atlas.hazardRiskBatch(batch);
  await expect.poll(() => atlas.tileUse.cachedBytes).toBe(ownBytes + there.atlas.tileUse.cachedBytes);
  expect(there.atlas.tileUse.cachedBytes).toBeGreaterThan(0);
  expect(fetchCount).toBeGreaterThan(1);

  const before = fetchCount;
  await atlas.hazardRiskBatch(batch);
  expect(fetchCount).toBe(before);

  stop();
  threads[0]?.die("It is over.");
  await expect.poll(() => atlas.tileUse.cachedBytes).toBe(ownBytes);
  await atlas.hazardRisk({ latitude: -48, ...QUERY });
  expect(fetchCount).toBe(before);
  await atlas.close();
});
