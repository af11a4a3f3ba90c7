/**
 * The public API: what each entry point exports. After an intended change run `npm run build:public-exports` and
 * commit the list.
 */
import { readFileSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { exportsText, publicExports, SNAPSHOT } from "../scripts/publicExports.mjs";

let entries: ReturnType<typeof publicExports>;
beforeAll(() => {
  entries = publicExports();
});

test("every entry point exports exactly what the committed list contains", () => {
  const committed = readFileSync(new URL(`../${SNAPSHOT}`, import.meta.url), "utf8");
  expect(exportsText(entries).split("\n")).toEqual(committed.split("\n"));
});

test.each(["isotherm", "isotherm/ingest", "isotherm/host", "isotherm/client"])(
  "%s exports every type that its declarations mention",
  (specifier) => {
    expect(entries.get(specifier)?.hidden).toEqual([]);
  },
);
