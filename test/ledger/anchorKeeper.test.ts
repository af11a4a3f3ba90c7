import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from "vitest";
import { anchorPath, readAnchor, readAnchorFile } from "../../src/ledger/anchor.ts";
import { AnchorKeeper } from "../../src/ledger/anchorKeeper.ts";
import type { ChainState } from "../../src/ledger/chainAudit.ts";

let folder: string;
let path: string;
let warning: MockInstance;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-anchor-"));
  path = anchorPath(folder, undefined);
  warning = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
});
afterEach(async () => {
  warning.mockRestore();
  await rm(folder, { recursive: true, force: true });
});

/** A ledger with batches from 0, whose last ones can be lost. */
class Chain {
  readonly hashes: string[] = [];

  /** @param branch differs for batches that replace lost ones */
  grow(count: number, branch = "a"): void {
    for (let i = 0; i < count; i++) this.hashes.push(String(this.hashes.length).padStart(64, branch));
  }

  lose(count: number): void {
    this.hashes.length -= count;
  }

  get head(): { readonly batch: number; readonly hash: string } {
    return { batch: this.hashes.length - 1, hash: this.hashes.at(-1) ?? "" };
  }

  readonly readState = ({ batch }: { readonly batch?: number }): Promise<ChainState> =>
    Promise.resolve({
      ledgerId: "one",
      lastAt: "2026-01-01T00:00:00.000Z",
      head: { ...this.head, lastSeq: this.head.batch },
      hashAtBatch: batch === undefined ? undefined : this.hashes[batch],
    });
}

function chainOf(count: number): Chain {
  const chain = new Chain();
  chain.grow(count);
  return chain;
}

async function writeNow(keeper: AnchorKeeper): Promise<void> {
  keeper.update();
  await keeper.flush();
}

const warnings = (): readonly string[] => warning.mock.calls.map(([message]) => String(message));

