import { readdirSync, readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";

/** Tables of names, whose rows have no source column. */
const TABLES_OF_NAMES = new Set([
  // The column `system` names the classification.
  "src/reference/data/industryClasses.csv",
  // A list that was collected for this project; the column `note` gives the reason for a judgment.
  "src/reference/data/industrySpellings.csv",
]);

const tables = ["alignment", "company", "reference"]
  .flatMap((module) => readdirSync(`src/${module}/data`).map((file) => `src/${module}/data/${file}`))
  .filter((file) => file.endsWith(".csv") && !TABLES_OF_NAMES.has(file));

test("there are tables in three modules", () => {
  expect(tables.length).toBeGreaterThan(12);
});

test.each(tables)("every row of %s names its source", (file) => {
  const rows: Readonly<Record<string, string>>[] = parse(readFileSync(file), { columns: true, bom: true });
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) expect(row["source"] ?? row["factor_source"]).toMatch(/\S/);
});
