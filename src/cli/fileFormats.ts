import { extname } from "node:path";
import { Fault } from "../errors.ts";

/** Formats of files with entities or companies. */
export const ENTITY_FORMATS = ["csv", "json", "ndjson"] as const;
export type EntityFormat = (typeof ENTITY_FORMATS)[number];
/** `text` is a report for people to read. */
export type OutputFormat = EntityFormat | "text";

/** Stands for standard input or standard output in place of a file name. */
export const STANDARD = "-";

const FORMAT_OF_EXTENSION: Readonly<Record<string, OutputFormat>> = {
  ".csv": "csv",
  ".json": "json",
  ".ndjson": "ndjson",
  ".jsonl": "ndjson",
  ".txt": "text",
};
const COMPRESSED_EXTENSIONS: ReadonlySet<string> = new Set([".gz", ".zip", ".bz2", ".xz", ".zst", ".br"]);

/** Names a file in a message. */
export function nameOf(input: string): string {
  return input === STANDARD ? "standard input" : input;
}

/**
 * Determines the format of an input from `--format`, or else from the extension of its name, in either case.
 * @throws Fault `configuration_invalid` naming the accepted extensions
 */
export function inputFormat(input: string, format: EntityFormat | undefined): EntityFormat {
  if (format !== undefined) return format;
  if (input === STANDARD) {
    throw refusal(`Standard input has no name that tells its format: give --format ${ENTITY_FORMATS.join(", ")}.`);
  }
  const named = formatOf(input);
  if (isEntityFormat(named)) return named;
  const advice = isCompressed(input)
    ? "decompress it first"
    : `if it is in one of these formats, say which: --format ${ENTITY_FORMATS.join(", ")}`;
  throw refusal(`${input}: ${whatExtension(input)}; IN may be ${listOf(ENTITY_FORMATS)}; ${advice}.`);
}

/**
 * Determines the format of an output from `--to`, or else from the extension of its name, in either case. A name is
 * never given content that contradicts its extension.
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
  if (output === STANDARD) return to ?? fallback;
  if (isCompressed(output)) {
    const message = `${output}: OUT is not compressed; give it an extension of ${listOf(accepted)}.`;
    throw refusal(message);
  }
  const extensionFormat = formatOf(output);
  // A .txt file is a report where there are reports; elsewhere it may hold anything.
  const named = extensionFormat === "text" && !isOneOf(accepted, "text") ? undefined : extensionFormat;
  if (named === undefined) {
    if (to !== undefined) return to;
    throw refusal(`${output}: ${whatExtension(output)}; OUT may be ${listOf(accepted)}, or any other name with --to.`);
  }
  const format = accepted.find((each) => each === named);
  if (format === undefined) {
    throw refusal(`${output}: this command does not write ${nameOfFormat(named)}; OUT may be ${listOf(accepted)}.`);
  }
  if (to !== undefined && to !== format) {
    const message = `${output}: the extension stands for ${nameOfFormat(named)}, but the options ask for ${nameOfFormat(to)}; change the name or the option.`;
    throw refusal(message);
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

function whatExtension(path: string): string {
  const extension = extname(path);
  return extension === "" ? "the name has no extension" : `the extension ${extension} is not supported`;
}

function nameOfFormat(format: OutputFormat): string {
  return format === "text" ? "a text report" : format.toUpperCase();
}

/** The extensions of some formats, as a message lists them. */
function listOf(formats: readonly OutputFormat[]): string {
  return Object.entries(FORMAT_OF_EXTENSION)
    .filter(([, format]) => isOneOf(formats, format))
    .map(([extension]) => extension)
    .join(", ");
}

function refusal(message: string): Fault {
  return new Fault("configuration_invalid", message);
}
