import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import { Fault } from "../../errors.ts";
import { PROBLEM_CONTENT_TYPE, problemHeaders, problemOf } from "../problems/problem.ts";
import { encodeJson } from "../../text/json/json.ts";
import { addressOf, listen, type ServerAddress } from "./listen.ts";
import { LINGER_MS, newRequestId } from "./exchange.ts";
import { HEAD_BYTES_MAX } from "./requestHead.ts";
import { type ConnectionCounts, OpenConnections } from "./openConnections.ts";
import type { ConnectionObserver, ConnectionState, RequestListener } from "./requestListener.ts";
import type { ServerTimeouts } from "./timeouts.ts";

export interface ServerOptions {
  readonly listener: RequestListener;
  readonly host: string;
  readonly port: number;
  readonly timeouts: ServerTimeouts;
  /** Path below which clients reach the service. */
  readonly prefix: string;
  /** Whether connections from an address are limited by address. */
  readonly isAddressLimited: (remoteAddress: string) => boolean;
}

export interface ListeningServer {
  readonly address: ServerAddress;
  /** The connections at present, and those refused or evicted so far. */
  readonly connectionCounts: ConnectionCounts;
  /**
   * Waits for the drain delay, stops accepting connections, keeps idle connections open for the same time again (2 s at
   * most), finishes requests in progress, and resolves when the last connection has closed.
   */
  close(drainDelayMs?: number): Promise<void>;
}

/**
 * Maximum number of event loop turns in which pending connections are accepted. A turn accepts one of up to 4,096 pending
 * connections and reads the requests of those accepted earlier. Under load every turn brings new connections.
 */
const CATCH_UP_TURN_COUNT_MAX = 8192;

/**
 * Bytes that Node holds of a body that is not being read, and of a response that the client does not read, from which it waits.
 * A chunk of one byte takes 200 bytes, so that the default of Node, 64 KiB, would be 13 MiB of memory.
 */
const BUFFERED_BYTES_MAX = 16_384;

/** Idle connections stay usable for as long as the drain delay after the server stops accepting, but no longer. */
const IDLE_GRACE_MS_MAX = 2_000;

/**
 * Starts the HTTP server.
 * @throws Fault `configuration_invalid` if the service cannot listen on the address
 */
export async function startServer(options: ServerOptions): Promise<ListeningServer> {
  const { timeouts } = options;
  const server = createServer({
    maxHeaderSize: HEAD_BYTES_MAX,
    highWaterMark: BUFFERED_BYTES_MAX,
    headersTimeout: timeouts.headersTimeoutMs,
    requestTimeout: timeouts.requestTimeoutMs,
    connectionsCheckingInterval: timeouts.checkEveryMs,
    keepAliveTimeout: timeouts.keepAliveTimeoutMs,
    // Node's own rejection has an empty body; `readTarget` gives the reason.
    requireHostHeader: false,
  });
  server.timeout = timeouts.inactivityTimeoutMs;
  // Only the total size of the headers is limited: Node silently drops header fields beyond its limit.
  server.maxHeadersCount = 0;
  const connections = new ConnectionManager(options);
  connections.attach(server);
  await listen(server, options);
  return {
    address: addressOf(server),
    get connectionCounts() {
      return connections.counts;
    },
    close: (drainDelayMs) => connections.close(server, drainDelayMs),
  };
}

