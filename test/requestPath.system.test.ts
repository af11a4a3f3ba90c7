/** The length of the path of a GET, from the socket to the kernel, which a reader follows: see scripts/requestPath.mjs. */
import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";

/** The goal is 14 files and 30 functions. */
const FILE_COUNT_MAX = 19;
const FUNCTION_COUNT_MAX = 41;

test("a GET of a point enters few files and functions before the kernel", { timeout: 60_000 }, () => {
  const { stdout, stderr } = spawnSync(process.execPath, ["scripts/requestPath.mjs", "--functions"], {
    encoding: "utf8",
  });
  const [, files, functions] = /^toKernel: ([0-9]+) files, ([0-9]+) functions$/m.exec(stdout) ?? [];
  expect(Number(files), stdout + stderr).toBeLessThanOrEqual(FILE_COUNT_MAX);
  expect(Number(functions), stdout).toBeLessThanOrEqual(FUNCTION_COUNT_MAX);
});
