import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { type Log, loggedError, type LogRecord } from "../log.ts";
import { Fault, isFault } from "../../errors.ts";
import { Exchange, type ExchangeOwner, type ExchangeSettings } from "./exchange.ts";
import { findFramingError, hasBody, offersUpgrade } from "./requestHead.ts";

/** Answers requests; see `Pipeline`. */
interface RequestProcessor {
  /** Never rejects: errors become problem responses. */
  run(exchange: Exchange): Promise<void>;
  /** Responds with the problem of an error. */
  reject(exchange: Exchange, error: Fault): void;
  /** Releases what a response holds, once the client has read it or disconnected. */
  releaseResponse(exchange: Exchange): void;
}

export interface RequestListenerOptions extends ExchangeSettings {
  readonly pipeline: RequestProcessor;
  /** Called with a record of each response, except to probes. */
  readonly log?: Log | undefined;
  /** Called for each response with the seconds that it took. */
  readonly recordResponse?: ((exchange: Exchange, durationS: number) => void) | undefined;
}

/** Notifications to a server that manages the connections itself. */
export interface ConnectionObserver {
  /** Called for each request with a valid key, when it is answered. */
  onValidKey(socket: Socket): void;
  /** Called when a response to a request without a valid key has been written, and when the client has read it. */
  onUnread(socket: Socket, isUnread: boolean): void;
  /** Called when the request of a connection has been answered. */
  onIdle(socket: Socket, connection: ConnectionState): void;
  /**
   * Called for each request that counts toward the block of its address: it is invalid HTTP, was rejected because its
   * client keeps exceeding a limit, or was discarded together with its connection.
   */
  onRejection(socket: Socket): void;
  /** Called whenever a response has been written. */
  onProgress(): void;
}

/** State of a connection, which has at most one request. */
export interface ConnectionState {
  /** The request in progress. Stays set if the connection closes. */
  current: Exchange | undefined;
  /**
   * The client sent something before it had the response to its request, or something that is not HTTP, or offered an
   * upgrade: the request in progress is answered, and the connection closed.
   */
  isEnding: boolean;
  /** Requests that were sent before the response to an earlier one, and are not answered. */
  discardedCount: number;
  /** Whether the last request had a valid key. */
  isAuthenticated: boolean;
}

/**
 * Pipelined requests that are ignored until an earlier one is answered. Node keeps them and what it has read of their bodies,
 * 64 KiB at most. A client that sends more loses its connection at once, and so does one with a body in chunks, each of
 * which takes memory, or with a body behind another pipelined request.
 */
const DISCARDED_COUNT_MAX = 64;
/**
 * Rejections as which a rejected body in many short chunks counts toward the block of its address: Node.js takes up to 27 ms
 * for those that it has read, tens of times as long as for another rejected request.
 */
const REJECTIONS_PER_SHORT_CHUNKS = 20;

/**
 * Passes requests to the pipeline, one at a time of each connection, and logs and counts the responses. It relies on nothing
 * of the server but requests and responses, so that it works in any server of node:http.
 *
 * A client that sends a request before it has the response to the one before (pipelining) gets that response, and its
 * connection is closed.
 */
export class RequestListener implements ExchangeOwner {
  readonly settings: RequestListenerOptions;
  readonly #states = new WeakMap<Duplex, ConnectionState>();
  /** Open connections that have sent a request. */
  readonly #connections = new Map<Duplex, ConnectionState>();
  #activeCount = 0;
  #observer: ConnectionObserver | undefined;
  #isClosingConnections = false;
  #isClosed = false;
  #onDrained: (() => void) | undefined;

  constructor(settings: RequestListenerOptions) {
    this.settings = settings;
  }

  observe(observer: ConnectionObserver): void {
    this.#observer = observer;
  }

  /** Requests whose responses have not been finished. */
  get activeCount(): number {
    return this.#activeCount;
  }

