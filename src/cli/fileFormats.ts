import { extname } from "node:path";
import { Fault } from "../errors.ts";

/** Formats of files with entities or companies. */
export const ENTITY_FORMATS = ["csv", "json", "ndjson"] as const;
export type EntityFormat = (typeof ENTITY_FORMATS)[number];
/** `text` is a human-readable report. */
export type OutputFormat = EntityFormat | "text";

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
