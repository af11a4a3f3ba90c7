import { Refusal } from "./problem.ts";

/** How much the host takes upon itself at a time. */
export interface LoadLimits {
  /** Requests in work, on all connections. */
  readonly requestsInWorkMax: number;
  /** Bodies in memory, bytes: those that are being read and those that are in work. */
  readonly bodyBytesMax: number;
}

/** Why a request was refused. */
export type LoadShedReason = "too_many_requests" | "too_many_bodies";

export const DEFAULT_LOAD: LoadLimits = { requestsInWorkMax: 2048, bodyBytesMax: 256 << 20 };

/** What is in work, so that what is too much is refused before it costs anything. */
export class Load {
  readonly #limits: LoadLimits;
  readonly #onShed: (reason: LoadShedReason) => void;
  #requestCount = 0;
  #bodyBytes = 0;

  /** @param onShed is told of each refusal */
  constructor(limits: LoadLimits, onShed: (reason: LoadShedReason) => void) {
    this.#limits = limits;
    this.#onShed = onShed;
  }

  /** @throws Refusal `overloaded` */
  enter(): void {
    if (this.#requestCount >= this.#limits.requestsInWorkMax) {
      this.#onShed("too_many_requests");
      throw new Refusal("overloaded", "The service has too many requests in work; ask again in a moment.");
    }
    this.#requestCount++;
  }

  leave(): void {
    this.#requestCount--;
  }

  /** @throws Refusal `overloaded` */
  reserveBody(sizeBytes: number): void {
    // A body that is allowed at all must have a chance, however little is allowed at a time.
    if (this.#bodyBytes > 0 && this.#bodyBytes + sizeBytes > this.#limits.bodyBytesMax) {
      this.#onShed("too_many_bodies");
      throw new Refusal("overloaded", "The service is reading too many bodies; ask again in a moment.");
    }
    this.#bodyBytes += sizeBytes;
  }

  releaseBody(sizeBytes: number): void {
    this.#bodyBytes -= sizeBytes;
  }
}
