import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { AnchorKeeper, anchorPath, anchorProblem, readAnchor } from "../../src/ledger/anchor.ts";
import type { ChainState } from "../../src/ledger/chainState.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-anchor-"));
  path = anchorPath(folder, undefined);
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true, force: true });
});

const hashOf = (batch: number): string => String(batch).padStart(64, "a");

function stateAt(batch: number, ledgerId = "one"): ChainState {
  return { ledgerId, lastAt: "2026-01-01T00:00:00.000Z", head: { batch, hash: hashOf(batch), lastSeq: batch } };
}

describe("the anchor", () => {
  test("is written after a commit, at most once per interval, with an increasing sequence number", async () => {
    let batch = 1;
    const keeper = new AnchorKeeper({ path, readState: () => Promise.resolve(stateAt(batch)), intervalMs: 50 });
    expect(await readAnchor(path)).toBeUndefined();
    keeper.update();
    await expect
      .poll(() => readAnchor(path))
      .toMatchObject({ ledgerId: "one", sequence: 1, batch: 1, hash: hashOf(1) });
    for (; batch < 1000; batch++) keeper.update();
    await expect.poll(() => readAnchor(path)).toMatchObject({ sequence: 2, batch: 1000 });
    batch = 1001;
    keeper.update();
    await keeper.close();
    expect(await readAnchor(path)).toMatchObject({ sequence: 3, batch: 1001 });
    expect(await readdir(folder)).toEqual(["ledger-anchor.json"]);
  });

  test("is written completely by concurrent writes", async () => {
    let batch = 0;
    const keeper = new AnchorKeeper({ path, readState: () => Promise.resolve(stateAt(++batch)), intervalMs: 1 });
    const writes = Array.from({ length: 20 }, (_, index) => {
      keeper.update();
      return index % 2 === 0 ? keeper.flush() : keeper.write({ replaces: false });
    });
    await Promise.all(writes);
    await keeper.close();
    expect(await readAnchor(path)).toMatchObject({ sequence: batch, batch });
    expect(await readdir(folder)).toEqual(["ledger-anchor.json"]);
  });

  test("is not written if nothing was committed, or if the storage fails", async () => {
    const idle = new AnchorKeeper({ path, readState: () => Promise.resolve(stateAt(1)) });
    await idle.close();
    const failing = new AnchorKeeper({ path, readState: () => Promise.reject(new Error("down")) });
    failing.update();
    await failing.close();
    expect(await readdir(folder)).toEqual([]);
  });

  test("keeps its evidence when the ledger loses batches while it is open", async () => {
    const warning = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    let batch = 7;
    const keeper = new AnchorKeeper({ path, readState: () => Promise.resolve(stateAt(batch)) });
    keeper.update();
    await keeper.flush();
    batch = 5;
    keeper.update();
    await keeper.close();
    expect(await readAnchor(path)).toMatchObject({ sequence: 1, batch: 7 });
    expect(warning).toHaveBeenCalledWith(
      expect.stringMatching(/lost batches: it ends with batch 5 after 7/),
      "LedgerWarning",
    );
    warning.mockRestore();
  });

  test("that cannot be written is a fault after the permitted time, until it is written again", async () => {
    const warning = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const blocked = join(folder, "blocked");
    await writeFile(blocked, "");
    const keeper = new AnchorKeeper({
      path: join(blocked, "anchor.json"),
      readState: () => Promise.resolve(stateAt(3)),
      intervalMs: 5,
      unwrittenMsMax: 50,
    });
    expect([keeper.unwrittenMs, keeper.fault]).toEqual([0, undefined]);
    keeper.update();
    await keeper.flush();
    expect(keeper.unwrittenMs).toBeGreaterThan(0);
    await expect
      .poll(() => keeper.fault)
      .toMatchObject({
        code: "ledger_unavailable",
        message: expect.stringMatching(
          /blocked\/anchor\.json, has not been written for 0 s.*(ENOTDIR|EEXIST)/,
        ) as string,
      });
    await rm(blocked);
    await expect.poll(() => keeper.fault).toBeUndefined();
    expect(keeper.unwrittenMs).toBe(0);
    expect(await readAnchor(join(blocked, "anchor.json"))).toMatchObject({ batch: 3 });
    await keeper.close();
    // Once for the failure, although there were several attempts, and once for its end.
    expect(warning.mock.calls.map(([message]) => String(message).replace(/^.*anchor\.json, /, ""))).toEqual([
      expect.stringMatching(/^could not be written: /),
      "is written again.",
    ]);
    warning.mockRestore();
  });

  test("counts as unwritten neither briefly nor while the storage cannot be read", async () => {
    const warning = vi.spyOn(process, "emitWarning").mockImplementation(() => undefined);
    const reading = new AnchorKeeper({ path, readState: () => Promise.reject(new Error("down")), unwrittenMsMax: 0 });
    reading.update();
    await reading.flush();
    expect([reading.unwrittenMs, reading.fault]).toEqual([0, undefined]);
    await reading.close();
    await writeFile(path, "not an anchor");
    const failing = new AnchorKeeper({ path, readState: () => Promise.resolve(stateAt(1)) });
    failing.update();
    await failing.flush();
    expect(failing.unwrittenMs).toBeGreaterThan(0);
    expect(failing.fault).toBeUndefined();
    await failing.close();
    warning.mockRestore();
  });

  test("that the operator replaces is kept in the file", async () => {
    const write = (state: ChainState, replaces: boolean): Promise<void> =>
      new AnchorKeeper({ path, readState: () => Promise.resolve(state) }).write({ replaces });
    await write(stateAt(9), false);
    await write(stateAt(3), true);
    await write(stateAt(4), false);
    expect(await readAnchor(path)).toMatchObject({ sequence: 3, batch: 4 });
    const file = JSON.parse(await readFile(path, "utf8")) as { readonly replaced: readonly object[] };
    expect(file.replaced).toMatchObject([{ batch: 9, hash: hashOf(9), sequence: 1 }]);
  });

  test("of a damaged file is an error that names the file", async () => {
    for (const text of ["", "{", "null", '{"format":2}', '{"format":1,"ledger_id":"one","batch":"1"}']) {
      await writeFile(path, text);
      await expect(readAnchor(path)).rejects.toMatchObject({
        code: "ledger_unavailable",
        message: expect.stringMatching(/ledger-anchor\.json is not an anchor of format 1/) as string,
      });
    }
  });

  test("has one file per PostgreSQL database, whatever the user and password", () => {
    const pathOf = (database: string): string => anchorPath("/data", database);
    expect(pathOf("postgres://a:b@host:5432/one")).toBe(pathOf("postgres://host:5432/one"));
    expect(pathOf("postgres://host:5432/one")).not.toBe(pathOf("postgres://host:5432/two"));
    expect(pathOf("postgres://host:5432/one")).toMatch(/^\/data\/ledger-anchor-[0-9a-f]{12}\.json$/);
  });
});

