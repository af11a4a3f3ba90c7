import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fileFormatOf } from "../../../src/ingest/readers/fileFormat.ts";

describe("fileFormatOf", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "isotherm-format-"));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test.each([
    ["an empty file", "", "an empty file"],
    ["text", "not a map", "a format that is not recognized"],
    ["GRIB", "GRIB....", "GRIB"],
    ["CDF-5", "CDF\u0005....", "NetCDF in the CDF-5 format (nccopy -k nc4 converts it to NetCDF-4)"],
  ])("describes %s for error messages", async (_, content, description) => {
    const path = join(folder, "map");
    await writeFile(path, content);
    expect(await fileFormatOf("map", path)).toEqual({ kind: "other", description });
  });

  test("finds the signature of HDF5 after a user block", async () => {
    const path = join(folder, "map.h5");
    for (const offset of [0, 512, 1024, 65_536]) {
      await writeFile(path, Buffer.from("\0".repeat(offset) + "\u0089HDF\r\n\u001a\n", "latin1"));
      expect(await fileFormatOf("map.h5", path)).toEqual({ kind: "hdf5" });
    }
    await writeFile(path, Buffer.from("\0".repeat(1536) + "\u0089HDF\r\n\u001a\n", "latin1"));
    expect((await fileFormatOf("map.h5", path)).kind).toBe("other");
  });

  test("rejects what is neither a regular file nor a folder", async () => {
    await expect(fileFormatOf("map", "/dev/null")).rejects.toMatchObject({
      code: "source_invalid",
      message: "map: is neither a regular file nor a folder.",
    });
  });
});
