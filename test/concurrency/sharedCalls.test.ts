import { describe, expect, test } from "vitest";
import { SharedCalls } from "../../src/concurrency/sharedCalls.ts";

interface Call {
  readonly signal: AbortSignal;
  resolve(result: string): void;
  reject(error: Error): void;
}

/** Shared calls that the test ends. */
function controlledCalls() {
  const calls: Call[] = [];
  const shared = new SharedCalls<string>();
  const run = (name: string, signal?: AbortSignal): Promise<string> =>
    shared.run(
      name,
      (abort) => new Promise((resolve, reject) => calls.push({ signal: abort, resolve, reject })),
      signal,
    );
  return { run, calls };
}

describe("shared calls", () => {
  test("run once for all callers at the same time, and again for later ones", async () => {
    const { run, calls } = controlledCalls();
    const results = [run("a"), run("a"), run("b")];
    expect(calls).toHaveLength(2);
    calls[0]?.resolve("1");
    calls[1]?.resolve("2");
    expect(await Promise.all(results)).toEqual(["1", "1", "2"]);
    const later = run("a");
    expect(calls).toHaveLength(3);
    calls[2]?.resolve("3");
    expect(await later).toBe("3");
  });

  test("report their error to all callers, and run again afterwards", async () => {
    const { run, calls } = controlledCalls();
    const results = [run("a"), run("a")];
    calls[0]?.reject(new Error("no disk"));
    for (const result of results) await expect(result).rejects.toThrow("no disk");
    const later = run("a");
    calls[1]?.resolve("1");
    expect(await later).toBe("1");
  });

  test("go on until the last caller has aborted", async () => {
    const { run, calls } = controlledCalls();
    const [first, second] = [new AbortController(), new AbortController()];
    const results = [run("a", first.signal), run("a", second.signal)];
    first.abort(new Error("first"));
    await expect(results[0]).rejects.toThrow("first");
    expect(calls[0]?.signal.aborted).toBe(false);
    second.abort(new Error("second"));
    await expect(results[1]).rejects.toThrow("second");
    expect(calls[0]?.signal.reason).toEqual(new Error("second"));
  });

  test("that were aborted are not joined", async () => {
    const { run, calls } = controlledCalls();
    const abort = new AbortController();
    const aborted = run("a", abort.signal);
    abort.abort(new Error("left"));
    await expect(aborted).rejects.toThrow("left");
    const again = run("a");
    calls[0]?.reject(new Error("aborted"));
    calls[1]?.resolve("1");
    expect(await again).toBe("1");
  });

  test("are not started by a caller that has already aborted", async () => {
    const { run, calls } = controlledCalls();
    await expect(run("a", AbortSignal.abort(new Error("too late")))).rejects.toThrow("too late");
    expect(calls).toHaveLength(0);
  });
});
