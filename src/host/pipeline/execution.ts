import type { IncomingMessage } from "node:http";
import type { AdmissionControl } from "../admission/admissionControl.ts";
import type { Slot } from "../admission/resources.ts";
import type { BulkRequests } from "../bulk/bulkRequests.ts";
import { collectingAfter } from "../bulk/garbageCollection.ts";
import { checkDeclaredSize } from "../http/body.ts";
import type { RequestContext } from "../http/exchange.ts";
import type { RequestBody } from "../http/bodyBuffer.ts";
import { BodySegments } from "../http/bodySegments.ts";
import { decodeJson } from "../../text/json/json.ts";
import { jsonLimits } from "../../text/json/jsonStructure.ts";
import type { RouteMatch } from "../http/router.ts";
import type { Caller, Route, RouteContext, RouteRequest, Services } from "../route.ts";
import { NO_CALLER } from "./access.ts";
import { flatFields, JSON_CONTENT_TYPE, type RouteResponse, toRouteResponse } from "./routeResponse.ts";

export interface ExecutionOptions {
  readonly services: Services;
  readonly admission: AdmissionControl;
  /** Returns the scheme and authority under which the client reached the service. */
  readonly originOf: (request: IncomingMessage) => string;
  /** Answers large requests in worker threads. Absent: they run on the event loop. */
  readonly bulk?: BulkRequests | undefined;
}

/** The inputs of a route's execution. */
export interface Invocation {
  readonly match: RouteMatch;
  readonly queryText: string;
  readonly body: RequestBody | undefined;
  /** The parsed request; undefined if the job parses it. */
  readonly query?: unknown;
}

/** The work beyond its body that is known of a request before it has been parsed. */
export const NO_WORK = { elementCount: 0, cellVectorCount: 0, coldTileVectorCount: 0 };

/** A body for a worker up to this size is copied, so that it takes no whole segment. */
const COPIED_BYTES_MAX = 16_384;

/** The steps that run a route: body size, JSON, schema, limits, availability, compute. */
export class Execution {
  readonly #options: ExecutionOptions;
  readonly #segments = new BodySegments();

  constructor(options: ExecutionOptions) {
    this.#options = options;
  }

  /**
   * Step `body size`, then reads the body, which the caller must release. A long body is in memory that all threads share,
   * so that it exists only once and the request can be restarted if its worker ends.
   * @throws HttpError `body_too_large`, `overloaded`, as `receive` does
   */
  async receiveBody(
    context: RequestContext,
    slot: Slot | undefined,
    route: Route<unknown, unknown>,
  ): Promise<RequestBody> {
    const { services, admission } = this.#options;
    const { requestBodyBytesMax } = services.limits;
    const limitBytes = Math.min(requestBodyBytesMax, route.bodyBytesMax ?? Infinity);
    const { "content-length": lengthText } = context.request.headers;
    const declaredBytes = lengthText === undefined ? undefined : Number(lengthText);
    checkDeclaredSize(declaredBytes, limitBytes);
    if (slot === undefined) throw new Error("A route that takes a body must require a key.");
    const admitted = admission.admitBody(slot, declaredBytes ?? 0);
    if (admitted !== undefined) await admitted;
    return context.receive({
      limitBytes,
      declaredBytes,
      contiguousBytesMax: Math.max(route.inlineBodyBytesMax ?? Infinity, COPIED_BYTES_MAX),
      segments: this.#segments,
      structure: jsonLimits(requestBodyBytesMax),
      shortChunksDelayMs: (chunkCount) => admission.shortChunksDelayMs(slot, chunkCount),
      onResize: (memory) => admission.setBody(slot, memory),
    });
  }

  /** Steps `JSON`, `schema` and `limits`. @throws Fault `json_malformed`, as `Route.parse` does */
  parse(request: IncomingMessage, invocation: Invocation): unknown {
    const { body } = invocation;
    if (body === undefined) return this.#parseDecoded(request, invocation);
    return this.#parseDecoded(request, invocation, { body: decodeJson(body.parts) });
  }

