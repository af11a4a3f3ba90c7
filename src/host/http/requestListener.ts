import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Log, LogRecord } from "../log.ts";
import { HttpError } from "../problems/problem.ts";
import type { PipelineResponse, RequestProcessor } from "./exchange.ts";
import { BodyHold } from "./bodyHold.ts";
import { ConnectionInput } from "./connectionInput.ts";
import { logRecordOf } from "./logRecord.ts";
import { findFramingError, hasBody, offersUpgrade } from "./requestHead.ts";
import { type BodyReadState, HttpRequestContext, type RequestContextSettings } from "./requestContext.ts";

export interface RequestListenerOptions extends RequestContextSettings {
  readonly pipeline: RequestProcessor;
  /** Called with a record of each response, except to probes. */
  readonly log?: Log | undefined;
  /** Called for each response with the seconds that it took. */
  readonly recordResponse?:
    ((context: HttpRequestContext, response: PipelineResponse, durationS: number) => void) | undefined;
}

/** Notifications to a server that manages the connections itself. */
export interface ConnectionObserver {
  /** Called for each request with a valid key, when it is answered. */
  onValidKey(socket: Socket): void;
  /** Called when a response to a request without a valid key has been written, and when the client has read it. */
  onUnread(socket: Socket, isUnread: boolean): void;
  /** Called when all requests of a connection have been answered. */
  onIdle(socket: Socket, connection: ConnectionState): void;
  /**
   * Called for each request that counts toward the block of its address: it is invalid HTTP, was rejected because its
   * client keeps exceeding a limit, or was discarded together with its connection.
   */
  onRejection(socket: Socket): void;
  /** Called whenever a response has been written. */
  onProgress(): void;
}

/** State of a connection. One request is processed at a time, however many the client pipelines. */
export interface ConnectionState extends BodyReadState {
  /** The request in progress. */
  current: HttpRequestContext | undefined;
  readonly waiting: HttpRequestContext[];
  /** The client pipelined too many requests, sent invalid HTTP or offered an upgrade: only accepted requests are answered. */
  isEnding: boolean;
  /** Reading of the connection, which stops while many bytes of bodies wait. */
  readonly input: ConnectionInput;
  /** Memory of the waiting bodies, as counted by the pipeline. */
  waitingBodyBytes: number;
  /** Requests that will not be answered. Node keeps them in memory until the connection closes. */
  discardedCount: number;
  /** Bytes that the connection had received when the first of them was discarded. */
  discardedFromBytes: number;
  /** Whether the last request had a valid key. */
  isAuthenticated: boolean;
}

/** Pipelined requests that may wait for the one in progress on a connection. */
const WAITING_COUNT_MAX = 8;
/**
 * Bytes of bodies, including that of the request in progress until it is read, from which the connection is read no further.
 * Node has read up to 64 KiB more by then.
 */
const HELD_BODY_BYTES_MAX = 16_384;
/**
 * Further pipelined requests that are discarded while earlier ones are answered, and their bytes. A client that sends more
 * is not one that misjudged the limit, and loses its connection.
 */
const DISCARDED_COUNT_MAX = 64;
const DISCARDED_BYTES_MAX = 65_536;
/**
 * Rejections as which a rejected body in many short chunks counts toward the block of its address: Node.js takes up to 27 ms
 * for those that it has read, tens of times as long as for another rejected request.
 */
const REJECTIONS_PER_SHORT_CHUNKS = 20;

/**
 * Passes the requests of each connection to the pipeline one at a time, and writes, logs and counts the responses. It
 * relies on nothing of the server but requests and responses, so that it works in any server of node:http.
 */
export class RequestListener {
  readonly #options: RequestListenerOptions;
  readonly #states = new WeakMap<Duplex, ConnectionState>();
  /** Open connections that have sent a request. */
  readonly #connections = new Map<Duplex, ConnectionState>();
  #activeCount = 0;
  #observer: ConnectionObserver | undefined;
  #isClosingConnections = false;
  #isClosed = false;
  #onDrained: (() => void) | undefined;

  constructor(options: RequestListenerOptions) {
    this.#options = options;
  }

  observe(observer: ConnectionObserver): void {
    this.#observer = observer;
  }

  /** Accepted requests whose responses have not been finished. */
  get activeCount(): number {
    return this.#activeCount;
  }

