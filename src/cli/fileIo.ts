import type { Stats } from "node:fs";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { pipeline } from "node:stream/promises";
import { Fault } from "../errors.ts";
import { readChunks } from "../files/files.ts";
import { STDIO } from "./fileFormats.ts";

/** Reads the bytes of a file, or of standard input if the path is `-`. */
export async function* readBytes(path: string, onBytes: (sizeBytes: number) => void): AsyncGenerator<Buffer> {
  const chunks = path === STDIO ? (process.stdin as AsyncIterable<Buffer>) : readChunks(path, 1 << 18);
  for await (const chunk of chunks) {
    yield chunk;
    onBytes(chunk.length);
  }
}

/**
 * Checks that the input can be read.
 * @returns undefined for standard input
 * @throws Fault `configuration_invalid` if the file does not exist or is a folder, `invalid_request` if it is empty,
 *   unless it may be
 */
export async function statInput(
  input: string,
  { mayBeEmpty = false }: { readonly mayBeEmpty?: boolean } = {},
): Promise<Stats | undefined> {
  if (input === STDIO) return undefined;
  const stats = await statIfPresent(input);
  if (stats === undefined) throw new Fault("configuration_invalid", `${input}: no such file.`);
  if (stats.isDirectory()) throw new Fault("configuration_invalid", `${input} is a folder; give the name of a file.`);
  if (!mayBeEmpty && stats.isFile() && stats.size === 0)
    throw new Fault("invalid_request", `${input}: the file is empty.`);
  return stats;
}

/**
 * Checks the output path before anything is written. The output replaces an existing file; without this check it would
 * also replace a device when run as root.
 *
 * @param inputStats the input, if it is a file
 * @throws Fault `configuration_invalid` if OUT is the same file as IN, is not a regular file, or its folder does not exist
 */
export async function checkOutput(output: string, inputStats: Stats | undefined): Promise<void> {
  if (output === STDIO) return;
  const stats = await statIfPresent(output);
  if (stats === undefined) {
    const folder = dirname(output);
    if ((await statIfPresent(folder))?.isDirectory() === true) return;
    throw new Fault("configuration_invalid", `${output}: the folder ${folder} does not exist; create it first.`);
  }
  if (stats.ino === inputStats?.ino && stats.dev === inputStats.dev) {
    throw new Fault("configuration_invalid", `${output} is also the input; choose another name for OUT.`);
  }
  if (!stats.isFile()) {
    const what = stats.isDirectory() ? "a folder" : "not a regular file";
    const message = `${output} is ${what}; OUT must be a file, or ${STDIO} for standard output.`;
    throw new Fault("configuration_invalid", message);
  }
}

async function statIfPresent(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path);
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return undefined;
    throw error;
  }
}

/** Writes to standard output, or to a temporary file that is renamed once it is complete and flushed to disk. */
export async function writeOutput(output: string, text: AsyncIterable<string>): Promise<void> {
  if (output === STDIO) {
    await pipeline(text, process.stdout, { end: false });
    return;
  }
  const temporaryPath = `${output}.writing-${process.pid}`;
  // Opened here because a write stream that opens its own file could do so after the file was removed.
  const file = await openTemporary(output, temporaryPath);
  try {
    await pipeline(text, file.createWriteStream({ flush: true }));
    await rename(temporaryPath, output);
  } catch (error) {
    await rm(temporaryPath, { force: true });
    throw error;
  }
}

async function openTemporary(output: string, temporaryPath: string): Promise<FileHandle> {
  try {
    return await open(temporaryPath, "wx");
  } catch (error) {
    // The message must name the path that the user gave.
    throw Object.assign(error as NodeJS.ErrnoException, { path: output });
  }
}
