import { Fault, isFault } from "../../errors.ts";
import { findPlaceColumns, type RequestedColumns } from "../readers/placeColumnNames.ts";
import { openScoreTable } from "./openScoreTable.ts";
import type { PlaceSummary } from "./placeSummary.ts";
import { keptColumnNames, scoreLayoutOf } from "./scoreColumns.ts";
import type { PlaceColumnNames } from "./scoreRows.ts";
import { readStatedRun, type StatedRun } from "./statedRun.ts";
import { summarizeTable } from "./summarizeTable.ts";
import type { SummaryOptions } from "./summaryOptions.ts";

/**
 * Summarizes an output of `isotherm portfolio`, with its manifest if there is one beside it.
 *
 * @param file.sizeBytes size of the file
 * @param columns names of the columns that identify and locate the places; by default, they are found by usual names
 * @throws Fault `invalid_request`, `configuration_invalid` naming the file
 */
export async function summarizePlaceFile(
  file: { readonly path: string; readonly sizeBytes: number; readonly onBytes?: (sizeBytes: number) => void },
  options: SummaryOptions,
  columns: Omit<RequestedColumns, "radiusKm"> = {},
): Promise<{ readonly summary: PlaceSummary; readonly run: StatedRun | undefined }> {
  const run = await readStatedRun(file.path);
  try {
    if (run !== undefined && run.sizeBytes !== file.sizeBytes) {
      const message = `The file has ${file.sizeBytes} bytes, but its manifest states ${run.sizeBytes}. It has changed since it was written.`;
      throw new Fault("invalid_request", message);
    }
    const table = await openScoreTable(file.path, file.sizeBytes);
    try {
      const keptNames = keptColumnNames(table.columnNames, scoreLayoutOf(table.columnNames, run?.groups));
      const summary = await summarizeTable(table, options, {
        columns: placeColumnNames(keptNames, columns),
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

/** Finds the columns that identify and locate the places. A summary needs none of them. */
function placeColumnNames(
  names: readonly string[],
  requested: Omit<RequestedColumns, "radiusKm">,
): Omit<PlaceColumnNames, "groupBy"> {
  const find = (hasGeometry: boolean) => findPlaceColumns(names, { requested, hasGeometry });
  let indices;
  try {
    indices = find(false);
  } catch (error) {
    const isOnlyMissing = isFault(error) && error.items.every(({ code }) => code === "missing");
    if (!isOnlyMissing || Object.values(requested).some((name) => name !== undefined)) throw error;
    indices = find(true); // does not look for coordinates
  }
  const nameOf = (index: number | undefined): string | undefined => (index === undefined ? undefined : names[index]);
  return { id: nameOf(indices.id), latitude: nameOf(indices.latitude), longitude: nameOf(indices.longitude) };
}
