import { Fault } from "../../errors.ts";
import { type JsonPosition, parseJson, positionAfter } from "../../text/json/json.ts";
import {
  BACKSLASH,
  CLOSING_BRACE,
  CLOSING_BRACKET,
  COLON,
  COMMA,
  LF,
  OPENING_BRACE,
  OPENING_BRACKET,
  QUOTE,
  SPACE,
  TAB,
} from "../../text/json/jsonScan.ts";
import { INVALID_UTF8_MARK, invalidUtf8Fault } from "../../text/utf8Text.ts";

/** The text of a JSON value within a file. */
export interface JsonRecord {
  readonly text: string;
  /** Returns the position of the text in the file. */
  position(): JsonPosition;
}

/** The body limit of the HTTP service. Without a maximum, a missing quote would buffer the rest of the file. */
const RECORD_SIZE_CHARACTERS_MAX = 8 << 20;

/** Splits NDJSON into its lines and skips blank ones. Yields the lines that each piece of text completes. */
export async function* splitJsonLines(texts: AsyncIterable<string>): AsyncGenerator<readonly JsonRecord[]> {
  let line = 1;
  let rest = "";
  const addTo = (records: JsonRecord[], text: string): void => {
    checkRecordSize(text.length, line);
    if (text.charCodeAt(0) === OPENING_BRACE || text.trim() !== "") records.push(new JsonLine(text, line));
    line++;
  };
  for await (const text of texts) {
    rest += text;
    const records: JsonRecord[] = [];
    let start = 0;
    for (let end = rest.indexOf("\n"); end >= 0; end = rest.indexOf("\n", start)) {
      addTo(records, rest.slice(start, end));
      start = end + 1;
    }
    rest = rest.slice(start);
    checkRecordSize(rest.length, line);
    if (records.length > 0) yield records;
  }
  const last: JsonRecord[] = [];
  addTo(last, rest);
  if (last.length > 0) yield last;
}

class JsonLine implements JsonRecord {
  readonly text: string;
  readonly #line: number;

  constructor(text: string, line: number) {
    this.text = text;
    this.#line = line;
  }

  position(): JsonPosition {
    return { line: this.#line, column: 1 };
  }
}

function checkRecordSize(sizeCharacters: number, line: number): void {
  if (sizeCharacters <= RECORD_SIZE_CHARACTERS_MAX) return;
  const message = `Line ${line}: a place must be at most ${RECORD_SIZE_CHARACTERS_MAX} characters long.`;
  throw new Fault("invalid_request", message, { details: { line } });
}

/**
 * Splits a GeoJSON document into the elements of its list `features`. Yields the elements that each piece of text
 * completes. The elements are not parsed.
 *
 * @param onDocument called at the end with the document, whose `features` are an empty list
 * @throws Fault naming line and column if the document around the features is not valid JSON
 */
export async function* splitFeatures(
  texts: AsyncIterable<string>,
  onDocument: (document: unknown) => void,
): AsyncGenerator<readonly JsonRecord[]> {
  const splitter = new FeatureSplitter();
  for await (const text of texts) {
    const records = splitter.push(text);
    if (records.length > 0) yield records;
  }
  onDocument(splitter.end());
}

const FILE_START: JsonPosition = { line: 1, column: 1 };

class FeatureSplitter {
  #text = "";
  /** Position in the file of the beginning of `#text`. */
  #position = FILE_START;
  /** Number of scanned characters of `#text`. */
  #index = 0;
  /** Start of the current feature or, outside the list, of the text that is not yet part of `#document`. */
  #start = 0;
  #state: "document" | "features" = "document";
  /** Number of open objects and lists of the document, or of the current feature. */
  #depth = 0;
  #hasFeature = false;
  /** The document without features. White space stands for the line breaks, so that positions stay right. */
  #document = "";

