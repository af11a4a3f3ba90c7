import type { IncomingMessage } from "node:http";
import type { Customer, KeyHolder, RecordResult } from "../ledger/ledger.ts";
import type { AccountRateLimiter } from "./admission/accountRateLimiter.ts";
import type { AdmissionControl } from "./admission/admissionControl.ts";
import { checkCustomer } from "./admission/customer.ts";
import type { Slot } from "./admission/slot.ts";
import type { BulkRequests } from "./bulk/bulkRequests.ts";
import { checkBodyHeaders, checkDeclaredSize } from "./http/body.ts";
import { compressBody } from "./http/contentCoding.ts";
import type { CorsPolicy } from "./http/cors.ts";
import { entityTag, matchingTag, quotedTag, revisionTag } from "./http/entityTag.ts";
import type { PipelineResponse, RequestContext, RequestProcessor } from "./http/exchange.ts";
import { decodeJson, encodeJson } from "./http/json.ts";
import {
  checkHostHeader,
  readApiKey,
  readCustomerId,
  readIdempotencyKey,
  rejectBody,
  requestTarget,
  splitTarget,
} from "./http/requestHead.ts";
import { type RouteMatch, Router, type Target } from "./http/router.ts";
import { type IdempotentRequest, NO_USAGE, recordUsage, requestFingerprint } from "./metering.ts";
import { PROBLEM_CONTENT_TYPE, problemHeaders, problemOf, type HttpError } from "./problems/problem.ts";
import {
  bodySizeBytes,
  cacheControl,
  flatFields,
  isStream,
  JSON_CONTENT_TYPE,
  NO_FIELDS,
  type RouteResponse,
  selectBodyCoding,
  toRouteResponse,
} from "./routeResponse.ts";
import type { Caller, Route, RouteContext, RouteRequest, Services } from "./route.ts";

/** Authenticates API keys and finds customers. Returns synchronously on a cache hit. */
interface RequestAuthenticator {
  /** @throws Fault `api_key_invalid`, `api_key_revoked`, `account_suspended`, `rate_limited` */
  authenticate(presented: string, address: string): KeyHolder | Promise<KeyHolder>;
  /** @returns undefined if the account has no such customer */
  findCustomer(ref: {
    readonly accountId: string;
    readonly customerId: string;
  }): Customer | undefined | Promise<Customer | undefined>;
}

export interface PipelineOptions {
  readonly routes: readonly Route<unknown, unknown>[];
  readonly services: Services;
  readonly authenticator: RequestAuthenticator;
  readonly rateLimiter: AccountRateLimiter;
  readonly admission: AdmissionControl;
  readonly cors: CorsPolicy;
  /** Answers large requests in worker threads. Absent: all requests are processed on the event loop. */
  readonly bulk?: BulkRequests | undefined;
  /** Version of the program; part of every ETag, because another version may encode the same answer differently. */
  readonly version: string;
}

/** The inputs of a route's execution. */
interface Invocation {
  readonly match: RouteMatch;
  readonly queryText: string;
  readonly bytes: Buffer | undefined;
  /** The parsed request; undefined if the worker parses it. */
  readonly query?: unknown;
}

const NO_CALLER: Caller = { accountId: "", keyId: "" };
const NO_SNIFFING = ["X-Content-Type-Options", "nosniff"];
/** Shorter responses fit into the socket buffers of the system, whether or not the client reads them. */
const HELD_RESPONSE_BYTES_MIN = 16_384;

/**
 * Processes requests. Every request goes through the same steps in the same order: route, key, rate, headers, customer,
 * body size, JSON, schema, limits, availability, compute, usage, response. The body is not read before the JSON step.
 *
 * Steps that can usually answer from memory return either a value or a promise, and `handle` awaits only promises: for
 * small responses every further promise has a measurable cost.
 */
export class Pipeline implements RequestProcessor {
  readonly #options: PipelineOptions;
  readonly #router: Router;
  readonly #vary: string;

