import { AddressRateLimiter, type RateLimit } from "../admission/limiters.ts";

/** Which rejections are tolerated, and what follows. */
interface BlockRule {
  /** Rejected and invalid requests; further ones begin a block. */
  readonly rejections: RateLimit;
  readonly blockMs: number;
}

/** Rejections 10/s, 100 in a burst. A block saves more work than it costs to reject this many requests after it. */
const RULE: BlockRule = { rejections: { burst: 100, refillCount: 1, refillIntervalMs: 100 }, blockMs: 5_000 };
/**
 * The rule for an address that has also sent a valid key recently, for example of an office whose clients share it: 500
 * rejections per second, 1,000 in a burst, and shorter blocks.
 */
const VALID_KEYS_RULE: BlockRule = {
  rejections: { burst: 1_000, refillCount: 1, refillIntervalMs: 2 },
  blockMs: 1_000,
};
/** How long an address counts as one that has sent a valid key. */
const VALID_KEY_MS = 60_000;
/** Interval at which the time of an address's latest valid key is updated. */
const VALID_KEY_UPDATE_MS = 1_000;
const ADDRESS_COUNT_MAX = 50_000;

export interface AddressBlocksOptions {
  /**
   * Addresses that are remembered: the oldest blocks and valid keys are forgotten first, and of rejections those of
   * further addresses within a minute. Default 50,000.
   */
  readonly addressCountMax?: number;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

/**
 * The addresses (IPv6: /64 networks) whose new connections are closed at once, because most of what they send is rejected
 * anyway. Closing a connection takes a fraction of the time of reading and rejecting its request.
 */
export class AddressBlocks {
  readonly #addressCountMax: number;
  readonly #nowMs: () => number;
  readonly #rejections: AddressRateLimiter;
  readonly #rejectionsBesideValidKeys: AddressRateLimiter;
  /** End of the block by network, in the order in which the blocks began. */
  readonly #blockedUntilMs = new Map<string, number>();
  /** Time of the latest valid key by network, in that order. */
  readonly #validKeyAtMs = new Map<string, number>();

  constructor({ addressCountMax = ADDRESS_COUNT_MAX, nowMs = () => performance.now() }: AddressBlocksOptions = {}) {
    this.#addressCountMax = addressCountMax;
    this.#nowMs = nowMs;
    const newLimiter = ({ rejections }: BlockRule): AddressRateLimiter =>
      new AddressRateLimiter({ limit: rejections, addressCountMax, now: nowMs });
    this.#rejections = newLimiter(RULE);
    this.#rejectionsBesideValidKeys = newLimiter(VALID_KEYS_RULE);
  }

  isBlocked(network: string): boolean {
    const untilMs = this.#blockedUntilMs.get(network);
    if (untilMs === undefined) return false;
    if (this.#nowMs() < untilMs) return true;
    this.#blockedUntilMs.delete(network);
    return false;
  }

  /** Counts a request that was invalid HTTP, or rejected because its address has sent too many without a valid key. */
  countRejection(network: string): void {
    const nowMs = this.#nowMs();
    const validKeyAtMs = this.#validKeyAtMs.get(network);
    const hasValidKeys = validKeyAtMs !== undefined && nowMs - validKeyAtMs < VALID_KEY_MS;
    const limiter = hasValidKeys ? this.#rejectionsBesideValidKeys : this.#rejections;
    // Networks that share a quota are not blocked, because others may have used it up.
    if (limiter.consume(network).isAllowed || !limiter.isCounted(network)) return;
    const { blockMs } = hasValidKeys ? VALID_KEYS_RULE : RULE;
    this.#setLast(this.#blockedUntilMs, network, nowMs + blockMs);
  }

  /** Records that a request with a valid key has been answered. */
  countValidKey(network: string): void {
    const nowMs = this.#nowMs();
    const previousMs = this.#validKeyAtMs.get(network);
    if (previousMs !== undefined && nowMs - previousMs < VALID_KEY_UPDATE_MS) return;
    this.#setLast(this.#validKeyAtMs, network, nowMs);
  }

  /** Sets the time of a network, as the last one of a map of bounded size. */
  #setLast(times: Map<string, number>, network: string, timeMs: number): void {
    times.delete(network);
    times.set(network, timeMs);
    if (times.size <= this.#addressCountMax) return;
    const [oldest] = times.keys();
    if (oldest !== undefined) times.delete(oldest);
  }
}
