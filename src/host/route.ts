import type { TSchema } from "typebox";
import { Fault } from "../errors.ts";
import type { Meter } from "../contract/wireTypes.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { RateLimitKind } from "./admission/limiters.ts";
import type { RequestWork } from "./admission/jobs.ts";
import type { TileTokens } from "./tiles/tileTokens.ts";
import type { HostAtlas } from "../pool/hostAtlas.ts";
import type { SharedCalls } from "../concurrency/sharedCalls.ts";
import type { Turns } from "../concurrency/turns.ts";
import type { SizedCache } from "../concurrency/sizedCache.ts";
import { encodeJson } from "../text/json/json.ts";
import type { TimeSlice } from "../concurrency/timeSlice.ts";

/** The body of a map tile. */
export interface EncodedTile {
  readonly body: readonly Uint8Array[];
  /** Cells along one edge of the block whose maximum a pixel is; 1 if each pixel is the cell at its center. */
  readonly blockSizeCells: number;
}

/** Dependencies of the route handlers. */
export interface Services {
  readonly atlas: HostAtlas;
  readonly ledger: Ledger;
  readonly limits: HostLimits;
  /** Path below which clients reach the service, such as `/climate`; "" if there is none. */
  readonly prefix: string;
  /**
   * Map tiles: their tokens, the limit of concurrent ones, the computations that are running, and recent ones.
   * Absent in worker threads.
   */
  readonly tiles?: {
    readonly tokens: TileTokens;
    readonly gate: Turns;
    readonly calls: SharedCalls<EncodedTile>;
    readonly recent: SizedCache<EncodedTile>;
  };
  /** Whether the host accepts requests: false until it is warm, and once it shuts down. Absent in worker threads. */
  readonly readiness?: { readonly isReady: boolean };
}

/** Limits per request and per account, as shown by GET /api/v1/limits. */
export interface HostLimits {
  /** hazards x scenarios x years x locations */
  readonly hazardValueCount: number;
  /** Maximum number of elements of a batch. */
  readonly batchCount: number;
  readonly entityCount: number;
  /** entities x projected years */
  readonly alignmentValueCount: number;
  /** Maximum of hazard or alignment values with `detail`, which makes a response about ten times as long. */
  readonly detailCount: number;
  readonly requestBodyBytesMax: number;
  /** Customers of one account, including archived ones. */
  readonly customerCount: number;
  /** Sustained requests per second of one account; `requestBurst` is how many it can send at once. */
  readonly requestsPerS: number;
  readonly requestBurst: number;
  /** As `requestsPerS` and `requestBurst`, for map tiles, which have a separate limit. */
  readonly tilesPerS: number;
  readonly tileBurst: number;
}

/** The authenticated caller. */
export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  /** Present only on routes with access `customer`. */
  readonly customerId?: string;
}

/** A matched request before the route has parsed it. */
export interface RouteRequest {
  /** The query string without the question mark, still percent-encoded. */
  readonly queryText: string;
  /** Decoded parameters of the path template. */
  readonly path: Readonly<Record<string, string>>;
  /** Decoded JSON body; POST requests only. */
  readonly body?: unknown;
  /** Value of the Accept header field, which selects HTML or JSON for pages. */
  readonly accept?: string;
  readonly limits: HostLimits;
}

export interface RouteContext {
  readonly services: Services;
  readonly caller: Caller;
  readonly requestId: string;
  /** Aborted when the client disconnects or the deadline passes. */
  readonly signal: AbortSignal;
  /** Scheme and authority under which the client reached the service, such as `https://example.org`; absent in worker threads. */
  readonly origin?: string;
  /** Present in worker threads, where long work yields to that of other accounts. */
  readonly timeSlice?: TimeSlice;
}

/** A complete response: status, headers and body. */
export interface Reply<Body = string | readonly Uint8Array[] | AsyncIterable<string>> {
  readonly status: number;
  readonly contentType: string;
  /** Text, chunks of bytes, or a stream of text. */
  readonly body: Body;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Whether the body is compressed already, so that a content coding would be of no use. */
  readonly isCompressed?: true;
  /** Usage units of the request; absent: 0, or `Route.metered` counts them. */
  readonly units?: number;
}

/** Returns a response of status 200 in JSON. */
export function jsonReply<Body>(body: Body, units: number, headers?: Reply["headers"]): Reply<Body> {
  return { status: 200, contentType: "application/json", headers, body, units };
}

/** Converts the result of a route's handler to its response. */
export function toReply(route: Route<unknown, unknown>, result: unknown): Reply {
  const units = route.metered?.units(result) ?? 0;
  const reply = route.reply?.(result);
  return reply === undefined ? jsonReply(encodeJson(result), units) : { ...reply, units };
}

