import { Fault } from "../errors.ts";
import { closestMatch, quote } from "../schemaErrors.ts";
import { parseNumber } from "../parameters.ts";
import {
  type EntityChunk,
  type EntitySource,
  PlacedFaults,
  type SourcePiece,
  type SourcePlace,
} from "./entityFiles.ts";

/** A column of a CSV file of entities, and the member of an entity that it holds. */
interface Column {
  readonly name: string;
  /** JSON pointer into an entity; the row's own projected year stands at `/projected_emissions/-`. */
  readonly pointer: string;
  readonly isNumber?: true;
  readonly isRequired?: true;
}

const COLUMNS = [
  { name: "identifier", pointer: "/entity_info/identifier" },
  { name: "name", pointer: "/entity_info/name", isRequired: true },
  { name: "asset_type", pointer: "/entity_info/asset_type", isRequired: true },
  { name: "country", pointer: "/entity_info/country" },
  { name: "industry_classification_system", pointer: "/entity_info/industry_classification_system" },
  { name: "industry", pointer: "/entity_info/industry" },
  { name: "sector", pointer: "/entity_info/sector" },
  { name: "baseline_year", pointer: "/data/0/year", isNumber: true, isRequired: true },
  { name: "baseline_scope1", pointer: "/data/0/emissions/scope1", isNumber: true },
  { name: "baseline_scope2", pointer: "/data/0/emissions/scope2", isNumber: true },
  { name: "baseline_scope3", pointer: "/data/0/emissions/scope3", isNumber: true },
  { name: "baseline_revenue", pointer: "/data/0/financials/revenue", isNumber: true },
  { name: "baseline_ebitda", pointer: "/data/0/financials/ebitda", isNumber: true },
  { name: "year", pointer: "/projected_emissions/-/year", isNumber: true, isRequired: true },
  { name: "scope1", pointer: "/projected_emissions/-/emissions/scope1", isNumber: true },
  { name: "scope2", pointer: "/projected_emissions/-/emissions/scope2", isNumber: true },
  { name: "scope3", pointer: "/projected_emissions/-/emissions/scope3", isNumber: true },
] as const satisfies readonly Column[];
type ColumnName = (typeof COLUMNS)[number]["name"];

/** The columns of a file of entities, those of the projected year last. */
export const ENTITY_COLUMN_NAMES: readonly ColumnName[] = COLUMNS.map(({ name }) => name);
const YEAR_POINTER = "/projected_emissions/-/";

/** Rows that are handed on together, at least, but for the last ones. */
const CHUNK_ROW_COUNT = 1024;
/** Rows of one entity, which have to be held together. */
const ENTITY_ROW_COUNT_MAX = 100_000;
const ROW_SIZE_CHARACTERS_MAX = 1 << 20;

/** A row of the file: its cells, and the line on which it ends. */
export interface Row {
  readonly cells: readonly string[];
  readonly lastLine: number;
}

/**
 * Entities from CSV (RFC 4180, commas, UTF-8, a header line): one row a projected year, the entity and its baseline
 * repeated in each. Rows that follow one another are one entity when they have the same `identifier`, or, where there
 * is none, the same entity columns.
 *
 * @param reservedNames columns that the answer adds, which the file may therefore not have
 * @throws Fault `invalid_request` when the header lacks a column, or the text is no CSV
 */
export async function openCsv(
  pieces: AsyncIterable<SourcePiece>,
  reservedNames: readonly string[],
): Promise<EntitySource> {
  const rows = rowsOf(pieces)[Symbol.asyncIterator]();
  const first = await rows.next();
  const [head, ...firstRows] = first.done === true ? [] : first.value;
  const header = readHeader(head?.cells ?? [], reservedNames);
  const chunker = new CsvChunker(header);
  async function* chunks(): AsyncGenerator<EntityChunk> {
    for (let batch: readonly Row[] = firstRows; ;) {
      yield* chunker.add(batch);
      const next = await rows.next();
      if (next.done === true) break;
      batch = next.value;
    }
    yield* chunker.end();
  }
  return { columnNames: header.names, chunks: chunks() };
}

interface Header {
  readonly names: readonly string[];
  /** Where each column of ours stands in a row, -1 where the file does not have it. */
  readonly indices: Readonly<Record<ColumnName, number>>;
}

