import { ipv6Groups, plainAddress } from "./ipAddress.ts";
import { type Consumption, type RateLimit, RateLimiter } from "./rateLimiter.ts";

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

/**
 * Returns the network that a client address is counted by: for IPv6 the /64 network, because one client may control all
 * of it; for IPv4 the address, also if it is written as an IPv6 address (`::ffff:192.0.2.1` or `::ffff:c000:201`).
 */
export function networkOf(address: string): string {
  const plain = plainAddress(address);
  const groups = ipv6Groups(plain);
  return groups === undefined
    ? plain
    : groups
        .slice(0, 4)
        .map((group) => group.toString(16))
        .join(":");
}
