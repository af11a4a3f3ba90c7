import { appendFile, readdir, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { type PackInput, writePack } from "../../src/atlas/writer.ts";
import { Fault } from "../../src/errors.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { randomFrom } from "../seededRandom.ts";
import { FLOODS, GRID } from "./floodFixture.ts";
import { packInputOf, withTempFolder } from "./makeAtlas.ts";

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

describe("an interrupted write", () => {
  /** Fails after everything is written but before a file has its final name, like a kill at that point. */
  const interruptedAtEnd = (input: PackInput): PackInput => ({
    ...input,
    onProgress: (rowsDone, rowCount) => {
      if (rowsDone === rowCount) throw new Error("killed");
    },
  });
  const workFolderIn = async (folder: string): Promise<string> =>
    join(folder, (await readdir(folder)).find((name) => name.startsWith(".writing-")) ?? "");

  /** Returns every file of a folder by name, as base64; work folders are not files of the atlas. */
  const contentOf = async (folder: string): Promise<ReadonlyMap<string, string>> =>
    new Map(
      await Promise.all(
        (await readdir(folder))
          .filter((name) => !name.startsWith(".writing-"))
          .toSorted()
          .map(async (name): Promise<[string, string]> => [name, await readFile(join(folder, name), "base64")]),
      ),
    );

  /** Fails when a band is read: the finished pack must be used. */
  const withoutReading = (input: PackInput): PackInput => ({
    ...input,
    readBand: () => Promise.reject(new Error("a band was read")),
  });

  test.each([[[]], [["root"]], [["root", "pyramid"]], [["root", "pyramid", "tiles"]], [["tiles"]]])(
    "continues with the reader's saved state when it was killed between the final renames (done: %s)",
    async (renamed: readonly string[]) => {
      await withTempFolder(async (complete) => {
        await withTempFolder(async (interrupted) => {
          const checkpoint = { save: () => "state", restore: () => undefined };
          const input = { ...packInputOf(FLOODS), checkpoint };
          const { id } = await writePack(kernel, complete, input);
          await writePack(kernel, interrupted, input);
          const work = await workFolderIn(interrupted);
          for (const part of ["root", "pyramid", "tiles"].filter((each) => !renamed.includes(each))) {
            await rename(join(interrupted, `${id}.${part}`), join(work, part));
          }
          let restored: unknown;
          const resumed = withoutReading({
            ...input,
            checkpoint: { ...checkpoint, restore: (state) => void (restored = state) },
          });
          expect((await writePack(kernel, interrupted, resumed)).id).toBe(id);
          expect(restored).toBe("state");
          expect(await contentOf(interrupted)).toEqual(await contentOf(complete));
        });
      });
    },
  );

  test("is written again if a file of the finished pack is missing", async () => {
    await withTempFolder(async (folder) => {
      const input = packInputOf(FLOODS);
      const { id } = await writePack(kernel, folder, input);
      const before = await contentOf(folder);
      await rm(join(folder, `${id}.tiles`));
      await writePack(kernel, folder, input);
      expect(await contentOf(folder)).toEqual(before);
    });
  });

  test("starts over without corrupting files if a work file is missing and no finished pack is recorded", async () => {
    await withTempFolder(async (complete) => {
      await withTempFolder(async (interrupted) => {
        const input = packInputOf(FLOODS);
        await writePack(kernel, complete, input);
        await expect(writePack(kernel, interrupted, interruptedAtEnd(input))).rejects.toThrow("killed");
        await rm(join(await workFolderIn(interrupted), "tiles"));
        await writePack(kernel, interrupted, input);
        expect(await contentOf(interrupted)).toEqual(await contentOf(complete));
      });
    });
  });

  test("discards everything written after the last checkpoint", async () => {
    await withTempFolder(async (complete) => {
      await withTempFolder(async (interrupted) => {
        const input = packInputOf(FLOODS);
        await writePack(kernel, complete, input);
        await expect(
          writePack(kernel, interrupted, {
            ...input,
            readBand: (band, steps) =>
              band.firstRow >= 512 ? Promise.reject(new Error("power failure")) : input.readBand(band, steps),
          }),
        ).rejects.toThrow("power failure");
        const work = await workFolderIn(interrupted);
        for (const part of ["tiles", "pyramid"]) await appendFile(join(work, part), "half a tile");
        const firstRows: number[] = [];
        await writePack(kernel, interrupted, {
          ...input,
          readBand: (band, steps) => {
            firstRows.push(band.firstRow);
            return input.readBand(band, steps);
          },
        });
        expect(firstRows).toEqual([512]);
        expect(await contentOf(interrupted)).toEqual(await contentOf(complete));
      });
    });
  });

  test("stops between two bands with the signal's reason, and resumes from there", async () => {
    await withTempFolder(async (folder) => {
      const input = packInputOf(FLOODS);
      const controller = new AbortController();
      const firstRows: number[] = [];
      const abortable: PackInput = {
        ...input,
        signal: controller.signal,
        readBand: (band, steps) => {
          firstRows.push(band.firstRow);
          // the last band of the first row of pyramid tiles
          if (band.firstRow === 448) controller.abort(new Error("enough"));
          return input.readBand(band, steps);
        },
      };
      await expect(writePack(kernel, folder, abortable)).rejects.toThrow("enough");
      expect(firstRows.splice(0)).toEqual([0, 64, 128, 192, 256, 320, 384, 448]);
      await writePack(kernel, folder, { ...abortable, signal: new AbortController().signal });
      expect(firstRows).toEqual([512]);
    });
  });

  test("resumes with the band during which its signal was aborted", async () => {
    await withTempFolder(async (folder) => {
      const input = packInputOf(FLOODS);
      const stopping = new AbortController();
      const firstRows: number[] = [];
      const stopped: PackInput = {
        ...input,
        signal: stopping.signal,
        readBand: (band, steps) => {
          firstRows.push(band.firstRow);
          if (band.firstRow === 192) stopping.abort(new Error("enough"));
          stopping.signal.throwIfAborted();
          return input.readBand(band, steps);
        },
      };
      await expect(writePack(kernel, folder, stopped)).rejects.toThrow("enough");
      expect(firstRows).toEqual([0, 64, 128, 192]);
      const resumedRows: number[] = [];
      await writePack(kernel, folder, {
        ...input,
        readBand: (band, steps) => {
          resumedRows.push(band.firstRow);
          return input.readBand(band, steps);
        },
      });
      expect(resumedRows[0]).toBe(192);
    });
  });

  test("produces the same files after repeated random kills, without reading committed bands again", async () => {
    const random = randomFrom(5);
    await withTempFolder(async (complete) => {
      const input = packInputOf(FLOODS);
      await writePack(kernel, complete, input);
      for (let round = 0; round < 4; round++) {
        await withTempFolder(async (interrupted) => {
          let killCount = 0;
          let readCount = 0;
          for (let isDone = false; !isDone;) {
            const stopping = new AbortController();
            const attempt: PackInput = {
              ...input,
              checkpointMs: 0,
              signal: stopping.signal,
              readBand: async (band, steps) => {
                // About half of the interruptions abort the signal; the others throw an error.
                if (random.chance(0.4)) {
                  killCount++;
                  if (random.chance(0.5)) throw new Error("killed");
                  stopping.abort(new Error("killed"));
                }
                readCount++;
                return input.readBand(band, steps);
              },
            };
            isDone = await writePack(kernel, interrupted, attempt).then(
              () => true,
              (error: Error) => {
                if (error.message !== "killed") throw error;
                return false;
              },
            );
          }
          expect(killCount).toBeGreaterThan(0);
          expect(readCount).toBe(Math.ceil(GRID.rowCount / 64));
          expect(await contentOf(interrupted)).toEqual(await contentOf(complete));
        });
      }
    });
  });

  test("keeps its work if a system error caused the error, and discards it otherwise", async () => {
    const lost = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    const outcomes: number[] = [];
    for (const cause of [new TypeError("fetch failed", { cause: lost }), new Error("The value is -9999.")]) {
      await withTempFolder(async (folder) => {
        const input = packInputOf(FLOODS);
        const fault = new Fault("source_invalid", "The map cannot be read.", { cause });
        const readBand: PackInput["readBand"] = (band, steps) =>
          band.firstRow >= 128 ? Promise.reject(fault) : input.readBand(band, steps);
        await expect(writePack(kernel, folder, { ...input, readBand })).rejects.toBe(fault);
        let first = -1;
        await writePack(kernel, folder, {
          ...input,
          readBand: (band, steps) => {
            if (first < 0) first = band.firstRow;
            return input.readBand(band, steps);
          },
        });
        outcomes.push(first);
      });
    }
    expect(outcomes).toEqual([128, 0]);
  });

  test("leaves nothing behind if it is not resumable", async () => {
    await withTempFolder(async (folder) => {
      const input = { ...packInputOf(FLOODS), isResumable: false, checkpointMs: 0 };
      const readBand: PackInput["readBand"] = (band, steps) =>
        band.firstRow >= 128 ? Promise.reject(new Error("power failure")) : input.readBand(band, steps);
      await expect(writePack(kernel, folder, { ...input, readBand })).rejects.toThrow("power failure");
      expect(await readdir(folder)).toEqual([]);
    });
  });

  test.each([true, false])("stopped by beforeFinish keeps its work if requested: %s", async (keepsWork) => {
    await withTempFolder(async (folder) => {
      const input = packInputOf(FLOODS);
      const fault = new Fault("source_invalid", "The map was replaced.");
      const stopped = writePack(kernel, folder, { ...input, beforeFinish: async () => ({ fault, keepsWork }) });
      await expect(stopped).rejects.toBe(fault);
      expect(await readdir(folder)).toHaveLength(keepsWork ? 1 : 0);
      let readCount = 0;
      await writePack(kernel, folder, {
        ...input,
        readBand: (band, steps) => {
          readCount++;
          return input.readBand(band, steps);
        },
      });
      expect(readCount).toBe(keepsWork ? 0 : Math.ceil(GRID.rowCount / 64));
    });
  });
});
