import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import { isIPv6, Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import findMyWay from "find-my-way";
import { Fault } from "../errors.ts";
import { readBody, refuseUnreadable } from "./body.ts";
import { decodeJson, encodeJson } from "./json.ts";
import { type Log, loggedError } from "./log.ts";
import { PROBLEM_CONTENT_TYPE, problemHeaders, problemOf, Refusal } from "./problem.ts";
import { addressesOf, type HostLimits, type Route, type Services } from "./route.ts";

/** How long the server waits, and for how many. */
export interface ServerPatience {
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
  /** For work under way when the server is told to close. */
  readonly drainTimeoutMs: number;
  readonly connectionCountMax: number;
}

export const DEFAULT_PATIENCE: ServerPatience = {
  headersTimeoutMs: 30_000,
  requestTimeoutMs: 30_000,
  checkEveryMs: 1_000,
  // Above the two before it, so that who is late is told so.
  silenceTimeoutMs: 35_000,
  keepAliveTimeoutMs: 75_000,
  drainTimeoutMs: 30_000,
  connectionCountMax: 10_000,
};

export interface ServerOptions {
  readonly routes: readonly Route<unknown, unknown>[];
  readonly services: Services;
  readonly limits: HostLimits;
  readonly host: string;
  readonly port: number;
  readonly patience: ServerPatience;
  readonly log: Log;
}

export interface RunningServer {
  readonly address: { readonly host: string; readonly port: number; readonly url: string };
  /** Takes no more connections, finishes what is under way, and resolves when the last connection has closed. */
  close(): Promise<void>;
}

const HEADERS_SIZE_BYTES_MAX = 16_384;
/** Requests that may wait behind the one in work on a connection. */
const WAITING_COUNT_MAX = 8;
/** A refused connection that the other side keeps open is ended after this. */
const LINGER_MS = 1_000;

/** A request and its answer-to-be. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly startMs: number;
}

/** A connection takes one request into work at a time, however many its client sends ahead. */
interface Line {
  busy: boolean;
  readonly waiting: Exchange[];
  /** Too many were sent ahead, or what came next was no HTTP: the line ends with what it has accepted. */
  ending: boolean;
  /** To be told last. */
  refusal?: Refusal | undefined;
  /** Ends the reading of the body of the request in work. */
  reading?: AbortController | undefined;
}

interface Match {
  readonly route: Route<unknown, unknown>;
  readonly template: string;
}

/**
 * Starts listening.
 * @throws Fault `configuration_invalid` when the address cannot be listened on
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { patience } = options;
  const server = createServer({
    maxHeaderSize: HEADERS_SIZE_BYTES_MAX,
    headersTimeout: patience.headersTimeoutMs,
    requestTimeout: patience.requestTimeoutMs,
    connectionsCheckingInterval: patience.checkEveryMs,
    keepAliveTimeout: patience.keepAliveTimeoutMs,
    // Node would refuse with an empty body; `refuseBadHost` gives the reason.
    requireHostHeader: false,
  });
  server.timeout = patience.silenceTimeoutMs;
  server.maxConnections = patience.connectionCountMax;
  const carrier = new Carrier(options);
  carrier.attach(server);
  await listen(server, options);
  return { address: addressOf(server), close: () => carrier.close(server) };
}

/** Carries requests to routes and answers back, the same way for every route. */
class Carrier {
  readonly #options: ServerOptions;
  readonly #router = findMyWay();
  readonly #lines = new WeakMap<Duplex, Line>();
  readonly #sockets = new Set<Socket>();
  #closing: Promise<void> | undefined;

  constructor(options: ServerOptions) {
    this.#options = options;
    for (const route of options.routes) {
      for (const template of addressesOf(route)) {
        const match: Match = { route, template };
        this.#router.on(route.method, template, notCalled, match);
      }
    }
  }

  attach(server: Server): void {
    const accept = (request: IncomingMessage, response: ServerResponse): void => this.#accept(request, response);
    server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    server.on("request", accept);
    // Who asks whether to send a body is told to when a route is about to read it, and no expectation is refused without
    // a reason.
    server.on("checkContinue", accept);
    server.on("checkExpectation", accept);
    server.on("connect", (_request, socket) => {
      this.#refuse(socket, new Refusal("method_not_allowed", "CONNECT is not answered here.", { Allow: "GET, HEAD" }));
    });
    server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
      if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
      else this.#refuse(socket, parserRefusal(error));
    });
  }

  close(server: Server): Promise<void> {
    this.#closing ??= this.#drain(server);
    return this.#closing;
  }

  async #drain(server: Server): Promise<void> {
    const closed = new Promise<void>((resolve) => server.once("close", () => resolve()));
    // Not the HTTP server's own `close`: that one also stops looking for requests that never end.
    NetServer.prototype.close.call(server);
    server.closeIdleConnections();
    // Idle to Node is only what has asked before; browsers open connections that never ask.
    for (const socket of this.#sockets) if (socket.bytesRead === 0) socket.destroy();
    const deadline = setTimeout(() => server.closeAllConnections(), this.#options.patience.drainTimeoutMs);
    await closed;
    clearTimeout(deadline);
    server.close();
  }

  #lineOf(socket: Duplex): Line {
    let line = this.#lines.get(socket);
    if (line === undefined) {
      line = { busy: false, waiting: [], ending: false };
      this.#lines.set(socket, line);
    }
    return line;
  }

  #accept(request: IncomingMessage, response: ServerResponse): void {
    const line = this.#lineOf(request.socket);
    if (line.ending) return;
    const exchange = { request, response, requestId: randomUUID(), startMs: performance.now() };
    if (!line.busy) void this.#work(line, exchange);
    else if (line.waiting.length < WAITING_COUNT_MAX) line.waiting.push(exchange);
    else line.ending = true;
  }

  /** Answers one request after the other until none waits. */
  async #work(line: Line, first: Exchange): Promise<void> {
    line.busy = true;
    const { socket } = first.request;
    for (let next: Exchange | undefined = first; next !== undefined; next = line.waiting.shift()) {
      if (!socket.writable) return;
      await this.#answer(line, next);
    }
    line.busy = false;
    if (line.refusal !== undefined) this.#writeRefusal(socket, line.refusal);
    // An answer that was under way when closing began did not announce it.
    else if (this.#closing !== undefined) socket.end();
  }

  async #answer(line: Line, exchange: Exchange): Promise<void> {
    const { request, response, requestId, startMs } = exchange;
    const closed = new Promise<void>((resolve) => response.once("close", () => resolve()));
    let match: Match | undefined;
    let status = 200;
    let body: string;
    let headers: Readonly<Record<string, string>>;
    let failure: { readonly code: string; readonly error: unknown } | undefined;
    let isUnread = hasBody(request);
    try {
      const { path, queryText } = splitTarget(request.url ?? "");
      refuseBadHost(request);
      match = this.#match(request.method ?? "", path);
      const { services, limits } = this.#options;
      let sent: unknown;
      if (match.route.method === "GET") refuseBody(request);
      else {
        const bytes = await this.#receive(line, exchange);
        isUnread = false;
        sent = decodeJson(bytes);
      }
      const query = match.route.parse({ queryText, body: sent, limits });
      body = encodeJson(await match.route.handle(query, services));
      headers = { "Content-Type": "application/json", ...match.route.headers?.(services) };
    } catch (error) {
      const problem = problemOf(error, requestId);
      status = problem.status;
      body = encodeJson(problem);
      headers = {
        "Content-Type": PROBLEM_CONTENT_TYPE,
        "Cache-Control": "no-store",
        ...match?.route.headers?.(this.#options.services),
        ...problemHeaders(problem, error),
      };
      failure = { code: problem.code, error };
    }

    const last =
      isUnread ||
      ((this.#closing !== undefined || line.ending) && line.waiting.length === 0 && line.refusal === undefined);
    if (isUnread) {
      // What follows on this connection is the body, so nothing after it can be understood.
      line.waiting.length = 0;
      line.ending = true;
      request.resume();
    }
    if (!response.destroyed) {
      response.writeHead(status, {
        ...headers,
        "Content-Length": Buffer.byteLength(body),
        "X-Content-Type-Options": "nosniff",
        "X-Request-Id": requestId,
        ...(last ? { Connection: "close" } : {}),
      });
      if (isUnread) {
        // Closing while bytes still come would be a reset, which may overtake the answer.
        response.write(body);
        await drained(request);
      }
      response.end(isUnread ? undefined : body);
      await closed;
    }
    this.#log({
      request_id: requestId,
      method: request.method ?? "",
      ...(match === undefined ? {} : { route: match.template }),
      status,
      ...(failure === undefined ? {} : { code: failure.code }),
      duration_ms: performance.now() - startMs,
      ...(failure === undefined || status < 500 ? {} : { error: loggedError(failure.error) }),
    });
  }

  /**
   * The body of a request, which is taken in only when its head is found right.
   * @throws Refusal `content_type_unsupported`, `body_too_large`; `request_timeout` or `http_malformed` when the rest of
   *   it does not come, or not as HTTP
   */
  async #receive(line: Line, { request, response }: Exchange): Promise<Buffer> {
    const { bodySizeBytes: limitBytes } = this.#options.limits;
    const { "content-type": contentTypes = [], "content-encoding": contentEncodings = [] } = request.headersDistinct;
    const { "content-length": lengthText } = request.headers;
    const contentLengthBytes = lengthText === undefined ? undefined : Number(lengthText);
    refuseUnreadable({ contentTypes, contentEncodings, contentLengthBytes }, limitBytes);
    if (line.refusal !== undefined && !request.complete) {
      // While this request waited for its turn, its body came to nothing.
      const refusal = line.refusal;
      line.refusal = undefined;
      throw refusal;
    }
    if (isAwaitingContinue(request)) response.writeContinue();
    line.reading = new AbortController();
    try {
      return await readBody(request, { limitBytes, signal: line.reading.signal });
    } finally {
      line.reading = undefined;
    }
  }

  /** @throws Refusal `route_not_found`, `method_not_allowed` */
  #match(method: string, path: string): Match {
    const found = this.#router.find(method === "HEAD" ? "GET" : (method as "GET"), path);
    if (found !== null) return found.store as Match;
    const allowed = [
      ...(this.#router.find("GET", path) === null ? [] : ["GET", "HEAD"]),
      ...(this.#router.find("POST", path) === null ? [] : ["POST"]),
    ];
    if (allowed.length === 0) {
      throw new Refusal("route_not_found", "There is nothing at this address. Data is below /api/v1/.");
    }
    const message = `${method} is not answered here; allowed: ${allowed.join(", ")}.`;
    throw new Refusal("method_not_allowed", message, { Allow: allowed.join(", ") });
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
    const problem = problemOf(refusal, randomUUID());
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

  #log(record: Parameters<Log>[0]): void {
    try {
      this.#options.log(record);
    } catch {
      // A log that fails must not take the service with it.
    }
  }
}

