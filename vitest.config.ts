import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { changedCampaignFolders, filesOutsideGate } from "./scripts/campaigns.mjs";
import { isolatedTests } from "./scripts/isolatedTests.mjs";

/** `ISOTHERM_KERNEL=debug` runs the tests with the debug kernel, which has assertions and function names. */
const isDebugKernel = process.env["ISOTHERM_KERNEL"] === "debug";
const DEBUG_KERNEL = fileURLToPath(new URL("build/debug/kernel.generated.mjs", import.meta.url));

/** `npm run test:campaigns` runs the tests that are too slow for `npm test`, which runs them after changes only. */
const isCampaignRun = process.env["ISOTHERM_CAMPAIGNS"] === "1";
const OUTSIDE_GATE = isCampaignRun ? [] : filesOutsideGate();
/** Test files at a time. Most files of the system project wait for services, disks and databases. */
const WORKERS = { unit: Math.max(2, availableParallelism() - 1), system: 2 * availableParallelism() + 1 };

function unitTestsIn(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => /^\w+\.test\.ts$/.test(name));
  return names.map((name) => `${folder}/${name}`);
}

const UNIT = {
  include: ["test/**/*.test.ts"],
  exclude: ["test/**/*.{system,exhaustive}.test.ts"],
  globalSetup: "test/generatedSources.mjs",
  setupFiles: "test/unitGuard.ts",
};
/** Tests that would affect others if they shared module instances. */
const ISOLATED_FILES = isolatedTests();

/**
 * Three kinds of tests, by file name; test/testProjects.test.ts enforces the rule.
 *
 *   x.test.ts             unit        this process only: no processes, sockets, browser, database or built files
 *   x.exhaustive.test.ts  exhaustive  like unit, but takes several seconds of processor time
 *   x.system.test.ts      system      everything else; needs `npm run build`
 */
export default defineConfig({
  resolve: { alias: isDebugKernel ? [{ find: /^.*\/kernel\.generated\.ts$/, replacement: DEBUG_KERNEL }] : [] },
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    maxWorkers: WORKERS.unit,
    // The workers keep all cores busy, so threads that collect garbage in parallel would only add work.
    execArgv: ["--single-threaded-gc"],
    // On a busy machine, polled conditions may take long.
    expect: { poll: { timeout: 20_000 } },
    reporters: ["default", "json"],
    outputFile: { json: process.env["ISOTHERM_TEST_REPORT"] ?? "build/test-report.json" },
    // The generated sources are written when a run starts, so a change of their inputs triggers the tests that cover them.
    watchTriggerPatterns: [
      { pattern: /\/assembly\/.*\.ts$/, testsToRun: () => unitTestsIn("test/kernel") },
      {
        pattern: /\/src\/\w+\/data\/\w+\.csv$/,
        testsToRun: () => ["test/reference", "test/company", "test/alignment"].flatMap(unitTestsIn),
      },
    ],
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["src/**/*.generated.ts"],
      reporter: ["text", "json-summary"],
    },
    projects: [
      {
        extends: true,
        test: {
          ...UNIT,
          name: "unit",
          exclude: [...UNIT.exclude, ...ISOLATED_FILES],
          // Modules are loaded once per worker instead of once per file, which saves a third of the time.
          isolate: false,
        },
      },
      { extends: true, test: { ...UNIT, name: "unit-isolated", include: ISOLATED_FILES } },
      {
        extends: true,
        test: {
          ...UNIT,
          name: "exhaustive",
          include: ["test/**/*.exhaustive.test.ts"],
          exclude: OUTSIDE_GATE,
          isolate: false,
          // Some take a quarter of a minute on an idle machine.
          testTimeout: 300_000,
        },
      },
      {
        extends: true,
        test: {
          name: "system",
          // On CI, where the tests of processes and sockets share two cores, a failed one is run once more.
          // .ci/summarize.mjs names the tests that needed it.
          retry: process.env["CI"] === "true" ? 1 : 0,
          // Tests that start a process per command take a minute on a busy machine.
          testTimeout: 240_000,
          hookTimeout: 240_000,
          include: ["test/**/*.system.test.ts"],
          exclude: OUTSIDE_GATE,
          env: { ISOTHERM_CHANGED_CAMPAIGNS: changedCampaignFolders().join(",") },
          maxWorkers: WORKERS.system,
          // After the other projects, which have another number of workers.
          sequence: { groupOrder: 1 },
          globalSetup: "test/generatedSources.mjs",
        },
      },
    ],
  },
});
