import type { IncomingMessage } from "node:http";
import type { FaultItem } from "../errors.ts";
import type { Customer, KeyHolder } from "../ledger/ledger.ts";
import { refuseTooLarge, refuseUnreadable } from "./http/body.ts";
import { type Coding, codingFor, CODING_BYTES_MIN, packed } from "./http/contentCoding.ts";
import { entityTag, matchingTag, quotedTag, revisionTag } from "./http/entityTag.ts";
import {
  presentedKey,
  refuseBadHost,
  refuseBody,
  splitTarget,
  statedCustomerId,
  statedIdempotencyKey,
} from "./http/requestHead.ts";
import { decodeJson, encodeJson } from "./http/json.ts";
import type { Load, Place } from "./admission/load.ts";
import { fingerprintOf, recordUsage } from "./metering.ts";
import type { Origins } from "./http/cors.ts";
import { PROBLEM_CONTENT_TYPE, type ProblemCode, problemHeaders, problemOf, Refusal } from "./problems/problem.ts";
import type { AccountRates } from "./admission/rateLimits.ts";
import type { Caller, Reply, Route, RouteContext, Services } from "./routes/route.ts";
import { type Found, Router, type Target } from "./http/router.ts";
import type { Workforce } from "./work/workforce.ts";
import type { Job } from "./work/workload.ts";

/** Authenticates API keys and finds customers. Returns synchronously on a cache hit. */
export interface KeyAuthenticator {
  /** @throws Fault `api_key_invalid`, `api_key_revoked`, `account_suspended`, `rate_limited` */
  authenticate(presented: string, address: string): KeyHolder | Promise<KeyHolder>;
  /** @returns undefined where the account has no such customer */
  findCustomer(ref: {
    readonly accountId: string;
    readonly customerId: string;
  }): Customer | undefined | Promise<Customer | undefined>;
}

/** A request on its way through the house. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly requestId: string;
  /** Aborts when the client has gone or the deadline has passed. */
  readonly signal: AbortSignal;
  /** Nobody is there any more to be answered. */
  readonly isGone: boolean;
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
export interface Outcome {
  readonly status: number;
  /** Header fields, flat: name, value, … */
  readonly fields: readonly string[];
  readonly body: string | readonly Uint8Array[] | AsyncIterable<string> | undefined;
  readonly units?: number;
  readonly failure?: { readonly code: ProblemCode; readonly error: unknown };
  /** What is held until the answer has been read. */
  readonly place?: Place;
}

export interface PipelineOptions {
  readonly routes: readonly Route<unknown, unknown>[];
  readonly services: Services;
  readonly authenticator: KeyAuthenticator;
  readonly rates: AccountRates;
  readonly load: Load;
  readonly origins: Origins;
  /** Absent: all is done on the event loop. */
  readonly workforce?: Workforce | undefined;
  /** The program's version: another one may write the same answer otherwise. */
  readonly version: string;
}