function readHeader(cells: readonly string[], reservedNames: readonly string[]): Header {
  const names = cells.map((cell) => cell.trim());
  const faults = new PlacedFaults();
  const refuse = (column: string, detail: string): void => faults.add({ line: 1, column }, detail);
  const missing = COLUMNS.filter((column) => "isRequired" in column && !names.includes(column.name));
  for (const { name } of missing) refuse(name, `the column is missing; there must be one.`);
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) < index) refuse(name, "the column stands there twice.");
    else if (reservedNames.includes(name)) refuse(name, "the answer has a column of this name; rename yours.");
    else if (!ENTITY_COLUMN_NAMES.includes(name as ColumnName)) {
      // A column of the caller's own goes through; but contry, let through, would be a wrong number.
      const meant = closestMatch(name, ENTITY_COLUMN_NAMES);
      if (meant === undefined || names.includes(meant)) continue;
      refuse(name, `there is no such column; is it ${meant}? Rename it, to that or to something less like it.`);
    }
  }
  if (missing.length > 0 && names.length === 1) {
    throw new Fault("invalid_request", `Line 1 holds one column, ${quote(names[0])}: columns are separated by commas.`);
  }
  faults.throwIfAny();
  const indices = Object.fromEntries(COLUMNS.map(({ name }) => [name, names.indexOf(name)]));
  return { names, indices: indices as Header["indices"] };
}

/** Puts rows together into entities, and entities into chunks. */
class CsvChunker {
  readonly #header: Header;
  /** Where the columns of the entity itself stand. */
  readonly #entityIndices: readonly number[];
  /** The entity whose rows may not all have come. */
  #open: Row[] = [];
  #entities: Row[][] = [];
  #rowCount = 0;
  #faults = new PlacedFaults();

  constructor(header: Header) {
    this.#header = header;
    this.#entityIndices = COLUMNS.filter(({ pointer }) => !pointer.startsWith(YEAR_POINTER))
      .map(({ name }) => header.indices[name])
      .filter((index) => index >= 0);
  }

