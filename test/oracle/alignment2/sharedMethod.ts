/** Reference tables, method texts and known answers stored beside the repository, which users may not have. */
import { existsSync, readFileSync } from "node:fs";
import { describeIfShared, SHARED_FOLDER } from "../../sharedFolder.ts";
import { readReference } from "./reference.ts";
import type { Reference } from "./reference.ts";

const FILES = ["reference", "methods/alignment.md", "cases/alignment.json", "cases/portfolio.json"];

/** Declares a suite that needs these files. */
export const describeWithSharedMethod = describeIfShared(FILES);

let reference: Reference | undefined;

/** Returns the reference tables, read once. */
export function sharedReference(): Reference {
  reference ??= readReference(`${SHARED_FOLDER}reference`, `${SHARED_FOLDER}methods/alignment.md`);
  return reference;
}

/** Returns the known answers of a file in `cases`; empty where the file is absent, so that suites can be declared. */
export function sharedCases(name: "alignment" | "portfolio"): unknown {
  const file = `${SHARED_FOLDER}cases/${name}.json`;
  if (!existsSync(file)) return { cases: [], entities: [] };
  return JSON.parse(readFileSync(file, "utf8"));
}
