// Writes a CSV table as TypeScript: an interface of its rows, and the rows.
import { parse } from "csv-parse/sync";

/**
 * The TypeScript type of the cells of each kind of column, and their conversion to literals. `list` cells hold texts
 * separated by `;`.
 * @type {Record<string, { type: string, parse: (cell: string) => string | undefined }>}
 */
const KINDS = {
  text: { type: "string", parse: (cell) => JSON.stringify(cell) },
  list: { type: "readonly string[]", parse: (cell) => JSON.stringify(cell === "" ? [] : cell.split(";")) },
  number: { type: "number", parse: numberLiteral },
  "number?": {
    type: "number | undefined",
    parse: (cell) => (cell === "" ? "undefined" : numberLiteral(cell)),
  },
};
const DECIMAL_NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** Returns undefined if the cell is not a decimal number. */
function numberLiteral(/** @type {string} */ cell) {
  return DECIMAL_NUMBER.test(cell) && Number.isFinite(Number(cell)) ? String(Number(cell)) : undefined;
}

/**
 * Returns the records with their line numbers.
 * @returns {{ record: string[], info: { lines: number } }[]}
 */
function parseRecords(/** @type {string} */ csv, /** @type {string} */ file) {
  try {
    return parse(csv, { info: true, bom: true });
  } catch (error) {
    throw new Error(`${file}: ${error.message}`, { cause: error });
  }
}

/**
 * Returns the TypeScript source of a table.
 * @param {string} csv RFC 4180 with a header row
 * @param {import("./tableSource.d.mts").Table} table
 */
export function tableSource(csv, { file, rows: rowsName, row: rowName, columns }) {
  const names = Object.keys(columns);
  const [header, ...records] = parseRecords(csv, file);
  if (header === undefined || records.length === 0) throw new Error(`${file}: no rows; expected a header and rows`);
  const unordered = new Set(header.record);
  if (
    unordered.size !== header.record.length ||
    header.record.length !== names.length ||
    !names.every((name) => unordered.has(name))
  ) {
    throw new Error(`${file}: the columns are ${header.record.join(", ")}; expected ${names.join(", ")}`);
  }
  const compiled = header.record.filter((name) => columns[name] !== "note");
  const lines = records.map(({ record, info }) => {
    const cells = compiled.map((name) => {
      const cell = record[header.record.indexOf(name)] ?? "";
      const literal = KINDS[columns[name]].parse(cell);
      if (literal !== undefined) return literal;
      throw new Error(`${file}: line ${info.lines}, column ${name}: "${cell}" is not a decimal number`);
    });
    return `  [${cells.join(",")}],`;
  });
  const typeOf = (/** @type {string} */ name) => KINDS[columns[name]].type;
  return [
    `/** A row of ${file}. */`,
    `export interface ${rowName} {`,
    ...compiled.map((name) => `  readonly ${JSON.stringify(name)}: ${typeOf(name)};`),
    "}",
    "",
    `const CELLS: readonly (readonly [${compiled.map(typeOf).join(", ")}])[] = [`,
    ...lines,
    "];",
    "",
    `/** The rows of ${file}, in the order of the file. */`,
    `export const ${rowsName}: readonly ${rowName}[] = CELLS.map((cells) => ({`,
    ...compiled.map((name, i) => `  ${JSON.stringify(name)}: cells[${i}],`),
    "}));",
    "",
  ].join("\n");
}
