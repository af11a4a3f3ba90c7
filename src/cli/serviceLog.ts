import pino from "pino";
import { loggedError, type LoggedError } from "../host/log.ts";
import type { Log } from "../host/main.ts";

export interface ServiceLog {
  /** Logs a response. */
  readonly log: Log;
  /** Logs the error that ends the service. */
  readonly fatal: (error: unknown) => void;
  /** Writes buffered lines synchronously. */
  readonly flush: () => void;
}

/** Lines are buffered until this interval has passed or this size is reached. */
const FLUSH_INTERVAL_MS = 250;
const FLUSH_BYTES = 8_192;
/** Lines beyond this are dropped, so that a blocked log does not exhaust memory. */
const BUFFERED_BYTES_MAX = 16 << 20;

/**
 * Logs JSON lines to standard output or another open file: one per response, with exactly the fields of `LogRecord`.
 */
export function openServiceLog({ fd = 1 } = {}): ServiceLog {
  const destination = pino.destination({
    fd,
    sync: false,
    minLength: FLUSH_BYTES,
    maxLength: BUFFERED_BYTES_MAX,
    periodicFlush: FLUSH_INTERVAL_MS,
  });
  // The service continues if the reader of its log closes the pipe.
  destination.on("error", () => undefined);
  const logger = pino(
    {
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      // The default serializer of pino would log error messages.
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
        // The reader has closed the log.
      }
    },
  };
}
