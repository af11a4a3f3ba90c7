import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { CATALOG_NAME, type Catalog, decodeCatalog, catalogGridOf } from "../../src/atlas/catalog.ts";
import { diskBlobs } from "../../src/atlas/diskBlobs.ts";
import { publish, readCatalog } from "../../src/atlas/writer.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { FLOODS, GRID } from "./floodFixture.ts";
import { makeAtlas, withTempFolder } from "./makeAtlas.ts";

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

describe("publishing", () => {
  const catalogOf = (hazards: Catalog["hazards"], release: string): Omit<Catalog, "sha256"> => ({
    format: "isotherm-atlas",
    format_version: 1,
    release,
    created_at: "2026-01-01T00:00:00.000Z",
    synthetic: true,
    hazards,
  });

  test("rejects an unreadable catalog, and leaves only the old one", async () => {
    await withTempFolder(async (folder) => {
      await makeAtlas(kernel, folder, [FLOODS]);
      const before = await readFile(join(folder, CATALOG_NAME));
      const names = await readdir(folder);
      const grid = catalogGridOf({ ...GRID, northDeg: 95 });
      await expect(
        publish(folder, (current) =>
          catalogOf(
            (current?.hazards ?? []).map((hazard) => ({ ...hazard, grid })),
            "bad-grid",
          ),
        ),
      ).rejects.toThrow(/between the poles/);
      await expect(publish(folder, () => catalogOf([], "no good name"))).rejects.toThrow("/release");
      expect((await readFile(join(folder, CATALOG_NAME))).equals(before)).toBe(true);
      expect(await readdir(folder)).toEqual(names);
    });
  });

  test("leaves one complete catalog and no temporary files after concurrent calls", async () => {
    await withTempFolder(async (folder) => {
      const releases = Array.from({ length: 12 }, (_, i) => `release-${i}`);
      await Promise.all(releases.map((release) => publish(folder, () => catalogOf([], release))));
      expect(releases).toContain((await readCatalog(folder))?.release);
      expect(await readdir(folder)).toEqual([CATALOG_NAME]);
    });
  });

  test("gives a concurrent reader the old catalog or the new one, never a part of either", async () => {
    await withTempFolder(async (folder) => {
      await publish(folder, () => catalogOf([], "a-release-with-a-long-name"));
      const blobs = diskBlobs(folder);
      const sizeBytes = (await blobs.sizeBytes(CATALOG_NAME)) ?? 0;
      await publish(folder, () => catalogOf([], "b"));
      const bytes = await blobs.read(CATALOG_NAME, { offset: 0, sizeBytes });
      expect((await decodeCatalog(bytes)).release).toBe("a-release-with-a-long-name");
      await blobs.close();
      expect((await readCatalog(folder))?.release).toBe("b");
    });
  });

  test("names the folder and the file of a damaged catalog, and finds no catalog if the folder is a file", async () => {
    await withTempFolder(async (folder) => {
      await mkdir(join(folder, "atlas"));
      await writeFile(join(folder, "atlas", CATALOG_NAME), "{");
      await expect(readCatalog(join(folder, "atlas"))).rejects.toThrow(
        `${join(folder, "atlas")}/${CATALOG_NAME}: it must be JSON in UTF-8`,
      );
      expect(await readCatalog(join(folder, "atlas", CATALOG_NAME))).toBeUndefined();
    });
  });
});
