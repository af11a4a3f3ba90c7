// Loaded into a service before it starts: at SIGUSR2 it collects garbage and writes what memory is left in use, so that a
// leak of a few bytes a request shows, which the resident memory of a process hides for a long time.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { isMainThread } from "node:worker_threads";

if (isMainThread) {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc");
  process.on("SIGUSR2", () => {
    collect();
    // What is freed by a finalizer is free after the second time.
    setImmediate(() => {
      collect();
      process.stdout.write(`MEMORY ${JSON.stringify(process.memoryUsage())}\n`);
    });
  });
}
