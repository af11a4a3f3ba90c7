import { Fault } from "../errors.ts";
import { quote } from "../schemaErrors.ts";
import { type JsonPosition, parseJson, positionAfter } from "../host/http/json.ts";
import { type EntityChunk, type EntitySource, FaultCollector } from "./entitySource.ts";
import type { SourceChunk } from "./fileIo.ts";

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
export function openEntityNdjson(chunks: AsyncIterable<SourceChunk>): EntitySource {
  return { chunks: chunksOf(splitLines(chunks), (_index, steps) => steps) };
}

/** Reads entities from a JSON list, the body format of the HTTP service. */
export function openEntityJson(chunks: AsyncIterable<SourceChunk>): EntitySource {
  return { chunks: chunksOf(splitJsonList(chunks), (index, steps) => [String(index), ...steps]) };
}

/** @param stepsTo converts the steps of a JSON pointer within an entity to steps from its line or from the whole list */
async function* chunksOf(
  elements: AsyncIterable<JsonElement>,
  stepsTo: (index: number, entitySteps: readonly string[]) => readonly string[],
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
        const [, entityText = "", ...entitySteps] = pointer.split("/");
        const index = Number(entityText);
        const steps = stepsTo(firstIndex + index, entitySteps);
        return { line: chunkLines[index] ?? 1, pointer: steps.map((step) => `/${step}`).join("") };
      },
    };
  };
  for await (const { text, origin } of elements) {
    entities.push(parseJson(text, origin));
    lines.push(positionAfter(text.slice(0, text.search(/[^ \t\r\n]/)), origin).line);
    sizeCharacters += text.length;
    if (entities.length === CHUNK_ENTITY_COUNT || sizeCharacters >= CHUNK_SIZE_CHARACTERS) yield takeChunk();
  }
  yield takeChunk();
}

/** Splits NDJSON into lines and skips blank ones. */
export async function* splitLines(chunks: AsyncIterable<SourceChunk>): AsyncGenerator<JsonElement> {
  let line = 1;
  let rest = "";
  for await (const { text: chunk } of chunks) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) {
      if (text.trim() !== "") yield { text, origin: { line, column: 1 } };
      line++;
    }
    checkEntitySize(rest, line);
  }
  if (rest.trim() !== "") yield { text: rest, origin: { line, column: 1 } };
}

/** Splits a JSON list at the commas between its elements. The elements themselves are not validated. */
export async function* splitJsonList(chunks: AsyncIterable<SourceChunk>): AsyncGenerator<JsonElement> {
  let state: "before" | "inside" | "after" = "before";
  let at: JsonPosition = { line: 1, column: 1 };
  let depth = 0;
  let isString = false;
  let count = 0;
  let rest = "";
  /** Number of characters of `rest` that have been scanned. */
  let scanned = 0;
  const sign = /["\\[\]{},]/g;

  for await (const { text: chunk } of chunks) {
    rest += chunk;
    if (state === "before") {
      const start = rest.search(/[^ \t\r\n]/);
      if (start < 0) continue;
      at = positionAfter(rest.slice(0, start), at);
      if (rest[start] !== "[") throw unexpectedToken(at, rest.slice(start), "a list of entities");
      at = positionAfter("[", at);
      rest = rest.slice(start + 1);
      state = "inside";
    }
    sign.lastIndex = scanned;
    for (let match = sign.exec(rest); state === "inside" && match !== null; match = sign.exec(rest)) {
      const [found] = match;
      if (found === "\\") {
        // Skip the escaped character, even if it arrives with the next chunk.
        if (isString) sign.lastIndex = scanned = match.index + 2;
      } else if (found === '"') isString = !isString;
      else if (isString) continue;
      else if (found === "[" || found === "{") depth++;
      else if (depth > 0 && found !== ",") depth--;
      else if (depth === 0 && found !== "{" && found !== "}") {
        const text = rest.slice(0, match.index);
        const isEnd = found === "]";
        if (text.trim() !== "") yield { text, origin: at };
        else if (!isEnd || count > 0) throw unexpectedToken(positionAfter(text, at), found, "an entity");
        count++;
        at = positionAfter(text + found, at);
        rest = rest.slice(match.index + 1);
        sign.lastIndex = scanned = 0;
        if (isEnd) state = "after";
      }
    }
    if (state === "after") {
      const start = rest.search(/[^ \t\r\n]/);
      if (start >= 0) throw unexpectedToken(positionAfter(rest.slice(0, start), at), rest.slice(start), "the end");
      at = positionAfter(rest, at);
      rest = "";
    }
    scanned = Math.max(scanned, rest.length);
    checkEntitySize(rest, at.line);
  }
  if (state === "before") throw unexpectedToken(positionAfter(rest, at), "", "a list of entities");
  if (state === "inside") {
    // Parsing a truncated element gives a more specific error.
    if (rest.trim() !== "" || count > 0) parseJson(rest, at);
    throw unexpectedToken(positionAfter(rest, at), "", "the end of the list");
  }
}

function checkEntitySize(rest: string, line: number): void {
  if (rest.length <= ENTITY_SIZE_CHARACTERS_MAX) return;
  const message = `Line ${line}: the entity that begins here is longer than ${ENTITY_SIZE_CHARACTERS_MAX} characters.`;
  throw new Fault("invalid_request", message);
}

function unexpectedToken({ line, column }: JsonPosition, text: string, expected: string): Fault {
  const found = text === "" ? "the document ends" : `found ${quote(String.fromCodePoint(text.codePointAt(0) ?? 0))}`;
  const message = `Line ${line}, column ${column}: ${found} where ${expected} is expected.`;
  return new Fault("json_malformed", message, { details: { line, column } });
}