  #parseDecoded(
    { headers }: IncomingMessage,
    { match, queryText }: Invocation,
    decoded?: { readonly body: unknown },
  ): unknown {
    const { limits } = this.#options.services;
    const { path, target } = match;
    const { accept } = headers;
    const request: RouteRequest =
      accept === undefined ? { queryText, path, limits } : { queryText, path, limits, accept };
    return target.route.parse(decoded === undefined ? request : { ...request, ...decoded });
  }

  /** Returns whether a request runs as a job because of the size of its body; it is then parsed in the job. */
  isLargeBody({ inlineBodyBytesMax }: Route<unknown, unknown>, body: RequestBody | undefined): boolean {
    return body !== undefined && inlineBodyBytesMax !== undefined && body.sizeBytes > inlineBodyBytesMax;
  }

  /** The part of the step `availability` that precedes responses without a result. @throws Fault as the route does */
  checkAvailability(route: Route<unknown, unknown>, query: unknown): void {
    route.checkAvailability?.(query, this.#options.services);
  }

  /** Returns whether a parsed request runs as a job. */
  isLong(route: Route<unknown, unknown>, query: unknown): boolean {
    return route.isLong?.(query, this.#options.services) === true;
  }

  /** Steps `availability` and `compute`, on the event loop. Returns the result of the route or a promise of it. */
  compute(context: RequestContext, route: Route<unknown, unknown>, query: unknown): unknown {
    return route.handle(query, new LazyRouteContext(context, this.#options));
  }

  /**
   * Runs a large request as a job: in the worker threads if there are any, otherwise on the event loop.
   * @throws Fault, HttpError as the route throws them, and as `JobAdmission.run` does
   */
  async runJob(context: RequestContext, slot: Slot | undefined, invocation: Invocation): Promise<RouteResponse> {
    const { bulk, admission, services } = this.#options;
    const { match, queryText, body } = invocation;
    const { path, target } = match;
    if (slot === undefined) throw new Error("A route with large requests must require a key.");
    // The job has its own deadline.
    const { requestId, disconnectSignal, caller = NO_CALLER } = context;
    const { route } = target;
    const work = {
      kind: route.path,
      bodyBytes: body?.sizeBytes ?? 0,
      ...(invocation.query === undefined ? undefined : route.estimateWork?.(invocation.query, services)),
    };
    const job = { slot, work: { ...NO_WORK, ...work }, signal: disconnectSignal };
    if (bulk === undefined) {
      return admission.jobs.run(job, (_, signal) =>
        collectingAfter(slot.parsedBytes, () => this.#runInline(context, invocation, { caller, requestId, signal })),
      );
    }
    const request = { ...job, route: route.path, queryText, path, query: invocation.query, caller, requestId };
    const { parts, units, headers } = await bulk.answer(body === undefined ? request : { ...request, body });
    return { status: 200, fields: flatFields(headers), contentType: JSON_CONTENT_TYPE, body: parts, units };
  }

  async #runInline(
    { request }: RequestContext,
    invocation: Invocation,
    routeContext: Omit<RouteContext, "services">,
  ): Promise<RouteResponse> {
    const { services } = this.#options;
    const { route } = invocation.match.target;
    const query = invocation.query ?? this.parse(request, invocation);
    const answer = await route.handle(query, { services, ...routeContext });
    return toRouteResponse(route, answer);
  }
}

/** Creates the abort signal only if the route reads it: most routes do not, and a signal needs a timer and listeners. */
class LazyRouteContext implements RouteContext {
  readonly services: Services;
  readonly #context: RequestContext;
  readonly #originOf: (request: IncomingMessage) => string;

  constructor(context: RequestContext, { services, originOf }: Pick<ExecutionOptions, "services" | "originOf">) {
    this.#context = context;
    this.#originOf = originOf;
    this.services = services;
  }

  get caller(): Caller {
    return this.#context.caller ?? NO_CALLER;
  }

  get requestId(): string {
    return this.#context.requestId;
  }

  get origin(): string {
    return this.#originOf(this.#context.request);
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }
}
