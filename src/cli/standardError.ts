import { printable } from "./printableText.ts";

/** Prints lines on standard error. Escapes the control characters of names and values from files. */
export function printError(text: string): void {
  process.stderr.write(`${text.split("\n").map(printable).join("\n")}\n`);
}
