import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";

/** Reads a CSV file of test/fixtures/names, keyed by column. */
export function fixtureRows(file: string): readonly Readonly<Record<string, string>>[] {
  return parse(readFileSync(new URL(`../fixtures/names/${file}`, import.meta.url), "utf8"), { columns: true });
}
