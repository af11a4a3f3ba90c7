// Loaded into a service before it starts: at SIGUSR2 it collects garbage and writes what memory is left in use, so that a
// leak of a few bytes a request shows, which the resident memory of a process hides for a long time.
import { constants, PerformanceObserver } from "node:perf_hooks";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  // How often all of the heap was collected without having been told to.
  let wholeCollectionCount = 0;
  new PerformanceObserver((list) => {
    for (const { detail } of list.getEntries()) {
      const { kind, flags } = /** @type {{ kind: number, flags: number }} */ (detail);
      const isForced = (flags & constants.NODE_PERFORMANCE_GC_FLAGS_FORCED) !== 0;
      if (kind === constants.NODE_PERFORMANCE_GC_MAJOR && !isForced) wholeCollectionCount++;
    }
  }).observe({ entryTypes: ["gc"] });
  process.on("SIGUSR2", () => {
    collect();
    // What is freed by a finalizer is free after the second time.
    setImmediate(() => {
      collect();
      process.stdout.write(`MEMORY ${JSON.stringify({ ...process.memoryUsage(), wholeCollectionCount })}\n`);
    });
  });
}
