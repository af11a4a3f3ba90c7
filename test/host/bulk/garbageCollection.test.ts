import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { collectingAfter } from "../../../src/host/bulk/garbageCollection.ts";

const LARGE_BYTES = 16 << 20;

test("a large value is collected when it is no longer used", async () => {
  let value: WeakRef<object> | undefined;
  await collectingAfter(LARGE_BYTES, async () => {
    value = new WeakRef(Array.from({ length: 1_000 }, () => []));
    // The target of a new reference is kept until the current task of the event loop ends.
    await setImmediate();
  });
  expect(value).toBeDefined();
  expect(value?.deref()).toBeUndefined();
});

test("garbage is collected once after a large value, also if it was rejected, and not after a small one", async () => {
  const events: string[] = [];
  const run = (parsedBytes: number, name: string): Promise<string> =>
    collectingAfter(
      parsedBytes,
      async () => {
        await setImmediate();
        events.push(name);
        if (name === "rejected") throw new Error(name);
        return name;
      },
      () => events.push("collected"),
    );
  await expect(run(LARGE_BYTES - 1, "small")).resolves.toBe("small");
  await expect(run(LARGE_BYTES, "large")).resolves.toBe("large");
  await expect(run(LARGE_BYTES, "rejected")).rejects.toThrow("rejected");
  expect(events).toStrictEqual(["small", "large", "collected", "rejected", "collected"]);
});
