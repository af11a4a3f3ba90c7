import pino from "pino";
import { loggedError, type LoggedError } from "../host/log.ts";
import type { Log } from "../host/main.ts";

export interface ServiceLog {
  /** Writes down an answer. */
  readonly log: Log;
  /** Writes down why the service ends. */
  readonly fatal: (error: unknown) => void;
  /** Waits for nothing: what is not yet written is written now. */
  readonly flush: () => void;
}

/** Lines are gathered for as long, or until there are so many bytes of them. */
const FLUSH_EVERY_MS = 250;
const FLUSH_BYTES = 8_192;
/** Beyond this lines are dropped: a log that nobody reads must not fill the memory. */
const WAITING_BYTES_MAX = 16 << 20;

/** JSON lines on standard output, or another open file: one an answer, its fields those of `LogRecord` and no others. */
export function openServiceLog({ fd = 1 } = {}): ServiceLog {
  const destination = pino.destination({
    fd,
    sync: false,
    minLength: FLUSH_BYTES,
    maxLength: WAITING_BYTES_MAX,
    periodicFlush: FLUSH_EVERY_MS,
  });
  // Whoever read what the service writes may stop reading: that is no reason to stop answering.
  destination.on("error", () => undefined);
  const logger = pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // Not pino's way with errors, which would write their messages down.
      serializers: { error: (error: LoggedError) => error },
    },
    destination,
  );
  return {
    log: (record) => (record.error === undefined ? logger.info(record) : logger.error(record)),
    fatal: (error) => logger.fatal({ error: loggedError(error) }),
    flush() {
      try {
        destination.flushSync();
      } catch {
        // Nobody reads.
      }
    },
  };
}
