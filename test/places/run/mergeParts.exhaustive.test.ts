/** Shards of a file of places, and how they are joined. */
import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { mergeParts } from "../../../src/places/run/mergeParts.ts";
import type { PlaceManifest } from "../../../src/places/run/placeManifest.ts";
import { manifestPathOf } from "../../../src/places/run/workFolder.ts";
import { withTempFolder } from "../../atlas/makeAtlas.ts";
import { demoAtlas, expectFile, OPTIONS, randomPlaces, readManifest, score, writePlaces } from "./placeRuns.ts";

const atlas = demoAtlas();

async function writeParts(
  folder: string,
  { input, count, extension }: { readonly input: string; readonly count: number; readonly extension: string },
): Promise<readonly string[]> {
  const parts: string[] = [];
  for (let index = 1; index <= count; index++) {
    const output = join(folder, `part-${index}.${extension}`);
    await score(atlas(), { input, output, shard: { index, count } });
    parts.push(output);
  }
  return parts;
}

/** The open files of this process, on Linux. */
const OPEN_FILES = "/proc/self/fd";

describe("parts", () => {
  test.each([
    ["csv", 2],
    ["ndjson", 3],
    ["parquet", 2],
    ["geoparquet", 8],
    ["csv", 1],
  ])("in %s of %i shards are joined into the file of one run", async (extension, count) => {
    await withTempFolder(async (folder) => {
      const input = await writePlaces(folder);
      const whole = join(folder, `whole.${extension}`);
      const wholeReport = await score(atlas(), { input, output: whole });
      const parts = await writeParts(folder, { input, count, extension });
      const output = join(folder, `merged.${extension}`);
      const report = await mergeParts({ output, parts: parts.toReversed() });
      await expectFile(output, await readFile(whole));
      const [merged, expected] = [await readManifest(output), await readManifest(whole)];
      expect({ ...merged, output: { ...merged.output, name: "whole" } }).toEqual({
        ...expected,
        output: { ...expected.output, name: "whole" },
      });
      expect({ ...report, output: undefined, timing: undefined }).toEqual({
        ...wholeReport,
        output: undefined,
        timing: undefined,
      });
    });
  });

  test("of versions that did not state the columns of the places are joined", async () => {
    await withTempFolder(async (folder) => {
      const input = await writePlaces(folder, randomPlaces(10));
      const parts = await writeParts(folder, { input, count: 2, extension: "csv" });
      const output = join(folder, "merged.csv");
      const [first = "", second = ""] = parts;
      const { place_columns: stated, ...earlier } = await readManifest(first);
      expect(stated).toEqual({ id: "id", latitude: "latitude", longitude: "longitude" });
      await writeFile(manifestPathOf(first), JSON.stringify(earlier));
      await mergeParts({ output, parts });
      expect((await readManifest(output)).place_columns).toEqual(stated);
      await writeFile(
        manifestPathOf(second),
        JSON.stringify({ ...(await readManifest(second)), place_columns: undefined }),
      );
      await mergeParts({ output, parts, restart: true });
      expect(await readManifest(output)).not.toHaveProperty("place_columns");
    });
  });

  test("of equal inputs with different names are joined in any order", async () => {
    await withTempFolder(async (folder) => {
      const input = await writePlaces(folder);
      const copy = join(folder, "copy.csv");
      await copyFile(input, copy);
      const { hazards, ...others } = OPTIONS;
      const parts = [join(folder, "part-1.parquet"), join(folder, "part-2.parquet")] as const;
      await score(atlas(), { input, output: parts[0], shard: { index: 1, count: 2 } });
      await score(atlas(), {
        input: copy,
        output: parts[1],
        shard: { index: 2, count: 2 },
        options: { ...others, hazards },
      });
      const merged: Buffer[] = [];
      for (const order of [parts, parts.toReversed()]) {
        const output = join(folder, `merged-${merged.length}.parquet`);
        await mergeParts({ output, parts: order });
        merged.push(await readFile(output));
      }
      const whole = join(folder, "whole.parquet");
      await score(atlas(), { input, output: whole });
      for (const bytes of merged) expect(bytes.equals(await readFile(whole))).toBe(true);
    });
  });

  test.skipIf(!existsSync(OPEN_FILES))(
    "are open one at a time, because there can be more than open files",
    async () => {
      await withTempFolder(async (folder) => {
        const input = await writePlaces(folder);
        const parts = await writeParts(folder, { input, count: 4, extension: "csv" });
        const openParts: string[] = [];
        const onProgress = (): void => {
          const links = readdirSync(OPEN_FILES).map((name) => join(OPEN_FILES, name));
          // The folder itself was open while it was read.
          const files = links.filter((link) => existsSync(link)).map((link) => readlinkSync(link, "utf8"));
          openParts.push(files.filter((file) => parts.includes(file)).join());
        };
        await mergeParts({ output: join(folder, "merged.csv"), parts, onProgress });
        expect(openParts).toEqual(parts.slice(0, 3));
      });
    },
  );

  test("are not joined into a file with the extension of another format", async () => {
    await withTempFolder(async (folder) => {
      const input = await writePlaces(folder);
      const parts = await writeParts(folder, { input, count: 1, extension: "csv" });
      await expect(mergeParts({ output: join(folder, "merged.parquet"), parts })).rejects.toMatchObject({
        code: "configuration_invalid",
      });
    });
  });

  test("are not joined into a file that is a part of something else, unless --restart is given", async () => {
    await withTempFolder(async (folder) => {
      const input = await writePlaces(folder);
      const output = join(folder, "merged.csv");
      const parts = await writeParts(folder, { input, count: 1, extension: "csv" });
      await score(atlas(), { input, output, shard: { index: 2, count: 3 } });
      const earlier = await readFile(output);
      await expect(mergeParts({ output, parts })).rejects.toMatchObject({
        code: "configuration_invalid",
        message: expect.stringMatching(/merged\.csv is part 2 of 3, and would be replaced by the whole output\./),
      });
      expect(await readFile(output)).toEqual(earlier);
      await mergeParts({ output, parts, restart: true });
      expect(await readFile(output)).not.toEqual(earlier);
    });
  });

  const rejections: Readonly<
    Record<string, { change(folder: string, parts: string[]): Promise<unknown>; expected: RegExp }>
  > = {
    "a missing part": { change: async (_, parts) => parts.pop(), expected: /Missing of 2 parts: 2\./ },
    "a repeated part": {
      change: async (_, parts) => (parts[1] = parts[0] ?? ""),
      expected: /part-1\.csv and .*part-1\.csv are both part 1 of 2/,
    },
    "a part that is not complete": {
      change: (_, parts) => rm(manifestPathOf(parts[1] ?? "")),
      expected: /part-2\.csv\.manifest\.json: no such file/,
    },
    "several parts that are not complete": {
      change: (_, parts) => Promise.all(parts.map((part) => rm(manifestPathOf(part)))),
      expected: /part-1\.csv\.manifest\.json: no such file[^]*part-2\.csv\.manifest\.json: no such file/,
    },
    "a part without its rows": { change: (_, parts) => rm(parts[1] ?? ""), expected: /part-2\.csv: no such file/ },
    "a part with a changed byte": {
      change: async (_, [part = ""]) => {
        const bytes = await readFile(part);
        bytes[bytes.length - 5] = (bytes.at(-5) ?? 0) ^ 1;
        await writeFile(part, bytes);
      },
      expected: /part-1\.csv does not have the SHA-256 that its manifest states/,
    },
    "a truncated part": {
      change: async (_, [part = ""]) => writeFile(part, (await readFile(part)).subarray(0, 1000)),
      expected: /part-1\.csv has 1000 bytes, and its manifest states/,
    },
    "a part of another release": {
      change: (_, parts) =>
        editManifest(parts[1], (manifest) => ({ ...manifest, atlas: { ...manifest.atlas, release: "r2" } })),
      expected: /part-2\.csv does not belong to .*part-1\.csv: release is r2 instead of demo-[^;]*\.$/m,
    },
    "a part of another version of the program": {
      change: (_, parts) => editManifest(parts[1], (manifest) => ({ ...manifest, program_version: "0.0.9" })),
      expected:
        /part-2\.csv does not belong to .*part-1\.csv: version of Isotherm is 0\.0\.9 instead of \d+\.\d+\.\d+\.$/m,
    },
    "a part with other rules": {
      change: (_, parts) =>
        editManifest(parts[1], (manifest) => ({
          ...manifest,
          hazards: manifest.hazards.map((hazard) => ({ ...hazard, rules: { threshold: 1 } })),
        })),
      expected: /the rules or sources of the atlas differ/,
    },
    "a part with other columns of the places": {
      change: (_, parts) =>
        editManifest(parts[1], (manifest) => ({
          ...manifest,
          place_columns: { id: null, latitude: "latitude", longitude: "longitude" },
        })),
      expected: /part-2\.csv does not belong to .*: the columns that identify and locate the places differ\.$/m,
    },
    "a part with other options": {
      change: async (folder, parts) => {
        const input = join(folder, "places.csv");
        await score(atlas(), {
          input,
          output: parts[1] ?? "",
          shard: { index: 2, count: 2 },
          options: { ...OPTIONS, metrics: ["depth_meters"] },
        });
      },
      expected: /part-2\.csv does not belong to .*: metrics is depth_meters instead of not set\./,
    },
    "a part of another number of shards": {
      change: (_, parts) => editManifest(parts[1], (manifest) => ({ ...manifest, shard: { index: 2, count: 3 } })),
      expected: /part-2\.csv is a part of 3, and .*part-1\.csv of 2/,
    },
    "a complete output": {
      change: (_, parts) => editManifest(parts[1], (manifest) => ({ ...manifest, shard: null })),
      expected: /part-2\.csv is a complete output, not a part/,
    },
    "a manifest without segments": {
      change: (_, parts) => editManifest(parts[1], (manifest) => ({ ...manifest, segments: [] })),
      expected: /part-2\.csv\.manifest\.json contradicts itself/,
    },
    "a manifest with a block of another part": {
      change: (_, parts) =>
        editManifest(parts[0], (manifest) => ({
          ...manifest,
          segments: manifest.segments.map((segment, i) => (i === 1 ? { ...segment, block: 4 } : segment)),
        })),
      expected: /part-1\.csv\.manifest\.json contradicts itself/,
    },
    "a manifest that is none": {
      change: (_, parts) => writeFile(manifestPathOf(parts[1] ?? ""), '{"isotherm_portfolio_manifest":1}'),
      expected: /part-2\.csv\.manifest\.json is not a manifest of isotherm portfolio/,
    },
    "a manifest that is not JSON": {
      change: (_, parts) => writeFile(manifestPathOf(parts[1] ?? ""), "{"),
      expected: /part-2\.csv\.manifest\.json is not a manifest of isotherm portfolio: it is not JSON/,
    },
    "a manifest without its part": {
      change: (_, parts) => editManifest(parts[1], ({ shard: _shard, ...manifest }) => manifest),
      expected: /part-2\.csv\.manifest\.json is not a manifest of isotherm portfolio: .*shard/,
    },
    "a manifest with too many parts": {
      change: (_, parts) => editManifest(parts[1], (manifest) => ({ ...manifest, shard: { index: 2, count: 1e11 } })),
      expected: /part-2\.csv\.manifest\.json is not a manifest of isotherm portfolio: .*count/,
    },
    "an output that is also a part": {
      change: async (folder, parts) => parts.push(join(folder, "merged.csv")),
      expected: /merged\.csv is also a part/,
    },
  };
  test.each(Object.keys(rejections))("cannot be joined with %s", async (name) => {
    await withTempFolder(async (folder) => {
      const input = await writePlaces(folder);
      const parts = [...(await writeParts(folder, { input, count: 2, extension: "csv" }))];
      await rejections[name]?.change(folder, parts);
      const merge = mergeParts({ output: join(folder, "merged.csv"), parts });
      const error: unknown = await merge.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      expect(error).toMatchObject({ code: "invalid_request" });
      const { message, items } = error as { message: string; items: readonly { detail: string }[] };
      expect([message, ...items.map(({ detail }) => detail)].join("\n")).toMatch(rejections[name]?.expected ?? /-/);
      await expect(readFile(join(folder, "merged.csv"))).rejects.toThrow(/ENOENT/);
    });
  });
});

async function editManifest(part = "", edit: (manifest: PlaceManifest) => unknown): Promise<void> {
  await writeFile(manifestPathOf(part), JSON.stringify(edit(await readManifest(part))));
}