describe("the keeper of an anchor", () => {
  test("writes it after a commit, at most once per interval, with an increasing sequence number", async () => {
    const chain = chainOf(2);
    const keeper = new AnchorKeeper({ path, readState: chain.readState, intervalMs: 50 });
    expect(await readAnchor(path)).toBeUndefined();
    keeper.update();
    await expect.poll(() => readAnchor(path)).toMatchObject({ ledgerId: "one", sequence: 1, ...chain.head });
    for (let i = 0; i < 1000; i++) {
      chain.grow(1);
      keeper.update();
    }
    await expect.poll(() => readAnchor(path)).toMatchObject({ sequence: 2, ...chain.head });
    chain.grow(1);
    keeper.update();
    await keeper.close();
    expect(await readAnchor(path)).toMatchObject({ sequence: 3, ...chain.head });
    expect(await readdir(folder)).toEqual(["ledger-anchor.json"]);
  });

  test("writes it completely in concurrent writes", async () => {
    const chain = chainOf(1);
    let writeCount = 0;
    const keeper = new AnchorKeeper({
      path,
      readState: (query) => {
        chain.grow(1);
        writeCount++;
        return chain.readState(query);
      },
      intervalMs: 1,
    });
    const writes = Array.from({ length: 20 }, (_, index) => {
      keeper.update();
      return index % 2 === 0 ? keeper.flush() : keeper.write();
    });
    await Promise.all(writes);
    await keeper.close();
    expect(await readAnchor(path)).toMatchObject({ sequence: writeCount, ...chain.head });
    expect(await readdir(folder)).toEqual(["ledger-anchor.json"]);
  });

  test("does not replace one that another process has written meanwhile", async () => {
    const chain = chainOf(3);
    const other = new AnchorKeeper({ path, readState: chain.readState });
    await other.write();
    chain.grow(1);
    let isFirst = true;
    const keeper = new AnchorKeeper({
      path,
      readState: async (query) => {
        const state = await chain.readState(query);
        if (isFirst) {
          isFirst = false;
          chain.grow(1);
          await other.write();
        }
        return state;
      },
    });
    await writeNow(keeper);
    expect(await readAnchor(path)).toMatchObject({ sequence: 2, ...chain.head });
    chain.grow(1);
    isFirst = true;
    await keeper.write();
    expect(await readAnchor(path)).toMatchObject({ sequence: 3, ...chain.head });
    await keeper.close();
    expect(await readdir(folder)).toEqual(["ledger-anchor.json"]);
  });

  test("does not write it if nothing was committed, or if the storage fails", async () => {
    const idle = new AnchorKeeper({ path, readState: chainOf(2).readState });
    await idle.close();
    const failing = new AnchorKeeper({ path, readState: () => Promise.reject(new Error("down")) });
    failing.update();
    await failing.close();
    expect(await readdir(folder)).toEqual([]);
  });

  test.each([
    { lost: 2, added: 0, reason: /The last 2 batches are missing: .* ends with batch 7, but had batch 9/ },
    { lost: 1, added: 1, reason: /Batch 9 had another hash/ },
    { lost: 3, added: 3, reason: /Batch 9 had another hash/ },
    { lost: 3, added: 5, reason: /Batch 9 had another hash/ },
  ])("keeps it if the open ledger has lost $lost batches and added $added", async ({ lost, added, reason }) => {
    const chain = chainOf(10);
    const keeper = new AnchorKeeper({ path, readState: chain.readState });
    await writeNow(keeper);
    const anchor = await readFile(path, "utf8");
    expect(keeper.fault).toBeUndefined();
    chain.lose(lost);
    chain.grow(added, "b");
    await writeNow(keeper);
    expect(await readFile(path, "utf8")).toBe(anchor);
    expect(keeper.fault).toMatchObject({
      code: "ledger_unavailable",
      message: expect.stringMatching(reason) as string,
    });
    expect(keeper.unwrittenMs).toBeGreaterThan(0);
    await expect(keeper.write()).rejects.toMatchObject({ message: expect.stringMatching(reason) as string });
    await keeper.close();
    expect(await readFile(path, "utf8")).toBe(anchor);
    expect(warnings()).toEqual([expect.stringMatching(/^The ledger has lost or changed usage while it was open\. /)]);
  });

  test("keeps it however much the ledger grows after a loss, until the operator replaces it", async () => {
    const chain = chainOf(10);
    const keeper = new AnchorKeeper({ path, readState: chain.readState });
    await writeNow(keeper);
    chain.lose(3);
    for (let i = 0; i < 20; i++) {
      chain.grow(1, "b");
      await writeNow(keeper);
      expect(keeper.fault).toBeDefined();
    }
    expect(await readAnchor(path)).toMatchObject({ sequence: 1, batch: 9 });
    // In another process, as isotherm usage accept-restored does.
    await new AnchorKeeper({ path, readState: chain.readState }).replace();
    chain.grow(1, "b");
    await writeNow(keeper);
    expect([keeper.fault, keeper.unwrittenMs]).toEqual([undefined, 0]);
    expect(await readAnchor(path)).toMatchObject({ sequence: 3, ...chain.head });
    expect(warnings().at(-1)).toMatch(/is written again/);
    await keeper.close();
  });

  test("compares the ledger with the last anchor if the file has disappeared", async () => {
    const chain = chainOf(10);
    const keeper = new AnchorKeeper({ path, readState: chain.readState });
    await writeNow(keeper);
    await rm(path);
    chain.grow(1);
    await writeNow(keeper);
    expect(await readAnchor(path)).toMatchObject({ sequence: 2, batch: 10 });
    await rm(path);
    chain.lose(2);
    chain.grow(2, "b");
    await writeNow(keeper);
    expect(keeper.fault?.message).toMatch(/Batch 10 had another hash/);
    expect(await readdir(folder)).toEqual([]);
    await keeper.close();
  });

  test("compares the ledger with the anchor that the operator has accepted if that disappears later", async () => {
    const chain = chainOf(10);
    const keeper = new AnchorKeeper({ path, readState: chain.readState });
    await writeNow(keeper);
    chain.lose(3);
    await writeNow(keeper);
    expect(keeper.fault).toBeDefined();
    await new AnchorKeeper({ path, readState: chain.readState }).replace();
    // The anchor is read but not written, because it has the head already.
    await writeNow(keeper);
    expect(keeper.fault).toBeUndefined();
    await rm(path);
    chain.grow(1, "b");
    await writeNow(keeper);
    expect(keeper.fault).toBeUndefined();
    expect(await readAnchor(path)).toMatchObject({ sequence: 3, ...chain.head });
    await keeper.close();
  });

  test("is at fault if it cannot write it for the permitted time, until it is written again", async () => {
    const blocked = join(folder, "blocked");
    await writeFile(blocked, "");
    const chain = chainOf(4);
    const keeper = new AnchorKeeper({
      path: join(blocked, "anchor.json"),
      readState: chain.readState,
      intervalMs: 5,
      unwrittenMsMax: 50,
    });
    expect([keeper.unwrittenMs, keeper.fault]).toEqual([0, undefined]);
    await writeNow(keeper);
    expect(keeper.unwrittenMs).toBeGreaterThan(0);
    await expect
      .poll(() => keeper.fault)
      .toMatchObject({
        code: "ledger_unavailable",
        message: expect.stringMatching(
          /blocked\/anchor\.json, has not been written for \d+ s.*(ENOTDIR|EEXIST)/,
        ) as string,
      });
    await rm(blocked);
    await expect.poll(() => keeper.fault).toBeUndefined();
    expect(keeper.unwrittenMs).toBe(0);
    expect(await readAnchor(join(blocked, "anchor.json"))).toMatchObject(chain.head);
    await keeper.close();
    // Once for the failure, although there were several attempts, and once for its end.
    expect(warnings().map((message) => message.replace(/^.*anchor\.json, /, ""))).toEqual([
      expect.stringMatching(/^could not be written: /),
      "is written again.",
    ]);
  });

  test("is at fault if the ledger cannot be read for the permitted time, until it is written", async () => {
    const chain = chainOf(4);
    let isDown = true;
    const keeper = new AnchorKeeper({
      path,
      readState: (query) => (isDown ? Promise.reject(new Error("down")) : chain.readState(query)),
      intervalMs: 5,
      unwrittenMsMax: 50,
    });
    await writeNow(keeper);
    await expect
      .poll(() => keeper.fault)
      .toMatchObject({ code: "ledger_unavailable", message: expect.stringMatching(/has not been written.*down/) });
    isDown = false;
    await expect.poll(() => keeper.fault).toBeUndefined();
    expect(await readAnchor(path)).toMatchObject(chain.head);
    await keeper.close();
  });

  test("is not at fault if it fails briefly", async () => {
    await writeFile(path, "not an anchor");
    const failing = new AnchorKeeper({ path, readState: chainOf(2).readState });
    await writeNow(failing);
    expect(failing.unwrittenMs).toBeGreaterThan(0);
    expect(failing.fault).toBeUndefined();
    await failing.close();
  });

  describe("with files or storage that hang", () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    const hanging = (): { readonly promise: Promise<undefined>; readonly release: () => void } => {
      let release = (): void => undefined;
      const promise = new Promise<undefined>((resolve) => {
        release = () => resolve(undefined);
      });
      return { promise, release };
    };

    test("is at fault after the permitted time, until it is written", async () => {
      const read = hanging();
      const chain = chainOf(3);
      const keeper = new AnchorKeeper({ path, readState: chain.readState, readFile: () => read.promise });
      const writing = writeNow(keeper);
      vi.advanceTimersByTime(1_000);
      expect([keeper.unwrittenMs, keeper.fault]).toEqual([0, undefined]);
      vi.advanceTimersByTime(9_000);
      expect([keeper.unwrittenMs, keeper.fault]).toEqual([10_000, undefined]);
      vi.advanceTimersByTime(1_000);
      expect(keeper.unwrittenMs).toBe(11_000);
      expect(keeper.fault).toMatchObject({
        code: "ledger_unavailable",
        message: expect.stringMatching(
          /has not been written for 11 s.*: the file system or the ledger does not/,
        ) as string,
      });
      read.release();
      await writing;
      expect([keeper.unwrittenMs, keeper.fault]).toEqual([0, undefined]);
      expect(await readAnchor(path)).toMatchObject(chain.head);
      await keeper.close();
    });

    test.each(["file", "state"])("is closed after five seconds if a read of the %s hangs", async (hung) => {
      const read = hanging();
      const chain = chainOf(3);
      const keeper = new AnchorKeeper({
        path,
        readState: (query) => (hung === "state" ? read.promise : Promise.resolve()).then(() => chain.readState(query)),
        readFile: () => (hung === "file" ? read.promise : Promise.resolve(undefined)),
      });
      const writing = writeNow(keeper);
      let isClosed = false;
      const closing = keeper.close().then(() => (isClosed = true));
      await vi.advanceTimersByTimeAsync(4_999);
      expect([isClosed, warnings()]).toEqual([false, []]);
      await vi.advanceTimersByTimeAsync(1);
      await closing;
      expect(warnings()).toEqual([
        expect.stringMatching(/could not be written within 5 s while the ledger was closed/),
      ]);
      read.release();
      await writing;
    });

    test.each(["file", "state", "file before the anchor is replaced"])(
      "does not replace a newer anchor after it was closed while a read of the %s hung",
      async (hung) => {
        const read = hanging();
        const chain = chainOf(3);
        await new AnchorKeeper({ path, readState: chain.readState }).write();
        chain.grow(1);
        const { head } = chain;
        let readCount = 0;
        const keeper = new AnchorKeeper({
          path,
          readState: async (query) => {
            // Of the time at which it began.
            const state = { ...(await chain.readState(query)), head: { ...head, lastSeq: head.batch } };
            if (hung === "state") await read.promise;
            return state;
          },
          readFile: async (file) => {
            readCount++;
            const anchor = await readAnchorFile(file);
            if (hung === "file" ? readCount === 1 : hung !== "state" && readCount === 2) await read.promise;
            return anchor;
          },
        });
        const writing = writeNow(keeper);
        const closing = keeper.close();
        await vi.waitFor(async () => {
          await vi.advanceTimersByTimeAsync(5_000);
          expect(warnings()).toHaveLength(1);
        });
        await closing;
        chain.grow(1);
        await new AnchorKeeper({ path, readState: chain.readState }).write();
        read.release();
        await writing;
        expect(await readAnchor(path)).toMatchObject({ sequence: 2, ...chain.head });
        expect(await readdir(folder)).toEqual(["ledger-anchor.json"]);
      },
    );

    test("does not delay closing otherwise", async () => {
      const keeper = new AnchorKeeper({ path, readState: chainOf(3).readState });
      keeper.update();
      await keeper.close();
      expect([vi.getTimerCount(), warnings()]).toEqual([0, []]);
    });
  });

  test("lists the anchors that the operator has replaced in the file", async () => {
    const keep = (chain: Chain): AnchorKeeper => new AnchorKeeper({ path, readState: chain.readState });
    const chain = chainOf(10);
    const { head } = chain;
    await keep(chain).write();
    chain.lose(6);
    await keep(chain).replace();
    chain.grow(1, "b");
    await keep(chain).write();
    expect(await readAnchor(path)).toMatchObject({ sequence: 3, batch: 4 });
    const file = JSON.parse(await readFile(path, "utf8")) as { readonly replaced: readonly object[] };
    expect(file.replaced).toMatchObject([{ ...head, sequence: 1 }]);
  });
});
