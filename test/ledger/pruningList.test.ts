import { appendFile, chmod, chown, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { PruneRow } from "../../src/ledger/chain.ts";
import { PruningList } from "../../src/ledger/pruningList.ts";

let folder: string;
let list: PruningList;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-prunings-"));
  list = new PruningList(join(folder, "ledger-anchor.json"));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

function record(batch: number): PruneRow {
  return {
    batch,
    before_day: "2026-01-01",
    last_batch: batch - 1,
    last_hash: String(batch).padStart(64, "a"),
    last_seq: batch,
    event_count: 1,
    rollup_hash: "",
    archive_name: `archive-${batch}.csv`,
    archive_sha256: "",
    previous_prune: "",
  };
}

const [first, second, third] = [record(5), record(9), record(12)];

describe("the list of prunings", () => {
  test("does not exist before it has begun, and then lists the prunings that there were", async () => {
    expect(await list.unlisted([first])).toBeUndefined();
    await list.begin([first, second]);
    expect(await list.unlisted([first, second, third])).toEqual([third]);
    await list.add([third], "pruned");
    expect(await list.unlisted([first, second, third])).toEqual([]);
  });

  test.each<Partial<PruneRow>>([
    { before_day: "2026-01-02" },
    { last_batch: 5 },
    { last_hash: "b".repeat(64) },
    { last_seq: 6 },
    { event_count: 2 },
    { rollup_hash: "b" },
    { archive_name: "another.csv" },
    { archive_sha256: "b" },
    { previous_prune: "b" },
  ])("does not contain a pruning with %o", async (change) => {
    await list.begin([first]);
    const changed = { ...first, ...change };
    expect(await list.unlisted([changed])).toEqual([changed]);
  });

  test("begins again if a crash has interrupted its beginning", async () => {
    await list.begin([first, second]);
    const text = await readFile(list.path, "utf8");
    const lines = text.trimEnd().split("\n");
    for (let length = 0; length < text.trimEnd().length; length++) {
      await writeFile(list.path, text.slice(0, length));
      expect(await list.unlisted([first])).toBeUndefined();
    }
    await writeFile(list.path, lines.slice(0, -1).join("\n"));
    await list.begin([first, second]);
    expect(await list.unlisted([first, second, third])).toEqual([third]);
  });

  test("keeps all other prunings if a crash has interrupted the addition of one", async () => {
    await list.begin([first]);
    const { length } = await readFile(list.path, "utf8");
    await list.add([second], "pruned");
    const text = await readFile(list.path, "utf8");
    for (let end = length; end < text.trimEnd().length; end++) {
      await writeFile(list.path, text.slice(0, end));
      expect(await list.unlisted([first, second])).toEqual([second]);
      await list.add([third], "pruned");
      expect(await list.unlisted([first, second, third])).toEqual([second]);
    }
  });

  test("contains the prunings of processes that add them at the same time", async () => {
    const records = Array.from({ length: 20 }, (_, index) => record(index));
    const processes = records.map((row) => ({ row, own: new PruningList(join(folder, "ledger-anchor.json")) }));
    await Promise.all(processes.map(({ own }) => own.begin([])));
    await Promise.all(processes.map(({ row, own }) => own.add([row], "pruned")));
    expect(await list.unlisted(records)).toEqual([]);
  });

  test("ignores lines that are not its own", async () => {
    await list.begin([]);
    await appendFile(list.path, `null\n5\n"text"\n[]\n{"pruning":5}\n{}\n\0\n`);
    await list.add([first], "pruned");
    expect(await list.unlisted([first, second])).toEqual([second]);
  });

  test.each<[string, (path: string) => Promise<unknown>, RegExp]>([
    [
      "a symbolic link",
      async (path) => {
        await list.begin([]);
        await symlink(list.path, path);
      },
      /^The list of prunings .*other-prunings\.jsonl cannot be used: it is a symbolic link\.$/,
    ],
    ["a folder", (path) => mkdir(path), /^The list of prunings .*other-prunings\.jsonl cannot be read: it is not a/],
  ])("that is %s is an error that names the file", async (_, create, message) => {
    const blocked = new PruningList(join(folder, "other.json"));
    await create(blocked.path);
    await expect(blocked.unlisted([])).rejects.toMatchObject({
      code: "ledger_unavailable",
      message: expect.stringMatching(message) as string,
    });
  });

  test.skipIf(process.platform === "win32")("is private, and does not follow a symbolic link", async () => {
    await list.begin([first]);
    expect((await stat(list.path)).mode & 0o777).toBe(0o600);
    await chmod(list.path, 0o640);
    await list.add([second], "pruned");
    expect((await stat(list.path)).mode & 0o777).toBe(0o640);
    const target = join(folder, "target");
    await writeFile(target, "kept");
    await rm(list.path);
    await symlink(target, list.path);
    await expect(list.add([first], "pruned")).rejects.toMatchObject({ code: "ELOOP" });
    expect(await readFile(target, "utf8")).toBe("kept");
  });

  // Only root can change owners.
  test.runIf(process.getuid?.() === 0)("has the owner of its folder if root writes it", async () => {
    await chown(folder, 12_345, 12_346);
    await list.begin([first]);
    await list.add([second], "pruned");
    const { uid, gid } = await stat(list.path);
    expect([uid, gid]).toEqual([12_345, 12_346]);
  });
});
