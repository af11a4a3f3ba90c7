/** docs/library.md lists the options of the calls of the library. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ALIGNMENT_OPTIONS } from "../src/client/options.ts";
import { Fault } from "../src/errors.ts";
import { alignTemperature, openAtlas } from "../src/index.ts";
import { checkIngestOptions, type IngestOptions } from "../src/ingest/options.ts";
import { parsePlaceOptions } from "../src/places/scores/placeOptions.ts";
import { codeSpansIn, tableRows } from "./documentTables.ts";

const PAGE = readFileSync(new URL("../docs/library.md", import.meta.url), "utf8");
const UNKNOWN = { notAnOption: 1 };

/** Returns the names that the error about an unknown option lists. */
async function knownNames(call: (options: object) => unknown): Promise<readonly string[]> {
  try {
    await call(UNKNOWN);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const item = error.items.find(({ pointer }) => pointer === "/notAnOption");
    return (item?.allowed ?? []).map(String);
  }
  throw new Error("an unknown option must be rejected");
}

/** Returns the rows of the table with this heading that contains a text; several tables have the same heading. */
function rowsWith(heading: string, text: string): ReturnType<typeof tableRows> {
  const tables = PAGE.split(/\n\n+/).filter((block) => block.startsWith(`| ${heading} `));
  const table = tables.find((block) => block.includes(`\`${text}\``));
  if (table === undefined) throw new Error(`docs/library.md has no table of ${heading} with ${text}`);
  return tableRows(table, heading);
}

/** Returns the names in the first column of the table that has a row for this option. */
const namesListedWith = (heading: string, option: string): readonly string[] =>
  rowsWith(heading, option).flatMap(([name = ""]) => codeSpansIn(name));

test.each<readonly [string, (options: object) => unknown, string, string]>([
  ["openAtlas", (options) => openAtlas("demo", options), "option of `openAtlas`", "workers"],
  ["alignTemperature", (options) => alignTemperature([], options), "option", "scope3Weight"],
  ["scorePortfolio", (options) => parsePlaceOptions(options), "option", "thresholds"],
])("docs/library.md lists the options of %s", async (_name, call, heading, option) => {
  expect(namesListedWith(heading, option).toSorted()).toEqual((await knownNames(call)).toSorted());
});

test("docs/library.md lists the options of ingests", async () => {
  const known = await knownNames((options) =>
    checkIngestOptions(options as IngestOptions, { sources: {}, manifest: {} }),
  );
  // `nodata` may be infinite and is checked separately.
  expect(namesListedWith("option", "holdFlat").toSorted()).toEqual([...known, "nodata"].toSorted());
});

test("docs/library.md lists the options of the client's alignTemperature", () => {
  const call = "alignTemperature(entities)";
  const [, options = ""] = rowsWith("method", call).find(([method = ""]) => codeSpansIn(method).includes(call)) ?? [];
  const own = Object.keys(ALIGNMENT_OPTIONS).filter((name) => name !== "signal" && name !== "customerId");
  expect(codeSpansIn(options).toSorted()).toEqual(own.toSorted());
});
