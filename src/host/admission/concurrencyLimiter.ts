import { Refusal } from "../problems/problem.ts";

/** Upper bounds on what the host holds at a time. */
export interface LoadLimits {
  /** Requests in progress, over all connections. */
  readonly requestsInWorkMax: number;
  /** Request bodies in memory, in bytes: both those being received and those being processed. */
  readonly bodyBytesMax: number;
  /** Responses that clients have not read yet, in bytes. */
  readonly answerBytesMax: number;
  /** Largest share of each limit that one account may use, in (0, 1]. */
  readonly accountShare: number;
}

/** Why a request was rejected; a label of the metric `isotherm_shed_total`. */
export type AdmissionShedReason =
  | "too_many_requests"
  | "too_many_requests_of_account"
  | "too_many_bodies"
  | "too_many_bodies_of_account"
  | "too_many_answers_unread"
  | "too_many_answers_unread_of_account";

export const DEFAULT_LOAD_LIMITS: LoadLimits = {
  requestsInWorkMax: 2048,
  bodyBytesMax: 256 << 20,
  answerBytesMax: 512 << 20,
  accountShare: 0.5,
};

/** Resources held by one account, or by all accounts together. */
interface HeldResources {
  requestCount: number;
  bodyBytes: number;
  responseBytes: number;
}

const noResources = (): HeldResources => ({ requestCount: 0, bodyBytes: 0, responseBytes: 0 });

/** Resources held by one request. */
export interface Slot {
  /** Undefined until the request is authenticated. */
  account: HeldResources | undefined;
  bodyBytes: number;
  /** Held until the client has read the response, which may be long after the slot is released. */
  responseBytes: number;
}

/** Limits requests in progress and the memory that they hold, and rejects the excess before it costs anything. */
export class ConcurrencyLimiter {
  readonly #limits: LoadLimits;
  readonly #onShed: (reason: AdmissionShedReason) => void;
  readonly #total = noResources();
  /** By account id. Bounded by the number of accounts, because only authenticated requests are assigned. */
  readonly #accounts = new Map<string, HeldResources>();

  /** @param onShed called for each rejected request */
  constructor(limits: LoadLimits, onShed: (reason: AdmissionShedReason) => void) {
    this.#limits = limits;
    this.#onShed = onShed;
  }

  /** Takes a slot. The caller must release it. @throws Refusal `overloaded` */
  acquire(): Slot {
    if (this.#total.requestCount >= this.#limits.requestsInWorkMax) {
      throw this.#shed("too_many_requests", "The service has too many requests in progress; retry in a moment.");
    }
    this.#total.requestCount++;
    return { account: undefined, bodyBytes: 0, responseBytes: 0 };
  }

  /** Counts a slot toward its account. @throws Refusal `overloaded` */
  assignAccount(slot: Slot, accountId: string): void {
    const { requestsInWorkMax, answerBytesMax, accountShare } = this.#limits;
    let account = this.#accounts.get(accountId);
    if (account === undefined) {
      account = noResources();
      this.#accounts.set(accountId, account);
    }
    if (account.requestCount >= Math.max(1, requestsInWorkMax * accountShare)) {
      const message = `The account has ${account.requestCount} requests in progress already; retry when some are answered.`;
      throw this.#shed("too_many_requests_of_account", message);
    }
    if (account.responseBytes >= answerBytesMax * accountShare) {
      const message = `The account has ${account.responseBytes >> 20} MiB of unread responses; read them first.`;
      throw this.#shed("too_many_answers_unread_of_account", message);
    }
    if (this.#total.responseBytes >= answerBytesMax) {
      const message = "The service holds too many unread responses; retry in a moment.";
      throw this.#shed("too_many_answers_unread", message);
    }
    account.requestCount++;
    slot.account = account;
  }

  /** Releases a slot and its body, but not its response (see `releaseResponse`). */
  release({ account, bodyBytes }: Slot): void {
    this.#total.requestCount--;
    this.#total.bodyBytes -= bodyBytes;
    if (account === undefined) return;
    account.requestCount--;
    account.bodyBytes -= bodyBytes;
  }

  /** Rejects a body that would exceed a limit. @throws Refusal `overloaded` */
  checkBody(slot: Slot, sizeBytes: number): void {
    const { bodyBytesMax, accountShare } = this.#limits;
    // A body is always accepted when no other body is held, even if it exceeds the limit on its own.
    const exceeds = (held: HeldResources | undefined, max: number): boolean =>
      held !== undefined && held.bodyBytes > slot.bodyBytes && held.bodyBytes + sizeBytes > max;
    if (exceeds(slot.account, bodyBytesMax * accountShare)) {
      const message = "The account sends too many request bodies at once; retry when some requests are answered.";
      throw this.#shed("too_many_bodies_of_account", message);
    }
    if (exceeds(this.#total, bodyBytesMax)) {
      throw this.#shed("too_many_bodies", "The service is reading too many request bodies; retry in a moment.");
    }
  }

  /** Counts received bytes of a body; bytes that are only announced are not counted. @throws Refusal `overloaded` */
  addBodyBytes(slot: Slot, sizeBytes: number): void {
    this.checkBody(slot, sizeBytes);
    slot.bodyBytes += sizeBytes;
    this.#total.bodyBytes += sizeBytes;
    if (slot.account !== undefined) slot.account.bodyBytes += sizeBytes;
  }

  /** Counts a response that is about to be written. */
  holdResponse(slot: Slot, sizeBytes: number): void {
    slot.responseBytes = sizeBytes;
    this.#total.responseBytes += sizeBytes;
    if (slot.account !== undefined) slot.account.responseBytes += sizeBytes;
  }

  /** Stops counting a response, after the client has read it or disconnected. */
  releaseResponse({ account, responseBytes }: Slot): void {
    this.#total.responseBytes -= responseBytes;
    if (account !== undefined) account.responseBytes -= responseBytes;
  }

  #shed(reason: AdmissionShedReason, message: string): Refusal {
    this.#onShed(reason);
    return new Refusal("overloaded", message);
  }
}
