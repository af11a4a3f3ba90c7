import { chmod, chown, lstat, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { anchorPath, anchorProblem, readAnchor, writeAnchor } from "../../src/ledger/anchor.ts";
import type { ChainState } from "../../src/ledger/chainAudit.ts";

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-anchor-"));
  path = anchorPath(folder, undefined);
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const hashOf = (batch: number): string => String(batch).padStart(64, "a");

function stateAt(batch: number, ledgerId = "one"): ChainState {
  return { ledgerId, lastAt: "2026-01-01T00:00:00.000Z", head: { batch, hash: hashOf(batch), lastSeq: batch } };
}

describe("the anchor", () => {
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

describe("the file of an anchor", () => {
  const write = async (batch: number): Promise<void> => {
    await writeAnchor(path, stateAt(batch), { previous: undefined, replaces: false });
  };
  const isRoot = process.getuid?.() === 0;
  const ownerOf = async (): Promise<readonly number[]> => {
    const { uid, gid, mode } = await stat(path);
    return [uid, gid, mode & 0o777];
  };

  test.skipIf(process.platform === "win32")("is private, but keeps the permissions that it was given", async () => {
    await write(1);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await chmod(path, 0o640);
    await write(2);
    expect((await stat(path)).mode & 0o777).toBe(0o640);
    expect(await readAnchor(path)).toMatchObject({ batch: 2 });
  });

  // Only root can change owners.
  test.runIf(isRoot)("keeps its owner when root writes it, as sudo isotherm usage prune does", async () => {
    await write(1);
    await chown(path, 12_345, 12_346);
    await write(2);
    expect(await ownerOf()).toEqual([12_345, 12_346, 0o600]);
    expect(await readAnchor(path)).toMatchObject({ batch: 2 });
  });

  test.runIf(isRoot)("has the owner of its folder if root writes the first one", async () => {
    await chown(folder, 12_345, 12_346);
    await write(1);
    expect(await ownerOf()).toEqual([12_345, 12_346, 0o600]);
  });

  test.skipIf(process.platform === "win32")(
    "replaces a symbolic link and leaves the file that it points to",
    async () => {
      const target = join(folder, "target");
      await writeFile(target, "kept", { mode: 0o644 });
      const temporaryPaths = Array.from({ length: 50 }, (_, i) => `${path}.writing-${process.pid}-${i}`);
      for (const links of [[path], temporaryPaths]) {
        for (const link of links) await symlink(target, link);
        await write(1);
        expect([await readFile(target, "utf8"), (await stat(target)).mode & 0o777]).toEqual(["kept", 0o644]);
        expect((await lstat(path)).isFile()).toBe(true);
        expect((await stat(path)).mode & 0o777).toBe(0o600);
        await rm(path);
      }
    },
  );
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
