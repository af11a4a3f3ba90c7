import type { IncomingMessage } from "node:http";
import type { FaultItem } from "../errors.ts";
import type { Customer, KeyHolder } from "../ledger/ledger.ts";
import { checkDeclaredSize, checkContentType } from "./http/body.ts";
import { type Coding, selectCoding, COMPRESSED_BYTES_MIN, compressBody } from "./http/contentCoding.ts";
import { entityTag, matchingTag, quotedTag, revisionTag } from "./http/entityTag.ts";
import {
  readApiKey,
  checkHostHeader,
  rejectBody,
  splitTarget,
  readCustomerId,
  readIdempotencyKey,
} from "./http/requestHead.ts";
import { decodeJson, encodeJson } from "./http/json.ts";
import type { ConcurrencyLimiter, Slot } from "./admission/concurrencyLimiter.ts";
import { requestFingerprint, recordUsage } from "./metering.ts";
import type { CorsPolicy } from "./http/cors.ts";
import { PROBLEM_CONTENT_TYPE, type ProblemCode, problemHeaders, problemOf, Refusal } from "./problems/problem.ts";
import type { AccountRateLimiter } from "./admission/accountRateLimiter.ts";
import type { Caller, Reply, Route, RouteContext, Services } from "./routes/route.ts";
import { type RouteMatch, Router, type Target } from "./http/router.ts";
import type { Workforce } from "./work/workforce.ts";
import type { Job } from "./work/workload.ts";

/** Authenticates API keys and finds customers. Returns synchronously on a cache hit. */
export interface RequestAuthenticator {
  /** @throws Fault `api_key_invalid`, `api_key_revoked`, `account_suspended`, `rate_limited` */
  authenticate(presented: string, address: string): KeyHolder | Promise<KeyHolder>;
  /** @returns undefined where the account has no such customer */
  findCustomer(ref: {
    readonly accountId: string;
    readonly customerId: string;
  }): Customer | undefined | Promise<Customer | undefined>;
}

/** A request on its way through the house. */
export interface RequestContext {
  readonly request: IncomingMessage;
  readonly requestId: string;
  /** Aborts when the client has gone or the deadline has passed. */
  readonly signal: AbortSignal;
  /** Nobody is there any more to be answered. */
  readonly isDisconnected: boolean;
  /**
   * Takes in the body, whole.
   * @param onPart told how many bytes have come; what it throws ends the reading
   * @throws Refusal `body_too_large`, `request_timeout`, `http_malformed`
   */
  receive(limitBytes: number, onPart: (sizeBytes: number) => void): Promise<Buffer>;

  // What is found on the way; the log tells of it.
  target?: Target;
  caller?: Caller;
  rateLimit?: string;
}

/** What is to be written to the connection. */
export interface PipelineResponse {
  readonly status: number;
  /** Header fields, flat: name, value, … */
  readonly fields: readonly string[];
  readonly body: string | readonly Uint8Array[] | AsyncIterable<string> | undefined;
  readonly units?: number;
  readonly failure?: { readonly code: ProblemCode; readonly error: unknown };
  /** What is held until the answer has been read. */
  readonly place?: Slot;
}

export interface PipelineOptions {
  readonly routes: readonly Route<unknown, unknown>[];
  readonly services: Services;
  readonly authenticator: RequestAuthenticator;
  readonly rates: AccountRateLimiter;
  readonly load: ConcurrencyLimiter;
  readonly origins: CorsPolicy;
  /** Absent: all is done on the event loop. */
  readonly workforce?: Workforce | undefined;
  /** The program's version: another one may write the same answer otherwise. */
  readonly version: string;
}

/** An answer that is made, but not yet paid for. */
interface RouteResponse {
  readonly status: number;
  readonly fields: readonly string[];
  readonly contentType: string;
  readonly body: Reply["body"];
  readonly units: number;
}

const NOBODY: Caller = { accountId: "", keyId: "" };
const NO_FIELDS: readonly string[] = [];
const NO_SNIFFING = ["X-Content-Type-Options", "nosniff"];
const JSON_CONTENT_TYPE = "application/json";
/** Shorter answers the system takes off our hands, read or not. */
const HELD_RESPONSE_BYTES_MIN = 16_384;

