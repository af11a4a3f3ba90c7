import { Fault } from "../../errors.ts";

const CR = 0x0d;
const LF = 0x0a;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** A position in a text. Lines end with LF, CR or CRLF; columns are characters. Both are counted from 1. */
export interface JsonPosition {
  readonly line: number;
  readonly column: number;
}

/** Returns the position of the end of a text that begins at `origin`. */
export function positionAfter(text: string, origin: JsonPosition): JsonPosition {
  let { line, column } = origin;
  let start = 0;
  if (!text.includes("\r")) {
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", start)) {
      line++;
      column = 1;
      start = end + 1;
    }
  }
  for (let index = start; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === LF || (code === CR && text.charCodeAt(index + 1) !== LF)) {
      line++;
      column = 1;
    } else if (code !== CR && !(code >= 0xdc00 && code <= 0xdfff)) column++;
  }
  return { line, column };
}

/** Returns the position of the end of UTF-8 text that is divided into parts. A byte order mark is not part of the text. */
export function positionAfterBytes(parts: readonly Uint8Array[]): JsonPosition {
  let line = 1;
  let column = 1;
  let isAfterCr = false;
  const [first] = parts;
  const skipCount = BYTE_ORDER_MARK.every((byte, index) => first?.[index] === byte) ? BYTE_ORDER_MARK.length : 0;
  for (const part of parts) {
    for (let index = part === first ? skipCount : 0; index < part.length; index++) {
      const byte = part[index] ?? 0;
      if (isAfterCr && byte !== LF) {
        line++;
        column = 1;
      }
      isAfterCr = byte === CR;
      if (byte === LF) {
        line++;
        column = 1;
      } else if (byte !== CR && (byte & 0xc0) !== 0x80) column++;
    }
  }
  return isAfterCr ? { line: line + 1, column: 1 } : { line, column };
}

/** Returns the error of a document that is not the JSON that we accept. */
export function malformedJson({ line, column }: JsonPosition, what: string): Fault {
  return new Fault("json_malformed", `Line ${line}, column ${column}: ${what}.`, { details: { line, column } });
}
