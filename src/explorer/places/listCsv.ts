/** The list of places with its values, as CSV to download. */
import { csvLine } from "../../text/csv.ts";
import type { ListColumn, ListQuery, ListScores, RowScore } from "./scoreList.ts";
import type { PlaceList } from "./placeList.ts";

export interface ListCsvOptions {
  readonly query: ListQuery;
  readonly values: readonly ListColumn[];
  readonly scores: ListScores;
  /** Whether text that spreadsheets would run as a formula is written after an apostrophe. */
  readonly escapesFormulas: boolean;
}

/**
 * Returns all rows of the list, in its order, with all its columns and then the columns of the values, which are those of
 * `isotherm portfolio`. A column of the list with the name of one of these gets the prefix `input_`.
 */
export function listCsv({ columns, rows }: PlaceList, options: ListCsvOptions): string {
  const { query, values, scores, escapesFormulas } = options;
  const { hazard, scenario, year, radiusKm, method } = query;
  const hasProbability = values.some(({ name }) => name === "probability");
  const added = [
    "hazard",
    "scenario",
    "analysis_year",
    "radius_km",
    "aggregation_method",
    ...values.map(({ name }) => name),
    ...(hasProbability ? ["probability_bound", "probability_limit"] : []),
    "status",
    "error",
  ];
  const kept = (cell: string): string => (escapesFormulas ? withoutFormulas(cell) : cell);
  const header = csvLine([...keptNames(columns, added).map(kept), ...added], "\r\n");
  const lines = rows.map((row) => {
    const cells = columns.map((_, index) => kept(row.cells[index] ?? ""));
    const layer = [hazard, scenario, year, radiusKm, radiusKm > 0 ? method : null];
    const score = scores.get(row.line);
    if (score?.kind !== "scored") {
      const error = score?.message ?? row.errors.join("; ");
      const status = row.location === undefined ? "invalid_row" : score === undefined ? "not_computed" : "error";
      const blanks = Array.from({ length: values.length + (hasProbability ? 2 : 0) }, () => null);
      return csvLine([...cells, ...layer, ...blanks, status, kept(error)], "\r\n");
    }
    const bound = score.values["probability"]?.bound;
    const numbers = values.map(({ name }) => score.values[name]?.value ?? null);
    const limits = hasProbability ? [bound?.bound, bound?.limit] : [];
    return csvLine([...cells, ...layer, ...numbers, ...limits, statusOf(score, values), null], "\r\n");
  });
  return header + lines.join("");
}

/** Returns the number of cells of a list that spreadsheets would run as a formula. */
export function formulaCount({ columns, rows }: PlaceList): number {
  const cells = [...columns, ...rows.flatMap((row) => row.cells)];
  return cells.filter((cell) => withoutFormulas(cell) !== cell).length;
}

/**
 * Marks what a spreadsheet would take for a formula with an apostrophe: at the start of the cell, and after separators at which
 * some locales divide it. Numbers with a sign are no formulas.
 */
function withoutFormulas(cell: string): string {
  if (/^[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:[eE][+-]?\d+)?$/.test(cell)) return cell;
  return cell.replaceAll(/(^|[;\t\r\n])(?=[ \t\r\n]*[=+\-@])/g, "$1'");
}

function keptNames(columns: readonly string[], added: readonly string[]): readonly string[] {
  return columns.map((name) => {
    let unique = name;
    while (added.includes(unique) || (unique !== name && columns.includes(unique))) unique = `input_${unique}`;
    return unique;
  });
}

/** Returns the status that `isotherm portfolio` writes. */
function statusOf({ values }: Extract<RowScore, { kind: "scored" }>, columns: readonly ListColumn[]): string {
  const own = columns.find(({ metric }) => !["intensity", "probability", "total_hazard"].includes(metric));
  const found = own === undefined ? undefined : values[own.name];
  if (found === undefined || found.value === null) return found?.reason ?? "no_data";
  return found.value === 0 ? "zero" : "value";
}
