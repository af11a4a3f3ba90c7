import { readFile } from "node:fs/promises";
import { format, resolveConfig } from "prettier";
import { expect, test } from "vitest";
import { plausibilityPage } from "../scripts/plausibilityPage.mjs";

/** Computed by the script from `dist/index.js`. */
const PAGE = new URL("../docs/methods/plausibility.md", import.meta.url);

test("the plausibility page has the results of both methods; run scripts/plausibilityPage.mjs to update it", async () => {
  const options = await resolveConfig(PAGE);
  const page = await format(await plausibilityPage(), { ...options, parser: "markdown" });
  expect(page).toBe(await readFile(PAGE, "utf8"));
});