/**
 * Carries requests to routes and answers back, the same way for every route, in this order: route, key, rate, headers,
 * customer, size of the body, JSON, then what the route itself checks, then the work, its usage, the answer. Nothing
 * before JSON reads the body.
 */
export class Pipeline {
  readonly #options: PipelineOptions;
  readonly #router: Router;
  readonly #vary: string;

  constructor(options: PipelineOptions) {
    this.#options = options;
    const { routes, services, version, origins } = options;
    this.#router = new Router(routes, services, (revision) => revisionTag(`${version} ${revision}`));
    this.#vary = origins.isEnabled ? "Accept-Encoding, Origin" : "Accept-Encoding";
  }

  /**
   * Never rejects: what goes wrong is an answer too.
   *
   * One function for the whole way, and a promise waited for only where there is one: of the time that a small answer
   * takes, every step of its own would be a noticeable part.
   */
  async handle(exchange: RequestContext): Promise<PipelineResponse> {
    const { services, authenticator, rates, load, workforce } = this.#options;
    const { request } = exchange;
    const { method = "", url = "" } = request;
    let place: Slot | undefined;
    try {
      checkHostHeader(request);
      const { path, queryText } = splitTarget(url);
      if (method === "OPTIONS") return this.#tellOptions(exchange, path);
      const found = this.#router.find(method, path);
      const { target } = found;
      const { route } = target;
      exchange.target = target;

      if (route.access !== "open") {
        place = load.enter();
        const authenticated = authenticator.authenticate(readApiKey(request), request.socket.remoteAddress ?? "");
        const { key, account } = authenticated instanceof Promise ? await authenticated : authenticated;
        exchange.caller = { accountId: account.accountId, keyId: key.keyId };
        load.assign(place, account.accountId);
        exchange.rateLimit = rates.take(account.accountId, performance.now());
      }
      const isPost = route.method === "POST";
      if (isPost) checkBodyHeaders(request);
      else rejectBody(request);
      const idempotencyKey = route.metered === undefined ? undefined : readIdempotencyKey(request);
      if (route.access === "customer" && exchange.caller !== undefined) {
        const { accountId, keyId } = exchange.caller;
        const customerId = readCustomerId(request);
        const looked = authenticator.findCustomer({ accountId, customerId });
        checkCustomer(looked instanceof Promise ? await looked : looked);
        exchange.caller = { accountId, keyId, customerId };
      }
      const { caller = NOBODY } = exchange;
      const bytes = isPost ? await this.#receive(exchange, place) : undefined;
      const repeatable =
        idempotencyKey === undefined
          ? undefined
          : { key: idempotencyKey, fingerprint: requestFingerprint({ ...found, caller, queryText, bytes }) };

      const tag = target.tag === undefined ? undefined : entityTag(target.tag, url);
      let made: RouteResponse;
      if (this.#isForWorkers(route, bytes)) made = await this.#runInWorker(exchange, { found, queryText, bytes });
      else {
        const { limits } = services;
        const { accept } = request.headers;
        const asked =
          accept === undefined
            ? { queryText, path: found.path, limits }
            : { queryText, path: found.path, limits, accept };
        const query = route.parse(bytes === undefined ? asked : { ...asked, body: decodeJson(bytes) });
        const known = tag === undefined ? undefined : matchingRequestTag(request, tag);
        if (known !== undefined) return this.#notModified(exchange, known);
        if (workforce !== undefined && route.isLong?.(query, services) === true) {
          made = await this.#runInWorker(exchange, { found, queryText, bytes, place: query });
        } else {
          const answered = route.handle(query, new Context(exchange, services, caller));
          made = toRouteResponse(route, answered instanceof Promise ? ((await answered) as unknown) : answered);
        }
      }

      const fields = [...target.fields, ...made.fields];
      let { body } = made;
      if (body !== "") {
        fields.push("Content-Type", made.contentType, "Vary", this.#vary);
        const coding = codingOf(request, body);
        // Of a stream nobody knows how long it gets; it is sent as it is.
        if (coding !== undefined && !isStream(body)) {
          body = await compressBody(body, coding);
          fields.push("Content-Encoding", coding);
        }
        if (tag !== undefined) fields.push("ETag", quotedTag(tag, coding));
      }
      if (!made.fields.includes("Cache-Control")) fields.push("Cache-Control", cachingOf(route));

      let units = 0;
      // Whoever asks for the head alone, and whoever is gone, is given nothing that could be counted.
      if (route.metered !== undefined && method !== "HEAD" && !exchange.isDisconnected) {
        const { requestId } = exchange;
        const { release: atlasRelease } = services.atlas;
        const entry = { requestId, route, caller, units: made.units, atlasRelease, repeatable };
        const recording = recordUsage(services.ledger, entry);
        const recorded = recording instanceof Promise ? await recording : recording;
        units = recorded.units;
        if (recorded.isReplay) fields.push("Idempotent-Replayed", "true");
      }
      this.#addCommon(exchange, fields, units);
      const outcome = { status: made.status, fields, body: body === "" ? undefined : body, units };
      if (place === undefined || isStream(body) || method === "HEAD") return outcome;
      const sizeBytes = sizeOf(body);
      if (sizeBytes < HELD_RESPONSE_BYTES_MIN) return outcome;
      load.keepAnswer(place, sizeBytes);
      return { ...outcome, place };
    } catch (error) {
      return this.#problem(exchange, error);
    } finally {
      if (place !== undefined) load.leave(place);
    }
  }

  /** The answer has been read, or nobody is there to read it. */
  releaseResponse({ place }: PipelineResponse): void {
    if (place !== undefined) this.#options.load.releaseAnswer(place);
  }

  async #receive(exchange: RequestContext, place: Slot | undefined): Promise<Buffer> {
    const { services, load } = this.#options;
    const { bodySizeBytes: limitBytes } = services.limits;
    const { "content-length": lengthText } = exchange.request.headers;
    const declaredBytes = lengthText === undefined ? undefined : Number(lengthText);
    checkDeclaredSize(declaredBytes, limitBytes);
    if (place === undefined) throw new Error("Nobody may send a body without saying who they are.");
    load.expectBody(place, declaredBytes ?? 0);
    return exchange.receive(limitBytes, (sizeBytes) => load.takeBody(place, sizeBytes));
  }

  #isForWorkers({ inlineBodyBytesMax }: Route<unknown, unknown>, bytes: Buffer | undefined): bytes is Buffer {
    if (bytes === undefined || inlineBodyBytesMax === undefined) return false;
    return this.#options.workforce !== undefined && bytes.length > inlineBodyBytesMax;
  }

