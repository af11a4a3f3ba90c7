import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { Fault, type FaultItem, isFault, type FaultCode } from "../errors.ts";
import type { Authenticator } from "../ledger/authenticator.ts";
import type { Customer, KeyHolder } from "../ledger/ledger.ts";
import { decodeJson, encodeJson } from "../text/json/json.ts";
import { jsonLimits } from "../text/json/jsonScan.ts";
import { findParameter } from "../validation/parameters.ts";
import type { AccountRateLimiter, RateLimitKind } from "./admission/limiters.ts";
import type { AdmissionControl } from "./admission/admissionControl.ts";
import type { ClientGate } from "./admission/limiters.ts";
import type { Slot } from "./admission/resources.ts";
import type { BulkRequests } from "./bulk/bulkRequests.ts";
import { collectingAfter } from "./bulk/garbageCollection.ts";
import { checkBodyHeaders, checkDeclaredSize } from "./http/body.ts";
import type { RequestBody } from "./http/bodyBuffer.ts";
import { BodySegments } from "./http/bodyBuffer.ts";
import { type Coding, compressBody, COMPRESSED_BYTES_MIN, selectCoding } from "./http/contentCoding.ts";
import type { CorsPolicy } from "./http/cors.ts";
import { entityTag, matchingTag, quotedTag, revisionTag } from "./http/entityTag.ts";
import type { Exchange } from "./http/exchange.ts";
import { readApiKey, readCustomerId, readIdempotencyKey, rejectBody, readTarget } from "./http/requestHead.ts";
import { type RouteMatch, Router } from "./http/router.ts";
import { PROBLEM_CONTENT_TYPE, problemHeaders, problemOf } from "./problems/problem.ts";
import { jsonReply, toReply } from "./route.ts";
import type { Caller, Reply, Route, RouteContext, RouteRequest, Services } from "./route.ts";
import type { TileTokens } from "./tiles/tileTokens.ts";
import { WorkDeadlines } from "./workDeadlines.ts";

export interface PipelineOptions {
  readonly routes: readonly Route<unknown, unknown>[];
  readonly services: Services;
  readonly authenticator: Pick<Authenticator, "cachedHolder" | "authenticate" | "authenticateId" | "findCustomer">;
  readonly rateLimiters: Readonly<Record<RateLimitKind, AccountRateLimiter>>;
  /** Verifies the tokens that replace a key on some routes. */
  readonly tokens: Pick<TileTokens, "verify">;
  readonly admission: AdmissionControl;
  readonly clients: ClientGate;
  readonly cors: CorsPolicy;
  /** Returns the scheme and authority under which the client reached the service. */
  readonly originOf: (request: IncomingMessage) => string;
  /** Answers large requests in worker threads. Absent: they run on the event loop. */
  readonly bulk?: BulkRequests | undefined;
  /** Version of the program; part of every ETag, because another version may encode the same answer differently. */
  readonly version: string;
  /** For each step that may wait: authentication, the customer and the result of a short request. */
  readonly workTimeoutMs: number;
}

/** The caller on routes that require no key. */
const NO_CALLER: Caller = { accountId: "", keyId: "" };
const NO_SNIFFING = ["X-Content-Type-Options", "nosniff"];
const KEY_REJECTIONS: ReadonlySet<FaultCode> = new Set(["api_key_invalid", "api_key_revoked", "account_suspended"]);
/** The work beyond its body that is known of a request before it has been parsed. */
export const NO_WORK = { elementCount: 0, cellVectorCount: 0, coldTileVectorCount: 0 };
/** A body for a worker up to this size is copied, so that it takes no whole segment. */
const COPIED_BYTES_MAX = 16_384;
/** Shorter responses fit into the socket buffers of the system, whether or not the client reads them. */
const HELD_RESPONSE_BYTES_MIN = 16_384;

