/** Lists of places that users paste or upload: CSV with a header, as from a spreadsheet. */
import { type CsvDelimiter, type CsvRowError, csvRowErrorText, CsvSplitter } from "../../text/csv.ts";
import { Fault } from "../../errors.ts";
import { coordinateError, isInLimits, numberIn } from "../../places/readers/coordinates.ts";
import { findPlaceColumns, readColumnNames, type RequestedColumns } from "../../places/readers/placeColumnNames.ts";

export const PLACE_COUNT_MAX = 1000;
export const LIST_SIZE_BYTES_MAX = 4 << 20;

/** A row of the list. */
export interface ListRow {
  /** Line on which the row begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
  /** The identifier, or the line if the list has none. */
  readonly id: string;
  /** Undefined if the row is faulty. */
  readonly location: { readonly latitude: number; readonly longitude: number } | undefined;
  /** Errors of the row; empty if it has a location. */
  readonly errors: readonly string[];
}

/** Names of the columns that identify and locate the places. */
interface ListColumns {
  readonly id: string | undefined;
  readonly latitude: string;
  readonly longitude: string;
}

export interface PlaceList {
  readonly columns: readonly string[];
  readonly used: ListColumns;
  readonly rows: readonly ListRow[];
}

/** A list that cannot be used as a whole. */
export interface RefusedList {
  /** Sentences for the user. */
  readonly errors: readonly string[];
  /** The columns of the list, if the user has to choose among them; otherwise empty. */
  readonly columns: readonly string[];
}

const DELIMITERS: readonly CsvDelimiter[] = [",", ";", "\t"];
const USUAL_NAMES = { latitude: '"latitude" or "lat"', longitude: '"longitude" or "lon"' } as const;

/**
 * Parses a list. Faulty rows are kept with their errors; columns are found by their usual names unless they are given.
 */
export function parsePlaceList(text: string, requested: RequestedColumns = {}): PlaceList | RefusedList {
  let columns: readonly string[] = [];
  try {
    const content = text.replace(/^\ufeff/, "");
    const delimiter = delimiterOf(content);
    const rows = readRows(content, delimiter);
    const [header, ...others] = rows;
    if (header === undefined) return { errors: ["The list is empty."], columns };
    columns = readColumnNames(header.cells);
    if (others.length === 0) return { errors: ["The list has a header, but no places."], columns: [] };
    if (others.length > PLACE_COUNT_MAX) return { errors: [tooManyPlaces(others.length)], columns: [] };
    if (header.cells.every((cell) => cell.trim() === "" || !Number.isNaN(numberIn(cell)))) {
      const detail = 'The first line must name the columns, for example "name,latitude,longitude".';
      return { errors: [detail], columns: [] };
    }
    const indices = findPlaceColumns(columns, { requested, hasGeometry: false });
    const { latitude = -1, longitude = -1, id } = indices;
    const nameAt = (index: number): string => columns[index] ?? "";
    const used = {
      id: id === undefined ? undefined : nameAt(id),
      latitude: nameAt(latitude),
      longitude: nameAt(longitude),
    };
    return {
      columns,
      used,
      rows: others.map(({ cells, line, error }) => {
        const texts = coordinateTexts(cells[latitude] ?? null, cells[longitude] ?? null, delimiter);
        const errors =
          error === undefined ? rowErrors(cells, columns.length, texts, used) : [csvRowErrorText(error, columns)];
        const location = { latitude: numberIn(texts.latitude), longitude: numberIn(texts.longitude) };
        return {
          line,
          cells,
          id: rowId({ cells, line }, id),
          location: errors.length === 0 ? location : undefined,
          errors,
        };
      }),
    };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return { errors: faultSentences(error), columns };
  }
}

/** Returns the list with another column that names its places; undefined names them by their lines. */
export function renamePlaces(list: PlaceList, idColumn: string | undefined): PlaceList {
  const index = idColumn === undefined ? undefined : list.columns.indexOf(idColumn);
  return {
    ...list,
    used: { ...list.used, id: idColumn },
    rows: list.rows.map((row) => ({ ...row, id: rowId(row, index) })),
  };
}

