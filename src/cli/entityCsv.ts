import { Fault } from "../errors.ts";
import { closestMatch } from "../validation/closestMatch.ts";
import { quote } from "../validation/schemaErrors.ts";
import { parseNumber } from "../validation/parameters.ts";
import { type CsvRow, parseCsvRows } from "../text/csv.ts";
import { type EntityChunk, type EntitySource, FaultCollector, type SourceLocation } from "./entitySource.ts";

/** A column of an entity CSV file and the entity member that it maps to. */
interface Column {
  readonly name: string;
  /** JSON pointer into an entity; `/projected_emissions/-` is the projected year of the row. */
  readonly pointer: string;
  readonly isRequired?: true;
}

const ENTITY_CSV_COLUMNS = [
  { name: "identifier", pointer: "/entity_info/identifier" },
  { name: "name", pointer: "/entity_info/name", isRequired: true },
  { name: "asset_type", pointer: "/entity_info/asset_type", isRequired: true },
  { name: "country", pointer: "/entity_info/country" },
  { name: "industry_classification_system", pointer: "/entity_info/industry_classification_system" },
  { name: "industry", pointer: "/entity_info/industry" },
  { name: "sector", pointer: "/entity_info/sector" },
  { name: "baseline_year", pointer: "/data/0/year", isRequired: true },
  { name: "baseline_scope1", pointer: "/data/0/emissions/scope1" },
  { name: "baseline_scope2", pointer: "/data/0/emissions/scope2" },
  { name: "baseline_scope3", pointer: "/data/0/emissions/scope3" },
  { name: "baseline_revenue", pointer: "/data/0/financials/revenue" },
  { name: "baseline_ebitda", pointer: "/data/0/financials/ebitda" },
  { name: "currency", pointer: "/data/0/financials/currency" },
  { name: "price_year", pointer: "/data/0/financials/price_year" },
  { name: "year", pointer: "/projected_emissions/-/year", isRequired: true },
  { name: "scope1", pointer: "/projected_emissions/-/emissions/scope1" },
  { name: "scope2", pointer: "/projected_emissions/-/emissions/scope2" },
  { name: "scope3", pointer: "/projected_emissions/-/emissions/scope3" },
  { name: "revenue", pointer: "/projected_emissions/-/financials/revenue" },
  { name: "label", pointer: "/projected_emissions/-/label" },
  { name: "probability", pointer: "/projected_emissions/-/probability" },
] as const satisfies readonly Column[];
type ColumnName = (typeof ENTITY_CSV_COLUMNS)[number]["name"];

/** The columns of an entity file; those of the projected year come last. */
export const ENTITY_COLUMN_NAMES: readonly ColumnName[] = ENTITY_CSV_COLUMNS.map(({ name }) => name);
const YEAR_POINTER = "/projected_emissions/-/";

/** Minimum number of rows per chunk, except for the last chunk. */
const CHUNK_ROW_COUNT_MIN = 1024;
/** Maximum number of rows of one entity, all of which are held in memory. */
const ENTITY_ROW_COUNT_MAX = 100_000;

/**
 * Reads entities from CSV (RFC 4180, commas, UTF-8, a header line): one row per projected year, with the entity and its
 * baseline repeated in each row. Consecutive rows form one entity if they have the same `identifier` or, without an
 * identifier, the same entity columns.
 *
 * @param reservedNames result columns, which the file must not contain
 * @throws Fault `invalid_request` if the header is invalid (missing, duplicate, reserved or misspelled columns) or the
 *   text is not CSV
 */
export async function openEntityCsv(
  sourceChunks: AsyncIterable<string>,
  reservedNames: readonly string[],
): Promise<EntitySource> {
  const rows = parseCsvRows(sourceChunks)[Symbol.asyncIterator]();
  const first = await rows.next();
  const [head, ...firstRows] = first.done === true ? [] : first.value;
  const header = readEntityHeader(head?.cells ?? [], reservedNames);
  const chunker = new CsvChunker(header);
  async function* chunks(): AsyncGenerator<EntityChunk> {
    for (let batch: readonly CsvRow[] = firstRows; ;) {
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
  /** Index of each known column in a row; -1 if the file does not have it. */
  readonly indices: Readonly<Record<ColumnName, number>>;
}

function readEntityHeader(cells: readonly string[], reservedNames: readonly string[]): Header {
  const names = cells.map((cell) => cell.trim());
  const faults = new FaultCollector();
  const reject = (column: string, detail: string): void => faults.add({ line: 1, column }, detail);
  const missing = ENTITY_CSV_COLUMNS.filter((column) => "isRequired" in column && !names.includes(column.name));
  for (const { name } of missing) reject(name, "the required column is missing.");
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) < index) reject(name, "duplicate column.");
    else if (reservedNames.includes(name))
      reject(name, "the name is reserved for a result column; rename this column.");
    else if (!ENTITY_COLUMN_NAMES.includes(name as ColumnName)) {
      // Unknown columns are passed through, but a misspelled known column would silently change the result.
      const suggestion = closestMatch(name, ENTITY_COLUMN_NAMES);
      if (suggestion === undefined || names.includes(suggestion)) continue;
      reject(name, `unknown column; did you mean ${suggestion}? Otherwise choose a less similar name.`);
    }
  }
  if (missing.length > 0 && names.length === 1) {
    throw new Fault(
      "invalid_request",
      `Line 1 has a single column, ${quote(names[0])}; columns must be separated by commas.`,
    );
  }
  faults.throwIfAny();
  const indices = Object.fromEntries(ENTITY_CSV_COLUMNS.map(({ name }) => [name, names.indexOf(name)]));
  return { names, indices: indices as Header["indices"] };
}

