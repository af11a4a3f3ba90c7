import { getSystemErrorMap } from "node:util";
import type { Command } from "commander";
import { type FaultItem, isFault } from "../errors.ts";

/** Query members whose option has a different name. */
const QUERY_OPTIONS: Readonly<Record<string, string>> = {
  latitude: "--lat",
  longitude: "--lon",
  analysis_years: "--years",
  aggregation_method: "--method",
};

/** Options by the name of the request member that they set. Empty if the request comes from a file. */
type OptionNames = Readonly<Record<string, string>>;

/** Returns the options of a command that takes no file arguments, by the member names that library messages use. */
export function optionNames(command: Command | undefined): OptionNames {
  if (command === undefined || command.registeredArguments.length > 0) return {};
  const options = command.options.flatMap(({ long }) =>
    typeof long === "string" ? [[long.slice(2).replaceAll("-", "_"), long] as const] : [],
  );
  return { ...Object.fromEntries(options), ...(command.name() === "query" ? QUERY_OPTIONS : {}) };
}

/**
 * Formats an error as lines: a summary, then one line per error if there are several.
 * @returns undefined for an error that is neither a `Fault` nor a system error: a bug, to be printed with its stack
 */
export function errorLines(error: unknown, options: OptionNames = {}): readonly string[] | undefined {
  if (isFault(error)) {
    const { message, items } = error;
    const [first] = items;
    if (first === undefined) return [message];
    const itemLines = items.map((item) => describe(item, options));
    // The message is the detail of a single error or ends with the first of several; each error is printed once.
    if (items.length === 1 && message === first.detail) return itemLines;
    if (items.length === 1 && itemLines[0] === first.detail && message.endsWith(first.detail)) return [message];
    return [message.endsWith(first.detail) ? sentencesBefore(message, first.detail) : message, ...itemLines];
  }
  if (!(error instanceof Error)) return undefined;
  const { syscall, path } = error as NodeJS.ErrnoException;
  return syscall === undefined ? undefined : [systemErrorLine(error, path)];
}

/** Formats a system error. @param target what the operation was on, if it is known */
function systemErrorLine(error: NodeJS.ErrnoException, target: string | undefined): string {
  const { syscall = "continue", code, errno, message } = error;
  const [, meaning = message] = getSystemErrorMap().get(errno ?? 0) ?? [];
  return `cannot ${syscall}${target === undefined ? "" : ` ${target}`}: ${meaning} (${code}).`;
}

/** Formats an error with its location, which is an option name if an option set the member. */
function describe({ detail, pointer, parameter, header }: FaultItem, options: OptionNames): string {
  const location = pointer ?? parameter ?? header ?? "";
  if (location === "") return detail;
  const name = pointer === undefined ? location : location.slice(1);
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option === undefined) return `${location}: ${detail}`;
  return new RegExp(`^${name}\\b`).test(detail) ? option + detail.slice(name.length) : `${option}: ${detail}`;
}

/**
 * Returns the complete sentences of a message that precede the detail at its end, without a lead-in such as "The
 * first:".
 */
function sentencesBefore(message: string, detail: string): string {
  const lead = message.slice(0, -detail.length).trimEnd();
  const end = lead.lastIndexOf(". ");
  return end < 0 ? lead : lead.slice(0, end + 1);
}

/** 128 plus the number of SIGPIPE, as shells report it. */
const EXIT_CODE_CLOSED_PIPE = 141;

/** Ends the process after an error on standard output; without a message if the reader has closed the pipe, as `head -1` does. */
export function endOnOutputError(error: NodeJS.ErrnoException): never {
  if (error.code === "EPIPE") process.exit(EXIT_CODE_CLOSED_PIPE);
  process.stderr.write(`isotherm: ${systemErrorLine(error, "to standard output")}\n`);
  process.exit(1);
}
