/** Errors of files name them. */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { hashFile, readChunks } from "../../src/files/files.ts";
import { withFolderLock } from "../../src/files/folderLock.ts";

vi.mock(import("node:fs/promises"), async (importOriginal) => {
  const original = await importOriginal();
  return { ...original, writeFile: vi.fn<typeof original.writeFile>(original.writeFile) };
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "isotherm-files-"));
});
afterEach(async () => {
  await rm(folder, { recursive: true });
});

describe("an error names the file", () => {
  // A folder can be opened, but not read: as for other errors of an open file, the system does not name it.
  test.skipIf(process.platform === "win32")("that is read in chunks", async () => {
    await expect(readChunks(folder).next()).rejects.toMatchObject({ code: "EISDIR", path: folder });
  });

  test.skipIf(process.platform === "win32")("that is hashed", async () => {
    await expect(hashFile(folder)).rejects.toMatchObject({ code: "EISDIR", path: folder });
  });

  test("of the lock, if the disk is full", async () => {
    const full = Object.assign(new Error("ENOSPC: no space left on device, write"), {
      code: "ENOSPC",
      syscall: "write",
    });
    vi.mocked(writeFile).mockRejectedValueOnce(full);
    const locked = withFolderLock(join(folder, "out.partial"), "configuration_invalid", () => Promise.resolve());
    await expect(locked).rejects.toMatchObject({
      code: "ENOSPC",
      path: expect.stringContaining(join(folder, "out.partial", ".lock-")) as string,
    });
  });
});

test("chunks of a file have the requested size", async () => {
  const path = join(folder, "file");
  await writeFile(path, "abcde");
  const chunks: string[] = [];
  for await (const chunk of readChunks(path, 2)) chunks.push(chunk.toString());
  expect(chunks).toEqual(["ab", "cd", "e"]);
});
