/** Large bodies of a host without worker threads. */
import { expect, test, vi } from "vitest";
import * as garbageCollection from "../../../src/host/bulk/garbageCollection.ts";
import { ALIGNMENT_PATH, startTestHost } from "../testHost.ts";

vi.mock("../../../src/host/bulk/garbageCollection.ts", { spy: true });

test("garbage is collected after a body with many values, also if it is rejected", async () => {
  const collectingAfter = vi.mocked(garbageCollection.collectingAfter);
  const host = await startTestHost();
  try {
    const send = async (body: string): Promise<number> => {
      const headers = { "Content-Type": "application/json" };
      return (await host.ask(ALIGNMENT_PATH, { method: "POST", headers, body })).status;
    };
    expect(await send("[]")).toBe(400);
    expect(collectingAfter).not.toHaveBeenCalled();
    expect(await send(`[${"[],".repeat(300_000)}[]]`)).toBe(400);
    expect(collectingAfter).toHaveBeenCalledTimes(1);
    const [parsedBytes, , collect] = collectingAfter.mock.calls[0] ?? [];
    expect(parsedBytes).toBeGreaterThan(16 << 20);
    expect(collect).toBeUndefined();
  } finally {
    await host.close();
  }
});
