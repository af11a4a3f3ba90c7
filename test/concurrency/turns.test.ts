import { describe, expect, test } from "vitest";
import { Turns } from "../../src/concurrency/turns.ts";

/** Reports whose ends the test decides. */
class Reports {
  readonly started: string[] = [];
  readonly #ends: (() => void)[] = [];

  /** Returns a report that records its start. */
  readonly named = (name: string) => (): Promise<string> => {
    this.started.push(name);
    return new Promise((resolve) => this.#ends.push(() => resolve(name)));
  };

  /** Ends the oldest running report, and waits until the next one has started. */
  async endOne(): Promise<void> {
    this.#ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("turns", () => {
  test("takes one report of each account in turn", async () => {
    const queue = new Turns({ runningMax: 1, waitingPerTenantMax: 10 });
    const reports = new Reports();
    const all = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"].map((name) =>
      queue.run(name.slice(0, 1), undefined, reports.named(name)),
    );
    for (let i = 0; i < 7; i++) await reports.endOne();
    expect(reports.started).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
    expect(await Promise.all(all)).toEqual(["a1", "a2", "a3", "a4", "b1", "b2", "c1"]);
  });

  test("runs at most as many reports at the same time as it is allowed", async () => {
    const queue = new Turns({ runningMax: 2, waitingPerTenantMax: 10 });
    const reports = new Reports();
    for (const name of ["a", "b", "c"]) void queue.run(name, undefined, reports.named(name));
    expect(reports.started).toEqual(["a", "b"]);
    await reports.endOne();
    expect(reports.started).toEqual(["a", "b", "c"]);
  });

  test("continues after a report has failed", async () => {
    const queue = new Turns({ runningMax: 1, waitingPerTenantMax: 10 });
    const failing = queue.run("a", undefined, () => Promise.reject(new Error("broken")));
    const next = queue.run("a", undefined, () => Promise.resolve("done"));
    await expect(failing).rejects.toThrow("broken");
    expect(await next).toBe("done");
  });

  test("never runs a report whose signal aborts while it waits, and runs the others", async () => {
    const queue = new Turns({ runningMax: 1, waitingPerTenantMax: 40 });
    const reports = new Reports();
    const first = queue.run("a", undefined, reports.named("first"));
    const clients = Array.from({ length: 40 }, () => new AbortController());
    const abandoned = clients.map(({ signal }) => queue.run("a", signal, reports.named("abandoned")));
    const other = queue.run("b", undefined, reports.named("other"));
    for (const client of clients) client.abort(new Error("disconnected"));
    for (const report of abandoned) await expect(report).rejects.toThrow("disconnected");
    await reports.endOne();
    await reports.endOne();
    expect(reports.started).toEqual(["first", "other"]);
    expect(await Promise.all([first, other])).toEqual(["first", "other"]);
    await expect(queue.run("a", AbortSignal.abort(new Error("gone")), reports.named("late"))).rejects.toThrow("gone");
  });

  test("rejects a caller whose signal aborts while its report runs, without starting another one beside it", async () => {
    const queue = new Turns({ runningMax: 1, waitingPerTenantMax: 10 });
    const reports = new Reports();
    const client = new AbortController();
    const running = queue.run("a", client.signal, reports.named("running"));
    void queue.run("a", undefined, reports.named("next"));
    client.abort(new Error("disconnected"));
    await expect(running).rejects.toThrow("disconnected");
    expect(reports.started).toEqual(["running"]);
    await reports.endOne();
    expect(reports.started).toEqual(["running", "next"]);
  });

  test("rejects further reports of an account with too many waiting ones, but not those of others", async () => {
    const onFull = (waitingCount: number): Error => new Error(`${waitingCount} reports are waiting`);
    const queue = new Turns({ runningMax: 1, waitingPerTenantMax: 2, onFull });
    const reports = new Reports();
    for (const name of ["a1", "a2", "a3"]) void queue.run("a", undefined, reports.named(name));
    await expect(queue.run("a", undefined, reports.named("a4"))).rejects.toThrow("2 reports are waiting");
    void queue.run("b", undefined, reports.named("b"));
    for (let i = 0; i < 4; i++) await reports.endOne();
    expect(reports.started).toEqual(["a1", "a2", "b", "a3"]);
  });

  test("rejects waiting and further reports once it is closed", async () => {
    const queue = new Turns({ runningMax: 1, waitingPerTenantMax: 10 });
    const reports = new Reports();
    const running = queue.run("a", undefined, reports.named("running"));
    const waiting = queue.run("a", undefined, reports.named("waiting"));
    queue.close(new Error("The ledger is closed."));
    await expect(waiting).rejects.toThrow("closed");
    await expect(queue.run("b", undefined, reports.named("late"))).rejects.toThrow("closed");
    await reports.endOne();
    expect(await running).toBe("running");
    expect(reports.started).toEqual(["running"]);
  });

  test("are taken in order, and last until they are ended, also if the signal of the holder aborts", async () => {
    const turns = new Turns({ runningMax: 2 });
    const begun: string[] = [];
    const client = new AbortController();
    const take = async (name: string): Promise<() => void> => {
      const end = await turns.take("", client.signal);
      begun.push(name);
      return end;
    };
    const [first, second, third] = ["a", "b", "c"].map(take);
    const [endFirst] = await Promise.all([first, second]);
    expect([begun, turns.runningCount, turns.waitingCount]).toEqual([["a", "b"], 2, 1]);
    client.abort(new Error("disconnected"));
    await expect(third).rejects.toThrow("disconnected");
    expect([turns.runningCount, turns.waitingCount]).toEqual([2, 0]);
    endFirst?.();
    (await turns.take(""))();
  });
});