/**
 * Processes requests: match, authenticate, limit, validate headers, customer, body, parse, availability, compute, record,
 * reply. The body is not read before the headers have been validated.
 *
 * Steps that can usually answer from memory return either a value or a promise, and only promises are awaited.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #router: Router;
  readonly #deadlines: WorkDeadlines;
  readonly #segments = new BodySegments();
  readonly #vary: string;

  constructor(options: PipelineOptions) {
    this.#options = options;
    const { routes, services, version, cors, workTimeoutMs } = options;
    this.#router = new Router(routes, services, (revision) => revisionTag(`${version} ${revision}`));
    this.#deadlines = new WorkDeadlines({ timeoutMs: workTimeoutMs });
    this.#vary = cors.isEnabled ? "Accept-Encoding, Origin" : "Accept-Encoding";
  }

  /** Processes a request. Never rejects: errors become problem responses. */
  async run(exchange: Exchange): Promise<void> {
    const { admission, authenticator, rateLimiters, services } = this.#options;
    const { method, headers } = exchange;
    let slot: Slot | undefined;
    let body: RequestBody | undefined;
    try {
      // Match.
      const { url, path, queryText } = readTarget(exchange.request);
      if (method === "OPTIONS") {
        this.#replyToOptions(exchange, path);
        return;
      }
      const match = this.#router.find(method, path);
      const { target } = match;
      const { route } = target;
      exchange.target = target;

      // Authenticate, limit.
      if (route.access === "open") this.#admitOpen(exchange.request, route);
      else {
        const { "x-api-key": presented } = headers;
        const cached = typeof presented === "string" ? authenticator.cachedHolder(presented) : undefined;
        const holding = cached ?? this.#authenticate(exchange.request, match, queryText);
        const { account, key } = holding instanceof Promise ? await this.#deadlines.limit(holding) : holding;
        exchange.caller = { accountId: account.accountId, keyId: key.keyId };
        slot = admission.acquire(account.accountId);
        const limiter = rateLimiters[route.rateLimit ?? "account"];
        exchange.rateLimit = limiter.consume(account.accountId, performance.now());
        exchange.rateLimitPolicy = limiter.policy;
      }

      // Validate headers.
      if (route.method === "POST") checkBodyHeaders(exchange.request);
      else rejectBody(method, headers);
      const hasIdempotencyKey = route.metered !== undefined && headers["idempotency-key"] !== undefined;
      const idempotencyKey = hasIdempotencyKey ? readIdempotencyKey(headers) : undefined;

      // Customer.
      if (route.access === "customer") {
        const { accountId, keyId } = exchange.caller ?? NO_CALLER;
        const finding = authenticator.findCustomer({ accountId, customerId: readCustomerId(headers) });
        const found = finding instanceof Promise ? await this.#deadlines.limit(finding) : finding;
        if (found === undefined || found.archivedAt !== undefined) throw inaccessible(found);
        exchange.caller = { accountId, keyId, customerId: found.customerId };
      }
      const { caller = NO_CALLER } = exchange;

      // Body.
      if (route.method === "POST") body = await this.#receiveBody(exchange, slot, route);
      const idempotency =
        idempotencyKey === undefined
          ? undefined
          : { key: idempotencyKey, fingerprint: fingerprintOf(match, { caller, queryText, body }) };

      let reply: Reply;
      const isLargeBody = body !== undefined && body.sizeBytes > (route.inlineBodyBytesMax ?? Infinity);
      if (isLargeBody) reply = await this.#runJob(exchange, { slot, match, queryText, body, query: undefined });
      else {
        // Parse, availability.
        const query = this.#parse(headers.accept, { match, queryText, body });
        route.checkAvailability?.(query, services);
        const { "if-none-match": clientTags } = headers;
        const isConditional = target.tag !== undefined && clientTags !== undefined;
        const knownTag = isConditional ? matchingTag(clientTags, entityTag(target.tag, url)) : undefined;
        if (knownTag !== undefined) {
          this.#replyNotModified(exchange, knownTag);
          return;
        }
        if (method === "HEAD" && route.metered !== undefined) {
          this.#replyUncomputed(exchange, url);
          return;
        }

        // Compute.
        const known = route.readResult?.(query, services);
        if (known !== undefined) reply = toReply(route, known);
        else if (route.isLong?.(query, services) === true) {
          reply = await this.#runJob(exchange, { slot, match, queryText, body, query });
        } else {
          const streamBytes = route.streamBytes?.(query);
          if (slot !== undefined && streamBytes !== undefined) admission.holdStream(slot, streamBytes);
          const computing = route.handle(query, this.#routeContext(exchange, caller));
          reply = toReply(route, computing instanceof Promise ? await this.#deadlines.limit(computing) : computing);
        }
      }
      const coding = codingOf(headers["accept-encoding"], reply);
      const content =
        coding === undefined || isStream(reply.body) ? reply.body : await this.#compress(slot, reply.body, coding);

      // Record. The response is held before that, because it may be rejected then. HEAD of a metered route has ended.
      if (slot !== undefined) this.#holdResponse(exchange, slot, method === "HEAD" ? "" : content);
      const { units = 0 } = reply;
      const isRecorded = route.metered !== undefined && (units > 0 || idempotency !== undefined);
      const recording =
        isRecorded && !exchange.isDisconnected
          ? this.#record({ receipt: exchange.requestId, route, caller, units, idempotency })
          : undefined;
      const record = recording instanceof Promise ? await recording : recording;
      exchange.units = record?.units ?? 0;

      // Reply.
      const fields = this.#fieldsOf(exchange, reply, { url, coding });
      if (record?.isReplay === true) fields.push("Idempotent-Replayed", "true");
      this.#addCommonFields(exchange, fields);
      exchange.respond(reply.status, fields, content === "" ? undefined : content);
    } catch (error) {
      if (slot !== undefined) admission.releaseResponse(slot);
      delete exchange.slot;
      this.#countRejected(exchange, error);
      this.reject(exchange, error);
    } finally {
      // A worker may still read the body of an abandoned request, or of the next one in its place: its result is discarded.
      body?.release();
      if (slot !== undefined) admission.release(slot);
    }
  }

  /** Responds with the problem of an error. */
  reject(exchange: Exchange, error: unknown): void {
    const problem = problemOf(error, exchange.requestId, this.#options.services.prefix);
    const fields = [
      ...(exchange.target?.fields ?? NO_SNIFFING),
      ...Object.entries(problemHeaders(problem, error)).flat(),
    ];
    fields.push("Content-Type", PROBLEM_CONTENT_TYPE, "Cache-Control", "no-store");
    exchange.failure = { code: problem.code, error };
    this.#addCommonFields(exchange, fields, 0);
    exchange.respond(problem.status, fields, encodeJson(problem));
  }

  /** Releases what a response holds, once the client has read it or disconnected. */
  releaseResponse({ slot }: Exchange): void {
    if (slot !== undefined) this.#options.admission.releaseResponse(slot);
  }

  /** Counts a request to a route that needs no key. @throws Fault `rate_limited` */
  #admitOpen(request: IncomingMessage, { isProbe }: Route<unknown, unknown>): void {
    const { clients } = this.#options;
    const address = clients.addressOf(request);
    if (isProbe === true) clients.admitLightRequest("probe", address);
    else clients.admitRequest(address);
  }

  /**
   * Authenticates the key of a request, or the token that replaces it on some routes.
   * @throws Fault as `readApiKey`, `TileTokens.verify` and `Authenticator.authenticate` do
   */
  #authenticate(request: IncomingMessage, match: RouteMatch, queryText: string): KeyHolder | Promise<KeyHolder> {
    const { authenticator, clients, tokens } = this.#options;
    const address = clients.addressOf(request);
    const scope = request.headers["x-api-key"] === undefined ? match.target.route.tokenScope?.(match.path) : undefined;
    const token = scope === undefined ? undefined : findParameter(queryText, "token");
    if (scope === undefined || token === undefined) {
      return authenticator.authenticate(readApiKey(request.headers), address);
    }
    const keyId = tokens.verify(token, scope);
    if (typeof keyId === "string") return authenticator.authenticateId(keyId, address);
    return keyId.then((verified) => authenticator.authenticateId(verified, address));
  }

  /** Counts a rejected request, and decides whether its connection is closed. */
  #countRejected(exchange: Exchange, error: unknown): void {
    const { clients, rateLimiters } = this.#options;
    const { caller } = exchange;
    const route = exchange.target?.route;
    const code = isFault(error) ? error.code : "internal_error";
    if (caller !== undefined) {
      if (code !== "rate_limited") return;
      const isExcess = rateLimiters[route?.rateLimit ?? "account"].countRejection(caller.accountId, performance.now());
      exchange.countsTowardBlock = exchange.closesConnection = isExcess;
      return;
    }
    if (code === "rate_limited") exchange.countsTowardBlock = true;
    else if (route?.isProbe === true) return;
    // Requests to open routes and key lookups have already been counted, and rejected keys have a separate limit.
    else if (code !== "overloaded" && route?.access !== "open" && !KEY_REJECTIONS.has(code)) {
      exchange.countsTowardBlock =
        !exchange.isDisconnected && clients.countRejected(clients.addressOf(exchange.request));
    }
    exchange.closesConnection = code === "overloaded" || exchange.countsTowardBlock;
  }

  /**
   * Reads the body, which the caller must release. A long body is in memory that all threads share, so that it exists only
   * once and the request can be restarted if its worker ends.
   * @throws Fault `body_too_large`, `overloaded`, as `Exchange.receive` does
   */
  async #receiveBody(exchange: Exchange, slot: Slot | undefined, route: Route<unknown, unknown>): Promise<RequestBody> {
    const { services, admission } = this.#options;
    const { requestBodyBytesMax } = services.limits;
    const limitBytes = Math.min(requestBodyBytesMax, route.bodyBytesMax ?? Infinity);
    const { "content-length": lengthText } = exchange.headers;
    const declaredBytes = lengthText === undefined ? undefined : Number(lengthText);
    checkDeclaredSize(declaredBytes, limitBytes);
    if (slot === undefined) throw new Error("A route that takes a body must require a key.");
    const admitted = admission.admitBody(slot, declaredBytes ?? 0);
    if (admitted !== undefined) await admitted;
    return exchange.receive({
      limitBytes,
      declaredBytes,
      contiguousBytesMax: Math.max(route.inlineBodyBytesMax ?? Infinity, COPIED_BYTES_MAX),
      segments: this.#segments,
      structure: jsonLimits(requestBodyBytesMax),
      shortChunksDelayMs: (chunkCount) => admission.shortChunksDelayMs(slot, chunkCount),
      onResize: (memory) => admission.setBody(slot, memory),
    });
  }

  /** @throws Fault `json_malformed`, as `Route.parse` does */
  #parse(
    accept: string | undefined,
    {
      match,
      queryText,
      body,
    }: { readonly match: RouteMatch; readonly queryText: string; readonly body: RequestBody | undefined },
  ): unknown {
    const request: { -readonly [Member in keyof RouteRequest]: RouteRequest[Member] } = {
      queryText,
      path: match.path,
      limits: this.#options.services.limits,
    };
    if (accept !== undefined) request.accept = accept;
    if (body !== undefined) request.body = decodeJson(body.parts);
    return match.target.route.parse(request);
  }

  /** Returns the context of a route. The signal and the origin are created only if the route reads them: most do not. */
  #routeContext(exchange: Exchange, caller: Caller): RouteContext {
    const { services, originOf } = this.#options;
    return {
      services,
      caller,
      requestId: exchange.requestId,
      get origin() {
        return originOf(exchange.request);
      },
      get signal() {
        return exchange.signal;
      },
    };
  }

  /**
   * Runs a large request as a job: in the worker threads if there are any, otherwise on the event loop.
   * @throws Fault as the route throws them, and as `JobAdmission.run` does
   */
  async #runJob(
    exchange: Exchange,
    request: {
      readonly slot: Slot | undefined;
      readonly match: RouteMatch;
      readonly queryText: string;
      readonly body: RequestBody | undefined;
      /** Undefined if the job parses it. */
      readonly query: unknown;
    },
  ): Promise<Reply> {
    const { bulk, admission, services } = this.#options;
    const { requestId, disconnectSignal, caller = NO_CALLER } = exchange;
    const { slot, match, queryText, body, query } = request;
    const {
      path,
      target: { route },
    } = match;
    if (slot === undefined) throw new Error("A route with large requests must require a key.");
    const work = {
      ...NO_WORK,
      kind: route.path,
      bodyBytes: body?.sizeBytes ?? 0,
      ...(query === undefined ? undefined : route.estimateWork?.(query, services)),
    };
    // The job has its own deadline.
    const job = { slot, work, signal: disconnectSignal };
    if (bulk !== undefined) {
      const bulkRequest = { ...job, route: route.path, queryText, path, query, caller, requestId };
      return bulk.answer(body === undefined ? bulkRequest : { ...bulkRequest, body });
    }
    const runInline = async (signal: AbortSignal): Promise<Reply> => {
      const parsed = query ?? this.#parse(exchange.headers.accept, request);
      return toReply(route, await route.handle(parsed, { services, caller, requestId, signal }));
    };
    return admission.jobs.run(job, (_, signal) => collectingAfter(slot.parsedBytes, () => runInline(signal)));
  }

  /** Compresses a body; a large one and its compressed form are added to the held bytes meanwhile. */
  async #compress(
    slot: Slot | undefined,
    body: string | readonly Uint8Array[],
    coding: Coding,
  ): Promise<readonly Uint8Array[]> {
    // Text is copied to be compressed.
    const sizeBytes = bodySizeBytes(body) * (typeof body === "string" ? 2 : 1);
    if (slot === undefined || sizeBytes < HELD_RESPONSE_BYTES_MIN) return compressBody(body, coding);
    const { admission } = this.#options;
    admission.holdAnswer(slot, sizeBytes);
    return compressBody(body, coding, (addedBytes) => admission.growAnswer(slot, addedBytes));
  }

  /**
   * Adds a large response to the held bytes until `releaseResponse`. A stream has been added already.
   * @throws Fault as `AdmissionControl.holdResponse` does
   */
  #holdResponse(exchange: Exchange, slot: Slot, body: Reply["body"]): void {
    if (!slot.isStream) {
      if (isStream(body)) return;
      const sizeBytes = bodySizeBytes(body);
      if (sizeBytes < HELD_RESPONSE_BYTES_MIN) return;
      this.#options.admission.holdResponse(slot, sizeBytes);
    }
    exchange.slot = slot;
  }

  /** @throws Fault `usage_not_recorded`, `clock_unreliable`, `idempotency_key_reused` */
  #record(usage: {
    /** Recording the same receipt again changes nothing. */
    readonly receipt: string;
    readonly route: Route<unknown, unknown>;
    readonly caller: Caller;
    readonly units: number;
    readonly idempotency: { readonly key: string; readonly fingerprint: string } | undefined;
  }): ReturnType<Services["ledger"]["record"]> {
    const { receipt, route, units, idempotency } = usage;
    const { accountId, customerId, keyId } = usage.caller;
    const { ledger, atlas } = this.#options.services;
    if (!(Number.isSafeInteger(units) && units >= 0)) {
      throw new Error(`units must be an integer of at least 0 (got ${units})`);
    }
    if (route.metered === undefined || customerId === undefined) {
      throw new Error(`The metered route ${route.path} must require a customer id.`);
    }
    const { meter } = route.metered;
    const entry = { receipt, accountId, customerId, keyId, meter, units, route: route.path };
    return ledger.record({
      ...entry,
      ...(meter === "hazard_values" ? { atlasRelease: atlas.release } : {}),
      ...(idempotency === undefined ? {} : { idempotency }),
    });
  }

  /** Returns the header fields that describe the body, and those of the route. */
  #fieldsOf(
    { target }: Exchange,
    { headers, body, contentType }: Reply,
    { url, coding }: { readonly url: string; readonly coding: string | undefined },
  ): string[] {
    const fields = target === undefined ? [] : target.fields.slice();
    if (headers !== undefined) fields.push(...Object.entries(headers).flat());
    if (body !== "") {
      fields.push("Content-Type", contentType, "Vary", this.#vary);
      if (coding !== undefined) fields.push("Content-Encoding", coding);
      if (target?.tag !== undefined) fields.push("ETag", quotedTag(entityTag(target.tag, url), coding));
    }
    if (target !== undefined && headers?.["Cache-Control"] === undefined)
      fields.push("Cache-Control", target.cacheControl);
    return fields;
  }

  /** Adds the header fields of every response except that to OPTIONS. */
  #addCommonFields(exchange: Exchange, fields: string[], units = exchange.units ?? 0): void {
    const { requestId, rateLimit, rateLimitPolicy, target, headers } = exchange;
    const { cors } = this.#options;
    if (target?.route.metered !== undefined) fields.push("X-Usage-Units", String(units));
    fields.push("X-Request-Id", requestId);
    if (rateLimit !== undefined) fields.push("RateLimit", rateLimit, "RateLimit-Policy", rateLimitPolicy ?? "");
    if (cors.isEnabled) fields.push(...cors.responseFields(headers));
  }

  /** Responds to a client that already has the current response, with its ETag. */
  #replyNotModified(exchange: Exchange, etag: string): void {
    const { target } = exchange;
    const fields = [...(target?.fields ?? []), "ETag", etag, "Vary", this.#vary];
    if (target !== undefined) fields.push("Cache-Control", target.cacheControl);
    exchange.units = 0;
    this.#addCommonFields(exchange, fields);
    exchange.respond(304, fields, undefined);
  }

  /**
   * Responds to HEAD of a metered route, after the request has been validated. The result, for which GET charges, is not
   * computed, so that no header field depends on it: there is no Content-Length and no Content-Encoding (RFC 9110, 9.3.2).
   */
  #replyUncomputed(exchange: Exchange, url: string): void {
    const reply = jsonReply([], 0);
    const fields = this.#fieldsOf(exchange, reply, { url, coding: undefined });
    exchange.units = 0;
    this.#addCommonFields(exchange, fields);
    exchange.respond(200, fields, undefined, true);
  }

  /** Responds to OPTIONS, including CORS preflight. @throws Fault `rate_limited`, `route_not_found` */
  #replyToOptions(exchange: Exchange, path: string): void {
    const { cors, clients } = this.#options;
    clients.admitLightRequest("options", clients.addressOf(exchange.request));
    const methods = this.#router.allowedAt(path).join(", ");
    const fields = ["Allow", methods, ...cors.preflightFields(exchange.headers, methods)];
    if (cors.isEnabled) fields.push("Vary", "Origin");
    fields.push("X-Request-Id", exchange.requestId);
    exchange.respond(204, fields, undefined);
  }
}

