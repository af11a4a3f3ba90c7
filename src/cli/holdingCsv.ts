import { closestMatch } from "../validation/closestMatch.ts";
import { quote } from "../validation/schemaErrors.ts";
import { parseNumber } from "../validation/parameters.ts";
import { PORTFOLIO_SCOPES } from "../contract/names.ts";
import { type CsvRow, parseCsvRows } from "../text/csv.ts";
import { FaultCollector, type SourceLocation } from "./entitySource.ts";

/** A column of a file of holdings and the member that it maps to. */
interface Column {
  readonly name: string;
  /** JSON pointer into a holding. */
  readonly pointer: string;
  readonly isNumber?: true;
}

const NUMBERS = [
  "value",
  "scope1",
  "scope2",
  "scope3",
  "market_cap",
  "enterprise_value",
  "cash",
  "evic",
  "total_assets",
  "revenue",
  "equity",
  "debt",
];

/** Columns that a file may have; `id` and `value` are required. */
const HOLDING_CSV_COLUMNS: readonly Column[] = [
  { name: "id", pointer: "/id" },
  { name: "issuer", pointer: "/issuer" },
  { name: "company", pointer: "/entity" },
  { name: "currency", pointer: "/currency" },
  ...NUMBERS.map((name): Column => ({ name, pointer: `/${name}`, isNumber: true })),
  ...PORTFOLIO_SCOPES.flatMap((scope): Column[] => [
    { name: `temperature_${scope}`, pointer: `/temperature/${scope}/t`, isNumber: true },
    { name: `temperature_${scope}_low`, pointer: `/temperature/${scope}/low`, isNumber: true },
    { name: `temperature_${scope}_high`, pointer: `/temperature/${scope}/high`, isNumber: true },
  ]),
  { name: "data_quality_s1s2", pointer: "/data_quality/s1s2", isNumber: true },
  { name: "data_quality_s3", pointer: "/data_quality/s3", isNumber: true },
  { name: "budget_allowed", pointer: "/budget/allowed", isNumber: true },
  { name: "budget_projected", pointer: "/budget/projected", isNumber: true },
];
/** The columns of a file of holdings. */
const HOLDING_COLUMN_NAMES: readonly string[] = HOLDING_CSV_COLUMNS.map(({ name }) => name);
const REQUIRED_NAMES = ["id", "value"];
/** Text of a score cell for a holding that has no score and refers to no company. */
export const NO_SCORE = "none";

/** Holdings of a file, not yet validated. */
export interface HoldingSource {
  /** Name of the company of each holding, if its column is not empty. */
  readonly companies: readonly (string | undefined)[];
  readonly holdings: readonly Readonly<Record<string, unknown>>[];
  /** Converts a JSON pointer such as `/holdings/0/value` to a location in the file. */
  locationOf(pointer: string): SourceLocation;
}

/**
 * Reads holdings from CSV (RFC 4180, commas, UTF-8, a header line): one row per line of the portfolio. An empty cell means
 * that the figure is not given.
 *
 * @param groupKeys columns that hold the groups of a holding
 * @throws Fault `invalid_request` with the location of every error of the file format
 */
export async function readHoldingCsv(
  chunks: AsyncIterable<string>,
  groupKeys: readonly string[],
): Promise<HoldingSource> {
  const rows: CsvRow[] = [];
  for await (const batch of parseCsvRows(chunks)) rows.push(...batch);
  const [head, ...lines] = rows;
  const names = (head?.cells ?? []).map((cell) => cell.trim());
  const faults = new FaultCollector();
  checkNames(names, groupKeys, faults);
  faults.throwIfAny();
  for (const row of lines) {
    if (row.cells.length === names.length) continue;
    const detail = `the row has ${row.cells.length} cells, but the header has ${names.length}.`;
    faults.add({ line: row.line }, detail);
  }
  faults.throwIfAny();
  const companyIndex = names.indexOf("company");
  return {
    companies: lines.map(({ cells }) => cells[companyIndex]?.trim() || undefined),
    holdings: lines.map(({ cells }) => holdingOf(names, cells, groupKeys)),
    locationOf: (pointer) => locationOf(lines, pointer),
  };
}

function checkNames(names: readonly string[], groupKeys: readonly string[], faults: FaultCollector): void {
  const reject = (column: string, detail: string): void => faults.add({ line: 1, column }, detail);
  for (const name of REQUIRED_NAMES) if (!names.includes(name)) reject(name, "the required column is missing.");
  for (const key of groupKeys) {
    if (names.includes(key)) continue;
    const suggestion = closestMatch(key, names);
    const hint = suggestion === undefined ? "." : `; did you mean ${quote(suggestion)}?`;
    reject(key, `the column to group by is missing${hint}`);
  }
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) < index) reject(name, "duplicate column.");
    else if (!HOLDING_COLUMN_NAMES.includes(name) && !groupKeys.includes(name)) {
      // Other columns are ignored, but a misspelled known column would silently leave out a figure.
      const suggestion = closestMatch(name, HOLDING_COLUMN_NAMES);
      if (suggestion === undefined || names.includes(suggestion)) continue;
      reject(name, `unknown column; did you mean ${suggestion}? Otherwise choose a less similar name.`);
    }
  }
}

/**
 * Builds a holding as in JSON, without spaces around its texts. Cells that are not numbers stay text, which validation
 * then rejects.
 */
function holdingOf(
  names: readonly string[],
  cells: readonly string[],
  groupKeys: readonly string[],
): Readonly<Record<string, unknown>> {
  const cellOf = (name: string): string => cells[names.indexOf(name)]?.trim() ?? "";
  const holding: Record<string, unknown> = {};
  for (const { name, pointer, isNumber } of HOLDING_CSV_COLUMNS) {
    const cell = cellOf(name);
    if (cell === "" || name === "company") continue;
    setAt(holding, pointer.slice(1).split("/"), isNumber === true ? parseNumber(cell) : cell);
  }
  const groups = groupKeys.flatMap((key) => {
    const group = cellOf(key);
    return group === "" ? [] : [[key, group] as const];
  });
  if (groups.length > 0) holding["groups"] = Object.fromEntries(groups);
  return withoutMissingScores(holding);
}

/** Replaces a score of `none` by null, as in JSON, unless it has an interval. */
function withoutMissingScores(holding: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { temperature } = holding as { readonly temperature?: Readonly<Record<string, { readonly t?: unknown }>> };
  if (temperature === undefined) return holding;
  const scores = Object.entries(temperature).map(([scope, score]) => {
    const isMissing = score.t === NO_SCORE && Object.keys(score).length === 1;
    return [scope, isMissing ? null : score] as const;
  });
  return { ...holding, temperature: Object.fromEntries(scores) };
}

function setAt(target: Record<string, unknown>, [first = "", ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) target[first] = value;
  else setAt((target[first] ??= {}) as Record<string, unknown>, rest, value);
}

/** Converts a pointer to the line of its holding and the column of its member. */
function locationOf(lines: readonly CsvRow[], pointer: string): SourceLocation {
  const [, list = "", indexText = "", ...steps] = pointer.split("/");
  const row = list === "holdings" ? lines[Number(indexText)] : undefined;
  if (row === undefined) return { line: 1, pointer };
  const path = `/${steps.join("/")}`;
  const column =
    steps[0] === "groups"
      ? steps[1]
      : HOLDING_CSV_COLUMNS.find(({ pointer: known }) => known === path || known.startsWith(`${path}/`))?.name;
  const isKnown = steps.length > 0 && column !== undefined;
  return { line: row.line, ...(isKnown ? { column } : {}) };
}
