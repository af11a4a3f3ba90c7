import { dirname, extname } from "node:path";
import { Fault, isFault } from "../errors.ts";
import type { Stats } from "node:fs";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { readChunks } from "../files/files.ts";
import type { Entity } from "../contract/wireTypes.ts";
import { type IndustryMap, mapIndustryText, readIndustryMap } from "../reference/industryMap.ts";
import { type CsvRow, parseCsvRows } from "../text/csv.ts";
import { decodeUtf8 } from "../text/utf8Text.ts";

/** Formats of files with entities or companies. */
export const ENTITY_FORMATS = ["csv", "json", "ndjson"] as const;
export type EntityFormat = (typeof ENTITY_FORMATS)[number];
/** `text` is a human-readable report. */
type OutputFormat = EntityFormat | "text";

/** The path that means standard input or standard output. */
export const STDIO = "-";

const FORMAT_OF_EXTENSION: Readonly<Record<string, OutputFormat>> = {
  ".csv": "csv",
  ".json": "json",
  ".ndjson": "ndjson",
  ".jsonl": "ndjson",
  ".txt": "text",
};
const COMPRESSED_EXTENSIONS: ReadonlySet<string> = new Set([".gz", ".zip", ".bz2", ".xz", ".zst", ".br"]);

/** Returns the name of an input for messages. */
export function displayName(input: string): string {
  return input === STDIO ? "standard input" : input;
}

/**
 * Determines the format of an input from `--format` or, by default, from its extension, case-insensitively.
 * @throws Fault `configuration_invalid` naming the accepted extensions
 */
export function inputFormat(input: string, format: EntityFormat | undefined): EntityFormat {
  if (format !== undefined) return format;
  if (input === STDIO) {
    throw configurationFault(`--format is required for standard input: one of ${ENTITY_FORMATS.join(", ")}.`);
  }
  const named = formatOf(input);
  if (isEntityFormat(named)) return named;
  const advice = isCompressed(input) ? "decompress it first" : `or set --format to one of ${ENTITY_FORMATS.join(", ")}`;
  throw configurationFault(
    `${input}: ${describeExtension(input)}; IN must end in ${extensionList(ENTITY_FORMATS)}; ${advice}.`,
  );
}

/**
 * Determines the format of an output from `--to` or, by default, from its extension, case-insensitively. Rejects a
 * format that contradicts the extension.
 *
 * @param accepted the formats that the command writes
 * @param fallback the format on standard output without `--to`
 * @throws Fault `configuration_invalid` naming the accepted extensions
 */
export function outputFormat<Format extends OutputFormat>(
  output: string,
  {
    to,
    accepted,
    fallback,
  }: { readonly to: Format | undefined; readonly accepted: readonly Format[]; fallback: Format },
): Format {
  if (output === STDIO) return to ?? fallback;
  if (isCompressed(output)) {
    const message = `${output}: compressed output is not supported; OUT must end in ${extensionList(accepted)}.`;
    throw configurationFault(message);
  }
  const extensionFormat = formatOf(output);
  // .txt means a report only for commands that write reports.
  const named = extensionFormat === "text" && !isOneOf(accepted, "text") ? undefined : extensionFormat;
  if (named === undefined) {
    if (to !== undefined) return to;
    throw configurationFault(
      `${output}: ${describeExtension(output)}; OUT must end in ${extensionList(accepted)}, or set --to.`,
    );
  }
  const format = accepted.find((candidate) => candidate === named);
  if (format === undefined) {
    throw configurationFault(
      `${output}: this command does not write ${formatLabel(named)}; OUT must end in ${extensionList(accepted)}.`,
    );
  }
  if (to !== undefined && to !== format) {
    const message = `${output}: the extension means ${formatLabel(named)}, but the options request ${formatLabel(to)}; change one of them.`;
    throw configurationFault(message);
  }
  return format;
}

function isOneOf(formats: readonly OutputFormat[], format: OutputFormat): boolean {
  return formats.includes(format);
}

function formatOf(path: string): OutputFormat | undefined {
  const extension = extname(path).toLowerCase();
  return Object.hasOwn(FORMAT_OF_EXTENSION, extension) ? FORMAT_OF_EXTENSION[extension] : undefined;
}

function isEntityFormat(format: OutputFormat | undefined): format is EntityFormat {
  return format !== undefined && format !== "text";
}

function isCompressed(path: string): boolean {
  return COMPRESSED_EXTENSIONS.has(extname(path).toLowerCase());
}

function describeExtension(path: string): string {
  const extension = extname(path);
  return extension === "" ? "the name has no extension" : `the extension ${extension} is not supported`;
}

function formatLabel(format: OutputFormat): string {
  return format === "text" ? "a text report" : format.toUpperCase();
}

/** Returns the extensions of formats as a comma-separated list. */
function extensionList(formats: readonly OutputFormat[]): string {
  return Object.entries(FORMAT_OF_EXTENSION)
    .filter(([, format]) => isOneOf(formats, format))
    .map(([extension]) => extension)
    .join(", ");
}

function configurationFault(message: string): Fault {
  return new Fault("configuration_invalid", message);
}

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

/**
 * Reads the file of `--industry-map`: CSV with the columns `code`, `industry` and, optionally, `system`.
 *
 * @throws Fault naming the file and every error in it
 */
export async function openIndustryMap(path: string): Promise<IndustryMap> {
  await statInput(path);
  try {
    const rows: CsvRow[] = [];
    for await (const batch of parseCsvRows(decodeUtf8(readBytes(path, () => undefined)))) rows.push(...batch);
    return readIndustryMap(rows);
  } catch (error) {
    if (!isFault(error)) throw error;
    const { code, message, details, items } = error;
    throw new Fault(code, `${displayName(path)}: ${message}`, { details, items, cause: error });
  }
}

/** Returns an entity with the names of the industries that a map has for its industry and sector texts. */
export function withMappedIndustry(map: IndustryMap, entity: unknown): unknown {
  const info =
    typeof entity === "object" && entity !== null && "entity_info" in entity ? entity.entity_info : undefined;
  // Entities have not been validated yet; validation reports values of the wrong type.
  if (typeof info !== "object" || info === null) return entity;
  const { industry, sector, industry_classification_system: system } = info as Partial<Entity["entity_info"]>;
  const mapped = (text: unknown): unknown =>
    typeof text === "string" ? mapIndustryText(map, text, typeof system === "string" ? system : undefined) : text;
  return {
    ...(entity as object),
    entity_info: {
      ...info,
      ...(industry === undefined ? {} : { industry: mapped(industry) }),
      ...(sector === undefined ? {} : { sector: mapped(sector) }),
    },
  };
}
