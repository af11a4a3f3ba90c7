import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import { isIPv6, Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate as nextTurn, setTimeout as delay } from "node:timers/promises";
import { Fault } from "../../errors.ts";
import { LINGER_MS, type BodyReadState, HttpRequestContext } from "./requestContext.ts";
import { HEAD_BYTES_MAX } from "./requestHead.ts";
import { encodeJson } from "./json.ts";
import { type Log, loggedError, type LogRecord } from "../log.ts";
import type { PipelineResponse, Pipeline } from "../pipeline.ts";
import { PROBLEM_CONTENT_TYPE, problemHeaders, problemOf, Refusal } from "../problems/problem.ts";
import { newRequestId } from "./requestId.ts";

/** How long the server waits, and for how many. */
export interface ServerTimeouts {
  /** For the whole of a request's head. */
  readonly headersTimeoutMs: number;
  /** For the whole of a request. */
  readonly requestTimeoutMs: number;
  /** How often these two are looked at. */
  readonly checkEveryMs: number;
  /** For any sign of life: what ends clients that never read, each of which holds its answer in memory. */
  readonly silenceTimeoutMs: number;
  /** For the next request; above what load balancers wait, so that it is they who close. */
  readonly keepAliveTimeoutMs: number;
  /** For an answer that is worked on in other threads. */
  readonly workTimeoutMs: number;
  /** Between being told to close and taking no more connections: load balancers look at /readyz now and then. */
  readonly drainDelayMs: number;
  /** For work under way when no more connections are taken. */
  readonly drainTimeoutMs: number;
  readonly connectionCountMax: number;
}

export const DEFAULT_TIMEOUTS: ServerTimeouts = {
  headersTimeoutMs: 5_000,
  requestTimeoutMs: 30_000,
  checkEveryMs: 1_000,
  // Above the two before it, so that who is late is told so.
  silenceTimeoutMs: 35_000,
  keepAliveTimeoutMs: 75_000,
  workTimeoutMs: 30_000,
  drainDelayMs: 0,
  drainTimeoutMs: 30_000,
  connectionCountMax: 10_000,
};

export interface ServerOptions {
  readonly pipeline: Pipeline;
  readonly host: string;
  readonly port: number;
  readonly timeouts: ServerTimeouts;
  /** Told of each answer. */
  readonly log?: Log | undefined;
  /** Counts each answer, with the seconds it took. */
  readonly measure?: ((exchange: HttpRequestContext, outcome: PipelineResponse, durationS: number) => void) | undefined;
}

export interface ListeningServer {
  readonly address: { readonly host: string; readonly port: number; readonly url: string };
  /**
   * Waits for the drain delay, takes no more connections, leaves those that are idle for as long again (2 s at most),
   * finishes what is under way, and resolves when the last connection has closed.
   */
  close(drainDelayMs?: number): Promise<void>;
}

/** Requests that may wait behind the one in work on a connection. */
const WAITING_COUNT_MAX = 8;

/**
 * A turn of the loop takes one connection of those that wait, of which there may be 511, and the requests of those taken
 * before. Under load something has always just arrived; by then every connection has been told of the end.
 */
const CATCH_UP_TURNS_MAX = 1024;

/** Who has an idle connection when no more are taken may use it for as long again as the drain delay, and no longer. */
const IDLE_GRACE_MS_MAX = 2_000;

/** A connection takes one request into work at a time, however many its client sends ahead. */
interface Connection extends BodyReadState {
  busy: boolean;
  readonly waiting: HttpRequestContext[];
  /** Too many were sent ahead, or what came next was no HTTP: the line ends with what it has accepted. */
  ending: boolean;
}