  *add(rows: readonly Row[]): Generator<EntityChunk> {
    for (const row of rows) {
      if (row.cells.length !== this.#header.names.length) {
        const detail = `the row has ${row.cells.length} cells, the header ${this.#header.names.length}.`;
        this.#faults.add({ line: firstLine(row) }, detail);
        continue;
      }
      if (!this.#belongsToOpen(row)) {
        if (this.#open.length > 0) this.#entities.push(this.#open);
        this.#open = [];
        if (this.#rowCount >= CHUNK_ROW_COUNT) yield this.#chunk();
      } else if (this.#open.length === ENTITY_ROW_COUNT_MAX) {
        const detail = `an entity may have ${ENTITY_ROW_COUNT_MAX} rows; this one has more.`;
        this.#faults.add({ line: firstLine(row) }, detail);
        this.#faults.throwIfAny();
      }
      this.#open.push(row);
      this.#rowCount++;
    }
  }

  *end(): Generator<EntityChunk> {
    if (this.#open.length > 0) this.#entities.push(this.#open);
    this.#open = [];
    yield this.#chunk();
  }

  #belongsToOpen(row: Row): boolean {
    const [first] = this.#open;
    if (first === undefined) return false;
    const identifierIndex = this.#header.indices.identifier;
    const identifier = row.cells[identifierIndex] ?? "";
    const isNamed = identifier !== "";
    if (isNamed && identifier !== first.cells[identifierIndex]) return false;
    for (const index of this.#entityIndices) {
      if (row.cells[index] === first.cells[index]) continue;
      if (!isNamed) return false;
      const [here, there] = [quote(row.cells[index]), quote(first.cells[index])];
      this.#faults.add(
        { line: firstLine(row), column: this.#header.names[index] ?? "" },
        `${here} differs from ${there} in line ${firstLine(first)}, of the same entity ${quote(identifier)}.`,
      );
    }
    return true;
  }

  #chunk(): EntityChunk {
    const [entities, faults] = [this.#entities, this.#faults];
    this.#entities = [];
    this.#rowCount = 0;
    this.#faults = new PlacedFaults();
    return {
      entities: entities.map((rows) => this.#entityOf(rows)),
      rows: entities.flatMap((rows) => rows.map(({ cells }) => cells)),
      faults,
      placeOf: (pointer) => placeOf(entities, pointer),
    };
  }

  /** An entity as JSON would say it. What does not read as a number stays text, for the check to refuse. */
  #entityOf(rows: readonly Row[]): unknown {
    const [first] = rows;
    if (first === undefined) throw new Error("An entity has no row.");
    const text = this.#reader(first);
    return {
      entity_info: {
        identifier: text("identifier"),
        name: text("name"),
        asset_type: text("asset_type"),
        country: text("country"),
        industry_classification_system: text("industry_classification_system"),
        industry: text("industry"),
        sector: text("sector"),
      },
      data: [
        {
          year: numberOf(text("baseline_year")),
          emissions: {
            scope1: numberOf(text("baseline_scope1")),
            scope2: numberOf(text("baseline_scope2")),
            scope3: numberOf(text("baseline_scope3")),
          },
          financials: { revenue: numberOf(text("baseline_revenue")), ebitda: numberOf(text("baseline_ebitda")) },
        },
      ],
      projected_emissions: rows.map((row) => {
        const text = this.#reader(row);
        return {
          year: numberOf(text("year")),
          emissions: {
            scope1: numberOf(text("scope1")),
            scope2: numberOf(text("scope2")),
            scope3: numberOf(text("scope3")),
          },
        };
      }),
    };
  }

  /** What a row holds in a column; an empty cell holds nothing. */
  #reader({ cells }: Row): (name: ColumnName) => string | undefined {
    return (name) => {
      const cell = cells[this.#header.indices[name]];
      return cell === "" ? undefined : cell;
    };
  }
}

function numberOf(text: string | undefined): number | string | undefined {
  return text === undefined ? undefined : parseNumber(text.trim());
}

/** Line and column of what a pointer into the list of entities names. */
function placeOf(entities: readonly (readonly Row[])[], pointer: string): SourcePlace {
  const [, entityText = "", ...steps] = pointer.split("/");
  const rows = entities[Number(entityText)] ?? [];
  const isOfYear = steps[0] === "projected_emissions" && steps[1] !== undefined;
  const row = rows[isOfYear ? Number(steps[1]) : 0];
  const path = `/${(isOfYear ? [steps[0], "-", ...steps.slice(2)] : steps).join("/")}`;
  const column = COLUMNS.find((candidate) => candidate.pointer === path || candidate.pointer.startsWith(`${path}/`));
  return { line: row === undefined ? 1 : firstLine(row), ...(column === undefined ? {} : { column: column.name }) };
}

/** The line on which a row begins. */
export function firstLine({ cells, lastLine }: Row): number {
  return lastLine - cells.reduce((count, cell) => count + (cell.match(/\r\n|\r|\n/g)?.length ?? 0), 0);
}

/** The rows of the file, as many at a time as came with a piece of it. */
export async function* rowsOf(pieces: AsyncIterable<SourcePiece>): AsyncGenerator<readonly Row[]> {
  // Loaded by whoever reads CSV, and nobody else.
  const { parse } = await import("csv-parse");
  let rows: Row[] = [];
  const parser = parse({
    bom: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: ROW_SIZE_CHARACTERS_MAX,
    on_record: (cells: string[], { lines }) => {
      rows.push({ cells, lastLine: lines });
      return null; // Kept out of the stream, which would take as long again for each row.
    },
  });
  parser.on("error", () => undefined); // Told to whoever writes, below.
  parser.resume();
  const told = (write: (done: (error?: Error | null) => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      write((error) => (error === null || error === undefined ? resolve() : reject(csvFault(error))));
    });
  const taken = (): readonly Row[] => {
    const batch = rows;
    rows = [];
    return batch;
  };
  for await (const { bytes } of pieces) {
    await told((done) => parser.write(bytes, done));
    if (rows.length > 0) yield taken();
  }
  await told((done) => parser.end(done));
  if (rows.length > 0) yield taken();
}

const CSV_FAULTS: Readonly<Record<string, string>> = {
  CSV_INVALID_CLOSING_QUOTE:
    "something follows a closing quote in the same cell; a quote inside a cell is written twice",
  INVALID_OPENING_QUOTE: "there is a quote in the middle of a cell; quote the whole cell, and write the quote twice",
  CSV_QUOTE_NOT_CLOSED: "a quoted cell does not end",
  CSV_MAX_RECORD_SIZE: `a row is longer than ${ROW_SIZE_CHARACTERS_MAX} characters; a quote may be missing`,
};

function csvFault(error: Error): Fault {
  const { code = "", lines } = error as Error & { readonly code?: string; readonly lines?: number };
  const what = CSV_FAULTS[code];
  if (what === undefined || lines === undefined) throw error;
  return new Fault("invalid_request", `Line ${lines}: ${what}.`, { details: { line: lines }, cause: error });
}
