import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { errorLines } from "../../src/cli/errorReport.ts";
import { Fault } from "../../src/errors.ts";

const HERE = fileURLToPath(import.meta.url);

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => expect.fail("expected an error"),
    (error: unknown) => error,
  );

describe("the error report", () => {
  test("prints the message of a fault and each item", () => {
    const fault = new Fault("invalid_request", "2 errors.", {
      items: [
        { parameter: "latitude", code: "out_of_range", detail: "It goes to 90." },
        { pointer: "", code: "wrong_type", detail: "It must be an object." },
      ],
    });
    expect(errorLines(fault)).toEqual(["2 errors.", "latitude: It goes to 90.", "It must be an object."]);
  });

  test("prints a single fault once, with its location", () => {
    const detail = "latitude must be a number from -90 to 90, not 146.";
    const fault = new Fault("invalid_request", detail, {
      items: [{ parameter: "latitude", code: "out_of_range", detail }],
    });
    expect(errorLines(fault)).toEqual([`latitude: ${detail}`]);
  });

  test("prints a single fault of a file on one line, with the name of the file", () => {
    const detail = "line 2, column scope1: scope1 must be a number.";
    const fault = new Fault("invalid_request", `in.csv: ${detail}`, {
      items: [{ pointer: "", code: "malformed", detail }],
    });
    expect(errorLines(fault)).toEqual([`in.csv: ${detail}`]);
  });

  test("prints the operation, path and reason of a system error", async () => {
    expect(errorLines(await errorOf(mkdir(HERE)))).toEqual([`cannot mkdir ${HERE}: file already exists (EEXIST).`]);
    const pathBelowFile = join(HERE, "atlas.json");
    expect(errorLines(await errorOf(readFile(pathBelowFile)))).toEqual([
      `cannot open ${pathBelowFile}: not a directory (ENOTDIR).`,
    ]);
    const full = Object.assign(new Error("ENOSPC: no space left on device, write"), {
      syscall: "write",
      code: "ENOSPC",
      path: "data/atlas/tiles",
      errno: -28,
    });
    expect(errorLines(full)?.[0]).toMatch(/^cannot write data\/atlas\/tiles: no space left on device.* \(ENOSPC\)\.$/);
  });

  test("does not state a target that a system error does not have", () => {
    const full = Object.assign(new Error("ENOSPC: no space left on device, write"), {
      syscall: "write",
      code: "ENOSPC",
      errno: -28,
    });
    expect(errorLines(full)?.[0]).toMatch(/^cannot write: no space left on device.* \(ENOSPC\)\.$/);
  });

  test.each([new Error("a bug"), new TypeError("undefined is not a function"), "text", undefined])(
    "returns undefined for %s, which is a bug",
    (error) => {
      expect(errorLines(error)).toBeUndefined();
    },
  );
});