  /** Accepts a request. Never throws: errors become responses. */
  accept(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.stateOf(request.socket);
    if (connection.waiting.length === WAITING_COUNT_MAX) connection.isEnding = true;
    if (connection.isEnding) {
      this.#discard(connection, request);
      return;
    }
    const context = new HttpRequestContext(request, response, {
      bodyRead: connection,
      settings: this.#options,
      onHeldBodyChange: () => this.#updateHeldBodies(connection),
    });
    context.isLate = this.#isClosed;
    this.#activeCount++;
    if (offersUpgrade(request)) connection.isEnding = true;
    if (connection.current === undefined) this.#begin(connection, context);
    else connection.waiting.push(context);
  }

  stateOf(socket: Duplex): ConnectionState {
    let state = this.#states.get(socket);
    if (state === undefined) {
      const input = new ConnectionInput(socket, () => mustStopReading(socket, connection));
      state = {
        current: undefined,
        waiting: [],
        isEnding: false,
        input,
        waitingBodyBytes: 0,
        discardedCount: 0,
        discardedFromBytes: 0,
        isAuthenticated: false,
      };
      this.#states.set(socket, state);
      const connection = state;
      if (!socket.destroyed) this.#connections.set(socket, connection);
      // Node emits no `close` for a response that was still waiting for earlier ones of its connection.
      socket.once("close", () => {
        this.#connections.delete(socket);
        this.#dropWaiting(socket, connection);
        connection.current?.disconnect();
      });
    }
    return state;
  }

  /** Whether a connection is not being read because of the requests that wait on it. */
  isReadingStopped(socket: Duplex): boolean {
    return this.stateOf(socket).input.isStopped;
  }

  /** Whether a request of a connection is being processed: its body is not being read, and its response has not begun. */
  isProcessing(socket: Duplex): boolean {
    const { current, reading } = this.stateOf(socket);
    return current !== undefined && reading === undefined && !current.response.headersSent;
  }

  log(record: LogRecord): void {
    try {
      this.#options.log?.(record);
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

  /** Discards a request on a connection that is ending, and destroys the connection if there are too many. */
  #discard(connection: ConnectionState, request: IncomingMessage): void {
    const { socket } = request;
    if (hasBody(request)) {
      const onChange = (): void => connection.input.update();
      new BodyHold(request, { declaredBytes: undefined, onChange }).discard();
    }
    countDiscarded(socket, connection, 1);
    const { discardedCount } = connection;
    if (discardedCount <= DISCARDED_COUNT_MAX && discardedBytesOf(socket, connection) <= DISCARDED_BYTES_MAX) return;
    for (let i = 0; i < discardedCount; i++) this.#observer?.onRejection(socket);
    stopParser(socket);
    socket.destroy();
  }

  /** Processes a request. Uses callbacks because an additional promise per request has a measurable cost. */
  #begin(connection: ConnectionState, context: HttpRequestContext): void {
    connection.current = context;
    this.#updateHeldBodies(connection);
    const { pipeline } = this.#options;
    const framingError = findFramingError(context.request);
    if (framingError !== undefined) {
      this.#dropWaiting(context.request.socket, connection);
      connection.isEnding = true;
      this.#observer?.onRejection(context.request.socket);
      this.#reply(connection, context, pipeline.reject(context, framingError));
    } else if (context.isLate) {
      const httpError = new HttpError("overloaded", "The service is shutting down.");
      this.#reply(connection, context, pipeline.reject(context, httpError));
    } else if (context.rejection !== undefined) {
      this.#reply(connection, context, pipeline.reject(context, context.rejection));
    }
    // Never rejects.
    else void pipeline.handle(context).then((response) => this.#reply(connection, context, response));
  }

  #reply(connection: ConnectionState, context: HttpRequestContext, response: PipelineResponse): void {
    const { isBodyUnread } = context;
    // Now, because the response may close the connection.
    if (context.caller !== undefined) this.#observer?.onValidKey(context.request.socket);
    if (context.countsTowardBlock === true) this.#observer?.onRejection(context.request.socket);
    if (isBodyUnread || context.closesConnection === true) {
      this.#dropWaiting(context.request.socket, connection);
      connection.isEnding = true;
    }
    const isClosing = this.#isClosingConnections || connection.isEnding;
    const isLast = isBodyUnread || (isClosing && connection.waiting.length === 0 && connection.httpError === undefined);
    context.write(response, {
      isLast,
      isBodyUnread,
      onClosed: () => this.#finish(connection, context, response),
    });
    const { socket } = context.request;
    if (context.caller === undefined && context.response.writableEnded) this.#observer?.onUnread(socket, true);
  }