  /** What the route answers, made in another thread. */
  async #runInWorker(
    exchange: RequestContext,
    asked: {
      readonly found: RouteMatch;
      readonly queryText: string;
      readonly bytes: Buffer | undefined;
      readonly place?: unknown;
    },
  ): Promise<RouteResponse> {
    const { workforce } = this.#options;
    if (workforce === undefined) throw new Error("There is nobody else to do it.");
    const { requestId, signal, caller = NOBODY } = exchange;
    const { found, queryText, bytes, place } = asked;
    const { path, target } = found;
    const about = { route: target.route.path, queryText, path, place, caller, requestId, signal };
    const job: Job = bytes === undefined ? about : { ...about, body: bytes };
    const { parts, units, headers } = await workforce.answer(job);
    return { status: 200, fields: flat(headers), contentType: JSON_CONTENT_TYPE, body: parts, units };
  }

  #notModified(exchange: RequestContext, etag: string): PipelineResponse {
    const { target } = exchange;
    const fields = [...(target?.fields ?? NO_FIELDS), "ETag", etag, "Vary", this.#vary];
    if (target !== undefined) fields.push("Cache-Control", cachingOf(target.route));
    this.#addCommon(exchange, fields, 0);
    return { status: 304, fields, body: undefined, units: 0 };
  }

  #problem(exchange: RequestContext, error: unknown): PipelineResponse {
    const problem = problemOf(error, exchange.requestId);
    const { target } = exchange;
    const fields = [...(target?.fields ?? NO_SNIFFING), ...flat(problemHeaders(problem, error))];
    fields.push("Content-Type", PROBLEM_CONTENT_TYPE, "Cache-Control", "no-store");
    this.#addCommon(exchange, fields, 0);
    return { status: problem.status, fields, body: encodeJson(problem), failure: { code: problem.code, error } };
  }

  /** What an address takes; to a browser also whether a script of another origin may ask. No key is asked for. */
  #tellOptions(exchange: RequestContext, path: string): PipelineResponse {
    const { origins } = this.#options;
    const methods = this.#router.allowedAt(path).join(", ");
    const fields = ["Allow", methods, ...origins.preflightFields(exchange.request, methods)];
    if (origins.isEnabled) fields.push("Vary", "Origin");
    fields.push("X-Request-Id", exchange.requestId);
    return { status: 204, fields, body: undefined };
  }

  #addCommon({ request, requestId, rateLimit, target }: RequestContext, fields: string[], units: number): void {
    const { rates, origins } = this.#options;
    if (target?.route.metered !== undefined) fields.push("X-Usage-Units", String(units));
    fields.push("X-Request-Id", requestId);
    if (rateLimit !== undefined) fields.push("RateLimit", rateLimit, "RateLimit-Policy", rates.policy);
    if (origins.isEnabled) fields.push(...origins.responseFields(request));
  }
}

