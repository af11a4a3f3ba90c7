import { Fault } from "../errors.ts";
import { quote } from "../validation/schemaErrors.ts";
import { type JsonPosition, parseJson, positionAfter } from "../text/json/json.ts";
import { type EntityChunk, type EntitySource, FaultCollector } from "./entitySource.ts";

/** Maximum number of entities per chunk, and the text length at which a chunk ends earlier. */
const CHUNK_ENTITY_COUNT = 2048;
const CHUNK_SIZE_CHARACTERS = 1 << 21;
/** The body limit of the HTTP service. Without a maximum, a missing quote would buffer the rest of the file. */
const ENTITY_SIZE_CHARACTERS_MAX = 8 << 20;

/** The text of an entity, including surrounding white space, and the position at which it begins. */
export interface JsonElement {
  readonly text: string;
  readonly origin: JsonPosition;
}

/** Reads entities from NDJSON, one per line. Blank lines are skipped. */
export function openEntityNdjson(chunks: AsyncIterable<string>): EntitySource {
  return { chunks: chunksOf(splitLines(chunks), (_index, tokens) => tokens) };
}

/** Reads entities from a JSON list, the body format of the HTTP service. */
export function openEntityJson(chunks: AsyncIterable<string>): EntitySource {
  return { chunks: chunksOf(splitJsonList(chunks), (index, tokens) => [String(index), ...tokens]) };
}

/** @param toSourceTokens converts the tokens of a JSON pointer into an entity to those of a pointer into its line or the list */
async function* chunksOf(
  elements: AsyncIterable<JsonElement>,
  toSourceTokens: (index: number, entityTokens: readonly string[]) => readonly string[],
): AsyncGenerator<EntityChunk> {
  let yieldedCount = 0;
  let entities: unknown[] = [];
  let lines: number[] = [];
  let sizeCharacters = 0;
  const takeChunk = (): EntityChunk => {
    const [chunkEntities, chunkLines, firstIndex] = [entities, lines, yieldedCount];
    yieldedCount += entities.length;
    [entities, lines, sizeCharacters] = [[], [], 0];
    return {
      entities: chunkEntities,
      faults: new FaultCollector(),
      locationOf(pointer) {
        const [, entityText = "", ...entityTokens] = pointer.split("/");
        const index = Number(entityText);
        const tokens = toSourceTokens(firstIndex + index, entityTokens);
        return { line: chunkLines[index] ?? 1, pointer: tokens.map((token) => `/${token}`).join("") };
      },
    };
  };
  for await (const { text, origin } of elements) {
    entities.push(parseJson(text, origin));
    lines.push(textPosition(text, origin).line);
    sizeCharacters += text.length;
    if (entities.length === CHUNK_ENTITY_COUNT || sizeCharacters >= CHUNK_SIZE_CHARACTERS) yield takeChunk();
  }
  yield takeChunk();
}

/** Splits NDJSON into lines and skips blank ones. */
export async function* splitLines(chunks: AsyncIterable<string>): AsyncGenerator<JsonElement> {
  let line = 1;
  let rest = "";
  for await (const chunk of chunks) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) {
      if (text.trim() !== "") yield { text, origin: { line, column: 1 } };
      line++;
    }
    checkEntitySize(rest, { line, column: 1 });
  }
  if (rest.trim() !== "") yield { text: rest, origin: { line, column: 1 } };
}