/** Selects the content coding of a reply; streams and short bodies are not compressed. */
function codingOf(accepted: string | string[] | undefined, { isCompressed, body }: Reply): Coding | undefined {
  if (accepted === undefined || isCompressed === true || isStream(body)) return undefined;
  return bodySizeBytes(body) < COMPRESSED_BYTES_MIN ? undefined : selectCoding(String(accepted));
}

function isStream(body: Reply["body"]): body is AsyncIterable<string> {
  return typeof body === "object" && Symbol.asyncIterator in body;
}

/** Returns the size of a body. Text is measured in UTF-16 code units, which is exact for ASCII. */
function bodySizeBytes(body: string | readonly Uint8Array[]): number {
  return typeof body === "string" ? body.length : body.reduce((size, part) => size + part.length, 0);
}

/** Hashes everything that distinguishes a customer's requests to a route, down to the bytes of the body. SHA-256, hexadecimal. */
function fingerprintOf(
  { target, path }: RouteMatch,
  request: { readonly caller: Caller; readonly queryText: string; readonly body: RequestBody | undefined },
): string {
  const { caller, queryText, body } = request;
  // Encoded as JSON, so that different lists always have different encodings.
  const head = JSON.stringify([target.route.path, caller.customerId, Object.entries(path), queryText]);
  const hash = createHash("sha256").update(head);
  if (body !== undefined) {
    hash.update("\n");
    for (const part of body.parts) hash.update(part);
  }
  return hash.digest("hex");
}

/**
 * Returns why data may not be requested for a customer: `customer_not_accessible`, identical for unknown customers and for
 * those of other accounts, or `customer_archived`.
 */
function inaccessible(customer: Customer | undefined): Fault {
  if (customer === undefined) {
    const detail = "The account has no customer with this id.";
    return new Fault("customer_not_accessible", detail, { items: [customerItem("unknown", detail)] });
  }
  const detail = "The customer is archived: its usage history is kept, but no data can be requested for it.";
  const items = [customerItem("not_allowed", detail)];
  return new Fault("customer_archived", detail, { details: { status: 403 }, items });
}

function customerItem(code: "unknown" | "not_allowed", detail: string): FaultItem {
  return { header: "X-Customer-ID", code, detail };
}
