/** The list of places with its values, as CSV to download. */
import { csvLine } from "../../csvText.ts";
import type { AnalysisYearResult, MetricName } from "../../contract/wireTypes.ts";
import type { PlaceList } from "./placeList.ts";
import type { ListQuery, ListScores } from "./scoreList.ts";

export interface ListCsvOptions {
  readonly query: ListQuery;
  readonly metrics: readonly MetricName[];
  readonly scores: ListScores;
  /** Whether text that spreadsheets would run as a formula is written after an apostrophe. */
  readonly escapesFormulas: boolean;
}

/**
 * Returns all rows of the list, in its order, with all its columns and then the columns of the values, which are those of
 * `isotherm portfolio`. A column of the list with the name of one of these gets the prefix `input_`.
 */
export function listCsv({ columns, rows }: PlaceList, options: ListCsvOptions): string {
  const { query, metrics, scores, escapesFormulas } = options;
  const { hazard, scenario, year, radiusKm, method } = query;
  const added = [
    "hazard",
    "scenario",
    "analysis_year",
    "radius_km",
    "aggregation_method",
    ...metrics,
    "probability_bound",
    "probability_limit",
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
      return csvLine([...cells, ...layer, ...metrics.map(() => null), null, null, status, error], "\r\n");
    }
    const { answer } = score;
    const bound = answer.bounds?.probability;
    const values = metrics.map((metric) => answer.metrics[metric] ?? null);
    return csvLine(
      [...cells, ...layer, ...values, bound?.bound, bound?.limit, statusOf(answer, metrics), null],
      "\r\n",
    );
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
function statusOf({ metrics, no_data }: AnalysisYearResult, names: readonly MetricName[]): string {
  const own = names.find((name) => !["intensity", "probability", "total_hazard"].includes(name));
  const value = own === undefined ? undefined : metrics[own];
  if (value === null || value === undefined) return no_data ?? "no_data";
  return value === 0 ? "zero" : "value";
}
