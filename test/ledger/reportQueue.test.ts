import { describe, expect, test } from "vitest";
import { ReportQueue } from "../../src/ledger/reportQueue.ts";

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

describe("the report queue", () => {
  test("takes one report of each account in turn", async () => {
    const queue = new ReportQueue({ runningCountMax: 1, waitingCountMax: 10 });
    const reports = new Reports();
    const all = ["a1", "a2", "a3", "a4", "b1", "b2", "c1"].map((name) =>
      queue.run(reports.named(name), { accountId: name.slice(0, 1) }),
    );
    for (let i = 0; i < 7; i++) await reports.endOne();
    expect(reports.started).toEqual(["a1", "a2", "b1", "c1", "a3", "b2", "a4"]);
    expect(await Promise.all(all)).toEqual(["a1", "a2", "a3", "a4", "b1", "b2", "c1"]);
  });

  test("runs at most as many reports at the same time as it is allowed", async () => {
    const queue = new ReportQueue({ runningCountMax: 2, waitingCountMax: 10 });
    const reports = new Reports();
    for (const name of ["a", "b", "c"]) void queue.run(reports.named(name), { accountId: name });
    expect(reports.started).toEqual(["a", "b"]);
    await reports.endOne();
    expect(reports.started).toEqual(["a", "b", "c"]);
  });

  test("continues after a report has failed", async () => {
    const queue = new ReportQueue({ runningCountMax: 1, waitingCountMax: 10 });
    const failing = queue.run(() => Promise.reject(new Error("broken")), { accountId: "a" });
    const next = queue.run(() => Promise.resolve("done"), { accountId: "a" });
    await expect(failing).rejects.toThrow("broken");
    expect(await next).toBe("done");
  });

  test("never runs a report whose signal aborts while it waits, and runs the others", async () => {
    const queue = new ReportQueue({ runningCountMax: 1, waitingCountMax: 40 });
    const reports = new Reports();
    const first = queue.run(reports.named("first"), { accountId: "a" });
    const clients = Array.from({ length: 40 }, () => new AbortController());
    const abandoned = clients.map(({ signal }) => queue.run(reports.named("abandoned"), { accountId: "a", signal }));
    const other = queue.run(reports.named("other"), { accountId: "b" });
    for (const client of clients) client.abort(new Error("disconnected"));
    for (const report of abandoned) await expect(report).rejects.toThrow("disconnected");
    await reports.endOne();
    await reports.endOne();
    expect(reports.started).toEqual(["first", "other"]);
    expect(await Promise.all([first, other])).toEqual(["first", "other"]);
    await expect(
      queue.run(reports.named("late"), { accountId: "a", signal: AbortSignal.abort(new Error("gone")) }),
    ).rejects.toThrow("gone");
  });

  test("rejects a caller whose signal aborts while its report runs, without starting another one beside it", async () => {
    const queue = new ReportQueue({ runningCountMax: 1, waitingCountMax: 10 });
    const reports = new Reports();
    const client = new AbortController();
    const running = queue.run(reports.named("running"), { accountId: "a", signal: client.signal });
    void queue.run(reports.named("next"), { accountId: "a" });
    client.abort(new Error("disconnected"));
    await expect(running).rejects.toThrow("disconnected");
    expect(reports.started).toEqual(["running"]);
    await reports.endOne();
    expect(reports.started).toEqual(["running", "next"]);
  });

  test("rejects further reports of an account with too many waiting ones, but not those of others", async () => {
    const queue = new ReportQueue({ runningCountMax: 1, waitingCountMax: 2 });
    const reports = new Reports();
    for (const name of ["a1", "a2", "a3"]) void queue.run(reports.named(name), { accountId: "a" });
    await expect(queue.run(reports.named("a4"), { accountId: "a" })).rejects.toMatchObject({
      code: "rate_limited",
      message: expect.stringContaining("2 reports of this account are waiting") as string,
    });
    void queue.run(reports.named("b"), { accountId: "b" });
    for (let i = 0; i < 4; i++) await reports.endOne();
    expect(reports.started).toEqual(["a1", "a2", "b", "a3"]);
  });

  test("rejects waiting and further reports once it is closed", async () => {
    const queue = new ReportQueue({ runningCountMax: 1, waitingCountMax: 10 });
    const reports = new Reports();
    const running = queue.run(reports.named("running"), { accountId: "a" });
    const waiting = queue.run(reports.named("waiting"), { accountId: "a" });
    queue.close();
    await expect(waiting).rejects.toThrow("closed");
    await expect(queue.run(reports.named("late"), { accountId: "b" })).rejects.toThrow("closed");
    await reports.endOne();
    expect(await running).toBe("running");
    expect(reports.started).toEqual(["running"]);
  });
});
