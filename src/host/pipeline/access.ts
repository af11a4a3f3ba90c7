import type { IncomingMessage } from "node:http";
import { isFault } from "../../errors.ts";
import { findParameter } from "../../validation/parameters.ts";
import type { Customer, KeyHolder } from "../../ledger/ledger.ts";
import type { AccountRateLimiter, RateLimitKind } from "../admission/limiters.ts";
import type { AdmissionControl } from "../admission/admissionControl.ts";
import type { ClientGate } from "../admission/limiters.ts";
import { checkCustomer } from "../admission/customer.ts";
import type { Slot } from "../admission/resources.ts";
import { checkBodyHeaders } from "../http/body.ts";
import type { RequestContext } from "../http/exchange.ts";
import type { RouteMatch } from "../http/router.ts";
import type { TileTokens } from "../tiles/tileTokens.ts";
import { readApiKey, readCustomerId, readIdempotencyKey, rejectBody } from "../http/requestHead.ts";
import { HttpError, type ProblemCode } from "../problems/problem.ts";
import type { Caller, Route } from "../route.ts";

/** Authenticates API keys and finds customers. Returns synchronously on a cache hit. */
interface RequestAuthenticator {
  /** @throws Fault `api_key_invalid`, `api_key_revoked`, `account_suspended`, `rate_limited` */
  authenticate(presented: string, address: string): KeyHolder | Promise<KeyHolder>;
  /** @throws Fault as `authenticate` does */
  authenticateId(keyId: string, address: string): KeyHolder | Promise<KeyHolder>;
  /** @returns undefined if the account has no such customer */
  findCustomer(ref: {
    readonly accountId: string;
    readonly customerId: string;
  }): Customer | undefined | Promise<Customer | undefined>;
}

export interface AccessOptions {
  readonly authenticator: RequestAuthenticator;
  readonly rateLimiters: Readonly<Record<RateLimitKind, AccountRateLimiter>>;
  /** Verifies the tokens that replace a key on some routes. */
  readonly tokens: Pick<TileTokens, "verify">;
  readonly admission: AdmissionControl;
  readonly clients: ClientGate;
}

/** The caller on routes that require no key. */
export const NO_CALLER: Caller = { accountId: "", keyId: "" };

const KEY_REJECTIONS: ReadonlySet<ProblemCode> = new Set(["api_key_invalid", "api_key_revoked", "account_suspended"]);

/** The steps that decide from the headers of a request whether its caller may send it: key, rate, headers, customer. */
export class Access {
  readonly #options: AccessOptions;

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  /** Counts a request to a route that needs no key. @throws HttpError `rate_limited` */
  admitOpen(request: IncomingMessage, { isProbe }: Route<unknown, unknown>): void {
    const { clients } = this.#options;
    const address = clients.addressOf(request);
    if (isProbe === true) clients.admitLightRequest("probe", address);
    else clients.admitRequest(address);
  }

  /** Counts an OPTIONS request. @throws HttpError `rate_limited` */
  admitOptions(request: IncomingMessage): void {
    const { clients } = this.#options;
    clients.admitLightRequest("options", clients.addressOf(request));
  }

  /**
   * Step `key`. A token replaces the key on routes that accept one.
   * @throws HttpError, Fault as `readApiKey`, `TileTokens.verify` and `RequestAuthenticator.authenticate` do
   */
  authenticate(request: IncomingMessage, match: RouteMatch, queryText: string): KeyHolder | Promise<KeyHolder> {
    const { authenticator, clients, tokens } = this.#options;
    const scope = request.headers["x-api-key"] === undefined ? match.target.route.tokenScope?.(match.path) : undefined;
    const token = scope === undefined ? undefined : findParameter(queryText, "token");
    if (scope !== undefined && token !== undefined) {
      const address = clients.addressOf(request);
      const keyId = tokens.verify(token, scope);
      if (typeof keyId === "string") return authenticator.authenticateId(keyId, address);
      return keyId.then((verified) => authenticator.authenticateId(verified, address));
    }
    return authenticator.authenticate(readApiKey(request), clients.addressOf(request));
  }

  /** Step `rate`, with the load limits. @returns the slot, which the caller must release @throws HttpError `overloaded`, `rate_limited` */
  admit(context: RequestContext, { key, account }: KeyHolder): Slot {
    const { admission } = this.#options;
    const rateLimiter = this.#rateLimiterOf(context);
    const { accountId } = account;
    context.caller = { accountId, keyId: key.keyId };
    const slot = admission.acquire();
    try {
      admission.assignAccount(slot, accountId);
      context.rateLimit = rateLimiter.consume(accountId, performance.now());
      context.rateLimitPolicy = rateLimiter.policy;
      return slot;
    } catch (error) {
      admission.release(slot);
      throw error;
    }
  }

  /** Counts a rejected request, and decides whether its connection is closed. */
  countRejected(context: RequestContext, error: unknown): void {
    const { caller, target, request } = context;
    const { clients } = this.#options;
    const code = isFault(error) || error instanceof HttpError ? error.code : "internal_error";
    if (caller !== undefined) {
      if (code !== "rate_limited") return;
      context.countsTowardBlock = this.#rateLimiterOf(context).countRejection(caller.accountId, performance.now());
      context.closesConnection = context.countsTowardBlock;
      return;
    }
    if (code === "rate_limited") context.countsTowardBlock = true;
    else if (target?.route.isProbe === true) return;
    // Requests to open routes and key lookups have already been counted, and rejected keys have a separate limit.
    else if (code !== "overloaded" && target?.route.access !== "open" && !KEY_REJECTIONS.has(code)) {
      context.countsTowardBlock = clients.countRejected(clients.addressOf(request));
    }
    context.closesConnection = code === "overloaded" || context.countsTowardBlock === true;
  }

  #rateLimiterOf({ target }: RequestContext): AccountRateLimiter {
    return this.#options.rateLimiters[target?.route.rateLimit ?? "account"];
  }

  /** Step `headers`. @returns the idempotency key, if there is one @throws HttpError, Fault as the checks throw them */
  checkHeaders(request: IncomingMessage, { method, metered }: Route<unknown, unknown>): string | undefined {
    if (method === "POST") checkBodyHeaders(request);
    else rejectBody(request);
    return metered === undefined ? undefined : readIdempotencyKey(request);
  }

  /** Step `customer`. @throws HttpError `customer_id_missing`, `customer_id_malformed` */
  findCustomer({ request, caller = NO_CALLER }: RequestContext): Customer | undefined | Promise<Customer | undefined> {
    const { accountId } = caller;
    return this.#options.authenticator.findCustomer({ accountId, customerId: readCustomerId(request) });
  }

  /** Sets the customer of the caller. @throws HttpError as `checkCustomer` does */
  setCustomer(context: RequestContext, found: Customer | undefined): void {
    const { customerId } = checkCustomer(found);
    const { accountId, keyId } = context.caller ?? NO_CALLER;
    context.caller = { accountId, keyId, customerId };
  }
}