  push(text: string): readonly JsonRecord[] {
    this.#position = positionAfter(this.#text.slice(0, this.#start), this.#position);
    this.#text = this.#text.slice(this.#start) + text;
    this.#index -= this.#start;
    this.#start = 0;
    const records: JsonRecord[] = [];
    const hasSpace = (): boolean => this.#index < this.#text.length;
    while (hasSpace() && (this.#state === "document" ? this.#scanDocument() : this.#scanFeatures(records)));
    if (this.#text.length - this.#start > RECORD_SIZE_CHARACTERS_MAX) {
      checkRecordSize(this.#text.length - this.#start, this.#positionAt(this.#start).line);
    }
    return records;
  }

  /** @throws Fault `json_malformed` if the document is not valid JSON, `invalid_request` if it is not UTF-8 */
  end(): unknown {
    if (this.#state === "features") this.#document += this.#padding(this.#start);
    const document = this.#document + this.#text.slice(this.#start);
    const invalidIndex = document.search(INVALID_UTF8_MARK);
    if (invalidIndex >= 0) throw invalidUtf8Fault(positionAfter(document.slice(0, invalidIndex), FILE_START).line);
    return parseJson(document);
  }

  /** Scans the next token outside the features. @returns whether there was a complete one */
  #scanDocument(): boolean {
    const code = this.#text.charCodeAt(this.#index);
    if (code !== QUOTE) {
      if (code === OPENING_BRACE || code === OPENING_BRACKET) this.#depth++;
      else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) this.#depth--;
      this.#index++;
      return true;
    }
    const end = stringEnd(this.#text, this.#index);
    if (end === undefined) return false;
    const colon = skipSpace(this.#text, end);
    const value = skipSpace(this.#text, colon + 1);
    if (value >= this.#text.length) return false;
    const isList = this.#text.charCodeAt(colon) === COLON && this.#text.charCodeAt(value) === OPENING_BRACKET;
    if (this.#depth !== 1 || !isList || !isFeaturesKey(this.#text.slice(this.#index, end))) {
      this.#index = end;
      return true;
    }
    this.#document += this.#text.slice(this.#start, value + 1);
    checkRecordSize(this.#document.length, this.#position.line);
    this.#start = this.#index = value + 1;
    this.#state = "features";
    this.#depth = 0;
    this.#hasFeature = false;
    return true;
  }

  /** Scans to the end of the current feature. @returns whether it was complete */
  #scanFeatures(records: JsonRecord[]): boolean {
    const text = this.#text;
    for (let index = this.#index; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (code === QUOTE) {
        const end = stringEnd(text, index);
        if (end === undefined) {
          this.#index = index;
          return false;
        }
        index = end - 1;
      } else if (code === OPENING_BRACE || code === OPENING_BRACKET) this.#depth++;
      else if (this.#depth > 0) {
        if (code === CLOSING_BRACE || code === CLOSING_BRACKET) this.#depth--;
      } else if (code === COMMA || code === CLOSING_BRACKET) {
        this.#endFeature(records, index, code === CLOSING_BRACKET);
        return true;
      }
    }
    this.#index = text.length;
    return false;
  }

  #endFeature(records: JsonRecord[], end: number, isLast: boolean): void {
    const start = this.#start;
    const text = this.#text.slice(start, end);
    const isBlank = skipSpace(text, 0) === text.length;
    if (!isBlank || !isLast || this.#hasFeature) {
      const [piece, position] = [this.#text, this.#position];
      records.push({ text, position: () => positionAfter(piece.slice(0, start), position) });
    }
    this.#hasFeature = true;
    this.#index = end + 1;
    this.#start = this.#index;
    if (!isLast) return;
    this.#start = end;
    this.#state = "document";
    this.#depth = 1;
    this.#document += this.#padding(end);
  }

  /** Returns white space with which the next character of the document is at its position in the file. */
  #padding(index: number): string {
    return paddingTo(this.#positionAt(index), positionAfter(this.#document, FILE_START));
  }

  #positionAt(index: number): JsonPosition {
    return positionAfter(this.#text.slice(0, index), this.#position);
  }
}

/** Returns white space that moves from one position to a later one. */
function paddingTo(target: JsonPosition, from: JsonPosition): string {
  const lineCount = target.line - from.line;
  return "\n".repeat(lineCount) + " ".repeat(target.column - (lineCount > 0 ? 1 : from.column));
}

function isFeaturesKey(literal: string): boolean {
  if (!literal.includes("\\")) return literal === '"features"';
  try {
    return JSON.parse(literal) === "features";
  } catch {
    return false;
  }
}

/** Returns the position after a string; undefined if it does not end. */
function stringEnd(text: string, start: number): number | undefined {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let backslashCount = 0;
    while (text.charCodeAt(end - 1 - backslashCount) === BACKSLASH) backslashCount++;
    if (backslashCount % 2 === 0) return end + 1;
  }
  return undefined;
}

/** Returns the position of the first character that is not white space, or the end. */
function skipSpace(text: string, start: number): number {
  let index = start;
  while (index < text.length) {
    const code = text.charCodeAt(index);
    if (code > SPACE || (code !== SPACE && code !== LF && code !== 0x0d && code !== TAB)) break;
    index++;
  }
  return index;
}

/** Returns the texts of the values of a valid JSON object, by name. */
export function memberTexts(object: string): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  let index = skipSpace(object, skipSpace(object, 0) + 1);
  while (object.charCodeAt(index) === QUOTE) {
    const nameEnd = stringEnd(object, index) ?? object.length;
    const name = JSON.parse(object.slice(index, nameEnd)) as string;
    const start = skipSpace(object, skipSpace(object, nameEnd) + 1);
    const end = valueEnd(object, start);
    texts.set(name, object.slice(start, end).trimEnd());
    index = skipSpace(object, end + 1);
  }
  return texts;
}

/** Returns the position of the comma or brace after a value of an object. */
function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let index = start; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = (stringEnd(text, index) ?? text.length) - 1;
    else if (code === OPENING_BRACE || code === OPENING_BRACKET) depth++;
    else if (depth === 0 && (code === COMMA || code === CLOSING_BRACE)) return index;
    else if (code === CLOSING_BRACE || code === CLOSING_BRACKET) depth--;
  }
  return text.length;
}