/** An answer that is made, but not yet paid for. */
interface Made {
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
const KEPT_BYTES_MIN = 16_384;

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
    this.#vary = origins.areAny ? "Accept-Encoding, Origin" : "Accept-Encoding";
  }

  /**
   * Never rejects: what goes wrong is an answer too.
   *
   * One function for the whole way, and a promise waited for only where there is one: of the time that a small answer
   * takes, every step of its own would be a noticeable part.
   */
  async carry(exchange: Exchange): Promise<Outcome> {
    const { services, authenticator, rates, load, workforce } = this.#options;
    const { request } = exchange;
    const { method = "", url = "" } = request;
    let place: Place | undefined;
    try {
      refuseBadHost(request);
      const { path, queryText } = splitTarget(url);
      if (method === "OPTIONS") return this.#tellOptions(exchange, path);
      const found = this.#router.find(method, path);
      const { target } = found;
      const { route } = target;
      exchange.target = target;

      if (route.access !== "open") {
        place = load.enter();
        const authenticated = authenticator.authenticate(presentedKey(request), request.socket.remoteAddress ?? "");
        const { key, account } = authenticated instanceof Promise ? await authenticated : authenticated;
        exchange.caller = { accountId: account.accountId, keyId: key.keyId };
        load.assign(place, account.accountId);
        exchange.rateLimit = rates.take(account.accountId, performance.now());
      }
      const isPost = route.method === "POST";
      if (isPost) refuseUndeclared(request);
      else refuseBody(request);
      const idempotencyKey = route.metered === undefined ? undefined : statedIdempotencyKey(request);
      if (route.access === "customer" && exchange.caller !== undefined) {
        const { accountId, keyId } = exchange.caller;
        const customerId = statedCustomerId(request);
        const looked = authenticator.findCustomer({ accountId, customerId });
        refuseCustomer(looked instanceof Promise ? await looked : looked);
        exchange.caller = { accountId, keyId, customerId };
      }
      const { caller = NOBODY } = exchange;
      const bytes = isPost ? await this.#receive(exchange, place) : undefined;
      const repeatable =
        idempotencyKey === undefined
          ? undefined
          : { key: idempotencyKey, fingerprint: fingerprintOf({ ...found, caller, queryText, bytes }) };

      const tag = target.tag === undefined ? undefined : entityTag(target.tag, url);
      let made: Made;
      if (this.#isForWorkers(route, bytes)) made = await this.#haveMade(exchange, { found, queryText, bytes });
      else {
        const { limits } = services;
        const { accept } = request.headers;
        const asked =
          accept === undefined
            ? { queryText, path: found.path, limits }
            : { queryText, path: found.path, limits, accept };
        const query = route.parse(bytes === undefined ? asked : { ...asked, body: decodeJson(bytes) });
        const known = tag === undefined ? undefined : knownTag(request, tag);
        if (known !== undefined) return this.#notModified(exchange, known);
        if (workforce !== undefined && route.isLong?.(query, services) === true) {
          made = await this.#haveMade(exchange, { found, queryText, bytes, place: query });
        } else {
          const answered = route.handle(query, new Context(exchange, services, caller));
          made = madeOf(route, answered instanceof Promise ? ((await answered) as unknown) : answered);
        }
      }

      const fields = [...target.fields, ...made.fields];
      let { body } = made;
      if (body !== "") {
        fields.push("Content-Type", made.contentType, "Vary", this.#vary);
        const coding = codingOf(request, body);
        // Of a stream nobody knows how long it gets; it is sent as it is.
        if (coding !== undefined && !isStream(body)) {
          body = await packed(body, coding);
          fields.push("Content-Encoding", coding);
        }
        if (tag !== undefined) fields.push("ETag", quotedTag(tag, coding));
      }
      if (!made.fields.includes("Cache-Control")) fields.push("Cache-Control", cachingOf(route));

      let units = 0;
      // Whoever asks for the head alone, and whoever is gone, is given nothing that could be counted.
      if (route.metered !== undefined && method !== "HEAD" && !exchange.isGone) {
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
      if (sizeBytes < KEPT_BYTES_MIN) return outcome;
      load.keepAnswer(place, sizeBytes);
      return { ...outcome, place };
    } catch (error) {
      return this.#problem(exchange, error);
    } finally {
      if (place !== undefined) load.leave(place);
    }
  }

  /** The answer has been read, or nobody is there to read it. */
  settle({ place }: Outcome): void {
    if (place !== undefined) this.#options.load.releaseAnswer(place);
  }

  async #receive(exchange: Exchange, place: Place | undefined): Promise<Buffer> {
    const { services, load } = this.#options;
    const { bodySizeBytes: limitBytes } = services.limits;
    const { "content-length": lengthText } = exchange.request.headers;
    const declaredBytes = lengthText === undefined ? undefined : Number(lengthText);
    refuseTooLarge(declaredBytes, limitBytes);
    if (place === undefined) throw new Error("Nobody may send a body without saying who they are.");
    load.expectBody(place, declaredBytes ?? 0);
    return exchange.receive(limitBytes, (sizeBytes) => load.takeBody(place, sizeBytes));
  }

  #isForWorkers({ inlineBodyBytesMax }: Route<unknown, unknown>, bytes: Buffer | undefined): bytes is Buffer {
    if (bytes === undefined || inlineBodyBytesMax === undefined) return false;
    return this.#options.workforce !== undefined && bytes.length > inlineBodyBytesMax;
  }

  /** What the route answers, made in another thread. */
  async #haveMade(
    exchange: Exchange,
    asked: {
      readonly found: Found;
      readonly queryText: string;
      readonly bytes: Buffer | undefined;
      readonly place?: unknown;
    },
  ): Promise<Made> {
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

  #notModified(exchange: Exchange, etag: string): Outcome {
    const { target } = exchange;
    const fields = [...(target?.fields ?? NO_FIELDS), "ETag", etag, "Vary", this.#vary];
    if (target !== undefined) fields.push("Cache-Control", cachingOf(target.route));
    this.#addCommon(exchange, fields, 0);
    return { status: 304, fields, body: undefined, units: 0 };
  }

  #problem(exchange: Exchange, error: unknown): Outcome {
    const problem = problemOf(error, exchange.requestId);
    const { target } = exchange;
    const fields = [...(target?.fields ?? NO_SNIFFING), ...flat(problemHeaders(problem, error))];
    fields.push("Content-Type", PROBLEM_CONTENT_TYPE, "Cache-Control", "no-store");
    this.#addCommon(exchange, fields, 0);
    return { status: problem.status, fields, body: encodeJson(problem), failure: { code: problem.code, error } };
  }

  /** What an address takes; to a browser also whether a script of another origin may ask. No key is asked for. */
  #tellOptions(exchange: Exchange, path: string): Outcome {
    const { origins } = this.#options;
    const methods = this.#router.allowedAt(path).join(", ");
    const fields = ["Allow", methods, ...origins.preflightFieldsFor(exchange.request, methods)];
    if (origins.areAny) fields.push("Vary", "Origin");
    fields.push("X-Request-Id", exchange.requestId);
    return { status: 204, fields, body: undefined };
  }

  #addCommon({ request, requestId, rateLimit, target }: Exchange, fields: string[], units: number): void {
    const { rates, origins } = this.#options;
    if (target?.route.metered !== undefined) fields.push("X-Usage-Units", String(units));
    fields.push("X-Request-Id", requestId);
    if (rateLimit !== undefined) fields.push("RateLimit", rateLimit, "RateLimit-Policy", rates.policy);
    if (origins.areAny) fields.push(...origins.fieldsFor(request));
  }
}

