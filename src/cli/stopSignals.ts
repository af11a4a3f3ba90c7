import { constants } from "node:os";

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
