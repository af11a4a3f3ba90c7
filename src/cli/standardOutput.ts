import { errorLines } from "./errorReport.ts";

/** 128 plus the number of SIGPIPE, as shells report it. */
export const EXIT_CODE_CLOSED_PIPE = 141;

/** Returns whether an error means that the reader of standard output has closed the pipe, as `head -1` does. */
export function isClosedPipe(error: unknown): boolean {
  const { code, path } = error as NodeJS.ErrnoException;
  return code === "EPIPE" && path === undefined;
}

/** Ends the process after an error on standard output; without a message if the reader has closed the pipe. */
export function endOnOutputError(error: NodeJS.ErrnoException): never {
  if (isClosedPipe(error)) process.exit(EXIT_CODE_CLOSED_PIPE);
  process.stderr.write(`isotherm: ${errorLines(error)?.join("\n  ") ?? String(error)}\n`);
  process.exit(1);
}