function rowId({ cells, line }: Row, index: number | undefined): string {
  const given = index === undefined ? undefined : cells[index]?.trim();
  return given === undefined || given === "" ? `line ${line}` : given;
}

interface Row {
  readonly cells: readonly string[];
  readonly line: number;
  /** Why the row is malformed; undefined if it is not. */
  readonly error?: CsvRowError | undefined;
}

/** @throws Fault `invalid_request` naming the line if the header is malformed */
function readRows(text: string, delimiter: CsvDelimiter): readonly Row[] {
  const splitter = new CsvSplitter({ delimiter });
  splitter.push(text);
  splitter.end();
  const rows: Row[] = [];
  for (let cells = splitter.next(); cells !== undefined; cells = splitter.nextOrMalformed()) {
    const { rowLine: line, rowError: error } = splitter;
    // Spreadsheets write rows without content as delimiters only.
    if (error !== undefined || cells.some((cell) => cell.trim() !== "")) rows.push({ cells, line, error });
  }
  return rows;
}

/** Returns the delimiter that occurs most often in the header, outside quotes. */
function delimiterOf(text: string): CsvDelimiter {
  const header = /^[\r\n]*((?:[^"\r\n]|"[^"]*")*)/.exec(text)?.[1] ?? "";
  const unquoted = header.replaceAll(/"[^"]*"/g, "");
  const countOf = (delimiter: CsvDelimiter): number => unquoted.split(delimiter).length - 1;
  return DELIMITERS.reduce((best, delimiter) => (countOf(delimiter) > countOf(best) ? delimiter : best));
}

interface CoordinateTexts {
  readonly latitude: string | null;
  readonly longitude: string | null;
}

const DECIMAL_COMMA = /^\s*([+-]?\d+),(\d+)\s*$/;

/**
 * Returns the coordinates of a row with decimal points. Commas are decimal commas if the delimiter is the semicolon, as where
 * spreadsheets write both, and both coordinates have one.
 */
function coordinateTexts(latitude: string | null, longitude: string | null, delimiter: CsvDelimiter): CoordinateTexts {
  const hasCommas = [latitude, longitude].every((text) => text !== null && DECIMAL_COMMA.test(text));
  if (delimiter !== ";" || !hasCommas) return { latitude, longitude };
  const withPoint = (text: string | null): string | null => text?.replace(DECIMAL_COMMA, "$1.$2") ?? null;
  return { latitude: withPoint(latitude), longitude: withPoint(longitude) };
}

function rowErrors(
  cells: readonly string[],
  columnCount: number,
  { latitude, longitude }: CoordinateTexts,
  used: ListColumns,
): readonly string[] {
  if (cells.length > columnCount) {
    return [
      `the row has ${cells.length} cells, but the header has ${columnCount}; cells with the delimiter must be quoted`,
    ];
  }
  return (
    [
      ["latitude", latitude, used.latitude],
      ["longitude", longitude, used.longitude],
    ] as const
  ).flatMap(([kind, value, name]) =>
    isInLimits(kind, numberIn(value)) ? [] : [coordinateError({ name, kind }, value).message],
  );
}

function tooManyPlaces(count: number): string {
  return `The list has ${count} places; at most ${PLACE_COUNT_MAX} are accepted here. For longer lists, use "isotherm portfolio".`;
}

/** Returns the errors of columns without the options of the command line that they name. */
function faultSentences({ message, items }: Fault): readonly string[] {
  if (items.length === 0) return [message];
  return items.map((item) => {
    const role = item.pointer !== undefined ? item.pointer.split("/").at(-1) : undefined;
    const name = role === "id" ? "identifier" : role;
    if (item.allowed !== undefined) {
      return `The columns ${item.allowed.map((column) => `"${column}"`).join(" and ")} could both be the ${name}. Choose one of them.`;
    }
    if (item.code === "missing" && (role === "latitude" || role === "longitude")) {
      return `No column has a usual name of the ${role}, such as ${USUAL_NAMES[role]}. Choose the column.`;
    }
    return item.detail;
  });
}
