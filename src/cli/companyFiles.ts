import { Fault, isFault } from "../errors.ts";
import { closestMatch } from "../validation/closestMatch.ts";
import { quote } from "../validation/schemaErrors.ts";
import { parseJson } from "../text/json/json.ts";
import { parseNumber } from "../validation/parameters.ts";
import { parseCsvRows } from "../text/csv.ts";
import { type JsonElement, splitJsonList, splitLines, textPosition } from "./entityJson.ts";
import { FaultCollector } from "./entitySource.ts";
import type { EntityFormat } from "./fileIo.ts";

/** A company as read from a file, not yet validated, or the reason why it cannot be read. */
export interface CompanyEntry {
  /** The line on which the company begins, counted from 1. */
  readonly line: number;
  readonly input: unknown;
  readonly fault?: Fault;
}

/** The content of a file: one company, or a list that is read lazily. */
export type CompanyFile =
  | { readonly kind: "single"; readonly input: unknown }
  | { readonly kind: "list"; readonly entries: AsyncIterable<CompanyEntry> };

/** Maximum length of a file that holds a single company. */
const DOCUMENT_SIZE_CHARACTERS_MAX = 8 << 20;

/**
 * Opens a file of companies: a JSON object is one company; a JSON list, NDJSON and CSV are lists.
 *
 * @throws Fault if the file as a whole cannot be read; errors of a single company of a list are in its entry
 */
export async function openCompanies(chunks: AsyncIterable<string>, format: EntityFormat): Promise<CompanyFile> {
  if (format === "csv") return { kind: "list", entries: rowEntries(chunks) };
  if (format === "ndjson") return { kind: "list", entries: lineEntries(chunks) };
  const rest = chunks[Symbol.asyncIterator]();
  const head = await readUntilText(rest);
  const text = concatenate(head, rest);
  const isObject = head.join("").trimStart().startsWith("{");
  return isObject ? { kind: "single", input: await parseSingle(text) } : { kind: "list", entries: listEntries(text) };
}

/** Reads chunks up to and including the first one that is not blank. */
async function readUntilText(chunks: AsyncIterator<string>): Promise<readonly string[]> {
  const head: string[] = [];
  for (let next = await chunks.next(); next.done !== true; next = await chunks.next()) {
    head.push(next.value);
    if (next.value.trim() !== "") break;
  }
  return head;
}

