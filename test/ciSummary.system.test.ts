import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "isotherm-summary-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const SHARED_SUITE = "known answers (skipped: no ../shared)";

/** Summarizes a report with one passed test and these skipped ones. */
function summarize(skipped: readonly { readonly suite: string; readonly status: string }[]) {
  const file = join(folder, "report.json");
  const assertionResults = skipped.map(({ suite, status }) => ({
    ancestorTitles: [suite],
    fullName: `${suite} example`,
    status,
  }));
  writeFileSync(file, JSON.stringify({ numPassedTests: 1, numFailedTests: 0, testResults: [{ assertionResults }] }));
  const env = { ...process.env, ISOTHERM_TEST_REPORTS: file };
  const { stdout, status } = spawnSync(process.execPath, [".ci/summarize.mjs"], { env, encoding: "utf8" });
  return { stdout, status };
}

describe("the summary of the tests on CI", () => {
  test("accepts and counts skipped tests of ../shared", () => {
    const { stdout, status } = summarize([{ suite: SHARED_SUITE, status: "skipped" }]);
    expect(stdout).toContain("1 skipped (1 because there is no ../shared)");
    expect([stdout.trim().split("\n").at(-1), status]).toEqual(["1 passed, 0 failed", 0]);
  });

  test.each(["skipped", "pending", "todo"])("fails and names a test with status %s for another reason", (other) => {
    const { stdout, status } = summarize([
      { suite: SHARED_SUITE, status: "skipped" },
      { suite: "storage", status: other },
    ]);
    expect(stdout).toContain("skipped: storage example");
    expect([stdout.trim().split("\n").at(-1), status]).toEqual(["1 passed, 1 failed", 1]);
  });
});
