import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { refusalLines } from "../../src/cli/refusal.ts";
import { Fault } from "../../src/errors.ts";

const HERE = fileURLToPath(import.meta.url);

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.fail("it was not refused"),
    (error: unknown) => error,
  );

describe("what the command line tells of an error", () => {
  test("of a fault: its message, and every place", () => {
    const fault = new Fault("invalid_request", "Two things are wrong.", {
      items: [
        { parameter: "latitude", code: "out_of_range", detail: "It goes to 90." },
        { pointer: "", code: "wrong_type", detail: "It must be an object." },
      ],
    });
    expect(refusalLines(fault)).toEqual(["Two things are wrong.", "latitude: It goes to 90.", "It must be an object."]);
  });

  test("of a fault in one place: its message, once, and where", () => {
    const detail = "latitude must be between -90 and 90 (got 146).";
    const fault = new Fault("invalid_request", detail, {
      items: [{ parameter: "latitude", code: "out_of_range", detail }],
    });
    expect(refusalLines(fault)).toEqual([`latitude: ${detail}`]);
  });

  test("of the system: what was tried, on which file, and why not", async () => {
    expect(refusalLines(await errorOf(mkdir(HERE)))).toEqual([`cannot mkdir ${HERE}: file already exists (EEXIST).`]);
    const beneath = join(HERE, "atlas.json");
    expect(refusalLines(await errorOf(readFile(beneath)))).toEqual([
      `cannot open ${beneath}: not a directory (ENOTDIR).`,
    ]);
    const full = Object.assign(new Error("ENOSPC: no space left on device, write"), {
      syscall: "write",
      code: "ENOSPC",
      path: "data/atlas/tiles",
      errno: -28,
    });
    expect(refusalLines(full)?.[0]).toMatch(
      /^cannot write data\/atlas\/tiles: no space left on device.* \(ENOSPC\)\.$/,
    );
  });

  test.each([new Error("a bug"), new TypeError("undefined is not a function"), "text", undefined])(
    "of anything else nothing: %s is a bug, to be seen with its stack",
    (error) => {
      expect(refusalLines(error)).toBeUndefined();
    },
  );
});
