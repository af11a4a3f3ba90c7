import { expect, test } from "vitest";
import { openLocalAtlas } from "../../src/openAtlas.ts";
import { atlasTasks } from "../../src/pool/atlasTasks.ts";
import { Executor } from "../../src/pool/executor.ts";
import { PooledAtlas } from "../../src/pool/pooledAtlas.ts";
import { handlersOf, InProcessThread } from "./inProcessThread.ts";

const CACHE_BYTES = 16 << 20;
const QUERY = {
  longitude: 9,
  hazards: ["cyclones"],
  analysis_years: [2050],
  scenarios: ["rcp8p5"],
  radius: 20,
} as const;

test("tile use includes the workers until they end", async () => {
  const local = await openLocalAtlas("demo", CACHE_BYTES);
  const remote = await openLocalAtlas("demo", CACHE_BYTES);
  const threads: InProcessThread[] = [];
  const executor = new Executor({
    workers: 1,
    opened: local,
    start: () => {
      const thread = new InProcessThread({ atlas: remote, findHandler: handlersOf(atlasTasks(remote)) });
      threads.push(thread);
      return thread;
    },
  });
  const atlas = new PooledAtlas(local, executor);
  let remoteFetchCount = 0;
  remote.tileUse.onFetch(() => remoteFetchCount++);
  let fetchCount = 0;
  const unsubscribe = atlas.tileUse.onFetch(() => fetchCount++);
  expect([atlas.tileUse.origin, atlas.tileUse.cachedBytes, fetchCount]).toStrictEqual(["demo", 0, 0]);

  await atlas.hazardRisk({ latitude: 48, ...QUERY });
  const { cachedBytes: localBytes } = local.tileUse;
  expect([fetchCount, atlas.tileUse.cachedBytes]).toStrictEqual([1, localBytes]);
  expect(localBytes).toBeGreaterThan(0);

  const batch = Array.from({ length: 40 }, (_, i) => ({ latitude: -30 + i, ...QUERY }));
  await atlas.hazardRiskBatch(batch);
  await expect.poll(() => atlas.tileUse.cachedBytes).toBe(localBytes + remote.tileUse.cachedBytes);
  expect(remote.tileUse.cachedBytes).toBeGreaterThan(0);
  expect(remoteFetchCount).toBeGreaterThan(0);
  // The size may include the tiles of a fetch that is not reported yet.
  await expect.poll(() => fetchCount).toBe(1 + remoteFetchCount);

  const before = fetchCount;
  await atlas.hazardRiskBatch(batch);
  expect(fetchCount).toBe(before);

  unsubscribe();
  threads[0]?.die("out of memory");
  await expect.poll(() => atlas.tileUse.cachedBytes).toBe(localBytes);
  await atlas.hazardRisk({ latitude: -48, ...QUERY });
  expect(fetchCount).toBe(before);
  await atlas.close();
});
