import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

/** Known answers and reference figures outside of the repository, which users may not have. */
const SHARED = fileURLToPath(new URL("../../../shared/", import.meta.url));
const isPresent = existsSync(`${SHARED}cases/alignment.json`) && existsSync(`${SHARED}reference/industries.csv`);
if (!isPresent) {
  // On CI these tests must not be skipped.
  if (process.env["CI"] === "true")
    throw new Error(`${SHARED}cases and ${SHARED}reference are required on CI but missing.`);
  console.warn("skipped: the known answers in ../shared/cases and ../shared/reference are missing");
}

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
  givenVersion === METHOD_VERSION ? describe.skipIf(!isPresent) : declareMismatch;

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
