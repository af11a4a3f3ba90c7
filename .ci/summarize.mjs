// Prints the totals of the test reports; the last line is "N passed, N failed". The arguments are the steps that
// failed. Fails if a test was skipped, because a skipped test may hide a failure. Only tests that read ../shared may be
// skipped, because that folder is not part of the project (see test/sharedFolder.ts). Failed tests, and those that
// passed only on their second try, are listed with the first line of their errors. Also prints the files that took
// longest, and the time of each folder.
import { readFileSync } from "node:fs";

const SHARED_SUFFIX = " (skipped: no ../shared)";
const REPORTS = (process.env.ISOTHERM_TEST_REPORTS ?? "build/test-report.json").split(",");
const SLOWEST_COUNT = 30;

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
    printDurations(report.testResults);
    totals.passed += report.numPassedTests;
    totals.failed += report.numFailedTests + (rejected.length > 0 ? 1 : 0);
  } catch (error) {
    console.log(`${file}: no report (${error.message})`);
    totals.failed++;
  }
}
/** Prints elapsed times. Files run at the same time, so their sum is longer than the run. */
function printDurations(testResults) {
  const root = `${process.cwd()}/`;
  const files = testResults
    .map(({ name = "", startTime, endTime }) => ({
      name: name.replace(root, ""),
      seconds: (endTime - startTime) / 1000,
    }))
    .filter(({ seconds }) => seconds > 0)
    .toSorted((a, b) => b.seconds - a.seconds);
  const folders = new Map();
  for (const { name, seconds } of files) {
    const kind = /\.(system|exhaustive)\.test\.ts$/.exec(name)?.[1] ?? "unit";
    const folder = `${name.split("/").slice(0, 2).join("/")} (${kind})`;
    folders.set(folder, (folders.get(folder) ?? 0) + seconds);
  }
  const print = (title, rows) => {
    console.log(title);
    for (const [name, seconds] of rows) console.log(`${seconds.toFixed(1).padStart(8)} s  ${name}`);
  };
  print(
    `the ${SLOWEST_COUNT} slowest files:`,
    files.slice(0, SLOWEST_COUNT).map(({ name, seconds }) => [name, seconds]),
  );
  print(
    "the time of each folder:",
    [...folders].toSorted(([, a], [, b]) => b - a),
  );
}

for (const step of failedSteps) console.log(`failed: ${step}`);
// A step can fail without a failed test, for example in the style check.
if (failedSteps.length > 0 && totals.failed === 0) totals.failed = failedSteps.length;
console.log(`${totals.passed} passed, ${totals.failed} failed`);
process.exitCode = totals.failed === 0 ? 0 : 1;