async function* concatenate(head: readonly string[], rest: AsyncIterator<string>): AsyncGenerator<string> {
  yield* head;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

async function parseSingle(chunks: AsyncIterable<string>): Promise<unknown> {
  let text = "";
  for await (const chunk of chunks) {
    text += chunk;
    if (text.length > DOCUMENT_SIZE_CHARACTERS_MAX) {
      const message = `The company must be at most ${DOCUMENT_SIZE_CHARACTERS_MAX} characters long; put several companies into a JSON array or on lines of NDJSON.`;
      throw new Fault("invalid_request", message);
    }
  }
  return parseJson(text);
}

async function* listEntries(chunks: AsyncIterable<string>): AsyncGenerator<CompanyEntry> {
  for await (const element of splitJsonList(chunks)) yield { line: lineOf(element), input: parseElement(element) };
}

/** Yields one company per line. A line that is not JSON is an error of that company only. */
async function* lineEntries(chunks: AsyncIterable<string>): AsyncGenerator<CompanyEntry> {
  for await (const element of splitLines(chunks)) {
    const line = lineOf(element);
    try {
      yield { line, input: parseElement(element) };
    } catch (error) {
      if (!isFault(error)) throw error;
      yield { line, input: undefined, fault: error };
    }
  }
}

function parseElement({ text, origin }: JsonElement): unknown {
  return parseJson(text, origin);
}

function lineOf({ text, origin }: JsonElement): number {
  return textPosition(text, origin).line;
}

/** Columns of a company CSV file; they have the names of the request members, also those of `assumptions`. */
const TEXT_COLUMNS = [
  "name",
  "country",
  "industry",
  "industry_classification_system",
  "damage_function",
  "iam",
] as const;
const AMOUNT_COLUMNS = [
  "revenue",
  "total_assets",
  "ebitda",
  "total_debt",
  "scope1",
  "scope2",
  "scope3",
  "scope3_upstream",
  "scope3_downstream",
  "total_liabilities",
  "pd",
  "exposure",
  "lgd",
] as const;
const ASSUMPTION_COLUMNS = ["discount_rate", "shock_year", "pass_through"] as const;
const LIST_COLUMNS = ["transition_scenarios", "assessment_years"] as const;
export const COMPANY_COLUMN_NAMES: readonly string[] = [
  ...TEXT_COLUMNS,
  ...AMOUNT_COLUMNS,
  ...ASSUMPTION_COLUMNS,
  ...LIST_COLUMNS,
];

/** Shorter names are one letter away from unrelated ones, as `pd` is from `id`. */
const CONFUSABLE_COLUMN_NAMES = COMPANY_COLUMN_NAMES.filter((name) => name.length > 3);

async function* rowEntries(chunks: AsyncIterable<string>): AsyncGenerator<CompanyEntry> {
  let names: readonly string[] | undefined;
  for await (const rows of parseCsvRows(chunks)) {
    for (const row of rows) {
      if (names === undefined) {
        names = readCompanyHeader(row.cells);
        continue;
      }
      const line = row.line;
      if (row.cells.length === names.length) yield { line, input: companyOf(names, row.cells) };
      else {
        const message = `The row has ${row.cells.length} cells, but the header has ${names.length}.`;
        yield { line, input: undefined, fault: new Fault("invalid_request", message) };
      }
    }
  }
}

function readCompanyHeader(cells: readonly string[]): readonly string[] {
  const names = cells.map((cell) => cell.trim());
  const faults = new FaultCollector();
  for (const [index, name] of names.entries()) {
    const column = { line: 1, column: name };
    if (names.indexOf(name) < index) faults.add(column, "duplicate column.");
    if (COMPANY_COLUMN_NAMES.includes(name)) continue;
    // Unknown columns are ignored, but ignoring a misspelled known column would silently change the result.
    const suggestion = closestMatch(name, CONFUSABLE_COLUMN_NAMES);
    if (suggestion === undefined || names.includes(suggestion)) continue;
    faults.add(column, `unknown column; did you mean ${suggestion}? Otherwise choose a less similar name.`);
  }
  if (names.length === 1) {
    const message = `Line 1 has a single column, ${quote(names[0])}; columns must be separated by commas.`;
    throw new Fault("invalid_request", message);
  }
  faults.throwIfAny();
  return names;
}

/** Builds a company as in JSON. Cells that are not numbers stay text, which validation then rejects. */
function companyOf(names: readonly string[], cells: readonly string[]): unknown {
  const cell = (name: string): string | undefined => {
    const text = cells[names.indexOf(name)];
    return text === undefined || text.trim() === "" ? undefined : text.trim();
  };
  const list = (name: string): readonly string[] | undefined =>
    cell(name)
      ?.split(";")
      .map((item) => item.trim());
  const cellsOf = (columns: readonly string[]): Readonly<Record<string, string>> =>
    Object.fromEntries(
      columns.flatMap((name) => {
        const text = cell(name);
        return text === undefined ? [] : [[name, text]];
      }),
    );
  const assumptions = cellsOf(ASSUMPTION_COLUMNS);
  return {
    ...cellsOf([...TEXT_COLUMNS, ...AMOUNT_COLUMNS]),
    ...optional("assumptions", Object.keys(assumptions).length === 0 ? undefined : assumptions),
    ...optional("transition_scenarios", list("transition_scenarios")),
    ...optional("assessment_years", list("assessment_years")?.map(parseNumber)),
  };
}

function optional(name: string, value: unknown): Readonly<Record<string, unknown>> {
  return value === undefined ? {} : { [name]: value };
}
