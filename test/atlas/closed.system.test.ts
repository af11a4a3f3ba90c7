import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Blobs } from "../../src/atlas/blobs.ts";
import { diskBlobs } from "../../src/atlas/diskBlobs.ts";
import { httpBlobs } from "../../src/atlas/httpBlobs.ts";
import { filesOf, type RangeServer, startRangeServer } from "./rangeServer.ts";

let folder: string;
let server: RangeServer;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  for (const name of ["read.tiles", "fresh.tiles"]) await writeFile(join(folder, name), "0123456789");
  server = await startRangeServer(filesOf(folder));
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const openFileCount = async (): Promise<number> => (await readdir("/proc/self/fd")).length;

describe("closed storage", () => {
  const KINDS: readonly (readonly [string, () => Blobs])[] = [
    ["a folder", () => diskBlobs(folder)],
    ["a web server", () => httpBlobs(server.url)],
  ];
  test.each(KINDS)("in %s rejects reads of files that were read before and of other files", async (_, open) => {
    const blobs = open();
    await blobs.read("read.tiles", { offset: 0, sizeBytes: 4 });
    await blobs.close();
    for (const name of ["read.tiles", "fresh.tiles"]) {
      await expect(blobs.read(name, { offset: 0, sizeBytes: 4 })).rejects.toMatchObject({
        code: "atlas_unavailable",
        message: expect.stringContaining("the atlas is closed") as string,
      });
    }
    await expect(blobs.sizeBytes("fresh.tiles")).rejects.toMatchObject({ code: "atlas_unavailable" });
  });

  test.runIf(process.platform === "linux")("leaves no file open if it is read after closing", async () => {
    const before = await openFileCount();
    for (let i = 0; i < 20; i++) {
      const blobs = diskBlobs(folder);
      await blobs.read("read.tiles", { offset: 0, sizeBytes: 4 });
      await blobs.close();
      await blobs.read("fresh.tiles", { offset: 0, sizeBytes: 4 }).catch(() => undefined);
    }
    expect(await openFileCount()).toBeLessThan(before + 10);
  });
});