  constructor(options: PipelineOptions) {
    this.#options = options;
    const { routes, services, version, cors } = options;
    this.#router = new Router(routes, services, (revision) => revisionTag(`${version} ${revision}`));
    this.#vary = cors.isEnabled ? "Accept-Encoding, Origin" : "Accept-Encoding";
  }

  async handle(context: RequestContext): Promise<PipelineResponse> {
    const { request } = context;
    const { method = "" } = request;
    const url = requestTarget(request);
    let slot: Slot | undefined;
    try {
      checkHostHeader(request);
      const { path, queryText } = splitTarget(url);
      if (method === "OPTIONS") return this.#optionsResponse(context, path);
      const match = this.#router.find(method, path);
      const { target } = match;
      const { route } = target;
      context.target = target;

      if (route.access !== "open") {
        slot = this.#options.admission.acquire();
        const authenticated = this.#authenticate(request);
        this.#admit(context, slot, authenticated instanceof Promise ? await authenticated : authenticated);
      }

      const idempotencyKey = checkHeaders(request, route);

      if (route.access === "customer") {
        const found = this.#findCustomer(context);
        this.#setCustomer(context, found instanceof Promise ? await found : found);
      }

      const bytes = route.method === "POST" ? await this.#receiveBody(context, slot) : undefined;
      const { caller = NO_CALLER } = context;
      const idempotent =
        idempotencyKey === undefined
          ? undefined
          : { key: idempotencyKey, fingerprint: requestFingerprint({ ...match, caller, queryText, bytes }) };

      const tag = target.tag === undefined ? undefined : entityTag(target.tag, url);
      let response: RouteResponse;
      if (this.#isWorkerBody(route, bytes)) {
        response = await this.#runInWorker(context, slot, { match, queryText, bytes });
      } else {
        const query = route.parse(this.#routeRequest(request, { match, queryText, bytes }));
        const clientTag = tag === undefined ? undefined : matchingRequestTag(request, tag);
        if (clientTag !== undefined) return this.#notModified(context, clientTag);
        if (this.#isLong(route, query)) {
          response = await this.#runInWorker(context, slot, { match, queryText, bytes, query });
        } else {
          const answer = this.#compute(context, route, query);
          response = toRouteResponse(route, answer instanceof Promise ? ((await answer) as unknown) : answer);
        }
      }

      const coding = selectBodyCoding(request.headers["accept-encoding"], response.body);
      const body =
        coding === undefined || isStream(response.body) ? response.body : await compressBody(response.body, coding);
      const fields = this.#contentFields(target, response, { tag, coding });

      const recording = this.#recordUsage(context, { route, caller, units: response.units, idempotent });
      const { units, isReplay } = recording instanceof Promise ? await recording : recording;
      if (isReplay) fields.push("Idempotent-Replayed", "true");

      this.#addCommonFields(context, fields, units);
      const result = { status: response.status, fields, body: body === "" ? undefined : body, units };
      return slot === undefined || method === "HEAD" ? result : this.#holdResponse(slot, result);
    } catch (error) {
      return this.#problem(context, error);
    } finally {
      if (slot !== undefined) this.#options.admission.release(slot);
    }
  }

  reject(context: RequestContext, httpError: HttpError): PipelineResponse {
    return this.#problem(context, httpError);
  }

  releaseResponse({ slot }: PipelineResponse): void {
    if (slot !== undefined) this.#options.admission.releaseResponse(slot);
  }

  /** Step `key`. @throws HttpError, Fault as `readApiKey` and `RequestAuthenticator.authenticate` */
  #authenticate(request: IncomingMessage): KeyHolder | Promise<KeyHolder> {
    return this.#options.authenticator.authenticate(readApiKey(request), request.socket.remoteAddress ?? "");
  }

