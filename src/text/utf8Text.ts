import { isAscii, isUtf8 } from "node:buffer";
import { Fault } from "../errors.ts";

/** Finds marks of bytes that are not UTF-8, in texts of `decodeMarkedUtf8`. */
export const INVALID_UTF8_MARK = /\udfff/u;

export const INVALID_UTF8 = "the text is not valid UTF-8";

const REPLACEMENT_CHARACTER = "\ufffd";
const ENCODED_REPLACEMENT_CHARACTER = Buffer.from(REPLACEMENT_CHARACTER);

/**
 * Decodes UTF-8 that is divided anywhere, without the byte order mark. A character that spans two chunks belongs to the
 * second.
 * @throws Fault `invalid_request` naming the line of the first invalid byte
 */
export function decodeUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let line = 1;
  return decodeChunks(chunks, (bytes) => {
    const text = validTextOf(bytes, line);
    line += newlineCount(text);
    return text;
  });
}

/**
 * As `decodeUtf8`, but does not throw: invalid bytes become marks (`INVALID_UTF8_MARK`), which are lone surrogates, so that
 * no valid text has them. The text must not be written before `withoutMarks`.
 */
export function decodeMarkedUtf8(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  return decodeChunks(chunks, markedTextOf);
}

/** Replaces marks of invalid bytes by U+FFFD. */
export function withoutMarks(text: string): string {
  return text.replaceAll(new RegExp(INVALID_UTF8_MARK, "gu"), REPLACEMENT_CHARACTER);
}

/** Returns the error of a file that is not UTF-8. @param line line of the first invalid byte, from 1 */
export function invalidUtf8Fault(line: number): Fault {
  return new Fault("invalid_request", `Line ${line}: ${INVALID_UTF8}. Save the file as UTF-8.`);
}

async function* decodeChunks(chunks: AsyncIterable<Buffer>, textOf: (bytes: Buffer) => string): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  let isStart = true;
  const decode = (bytes: Buffer): string => {
    const text = textOf(bytes);
    const isMarked = isStart && text.startsWith("\ufeff");
    if (text !== "") isStart = false;
    return isMarked ? text.slice(1) : text;
  };
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const size = bytes.length - unfinishedSize(bytes);
    rest = Buffer.from(bytes.subarray(size));
    yield decode(bytes.subarray(0, size));
  }
  if (rest.length > 0) yield decode(rest);
}

function validTextOf(bytes: Buffer, line: number): string {
  if (isAscii(bytes)) return bytes.toString("latin1");
  if (isUtf8(bytes)) return bytes.toString("utf8");
  throw invalidUtf8Fault(line + newlineCount(markedTextOf(bytes).split(INVALID_UTF8_MARK, 1)[0] ?? ""));
}

function markedTextOf(bytes: Buffer): string {
  if (isAscii(bytes)) return bytes.toString("latin1");
  if (isUtf8(bytes)) return bytes.toString("utf8");
  const parts: string[] = [];
  let start = 0;
  // The replacement characters of the text itself are valid.
  for (let end = bytes.indexOf(ENCODED_REPLACEMENT_CHARACTER); end >= 0;) {
    parts.push(bytes.toString("utf8", start, end));
    start = end + ENCODED_REPLACEMENT_CHARACTER.length;
    end = bytes.indexOf(ENCODED_REPLACEMENT_CHARACTER, start);
  }
  parts.push(bytes.toString("utf8", start));
  return parts.map((part) => part.replaceAll(REPLACEMENT_CHARACTER, "\udfff")).join(REPLACEMENT_CHARACTER);
}

/** Returns the size of a character at the end whose last bytes are missing; 0 if there is none. */
function unfinishedSize(bytes: Buffer): number {
  for (let size = 1; size <= Math.min(3, bytes.length); size++) {
    const byte = bytes[bytes.length - size] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const characterSize = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return characterSize > size ? size : 0;
  }
  return 0;
}

function newlineCount(text: string): number {
  let count = 0;
  for (let index = text.indexOf("\n"); index >= 0; index = text.indexOf("\n", index + 1)) count++;
  return count;
}