/** Groups rows into entities and entities into chunks. */
class CsvChunker {
  readonly #header: Header;
  /** Indices of the columns that describe the entity rather than a projected year. */
  readonly #entityIndices: readonly number[];
  /** Rows of the current entity, which may have more. */
  #current: CsvRow[] = [];
  #entities: CsvRow[][] = [];
  #rowCount = 0;
  #faults = new FaultCollector();

  constructor(header: Header) {
    this.#header = header;
    this.#entityIndices = ENTITY_CSV_COLUMNS.filter(({ pointer }) => !pointer.startsWith(YEAR_POINTER))
      .map(({ name }) => header.indices[name])
      .filter((index) => index >= 0);
  }

  *add(rows: readonly CsvRow[]): Generator<EntityChunk> {
    for (const row of rows) {
      if (row.cells.length !== this.#header.names.length) {
        const detail = `the row has ${row.cells.length} cells, but the header has ${this.#header.names.length}.`;
        this.#faults.add({ line: row.line }, detail);
        continue;
      }
      if (!this.#belongsToCurrent(row)) {
        if (this.#current.length > 0) this.#entities.push(this.#current);
        this.#current = [];
        if (this.#rowCount >= CHUNK_ROW_COUNT_MIN) yield this.#chunk();
      } else if (this.#current.length === ENTITY_ROW_COUNT_MAX) {
        const detail = `an entity must not have more than ${ENTITY_ROW_COUNT_MAX} rows.`;
        this.#faults.add({ line: row.line }, detail);
        this.#faults.throwIfAny();
      }
      this.#current.push(row);
      this.#rowCount++;
    }
  }

  *end(): Generator<EntityChunk> {
    if (this.#current.length > 0) this.#entities.push(this.#current);
    this.#current = [];
    yield this.#chunk();
  }

  #belongsToCurrent(row: CsvRow): boolean {
    const [first] = this.#current;
    if (first === undefined) return false;
    const identifierIndex = this.#header.indices.identifier;
    const identifier = row.cells[identifierIndex] ?? "";
    const hasIdentifier = identifier !== "";
    if (hasIdentifier && identifier !== first.cells[identifierIndex]) return false;
    for (const index of this.#entityIndices) {
      if (row.cells[index] === first.cells[index]) continue;
      if (!hasIdentifier) return false;
      const [value, firstValue] = [quote(row.cells[index]), quote(first.cells[index])];
      this.#faults.add(
        { line: row.line, column: this.#header.names[index] ?? "" },
        `${value} differs from ${firstValue} in line ${first.line} for the same entity ${quote(identifier)}.`,
      );
    }
    return true;
  }

  #chunk(): EntityChunk {
    const [entities, faults] = [this.#entities, this.#faults];
    this.#entities = [];
    this.#rowCount = 0;
    this.#faults = new FaultCollector();
    return {
      entities: entities.map((rows) => this.#entityOf(rows)),
      rows: entities.flatMap((rows) => rows.map(({ cells }) => cells)),
      faults,
      locationOf: (pointer) => locationOf(entities, pointer),
    };
  }

  /**
   * Builds an entity in the form of the JSON input. Numeric columns whose text is not a number keep the text, which
   * validation then rejects.
   */
  #entityOf(rows: readonly CsvRow[]): unknown {
    const [first] = rows;
    if (first === undefined) throw new Error("An entity has no row.");
    const text = this.#reader(first);
    const { indices } = this.#header;
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
          year: numberInCell(text("baseline_year")),
          emissions: {
            scope1: numberInCell(text("baseline_scope1")),
            scope2: numberInCell(text("baseline_scope2")),
            scope3: numberInCell(text("baseline_scope3")),
          },
          financials: {
            revenue: numberInCell(text("baseline_revenue")),
            ebitda: numberInCell(text("baseline_ebitda")),
            currency: text("currency"),
            price_year: numberInCell(text("price_year")),
          },
        },
      ],
      projected_emissions: rows.map((row) => {
        const text = this.#reader(row);
        return {
          year: numberInCell(text("year")),
          emissions: {
            scope1: numberInCell(text("scope1")),
            scope2: numberInCell(text("scope2")),
            scope3: numberInCell(text("scope3")),
          },
          ...(indices.revenue < 0 ? {} : { financials: { revenue: numberInCell(text("revenue")) } }),
          ...(indices.label < 0 ? {} : { label: text("label") }),
          ...(indices.probability < 0 ? {} : { probability: numberInCell(text("probability")) }),
        };
      }),
    };
  }

  /** Returns a function that reads a cell by column name; an empty cell is undefined. */
  #reader({ cells }: CsvRow): (name: ColumnName) => string | undefined {
    return (name) => {
      const cell = cells[this.#header.indices[name]];
      return cell === "" ? undefined : cell;
    };
  }
}

function numberInCell(text: string | undefined): number | string | undefined {
  return text === undefined ? undefined : parseNumber(text.trim());
}

/** Converts a JSON pointer, relative to the list of entities, to a line and column. */
function locationOf(entities: readonly (readonly CsvRow[])[], pointer: string): SourceLocation {
  const [, entityText = "", ...segments] = pointer.split("/");
  const rows = entities[Number(entityText)] ?? [];
  const isInYear = segments[0] === "projected_emissions" && segments[1] !== undefined;
  const row = rows[isInYear ? Number(segments[1]) : 0];
  const path = `/${(isInYear ? [segments[0], "-", ...segments.slice(2)] : segments).join("/")}`;
  const column = ENTITY_CSV_COLUMNS.find(
    (candidate) => candidate.pointer === path || candidate.pointer.startsWith(`${path}/`),
  );
  return { line: row === undefined ? 1 : row.line, ...(column === undefined ? {} : { column: column.name }) };
}
