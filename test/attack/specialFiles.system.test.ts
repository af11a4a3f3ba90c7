/** FIFOs and devices in place of files that the service opens. Opening a FIFO waits until another process writes to it. */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withLedger } from "../durability/service.ts";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { diskBlobs } from "../../src/atlas/diskBlobs.ts";
import { readDatabaseFile } from "../../src/cli/databaseOptions.ts";
import { openLedger } from "../../src/ledger/openLedger.ts";
import { openAtlas } from "../../src/openAtlas.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isotherm-special-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const SPECIAL: Readonly<Record<string, (path: string) => void>> = {
  "a FIFO": (path) => execFileSync("mkfifo", [path]),
  "a device": (path) => symlinkSync("/dev/zero", path),
};

describe.each(Object.entries(SPECIAL))("%s", (_what, create) => {
  test("in place of the catalog of an atlas is rejected", async () => {
    create(join(folder, "atlas.json"));
    await expect(openAtlas(folder)).rejects.toMatchObject({
      code: "atlas_unavailable",
      message: expect.stringContaining("atlas.json: it is not a regular file") as string,
    });
  });

  test("in place of a pack is rejected", async () => {
    create(join(folder, "pack"));
    const blobs = diskBlobs(folder);
    const expected = { code: "atlas_unavailable", message: expect.stringContaining("not a regular file") as string };
    await expect(blobs.sizeBytes("pack")).rejects.toMatchObject(expected);
    await expect(blobs.read("pack", { offset: 0, sizeBytes: 10 })).rejects.toMatchObject(expected);
    await blobs.close();
  });

  test.each(["ledger.sqlite", "ledger.sqlite-wal", "ledger.sqlite-journal"])(
    "in place of %s is rejected",
    async (name) => {
      create(join(folder, name));
      await expect(openLedger({ data: folder })).rejects.toMatchObject({
        code: "ledger_unavailable",
        message: `The ledger ${join(folder, name)} cannot be opened: it is not a regular file.`,
      });
    },
  );

  test.each([
    ["ledger-anchor.json", "The anchor"],
    ["ledger-anchor-prunings.jsonl", "The list of prunings"],
  ])("in place of %s is rejected", async (name, what) => {
    const open = (): Promise<void> => withLedger({ data: folder }, () => Promise.resolve());
    await open();
    rmSync(join(folder, name), { force: true });
    create(join(folder, name));
    await expect(open()).rejects.toMatchObject({
      code: "ledger_unavailable",
      message: expect.stringMatching(
        new RegExp(
          `^${what} ${join(folder, name)} cannot be (read: it is not a regular file|used: it is a symbolic link)\\.$`,
        ),
      ) as string,
    });
  });

  test("in place of the list of prunings is a problem that an audit lists with the others", async () => {
    await withLedger({ data: folder }, async (ledger) => {
      const list = join(folder, "ledger-anchor-prunings.jsonl");
      rmSync(list, { force: true });
      create(list);
      expect((await ledger.audit()).chain).toMatchObject({
        batchCount: 0,
        problems: [{ code: "pruning_list_unreadable", detail: expect.stringContaining(list) as string }],
      });
    });
  });

  test("in place of the database file is rejected", () => {
    const file = join(folder, "address");
    create(file);
    expect(() => readDatabaseFile(file)).toThrow(`The database file ${file} is not a regular file.`);
  });
});

describe("the database file", () => {
  const write = (text: string, mode = 0o600): string => {
    const file = join(folder, "address");
    writeFileSync(file, text);
    chmodSync(file, mode);
    return file;
  };

  test.each(["600", "400", "640"])("is read with mode %s", (mode) => {
    expect(readDatabaseFile(write("postgres://u:p@h/n\n", parseInt(mode, 8)))).toBe("postgres://u:p@h/n");
  });

  test.each(["644", "660", "601"])("is rejected with mode %s", (mode) => {
    expect(() => readDatabaseFile(write("postgres://u:p@h/n", parseInt(mode, 8)))).toThrow(
      /other users can read or change it/,
    );
  });

  test.each(["", "one two", "http://u:p@h/n", "postgres://u:p@h/n\npostgres://v:q@h/n"])(
    "is rejected with the content %j, which is not repeated",
    (text) => {
      const message = /must contain one line, an address such as postgres:\/\/user:password@host\/name\.$/;
      expect(() => readDatabaseFile(write(text))).toThrow(message);
    },
  );

  test("is rejected if it is missing or too long", () => {
    expect(() => readDatabaseFile(join(folder, "none"))).toThrow("cannot be read (ENOENT)");
    expect(() => readDatabaseFile(write("x".repeat(20_000)))).toThrow("has 20000 bytes");
  });
});
