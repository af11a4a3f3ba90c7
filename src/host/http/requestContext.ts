import type { IncomingMessage, ServerResponse } from "node:http";
import { type BodyRate, readBody, type ReadBodyOptions } from "./body.ts";
import type { RequestBody } from "./bodyBuffer.ts";
import { BodyHold } from "./bodyHold.ts";
import type { PipelineResponse, RequestContext } from "./exchange.ts";
import { hasBody, isAwaitingContinue } from "./requestHead.ts";
import { HttpError } from "../problems/problem.ts";
import { newRequestId } from "./requestId.ts";
import type { Caller } from "../route.ts";
import type { Target } from "./router.ts";

/** Time after which a rejected connection is closed even if the client keeps it open. */
export const LINGER_MS = 1_000;

/** Statuses whose responses have no body. */
const STATUSES_WITHOUT_LENGTH = new Set([204, 304]);

const NO_BODY = { sizeBytes: 0, heldBytes: 0, hasManyShortChunks: false };

/** State with which a connection stops reading a request body. */
export interface BodyReadState {
  /** Why the body of the next request will never be complete. */
  httpError?: HttpError | undefined;
  /** Stops reading the body of the request in progress. */
  reading?: AbortController | undefined;
}

/** Settings of all requests of a listener. */
export interface RequestContextSettings {
  /** Until `signal` aborts. */
  readonly workTimeoutMs: number;
  /** For receiving the body. Absent: the server limits it. */
  readonly bodyTimeoutMs?: number | undefined;
  readonly bodyRate: BodyRate;
  /** Whether clients that expect `100 Continue` still wait for it: the server has not sent it. */
  readonly isContinueDue: boolean;
}

