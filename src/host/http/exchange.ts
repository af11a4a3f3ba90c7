/**
 * The interface between the HTTP layer and the pipeline: the request, its response, and the processor that turns
 * one into the other.
 */
import type { IncomingMessage } from "node:http";
import type { Slot } from "../admission/resources.ts";
import type { HttpError, ProblemCode } from "../problems/problem.ts";
import type { Caller } from "../route.ts";
import type { ReadBodyOptions } from "./body.ts";
import type { RequestBody } from "./bodyBuffer.ts";
import type { Target } from "./router.ts";

/** A request that the pipeline processes. */
export interface RequestContext {
  readonly request: IncomingMessage;
  readonly requestId: string;
  /** Aborts when the client has disconnected or the work timeout has passed. */
  readonly signal: AbortSignal;
  /** Aborts when the client has disconnected; for work with a deadline set elsewhere. */
  readonly disconnectSignal: AbortSignal;
  readonly isDisconnected: boolean;
  /**
   * Reads the whole body.
   * @throws HttpError `body_too_large`, `request_timeout` or `http_malformed`; `internal_error` if the embedding server has
   *   consumed the body; Fault `json_malformed` for its structure; errors of `onResize`
   */
  receive(options: Omit<ReadBodyOptions, "signal" | "rate" | "shortChunkCount">): Promise<RequestBody>;

  // Set by the pipeline during processing, for the log and the metrics.
  target?: Target;
  caller?: Caller;
  rateLimit?: string;
  rateLimitPolicy?: string;
  /**
   * The request was rejected because of overload before its caller was known, or because its client keeps exceeding a
   * limit: its connection is closed after the response.
   */
  closesConnection?: boolean;
  /** The request was rejected because its client keeps exceeding a limit. It counts toward the block of its address. */
  countsTowardBlock?: boolean;
}

/** A response that is ready to be written to the connection. */
export interface PipelineResponse {
  readonly status: number;
  /** Header fields, flat: name, value, … */
  readonly fields: readonly string[];
  readonly body: string | readonly Uint8Array[] | AsyncIterable<string> | undefined;
  /** Whether the body was not computed, so that its length is unknown. Only with HEAD. */
  readonly isLengthUnknown?: true;
  readonly units?: number;
  readonly failure?: { readonly code: ProblemCode; readonly error: unknown };
  /** Holds the response's bytes until `RequestProcessor.releaseResponse`. */
  readonly slot?: Slot;
}

/** Turns requests into responses; the service uses a `Pipeline`. */
export interface RequestProcessor {
  /** Returns the response to a request. Never rejects: errors become problem responses. */
  handle(context: RequestContext): Promise<PipelineResponse>;
  /** Returns the problem response to a request that is not processed. */
  reject(context: RequestContext, httpError: HttpError): PipelineResponse;
  /**
   * Counts memory of bodies that wait for earlier requests of their connections; releases it if `addedBytes` is negative.
   * @returns why there is no room for it
   */
  countWaitingBodies(addedBytes: number): HttpError | undefined;
  /** Releases what a response holds, once the client has read it or disconnected. */
  releaseResponse(response: PipelineResponse): void;
}
