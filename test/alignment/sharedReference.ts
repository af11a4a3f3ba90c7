import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { describeIfShared, SHARED_FOLDER as SHARED } from "../sharedFolder.ts";

/** Known answers and reference figures. */
const FILES = ["cases/alignment.json", "reference/industries.csv"];
const isPresent = FILES.every((file) => existsSync(SHARED + file));

/** The version of both methods (temperature alignment, company risk) that src/ implements. */
const METHOD_VERSION = 1;
const givenVersion = isPresent ? versionOf("cases/alignment.json") : METHOD_VERSION;
if (givenVersion !== METHOD_VERSION) {
  console.warn(
    `not run: ../shared has known answers of method version ${givenVersion}, but src/ implements version ${METHOD_VERSION}`,
  );
}

/**
 * Declares a suite that needs those files. It is skipped with a printed reason if they are absent, and replaced by a test
 * that states the mismatch if they belong to another version of the methods.
 */
export const describeWithReference: (name: string, suite: () => void) => void =
  givenVersion === METHOD_VERSION ? describeIfShared(FILES) : declareMismatch;

function declareMismatch(name: string): void {
  test(`${name}: not compared, the reference has method version ${givenVersion}`, () => {
    expect(givenVersion).not.toBe(METHOD_VERSION);
  });
}

function versionOf(path: string): number {
  const { version } = JSON.parse(readFileSync(`${SHARED}${path}`, "utf8")) as { readonly version?: number };
  return version ?? 1;
}

/** Reads a shared JSON file; an empty object if absent, because suites are collected before they are skipped. */
export function readShared(path: string): unknown {
  return isPresent ? JSON.parse(readFileSync(`${SHARED}${path}`, "utf8")) : {};
}

/** Reads the rows of a shared CSV file, keyed by column; no rows if absent. */
export function readSharedRows(path: string): readonly Readonly<Record<string, string>>[] {
  if (!isPresent) return [];
  const [head = [], ...rows] = readFileSync(`${SHARED}${path}`, "utf8").trim().split("\n").map(fieldsOf);
  return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i] ?? ""])));
}

function fieldsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain = ""]) => quoted?.replaceAll('""', '"') ?? plain.trim(),
  );
}
