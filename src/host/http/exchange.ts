import { randomFillSync } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { v7 } from "uuid";
import type { Slot } from "../admission/resources.ts";
import { Fault, type FaultCode } from "../../errors.ts";
import type { Caller, Reply } from "../route.ts";
import { type BodyRate, readBody, type ReadBodyOptions, SHORT_CHUNK_BYTES_MAX } from "./body.ts";
import type { RequestBody } from "./bodyBuffer.ts";
import { hasBody, isAwaitingContinue } from "./requestHead.ts";
import type { Target } from "./router.ts";

/** Time after which a rejected connection is closed even if the client keeps it open. */
export const LINGER_MS = 1_000;

/** Short chunks of a rejected body after which it is read no further: Node.js takes 2 to 3 µs for each. */
const DISCARDED_CHUNK_COUNT_MAX = 1_024;

/** Settings of all exchanges of a listener. */
export interface ExchangeSettings {
  /** Until `signal` aborts. */
  readonly workTimeoutMs: number;
  /** For receiving the body. Absent: the server limits it. */
  readonly bodyTimeoutMs?: number | undefined;
  readonly bodyRate: BodyRate;
  /** Whether clients that expect `100 Continue` still wait for it: the server has not sent it. */
  readonly isContinueDue: boolean;
}

/** The listener that accepted a request. */
export interface ExchangeOwner {
  readonly settings: ExchangeSettings;
  /** Called before the response is written. @returns whether it is the last one of its connection */
  beginResponse(exchange: Exchange, socket: Socket): boolean;
  /**
   * Called when the last byte of the response has been passed to the system, or when it will not be written.
   * @param socket undefined if the connection has closed
   */
  finish(exchange: Exchange, socket: Socket | undefined): void;
}

/**
 * A request with its response, and what is known about both, for the log and the metrics. The messages of node:http are
 * dropped once the connection has closed, even if the request is still being processed: each refers to all requests that
 * its connection has received meanwhile.
 */
