/** The host's kinds of tasks; bulkHandlers.ts implements them in the workers. */
import type { TaskKind } from "../../pool/taskKinds.ts";
import type { RequestWork } from "../admission/jobs.ts";
import type { Caller, HostLimits } from "../route.ts";
import type { BulkReply } from "../bulkRoute.ts";
import type { EncodedElements, PositionedElements } from "../http/elementEncoder.ts";

/** An HTTP request that a worker parses and answers. */
export interface HttpPayload {
  /** Path template of the route. */
  readonly route: string;
  readonly queryText: string;
  readonly path: Readonly<Record<string, string>>;
  /** The parts of the body. Those of a long body are in memory that all threads share. */
  readonly body?: readonly Uint8Array[];
  /** Estimated memory of the parsed body. */
  readonly parsedBytes: number;
  readonly caller: Caller;
  readonly requestId: string;
  readonly limits: HostLimits;
  /** Path below which clients reach the service. */
  readonly prefix: string;
  readonly workerCount: number;
}

/** The queries of a request that one worker answers. */
export interface QueryShard {
  readonly worker: number;
  /** Positions of the queries in the request. */
  readonly positions: Uint32Array;
  /** The queries as a JSON list, which takes less time to send between threads than objects. */
  readonly bytes: Uint8Array;
}

/** What the queries of a request take. */
export type BatchWork = Omit<RequestWork, "kind" | "bodyBytes">;

export type HttpResult =
  | ({ readonly kind: "answered" } & BulkReply)
  /** The request is to be answered by several workers. */
  | { readonly kind: "sharded"; readonly shards: readonly QueryShard[]; readonly work: BatchWork };

export interface ShardPayload {
  readonly route: string;
  readonly requestId: string;
  readonly prefix: string;
  readonly bytes: Uint8Array;
  /** Estimated memory of the parsed body of the request. */
  readonly parsedBytes: number;
}

export interface ShardResult {
  readonly elements: EncodedElements;
  readonly units: number;
  readonly refusedCount: number;
}

export const HTTP: TaskKind<HttpPayload, HttpResult> = { name: "http" };
export const HTTP_SHARD: TaskKind<ShardPayload, ShardResult> = { name: "http.shard" };
/** Joins the elements of all shards in the order of the request. */
export const HTTP_JOIN: TaskKind<readonly PositionedElements[], Uint8Array> = { name: "http.join" };
/** Runs the warm-up queries, so that later queries are fast. */
export const HTTP_WARM_UP: TaskKind<undefined, undefined> = { name: "http.warmUp" };
