import type { IncomingMessage, ServerResponse } from "node:http";
import { readBody } from "./body.ts";
import { hasBody, isAwaitingContinue } from "./requestHead.ts";
import type { RequestContext, PipelineResponse } from "../pipeline.ts";
import { Refusal } from "../problems/problem.ts";
import { newRequestId } from "./requestId.ts";
import type { Caller } from "../routes/route.ts";
import type { Target } from "./router.ts";

/** Time after which a refused connection is closed even if the client keeps it open. */
export const LINGER_MS = 1_000;

/** Statuses whose responses have no body. */
const STATUSES_WITHOUT_LENGTH = new Set([204, 304]);

/** Lets the connection stop the reading of a request body. */
export interface BodyReadState {
  /** Why the body of the next request will never be complete. */
  refusal?: Refusal | undefined;
  /** Stops reading the body of the request in progress. */
  reading?: AbortController | undefined;
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
  readonly #bodyRead: BodyReadState;
  readonly #timeoutMs: number;
  #isBodyRead = false;
  #abort: AbortController | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { bodyRead, timeoutMs }: { readonly bodyRead: BodyReadState; readonly timeoutMs: number },
  ) {
    this.request = request;
    this.response = response;
    this.#bodyRead = bodyRead;
    this.#timeoutMs = timeoutMs;
  }

  get isDisconnected(): boolean {
    return this.response.destroyed || !this.request.socket.writable;
  }

  /** Whether the body is still on the connection, so that no further request can be read from it. */
  get isBodyUnread(): boolean {
    return !this.#isBodyRead && hasBody(this.request);
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = new AbortController();
      this.#abort = abort;
      this.response.once("close", () => abort.abort(new Refusal("request_timeout", "The client disconnected.")));
      const message = `The response took longer than ${this.#timeoutMs / 1000} s; request less at a time.`;
      this.#deadline = setTimeout(() => abort.abort(new Refusal("overloaded", message)), this.#timeoutMs);
      if (this.isDisconnected) abort.abort(new Refusal("request_timeout", "The client disconnected."));
    }
    return this.#abort.signal;
  }

  async receive(limitBytes: number, onPart: (sizeBytes: number) => void): Promise<Buffer> {
    const { request } = this;
    const bodyRead = this.#bodyRead;
    if (bodyRead.refusal !== undefined && !request.complete) {
      // The body became invalid while this request was waiting for an earlier one.
      const { refusal } = bodyRead;
      bodyRead.refusal = undefined;
      throw refusal;
    }
    if (isAwaitingContinue(request)) this.response.writeContinue();
    bodyRead.reading = new AbortController();
    try {
      const bytes = await readBody(request, { limitBytes, onPart, signal: bodyRead.reading.signal });
      this.#isBodyRead = true;
      return bytes;
    } finally {
      bodyRead.reading = undefined;
    }
  }

  /**
   * Writes the response.
   * @param onClosed called once the last byte has been passed to the system, or the client has disconnected
   */
  write(
    result: PipelineResponse,
    options: { readonly isLast: boolean; readonly isBodyUnread: boolean; onClosed(): void },
  ): void {
    if (this.#deadline !== undefined) clearTimeout(this.#deadline);
    const { request, response } = this;
    const { isLast, isBodyUnread, onClosed } = options;
    if (isBodyUnread) request.resume();
    if (response.destroyed) {
      queueMicrotask(onClosed);
      return;
    }
    response.once("close", onClosed);
    const { status, body } = result;
    const fields = result.fields as string[];
    if (isLast) fields.push("Connection", "close");
    try {
      if (body === undefined || typeof body === "string") {
        const text = body ?? "";
        const sizeBytes = Buffer.byteLength(text);
        if (!STATUSES_WITHOUT_LENGTH.has(status)) fields.push("Content-Length", String(sizeBytes));
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
    request.on("end", done).on("close", done).resume();
  });
  response.end();
}
