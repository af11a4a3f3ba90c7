import { dirname, relative } from "node:path";
import { expect, test } from "vitest";

/**
 * Declares a test that shows that a campaign would notice an injected fault. It runs with `npm run test:campaigns`, and
 * in every run if a file in its folder or in `test/faults/` has changed.
 */
export function faultTest(title: string, body: () => Promise<void>, timeoutMs: number): void {
  const folder = dirname(relative(process.cwd(), expect.getState().testPath ?? ""));
  const changed = (process.env["ISOTHERM_CHANGED_CAMPAIGNS"] ?? "").split(",");
  const isIncluded = process.env["ISOTHERM_CAMPAIGNS"] === "1" || changed.includes(folder);
  test.for(isIncluded ? [title] : [])("%s", { timeout: timeoutMs }, body);
}