  /** Accepts a request. Never throws: errors become responses. */
  accept(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = this.stateOf(socket);
    if (connection.current !== undefined || connection.isEnding) {
      this.#discard(connection, request);
      return;
    }
    const exchange = new Exchange(this, request, response);
    connection.current = exchange;
    this.#activeCount++;
    if (request.headers.upgrade !== undefined && offersUpgrade(request)) connection.isEnding = true;
    const { pipeline } = this.settings;
    const framingError = findFramingError(request);
    if (framingError !== undefined) {
      connection.isEnding = true;
      this.#observer?.onRejection(socket);
      pipeline.reject(exchange, framingError);
    } else if (this.#isClosed) pipeline.reject(exchange, new Fault("overloaded", "The service is shutting down."));
    else void pipeline.run(exchange); // never rejects
  }

  stateOf(socket: Duplex): ConnectionState {
    let state = this.#states.get(socket);
    if (state === undefined) {
      state = { current: undefined, isEnding: false, discardedCount: 0, isAuthenticated: false };
      this.#states.set(socket, state);
      const connection = state;
      if (!socket.destroyed) this.#connections.set(socket, connection);
      socket.once("close", () => {
        this.#connections.delete(socket);
        connection.current?.disconnect();
      });
    }
    return state;
  }

  /** Whether a request of a connection is being processed: its body is not being read, and its response has not begun. */
  isProcessing(socket: Duplex): boolean {
    const { current } = this.stateOf(socket);
    return current !== undefined && current.reading === undefined && current.response?.headersSent === false;
  }

  log(record: LogRecord): void {
    try {
      this.settings.log?.(record);
    } catch {
      // A failing log must not stop the service.
    }
  }

  /** Makes every further response close its connection. */
  closeConnections(): void {
    this.#isClosingConnections = true;
  }

  /**
   * Answers further requests with 503 (after `closeConnections`), and resolves when the responses to all earlier ones have been finished.
   * @param timeoutMs time after which the connections of unfinished responses are destroyed
   */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosed = true;
    if (this.#activeCount === 0) return;
    await new Promise<void>((resolve) => {
      const deadline = setTimeout(() => {
        for (const [socket, { current }] of this.#connections) if (current?.isFinished === false) socket.destroy();
        resolve();
      }, timeoutMs);
      this.#onDrained = () => {
        clearTimeout(deadline);
        resolve();
      };
    });
  }

  /** Ignores a pipelined request, and reads its connection no further. */
  #discard(connection: ConnectionState, request: IncomingMessage): void {
    const { socket } = request;
    connection.isEnding = true;
    connection.discardedCount++;
    socket.pause();
    const isChunked = request.headers["transfer-encoding"] !== undefined;
    // Node.js resumes reading after a complete body.
    const isFurtherBody = connection.discardedCount > 1 && hasBody(request);
    if (connection.discardedCount <= DISCARDED_COUNT_MAX && !isChunked && !isFurtherBody) return;
    for (let i = 0; i < connection.discardedCount; i++) this.#observer?.onRejection(socket);
    // A destroyed request takes no chunks: Node.js still parses what it has read of the connection.
    request.destroy();
    socket.destroy();
  }

  beginResponse(exchange: Exchange, socket: Socket): boolean {
    const connection = this.stateOf(socket);
    if (exchange.caller === undefined) this.#observer?.onUnread(socket, true);
    // Now, because the response may close the connection.
    else this.#observer?.onValidKey(socket);
    if (exchange.countsTowardBlock) this.#observer?.onRejection(socket);
    if (exchange.isBodyUnread || exchange.closesConnection || this.#isClosingConnections) connection.isEnding = true;
    return connection.isEnding;
  }

  finish(exchange: Exchange, socket: Socket | undefined): void {
    const { pipeline, recordResponse, log } = this.settings;
    const durationMs = performance.now() - exchange.startMs;
    pipeline.releaseResponse(exchange);
    recordResponse?.(exchange, durationMs / 1000);
    if (log !== undefined) {
      const record = logRecordOf(exchange, durationMs);
      // Of probes, only the errors behind a failed check are logged.
      if (exchange.target?.route.isProbe !== true || record.error !== undefined) this.log(record);
    }
    this.#observer?.onProgress();
    if (--this.#activeCount === 0) this.#onDrained?.();

    if (socket === undefined) return;
    if (exchange.caller === undefined) this.#observer?.onUnread(socket, false);
    if (exchange.hasManyShortChunks)
      for (let i = 0; i < REJECTIONS_PER_SHORT_CHUNKS; i++) this.#observer?.onRejection(socket);
    // `current` stays set, so that further requests on a closed connection are not processed.
    if (!socket.writable) return;
    const connection = this.stateOf(socket);
    if (connection.isEnding) {
      // The response may have been written before the connection was known to be ending.
      socket.destroySoon();
      return;
    }
    connection.current = undefined;
    connection.isAuthenticated = exchange.caller !== undefined;
    this.#observer?.onIdle(socket, connection);
  }
}

/** Creates the log record of a response. */
function logRecordOf(exchange: Exchange, durationMs: number): LogRecord {
  const { requestId, method, status, target, caller, failure, units } = exchange;
  const record: { -readonly [Field in keyof LogRecord]: LogRecord[Field] } = {
    request_id: requestId,
    method,
    status,
    duration_ms: durationMs,
  };
  if (target !== undefined) record.route = target.template;
  if (failure !== undefined) record.code = failure.code;
  if (units !== undefined && target?.route.metered !== undefined) record.units = units;
  if (caller !== undefined) {
    record.account_id = caller.accountId;
    record.key_id = caller.keyId;
    if (caller.customerId !== undefined) record.customer_id = caller.customerId;
  }
  // Its code describes an overload completely, and there may be many.
  const isExplained = isFault(failure?.error, "overloaded") && failure.error.cause === undefined;
  if (failure !== undefined && status >= 500 && !isExplained) record.error = loggedError(failure.error);
  return record;
}
