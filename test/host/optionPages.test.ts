/** The options of the HTTP service are documented in docs/embedding.md and docs/library.md. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { Fault } from "../../src/errors.ts";
import { readHandlerOptions, readServeOptions, type ServeOptions } from "../../src/host/options.ts";
import { codeSpansIn, tableRows } from "../documentTables.ts";

const read = (page: string): string => readFileSync(new URL(`../../docs/${page}`, import.meta.url), "utf8");
const [embedding, library] = [read("embedding.md"), read("library.md")];

/** Returns the names of all options: those that the error about an unknown one lists. @param group the object that has them */
function knownNames(readOptions: (options: ServeOptions) => unknown, group?: string): readonly string[] {
  const unknown = { notAnOption: 1 };
  const options = group === undefined ? unknown : { [group]: unknown };
  try {
    readOptions(options as unknown as ServeOptions);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const item = error.items.find(({ pointer }) => pointer?.endsWith("/notAnOption"));
    return (item?.allowed ?? []).map(String);
  }
  throw new Error("an unknown option must be rejected");
}

/** Returns the names in the first column of a table, by its heading. */
const firstColumn = (page: string, heading: string): readonly string[] =>
  tableRows(page, heading).flatMap(([name = ""]) => codeSpansIn(name));

/** Returns the names of timeouts in the row of a table. */
function timeoutsIn(page: string, heading: string): readonly string[] {
  const [, meaning = ""] = tableRows(page, heading).find(([name]) => name === "`timeouts`") ?? [];
  return codeSpansIn(meaning);
}

describe("docs/embedding.md", () => {
  test("lists every option of createHandler", () => {
    expect(firstColumn(embedding, "option").toSorted()).toEqual(knownNames(readHandlerOptions).toSorted());
  });

  test.each(["limits", "load", "clients"])("lists every field of %s", (group) => {
    const listed = firstColumn(embedding, `field of \`${group}\``);
    expect(listed.toSorted()).toEqual(knownNames(readHandlerOptions, group).toSorted());
  });

  test("names every timeout of createHandler", () => {
    const names = timeoutsIn(embedding, "option").filter((name) => !["close", "jobDeadlineMs"].includes(name));
    expect(names.toSorted()).toEqual(knownNames(readHandlerOptions, "timeouts").toSorted());
  });
});

describe("docs/library.md", () => {
  test("lists every option that only serve has", () => {
    const shared = new Set(knownNames(readHandlerOptions).filter((name) => name !== "timeouts"));
    const ofServe = knownNames(readServeOptions).filter((name) => !shared.has(name));
    expect(firstColumn(library, "option of `serve`").toSorted()).toEqual(ofServe.toSorted());
  });

  test("names every timeout of serve", () => {
    const names = timeoutsIn(library, "option of `serve`");
    expect(names.toSorted()).toEqual(knownNames(readServeOptions, "timeouts").toSorted());
  });
});
