import { Fault } from "../../errors.ts";
import { quote } from "../../validation/schemaErrors.ts";
import type { PlaceSummary } from "./placeSummary.ts";
import { keptColumnNames, scoreLayoutOf } from "./scoreColumns.ts";
import { type PlaceColumnNames, ScoreRows } from "./scoreRows.ts";
import type { ScoreTable } from "./scoreTable.ts";
import { SummaryCollector } from "./summaryCollector.ts";
import type { StatedScores, SummaryOptions } from "./summaryOptions.ts";

/**
 * Summarizes an output of `isotherm portfolio`, in either layout, in one pass.
 *
 * @param places.stated what the manifest of the file states; undefined if there is no manifest
 * @throws Fault `invalid_request` if the file is not such an output, `configuration_invalid` if an option names a column
 *   that it does not have
 */
export async function summarizeTable(
  table: ScoreTable,
  options: SummaryOptions,
  {
    columns,
    stated,
    onBytes,
  }: {
    readonly columns: Omit<PlaceColumnNames, "groupBy">;
    readonly stated?: StatedScores | undefined;
    readonly onBytes?: (sizeBytes: number) => void;
  },
): Promise<PlaceSummary> {
  const layout = scoreLayoutOf(table.columnNames, stated?.groups);
  const { groupBy } = options;
  const keptNames = keptColumnNames(table.columnNames, layout);
  const { shown = [] } = columns;
  const missing = [...(groupBy === undefined ? [] : [groupBy]), ...shown].filter((name) => !keptNames.includes(name));
  if (missing.length > 0) {
    const message =
      `The file has no kept column ${missing.map(quote).join(" and no ")}: ` +
      `the columns are ${keptNames.map(quote).join(", ")}.`;
    throw new Fault("configuration_invalid", message);
  }
  const collector = new SummaryCollector(options, stated);
  const rows = new ScoreRows(layout, { ...columns, groupBy }, collector);
  let rowCount = 0;
  for await (const batch of table.batches(rows.columnNames, onBytes)) {
    rows.add(batch);
    rowCount += batch.rowCount;
  }
  return { rowCount, shownColumns: shown, ...collector.summarize() };
}
