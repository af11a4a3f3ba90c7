// Preloaded into the service under test. On SIGUSR2 it collects garbage and prints the memory still in use, which
// reveals a leak of a few bytes per request long before resident memory does.
import { constants, PerformanceObserver } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  // Major garbage collections that were not forced.
  let majorCollectionCount = 0;
  new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries()) {
      const { kind, flags } = /** @type {{ kind: number, flags: number }} */ (detail);
      const isForced = (flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0;
      if (kind === constants.NODE_PERFORMANCE_GC_MAJOR && !isForced) majorCollectionCount++;
    }
  }).observe({ entryTypes: ["gc"] });
  process.on("SIGUSR2", () => {
    collect();
    // Memory released by finalizers is free only after a second collection.
    setImmediate(() => {
      collect();
      process.stdout.write(`MEMORY ${JSON.stringify({ ...process.memoryUsage(), majorCollectionCount })}\n`);
    });
  });
}
