import type { IncomingMessage } from "node:http";
import type { Customer, KeyHolder } from "../../ledger/ledger.ts";
import type { AccountRateLimiter } from "../admission/accountRateLimiter.ts";
import type { AdmissionControl } from "../admission/admissionControl.ts";
import { checkCustomer } from "../admission/customer.ts";
import type { Slot } from "../admission/slot.ts";
import { checkBodyHeaders } from "../http/body.ts";
import type { RequestContext } from "../http/exchange.ts";
import { readApiKey, readCustomerId, readIdempotencyKey, rejectBody } from "../http/requestHead.ts";
import type { Caller, Route } from "../route.ts";

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

export interface AccessOptions {
  readonly authenticator: RequestAuthenticator;
  readonly rateLimiter: AccountRateLimiter;
  readonly admission: AdmissionControl;
}

/** The caller on routes that require no key. */
export const NO_CALLER: Caller = { accountId: "", keyId: "" };

/** The steps that decide from the headers of a request whether its caller may send it: key, rate, headers, customer. */
export class Access {
  readonly #options: AccessOptions;

  constructor(options: AccessOptions) {
    this.#options = options;
  }

  /** Step `key`. @throws HttpError, Fault as `readApiKey` and `RequestAuthenticator.authenticate` */
  authenticate(request: IncomingMessage): KeyHolder | Promise<KeyHolder> {
    return this.#options.authenticator.authenticate(readApiKey(request), request.socket.remoteAddress ?? "");
  }

  /** Step `rate`, with the account's share of the load limits. @throws HttpError `overloaded`, `rate_limited` */
  admit(context: RequestContext, slot: Slot, { key, account }: KeyHolder): void {
    const { admission, rateLimiter } = this.#options;
    const { accountId } = account;
    context.caller = { accountId, keyId: key.keyId };
    admission.assignAccount(slot, accountId);
    context.rateLimit = rateLimiter.consume(accountId, performance.now());
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

  /** Sets the customer of the caller. @throws HttpError as `checkCustomer` */
  setCustomer(context: RequestContext, found: Customer | undefined): void {
    const { customerId } = checkCustomer(found);
    const { accountId, keyId } = context.caller ?? NO_CALLER;
    context.caller = { accountId, keyId, customerId };
  }
}
