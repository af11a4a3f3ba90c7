import { refusalLines } from "./refusal.ts";

/** As a shell reports a process that a signal ended: 128 and the number of SIGPIPE. */
export const EXIT_CODE_CLOSED_PIPE = 141;

/** Whether the reader of standard output has gone, as in `isotherm ... | head -1`. */
export function isClosedPipe(error: unknown): boolean {
  const { code, path } = error as NodeJS.ErrnoException;
  return code === "EPIPE" && path === undefined;
}

/** Ends the process when standard output cannot be written to; if its reader has gone, without a message. */
export function endOnOutputError(error: NodeJS.ErrnoException): never {
  if (isClosedPipe(error)) process.exit(EXIT_CODE_CLOSED_PIPE);
  process.stderr.write(`isotherm: ${refusalLines(error)?.join("\n  ") ?? String(error)}\n`);
  process.exit(1);
}
