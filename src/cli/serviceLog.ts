import pino from "pino";
import { loggedError, type LoggedError } from "../host/log.ts";
import type { Log } from "../host/main.ts";

/** What happens to the service itself, as opposed to its responses. */
type ServiceEvent = "started" | "stopping";

export interface ServiceLog {
  /** Logs a response. */
  readonly log: Log;
  /** Logs an event of the service, and writes it at once. */
  readonly event: (event: ServiceEvent, members?: Readonly<Record<string, string | boolean>>) => void;
  /** Logs a warning, and writes it at once. */
  readonly warn: (event: string, message: string) => void;
  /**
   * Logs the error that ends the service, and writes it at once.
   * @param file the file that the error concerns, if it is known
   */
  readonly fatal: (error: unknown, file?: string) => void;
  /** Writes buffered lines synchronously. */
  readonly flush: () => void;
}

/** Lines are buffered until this interval has passed or this size is reached. */
const FLUSH_INTERVAL_MS = 250;
const FLUSH_BYTES = 8_192;
/** Lines beyond this are dropped, so that a blocked log does not exhaust memory. */
const BUFFERED_BYTES_MAX = 16 << 20;

/**
 * Logs JSON lines to standard output or another open file: one per response, with exactly the fields of `LogRecord`, and
 * one per event.
 */
export function openServiceLog({ fd = 1 } = {}): ServiceLog {
  const destination = pino.destination({
    fd,
    sync: false,
    minLength: FLUSH_BYTES,
    maxLength: BUFFERED_BYTES_MAX,
  });
  // Not the option `periodicFlush`, which the destination of pino 9.0 does not have.
  setInterval(() => destination.flush(), FLUSH_INTERVAL_MS).unref();
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
  const flush = (): void => {
    try {
      destination.flushSync();
    } catch {
      // The reader has closed the log.
    }
  };
  return {
    log: (record) => (record.error === undefined ? logger.info(record) : logger.error(record)),
    event(event, members = {}) {
      logger.info({ event, ...members });
      flush();
    },
    warn(event, message) {
      logger.warn({ event, message });
      flush();
    },
    fatal(error, file) {
      logger.fatal({ event: "failed", ...(file === undefined ? {} : { file }), error: loggedError(error) });
      flush();
    },
    flush,
  };
}