/** A request of the HTTP server, with its response. */
export class HttpRequestContext implements RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId = newRequestId();
  readonly startMs = performance.now();
  target?: Target;
  caller?: Caller;
  rateLimit?: string;
  rateLimitPolicy?: string;
  closesConnection?: boolean;
  countsTowardBlock?: boolean;
  /** Whether the request arrived after the service had been closed. */
  isLate = false;
  /** Whether the response has been written, or never will be. */
  isFinished = false;
  /** Why the request is not processed: there was no memory for its body while it waited. */
  rejection: HttpError | undefined;
  readonly #bodyRead: BodyReadState;
  readonly #settings: RequestContextSettings;
  /** Holds the body until it is read or discarded; undefined if there is none, or if other code reads it. */
  readonly #bodyHold: BodyHold | undefined;
  #onClosed: (() => void) | undefined;
  #isBodyRead = false;
  #disconnection: AbortController | undefined;
  #work: AbortController | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    options: {
      readonly bodyRead: BodyReadState;
      readonly settings: RequestContextSettings;
      /** Called when `heldBody` has changed. */
      readonly onHeldBodyChange: () => void;
    },
  ) {
    this.request = request;
    this.response = response;
    this.#bodyRead = options.bodyRead;
    this.#settings = options.settings;
    const isUntouched = request.readableFlowing === null && !request.readableDidRead;
    if (!isUntouched || !hasBody(request)) return;
    const { "content-length": lengthText } = request.headers;
    const declaredBytes = lengthText === undefined ? undefined : Number(lengthText);
    this.#bodyHold = new BodyHold(request, { declaredBytes, onChange: options.onHeldBodyChange });
  }

  /** What has arrived of the body before it is read: its bytes, the memory that they take, and whether its chunks are many. */
  get heldBody(): Pick<BodyHold, "sizeBytes" | "heldBytes" | "hasManyShortChunks"> {
    return this.#bodyHold ?? NO_BODY;
  }

  /** Discards the body, which will not be read. */
  discardBody(): void {
    this.#bodyHold?.discard();
  }

  get isDisconnected(): boolean {
    return this.response.destroyed || !this.request.socket.writable;
  }

  /** Whether the body is still on the connection, so that no further request can be read from it. */
  get isBodyUnread(): boolean {
    return !this.#isBodyRead && hasBody(this.request) && !this.request.readableEnded;
  }

  get disconnectSignal(): AbortSignal {
    if (this.#disconnection === undefined) {
      const disconnection = new AbortController();
      this.#disconnection = disconnection;
      this.response.once("close", () => disconnection.abort(disconnected()));
      if (this.isDisconnected) disconnection.abort(disconnected());
    }
    return this.#disconnection.signal;
  }

  get signal(): AbortSignal {
    if (this.#work === undefined) {
      const work = new AbortController();
      this.#work = work;
      const { workTimeoutMs } = this.#settings;
      const message = `The response took longer than ${workTimeoutMs / 1000} s; request less at a time.`;
      this.#deadline = setTimeout(() => work.abort(new HttpError("overloaded", message)), workTimeoutMs);
      this.#deadline.unref(); // open connections keep the process running
      const { disconnectSignal } = this;
      const onDisconnect = (): void => work.abort(disconnectSignal.reason);
      if (disconnectSignal.aborted) onDisconnect();
      else disconnectSignal.addEventListener("abort", onDisconnect, { once: true });
    }
    return this.#work.signal;
  }

  async receive(options: Omit<ReadBodyOptions, "signal" | "rate" | "shortChunkCount">): Promise<RequestBody> {
    const { request } = this;
    const bodyRead = this.#bodyRead;
    if (bodyRead.httpError !== undefined && !request.complete) {
      // The body became invalid while this request was waiting for an earlier one.
      const { httpError } = bodyRead;
      bodyRead.httpError = undefined;
      throw httpError;
    }
    if (isBodyConsumed(request)) {
      this.#isBodyRead = true;
      throw new HttpError("internal_error", BODY_CONSUMED);
    }
    const { isContinueDue, bodyTimeoutMs, bodyRate } = this.#settings;
    if (isContinueDue && isAwaitingContinue(request)) this.response.writeContinue();
    const reading = new AbortController();
    bodyRead.reading = reading;
    const deadline =
      bodyTimeoutMs === undefined ? undefined : setTimeout(() => reading.abort(bodyTooSlow()), bodyTimeoutMs);
    try {
      const shortChunkCount = this.#bodyHold?.release() ?? 0;
      const body = await readBody(request, { ...options, rate: bodyRate, signal: reading.signal, shortChunkCount });
      this.#isBodyRead = true;
      return body;
    } finally {
      clearTimeout(deadline);
      bodyRead.reading = undefined;
    }
  }

  /** Reports that the connection has closed, which Node does not for a response that waits for earlier ones. */
  disconnect(): void {
    this.#disconnection?.abort(disconnected());
    this.#onClosed?.();
  }

  /**
   * Writes the response.
   * @param onClosed called when the last byte has been passed to the system and when the client has disconnected
   */
  write(
    result: PipelineResponse,
    options: { readonly isLast: boolean; readonly isBodyUnread: boolean; onClosed(): void },
  ): void {
    if (this.#deadline !== undefined) clearTimeout(this.#deadline);
    const { request, response } = this;
    const { isLast, isBodyUnread, onClosed } = options;
    if (isBodyUnread) this.#bodyHold?.discardRest();
    else this.#bodyHold?.release();
    // The rest of a body that was paused would take as long to discard as to read.
    if (isBodyUnread && !request.isPaused()) request.resume();
    if (response.destroyed || request.socket.destroyed) {
      queueMicrotask(onClosed);
      return;
    }
    this.#onClosed = onClosed;
    response.once("close", onClosed);
    const { status, body } = result;
    let fields = result.fields as string[];
    if (isLast) fields.push("Connection", "close");
    if (response.getHeaderNames().length > 0) fields = mergeFields(response, fields);
    try {
      if (body === undefined || typeof body === "string") {
        const text = body ?? "";
        const sizeBytes = Buffer.byteLength(text);
        if (!STATUSES_WITHOUT_LENGTH.has(status) && result.isLengthUnknown !== true)
          fields.push("Content-Length", String(sizeBytes));
        response.writeHead(status, fields);
        // Closing while the client is still sending causes a reset, which could overtake the response.
        if (isBodyUnread) void endAfter(request, response, text);
        // ASCII text has the same bytes in both encodings, and Latin-1 is faster to write.
        else response.end(text, sizeBytes === text.length ? "latin1" : "utf8");
      } else if (Symbol.asyncIterator in body) {
        response.writeHead(status, fields);
        void this.#stream(body);
      } else {
        fields.push("Content-Length", String(body.reduce((size, part) => size + part.length, 0)));
        response.writeHead(status, fields);
        response.cork();
        for (const part of body) response.write(part);
        response.end();
      }
    } catch (error) {
      // An invalid header field is a bug, which must affect this connection only.
      response.destroy(error as Error);
    }
  }

  /** Writes streamed text at the speed at which the client reads it. */
  async #stream(pieces: AsyncIterable<string>): Promise<void> {
    const { response } = this;
    if (this.request.method === "HEAD") {
      response.end();
      return;
    }
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
}

const BODY_CONSUMED =
  "The request body was consumed before it reached Isotherm. Mount the handler before body parsers such as express.json().";

/** Whether other code of an embedding server has read the body, or begun to. */
function isBodyConsumed(request: IncomingMessage): boolean {
  return hasBody(request) && (request.readableDidRead || request.readableEnded);
}

function bodyTooSlow(): HttpError {
  return new HttpError("request_timeout", "The request was not received in time; send it without pauses.");
}

function disconnected(): HttpError {
  return new HttpError("request_timeout", "The client disconnected.");
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

function writable(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}

/** Writes a response at once, and ends it when the request has been received completely or `LINGER_MS` has passed. */
async function endAfter(request: IncomingMessage, response: ServerResponse, body: string): Promise<void> {
  if (body !== "") response.write(body);
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(linger);
      request.off("end", done).off("close", done);
      resolve();
    };
    const linger = setTimeout(done, LINGER_MS);
    request.on("end", done).on("close", done);
  });
  response.end();
}
