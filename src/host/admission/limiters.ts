/** The limits on how often and how much clients may ask: by account, by address, and of map tiles and keys at a time. */
import type { IncomingHttpHeaders } from "node:http";
import { networkOf } from "./ipAddress.ts";
import { Fault } from "../../errors.ts";

/** The size of a quota, and how fast it is refilled. */
export interface RateLimit {
  /** Permits in a full quota; at least 1. */
  readonly burst: number;
  /** Permits that are added at the end of each interval, until the quota is full: 1 for a steady rate, `burst` for windows. */
  readonly refillCount: number;
  readonly refillIntervalMs: number;
}

/** The result of consuming a permit. */
export interface Consumption {
  readonly isAllowed: boolean;
  /** Whole permits left. */
  readonly leftCount: number;
  /** Milliseconds until the next permit is added; 0 or more. */
  readonly waitMs: number;
  /** Milliseconds until the quota is full again. */
  readonly fullAgainMs: number;
}

/** The used permits of a key. */
interface Quota {
  usedCount: number;
  /** When the current interval began. Intervals begin with the first permit that is taken from a full quota. */
  sinceMs: number;
}

/** Fraction of an interval by which a refill may be early, so that rounding errors of times do not cost a permit. */
const ROUNDING = 1e-6;

/**
 * Limits the permits that each key consumes, with token buckets that are refilled at intervals. Rejections consume nothing.
 * It is synchronous and uses no timers; a key's memory is released only with the limiter.
 */
export class RateLimiter {
  readonly #limit: RateLimit;
  readonly #quotas = new Map<string, Quota>();

  constructor(limit: RateLimit) {
    this.#limit = limit;
  }

  /** Number of keys that have consumed permits. */
  get keyCount(): number {
    return this.#quotas.size;
  }

  has(key: string): boolean {
    return this.#quotas.has(key);
  }

  /**
   * Consumes a permit if one is left.
   * @param nowMs time in milliseconds; must not decrease between calls
   */
  consume(key: string, nowMs: number): Consumption {
    const { burst, refillCount, refillIntervalMs } = this.#limit;
    let quota = this.#quotas.get(key);
    if (quota === undefined) {
      quota = { usedCount: 0, sinceMs: nowMs };
      this.#quotas.set(key, quota);
    }
    const intervalCount = Math.floor((nowMs - quota.sinceMs) / refillIntervalMs + ROUNDING);
    quota.usedCount = Math.max(0, quota.usedCount - intervalCount * refillCount);
    quota.sinceMs = quota.usedCount === 0 ? nowMs : quota.sinceMs + intervalCount * refillIntervalMs;
    const isAllowed = quota.usedCount < burst;
    if (isAllowed) quota.usedCount++;
    const { usedCount, sinceMs } = quota;
    return {
      isAllowed,
      leftCount: burst - usedCount,
      waitMs: Math.max(0, sinceMs + refillIntervalMs - nowMs),
      fullAgainMs: sinceMs + Math.ceil(usedCount / refillCount) * refillIntervalMs - nowMs,
    };
  }
}

export interface AddressRateLimiterOptions {
  readonly limit: RateLimit;
  /** Addresses per minute that are counted separately; all others share one quota. */
  readonly addressCountMax: number;
  /** Milliseconds; the clock may be set back. */
  readonly now: () => number;
}

/** Quotas that have been used within one minute. */
interface Window {
  readonly limiter: RateLimiter;
  readonly startMs: number;
}

const WINDOW_MS = 60_000;
/** Quota of all addresses above `addressCountMax`. */
const SHARED_BUCKET = "others";

/** Limits permits by client address. The memory is bounded: all quotas are forgotten every minute. */
export class AddressRateLimiter {
  readonly #options: AddressRateLimiterOptions;
  #window: Window;

  constructor(options: AddressRateLimiterOptions) {
    this.#options = options;
    this.#window = this.#newWindow();
  }

  /** Consumes a permit of an address if one is left. */
  consume(address: string): Consumption {
    const nowMs = this.#options.now();
    const ageMs = nowMs - this.#window.startMs;
    // A new window also starts when the clock is set back; otherwise this one would last until the clock caught up.
    if (ageMs < 0 || ageMs >= WINDOW_MS) this.#window = this.#newWindow();
    const { limiter } = this.#window;
    const network = networkOf(address);
    const isCounted = limiter.has(network) || limiter.keyCount < this.#options.addressCountMax;
    return limiter.consume(isCounted ? network : SHARED_BUCKET, nowMs);
  }

  /** Returns whether an address has a separate quota, since it consumed its first permit within the minute. */
  isCounted(address: string): boolean {
    return this.#window.limiter.has(networkOf(address));
  }

  #newWindow(): Window {
    const { limit, now } = this.#options;
    return { limiter: new RateLimiter(limit), startMs: now() };
  }
}

export interface RateLimits {
  readonly requestsPerS: number;
  readonly requestBurst: number;
}

/** Kinds of requests with separate limits, as the header fields name them, and what the message of a rejection calls them. */
const KINDS = { account: "request", tiles: "map tile" } as const;
export type RateLimitKind = keyof typeof KINDS;

