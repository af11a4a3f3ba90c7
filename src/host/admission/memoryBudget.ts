/** Memory held by one account; part of its resources. */
export interface MemoryHolder {
  memoryBytes: number;
}

/** Why memory was refused: the share of the account, or the total. */
export type MemoryShortage = "account" | "total";

/** Memory of the text and the strings of a parsed body, in multiples of its size. */
const TEXT_BYTES_PER_BYTE = 2;

/** Default of the largest request body. */
export const DEFAULT_BODY_BYTES_MAX = 8 << 20;
/** Requests that may wait for memory; further ones do not wait. */
const WAITING_COUNT_MAX = 64;
/** Requests of one account that may wait for memory. */
const WAITING_PER_HOLDER_MAX = 8;

interface Waiter {
  readonly holder: MemoryHolder | undefined;
  /** Ends the wait if there is enough memory now. @returns whether there is */
  onRelease(): boolean;
}

/**
 * Estimates the memory that parsing a body takes in addition to the body: `2 * sizeBytes + valueBytes`.
 * @param valueBytes estimated memory of its values
 */
export function estimateParsedBytes(sizeBytes: number, valueBytes: number): number {
  return TEXT_BYTES_PER_BYTE * sizeBytes + valueBytes;
}

/** Returns what a body and its text take if it contains few values: the least that a body of this size takes. */
export function plainBodyMemoryBytes(sizeBytes: number): number {
  return sizeBytes + estimateParsedBytes(sizeBytes, 0);
}

/**
 * The memory that requests may hold together: bodies, parsed values, partial results and responses. One account may hold
 * a share of it.
 */
export class MemoryBudget {
  readonly #limitBytes: number;
  readonly #accountShare: number;
  #heldBytes = 0;
  /** Requests that wait for memory, in the order of their arrival. */
  readonly #waiting = new Set<Waiter>();

  constructor({ limitBytes, accountShare }: { readonly limitBytes: number; readonly accountShare: number }) {
    this.#limitBytes = limitBytes;
    this.#accountShare = accountShare;
  }

  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** What one account, and therefore one request, may hold. */
  get accountLimitBytes(): number {
    return this.#limitBytes * this.#accountShare;
  }

  /**
   * Returns which limit `sizeBytes` more would exceed.
   * @param ownBytes what the request already holds; a request that is the only one to hold memory is never refused
   */
  shortage(holder: MemoryHolder | undefined, sizeBytes: number, ownBytes: number): MemoryShortage | undefined {
    const exceeds = (heldBytes: number, limitBytes: number): boolean =>
      heldBytes > ownBytes && heldBytes + sizeBytes > limitBytes;
    if (holder !== undefined && exceeds(holder.memoryBytes, this.accountLimitBytes)) return "account";
    return exceeds(this.#heldBytes, this.#limitBytes) ? "total" : undefined;
  }

  /** Counts memory, or releases it if `sizeBytes` is negative. */
  add(holder: MemoryHolder | undefined, sizeBytes: number): void {
    this.#heldBytes += sizeBytes;
    if (holder !== undefined) holder.memoryBytes += sizeBytes;
    if (sizeBytes >= 0) return;
    for (const waiter of this.#waiting) if (waiter.onRelease()) break;
  }

  /**
   * Waits until there is memory, or for a time at most. Released memory is offered to the request that has waited longest
   * among those for which there is enough: the shares of their accounts differ.
   * @param isEnough whether there is memory now
   */
  async waitFor(
    holder: MemoryHolder | undefined,
    { isEnough, timeMsMax }: { readonly isEnough: () => boolean; readonly timeMsMax: number },
  ): Promise<void> {
    if (isEnough() || this.#waiting.size >= WAITING_COUNT_MAX) return;
    let ownCount = 0;
    for (const waiter of this.#waiting) if (waiter.holder === holder) ownCount++;
    if (ownCount >= WAITING_PER_HOLDER_MAX) return;
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(waiter);
        resolve();
      };
      const waiter: Waiter = {
        holder,
        onRelease: () => {
          const isReleased = isEnough();
          if (isReleased) finish();
          return isReleased;
        },
      };
      const timer = setTimeout(finish, timeMsMax);
      this.#waiting.add(waiter);
    });
  }
}
