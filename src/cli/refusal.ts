import { getSystemErrorMap } from "node:util";
import { isFault } from "../errors.ts";

/**
 * What to tell of an error, a line each: what was refused, and where it was in several places, each of them.
 * @returns undefined for what is neither a refusal of ours nor of the system: a bug, to be seen with its stack
 */
export function refusalLines(error: unknown): readonly string[] | undefined {
  if (isFault(error)) {
    const places = error.items.map(({ detail, ...item }) => {
      const place = item.pointer ?? item.parameter ?? item.header;
      return `${place === undefined || place === "" ? "" : `${place}: `}${detail}`;
    });
    // A single fault is the message itself: once is enough, and with its place.
    return error.items.length === 1 && error.items[0]?.detail === error.message ? places : [error.message, ...places];
  }
  if (!(error instanceof Error)) return undefined;
  const { syscall, path, code, errno } = error as NodeJS.ErrnoException;
  if (syscall === undefined) return undefined;
  const [, meaning = error.message] = getSystemErrorMap().get(errno ?? 0) ?? [];
  return [`cannot ${syscall}${path === undefined ? "" : ` ${path}`}: ${meaning} (${code}).`];
}
