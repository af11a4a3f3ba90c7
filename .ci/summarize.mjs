// Prints the totals of the test reports; the last line is "N passed, N failed". The arguments are the steps that
// failed. Fails if a test was skipped, because a skipped test may hide a failure. Only tests that read ../shared may be
// skipped, because that folder is not part of the project (see test/sharedFolder.ts). Failed tests, and those that
// passed only on their second try, are listed with the first line of their errors.
import { readFileSync } from "node:fs";

const SHARED_SUFFIX = " (skipped: no ../shared)";
const REPORTS = (process.env.ISOTHERM_TEST_REPORTS ?? "build/test-report.json").split(",");

const failedSteps = process.argv.slice(2);
const totals = { passed: 0, failed: 0 };
for (const file of REPORTS) {
  try {
    const report = JSON.parse(readFileSync(file, "utf8"));
    const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
    const skipped = tests.filter(({ status }) => status !== "passed" && status !== "failed");
    const accepted = skipped.filter(({ ancestorTitles }) =>
      ancestorTitles.some((title) => title.endsWith(SHARED_SUFFIX)),
    );
    const rejected = skipped.filter((test) => !accepted.includes(test));
    console.log(
      `${file}: ${report.numPassedTests} passed, ${report.numFailedTests} failed, ${skipped.length} skipped ` +
        `(${accepted.length} because there is no ../shared)`,
    );
    for (const { fullName } of rejected) console.log(`skipped: ${fullName}`);
    for (const { status, fullName, failureMessages = [] } of tests) {
      if (failureMessages.length === 0) continue;
      const error = failureMessages[0].split("\n", 1)[0];
      console.log(`${status === "failed" ? "failed" : "passed on its second try"}: ${fullName}: ${error}`);
    }
    totals.passed += report.numPassedTests;
    totals.failed += report.numFailedTests + (rejected.length > 0 ? 1 : 0);
  } catch (error) {
    console.log(`${file}: no report (${error.message})`);
    totals.failed++;
  }
}
for (const step of failedSteps) console.log(`failed: ${step}`);
// A step can fail without a failed test, for example in the style check.
if (failedSteps.length > 0 && totals.failed === 0) totals.failed = failedSteps.length;
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = totals.failed === 0 ? 0 : 1;