/** The signal of an exchange costs something to make, so it is made when a route looks at it. */
class Context implements RouteContext {
  readonly services: Services;
  readonly caller: Caller;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange, services: Services, caller: Caller) {
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

function refuseUndeclared(request: IncomingMessage): void {
  const { "content-type": contentTypes = [], "content-encoding": contentEncodings = [] } = request.headersDistinct;
  refuseUnreadable({ contentTypes, contentEncodings });
}

/** @throws Refusal `customer_not_accessible`, one and the same for unknown and foreign ones; `customer_archived` */
function refuseCustomer(customer: Customer | undefined): void {
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
function madeOf(route: Route<unknown, unknown>, answer: unknown): Made {
  const units = route.metered?.units(answer) ?? 0;
  const reply = route.reply?.(answer);
  if (reply === undefined) {
    return { status: 200, fields: NO_FIELDS, contentType: JSON_CONTENT_TYPE, body: encodeJson(answer), units };
  }
  const { status, contentType, body, headers } = reply;
  return { status, fields: headers === undefined ? NO_FIELDS : flat(headers), contentType, body, units };
}

/** The tag by which a client shows that it has the answer. */
function knownTag(request: IncomingMessage, tag: string): string | undefined {
  const { "if-none-match": ifNoneMatch } = request.headers;
  return ifNoneMatch === undefined ? undefined : matchingTag(ifNoneMatch, tag);
}

function codingOf(request: IncomingMessage, body: Reply["body"]): Coding | undefined {
  const { "accept-encoding": accepted } = request.headers;
  if (accepted === undefined || isStream(body) || sizeOf(body) < CODING_BYTES_MIN) return undefined;
  return codingFor(typeof accepted === "string" ? accepted : String(accepted));
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