/** Limits connections, rejects those with invalid input, and drains them on shutdown. */
class ConnectionManager implements ConnectionObserver {
  readonly #options: ServerOptions;
  readonly #connections: OpenConnections;
  /** Number of connections and requests so far. */
  #arrivalCount = 0;
  #closing: Promise<void> | undefined;
  /** Called whenever a response has been written or a connection has closed. */
  #wakeDrain: (() => void) | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
    const { timeouts, isAddressLimited } = options;
    this.#connections = new OpenConnections({ ...timeouts, isAddressLimited });
    options.listener.observe(this);
  }

  get counts(): ConnectionCounts {
    return this.#connections.counts;
  }

  onIdle(socket: Socket, { isAuthenticated }: ConnectionState): void {
    this.#connections.setIdle(socket, { isAuthenticated });
    // A response that was written before the shutdown began did not announce the end of the connection.
    if (this.#closing !== undefined) socket.end();
  }

  onUnread(socket: Socket, isUnread: boolean): void {
    this.#connections.setUnread(socket, isUnread);
  }

  onValidKey(socket: Socket): void {
    this.#connections.countValidKey(socket);
  }

  onRejection(socket: Socket): void {
    this.#connections.countRejection(socket);
  }

  onProgress(): void {
    this.#wakeDrain?.();
  }

  attach(server: Server): void {
    const { listener } = this.#options;
    const accept = (request: IncomingMessage, response: ServerResponse): void => {
      this.#arrivalCount++;
      this.#connections.setBusy(request.socket);
      listener.accept(request, response);
    };
    // Instead of Node's listener alone, so that refused connections do not cost a parser.
    const startParsers = server.listeners("connection");
    server.removeAllListeners("connection");
    server.on("connection", (socket: Socket) => {
      this.#arrivalCount++;
      if (!this.#connections.add(socket)) return;
      socket.once("close", () => this.#wakeDrain?.());
      for (const startParser of startParsers) startParser.call(server, socket);
    });
    server.on("request", accept);
    // `100 Continue` is sent when a route is about to read the body, and unknown expectations are ignored.
    server.on("checkContinue", accept);
    server.on("checkExpectation", accept);
    // Processing has its own deadlines, which end in a response.
    server.on("timeout", (socket) => {
      if (!listener.isProcessing(socket)) socket.destroy();
    });
    server.on("connect", (_request, socket) => {
      // Node no longer handles this connection, and an unhandled `error` event would end the process.
      socket.on("error", () => socket.destroy()).on("end", () => socket.end());
      socket.resume();
      this.#reject(
        socket,
        new Fault("method_not_allowed", "CONNECT is not supported.", { headers: { Allow: "GET, HEAD, OPTIONS" } }),
      );
    });
    server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
      if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
      else this.#reject(socket, parserFault(error));
    });
  }

  close(server: Server, drainDelayMs = this.#options.timeouts.drainDelayMs): Promise<void> {
    this.#closing ??= this.#drain(server, drainDelayMs);
    return this.#closing;
  }

  async #drain(server: Server, drainDelayMs: number): Promise<void> {
    // The service has announced the shutdown: every response closes its connection.
    if (drainDelayMs > 0) await delay(drainDelayMs);
    await this.#readPending();
    const allClosed = new AbortController();
    const closed = new Promise<void>((resolve) => server.once("close", () => resolve())).then(() => allClosed.abort());
    // Not `close` of the HTTP server, which also stops checking the request timeouts.
    NetServer.prototype.close.call(server);
    const deadline = setTimeout(() => {
      for (const socket of this.#connections.sockets) socket.destroy();
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
    for (const socket of this.#connections.sockets) if (socket.bytesRead === 0) socket.destroy();
    // Node regards a connection as idle once its response has ended, even if the client has not read it yet.
    while (this.#hasUnreadResponse()) {
      await new Promise<void>((resolve) => (this.#wakeDrain = resolve));
    }
    server.closeIdleConnections();
  }

  #hasUnreadResponse(): boolean {
    for (const socket of this.#connections.sockets) {
      const response = this.#options.listener.stateOf(socket).current?.response;
      if (socket.writable && response?.writableEnded === true && !response.writableFinished) return true;
    }
    return false;
  }

  /**
   * Resolves when pending connections have been accepted and received requests have been read. When the event loop is
   * late, timers run before pending input is read; closing connections at that moment would lose requests.
   */
  async #readPending(): Promise<void> {
    let previousCount = -1;
    for (let turn = 0; turn < CATCH_UP_TURN_COUNT_MAX && previousCount !== this.#arrivalCount; turn++) {
      previousCount = this.#arrivalCount;
      await nextTurn();
    }
  }

  /**
   * Rejects a connection whose input cannot be parsed any further. If it has a request in progress, the response to that is
   * the last one: it reports the error if the input belongs to the body of the request.
   */
  #reject(socket: Duplex, fault: Fault): void {
    const connection = this.#options.listener.stateOf(socket);
    if (connection.isEnding) return;
    connection.isEnding = true;
    const { current } = connection;
    current?.failBody(fault);
    if (current?.reading === undefined && fault.code !== "request_timeout") this.onRejection(socket as Socket);
    if (current === undefined) this.#writeProblem(socket, fault);
  }

  #writeProblem(socket: Duplex, fault: Fault): void {
    if (!socket.writable) return;
    const problem = problemOf(fault, newRequestId(), this.#options.prefix);
    const body = encodeJson(problem);
    const fields = {
      "Content-Type": PROBLEM_CONTENT_TYPE,
      "Content-Length": Buffer.byteLength(body),
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": problem.request_id,
      Connection: "close",
      ...problemHeaders(problem, fault),
    };
    const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
    // Ended, not destroyed: a reset could overtake the response while the client is still sending.
    socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join("")}\r\n${body}`);
    const linger = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(linger));
    this.#options.listener.log({ request_id: problem.request_id, status: problem.status, code: problem.code });
  }
}

function parserFault(error: NodeJS.ErrnoException): Fault {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return new Fault(
        "headers_too_large",
        `The request line and headers must be at most ${HEAD_BYTES_MAX} bytes long in total.`,
      );
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new Fault("request_timeout", "The request was not received in time; send it without pauses.");
    default:
      return new Fault("http_malformed", "The request is not valid HTTP/1.1.");
  }
}