export class Exchange {
  readonly requestId = newRequestId();
  readonly startMs = performance.now();
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  // Set by the pipeline during processing.
  target?: Target;
  caller?: Caller;
  rateLimit?: string;
  rateLimitPolicy?: string;
  /** Holds the memory of the response until it has been read. */
  slot?: Slot;
  /**
   * The request was rejected because of overload before its caller was known, or because its client keeps exceeding a
   * limit: its connection is closed after the response.
   */
  closesConnection = false;
  /** The request was rejected because its client keeps exceeding a limit. It counts toward the block of its address. */
  countsTowardBlock = false;
  /** The body was rejected and came in very many short chunks, which cost as much as many rejected requests. */
  hasManyShortChunks = false;
  status = 0;
  units?: number;
  failure?: { readonly code: FaultCode; readonly error: unknown };
  /** Stops the reading of the body; undefined unless it is being read. */
  reading: AbortController | undefined;
  /** Whether the response has been written completely, or never will be. */
  isFinished = false;
  readonly #owner: ExchangeOwner;
  #messages: { readonly request: IncomingMessage; readonly response: ServerResponse } | undefined;
  #isBodyRead = false;
  #bodyError: Fault | undefined;
  #disconnection: AbortController | undefined;
  #work: AbortController | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(owner: ExchangeOwner, request: IncomingMessage, response: ServerResponse) {
    this.#owner = owner;
    this.#messages = { request, response };
    this.method = request.method ?? "";
    this.headers = request.headers;
  }

  /** @throws Fault `request_timeout` if the client has disconnected */
  get request(): IncomingMessage {
    if (this.#messages === undefined) throw disconnected();
    return this.#messages.request;
  }

  /** Undefined once the connection has closed or the exchange is finished. */
  get response(): ServerResponse | undefined {
    return this.#messages?.response;
  }

  get isDisconnected(): boolean {
    if (this.#messages === undefined) return true;
    const { request, response } = this.#messages;
    return response.destroyed || !request.socket.writable;
  }

  /** Whether the body is still on the connection, so that no further request can be read from it. */
  get isBodyUnread(): boolean {
    if (this.#messages === undefined || this.#isBodyRead) return false;
    const { request } = this.#messages;
    return hasBody(request) && !request.readableEnded;
  }

  /** Aborts when the client disconnects; for work with a deadline set elsewhere. */
  get disconnectSignal(): AbortSignal {
    this.#disconnection ??= abortedIf(this.isDisconnected);
    return this.#disconnection.signal;
  }

  /** Aborts when the client disconnects or the work timeout has passed. Created on demand, because few requests wait. */
  get signal(): AbortSignal {
    if (this.#work === undefined) {
      const work = abortedIf(this.isDisconnected);
      this.#work = work;
      const { workTimeoutMs } = this.#owner.settings;
      const message = `The response took longer than ${workTimeoutMs / 1000} s; request less at a time.`;
      this.#deadline = setTimeout(() => work.abort(new Fault("overloaded", message)), workTimeoutMs);
      this.#deadline.unref(); // open connections keep the process running
    }
    return this.#work.signal;
  }

  /**
   * Reads the whole body.
   * @throws Fault `body_too_large`, `request_timeout` or `http_malformed`; `internal_error` if the embedding server has
   *   consumed the body; Fault `json_malformed` for its structure; errors of `onResize`
   */
  async receive(options: Omit<ReadBodyOptions, "signal" | "rate">): Promise<RequestBody> {
    const { request, response } = this;
    // The body became invalid before it was read.
    if (this.#bodyError !== undefined && !request.complete) throw this.#bodyError;
    if (hasBody(request) && (request.readableDidRead || request.readableEnded)) {
      this.#isBodyRead = true;
      throw new Fault("internal_error", BODY_CONSUMED);
    }
    const { isContinueDue, bodyTimeoutMs, bodyRate: rate } = this.#owner.settings;
    if (isContinueDue && isAwaitingContinue(request)) response?.writeContinue();
    const reading = new AbortController();
    this.reading = reading;
    const deadline =
      bodyTimeoutMs === undefined ? undefined : setTimeout(() => reading.abort(bodyTooSlow()), bodyTimeoutMs);
    try {
      const body = await readBody(request, { ...options, rate, signal: reading.signal });
      this.#isBodyRead = true;
      return body;
    } finally {
      clearTimeout(deadline);
      this.reading = undefined;
    }
  }

  /**
   * Writes the response.
   * @param fields header fields, flat: name, value, …; without Connection and Content-Length
   * @param isLengthUnknown whether the body was not computed; only with HEAD
   */
  respond(status: number, fields: string[], body: Reply["body"] | undefined, isLengthUnknown = false): void {
    clearTimeout(this.#deadline);
    this.status = status;
    if (this.#messages === undefined) {
      this.finish();
      return;
    }
    const { request, response } = this.#messages;
    const { isBodyUnread } = this;
    const isLast = this.#owner.beginResponse(this, request.socket);
    if (response.destroyed || request.socket.destroyed) {
      this.finish();
      return;
    }
    // Not `once`, which would create a wrapper for each response: a response closes once.
    response.on("close", () => this.finish());
    if (isLast) fields.push("Connection", "close");
    const allFields = response.getHeaderNames().length > 0 ? mergeFields(response, fields) : fields;
    try {
      if (body === undefined || typeof body === "string") {
        const text = body ?? "";
        const sizeBytes = Buffer.byteLength(text);
        const hasLength = status !== 204 && status !== 304 && !isLengthUnknown;
        if (hasLength) allFields.push("Content-Length", String(sizeBytes));
        response.writeHead(status, allFields);
        // Closing while the client is still sending causes a reset, which could overtake the response.
        if (isBodyUnread) this.#endAfterBody(request, response, text);
        // ASCII text has the same bytes in both encodings, and Latin-1 is faster to write.
        else response.end(text, sizeBytes === text.length ? "latin1" : "utf8");
      } else if (Symbol.asyncIterator in body) {
        response.writeHead(status, allFields);
        if (this.method === "HEAD") response.end();
        else void writeStream(response, body);
      } else {
        allFields.push("Content-Length", String(body.reduce((size, part) => size + part.length, 0)));
        response.writeHead(status, allFields);
        response.cork();
        for (const part of body) response.write(part);
        response.end();
      }
    } catch (error) {
      // An invalid header field is a bug, which must affect this connection only.
      response.destroy(error as Error);
    }
  }

  /** Called when the response has been written, and when its connection has closed before. Further calls have no effect. */
  finish(): void {
    if (this.isFinished) return;
    this.isFinished = true;
    if (this.response?.writableFinished !== true) this.#abort();
    this.#owner.finish(this, this.#messages?.request.socket);
    this.#messages = undefined;
  }

  /** Called when the connection has closed. */
  disconnect(): void {
    if (this.status !== 0) this.finish();
    else this.#abort();
    this.#messages = undefined;
  }

  /** Called when the rest of the body is invalid, or does not arrive. */
  failBody(error: Fault): void {
    this.#bodyError = error;
    this.reading?.abort(error);
  }

  #abort(): void {
    clearTimeout(this.#deadline);
    this.#disconnection?.abort(disconnected());
    this.#work?.abort(disconnected());
  }

  /** Writes a response at once, and ends it when the body, which is discarded, has arrived or `LINGER_MS` has passed. */
  #endAfterBody(request: IncomingMessage, response: ServerResponse, text: string): void {
    if (text !== "") response.write(text);
    let shortChunkCount = 0;
    const end = (): void => {
      clearTimeout(linger);
      request.off("end", end).off("close", end).off("data", countChunk);
      response.end();
    };
    const countChunk = ({ length }: Buffer): void => {
      if (length <= SHORT_CHUNK_BYTES_MAX) shortChunkCount++;
      if (shortChunkCount < DISCARDED_CHUNK_COUNT_MAX) return;
      this.hasManyShortChunks = true;
      request.pause();
    };
    const linger = setTimeout(end, LINGER_MS);
    request.on("end", end).on("close", end);
    // The rest of a body that was paused would take as long to discard as to read.
    if (!request.isPaused()) request.on("data", countChunk);
  }
}

const BODY_CONSUMED =
  "The request body was consumed before it reached Isotherm. Mount the handler before body parsers such as express.json().";

function abortedIf(isAborted: boolean): AbortController {
  const controller = new AbortController();
  if (isAborted) controller.abort(disconnected());
  return controller;
}

function bodyTooSlow(): Fault {
  return new Fault("request_timeout", "The request was not received in time; send it without pauses.");
}

function disconnected(): Fault {
  return new Fault("request_timeout", "The client disconnected.");
}

/**
 * Combines fields of the same name. Node does the opposite if an embedding server has already set header fields: it
 * keeps the last field of each name. `Vary` keeps what the server has set, other names are replaced.
 */
function mergeFields(response: ServerResponse, fields: readonly string[]): string[] {
  const vary = response.getHeader("Vary");
  const merged = new Map<string, { readonly name: string; value: string }>();
  if (vary !== undefined) merged.set("vary", { name: "Vary", value: String(vary) });
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [name = "", value = ""] = fields.slice(i, i + 2);
    const known = merged.get(name.toLowerCase());
    if (known === undefined) merged.set(name.toLowerCase(), { name, value });
    else known.value += `, ${value}`;
  }
  return [...merged.values()].flatMap(({ name, value }) => [name, value]);
}

/** Writes streamed text at the speed at which the client reads it. */
async function writeStream(response: ServerResponse, pieces: AsyncIterable<string>): Promise<void> {
  try {
    for await (const piece of pieces) {
      if (response.destroyed) return;
      if (piece !== "" && !response.write(piece)) await writable(response);
    }
    response.end();
  } catch {
    // The status has been sent already; the client detects the truncated response by the missing last chunk.
    response.destroy();
  }
}

function writable(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

/** Random bytes are requested for many ids at once, because each call costs the same for few and many bytes. */
const ID_COUNT = 256;
const WORDS_PER_ID = 4;
const words = new Uint32Array(ID_COUNT * WORDS_PER_ID);
const randomBytesByIndex = Array.from({ length: ID_COUNT }, (_, index) => new Uint8Array(words.buffer, index * 16, 16));
let nextIndex = ID_COUNT;

/** Returns a new UUIDv7: 48 bits of time in milliseconds, then 74 random bits (RFC 9562, 5.7). */
export function newRequestId(nowMs = Date.now()): string {
  if (nextIndex === ID_COUNT) {
    randomFillSync(words);
    nextIndex = 0;
  }
  const index = nextIndex++;
  // Without `seq`, `v7` clears one of the random bits. The bytes of `random` that become `seq` are not used otherwise.
  return v7({ msecs: nowMs, random: randomBytesByIndex[index]!, seq: words[index * WORDS_PER_ID]! });
}
