/** Interrupted runs of a file of places. */
import { appendFileSync } from "node:fs";
import { type FileHandle, open, readdir, readFile, stat, truncate, writeFile, appendFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { OUTPUT_DISK } from "../../../src/places/run/outputDisk.ts";
import { scorePlaceFile } from "../../../src/places/run/scorePlaceFile.ts";
import { workFolderOf } from "../../../src/places/run/workFolder.ts";
import { withTempFolder } from "../../atlas/makeAtlas.ts";
import {
  demoAtlas,
  expectFile,
  OPTIONS,
  placesCsv,
  randomPlaces,
  readManifest,
  ROW_COUNT,
  score,
  writePlaces,
} from "./placeRuns.ts";

const atlas = demoAtlas();
const STOPPED = new Error("stopped");

/** Runs until a number of places is written. */
async function stopAfter(placeCount: number, files: { input: string; output: string }): Promise<void> {
  const stopping = new AbortController();
  const run = score(atlas(), {
    ...files,
    signal: stopping.signal,
    onProgress: (progress) => {
      if (progress.placeCount >= placeCount) stopping.abort(STOPPED);
    },
  });
  await expect(run).rejects.toBe(STOPPED);
}

/** Runs `act` with a file of places and the output of an uninterrupted run. */
async function withPlaces(
  extension: string,
  act: (files: { input: string; output: string; folder: string; whole: Buffer }) => Promise<void>,
): Promise<void> {
  await withTempFolder(async (folder) => {
    const input = await writePlaces(folder);
    const whole = join(folder, `whole.${extension}`);
    await score(atlas(), { input, output: whole });
    await act({ input, output: join(folder, `out.${extension}`), folder, whole: await readFile(whole) });
  });
}

describe("an interrupted run", () => {
  test.each(["csv", "parquet"])("of %s is continued, and writes the same bytes", async (extension) => {
    await withPlaces(extension, async ({ input, output, folder, whole }) => {
      await stopAfter(8192, { input, output });
      expect(await readdir(folder)).not.toContain(`out.${extension}`);
      await stopAfter(16_384, { input, output });
      const report = await score(atlas(), { input, output });
      await expectFile(output, whole);
      expect(report.timing.resumed_place_count % 8192).toBe(0);
      expect(report.timing.resumed_place_count).toBeGreaterThan(0);
      expect(report.place_count).toBe(ROW_COUNT);
      expect((await readdir(folder)).toSorted()).not.toContain(`out.${extension}.partial`);
      const { output: described, ...manifest } = await readManifest(output);
      const { output: wholeDescribed, ...wholeManifest } = await readManifest(join(folder, `whole.${extension}`));
      expect(manifest).toEqual(wholeManifest);
      expect({ ...described, name: "" }).toEqual({ ...wholeDescribed, name: "" });
    });
  });

  /** What a power failure or a kill can leave behind the last segment. */
  const remains: Readonly<Record<string, (folder: string) => Promise<unknown>>> = {
    "bytes after the last segment": (folder) => appendFile(join(folder, "rows"), "site 9,torn"),
    "a torn line in the list": (folder) => appendFile(join(folder, "segments.ndjson"), '{"block":1,"siz'),
    "rows that are shorter than the list": async (folder) => {
      const { size } = await stat(join(folder, "rows"));
      await truncate(join(folder, "rows"), size - 1);
    },
    "no list": (folder) => writeFile(join(folder, "segments.ndjson"), ""),
    "no rows": (folder) => writeFile(join(folder, "rows"), ""),
    "a torn description": (folder) => writeFile(join(folder, "job.json"), '{"program_ver'),
  };
  test.each(Object.keys(remains))("is continued from %s", async (name) => {
    await withPlaces("ndjson", async ({ input, output, whole }) => {
      await stopAfter(8192, { input, output });
      await remains[name]?.(workFolderOf(output));
      await score(atlas(), { input, output });
      await expectFile(output, whole);
    });
  });

  test("is not continued with another input, release or other options, unless it is discarded", async () => {
    await withPlaces("csv", async ({ input, output, whole }) => {
      await stopAfter(8192, { input, output });
      const options = { ...OPTIONS, radius: 5, analysis_years: [2050, 2080] };
      const otherOptions = scorePlaceFile(atlas(), { input, output, outputFormat: "csv", options });
      await expect(otherOptions).rejects.toMatchObject({
        code: "configuration_invalid",
        details: {
          differences: [
            { name: "analysis years", before: "2050", now: "2050, 2080" },
            { name: "radius", before: "not set", now: "5" },
          ],
        },
        message: expect.stringContaining(
          "was different (analysis years: 2050 before, 2050, 2080 now; radius: not set before, 5 now). Run the command",
        ) as string,
      });
      const otherRelease = score(
        { ...atlas(), holdings: atlas().holdings, release: "other" },
        {
          input,
          output,
        },
      );
      await expect(otherRelease).rejects.toThrow(/\(release: demo-\S* before, other now\).*--restart/);
      await writeFile(input, placesCsv(randomPlaces(ROW_COUNT, 2)));
      await expect(score(atlas(), { input, output })).rejects.toThrow(
        /\(input: \d+ bytes with SHA-256 \w{64} before, \d+ bytes with SHA-256 \w{64} now\)/,
      );
      const report = await score(atlas(), { input, output, restart: true });
      expect(report.timing.resumed_place_count).toBe(0);
      expect((await readFile(output)).equals(whole)).toBe(false);
    });
  });

  test("is rejected if the input changes while it is read, and writes no output", async () => {
    await withPlaces("csv", async ({ input, output, folder }) => {
      let hasChanged = false;
      const onProgress = (): void => {
        if (!hasChanged) appendFileSync(input, "new,1,2,0\n");
        hasChanged = true;
      };
      const run = score(atlas(), { input, output, onProgress });
      await expect(run).rejects.toMatchObject({ code: "invalid_request", message: /changed while it was read/ });
      expect(hasChanged).toBe(true);
      expect(await readdir(folder)).not.toContain("out.csv");
    });
  });

  test("does not continue segments of a changed input that was restored", async () => {
    await withPlaces("csv", async ({ input, output, whole }) => {
      const original = await readFile(input);
      const changingDisk: typeof OUTPUT_DISK = {
        ...OUTPUT_DISK,
        open: async (...parameters) => {
          await writeFile(input, placesCsv(randomPlaces(ROW_COUNT, 2)));
          return await OUTPUT_DISK.open(...parameters);
        },
      };
      const run = score(atlas(), { input, output, disk: changingDisk });
      await expect(run).rejects.toMatchObject({ code: "invalid_request", message: /changed while it was read/ });
      await writeFile(input, original);
      await score(atlas(), { input, output });
      await expectFile(output, whole);
    });
  });

  test("keeps the finished part when the disk is full", async () => {
    await withPlaces("csv", async ({ input, output, folder, whole }) => {
      for (const capacityBytes of [0, 100, whole.length / 2, whole.length - 1]) {
        const run = score(atlas(), { input, output, disk: { ...OUTPUT_DISK, open: smallDisk(capacityBytes) } });
        await expect(run).rejects.toMatchObject({
          code: "configuration_invalid",
          message:
            /out\.csv cannot be written: the disk is full \(ENOSPC.*kept in .*: free space and run the same command again/,
        });
        expect(await readdir(folder)).not.toContain("out.csv");
      }
      const report = await score(atlas(), { input, output });
      expect(report.timing.resumed_place_count).toBe(16_384);
      await expectFile(output, whole);
    });
  });

  test("excludes other runs with the same output", async () => {
    await withPlaces("csv", async ({ input, output, whole }) => {
      let [begin, proceed] = [(): void => undefined, (): void => undefined];
      const hasBegun = new Promise<void>((resolve) => (begin = resolve));
      const mayProceed = new Promise<void>((resolve) => (proceed = resolve));
      const first = score(atlas(), {
        input,
        output,
        disk: {
          ...OUTPUT_DISK,
          open: async (...parameters) => {
            begin();
            await mayProceed;
            return await open(...parameters);
          },
        },
      });
      await hasBegun;
      await expect(score(atlas(), { input, output })).rejects.toMatchObject({
        code: "configuration_invalid",
        message: /out\.csv\.partial is being written by process/,
      });
      proceed();
      await first;
      await expectFile(output, whole);
    });
  });
});

/** Opens files of a disk on which the rows can have so many bytes. */
function smallDisk(capacityBytes: number): typeof open {
  return async (...parameters) => {
    const file = await open(...parameters);
    if (!String(parameters[0]).endsWith("rows")) return file;
    return new Proxy(file, {
      get: (target, name) => {
        if (name === "write") return writeUpTo(target, capacityBytes);
        const member: unknown = Reflect.get(target, name, target);
        return typeof member === "function" ? (member.bind(target) as unknown) : member;
      },
    });
  };
}

function writeUpTo(file: FileHandle, capacityBytes: number) {
  return async (bytes: Uint8Array, offset: number, length: number, position: number) => {
    const allowed = Math.min(length, Math.max(0, Math.floor(capacityBytes) - position));
    if (allowed > 0) return await file.write(bytes, offset, allowed, position);
    throw Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC", syscall: "write" });
  };
}
