import type { LocalAtlas } from "../hazard/answer.ts";
import type { BatchRun, RefusedElement } from "../hazard/batch.ts";
import type { TaskContext } from "../pool/taskKinds.ts";
import type { EncodedElement } from "./http/elementEncoder.ts";
import type { Reply, Route } from "./route.ts";

/** A reply that a worker can send to the event loop. */
export type BulkReply = Reply<readonly Uint8Array[]>;

/** A route for large requests that one worker answers in time slices. */
export interface WholeBulkRoute<Request> {
  readonly kind: "whole";
  readonly route: Route<Request, unknown>;
  answer(request: Request, context: TaskContext): Promise<BulkReply>;
}

/** The members of an element's problem that do not depend on the error. */
export interface ProblemContext {
  readonly requestId: string;
  /** Path below which clients reach the service. */
  readonly prefix: string;
}

/**
 * A route whose response is `{ "results": [ ... ] }` with one element per hazard query. Each query runs on the worker that
 * has its tiles.
 */
export interface QueriesBulkRoute<Request, Result> {
  readonly kind: "queries";
  readonly route: Route<Request, unknown>;
  /** Returns the queries, which need not be valid. */
  queriesOf(request: Request): readonly unknown[];
  /** Estimates what the circle of a query takes to sample. @throws Fault if the query is invalid */
  estimateWork(atlas: LocalAtlas, query: unknown): ReturnType<LocalAtlas["estimateWork"]>;
  /** Answers queries as the library does, passing each element to `run.onElement`. */
  answer(
    atlas: LocalAtlas,
    queries: readonly unknown[],
    options: { readonly signal: AbortSignal },
    run: BatchRun<Result>,
  ): Promise<unknown>;
  encode(element: Result | RefusedElement, context: ProblemContext): EncodedElement;
  /** Returns response headers in addition to those of the route. */
  headers(refusedCount: number): Readonly<Record<string, string>>;
}

export type BulkRoute<Request, Result = unknown> = WholeBulkRoute<Request> | QueriesBulkRoute<Request, Result>;