/** The signal of an exchange costs something to make, so it is made when a route looks at it. */
class Context implements RouteContext {
  readonly services: Services;
  readonly caller: Caller;
  readonly #exchange: RequestContext;

  constructor(exchange: RequestContext, services: Services, caller: Caller) {
    this.#exchange = exchange;
    this.services = services;
    this.caller = caller;
  }

  get requestId(): string {
    return this.#exchange.requestId;
  }

  get signal(): AbortSignal {
    return this.#exchange.signal;
  }
}

function checkBodyHeaders(request: IncomingMessage): void {
  const { "content-type": contentTypes = [], "content-encoding": contentEncodings = [] } = request.headersDistinct;
  checkContentType({ contentTypes, contentEncodings });
}

/** @throws Refusal `customer_not_accessible`, one and the same for unknown and foreign ones; `customer_archived` */
function checkCustomer(customer: Customer | undefined): void {
  if (customer === undefined) {
    const detail = "The account has no customer with this id.";
    throw new Refusal("customer_not_accessible", detail, {}, { items: [customerItem("unknown", detail)] });
  }
  if (customer.archivedAt !== undefined) {
    const detail = "The customer is archived: its history stays, and nothing more is counted for it.";
    throw new Refusal("customer_archived", detail, {}, { status: 403, items: [customerItem("not_allowed", detail)] });
  }
}

function customerItem(code: "unknown" | "not_allowed", detail: string): FaultItem {
  return { header: "X-Customer-ID", code, detail };
}

/** An answer as its route wants it on the wire. */
function toRouteResponse(route: Route<unknown, unknown>, answer: unknown): RouteResponse {
  const units = route.metered?.units(answer) ?? 0;
  const reply = route.reply?.(answer);
  if (reply === undefined) {
    return { status: 200, fields: NO_FIELDS, contentType: JSON_CONTENT_TYPE, body: encodeJson(answer), units };
  }
  const { status, contentType, body, headers } = reply;
  return { status, fields: headers === undefined ? NO_FIELDS : flat(headers), contentType, body, units };
}

/** The tag by which a client shows that it has the answer. */
function matchingRequestTag(request: IncomingMessage, tag: string): string | undefined {
  const { "if-none-match": ifNoneMatch } = request.headers;
  return ifNoneMatch === undefined ? undefined : matchingTag(ifNoneMatch, tag);
}

function codingOf(request: IncomingMessage, body: Reply["body"]): Coding | undefined {
  const { "accept-encoding": accepted } = request.headers;
  if (accepted === undefined || isStream(body) || sizeOf(body) < COMPRESSED_BYTES_MIN) return undefined;
  return selectCoding(typeof accepted === "string" ? accepted : String(accepted));
}

/** What answers to a key's holder are nobody else's: they may be kept by the one who asked, and are asked for anew. */
function cachingOf({ access, revision }: Route<unknown, unknown>): string {
  if (revision === undefined) return "no-store";
  return access === "open" ? "no-cache" : "private, no-cache";
}

function isStream(body: Reply["body"]): body is AsyncIterable<string> {
  return typeof body === "object" && Symbol.asyncIterator in body;
}

function sizeOf(body: string | readonly Uint8Array[]): number {
  return typeof body === "string" ? body.length : body.reduce((size, part) => size + part.length, 0);
}

function flat(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).flat();
}
