/** Errors of the disk while an output is written. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Atlas } from "../../../src/hazard/answer.ts";
import type { ScoreRequest, ScoringAtlas } from "../../../src/hazard/scoring/scoreRequest.ts";
import { mergeParts } from "../../../src/places/run/mergeParts.ts";
import { OUTPUT_DISK, type OutputDisk } from "../../../src/places/run/outputDisk.ts";
import { withTempFolder } from "../../atlas/makeAtlas.ts";
import { demoAtlas, expectFile, randomPlaces, readManifest, score, writePlaces } from "./placeRuns.ts";

const atlas = demoAtlas();

/** Returns the error that an operation on a file throws. */
function diskError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: injected, '${path}'`), { code, syscall: "write", path });
}

/** Returns a disk on which an operation fails for files whose path ends with `name`. */
function failingDisk(operation: keyof OutputDisk, name: string, code: string): OutputDisk {
  const original = OUTPUT_DISK[operation] as (path: string, ...rest: unknown[]) => unknown;
  const failing = (path: string, ...rest: unknown[]): unknown => {
    if (path.endsWith(name)) throw diskError(code, path);
    return original(path, ...rest);
  };
  return { ...OUTPUT_DISK, [operation]: failing };
}

/** Returns a disk on which every write to a file fails. */
function fullDisk(name: string, code: string): OutputDisk {
  return {
    ...OUTPUT_DISK,
    open: async (...parameters) => {
      const file = await OUTPUT_DISK.open(...parameters);
      // System errors of an open file do not name it.
      const failing = (): never => {
        throw Object.assign(new Error(`${code}: injected, write`), { code, syscall: "write" });
      };
      return String(parameters[0]).endsWith(name)
        ? Object.assign(file, { write: () => Promise.resolve().then(failing) })
        : file;
    },
  };
}

describe("a run", () => {
  const faults: Readonly<Record<string, readonly [disk: OutputDisk, expected: RegExp]>> = {
    "a full disk at the list of segments": [
      fullDisk("segments.ndjson", "ENOSPC"),
      /the disk is full .*The finished part is kept in .*out\.csv\.partial: free space and run the same command again/,
    ],
    "a full disk at the description": [
      failingDisk("writeSynced", "job.json", "ENOSPC"),
      /the disk is full .*free space/,
    ],
    "a used up quota at the manifest": [
      failingDisk("writeSynced", "manifest.json", "EDQUOT"),
      /the disk quota is used up .*free space and run the same command again/,
    ],
    "a full disk at the report": [failingDisk("writeSynced", "report.json", "ENOSPC"), /the disk is full .*kept in/],
    "a read-only file system at a rename": [
      failingDisk("rename", "rows", "EROFS"),
      /the file system is read-only .*kept in .*: make it writable and run the same command again to continue/,
    ],
    "missing permission at the removal of an earlier output": [
      failingDisk("rm", "out.csv", "EACCES"),
      /permission is denied .*: grant write permission and run the same command again/,
    ],
    "an error of the disk when the folder is flushed": [
      failingDisk("syncFolder", "", "EIO"),
      /the disk reports an error .*: check the disk and run the same command again/,
    ],
    "missing permission at the lock": [
      failingDisk("lockFolder", "", "EACCES"),
      /out\.csv cannot be written: permission is denied .*'\)\. grant write permission and run the same command again\.$/,
    ],
  };
  test.each(Object.keys(faults))("that fails with %s says what to do, and is continued", async (name) => {
    await withTempFolder(async (folder) => {
      const input = await writePlaces(folder, randomPlaces(9000));
      const [output, whole] = [join(folder, "out.csv"), join(folder, "whole.csv")];
      const [disk, expected] = faults[name] ?? [OUTPUT_DISK, /-/];
      await expect(score(atlas(), { input, output, disk })).rejects.toMatchObject({
        code: "configuration_invalid",
        message: expected,
      });
      await score(atlas(), { input, output });
      await score(atlas(), { input, output: whole });
      await expectFile(output, await readFile(whole));
      expect(await readdir(folder)).not.toContain("out.csv.partial");
    });
  });

  test("that fails does not wait for the scores of further blocks", async () => {
    await withTempFolder(async (folder) => {
      const input = await writePlaces(folder);
      const real = atlas() as Atlas & ScoringAtlas;
      let requestCount = 0;
      /** Scores the first block, and never ends the scores of others. */
      const scoreFirst = async (request: ScoreRequest) => {
        if (requestCount++ === 0) return await real.score(request);
        return await new Promise<never>((_resolve, reject) => {
          request.signal?.addEventListener("abort", () => reject(request.signal?.reason as Error));
        });
      };
      const slow: Atlas & ScoringAtlas = { ...real, holdings: real.holdings, score: scoreFirst };
      const disk = fullDisk("segments.ndjson", "ENOSPC");
      await expect(score(slow, { input, output: join(folder, "out.csv"), disk })).rejects.toThrow(/the disk is full/);
      expect(requestCount).toBeGreaterThan(1);
    });
  });

  test("does not explain errors of other files", async () => {
    await withTempFolder(async (folder) => {
      const input = await writePlaces(folder, randomPlaces(10));
      const error = diskError("EACCES", join(folder, "out.csv.other"));
      const disk = { ...OUTPUT_DISK, syncFolder: () => Promise.reject(error) };
      await expect(score(atlas(), { input, output: join(folder, "out.csv"), disk })).rejects.toBe(error);
    });
  });

  test("removes the rows of a discarded run durably before it describes itself", async () => {
    await withTempFolder(async (folder) => {
      const input = await writePlaces(folder, randomPlaces(10));
      const calls: string[] = [];
      const record = (name: keyof OutputDisk): Partial<OutputDisk> => {
        const original = OUTPUT_DISK[name] as (path: string, ...rest: unknown[]) => unknown;
        return {
          [name]: (path: string, ...rest: unknown[]) => {
            calls.push(`${name} ${path.slice(folder.length + 1)}`);
            return original(path, ...rest);
          },
        };
      };
      const disk = { ...OUTPUT_DISK, ...record("rm"), ...record("syncFolder"), ...record("writeSynced") };
      await score(atlas(), { input, output: join(folder, "out.csv"), restart: true, disk });
      const flushed = calls.indexOf("syncFolder out.csv.partial");
      expect(calls.indexOf("rm out.csv.partial/segments.ndjson")).toBeLessThan(flushed);
      expect(calls.indexOf("writeSynced out.csv.partial/job.json")).toBeGreaterThan(flushed);
      expect(flushed).toBeGreaterThan(0);
    });
  });

  test("removes a lock that an interrupted run has not written completely", async () => {
    await withTempFolder(async (folder) => {
      const input = await writePlaces(folder, randomPlaces(9000));
      const output = join(folder, "out.csv");
      await expect(score(atlas(), { input, output, disk: fullDisk("segments.ndjson", "ENOSPC") })).rejects.toThrow(
        /full/,
      );
      await writeFile(join(folder, "out.csv.partial", ".lock-00000000-0000-4000-8000-000000000000.tmp"), "{");
      await score(atlas(), { input, output });
      expect(await readdir(folder)).not.toContain("out.csv.partial");
    });
  });
});

describe("a merge", () => {
  test("that fails with a full disk is continued", async () => {
    await withTempFolder(async (folder) => {
      const input = await writePlaces(folder);
      const parts = [join(folder, "part-1.csv"), join(folder, "part-2.csv")];
      for (const [i, part] of parts.entries()) {
        await score(atlas(), { input, output: part, shard: { index: i + 1, count: 2 } });
      }
      const output = join(folder, "merged.csv");
      const full = mergeParts({ output, parts, disk: failingDisk("rename", "rows", "ENOSPC") });
      await expect(full).rejects.toMatchObject({
        code: "configuration_invalid",
        message: /the disk is full .*kept in/,
      });
      const progress: number[] = [];
      await mergeParts({ output, parts, onProgress: ({ doneBytes }) => progress.push(doneBytes) });
      expect(progress).toEqual([]);
      await score(atlas(), { input, output: join(folder, "whole.csv") });
      await expectFile(output, await readFile(join(folder, "whole.csv")));
    });
  });

  test("that fails is followed by a run that counts all rows", async () => {
    await withTempFolder(async (folder) => {
      const input = await writePlaces(folder, randomPlaces(9000));
      const part = join(folder, "part.csv");
      await score(atlas(), { input, output: part, shard: { index: 1, count: 1 } });
      const [output, whole] = [join(folder, "out.csv"), join(folder, "whole.csv")];
      const full = mergeParts({ output, parts: [part], disk: failingDisk("rename", "rows", "ENOSPC") });
      await expect(full).rejects.toThrow(/the disk is full/);
      const report = await score(atlas(), { input, output });
      const { output: wholeOutput, ...expected } = await score(atlas(), { input, output: whole });
      expect({ ...report, output: wholeOutput, timing: expected.timing }).toEqual({ ...expected, output: wholeOutput });
      const manifest = await readManifest(output);
      const wholeManifest = await readManifest(whole);
      expect({ ...manifest, output: { ...manifest.output, name: "whole.csv" } }).toEqual(wholeManifest);
      await expectFile(output, await readFile(whole));
    });
  });
});
