/** A row, the line on which it begins, and the line of its error if it is malformed. */
export interface OracleRow {
  readonly cells: readonly string[];
  readonly line: number;
  readonly errorLine: number | undefined;
}

/** Splits complete text without rows that are too long. */
export function splitCsv(text: string, delimiter: string): readonly OracleRow[] {
  const rows: OracleRow[] = [];
  let [offset, line, ambiguousLineMax] = [0, 1, 0];
  while (offset < text.length) {
    const lineEnd = offset + (/[\r\n]|$/.exec(text.slice(offset))?.index ?? 0);
    if (lineEnd === offset) {
      offset = afterLineBreak(text, offset);
      line++;
      continue;
    }
    const row = readRow(text, { offset, line, ambiguousLineMax, delimiter });
    if ("cells" in row) {
      rows.push({ cells: row.cells, line, errorLine: undefined });
      offset = afterLineBreak(text, row.end);
      line = row.line + 1;
    } else {
      rows.push({ cells: text.slice(offset, lineEnd).split(delimiter), line, errorLine: row.errorLine });
      ambiguousLineMax = Math.max(ambiguousLineMax, row.foundLine);
      offset = afterLineBreak(text, lineEnd);
      line++;
    }
  }
  return rows;
}

type ReadRow =
  | { readonly cells: readonly string[]; readonly end: number; readonly line: number }
  | { readonly errorLine: number; readonly foundLine: number };

function readRow(
  text: string,
  at: {
    readonly offset: number;
    readonly line: number;
    readonly ambiguousLineMax: number;
    readonly delimiter: string;
  },
): ReadRow {
  const cells: string[] = [];
  let { offset, line } = at;
  let hasQuoteAsText = false;
  for (;;) {
    if (text[offset] === '"') {
      const quoted = /^"((?:[^"]|"")*)"(?!")/.exec(text.slice(offset));
      if (quoted === null) return { errorLine: line, foundLine: Infinity };
      const [{ length }, content = ""] = quoted;
      cells.push(content.replaceAll('""', '"'));
      line += content.split(/\r\n|\r|\n/).length - 1;
      offset += length;
    } else {
      const start = offset;
      while (offset < text.length && ![at.delimiter, "\r", "\n"].includes(text[offset] ?? "")) offset++;
      const content = text.slice(start, offset);
      cells.push(content);
      hasQuoteAsText ||= content.includes('"');
    }
    const isAmbiguous = line > at.line || line <= at.ambiguousLineMax;
    if (hasQuoteAsText && isAmbiguous) return { errorLine: line, foundLine: line };
    const next = text[offset];
    if (next === undefined || next === "\r" || next === "\n") return { cells, end: offset, line };
    if (next !== at.delimiter) return { errorLine: line, foundLine: line };
    offset++;
  }
}

function afterLineBreak(text: string, offset: number): number {
  return text.startsWith("\r\n", offset) ? offset + 2 : offset + 1;
}
