/** The reference tables and known answers stored beside the repository, which not every user of the project has. */
import { existsSync, readFileSync } from "node:fs";
import { describeIfShared, SHARED_FOLDER } from "../../sharedFolder.ts";
import { loadTables, tablesFrom, type Tables } from "./tables.ts";

const CASES = `${SHARED_FOLDER}cases/company.json`;
const isAvailable = existsSync(CASES);
const describeWhereAvailable = describeIfShared(["cases/company.json", "reference/industries.csv"]);

/** Declares a suite that needs these files, with the tables; skipped, with the reason printed, where they are absent. */
export function describeWithReference(title: string, suite: (tables: Tables) => void): void {
  // A skipped suite is collected like any other: it gets empty tables.
  describeWhereAvailable(title, () =>
    suite(isAvailable ? loadTables(`${SHARED_FOLDER}reference`) : tablesFrom(() => [])),
  );
}

/** The known answers; none where they are absent. */
export function readCompanyCases(): unknown {
  return isAvailable ? JSON.parse(readFileSync(CASES, "utf8")) : { companies: [] };
}
