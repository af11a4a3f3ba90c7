import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import type { Log, LogRecord } from "../log.ts";
import type { Pipeline, PipelineResponse } from "../pipeline.ts";
import { PROBLEM_CONTENT_TYPE, problemHeaders, problemOf, Refusal } from "../problems/problem.ts";
import { encodeJson } from "./json.ts";
import { addressOf, listen, type ServerAddress } from "./listen.ts";
import { logRecordOf } from "./logRecord.ts";
import { type BodyReadState, HttpRequestContext, LINGER_MS } from "./requestContext.ts";
import { HEAD_BYTES_MAX } from "./requestHead.ts";
import { newRequestId } from "./requestId.ts";
import type { ServerTimeouts } from "./timeouts.ts";

export interface ServerOptions {
  readonly pipeline: Pipeline;
  readonly host: string;
  readonly port: number;
  readonly timeouts: ServerTimeouts;
  /** Called with a record of each response. */
  readonly log?: Log | undefined;
  /** Called for each response with the seconds that it took. */
  readonly recordResponse?:
    ((context: HttpRequestContext, response: PipelineResponse, durationS: number) => void) | undefined;
}

export interface ListeningServer {
  readonly address: ServerAddress;
  /**
   * Waits for the drain delay, stops accepting connections, keeps idle connections open for the same time again (2 s at
   * most), finishes requests in progress, and resolves when the last connection has closed.
   */
  close(drainDelayMs?: number): Promise<void>;
}

/** Pipelined requests that may wait for the one in progress on a connection. */
const WAITING_COUNT_MAX = 8;

/**
 * One turn of the event loop accepts one of up to 511 pending connections and reads the requests of those accepted
 * before. Under load every turn brings new ones, so the number of turns is bounded.
 */
const CATCH_UP_TURNS_MAX = 1024;

/** Idle connections stay usable for as long as the drain delay after the server stops accepting, but no longer. */
const IDLE_GRACE_MS_MAX = 2_000;

/** State of a connection. One request is processed at a time, however many the client pipelines. */
interface ConnectionState extends BodyReadState {
  /** The request in progress. */
  current: HttpRequestContext | undefined;
  readonly waiting: HttpRequestContext[];
  /** The client pipelined too many requests or sent invalid HTTP: only accepted requests are answered. */
  isEnding: boolean;
}

/**
 * Starts the HTTP server.
 * @throws Fault `configuration_invalid` when the address cannot be listened on
 */
export async function startServer(options: ServerOptions): Promise<ListeningServer> {
  const { timeouts } = options;
  const server = createServer({
    maxHeaderSize: HEAD_BYTES_MAX,
    headersTimeout: timeouts.headersTimeoutMs,
    requestTimeout: timeouts.requestTimeoutMs,
    connectionsCheckingInterval: timeouts.checkEveryMs,
    keepAliveTimeout: timeouts.keepAliveTimeoutMs,
    // Node's own rejection has an empty body; `checkHostHeader` gives the reason.
    requireHostHeader: false,
  });
  server.timeout = timeouts.silenceTimeoutMs;
  // No limit besides the size of the head: Node silently drops header fields beyond its limit.
  server.maxHeadersCount = 0;
  server.maxConnections = timeouts.connectionCountMax;
  const connections = new ConnectionManager(options);
  connections.attach(server);
  await listen(server, options);
  return { address: addressOf(server), close: (drainDelayMs) => connections.close(server, drainDelayMs) };
}

