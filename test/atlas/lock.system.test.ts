import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { withWriteLock } from "../../src/atlas/writer.ts";
import { isFault } from "../../src/errors.ts";
import { withTempFolder } from "./makeAtlas.ts";

/** Leaves a lock of this process in the folder, with some fields changed. */
async function leaveLock(folder: string, changes: Readonly<Record<string, unknown>>): Promise<string> {
  let own = "";
  await withWriteLock(folder, async () => {
    const [name = ""] = await readdir(folder);
    own = await readFile(join(folder, name), "utf8");
  });
  const name = ".lock-00000000-0000-4000-8000-000000000000";
  const since = "2026-01-01T00:00:00.000Z";
  const writer = { ...(JSON.parse(own) as Record<string, unknown>), since, ...changes };
  await writeFile(join(folder, name), JSON.stringify(writer));
  return name;
}

const acquire = (folder: string): Promise<string> => withWriteLock(folder, () => Promise.resolve("in"));

describe("the write lock of an atlas folder", () => {
  test("admits one writer at a time; others wait or are rejected", async () => {
    await withTempFolder(async (folder) => {
      let insideCount = 0;
      let peak = 0;
      const outcomes = await Promise.allSettled(
        Array.from({ length: 8 }, () =>
          withWriteLock(folder, async () => {
            peak = Math.max(peak, ++insideCount);
            await delay(5);
            insideCount -= 1;
          }),
        ),
      );
      expect(peak).toBe(1);
      expect(outcomes.some(({ status }) => status === "fulfilled")).toBe(true);
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") expect(isFault(outcome.reason, "atlas_unavailable")).toBe(true);
      }
      expect(await readdir(folder)).toEqual([]);
    });
  });

  test("rejects a writer while another process writes, and names process, time and file", async () => {
    await withTempFolder(async (folder) => {
      const name = await leaveLock(folder, {});
      const error: unknown = await acquire(folder).catch((reason: unknown) => reason);
      expect(isFault(error, "atlas_unavailable") && error.details).toMatchObject({ address: folder, pid: process.pid });
      expect(String(error)).toContain(
        `${folder} is being written by process ${process.pid} on this machine, since 2026-01-01T00:00:00.000Z`,
      );
      expect(String(error)).toContain(`remove ${join(folder, name)}`);
      expect(await readdir(folder)).toEqual([name]);
    });
  });

  test("is released after an error, which is rethrown unchanged", async () => {
    await withTempFolder(async (folder) => {
      const failing = withWriteLock(folder, () => Promise.reject(new Error("no map")));
      await expect(failing).rejects.toThrow(/^no map$/);
      expect(await acquire(folder)).toBe("in");
    });
  });

  test("removes the catalogs that killed writers left, but nothing else", async () => {
    await withTempFolder(async (folder) => {
      const left = ".atlas.json.00000000-0000-4000-8000-000000000000";
      for (const name of [left, "atlas.json", "notes.txt"]) await writeFile(join(folder, name), "");
      expect(await acquire(folder)).toBe("in");
      expect((await readdir(folder)).toSorted()).toEqual(["atlas.json", "notes.txt"]);
    });
  });

  test("is removed if its process no longer runs", async () => {
    await withTempFolder(async (folder) => {
      const { pid } = spawnSync(process.execPath, ["--version"]);
      await leaveLock(folder, { pid });
      expect(await acquire(folder)).toBe("in");
      expect(await readdir(folder)).toEqual([]);
    });
  });

  test.skipIf(!existsSync("/proc/self/stat"))("is removed if its process ID has been reused", async () => {
    await withTempFolder(async (folder) => {
      await leaveLock(folder, { process_start: "another boot/1" });
      expect(await acquire(folder)).toBe("in");
      expect(await readdir(folder)).toEqual([]);
    });
  });

  test("is never removed if it belongs to another machine or container", async () => {
    const { pid } = spawnSync(process.execPath, ["--version"]);
    for (const [changes, where] of [
      [{ pid, host: "elsewhere" }, "on elsewhere"],
      [{ pid, host: hostname(), pid_namespace: "pid:[1]" }, "on this machine"],
    ] as const) {
      await withTempFolder(async (folder) => {
        const name = await leaveLock(folder, changes);
        await expect(acquire(folder)).rejects.toThrow(`process ${pid} ${where}, since`);
        expect(await readdir(folder)).toEqual([name]);
      });
    }
  });

  test("is respected even if it cannot be read", async () => {
    await withTempFolder(async (folder) => {
      await writeFile(join(folder, ".lock-00000000-0000-4000-8000-000000000000"), "");
      await expect(acquire(folder)).rejects.toThrow("being written by an unknown process");
    });
  });

  test("creates the folder, and rethrows the system error if it cannot", async () => {
    await withTempFolder(async (folder) => {
      await withWriteLock(join(folder, "a", "b"), async () => {
        expect((await stat(join(folder, "a", "b"))).isDirectory()).toBe(true);
      });
      await writeFile(join(folder, "file"), "");
      await expect(acquire(join(folder, "file"))).rejects.toMatchObject({ code: "EEXIST", syscall: "mkdir" });
    });
  });
});
