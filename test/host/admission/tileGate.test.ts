import { describe, expect, test } from "vitest";
import { TileGate } from "../../../src/host/admission/tileGate.ts";
import { HttpError } from "../../../src/host/problems/problem.ts";

/** A tile that is computed until the test completes it. */
interface HeldTile {
  readonly name: string;
  complete(): void;
}

class GateFixture {
  readonly shed: string[] = [];
  /** Tiles in the order in which they started. */
  readonly started: HeldTile[] = [];
  readonly gate: TileGate;

  constructor(limits: { readonly runningMax: number; readonly waitingPerAccountMax: number }) {
    const reject = (reason: string, message: string): HttpError => {
      this.shed.push(reason);
      return new HttpError("overloaded", message);
    };
    this.gate = new TileGate({ ...limits, reject });
  }

  request(accountId: string, name: string, signal = new AbortController().signal): Promise<string> {
    return this.gate.run(
      accountId,
      signal,
      () => new Promise((resolve) => this.started.push({ name, complete: () => resolve(name) })),
    );
  }

  get names(): readonly string[] {
    return this.started.map(({ name }) => name);
  }

  async complete(index: number): Promise<void> {
    this.started[index]?.complete();
    // Every promise between the completion and the next start has settled after this task.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("the gate of map tiles", () => {
  test("limits the tiles that are computed at the same time", async () => {
    const fixture = new GateFixture({ runningMax: 2, waitingPerAccountMax: 9 });
    const results = ["1", "2", "3", "4"].map((name) => fixture.request("a", name));
    expect(fixture.names).toEqual(["1", "2"]);
    expect([fixture.gate.runningCount, fixture.gate.waitingCount]).toEqual([2, 2]);
    await fixture.complete(1);
    expect(fixture.names).toEqual(["1", "2", "3"]);
    for (let i = 0; i < 4; i++) await fixture.complete(i);
    expect(await Promise.all(results)).toEqual(["1", "2", "3", "4"]);
    expect([fixture.gate.runningCount, fixture.gate.waitingCount]).toEqual([0, 0]);
  });

  test("lets accounts take turns", async () => {
    const fixture = new GateFixture({ runningMax: 1, waitingPerAccountMax: 9 });
    const results = ["a1", "a2", "a3", "a4", "b1", "b2"].map((name) => fixture.request(name.slice(0, 1), name));
    for (let i = 0; i < 6; i++) await fixture.complete(i);
    await Promise.all(results);
    expect(fixture.names.slice(0, 1)).toEqual(["a1"]);
    expect(fixture.names.indexOf("b2")).toBeLessThan(fixture.names.indexOf("a4"));
    expect(fixture.names.indexOf("b1")).toBeLessThan(fixture.names.indexOf("a3"));
  });

  test("rejects the tiles of an account with too many waiting, and not those of others", async () => {
    const fixture = new GateFixture({ runningMax: 1, waitingPerAccountMax: 1 });
    const results = [fixture.request("a", "a1"), fixture.request("a", "a2")];
    await expect(fixture.request("a", "a3")).rejects.toMatchObject({
      code: "overloaded",
      message: "The account already has 1 map tiles waiting; retry when some have been answered.",
    });
    expect(fixture.shed).toEqual(["too_many_tiles_of_account"]);
    results.push(fixture.request("b", "b1"));
    for (let i = 0; i < 3; i++) await fixture.complete(i);
    expect(await Promise.all(results)).toEqual(["a1", "a2", "b1"]);
  });

  test("does not compute a tile after its client has disconnected", async () => {
    const fixture = new GateFixture({ runningMax: 1, waitingPerAccountMax: 9 });
    const controller = new AbortController();
    const first = fixture.request("a", "1");
    const abandoned = fixture.request("a", "2", controller.signal);
    const last = fixture.request("a", "3");
    controller.abort(new Error("disconnected"));
    await expect(abandoned).rejects.toThrow("disconnected");
    expect(fixture.gate.waitingCount).toBe(1);
    await fixture.complete(0);
    await fixture.complete(1);
    expect(await Promise.all([first, last])).toEqual(["1", "3"]);
    expect(fixture.names).toEqual(["1", "3"]);
    await expect(fixture.request("a", "4", controller.signal)).rejects.toThrow("disconnected");
  });

  test("continues after a tile has failed", async () => {
    const fixture = new GateFixture({ runningMax: 1, waitingPerAccountMax: 9 });
    const { signal } = new AbortController();
    const failing = fixture.gate.run("a", signal, () => Promise.reject(new Error("damaged")));
    const next = fixture.request("a", "1");
    await expect(failing).rejects.toThrow("damaged");
    await fixture.complete(0);
    expect(await next).toBe("1");
  });
});