/** The router only finds; answering is ours. */
function notCalled(): never {
  throw new Error("The router's own way of calling a route is not used.");
}

/** The target of a request in either of its forms, origin ("/path?query") or absolute ("http://host/path?query"). */
function splitTarget(target: string): { readonly path: string; readonly queryText: string } {
  const local = target.replace(/^https?:\/\/[^/?#]*/i, "");
  const mark = local.indexOf("?");
  return mark < 0 ? { path: local, queryText: "" } : { path: local.slice(0, mark), queryText: local.slice(mark + 1) };
}

/** RFC 9112, 3.2: one Host field, no more; none only before HTTP/1.1. */
function refuseBadHost(request: IncomingMessage): void {
  const given = request.headersDistinct["host"]?.length ?? 0;
  if (given === 1 || (given === 0 && request.httpVersion === "1.0")) return;
  throw new Refusal("http_malformed", `The request has ${given} Host fields; HTTP/1.1 wants exactly one.`);
}

/** A body on a GET has no meaning, so whoever sends one means something that we would not do. */
function refuseBody(request: IncomingMessage): void {
  if (!hasBody(request)) return;
  const header = request.headers["transfer-encoding"] === undefined ? "Content-Length" : "Transfer-Encoding";
  const detail = "A GET is asked by its address alone; send no body.";
  throw new Fault("invalid_request", detail, { items: [{ header, code: "not_expected", detail }] });
}

function hasBody(request: IncomingMessage): boolean {
  return request.headers["transfer-encoding"] !== undefined || Number(request.headers["content-length"] ?? 0) > 0;
}

function isAwaitingContinue(request: IncomingMessage): boolean {
  return request.httpVersion !== "1.0" && /^100-continue$/i.test(request.headers.expect ?? "");
}

/** Resolves when a request has come to its end, or when it has been waited for long enough. */
function drained(request: IncomingMessage): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(linger);
      request.off("end", done).off("close", done);
      resolve();
    };
    const linger = setTimeout(done, LINGER_MS);
    request.on("end", done).on("close", done).resume();
  });
}

function parserRefusal(error: NodeJS.ErrnoException): Refusal {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return new Refusal(
        "headers_too_large",
        `The address and headers of a request may be ${HEADERS_SIZE_BYTES_MAX} bytes long, all together.`,
      );
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return new Refusal("request_timeout", "The request did not arrive in time; send it in one go.");
    default:
      return new Refusal("http_malformed", "What was sent cannot be read as HTTP/1.1.");
  }
}

async function listen(server: Server, { host, port }: { readonly host: string; readonly port: number }): Promise<void> {
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

function addressOf(server: Server): RunningServer["address"] {
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new Error("The server listens on no port.");
  const { address: host, port } = bound;
  return { host, port, url: `http://${isIPv6(host) ? `[${host}]` : host}:${port}` };
}