/** Passes the requests of each connection to the pipeline one at a time, and drains connections on shutdown. */
class ConnectionManager {
  readonly #options: ServerOptions;
  readonly #states = new WeakMap<Duplex, ConnectionState>();
  readonly #sockets = new Set<Socket>();
  /** Counts connections and requests. */
  #arrivedCount = 0;
  #closing: Promise<void> | undefined;
  /** Called whenever a response has been written or a connection has closed. */
  #onProgress: (() => void) | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  attach(server: Server): void {
    const accept = (request: IncomingMessage, response: ServerResponse): void => this.#accept(request, response);
    server.on("connection", (socket: Socket) => {
      this.#arrivedCount++;
      this.#sockets.add(socket);
      socket.once("close", () => {
        this.#sockets.delete(socket);
        this.#onProgress?.();
      });
    });
    server.on("request", accept);
    // `100 Continue` is sent when a route is about to read the body, and unknown expectations are ignored.
    server.on("checkContinue", accept);
    server.on("checkExpectation", accept);
    server.on("connect", (_request, socket) => {
      // Node no longer handles this connection, and an unhandled `error` event would end the process.
      socket.on("error", () => socket.destroy()).on("end", () => socket.end());
      socket.resume();
      this.#refuse(
        socket,
        new Refusal("method_not_allowed", "CONNECT is not supported.", { Allow: "GET, HEAD, OPTIONS" }),
      );
    });
    server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
      if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
      else this.#refuse(socket, parserRefusal(error));
    });
  }

  close(server: Server, drainDelayMs = this.#options.timeouts.drainDelayMs): Promise<void> {
    this.#closing ??= this.#drain(server, drainDelayMs);
    return this.#closing;
  }

  async #drain(server: Server, drainDelayMs: number): Promise<void> {
    // From here on every response closes its connection.
    if (drainDelayMs > 0) await delay(drainDelayMs);
    await this.#readPending();
    const allClosed = new AbortController();
    const closed = new Promise<void>((resolve) => server.once("close", () => resolve())).then(() => allClosed.abort());
    // Not `close` of the HTTP server, which also stops checking the request timeouts.
    NetServer.prototype.close.call(server);
    const deadline = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, this.#options.timeouts.drainTimeoutMs);
    // A client may be about to use an idle connection.
    const idleGraceMs = Math.min(drainDelayMs, IDLE_GRACE_MS_MAX);
    if (idleGraceMs > 0) await delay(idleGraceMs, undefined, { signal: allClosed.signal }).catch(() => undefined);
    await this.#readPending();
    await this.#closeIdle(server);
    await closed;
    clearTimeout(deadline);
    server.close();
  }

  async #closeIdle(server: Server): Promise<void> {
    // Node does not regard connections as idle that have never sent a request; browsers open such connections.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
    // Node regards a connection as idle once its response has ended, even if the client has not read it yet.
    while (this.#hasUnreadResponse()) {
      await new Promise<void>((resolve) => (this.#onProgress = resolve));
    }
    server.closeIdleConnections();
  }

  #hasUnreadResponse(): boolean {
    for (const socket of this.#sockets) {
      const response = this.#states.get(socket)?.current?.response;
      if (socket.writable && response?.writableEnded === true && !response.writableFinished) return true;
    }
    return false;
  }

  /**
   * Resolves when pending connections have been accepted and received requests have been read. When the event loop is
   * late, timers run before pending input is read; closing connections at that moment would lose requests.
   */
  async #readPending(): Promise<void> {
    let before = -1;
    for (let turn = 0; turn < CATCH_UP_TURNS_MAX && before !== this.#arrivedCount; turn++) {
      before = this.#arrivedCount;
      await nextTurn();
    }
  }

  #stateOf(socket: Duplex): ConnectionState {
    let state = this.#states.get(socket);
    if (state === undefined) {
      state = { current: undefined, waiting: [], isEnding: false };
      this.#states.set(socket, state);
    }
    return state;
  }

  #accept(request: IncomingMessage, response: ServerResponse): void {
    this.#arrivedCount++;
    const connection = this.#stateOf(request.socket);
    if (connection.isEnding) return;
    const { workTimeoutMs } = this.#options.timeouts;
    const context = new HttpRequestContext(request, response, { bodyRead: connection, timeoutMs: workTimeoutMs });
    if (connection.current === undefined) this.#begin(connection, context);
    else if (connection.waiting.length < WAITING_COUNT_MAX) connection.waiting.push(context);
    else connection.isEnding = true;
  }

  /** Processes a request. Uses callbacks because an additional promise per request has a measurable cost. */
  #begin(connection: ConnectionState, context: HttpRequestContext): void {
    connection.current = context;
    // Never rejects.
    void this.#options.pipeline.handle(context).then((response) => this.#reply(connection, context, response));
  }

  #reply(connection: ConnectionState, context: HttpRequestContext, response: PipelineResponse): void {
    const { isBodyUnread } = context;
    if (isBodyUnread) {
      connection.waiting.length = 0;
      connection.isEnding = true;
    }
    const isClosing = this.#closing !== undefined || connection.isEnding;
    const isLast = isBodyUnread || (isClosing && connection.waiting.length === 0 && connection.refusal === undefined);
    context.write(response, {
      isLast,
      isBodyUnread,
      onClosed: () => this.#finish(connection, context, response),
    });
  }

  /** Runs once the response has been written or the connection has closed. */
  #finish(connection: ConnectionState, context: HttpRequestContext, response: PipelineResponse): void {
    const durationMs = performance.now() - context.startMs;
    this.#options.pipeline.releaseResponse(response);
    this.#options.recordResponse?.(context, response, durationMs / 1000);
    if (this.#options.log !== undefined) this.#log(logRecordOf(context, response, durationMs));
    this.#onProgress?.();

    const { socket } = context.request;
    const next = connection.waiting.shift();
    // `current` stays set, so that further requests on a closed connection are not processed.
    if (!socket.writable) return;
    if (next !== undefined) {
      this.#begin(connection, next);
      return;
    }
    connection.current = undefined;
    if (connection.refusal !== undefined) this.#writeRefusal(socket, connection.refusal);
    // A response that was written before the shutdown began did not announce the end of the connection.
    else if (this.#closing !== undefined) socket.end();
  }

  /** Refuses a connection whose input cannot be parsed any further, after its earlier requests have been answered. */
  #refuse(socket: Duplex, refusal: Refusal): void {
    const connection = this.#stateOf(socket);
    if (connection.isEnding) return;
    connection.isEnding = true;
    if (connection.reading !== undefined) {
      // The invalid input is the body of the request in progress, whose own response reports it.
      connection.reading.abort(refusal);
      return;
    }
    connection.refusal = refusal;
    if (connection.current === undefined) this.#writeRefusal(socket, refusal);
  }

  #writeRefusal(socket: Duplex, refusal: Refusal): void {
    if (!socket.writable) return;
    const problem = problemOf(refusal, newRequestId());
    const body = encodeJson(problem);
    const fields = {
      "Content-Type": PROBLEM_CONTENT_TYPE,
      "Content-Length": Buffer.byteLength(body),
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": problem.request_id,
      Connection: "close",
      ...problemHeaders(problem, refusal),
    };
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    // Ended, not destroyed: a reset could overtake the response while the client is still sending.
    socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join("")}\r\n${body}`);
    const linger = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(linger));
    this.#log({ request_id: problem.request_id, status: problem.status, code: problem.code });
  }

  #log(record: LogRecord): void {
    try {
      this.#options.log?.(record);
    } catch {
      // A failing log must not stop the service.
    }
  }
}

function parserRefusal(error: NodeJS.ErrnoException): Refusal {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return new Refusal(
        "headers_too_large",
        `The request line and headers must be at most ${HEAD_BYTES_MAX} bytes long in total.`,
      );
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new Refusal("request_timeout", "The request was not received in time; send it without pauses.");
    default:
      return new Refusal("http_malformed", "The request is not valid HTTP/1.1.");
  }
}