  /** Step `rate`, with the account's share of the load limits. @throws HttpError `overloaded`, `rate_limited` */
  #admit(context: RequestContext, slot: Slot, { key, account }: KeyHolder): void {
    const { admission, rateLimiter } = this.#options;
    const { accountId } = account;
    context.caller = { accountId, keyId: key.keyId };
    admission.assignAccount(slot, accountId);
    context.rateLimit = rateLimiter.consume(accountId, performance.now());
  }

  /** Step `customer`. @throws HttpError `customer_id_missing`, `customer_id_malformed` */
  #findCustomer({ request, caller = NO_CALLER }: RequestContext): Customer | undefined | Promise<Customer | undefined> {
    const { accountId } = caller;
    return this.#options.authenticator.findCustomer({ accountId, customerId: readCustomerId(request) });
  }

  /** @throws HttpError as `checkCustomer` */
  #setCustomer(context: RequestContext, found: Customer | undefined): void {
    const { customerId } = checkCustomer(found);
    const { accountId, keyId } = context.caller ?? NO_CALLER;
    context.caller = { accountId, keyId, customerId };
  }

  /** Step `body size`, then reads the body. @throws HttpError `body_too_large`, `overloaded`, as `receive` */
  async #receiveBody(context: RequestContext, slot: Slot | undefined): Promise<Buffer> {
    const { services, admission } = this.#options;
    const { requestBodyBytesMax: limitBytes } = services.limits;
    const { "content-length": lengthText } = context.request.headers;
    const declaredBytes = lengthText === undefined ? undefined : Number(lengthText);
    checkDeclaredSize(declaredBytes, limitBytes);
    if (slot === undefined) throw new Error("A route that takes a body must require a key.");
    admission.checkBody(slot, declaredBytes ?? 0);
    return context.receive(limitBytes, (sizeBytes) => admission.addBodyBytes(slot, sizeBytes));
  }

  /** Step `JSON`. @throws Fault `json_malformed` */
  #routeRequest({ headers }: IncomingMessage, { match, queryText, bytes }: Invocation): RouteRequest {
    const { limits } = this.#options.services;
    const { path } = match;
    const { accept } = headers;
    const request = accept === undefined ? { queryText, path, limits } : { queryText, path, limits, accept };
    return bytes === undefined ? request : { ...request, body: decodeJson(bytes) };
  }

  /** Returns whether a body is so long that a worker parses it as well. */
  #isWorkerBody({ inlineBodyBytesMax }: Route<unknown, unknown>, bytes: Buffer | undefined): bytes is Buffer {
    if (bytes === undefined || inlineBodyBytesMax === undefined) return false;
    return this.#options.bulk !== undefined && bytes.length > inlineBodyBytesMax;
  }

  #isLong(route: Route<unknown, unknown>, query: unknown): boolean {
    const { bulk, services } = this.#options;
    return bulk !== undefined && route.isLong?.(query, services) === true;
  }

  /** Steps `availability` and `compute`, on the event loop. */
  #compute(context: RequestContext, route: Route<unknown, unknown>, query: unknown): unknown {
    const { services } = this.#options;
    return route.handle(query, new LazyRouteContext(context, services));
  }

  /** Runs a route in a worker thread. */
  async #runInWorker(
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

  /** Step `usage`. HEAD requests and disconnected clients are not metered. @throws Fault as `recordUsage` */
  #recordUsage(
    context: RequestContext,
    entry: {
      readonly route: Route<unknown, unknown>;
      readonly caller: Caller;
      readonly units: number;
      readonly idempotent: IdempotentRequest | undefined;
    },
  ): RecordResult | Promise<RecordResult> {
    if (entry.route.metered === undefined || context.request.method === "HEAD" || context.isDisconnected) {
      return NO_USAGE;
    }
    const { ledger, atlas } = this.#options.services;
    const { requestId } = context;
    const { route, caller, units, idempotent } = entry;
    return recordUsage(ledger, { requestId, route, caller, units, atlasRelease: atlas.release, idempotent });
  }

  /** Adds a large response to the held bytes until `releaseResponse`. */
  #holdResponse(slot: Slot, response: PipelineResponse): PipelineResponse {
    const { body } = response;
    if (body === undefined || isStream(body)) return response;
    const sizeBytes = bodySizeBytes(body);
    if (sizeBytes < HELD_RESPONSE_BYTES_MIN) return response;
    this.#options.admission.holdResponse(slot, sizeBytes);
    return { ...response, slot };
  }

  #notModified(context: RequestContext, etag: string): PipelineResponse {
    const { target } = context;
    const fields = [...(target?.fields ?? NO_FIELDS), "ETag", etag, "Vary", this.#vary];
    if (target !== undefined) fields.push("Cache-Control", cacheControl(target.route));
    this.#addCommonFields(context, fields, 0);
    return { status: 304, fields, body: undefined, units: 0 };
  }

  #problem(context: RequestContext, error: unknown): PipelineResponse {
    const problem = problemOf(error, context.requestId, this.#options.services.prefix);
    const fields = [...(context.target?.fields ?? NO_SNIFFING), ...flatFields(problemHeaders(problem, error))];
    fields.push("Content-Type", PROBLEM_CONTENT_TYPE, "Cache-Control", "no-store");
    this.#addCommonFields(context, fields, 0);
    return { status: problem.status, fields, body: encodeJson(problem), failure: { code: problem.code, error } };
  }

  /** Answers OPTIONS, including CORS preflight, without authentication. */
  #optionsResponse(context: RequestContext, path: string): PipelineResponse {
    const { cors } = this.#options;
    const methods = this.#router.allowedAt(path).join(", ");
    const fields = ["Allow", methods, ...cors.preflightFields(context.request, methods)];
    if (cors.isEnabled) fields.push("Vary", "Origin");
    fields.push("X-Request-Id", context.requestId);
    return { status: 204, fields, body: undefined };
  }

  /** Returns the header fields that describe the body, and those of the route. */
  #contentFields(
    target: Target,
    response: RouteResponse,
    { tag, coding }: { readonly tag: string | undefined; readonly coding: string | undefined },
  ): string[] {
    const fields = [...target.fields, ...response.fields];
    if (response.body !== "") {
      fields.push("Content-Type", response.contentType, "Vary", this.#vary);
      if (coding !== undefined) fields.push("Content-Encoding", coding);
      if (tag !== undefined) fields.push("ETag", quotedTag(tag, coding));
    }
    if (!response.fields.includes("Cache-Control")) fields.push("Cache-Control", cacheControl(target.route));
    return fields;
  }

  /** Adds the header fields of every response except that to OPTIONS. */
  #addCommonFields({ request, requestId, rateLimit, target }: RequestContext, fields: string[], units: number): void {
    const { rateLimiter, cors } = this.#options;
    if (target?.route.metered !== undefined) fields.push("X-Usage-Units", String(units));
    fields.push("X-Request-Id", requestId);
    if (rateLimit !== undefined) fields.push("RateLimit", rateLimit, "RateLimit-Policy", rateLimiter.policy);
    if (cors.isEnabled) fields.push(...cors.responseFields(request));
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

/** Step `headers`. @returns the idempotency key, if there is one @throws HttpError, Fault as the checks throw them */
function checkHeaders(request: IncomingMessage, { method, metered }: Route<unknown, unknown>): string | undefined {
  if (method === "POST") checkBodyHeaders(request);
  else rejectBody(request);
  return metered === undefined ? undefined : readIdempotencyKey(request);
}

/** Returns the client's ETag if it matches, which means that the client already has the current response. */
function matchingRequestTag(request: IncomingMessage, tag: string): string | undefined {
  const { "if-none-match": ifNoneMatch } = request.headers;
  return ifNoneMatch === undefined ? undefined : matchingTag(ifNoneMatch, tag);
}
