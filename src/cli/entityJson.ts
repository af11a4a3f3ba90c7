import { Fault } from "../errors.ts";
import { quote } from "../schemaErrors.ts";
import { type JsonPosition, parseJson, positionAfter } from "../host/http/json.ts";
import { type EntityChunk, type EntitySource, PlacedFaults, type SourcePiece } from "./entityFiles.ts";

/** Entities that are handed on together at most, and the text after which fewer are. */
const CHUNK_ENTITY_COUNT = 2048;
const CHUNK_SIZE_CHARACTERS = 1 << 21;
/** As long as a body of the HTTP service may be: without an end, a missing quote would take in the rest of the file. */
const ENTITY_SIZE_CHARACTERS_MAX = 8 << 20;

/** The text of an entity, with white space around it, and where the text begins. */
export interface Element {
  readonly text: string;
  readonly origin: JsonPosition;
}

/** Entities from NDJSON: one on each line; lines of white space alone are passed over. */
export function openNdjson(pieces: AsyncIterable<SourcePiece>): EntitySource {
  return { chunks: chunksOf(linesOf(pieces), (_index, steps) => steps) };
}

/** Entities from one JSON list, the body that the HTTP service takes. */
export function openJson(pieces: AsyncIterable<SourcePiece>): EntitySource {
  return { chunks: chunksOf(elementsOf(pieces), (index, steps) => [String(index), ...steps]) };
}

/** `stepsTo` says where in its line, or in the whole list, what lies within an entity stands: lists may have one line. */
async function* chunksOf(
  elements: AsyncIterable<Element>,
  stepsTo: (index: number, stepsWithin: readonly string[]) => readonly string[],
): AsyncGenerator<EntityChunk> {
  let takenCount = 0;
  let entities: unknown[] = [];
  let lines: number[] = [];
  let sizeCharacters = 0;
  const taken = (): EntityChunk => {
    const [chunkEntities, chunkLines, firstIndex] = [entities, lines, takenCount];
    takenCount += entities.length;
    [entities, lines, sizeCharacters] = [[], [], 0];
    return {
      entities: chunkEntities,
      faults: new PlacedFaults(),
      placeOf(pointer) {
        const [, entityText = "", ...stepsWithin] = pointer.split("/");
        const index = Number(entityText);
        const steps = stepsTo(firstIndex + index, stepsWithin);
        return { line: chunkLines[index] ?? 1, pointer: steps.map((step) => `/${step}`).join("") };
      },
    };
  };
  for await (const { text, origin } of elements) {
    entities.push(parseJson(text, origin));
    lines.push(positionAfter(text.slice(0, text.search(/[^ \t\r\n]/)), origin).line);
    sizeCharacters += text.length;
    if (entities.length === CHUNK_ENTITY_COUNT || sizeCharacters >= CHUNK_SIZE_CHARACTERS) yield taken();
  }
  yield taken();
}

/** The lines of NDJSON, but for those of white space alone. */
export async function* linesOf(pieces: AsyncIterable<SourcePiece>): AsyncGenerator<Element> {
  let line = 1;
  let rest = "";
  for await (const { text: piece } of pieces) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const text of lines) {
      if (text.trim() !== "") yield { text, origin: { line, column: 1 } };
      line++;
    }
    refuseEndless(rest, line);
  }
  if (rest.trim() !== "") yield { text: rest, origin: { line, column: 1 } };
}

/** Cuts a list at the commas between its elements, and leaves it to the reading of each what is wrong inside. */
export async function* elementsOf(pieces: AsyncIterable<SourcePiece>): AsyncGenerator<Element> {
  let place: "before" | "inside" | "after" = "before";
  let at: JsonPosition = { line: 1, column: 1 };
  let depth = 0;
  let isString = false;
  let count = 0;
  let rest = "";
  /** How much of `rest` has been looked at. */
  let scanned = 0;
  const sign = /["\\[\]{},]/g;

  for await (const { text: piece } of pieces) {
    rest += piece;
    if (place === "before") {
      const start = rest.search(/[^ \t\r\n]/);
      if (start < 0) continue;
      at = positionAfter(rest.slice(0, start), at);
      if (rest[start] !== "[") throw misplaced(at, rest.slice(start), "a list of entities");
      at = positionAfter("[", at);
      rest = rest.slice(start + 1);
      place = "inside";
    }
    sign.lastIndex = scanned;
    for (let match = sign.exec(rest); place === "inside" && match !== null; match = sign.exec(rest)) {
      const [found] = match;
      if (found === "\\") {
        // The letter after it is part of the escape, also where the next piece brings it.
        if (isString) sign.lastIndex = scanned = match.index + 2;
      } else if (found === '"') isString = !isString;
      else if (isString) continue;
      else if (found === "[" || found === "{") depth++;
      else if (depth > 0 && found !== ",") depth--;
      else if (depth === 0 && found !== "{" && found !== "}") {
        const text = rest.slice(0, match.index);
        const isEnd = found === "]";
        if (text.trim() !== "") yield { text, origin: at };
        else if (!isEnd || count > 0) throw misplaced(positionAfter(text, at), found, "an entity");
        count++;
        at = positionAfter(text + found, at);
        rest = rest.slice(match.index + 1);
        sign.lastIndex = scanned = 0;
        if (isEnd) place = "after";
      }
    }
    if (place === "after") {
      const start = rest.search(/[^ \t\r\n]/);
      if (start >= 0) throw misplaced(positionAfter(rest.slice(0, start), at), rest.slice(start), "the end");
      at = positionAfter(rest, at);
      rest = "";
    }
    scanned = Math.max(scanned, rest.length);
    refuseEndless(rest, at.line);
  }
  if (place === "before") throw misplaced(positionAfter(rest, at), "", "a list of entities");
  if (place === "inside") {
    // An element that is broken off has more to say about what is missing.
    if (rest.trim() !== "" || count > 0) parseJson(rest, at);
    throw misplaced(positionAfter(rest, at), "", "the end of the list");
  }
}

function refuseEndless(rest: string, line: number): void {
  if (rest.length <= ENTITY_SIZE_CHARACTERS_MAX) return;
  const message = `Line ${line}: what begins here is longer than ${ENTITY_SIZE_CHARACTERS_MAX} characters, too long for one entity.`;
  throw new Fault("invalid_request", message);
}

function misplaced({ line, column }: JsonPosition, text: string, expected: string): Fault {
  const found = text === "" ? "the document ends" : `there is ${quote(String.fromCodePoint(text.codePointAt(0) ?? 0))}`;
  const message = `Line ${line}, column ${column}: ${found} where ${expected} is expected.`;
  return new Fault("json_malformed", message, { details: { line, column } });
}
