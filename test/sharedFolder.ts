import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe } from "vitest";

/**
 * Folder next to the repository with public maps, known answers and reference figures. It is not part of the project
 * and may be absent.
 */
export const SHARED_FOLDER = fileURLToPath(new URL("../../shared/", import.meta.url));

/** In the titles of skipped suites; `.ci/summarize.mjs` accepts only skipped tests with this suffix. */
const SKIP_SUFFIX = " (skipped: no ../shared)";

/**
 * Declares a suite that reads files of `SHARED_FOLDER`. It is skipped with a printed reason if one of the files is missing.
 *
 * @throws Error if `CI` is true and the folder exists without the files: CI may skip the suite only if there is no folder
 */
export function describeIfShared(files: readonly string[]): (name: string, suite: () => void) => void {
  const missing = files.filter((file) => !existsSync(SHARED_FOLDER + file));
  if (missing.length === 0) return describe;
  if (process.env["CI"] === "true" && existsSync(SHARED_FOLDER)) {
    throw new Error(`CI requires ${missing.join(" and ")} in ${SHARED_FOLDER}`);
  }
  console.warn(`skipped: ../shared lacks ${missing.join(" and ")}, so the tests that read them do not run`);
  const skip = describe.skipIf(true);
  return (name, suite) => skip(name + SKIP_SUFFIX, suite);
}