  /** Runs once the response has been written or the connection has closed. */
  #finish(connection: ConnectionState, context: HttpRequestContext, response: PipelineResponse): void {
    // Both the response and its connection report their end.
    if (context.isFinished) return;
    const { pipeline, recordResponse, log } = this.#options;
    const durationMs = performance.now() - context.startMs;
    pipeline.releaseResponse(response);
    recordResponse?.(context, response, durationMs / 1000);
    if (log !== undefined) {
      const record = logRecordOf(context, response, durationMs);
      // Of probes, only the errors behind a failed check are logged.
      if (context.target?.route.isProbe !== true || record.error !== undefined) this.log(record);
    }
    this.#observer?.onProgress();
    this.#leave(context);

    const { socket } = context.request;
    if (context.caller === undefined) this.#observer?.onUnread(socket, false);
    if (context.heldBody.hasManyShortChunks)
      for (let i = 0; i < REJECTIONS_PER_SHORT_CHUNKS; i++) this.#observer?.onRejection(socket);
    // `current` stays set, so that further requests on a closed connection are not processed.
    if (!socket.writable) return;
    const next = connection.waiting.shift();
    if (next !== undefined) {
      this.#begin(connection, next);
      return;
    }
    connection.current = undefined;
    connection.isAuthenticated = context.caller !== undefined;
    this.#observer?.onIdle(socket, connection);
  }

  /** Forgets pipelined requests that will not be answered. */
  #dropWaiting(socket: Duplex, connection: ConnectionState): void {
    const dropped = connection.waiting.splice(0);
    if (dropped.length > 0) countDiscarded(socket, connection, dropped.length);
    for (const context of dropped) {
      context.discardBody();
      this.#leave(context);
    }
  }

  #leave(context: HttpRequestContext): void {
    context.isFinished = true;
    if (--this.#activeCount === 0) this.#onDrained?.();
  }

  /** Counts the memory of the bodies that wait on a connection, and stops or continues to read it. */
  #updateHeldBodies(connection: ConnectionState): void {
    const { waiting } = connection;
    const heldBytes = waiting.reduce((sumBytes, { heldBody }) => sumBytes + heldBody.heldBytes, 0);
    const addedBytes = heldBytes - connection.waitingBodyBytes;
    const rejection = addedBytes === 0 ? undefined : this.#options.pipeline.countWaitingBodies(addedBytes);
    const last = waiting.at(-1);
    if (rejection === undefined || last === undefined) connection.waitingBodyBytes = heldBytes;
    else {
      // The body that grows is that of the last request.
      connection.isEnding = true;
      last.rejection = rejection;
      last.discardBody();
    }
    connection.input.update();
  }
}

/**
 * Whether to stop reading a connection: too much of its requests waits or is discarded, in bytes or in short chunks, or the
 * last of them is rejected.
 */
function mustStopReading(socket: Duplex, connection: ConnectionState): boolean {
  const { current, waiting } = connection;
  const heldBytes = waiting.reduce(
    (sumBytes, { heldBody }) => sumBytes + heldBody.sizeBytes,
    current?.heldBody.sizeBytes ?? 0,
  );
  return (
    heldBytes >= HELD_BODY_BYTES_MAX ||
    current?.heldBody.hasManyShortChunks === true ||
    waiting.some(({ heldBody }) => heldBody.hasManyShortChunks) ||
    waiting.at(-1)?.rejection !== undefined ||
    discardedBytesOf(socket, connection) > DISCARDED_BYTES_MAX
  );
}

function countDiscarded(socket: Duplex, connection: ConnectionState, count: number): void {
  if (connection.discardedCount === 0) connection.discardedFromBytes = (socket as Socket).bytesRead;
  connection.discardedCount += count;
}

/** Returns the bytes that a connection has received since the first request was discarded. */
function discardedBytesOf(socket: Duplex, { discardedCount, discardedFromBytes }: ConnectionState): number {
  return discardedCount === 0 ? 0 : (socket as Socket).bytesRead - discardedFromBytes;
}

/** Returned to Node's parser, ends the parsing of the bytes that it has been given. */
const STOP_PARSING = 2;

/**
 * Discards what Node has read of a connection that is about to be destroyed. Otherwise Node would still parse up to 64 KiB,
 * and keep thousands of requests until the one in progress ends. `onIncoming` is not documented: a release of Node
 * without it would take the memory, but nothing else would change.
 */
function stopParser(socket: Socket & { readonly parser?: { onIncoming?: unknown } | null }): void {
  const { parser } = socket;
  if (typeof parser?.onIncoming === "function") parser.onIncoming = () => STOP_PARSING;
}
