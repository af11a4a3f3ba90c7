import { getSystemErrorMap } from "node:util";
import type { Command } from "commander";
import { type FaultItem, isFault } from "../errors.ts";

/** Members of a query whose option has another name. */
const QUERY_OPTIONS: Readonly<Record<string, string>> = {
  latitude: "--lat",
  longitude: "--lon",
  analysis_years: "--years",
  aggregation_method: "--method",
};

/** The option that a member of a request is given by, by the name of the member; none where it comes from a file. */
export type OptionNames = Readonly<Record<string, string>>;

/** The options of a command that reads nothing but its options, by the names that messages of the library use. */
export function optionNames(command: Command | undefined): OptionNames {
  if (command === undefined || command.registeredArguments.length > 0) return {};
  const own = command.options.flatMap(({ long }) =>
    typeof long === "string" ? [[long.slice(2).replaceAll("-", "_"), long] as const] : [],
  );
  return { ...Object.fromEntries(own), ...(command.name() === "query" ? QUERY_OPTIONS : {}) };
}

/**
 * Describes an error, a line each: what was refused, and if there are several faults, each of them.
 * @returns undefined for what is neither a refusal of ours nor of the system: a bug, to be seen with its stack
 */
export function refusalLines(error: unknown, options: OptionNames = {}): readonly string[] | undefined {
  if (isFault(error)) {
    const { message, items } = error;
    const [first] = items;
    if (first === undefined) return [message];
    const places = items.map((item) => describe(item, options));
    // A single fault is also the message, and the first of several is its end: once is enough.
    if (items.length === 1 && message === first.detail) return places;
    return [message.endsWith(first.detail) ? sentencesBefore(message, first.detail) : message, ...places];
  }
  if (!(error instanceof Error)) return undefined;
  const { syscall, path, code, errno } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return undefined;
  const [, meaning = error.message] = getSystemErrorMap().get(errno ?? 0) ?? [];
  const what = path ?? (syscall === "write" ? "to standard output" : undefined);
  return [`cannot ${syscall}${what === undefined ? "" : ` ${what}`}: ${meaning} (${code}).`];
}

/** A fault with the place that it is at, under the name by which the command line knows it. */
function describe({ detail, pointer, parameter, header }: FaultItem, options: OptionNames): string {
  const place = pointer ?? parameter ?? header ?? "";
  if (place === "") return detail;
  const name = pointer === undefined ? place : place.slice(1);
  const option = Object.hasOwn(options, name) ? options[name] : undefined;
  if (option === undefined) return `${place}: ${detail}`;
  return new RegExp(`^${name}\\b`).test(detail) ? option + detail.slice(name.length) : `${option}: ${detail}`;
}

/** The whole sentences of a message before a detail that it ends with: "2 things are wrong." of "... The first: ...". */
function sentencesBefore(message: string, detail: string): string {
  const lead = message.slice(0, -detail.length).trimEnd();
  const end = lead.lastIndexOf(". ");
  return end < 0 ? lead : lead.slice(0, end + 1);
}
