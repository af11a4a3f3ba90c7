import { createReadStream, type Stats } from "node:fs";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { FAULT_ITEM_COUNT_MAX, Fault, type FaultCode } from "../errors.ts";
import { STANDARD } from "./fileFormats.ts";

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

/**
 * Looks up the file to read.
 * @returns undefined for standard input
 * @throws Fault `configuration_invalid` where there is no such file or it is a folder, `invalid_request` where it is empty
 */
export async function findInput(input: string): Promise<Stats | undefined> {
  if (input === STANDARD) return undefined;
  const found = await statIfThere(input);
  if (found === undefined) throw new Fault("configuration_invalid", `${input}: there is no such file.`);
  if (found.isDirectory()) throw new Fault("configuration_invalid", `${input} is a folder; give the name of a file.`);
  if (found.isFile() && found.size === 0) throw new Fault("invalid_request", `${input}: the file is empty.`);
  return found;
}

/**
 * Checks the name of the output before anything is written: the output replaces what has that name, and for root even
 * a device.
 *
 * @param given the file that is read, where it is one
 * @throws Fault `configuration_invalid` where OUT is IN under whatever name, is not a file, or has no folder to be in
 */
export async function checkOutput(output: string, given: Stats | undefined): Promise<void> {
  if (output === STANDARD) return;
  const present = await statIfThere(output);
  if (present === undefined) {
    const folder = dirname(output);
    if ((await statIfThere(folder))?.isDirectory() === true) return;
    throw new Fault("configuration_invalid", `${output}: there is no folder ${folder}; make it first.`);
  }
  if (present.ino === given?.ino && present.dev === given.dev) {
    throw new Fault("configuration_invalid", `${output} is also the input; give OUT a name of its own.`);
  }
  if (!present.isFile()) {
    const what = present.isDirectory() ? "a folder" : "not a regular file";
    const message = `${output} is ${what}; give OUT the name of a file, or ${STANDARD} for standard output.`;
    throw new Fault("configuration_invalid", message);
  }
}

async function statIfThere(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** Writes a file under a temporary name and renames it once it is complete and on disk. */
export async function writeWhole(output: string, text: AsyncIterable<string>): Promise<void> {
  if (output === STANDARD) {
    await pipeline(text, process.stdout, { end: false });
    return;
  }
  const aside = `${output}.writing-${process.pid}`;
  // Opened before anything can fail: a stream that opens it itself could do so after it was removed.
  const file = await openAside(output, aside);
  try {
    await pipeline(text, file.createWriteStream({ flush: true }));
    await rename(aside, output);
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  }
}

async function openAside(output: string, aside: string): Promise<FileHandle> {
  try {
    return await open(aside, "wx");
  } catch (error) {
    // The temporary name means nothing to the user.
    throw Object.assign(error as NodeJS.ErrnoException, { path: output });
  }
}
