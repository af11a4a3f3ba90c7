import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { diskBlobs as diskBlobsOfBrowsers } from "../../src/atlas/diskBlobs.browser.ts";
import { diskBlobs } from "../../src/atlas/diskBlobs.ts";
import { describeBlobsContract } from "../contracts/blobs.ts";

describeBlobsContract("a folder", async (files) => {
  const folder = await mkdtemp(join(tmpdir(), "isotherm-test-"));
  for (const [name, bytes] of files) await writeFile(join(folder, name), bytes);
  const blobs = diskBlobs(folder);
  return {
    blobs,
    done: async () => {
      await blobs.close();
      await rm(folder, { recursive: true });
    },
  };
});

test("rejects a folder in a browser", () => {
  expect(() => diskBlobsOfBrowsers("data/atlas")).toThrow(
    /must be an http or https address, or "demo" \(got "data\/atlas"\)/,
  );
});