/** Splits a JSON list at the commas between its elements. The elements themselves are not validated. */
export async function* splitJsonList(chunks: AsyncIterable<string>): AsyncGenerator<JsonElement> {
  let state: "before" | "inside" | "after" = "before";
  /** The position of the first character of `rest`. */
  let position: JsonPosition = { line: 1, column: 1 };
  let depth = 0;
  let isInString = false;
  let elementCount = 0;
  let rest = "";
  /** Number of characters of `rest` that have been scanned. */
  let scannedCount = 0;
  const structuralCharacter = /["\\[\]{},]/g;

  for await (const chunk of chunks) {
    rest += chunk;
    if (state === "before") {
      [rest, position] = skipWhiteSpace(rest, position);
      if (rest === "" || rest === "\r") continue;
      if (!rest.startsWith("[")) throw await notAList(rest, position, chunks);
      position = positionAfter("[", position);
      rest = rest.slice(1);
      state = "inside";
    }
    structuralCharacter.lastIndex = scannedCount;
    for (;;) {
      const match = state === "inside" ? structuralCharacter.exec(rest) : null;
      if (match === null) break;
      const [character] = match;
      if (character === "\\") {
        // Skip the escaped character, even if it arrives with the next chunk.
        if (isInString) structuralCharacter.lastIndex = scannedCount = match.index + 2;
      } else if (character === '"') isInString = !isInString;
      else if (isInString) continue;
      else if (character === "[" || character === "{") depth++;
      else if (depth > 0 && character !== ",") depth--;
      else if (depth === 0 && character !== "}") {
        const text = rest.slice(0, match.index);
        const isEnd = character === "]";
        if (text.trim() !== "") yield { text, origin: position };
        else if (!isEnd || elementCount > 0)
          throw unexpectedToken(positionAfter(text, position), character, "an entity");
        elementCount++;
        position = positionAfter(text + character, position);
        rest = rest.slice(match.index + 1);
        structuralCharacter.lastIndex = scannedCount = 0;
        if (isEnd) state = "after";
      }
    }
    if (state === "after") {
      [rest, position] = skipWhiteSpace(rest, position);
      if (rest !== "" && rest !== "\r") throw unexpectedToken(position, rest, "the end");
    }
    scannedCount = Math.max(scannedCount, rest.length);
    checkEntitySize(rest, position);
  }
  if (state === "before") throw unexpectedToken(positionAfter(rest, position), "", "an array of entities");
  if (state === "inside") {
    // Parsing a truncated element gives a more specific error.
    if (rest.trim() !== "" || elementCount > 0) parseJson(rest, position);
    throw unexpectedToken(positionAfter(rest, position), "", "the end of the array");
  }
}

/**
 * Removes white space from the beginning of a text, and returns the rest with its position. A carriage return at the end
 * stays: the next chunk may begin with the line feed of the same line break.
 */
function skipWhiteSpace(text: string, origin: JsonPosition): [string, JsonPosition] {
  const textIndex = text.search(/[^ \t\r\n]/);
  const start = textIndex >= 0 ? textIndex : text.length - (text.endsWith("\r") ? 1 : 0);
  return [text.slice(start), positionAfter(text.slice(0, start), origin)];
}

/** Returns the position of the first character of a text that is not white space. */
export function textPosition(text: string, origin: JsonPosition): JsonPosition {
  return positionAfter(text.slice(0, text.search(/[^ \t\r\n]/)), origin);
}

/** @param origin the position of the first character of `text`, which may be white space */
function checkEntitySize(text: string, origin: JsonPosition): void {
  if (text.length <= ENTITY_SIZE_CHARACTERS_MAX) return;
  const { line } = textPosition(text, origin);
  const message = `Line ${line}: the entity that begins on this line must be at most ${ENTITY_SIZE_CHARACTERS_MAX} characters long.`;
  throw new Fault("invalid_request", message);
}

/** Returns the error of a file that does not begin with a list: `invalid_request` if it is JSON, else `json_malformed`. */
async function notAList(start: string, position: JsonPosition, chunks: AsyncIterable<string>): Promise<Fault> {
  const fault = unexpectedToken(position, start, "an array of entities");
  let text = start;
  for await (const chunk of chunks) {
    text += chunk;
    if (text.length > ENTITY_SIZE_CHARACTERS_MAX) return fault;
  }
  try {
    parseJson(text, position);
  } catch {
    return fault;
  }
  return new Fault("invalid_request", fault.message, { details: fault.details });
}

function unexpectedToken({ line, column }: JsonPosition, text: string, expected: string): Fault {
  const description =
    text === "" ? "the document ends" : `found ${quote(String.fromCodePoint(text.codePointAt(0) ?? 0))}`;
  const message = `Line ${line}, column ${column}: ${description} where ${expected} is expected.`;
  return new Fault("json_malformed", message, { details: { line, column } });
}
