import { Fault, isFault } from "../../errors.ts";
import { findPlaceColumns, oedAccountColumn, type RequestedColumns } from "../readers/placeColumnNames.ts";
import { openScoreTable, type ScoreTable } from "./scoreTable.ts";
import type { PlaceSummary, StatedScores, SummaryOptions } from "./placeSummary.ts";
import { keptColumnNames, scoreLayoutOf } from "./scoreColumns.ts";
import { type PlaceColumnNames, ScoreRows } from "./scoreRows.ts";
import { readStatedRun, type StatedRun } from "./statedRun.ts";
import { quote } from "../../validation/schemaErrors.ts";
import { SummaryCollector } from "./summaryCollector.ts";

type SummaryColumns = Omit<RequestedColumns, "radiusKm"> & {
  /** Kept columns that are shown with each listed place. */
  readonly shown?: readonly string[] | undefined;
};

/**
 * Summarizes an output of `isotherm portfolio`, with its manifest if there is one beside it.
 *
 * @param file.sizeBytes size of the file
 * @param columns names of the columns that identify and locate the places; by default those that the manifest
 *   states, or those with usual names. The account is shown with the location numbers of an OED file.
 * @throws Fault `invalid_request`, `configuration_invalid` naming the file
 */
export async function summarizePlaceFile(
  file: { readonly path: string; readonly sizeBytes: number; readonly onBytes?: (sizeBytes: number) => void },
  options: SummaryOptions,
  columns: SummaryColumns = {},
): Promise<{ readonly summary: PlaceSummary; readonly run: StatedRun | undefined }> {
  const run = await readStatedRun(file.path);
  try {
    if (run !== undefined && run.sizeBytes !== file.sizeBytes) {
      const message = `The file has ${file.sizeBytes} bytes, but its manifest states ${run.sizeBytes}. It has changed since it was written.`;
      throw new Fault("invalid_request", message);
    }
    const table = await openScoreTable({ path: file.path, sizeBytes: file.sizeBytes, stated: run });
    try {
      const keptNames = keptColumnNames(table.columnNames, scoreLayoutOf(table.columnNames, run?.groups));
      const summary = await summarizeTable(table, options, {
        columns: placeColumnNames(keptNames, columns, statedColumns(run, keptNames)),
        stated:
          run === undefined
            ? undefined
            : { rules: run.rules, groups: run.groups, isChange: run.options["anthropogenic"] === true },
        ...(file.onBytes === undefined ? {} : { onBytes: file.onBytes }),
      });
      if (run !== undefined && run.rowCount !== summary.rowCount) {
        const message = `The file has ${summary.rowCount} rows, but its manifest states ${run.rowCount}. It has changed since it was written.`;
        throw new Fault("invalid_request", message);
      }
      return { summary, run };
    } finally {
      await table.close();
    }
  } catch (error) {
    if (!isFault(error)) throw error;
    const { code, message, details, items } = error;
    throw new Fault(code, `${file.path}: ${message}`, { details, items, cause: error });
  }
}

/** Returns the columns of the places that the manifest or else the options in it name, as far as the file has them. */
function statedColumns(run: StatedRun | undefined, names: readonly string[]): SummaryColumns {
  const stated = run?.placeColumns ?? run?.options["columns"];
  if (typeof stated !== "object" || stated === null) return {};
  const { id, latitude, longitude } = stated as Partial<Record<keyof SummaryColumns, unknown>>;
  const nameOf = (name: unknown) => (typeof name === "string" && names.includes(name) ? name : undefined);
  return { id: nameOf(id), latitude: nameOf(latitude), longitude: nameOf(longitude) };
}

/** Finds the columns that identify and locate the places. A summary needs none of them. */
function placeColumnNames(
  names: readonly string[],
  requested: SummaryColumns,
  stated: SummaryColumns,
): Omit<PlaceColumnNames, "groupBy"> {
  const id = requested.id ?? stated.id;
  let indices;
  try {
    const latitude = requested.latitude ?? stated.latitude;
    const longitude = requested.longitude ?? stated.longitude;
    indices = findPlaceColumns(names, { requested: { id, latitude, longitude }, hasGeometry: false });
  } catch (error) {
    const isOnlyMissing = isFault(error) && error.items.every(({ code }) => code === "missing");
    const isRequested = [requested.id, requested.latitude, requested.longitude].some((name) => name !== undefined);
    if (!isOnlyMissing || isRequested) throw error;
    indices = findPlaceColumns(names, { requested: { id }, hasGeometry: true }); // does not look for coordinates
  }
  const nameOf = (index: number | undefined): string | undefined => (index === undefined ? undefined : names[index]);
  const idName = nameOf(indices.id);
  const account = oedAccountColumn(names, idName);
  return {
    id: idName,
    latitude: nameOf(indices.latitude),
    longitude: nameOf(indices.longitude),
    shown: [...new Set([...(account === undefined ? [] : [account]), ...(requested.shown ?? [])])],
  };
}

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
