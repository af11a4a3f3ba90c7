import type { IncomingMessage } from "node:http";
import type { AdmissionControl } from "../admission/admissionControl.ts";
import type { Slot } from "../admission/slot.ts";
import type { BulkRequests } from "../bulk/bulkRequests.ts";
import { checkDeclaredSize } from "../http/body.ts";
import type { RequestContext } from "../http/exchange.ts";
import { decodeJson } from "../http/json.ts";
import type { RouteMatch } from "../http/router.ts";
import type { Caller, Route, RouteContext, RouteRequest, Services } from "../route.ts";
import { NO_CALLER } from "./access.ts";
import { flatFields, JSON_CONTENT_TYPE, type RouteResponse } from "./routeResponse.ts";

export interface ExecutionOptions {
  readonly services: Services;
  readonly admission: AdmissionControl;
  /** Answers large requests in worker threads. Absent: all requests are processed on the event loop. */
  readonly bulk?: BulkRequests | undefined;
}

/** The inputs of a route's execution. */
export interface Invocation {
  readonly match: RouteMatch;
  readonly queryText: string;
  readonly bytes: Buffer | undefined;
  /** The parsed request; undefined if the worker parses it. */
  readonly query?: unknown;
}

/** The steps that run a route: body size, JSON, schema, limits, availability, compute. */
export class Execution {
  readonly #options: ExecutionOptions;

  constructor(options: ExecutionOptions) {
    this.#options = options;
  }

  /** Step `body size`, then reads the body. @throws HttpError `body_too_large`, `overloaded`, as `receive` */
  async receiveBody(context: RequestContext, slot: Slot | undefined): Promise<Buffer> {
    const { services, admission } = this.#options;
    const { requestBodyBytesMax: limitBytes } = services.limits;
    const { "content-length": lengthText } = context.request.headers;
    const declaredBytes = lengthText === undefined ? undefined : Number(lengthText);
    checkDeclaredSize(declaredBytes, limitBytes);
    if (slot === undefined) throw new Error("A route that takes a body must require a key.");
    admission.checkBody(slot, declaredBytes ?? 0);
    return context.receive(limitBytes, (sizeBytes) => admission.addBodyBytes(slot, sizeBytes));
  }

  /** Steps `JSON`, `schema` and `limits`. @throws Fault `json_malformed`, as `Route.parse` */
  parse({ headers }: IncomingMessage, { match, queryText, bytes }: Invocation): unknown {
    const { limits } = this.#options.services;
    const { path, target } = match;
    const { accept } = headers;
    const request: RouteRequest =
      accept === undefined ? { queryText, path, limits } : { queryText, path, limits, accept };
    return target.route.parse(bytes === undefined ? request : { ...request, body: decodeJson(bytes) });
  }

  /** Returns whether a body is so long that a worker parses it as well. */
  isWorkerBody({ inlineBodyBytesMax }: Route<unknown, unknown>, bytes: Buffer | undefined): bytes is Buffer {
    if (bytes === undefined || inlineBodyBytesMax === undefined) return false;
    return this.#options.bulk !== undefined && bytes.length > inlineBodyBytesMax;
  }

  /** Returns whether a parsed request runs in a worker thread. */
  isLong(route: Route<unknown, unknown>, query: unknown): boolean {
    const { bulk, services } = this.#options;
    return bulk !== undefined && route.isLong?.(query, services) === true;
  }

  /** Steps `availability` and `compute`, on the event loop. Returns the result of the route or a promise of it. */
  compute(context: RequestContext, route: Route<unknown, unknown>, query: unknown): unknown {
    const { services } = this.#options;
    return route.handle(query, new LazyRouteContext(context, services));
  }

  /** Runs a route in a worker thread. @throws as `BulkRequests.answer` */
  async runInWorker(
    context: RequestContext,
    slot: Slot | undefined,
    { match, queryText, bytes, query }: Invocation,
  ): Promise<RouteResponse> {
    const { bulk } = this.#options;
    if (bulk === undefined) throw new Error("The host has no worker threads.");
    if (slot === undefined) throw new Error("A route that runs in worker threads must require a key.");
    // Admission control has the deadline of the job.
    const { requestId, disconnectSignal: signal, caller = NO_CALLER } = context;
    const { path, target } = match;
    const request = { route: target.route.path, queryText, path, query, caller, requestId, slot, signal };
    const { parts, units, headers } = await bulk.answer(bytes === undefined ? request : { ...request, body: bytes });
    return { status: 200, fields: flatFields(headers), contentType: JSON_CONTENT_TYPE, body: parts, units };
  }
}

/** Creates the abort signal only if the route reads it: most routes do not, and a signal needs a timer and listeners. */
class LazyRouteContext implements RouteContext {
  readonly services: Services;
  readonly #context: RequestContext;

  constructor(context: RequestContext, services: Services) {
    this.#context = context;
    this.services = services;
  }

  get caller(): Caller {
    return this.#context.caller ?? NO_CALLER;
  }

  get requestId(): string {
    return this.#context.requestId;
  }

  get signal(): AbortSignal {
    return this.#context.signal;
  }
}
