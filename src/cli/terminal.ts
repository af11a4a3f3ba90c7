import { constants } from "node:os";

/** Prints lines on standard error. Escapes the control characters of names and values from files. */
export function printError(text: string): void {
  process.stderr.write(`${text.split("\n").map(printable).join("\n")}\n`);
}

/** U+0000 to U+001F and U+007F to U+009F. */
const CONTROL_CHARACTERS = /\p{Cc}/gu;

/**
 * Escapes the control characters of text from a file, as in `\u001b`. A terminal would execute them, and a line break would
 * divide a line.
 */
export function printable(text: string): string {
  return text.replaceAll(CONTROL_CHARACTERS, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** Returns a value as JSON for people: indented, with a line break at the end. */
export function indentedJson(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

type StopSignal = "SIGINT" | "SIGTERM";

/** The reason with which work is aborted after a signal. */
class StoppedBySignal extends Error {
  override readonly name = "StoppedBySignal";
  readonly signal: StopSignal;
  constructor(signal: StopSignal) {
    super(`Stopped by ${signal}.`);
    this.signal = signal;
  }
}

/**
 * Runs work that SIGINT and SIGTERM abort. A second signal ends the process immediately.
 * @param onStop called when the work has been aborted, to say how it can be continued
 * @returns undefined if the work was aborted; the exit code is then 128 plus the number of the signal
 */
export async function untilStopped<T>(
  work: (signal: AbortSignal) => Promise<T>,
  onStop: () => void,
): Promise<T | undefined> {
  const stopping = new AbortController();
  const stop = (signal: StopSignal): void => stopping.abort(new StoppedBySignal(signal));
  process.once("SIGINT", stop).once("SIGTERM", stop);
  try {
    return await work(stopping.signal);
  } catch (error) {
    if (!(error instanceof StoppedBySignal)) throw error;
    onStop();
    process.exitCode = 128 + constants.signals[error.signal];
    return undefined;
  } finally {
    process.off("SIGINT", stop).off("SIGTERM", stop);
  }
}