/**
 * Rejections of an account that are tolerated, as multiples of its sustained rate and of its burst. Clients that exceed
 * their rate by mistake stay below.
 */
const TOLERATED_RATE_FACTOR = 2;
const TOLERATED_BURST_FACTOR = 10;

/** Limits each account to a sustained request rate and a burst. Rejected requests do not consume quota. */
export class AccountRateLimiter {
  /** Value of the header `RateLimit-Policy`. */
  readonly policy: string;
  readonly #kind: RateLimitKind;
  /** Has at most one entry per account, because only authenticated requests are counted. */
  readonly #limiter: RateLimiter;
  readonly #rejections: RateLimiter;

  constructor({ requestsPerS, requestBurst }: RateLimits, kind: RateLimitKind = "account") {
    this.#kind = kind;
    this.#limiter = new RateLimiter({ burst: requestBurst, refillCount: 1, refillIntervalMs: 1000 / requestsPerS });
    this.#rejections = new RateLimiter({
      burst: TOLERATED_BURST_FACTOR * requestBurst,
      refillCount: 1,
      refillIntervalMs: 1000 / (TOLERATED_RATE_FACTOR * requestsPerS),
    });
    this.policy = `"${kind}";q=${requestBurst};w=${Math.max(1, Math.ceil(requestBurst / requestsPerS))}`;
  }

  /**
   * Counts one request.
   * @returns the value of the header `RateLimit`: requests left in the burst, and seconds until the burst is full again
   * @throws Fault `rate_limited` with Retry-After
   */
  consume(accountId: string, nowMs: number): string {
    const { isAllowed, leftCount, waitMs, fullAgainMs } = this.#limiter.consume(accountId, nowMs);
    if (isAllowed) return `"${this.#kind}";r=${leftCount};t=${Math.ceil(fullAgainMs / 1000)}`;
    const waitS = retryAfterOf(waitMs);
    throw new Fault("rate_limited", `The account exceeded its ${KINDS[this.#kind]} rate; retry in ${waitS} s.`, {
      headers: {
        RateLimit: `"${this.#kind}";r=0;t=${waitS}`,
        "RateLimit-Policy": this.policy,
        "Retry-After": String(waitS),
      },
    });
  }

  /** Counts a rejected request. @returns whether the account keeps sending far above its rate */
  countRejection(accountId: string, nowMs: number): boolean {
    return !this.#rejections.consume(accountId, nowMs).isAllowed;
  }
}

/** Limits on requests without a known API key; separate from those on requests with one. */
export interface ClientLimits {
  /**
   * Requests per second from one address (IPv6: /64 network) that present no API key which has been valid before, sustained
   * and in a burst. Default 50 and 200.
   */
  readonly openRequestsPerS: number;
  readonly openRequestBurst: number;
  /**
   * Requests per second from one address to /healthz and /readyz, sustained and in a burst. OPTIONS requests have the same
   * limits, and are counted separately. Default 200 and 1,000.
   */
  readonly probesPerS: number;
  readonly probeBurst: number;
  /** Keys that are looked up in the ledger at the same time; those from one address are at most a quarter. Default 256. */
  readonly keyLookupsMax: number;
  /** Addresses and CIDR ranges that are not limited by address. Default: the loopback addresses. */
  readonly exemptAddresses: readonly string[];
}

export const DEFAULT_CLIENT_LIMITS: ClientLimits = {
  openRequestsPerS: 50,
  openRequestBurst: 200,
  // Far above the health checks that load balancers and Kubernetes send from one address: a rejected one would take the service out of use.
  probesPerS: 200,
  probeBurst: 1_000,
  keyLookupsMax: 256,
  exemptAddresses: ["127.0.0.0/8", "::1"],
};

/** Why a request without a known key was rejected: values of the label `reason` of the metric `isotherm_shed_total`. */
type ClientShedReason = "too_many_open_requests_of_address" | "too_many_key_lookups";

/** Requests that are cheap to answer, and what the message of a rejection calls them. Each kind has its own limit. */
const LIGHT_REQUESTS = { probe: "health checks", options: "OPTIONS requests" } as const;
export type LightRequestKind = keyof typeof LIGHT_REQUESTS;

/** Addresses that are counted separately within a minute. */
const ADDRESS_COUNT_MAX = 50_000;
const ADDRESS_SHARE = 1 / 4;
/** Rejected keys per address and minute. Valid keys are not limited. */
const REJECTED_KEYS: RateLimit = { burst: 20, refillCount: 20, refillIntervalMs: WINDOW_MS };

/** The parts of a request that identify its client. */
export interface ClientRequest {
  readonly socket: { readonly remoteAddress?: string | undefined };
  readonly headers: IncomingHttpHeaders;
}

export interface ClientGateOptions {
  readonly limits: ClientLimits;
  readonly addresses: {
    of(request: ClientRequest): string;
    isLimited(address: string): boolean;
  };
  readonly onShed: (reason: ClientShedReason) => void;
  /** Addresses that are counted separately within a minute. Default 50,000. */
  readonly addressCountMax?: number;
  /** Milliseconds; a monotonic clock. */
  readonly now?: () => number;
}

