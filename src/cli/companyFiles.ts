import { Fault, isFault } from "../errors.ts";
import { closestMatch, quote } from "../schemaErrors.ts";
import { parseJson } from "../host/http/json.ts";
import { parseNumber } from "../parameters.ts";
import { firstLine, rowsOf } from "./entityCsv.ts";
import { PlacedFaults, type SourcePiece } from "./entityFiles.ts";
import { type Element, elementsOf, linesOf } from "./entityJson.ts";
import type { EntityFormat } from "./fileFormats.ts";

/** A company of a file, as the file has it, or why it cannot be read. */
export interface CompanyEntry {
  /** Where it begins, from 1. */
  readonly line: number;
  readonly input: unknown;
  readonly fault?: Fault;
}

/** What a file holds: one company, or a list of them, read as it is asked for. */
export type CompanyFile =
  | { readonly kind: "one"; readonly input: unknown }
  | { readonly kind: "many"; readonly entries: AsyncIterable<CompanyEntry> };

/** One company takes no more of a JSON file. */
const DOCUMENT_SIZE_CHARACTERS_MAX = 8 << 20;

/**
 * Opens a file of companies: a JSON object is one, a JSON list, NDJSON and CSV are many.
 *
 * @throws Fault where the file as a whole cannot be read; what is wrong with one of many is in its entry
 */
export async function openCompanies(pieces: AsyncIterable<SourcePiece>, format: EntityFormat): Promise<CompanyFile> {
  if (format === "csv") return { kind: "many", entries: rowEntries(pieces) };
  if (format === "ndjson") return { kind: "many", entries: lineEntries(pieces) };
  const rest = pieces[Symbol.asyncIterator]();
  const opening = await untilText(rest);
  const all = joined(opening, rest);
  const isObject = opening
    .map(({ text }) => text)
    .join("")
    .trimStart()
    .startsWith("{");
  return isObject ? { kind: "one", input: await oneDocument(all) } : { kind: "many", entries: listEntries(all) };
}

/** The pieces up to the first that holds more than white space. */
async function untilText(pieces: AsyncIterator<SourcePiece>): Promise<readonly SourcePiece[]> {
  const seen: SourcePiece[] = [];
  for (let next = await pieces.next(); next.done !== true; next = await pieces.next()) {
    seen.push(next.value);
    if (next.value.text.trim() !== "") break;
  }
  return seen;
}

async function* joined(opening: readonly SourcePiece[], rest: AsyncIterator<SourcePiece>): AsyncGenerator<SourcePiece> {
  yield* opening;
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

async function oneDocument(pieces: AsyncIterable<SourcePiece>): Promise<unknown> {
  let text = "";
  for await (const piece of pieces) {
    text += piece.text;
    if (text.length > DOCUMENT_SIZE_CHARACTERS_MAX) {
      const message = `The company is longer than ${DOCUMENT_SIZE_CHARACTERS_MAX} characters; several go into a list, or one on each line of NDJSON.`;
      throw new Fault("invalid_request", message);
    }
  }
  return parseJson(text);
}

async function* listEntries(pieces: AsyncIterable<SourcePiece>): AsyncGenerator<CompanyEntry> {
  for await (const element of elementsOf(pieces)) yield { line: lineOf(element), input: parsed(element) };
}

/** A line that is no JSON costs nobody but its own company. */
async function* lineEntries(pieces: AsyncIterable<SourcePiece>): AsyncGenerator<CompanyEntry> {
  for await (const element of linesOf(pieces)) {
    const line = lineOf(element);
    try {
      yield { line, input: parsed(element) };
    } catch (error) {
      if (!isFault(error)) throw error;
      yield { line, input: undefined, fault: error };
    }
  }
}

function parsed({ text, origin }: Element): unknown {
  return parseJson(text, origin);
}

function lineOf({ text, origin }: Element): number {
  const lead = text.slice(0, text.search(/[^ \t\r\n]/));
  return origin.line + lead.split(/\r\n|\r|\n/).length - 1;
}

/** The columns of a CSV file of companies: the members of a request. */
const TEXT_COLUMNS = ["name", "country", "industry", "damage_function", "iam"] as const;
const AMOUNT_COLUMNS = [
  "revenue",
  "total_assets",
  "ebitda",
  "total_debt",
  "scope1",
  "scope2",
  "scope3",
  "total_liabilities",
] as const;
const LIST_COLUMNS = ["transition_scenarios", "assessment_years"] as const;
export const COMPANY_COLUMN_NAMES: readonly string[] = [...TEXT_COLUMNS, ...AMOUNT_COLUMNS, ...LIST_COLUMNS];

async function* rowEntries(pieces: AsyncIterable<SourcePiece>): AsyncGenerator<CompanyEntry> {
  let names: readonly string[] | undefined;
  for await (const rows of rowsOf(pieces)) {
    for (const row of rows) {
      if (names === undefined) {
        names = readHeader(row.cells);
        continue;
      }
      const line = firstLine(row);
      if (row.cells.length === names.length) yield { line, input: companyOf(names, row.cells) };
      else {
        const message = `The row has ${row.cells.length} cells, the header ${names.length}.`;
        yield { line, input: undefined, fault: new Fault("invalid_request", message) };
      }
    }
  }
}

function readHeader(cells: readonly string[]): readonly string[] {
  const names = cells.map((cell) => cell.trim());
  const faults = new PlacedFaults();
  for (const [index, name] of names.entries()) {
    const column = { line: 1, column: name };
    if (names.indexOf(name) < index) faults.add(column, "the column stands there twice.");
    if (COMPANY_COLUMN_NAMES.includes(name)) continue;
    // A column of the caller's own is passed over; but contry, passed over, would be another company.
    const meant = closestMatch(name, COMPANY_COLUMN_NAMES);
    if (meant === undefined || names.includes(meant)) continue;
    faults.add(column, `there is no such column; is it ${meant}? Rename it, to that or to something less like it.`);
  }
  if (names.length === 1) {
    const message = `Line 1 holds one column, ${quote(names[0])}: columns are separated by commas.`;
    throw new Fault("invalid_request", message);
  }
  faults.throwIfAny();
  return names;
}

/** A company as JSON would say it. What does not read as its kind stays text, for the check to refuse. */
function companyOf(names: readonly string[], cells: readonly string[]): unknown {
  const cell = (name: string): string | undefined => {
    const text = cells[names.indexOf(name)];
    return text === undefined || text.trim() === "" ? undefined : text.trim();
  };
  const list = (name: string): readonly string[] | undefined =>
    cell(name)
      ?.split(";")
      .map((item) => item.trim());
  const members = [...TEXT_COLUMNS, ...AMOUNT_COLUMNS].map((name) => [name, cell(name)] as const);
  return {
    ...Object.fromEntries(members.filter(([, text]) => text !== undefined)),
    ...optional("transition_scenarios", list("transition_scenarios")),
    ...optional("assessment_years", list("assessment_years")?.map(parseNumber)),
  };
}

function optional(name: string, value: unknown): Readonly<Record<string, unknown>> {
  return value === undefined ? {} : { [name]: value };
}
