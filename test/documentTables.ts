/** Tables of Markdown pages. */

/**
 * Returns the cells of the rows of a table, without its heading.
 * @param firstHeading heading of its first column, by which the table is found
 * @throws Error if the page has no such table
 */
export function tableRows(page: string, firstHeading: string): readonly (readonly string[])[] {
  const lines = page.split("\n");
  const first = lines.findIndex((line) => line.startsWith("|") && cellsOf(line)[0] === firstHeading);
  if (first < 0) throw new Error(`the page has no table with the first column ${JSON.stringify(firstHeading)}`);
  const rows = lines.slice(first + 2);
  const end = rows.findIndex((line) => !line.startsWith("|"));
  return rows.slice(0, end < 0 ? rows.length : end).map(cellsOf);
}

function cellsOf(line: string): readonly string[] {
  return line
    .split("|")
    .slice(1, -1)
    .map((cell) => cell.trim());
}

/** Returns the contents of the code spans in a text. */
export function codeSpansIn(text: string): readonly string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}
