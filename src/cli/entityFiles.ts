import { createReadStream, type Stats } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { extname } from "node:path";
import { pipeline } from "node:stream/promises";
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultCode } from "../errors.ts";

export const ENTITY_FORMATS = ["csv", "json", "ndjson"] as const;
export type EntityFormat = (typeof ENTITY_FORMATS)[number];

/** The name of standard input, or output, where a file's is expected. */
export const STANDARD = "-";

/** Entities of a file, some at a time, so that any length of it needs the same memory. */
export interface EntitySource {
  /** Of CSV: its columns, in order. */
  readonly columnNames?: readonly string[];
  readonly chunks: AsyncIterable<EntityChunk>;
}

export interface EntityChunk {
  /** As the file has them, not yet checked. */
  readonly entities: readonly unknown[];
  /** Of CSV: the cells of each projected year, entity by entity. */
  readonly rows?: readonly (readonly string[])[];
  /** What is wrong with the file rather than with an entity. */
  readonly faults: PlacedFaults;
  /** Where in the file that lies which a JSON pointer into `entities` names. */
  placeOf(pointer: string): SourcePlace;
}

/** Where in a file, for whoever has to put it right. */
export interface SourcePlace {
  /** From 1. */
  readonly line: number;
  /** A column of CSV, by its name. */
  readonly column?: string;
  /** A JSON pointer: into the list of a JSON file, or into the line of NDJSON. */
  readonly pointer?: string;
}

/** What is wrong in a file, gathered until it is told all at once. */
export class PlacedFaults {
  readonly #found: { readonly place: SourcePlace; readonly detail: string }[] = [];

  get count(): number {
    return this.#found.length;
  }

  add(place: SourcePlace, detail: string): void {
    if (this.#found.length < FAULT_ITEM_COUNT_MAX) this.#found.push({ place, detail });
  }

  /** @throws Fault with everything that was added, line by line */
  throwIfAny(code: FaultCode = "invalid_request"): void {
    const count = this.#found.length;
    if (count === 0) return;
    const items = this.#found
      .toSorted((one, other) => one.place.line - other.place.line)
      .map(({ place: { line, column, pointer }, detail }) => {
        const within = column === undefined ? (pointer ?? "") : `column ${column}`;
        return {
          pointer: "",
          code: "malformed" as const,
          detail: `line ${line}${within === "" ? "" : `, ${within}`}: ${detail}`,
        };
      });
    const many = count === FAULT_ITEM_COUNT_MAX ? `At least ${count} things are` : `${count} things are`;
    throw new Fault(code, count === 1 ? "One thing is wrong." : `${many} wrong.`, { items });
  }
}

/** The bytes of a file, or of standard input where its name is `-`. */
export async function* bytesOf(path: string, onBytes: (sizeBytes: number) => void): AsyncGenerator<Buffer> {
  const stream = path === STANDARD ? process.stdin : createReadStream(path, { highWaterMark: 1 << 18 });
  for await (const piece of stream as AsyncIterable<Buffer>) {
    yield piece;
    onBytes(piece.length);
  }
}

/** A piece of a file. */
export interface SourcePiece {
  readonly bytes: Buffer;
  /** What the bytes say; a letter that lies across two pieces is part of the second. */
  readonly text: string;
}

/**
 * The bytes again, once they have been found to be UTF-8.
 * @throws Fault `invalid_request` naming the line of the first byte that is not
 */
export async function* checkedUtf8(pieces: AsyncIterable<Buffer>): AsyncGenerator<SourcePiece> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let line = 1;
  const decoded = (bytes?: Buffer): string => {
    try {
      return bytes === undefined ? decoder.decode() : decoder.decode(bytes, { stream: true });
    } catch (cause) {
      const sound = (bytes?.toString("utf8") ?? "").split("\ufffd", 1)[0] ?? "";
      const message = `Line ${line + linesIn(sound)}: the text is not UTF-8. Write the file anew in that encoding.`;
      throw new Fault("invalid_request", message, { cause });
    }
  };
  for await (const bytes of pieces) {
    const text = decoded(bytes);
    yield { bytes, text };
    line += linesIn(text);
  }
  decoded();
}

function linesIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

/** What a file is by its name. */
export function formatOf(path: string): EntityFormat | undefined {
  switch (extname(path).toLowerCase()) {
    case ".csv":
      return "csv";
    case ".json":
      return "json";
    case ".ndjson":
    case ".jsonl":
      return "ndjson";
    default:
      return undefined;
  }
}

/** How a message calls a file. */
export function nameOf(input: string): string {
  return input === STANDARD ? "standard input" : input;
}

/**
 * Looks at what OUT names before anything is written: what comes about takes its place, and for root even a device's.
 *
 * @param given the file that is read, where it is one
 * @throws Fault `configuration_invalid` where OUT is IN under whatever name, or no file
 */
export async function refuseLoss(output: string, given: Stats | undefined): Promise<void> {
  const present = output === STANDARD ? undefined : await statIfThere(output);
  if (present === undefined) return;
  if (present.ino === given?.ino && present.dev === given.dev) {
    throw new Fault("configuration_invalid", "OUT is IN; give the answers a file of their own.");
  }
  if (!present.isFile()) {
    const message = `${output} is no file; give OUT the name of one, or ${STANDARD} for standard output.`;
    throw new Fault("configuration_invalid", message);
  }
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** A file comes about under another name, and gets its own when it is whole and on disk. */
export async function writeWhole(output: string, text: AsyncIterable<string>): Promise<void> {
  if (output === STANDARD) {
    await pipeline(text, process.stdout, { end: false });
    return;
  }
  const aside = `${output}.writing-${process.pid}`;
  // Opened before anything can fail: a stream that opens it itself could do so after it was removed.
  const file = await open(aside, "wx");
  try {
    await pipeline(text, file.createWriteStream({ flush: true }));
    await rename(aside, output);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}