describe("a ledger compared with its anchor", () => {
  const anchor = { ledgerId: "one", sequence: 1, batch: 5, hash: hashOf(5), writtenAt: "2026-01-01T00:00:00.000Z" };
  const prune = {
    batch: 9,
    before_day: "2026-01-01",
    last_hash: hashOf(5),
    last_seq: 5,
    event_count: 5,
    rollup_hash: "",
    archive_name: "",
    archive_sha256: "",
    previous_prune: "",
  };

  test.each<[string, ChainState, RegExp | undefined]>([
    ["the same head", { ...stateAt(5), hashAtBatch: hashOf(5) }, undefined],
    ["later batches", { ...stateAt(8), hashAtBatch: hashOf(5) }, undefined],
    ["another hash at the batch", { ...stateAt(8), hashAtBatch: hashOf(6) }, /Batch 5 had another hash/],
    ["no such batch", { ...stateAt(8), hashAtBatch: undefined }, /Batch 5 had another hash/],
    ["fewer batches", stateAt(3), /last 2 batches are missing: .* ends with batch 3, but had batch 5/],
    ["another id", { ...stateAt(8, "two"), hashAtBatch: hashOf(5) }, /belongs to another ledger, one/],
    ["the batch archived", { ...stateAt(9), pruned: { ...prune, last_batch: 5 } }, undefined],
    [
      "the batch archived with another hash",
      { ...stateAt(9), pruned: { ...prune, last_batch: 5, last_hash: "" } },
      /another hash/,
    ],
    ["the batch and later ones archived", { ...stateAt(9), pruned: { ...prune, last_batch: 8 } }, undefined],
  ])("with %s", (_name, state, problem) => {
    if (problem === undefined) expect(anchorProblem(anchor, state)).toBeUndefined();
    else expect(anchorProblem(anchor, state)?.detail).toMatch(problem);
  });
});
