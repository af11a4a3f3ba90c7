import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

/** Known answers and figures that lie beside the repository where it is developed; not every user of it has them. */
const SHARED = fileURLToPath(new URL("../../../shared/", import.meta.url));
const isHere = existsSync(`${SHARED}cases/alignment.json`) && existsSync(`${SHARED}reference/industries.csv`);
if (!isHere) {
  // On CI a skipped test would be a check that cannot fail.
  if (process.env["CI"] === "true") throw new Error(`${SHARED}cases and reference are needed on CI and not there.`);
  console.warn("skipped: ../shared/cases and ../shared/reference are not here, and with them the known answers");
}

/** The version of both methods (temperature alignment, company risk) that src/ implements. */
const METHOD_VERSION = 1;
const givenVersion = isHere ? versionOf("cases/alignment.json") : METHOD_VERSION;
if (givenVersion !== METHOD_VERSION) {
  console.warn(
    `not run: ../shared states known answers of method version ${givenVersion}, src/ implements version ${METHOD_VERSION}`,
  );
}

/**
 * Declares a suite that needs those files: skipped, with the reason printed, where they are absent. Figures of another
 * version of the methods prove nothing about this one: the suite is then replaced by a test that states the mismatch.
 */
export const describeWithReference: (name: string, suite: () => void) => void =
  givenVersion === METHOD_VERSION ? describe.skipIf(!isHere) : declareMismatch;

function declareMismatch(name: string): void {
  test(`${name}: not compared, the figures are of method version ${givenVersion}`, () => {
    expect(givenVersion).not.toBe(METHOD_VERSION);
  });
}

function versionOf(path: string): number {
  const { version } = JSON.parse(readFileSync(`${SHARED}${path}`, "utf8")) as { readonly version?: number };
  return version ?? 1;
}

/** A JSON file among them; an empty object where they are absent, since suites are put together before they are skipped. */
export function readShared(path: string): unknown {
  return isHere ? JSON.parse(readFileSync(`${SHARED}${path}`, "utf8")) : {};
}

/** The rows of a CSV file among them, by column. */
export function readSharedRows(path: string): readonly Readonly<Record<string, string>>[] {
  if (!isHere) return [];
  const [head = [], ...rows] = readFileSync(`${SHARED}${path}`, "utf8").trim().split("\n").map(fieldsOf);
  return rows.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i] ?? ""])));
}

function fieldsOf(line: string): readonly string[] {
  return [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, quoted, plain = ""]) => quoted?.replaceAll('""', '"') ?? plain.trim(),
  );
}