/** Documentation of a route for the OpenAPI document. */
export interface RouteDescription {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** One member per query parameter; lists are written with commas. */
  readonly query?: TSchema;
  /** Values of query and path parameters that produce the example response. */
  readonly parameterExamples?: Readonly<Record<string, string | number | boolean>>;
  readonly path?: TSchema;
  readonly body?: { readonly schema: TSchema; readonly example: unknown };
  readonly responses: Readonly<
    Record<
      number,
      {
        readonly description: string;
        readonly contentType?: string;
        /** Other content types that a request can ask for. */
        readonly otherContentTypes?: readonly string[];
        readonly schema?: TSchema;
        readonly example?: unknown;
        /** Descriptions of header fields beyond those of every response. */
        readonly headers?: Readonly<Record<string, string>>;
      }
    >
  >;
  /** Problem codes beyond those that all routes with the same access can return. */
  readonly problems: readonly string[];
}

/**
 * A route as a value: pipeline.ts runs it, and tests call it without a socket. HEAD is supported wherever GET is, and
 * OPTIONS on all paths.
 */
export interface Route<Request, Result> {
  readonly method: "GET" | "POST" | "DELETE";
  /** Path, or a template with `:name` parameters. Paths under /api/ are also available under /latest/api/. */
  readonly path: string;
  /** Required authentication: none, an API key, or an API key and a customer id (data routes). */
  readonly access: "open" | "key" | "customer";
  /**
   * Returns what a token must have been issued for to replace the API key, from the parameters of the path. Absent: the
   * route accepts no tokens.
   */
  tokenScope?(path: Readonly<Record<string, string>>): string;
  /** The limit that requests count against; default `account`. */
  readonly rateLimit?: RateLimitKind;
  readonly description: RouteDescription;
  /** Whether load balancers and monitors poll the route: it is not logged, and limited by address apart from other routes. */
  readonly isProbe?: true;
  /** Meter of the responses. Responses of routes without a meter are not counted. */
  readonly metered?: { readonly meter: Meter; units(result: Result): number };
  /** Maximum size of a body, if it is below the general limit. */
  readonly bodyBytesMax?: number;
  /** Requests with longer bodies run in a worker thread. If absent, the size of the body does not matter. */
  readonly inlineBodyBytesMax?: number;
  /** Whether a parsed request would block the event loop for long and must run in a worker thread. */
  isLong?(request: Request, services: Services): boolean;
  /** Estimates what a long request takes beyond its body. */
  estimateWork?(request: Request, services: Services): Omit<RequestWork, "kind" | "bodyBytes">;
  /** Returns the memory that the streamed response to a request takes at a time, bytes; undefined if it is not streamed. */
  streamBytes?(request: Request): number | undefined;
  /**
   * Returns the version of the data that responses depend on, such as the content hash of the atlas. Equal URLs and equal
   * revisions mean equal responses on every host: responses carry an ETag, and If-None-Match is answered with 304.
   */
  revision?(services: Services): string;
  /** Seconds for which a client may reuse a response without asking; default 0. */
  readonly maxAgeS?: number;
  /** @throws Fault with all errors that the caller can correct */
  parse(request: RouteRequest): Request;
  /** Checks a request against the data before an ETag or HEAD is answered. @throws Fault as `handle` would */
  checkAvailability?(request: Request, services: Services): void;
  /** Returns the result without waiting if it is in memory and takes a fraction of a millisecond, otherwise undefined. */
  readResult?(request: Request, services: Services): Result | undefined;
  handle(request: Request, context: RouteContext): Result | Promise<Result>;
  /** Converts a result to a response; default: JSON with status 200. */
  reply?(result: Result): Reply;
  /** Header fields of every response, including problems. */
  headers?(services: Services): Readonly<Record<string, string>>;
}

/** Returns all paths of a route: with and without `/latest` before `/api/`. */
export function addressesOf({ path }: { readonly path: string }): readonly string[] {
  if (path.startsWith("/api/")) return [path, `/latest${path}`];
  return path.startsWith("/latest/api/") ? [path, path.slice("/latest".length)] : [path];
}

/** Rejects a request that exceeds a limit. @throws Fault `too_many_values` with `requested` and `limit` in its details */
export function checkLimit(what: string, { requested, limit }: { readonly requested: number; readonly limit: number }) {
  if (requested <= limit) return;
  const message = `The request asks for ${requested} ${what}; at most ${limit} are allowed. Split it into several requests.`;
  throw new Fault("too_many_values", message, { details: { requested, limit } });
}
