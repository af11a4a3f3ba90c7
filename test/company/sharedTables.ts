import { existsSync, readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { expect } from "vitest";
import { SHARED_FOLDER } from "../sharedFolder.ts";

export type Row = Readonly<Record<string, string>>;

/** Reads the rows of a table beside the repository; none if it is absent, because suites are collected before they are skipped. */
export function readSharedRows(table: string): readonly Row[] {
  const file = `${SHARED_FOLDER}reference/${table}.csv`;
  return existsSync(file) ? parse<Row>(readFileSync(file, "utf8"), { columns: true, bom: true }) : [];
}

export function text(row: Row, column: string): string {
  return row[column] ?? expect.fail(`no column ${column}`);
}

export function number(row: Row, column: string): number {
  const cell = text(row, column);
  return cell === "" ? expect.fail(`${column} is empty`) : Number(cell);
}
