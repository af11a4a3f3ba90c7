import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { withWriteLock } from "../../src/atlas/lock.ts";
import { isFault } from "../../src/errors.ts";
import { withFolder } from "./makeAtlas.ts";

/** The lock of this very process, as it writes it, with some of it changed; then left behind. */
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

const enter = (folder: string): Promise<string> => withWriteLock(folder, () => Promise.resolve("in"));

describe("the lock of an atlas folder", () => {
  test("lets one in at a time, however many come, and in the end all of them or with a refusal", async () => {
    await withFolder(async (folder) => {
      let inside = 0;
      let most = 0;
      const outcomes = await Promise.allSettled(
        Array.from({ length: 8 }, () =>
          withWriteLock(folder, async () => {
            most = Math.max(most, ++inside);
            await delay(5);
            inside -= 1;
          }),
        ),
      );
      expect(most).toBe(1);
      expect(outcomes.some(({ status }) => status === "fulfilled")).toBe(true);
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") expect(isFault(outcome.reason, "atlas_unavailable")).toBe(true);
      }
      expect(await readdir(folder)).toEqual([]);
    });
  });

  test("refuses while another writes, naming process, time and file", async () => {
    await withFolder(async (folder) => {
      const name = await leaveLock(folder, {});
      const error: unknown = await enter(folder).catch((reason: unknown) => reason);
      expect(isFault(error, "atlas_unavailable") && error.details).toMatchObject({ address: folder, pid: process.pid });
      expect(String(error)).toContain(
        `${folder} is being written by process ${process.pid} on this machine, since 2026-01-01T00:00:00.000Z`,
      );
      expect(String(error)).toContain(`remove ${join(folder, name)}`);
      expect(await readdir(folder)).toEqual([name]);
    });
  });

  test("is given back after an error, which comes out as it is", async () => {
    await withFolder(async (folder) => {
      const failing = withWriteLock(folder, () => Promise.reject(new Error("no map")));
      await expect(failing).rejects.toThrow(/^no map$/);
      expect(await enter(folder)).toBe("in");
    });
  });

  test("of a process that is no more is cleared away", async () => {
    await withFolder(async (folder) => {
      const { pid } = spawnSync(process.execPath, ["--version"]);
      await leaveLock(folder, { pid });
      expect(await enter(folder)).toBe("in");
      expect(await readdir(folder)).toEqual([]);
    });
  });

  test.skipIf(!existsSync("/proc/self/stat"))("of an earlier process of the same number is cleared away", async () => {
    await withFolder(async (folder) => {
      await leaveLock(folder, { process_start: "another boot/1" });
      expect(await enter(folder)).toBe("in");
      expect(await readdir(folder)).toEqual([]);
    });
  });

  test("of another machine, or another container, is never cleared away", async () => {
    const { pid } = spawnSync(process.execPath, ["--version"]);
    for (const [changes, where] of [
      [{ pid, host: "elsewhere" }, "on elsewhere"],
      [{ pid, host: hostname(), pid_namespace: "pid:[1]" }, "on this machine"],
    ] as const) {
      await withFolder(async (folder) => {
        const name = await leaveLock(folder, changes);
        await expect(enter(folder)).rejects.toThrow(`process ${pid} ${where}, since`);
        expect(await readdir(folder)).toEqual([name]);
      });
    }
  });

  test("that cannot be read is somebody's", async () => {
    await withFolder(async (folder) => {
      await writeFile(join(folder, ".lock-00000000-0000-4000-8000-000000000000"), "");
      await expect(enter(folder)).rejects.toThrow("being written by somebody");
    });
  });

  test("makes the folder, and says what the system says where it cannot", async () => {
    await withFolder(async (folder) => {
      await withWriteLock(join(folder, "a", "b"), async () => {
        expect((await stat(join(folder, "a", "b"))).isDirectory()).toBe(true);
      });
      await writeFile(join(folder, "file"), "");
      await expect(enter(join(folder, "file"))).rejects.toMatchObject({ code: "EEXIST", syscall: "mkdir" });
    });
  });
});