/** Limits what clients without a known API key may use: requests by address, and lookups of keys in the ledger. */
export class ClientGate {
  readonly #options: ClientGateOptions;
  readonly #requests: AddressRateLimiter;
  readonly #lightRequests: Readonly<Record<LightRequestKind, AddressRateLimiter>>;
  readonly #rejectedKeys: AddressRateLimiter;
  readonly #lookupsByNetwork = new Map<string, number>();
  #lookupCount = 0;

  constructor(options: ClientGateOptions) {
    this.#options = options;
    const { openRequestsPerS, openRequestBurst, probesPerS, probeBurst } = options.limits;
    const { now = () => performance.now() } = options;
    const addressCountMax = options.addressCountMax ?? ADDRESS_COUNT_MAX;
    const newLimiter = (burst: number, perS: number): AddressRateLimiter => {
      const limit = { burst, refillCount: 1, refillIntervalMs: 1000 / perS };
      return new AddressRateLimiter({ limit, addressCountMax, now });
    };
    this.#rejectedKeys = new AddressRateLimiter({ limit: REJECTED_KEYS, addressCountMax, now });
    this.#requests = newLimiter(openRequestBurst, openRequestsPerS);
    this.#lightRequests = { probe: newLimiter(probeBurst, probesPerS), options: newLimiter(probeBurst, probesPerS) };
  }

  /** Lookups in progress. */
  get lookupCount(): number {
    return this.#lookupCount;
  }

  addressOf(request: ClientRequest): string {
    return this.#options.addresses.of(request);
  }

  /** Counts a request without a known key. @throws Fault `rate_limited` if its address has sent too many */
  admitRequest(address: string): void {
    const retryAfterS = this.#consume(address);
    if (retryAfterS !== undefined) throw this.#tooMany("requests without a valid API key", retryAfterS);
  }

  /**
   * Counts a request that is cheap to answer.
   * @throws Fault `rate_limited` if its address has sent too many of the kind
   */
  admitLightRequest(kind: LightRequestKind, address: string): void {
    if (!this.#options.addresses.isLimited(address)) return;
    const limiter = this.#lightRequests[kind];
    const { isAllowed, waitMs } = limiter.consume(address);
    // Addresses that share a quota are not limited, because others may have used it up, and a load balancer may be among them.
    if (isAllowed || !limiter.isCounted(address)) return;
    throw this.#tooMany(LIGHT_REQUESTS[kind], retryAfterOf(waitMs));
  }

  /**
   * Counts a rejected key.
   * @returns seconds until the address may send another one; undefined if it has not sent too many
   */
  countRejectedKey(address: string): number | undefined {
    const { isAllowed, waitMs } = this.#rejectedKeys.consume(address);
    return isAllowed ? undefined : retryAfterOf(waitMs);
  }

  /** Counts a request that has been rejected already. @returns whether its address has sent too many */
  countRejected(address: string): boolean {
    return this.#consume(address) !== undefined;
  }

  /**
   * Reserves the lookup of a key.
   * @returns a function that releases the reservation
   * @throws Fault `rate_limited` as `admitRequest` does; `overloaded` if too many lookups are in progress
   */
  startLookup(address: string): () => void {
    this.admitRequest(address);
    const { limits, addresses, onShed } = this.#options;
    const network = networkOf(address);
    const ownCount = this.#lookupsByNetwork.get(network) ?? 0;
    const ownCountMax = Math.max(1, limits.keyLookupsMax * (addresses.isLimited(address) ? ADDRESS_SHARE : 1));
    if (this.#lookupCount >= limits.keyLookupsMax || ownCount >= ownCountMax) {
      onShed("too_many_key_lookups");
      throw new Fault("overloaded", "The service is checking too many API keys; retry in a moment.");
    }
    this.#lookupCount++;
    this.#lookupsByNetwork.set(network, ownCount + 1);
    return () => {
      this.#lookupCount--;
      const leftCount = (this.#lookupsByNetwork.get(network) ?? 1) - 1;
      if (leftCount === 0) this.#lookupsByNetwork.delete(network);
      else this.#lookupsByNetwork.set(network, leftCount);
    };
  }

  /** @returns seconds after which a request of the address would be admitted; undefined if this one is */
  #consume(address: string): number | undefined {
    if (!this.#options.addresses.isLimited(address)) return undefined;
    const { isAllowed, waitMs } = this.#requests.consume(address);
    return isAllowed ? undefined : retryAfterOf(waitMs);
  }

  /** Returns the error of a request whose address has sent too many. */
  #tooMany(requests: string, retryAfterS: number): Fault {
    this.#options.onShed("too_many_open_requests_of_address");
    const message = `Too many ${requests} from this address; retry in ${retryAfterS} s.`;
    return new Fault("rate_limited", message, { headers: { "Retry-After": String(retryAfterS) } });
  }
}

function retryAfterOf(waitMs: number): number {
  return Math.max(1, Math.ceil(waitMs / 1000));
}
