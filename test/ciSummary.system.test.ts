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

interface ReportedTest {
  readonly suite: string;
  readonly status: string;
  readonly failureMessages?: readonly string[];
}

/** Summarizes a report with one passed test and these other ones. */
function summarize(others: readonly ReportedTest[]) {
  const file = join(folder, "report.json");
  const assertionResults = others.map(({ suite, ...test }) => ({
    ancestorTitles: [suite],
    fullName: `${suite} example`,
    ...test,
  }));
  const numFailedTests = others.filter(({ status }) => status === "failed").length;
  writeFileSync(
    file,
    JSON.stringify({
      numPassedTests: 1,
      numFailedTests,
      testResults: [
        { name: join(process.cwd(), "test/ledger/a.system.test.ts"), startTime: 1000, endTime: 3500, assertionResults },
      ],
    }),
  );
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

  test("prints the slowest files and the time of each folder", () => {
    const { stdout } = summarize([]);
    expect(stdout).toMatch(/the 30 slowest files:\n +2\.5 s {2}test\/ledger\/a\.system\.test\.ts\n/);
    expect(stdout).toMatch(/the time of each folder:\n +2\.5 s {2}test\/ledger \(system\)\n/);
  });

  test("names tests that failed, and those that passed only on their second try", () => {
    const { stdout, status } = summarize([
      { suite: "storage", status: "failed", failureMessages: ["AssertionError: expected 1 to be 2\n    at line 5"] },
      { suite: "network", status: "passed", failureMessages: ["Error: refused\n    at line 7"] },
    ]);
    expect(stdout).toContain("\nfailed: storage example: AssertionError: expected 1 to be 2\n");
    expect(stdout).toContain("\npassed on its second try: network example: Error: refused\n");
    expect([stdout.trim().split("\n").at(-1), status]).toEqual(["1 passed, 1 failed", 1]);
  });
});
