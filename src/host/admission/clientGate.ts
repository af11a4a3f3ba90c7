import type { IncomingHttpHeaders } from "node:http";
import { AddressRateLimiter, networkOf } from "../../ledger/addressRateLimiter.ts";
import { HttpError } from "../problems/problem.ts";

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
  readonly #lookupsByNetwork = new Map<string, number>();
  #lookupCount = 0;

  constructor(options: ClientGateOptions) {
    this.#options = options;
    const { openRequestsPerS, openRequestBurst, probesPerS, probeBurst } = options.limits;
    const { now = () => performance.now() } = options;
    const newLimiter = (burst: number, perS: number): AddressRateLimiter =>
      new AddressRateLimiter({
        limit: { burst, refillCount: 1, refillIntervalMs: 1000 / perS },
        addressCountMax: options.addressCountMax ?? ADDRESS_COUNT_MAX,
        now,
      });
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

  /** Counts a request without a known key. @throws HttpError `rate_limited` if its address has sent too many */
  admitRequest(address: string): void {
    const retryAfterS = this.#consume(address);
    if (retryAfterS !== undefined) throw this.#tooMany("requests without a valid API key", retryAfterS);
  }

  /**
   * Counts a request that is cheap to answer.
   * @throws HttpError `rate_limited` if its address has sent too many of the kind
   */
  admitLightRequest(kind: LightRequestKind, address: string): void {
    if (!this.#options.addresses.isLimited(address)) return;
    const limiter = this.#lightRequests[kind];
    const { isAllowed, waitMs } = limiter.consume(address);
    // Addresses that share a quota are not limited, because others may have used it up, and a load balancer may be among them.
    if (isAllowed || !limiter.isCounted(address)) return;
    throw this.#tooMany(LIGHT_REQUESTS[kind], retryAfterOf(waitMs));
  }

  /** Counts a request that has been rejected already. @returns whether its address has sent too many */
  countRejected(address: string): boolean {
    return this.#consume(address) !== undefined;
  }

  /**
   * Reserves the lookup of a key.
   * @returns a function that releases the reservation
   * @throws HttpError `rate_limited` as `admitRequest` does; `overloaded` if too many lookups are in progress
   */
  startLookup(address: string): () => void {
    this.admitRequest(address);
    const { limits, addresses, onShed } = this.#options;
    const network = networkOf(address);
    const ownCount = this.#lookupsByNetwork.get(network) ?? 0;
    const ownCountMax = Math.max(1, limits.keyLookupsMax * (addresses.isLimited(address) ? ADDRESS_SHARE : 1));
    if (this.#lookupCount >= limits.keyLookupsMax || ownCount >= ownCountMax) {
      onShed("too_many_key_lookups");
      throw new HttpError("overloaded", "The service is checking too many API keys; retry in a moment.");
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
  #tooMany(requests: string, retryAfterS: number): HttpError {
    this.#options.onShed("too_many_open_requests_of_address");
    const message = `Too many ${requests} from this address; retry in ${retryAfterS} s.`;
    return new HttpError("rate_limited", message, { "Retry-After": String(retryAfterS) });
  }
}

function retryAfterOf(waitMs: number): number {
  return Math.max(1, Math.ceil(waitMs / 1000));
}