/**
 * Starts listening.
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
    // Node would refuse with an empty body; `checkHostHeader` gives the reason.
    requireHostHeader: false,
  });
  server.timeout = timeouts.silenceTimeoutMs;
  // As many as fit: of more than its own limit Node would drop the last without a word.
  server.maxHeadersCount = 0;
  server.maxConnections = timeouts.connectionCountMax;
  const carrier = new ConnectionManager(options);
  carrier.attach(server);
  await listen(server, options);
  return { address: addressOf(server), close: (drainDelayMs) => carrier.close(server, drainDelayMs) };
}

/** Connections and the requests that come over them. */
class ConnectionManager {
  readonly #options: ServerOptions;
  readonly #lines = new WeakMap<Duplex, Connection>();
  readonly #sockets = new Set<Socket>();
  /** Of connections and of requests. */
  #arrivedCount = 0;
  #closing: Promise<void> | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
  }

  attach(server: Server): void {
    const accept = (request: IncomingMessage, response: ServerResponse): void => this.#accept(request, response);
    server.on("connection", (socket: Socket) => {
      this.#arrivedCount++;
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    server.on("request", accept);
    // Who asks whether to send a body is told to when a route is about to read it, and no expectation is refused without
    // a reason.
    server.on("checkContinue", accept);
    server.on("checkExpectation", accept);
    server.on("connect", (_request, socket) => {
      // From here on Node looks after this connection no more, and an error that nobody hears of would end the process.
      socket.on("error", () => socket.destroy()).on("end", () => socket.end());
      socket.resume();
      this.#refuse(
        socket,
        new Refusal("method_not_allowed", "CONNECT is not answered here.", { Allow: "GET, HEAD, OPTIONS" }),
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
    // From here on every answer ends its connection, so that in the end there are none that could still ask.
    if (drainDelayMs > 0) await delay(drainDelayMs);
    await this.#caughtUp();
    const over = new AbortController();
    const closed = new Promise<void>((resolve) => server.once("close", () => resolve())).then(() => over.abort());
    // Not the HTTP server's own `close`: that one also stops looking for requests that never end.
    NetServer.prototype.close.call(server);
    const deadline = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, this.#options.timeouts.drainTimeoutMs);
    // Whoever has a connection, and has not used it all this while, may be about to; new ones there are none any more.
    const idleGraceMs = Math.min(drainDelayMs, IDLE_GRACE_MS_MAX);
    if (idleGraceMs > 0) await delay(idleGraceMs, undefined, { signal: over.signal }).catch(() => undefined);
    await this.#caughtUp();
    this.#closeIdle(server);
    await closed;
    clearTimeout(deadline);
    server.close();
  }

  #closeIdle(server: Server): void {
    // Idle to Node is also who has yet to read the answer that Node was given.
    const busy = [...this.#sockets].filter((socket) => this.#lines.get(socket)?.busy === true);
    for (const socket of busy) socket.destroy = () => socket;
    server.closeIdleConnections();
    for (const socket of busy) Reflect.deleteProperty(socket, "destroy");
    // And only what has asked before; browsers open connections that never ask.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
  }

  /**
   * Resolves when what the system holds for us has been read: requests in its buffers, connections that it has taken. A
   * timer comes before those when the loop is behind, and to close them then would be to lose them.
   */
  async #caughtUp(): Promise<void> {
    let before = -1;
    for (let turn = 0; turn < CATCH_UP_TURNS_MAX && before !== this.#arrivedCount; turn++) {
      before = this.#arrivedCount;
      await nextTurn();
    }
  }

  #lineOf(socket: Duplex): Connection {
    let line = this.#lines.get(socket);
    if (line === undefined) {
      line = { busy: false, waiting: [], ending: false };
      this.#lines.set(socket, line);
    }
    return line;
  }

  #accept(request: IncomingMessage, response: ServerResponse): void {
    this.#arrivedCount++;
    const line = this.#lineOf(request.socket);
    if (line.ending) return;
    const exchange = new HttpRequestContext(request, response, {
      line,
      deadlineMs: this.#options.timeouts.workTimeoutMs,
    });
    if (!line.busy) this.#begin(line, exchange);
    else if (line.waiting.length < WAITING_COUNT_MAX) line.waiting.push(exchange);
    else line.ending = true;
  }

  /** Callbacks rather than a loop that waits: this is done for every request, and a promise less is felt. */
  #begin(line: Connection, exchange: HttpRequestContext): void {
    line.busy = true;
    // Never rejected.
    void this.#options.pipeline.handle(exchange).then((outcome) => this.#reply(line, exchange, outcome));
  }

  #reply(line: Connection, exchange: HttpRequestContext, outcome: PipelineResponse): void {
    const { isUnread } = exchange;
    if (isUnread) {
      line.waiting.length = 0;
      line.ending = true;
    }
    const isClosing = this.#closing !== undefined || line.ending;
    const isLast = isUnread || (isClosing && line.waiting.length === 0 && line.refusal === undefined);
    exchange.write(outcome, { isLast, isUnread, onClosed: () => this.#finish(line, exchange, outcome) });
  }

  /** The answer has gone out, or nobody is there to take it. */
  #finish(line: Connection, exchange: HttpRequestContext, outcome: PipelineResponse): void {
    const durationMs = performance.now() - exchange.startMs;
    this.#options.pipeline.releaseResponse(outcome);
    this.#options.measure?.(exchange, outcome, durationMs / 1000);
    if (this.#options.log !== undefined) this.#log(recordOf(exchange, outcome, durationMs));

    const { socket } = exchange.request;
    const next = line.waiting.shift();
    if (!socket.writable) return;
    if (next !== undefined) {
      this.#begin(line, next);
      return;
    }
    line.busy = false;
    if (line.refusal !== undefined) this.#writeRefusal(socket, line.refusal);
    // An answer that was under way when closing began did not announce it.
    else if (this.#closing !== undefined) socket.end();
  }

  /** Refuses a connection on which nothing more can be understood, after what was asked on it before. */
  #refuse(socket: Duplex, refusal: Refusal): void {
    const line = this.#lineOf(socket);
    if (line.ending) return;
    line.ending = true;
    if (line.reading !== undefined) {
      // It is the request in work that is refused, and its own answer says so.
      line.reading.abort(refusal);
      return;
    }
    line.refusal = refusal;
    if (!line.busy) this.#writeRefusal(socket, refusal);
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
    // Ended, not destroyed: a reset would overtake the answer while the other side still sends.
    socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join("")}\r\n${body}`);
    const linger = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once("close", () => clearTimeout(linger));
    this.#log({ request_id: problem.request_id, status: problem.status, code: problem.code });
  }

  #log(record: LogRecord): void {
    try {
      this.#options.log?.(record);
    } catch {
      // A log that fails must not take the service with it.
    }
  }
}

/** What the log says of an answer. */
function recordOf(
  { request, requestId, target, caller }: HttpRequestContext,
  outcome: PipelineResponse,
  durationMs: number,
): LogRecord {
  const { status, failure, units } = outcome;
  const record: { -readonly [Field in keyof LogRecord]: LogRecord[Field] } = {
    request_id: requestId,
    method: request.method ?? "",
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
  // A refusal of our own says it all by its code, and under load there are many.
  if (failure !== undefined && status >= 500 && !(failure.error instanceof Refusal)) {
    record.error = loggedError(failure.error);
  }
  return record;
}

function parserRefusal(error: NodeJS.ErrnoException): Refusal {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return new Refusal(
        "headers_too_large",
        `The address and headers of a request may be ${HEAD_BYTES_MAX} bytes long, all together.`,
      );
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new Refusal("request_timeout", "The request did not arrive in time; send it in one go.");
    default:
      return new Refusal("http_malformed", "What was sent cannot be read as HTTP/1.1.");
  }
}

export async function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<void> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen({ host, port, exclusive: true }, () => {
        server.off("error", reject);
        resolve();
      });
    });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    const why =
      {
        EADDRINUSE: "something else listens there; choose another port, or 0 for any free one",
        EACCES: "this user may not listen there; ports below 1024 need rights",
        EADDRNOTAVAIL: "this machine has no such address",
      }[code] ?? `the system refuses (${code})`;
    const message = `Cannot listen on port ${port} of ${host}: ${why}.`;
    throw new Fault("configuration_invalid", message, { details: { host, port }, cause: error });
  }
}

export function addressOf(server: Server): ListeningServer["address"] {
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("The server listens on no port.");
  const { address: host, port } = bound;
  return { host, port, url: `http://${isIPv6(host) ? `[${host}]` : host}:${port}` };
}
