import { systemErrorLine } from "./errorReport.ts";

/** 128 plus the number of SIGPIPE, as shells report it. */
const EXIT_CODE_CLOSED_PIPE = 141;

/** Ends the process after an error on standard output; without a message if the reader has closed the pipe, as `head -1` does. */
export function endOnOutputError(error: NodeJS.ErrnoException): never {
  if (error.code === "EPIPE") process.exit(EXIT_CODE_CLOSED_PIPE);
  process.stderr.write(`isotherm: ${systemErrorLine(error, "to standard output")}\n`);
  process.exit(1);
}
