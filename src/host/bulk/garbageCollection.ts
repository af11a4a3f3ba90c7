import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Parsed values of this size are collected as soon as they are no longer used. V8 would keep them until its heap has grown to
 * several times their size. Smaller ones are left to V8, because a collection takes 10 to 30 ms.
 */
const COLLECTED_BYTES_MIN = 16 << 20;

let gc: (() => void) | undefined;

/**
 * Runs a function, and collects the values that it no longer uses afterwards.
 * @param parsedBytes estimated memory of the values
 * @param collect collects the garbage of this thread
 */
export async function collectingAfter<Result>(
  parsedBytes: number,
  run: () => Promise<Result>,
  collect = collectGarbage,
): Promise<Result> {
  try {
    return await run();
  } finally {
    if (parsedBytes >= COLLECTED_BYTES_MIN) collect();
  }
}

function collectGarbage(): void {
  if (gc === undefined) {
    // The flag affects contexts that are created from now on.
    setFlagsFromString("--expose-gc");
    gc = runInNewContext("gc") as () => void;
  }
  gc();
}
