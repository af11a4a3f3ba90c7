import type { TSchema } from "typebox";
import { Fault } from "../../errors.ts";
import type { Atlas } from "../../hazard/answer.ts";
import type { Ledger, Meter } from "../../ledger/ledger.ts";

/** What routes answer from. */
export interface Services {
  readonly atlas: Atlas;
  readonly ledger: Ledger;
  readonly limits: HostLimits;
  /** Whether the host takes work: not before it is warm, and not once it has been told to stop. Absent in workers. */
  readonly readiness?: { readonly isReady: boolean };
}

/** What one request may ask for; GET /api/v1/limits shows it. */
export interface HostLimits {
  /** hazards x scenarios x years x locations */
  readonly hazardValueCount: number;
  /** Elements of a batch. */
  readonly batchCount: number;
  readonly entityCount: number;
  /** entities x projected years */
  readonly alignmentValueCount: number;
  /** Of either, those asked for with `detail`, which makes an answer some ten times as long. */
  readonly detailCount: number;
  readonly bodySizeBytes: number;
  /** Requests a second of one account, in the long run and in one burst. */
  readonly requestsPerS: number;
  readonly requestBurst: number;
}

/** Who asks: by its key, and on data routes by its customer. */
export interface Caller {
  readonly accountId: string;
  readonly keyId: string;
  /** Exactly on routes with access `customer`. */
  readonly customerId?: string;
}

/** A request as a route sees it: read, matched, not yet understood. */
export interface RouteRequest {
  /** What follows the question mark, still percent-encoded. */
  readonly queryText: string;
  /** The members of the path template, decoded. */
  readonly path: Readonly<Record<string, string>>;
  /** What the JSON of a POST says; others have none. */
  readonly body?: unknown;
  /** What the header field Accept says, where there is one: pages come as HTML or as JSON. */
  readonly accept?: string;
  readonly limits: HostLimits;
}

export interface RouteContext {
  readonly services: Services;
  readonly caller: Caller;
  readonly requestId: string;
  /** Aborts when the client has gone or the deadline has passed. */
  readonly signal: AbortSignal;
}

/** What an answer looks like on the wire, where it is not JSON with status 200. */
export interface Reply {
  readonly status: number;
  readonly contentType: string;
  /** Text, bytes in pieces, or text that comes bit by bit. */
  readonly body: string | readonly Uint8Array[] | AsyncIterable<string>;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A route as the OpenAPI document tells of it. */
export interface RouteDescription {
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description?: string;
  /** Members are parameters; lists are written with commas. */
  readonly query?: TSchema;
  /** Values of parameters, of the query and of the path, that get the answer shown. */
  readonly parameterExamples?: Readonly<Record<string, string | number | boolean>>;
  readonly path?: TSchema;
  readonly body?: { readonly schema: TSchema; readonly example: unknown };
  readonly responses: Readonly<
    Record<
      number,
      {
        readonly description: string;
        readonly contentType?: string;
        /** Other types that it comes in, where it is asked for so. */
        readonly alsoAs?: readonly string[];
        readonly schema?: TSchema;
        readonly example?: unknown;
        /** Header fields beyond those of every answer, each with what it says. */
        readonly headers?: Readonly<Record<string, string>>;
      }
    >
  >;
  /** What it can refuse with, beyond what every route of its access can. */
  readonly problems: readonly string[];
}

/**
 * One thing the host answers, as a value: pipeline.ts carries it, and it can be tried without a socket.
 * HEAD is answered wherever GET is, OPTIONS everywhere.
 */
export interface Route<Request, Answer> {
  readonly method: "GET" | "POST" | "DELETE";
  /** The address, or a template of it with `:name` members. One below /api/ is answered below /latest/api/ too. */
  readonly path: string;
  /** Who may ask: anyone, whoever has a key, or a key with a customer (data). */
  readonly access: "open" | "key" | "customer";
  readonly description: RouteDescription;
  /** What its answers are counted by; what has none costs nothing. */
  readonly metered?: { readonly meter: Meter; units(answer: Answer): number };
  /** Bodies longer than this are answered by a worker thread, not on the event loop; absent: none is. */
  readonly inlineBodyBytesMax?: number;
  /** Whether a request that has been read would keep the event loop for long: then a worker thread answers it. */
  isLong?(request: Request, services: Services): boolean;
  /**
   * Returns what an answer depends on besides the request's address, such as the content of the atlas: while it is
   * equal, so is the answer, at every host. With it answers carry an ETag, and a client that has one gets a 304.
   */
  revision?(services: Services): string;
  /** @throws Fault for everything that the caller can put right */
  parse(request: RouteRequest): Request;
  handle(request: Request, context: RouteContext): Answer | Promise<Answer>;
  /** Where an answer is not simply JSON with status 200. */
  reply?(answer: Answer): Reply;
  /** Header fields of every answer, problems too. */
  headers?(services: Services): Readonly<Record<string, string>>;
}

/** Every address of a route: with and without `/latest` before `/api/`. */
export function addressesOf({ path }: { readonly path: string }): readonly string[] {
  if (path.startsWith("/api/")) return [path, `/latest${path}`];
  return path.startsWith("/latest/api/") ? [path, path.slice("/latest".length)] : [path];
}

/** @throws Fault `too_many_values` with `requested` and `limit` in its details */
export function checkLimit(what: string, { requested, limit }: { readonly requested: number; readonly limit: number }) {
  if (requested <= limit) return;
  const message = `The request asks for ${requested} ${what}; ${limit} are allowed. Ask in several requests.`;
  throw new Fault("too_many_values", message, { details: { requested, limit } });
}
