import type { IncomingMessage, ServerResponse } from "node:http";
import { readBody } from "./body.ts";
import { hasBody, isAwaitingContinue } from "./requestHead.ts";
import type { RequestContext, PipelineResponse } from "../pipeline.ts";
import { Refusal } from "../problems/problem.ts";
import { newRequestId } from "./requestId.ts";
import type { Caller } from "../routes/route.ts";
import type { Target } from "./router.ts";

/** A refused connection that the other side keeps open is ended after this. */
export const LINGER_MS = 1_000;

/** Answers that are all head. */
const HAS_NO_LENGTH = new Set([204, 304]);

/** Where the reading of a request's body can be broken off. */
export interface BodyReadState {
  /** Why the body of the request that is next in work will never be whole. */
  refusal?: Refusal | undefined;
  /** Ends the reading of the body of the request in work. */
  reading?: AbortController | undefined;
}

/** A request of Node's and its answer-to-be. */
export class HttpRequestContext implements RequestContext {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly requestId = newRequestId();
  readonly startMs = performance.now();
  target?: Target;
  caller?: Caller;
  rateLimit?: string;
  readonly #line: BodyReadState;
  readonly #deadlineMs: number;
  #isReceived = false;
  #abort: AbortController | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    { line, deadlineMs }: { readonly line: BodyReadState; readonly deadlineMs: number },
  ) {
    this.request = request;
    this.response = response;
    this.#line = line;
    this.#deadlineMs = deadlineMs;
  }

  get isDisconnected(): boolean {
    return this.response.destroyed || !this.request.socket.writable;
  }

  /** What follows on the connection is this request's body, so nothing after it can be understood. */
  get isUnread(): boolean {
    return !this.#isReceived && hasBody(this.request);
  }

  get signal(): AbortSignal {
    if (this.#abort === undefined) {
      const abort = new AbortController();
      this.#abort = abort;
      this.response.once("close", () => abort.abort(new Refusal("request_timeout", "The client has gone.")));
      const message = `The answer was not ready within ${this.#deadlineMs / 1000} s; ask for less at once.`;
      this.#deadline = setTimeout(() => abort.abort(new Refusal("overloaded", message)), this.#deadlineMs);
      if (this.isDisconnected) abort.abort(new Refusal("request_timeout", "The client has gone."));
    }
    return this.#abort.signal;
  }

  async receive(limitBytes: number, onPart: (sizeBytes: number) => void): Promise<Buffer> {
    const { request } = this;
    const line = this.#line;
    if (line.refusal !== undefined && !request.complete) {
      // While this request waited for its turn, its body came to nothing.
      const { refusal } = line;
      line.refusal = undefined;
      throw refusal;
    }
    if (isAwaitingContinue(request)) this.response.writeContinue();
    line.reading = new AbortController();
    try {
      const bytes = await readBody(request, { limitBytes, onPart, signal: line.reading.signal });
      this.#isReceived = true;
      return bytes;
    } finally {
      line.reading = undefined;
    }
  }

  /**
   * Writes an answer.
   * @param onClosed called once its last byte has been handed to the system, or nobody is there to take it
   */
  write(
    outcome: PipelineResponse,
    how: { readonly isLast: boolean; readonly isUnread: boolean; onClosed(): void },
  ): void {
    if (this.#deadline !== undefined) clearTimeout(this.#deadline);
    const { request, response } = this;
    const { isLast, isUnread, onClosed } = how;
    if (isUnread) request.resume();
    if (response.destroyed) {
      queueMicrotask(onClosed);
      return;
    }
    response.once("close", onClosed);
    const { status, body } = outcome;
    const fields = outcome.fields as string[];
    if (isLast) fields.push("Connection", "close");
    try {
      if (body === undefined || typeof body === "string") {
        const text = body ?? "";
        const sizeBytes = Buffer.byteLength(text);
        if (!HAS_NO_LENGTH.has(status)) fields.push("Content-Length", String(sizeBytes));
        response.writeHead(status, fields);
        // Closing while bytes still come would be a reset, which may overtake the answer.
        if (isUnread) void endAfter(request, response, text);
        // ASCII is the same bytes in both, and Latin-1 is written without looking at each.
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
      // A header that is none: a bug of ours, which costs this connection and no other.
      response.destroy(error as Error);
    }
  }

  /** Text that comes bit by bit goes out as fast as it is read, and no faster. */
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
      // What is on its way cannot be taken back. An answer cut short is seen to be one: its last chunk is missing.
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

/** Writes an answer at once, and ends it when its request has come to its end, or has been waited for long enough. */
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
