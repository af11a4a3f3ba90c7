import { Refusal } from "../problems/problem.ts";

/** How much the host takes upon itself at a time. */
export interface LoadLimits {
  /** Requests in work, on all connections. */
  readonly requestsInWorkMax: number;
  /** Bodies in memory, bytes: those that are being read and those that are in work. */
  readonly bodyBytesMax: number;
  /** Answers that wait for their clients to read them, bytes. */
  readonly answerBytesMax: number;
  /** Of each of these one account may have so much, so that nobody takes it all: above 0, 1 is all. */
  readonly accountShare: number;
}

/** Why a request was refused. */
export type ShedReason =
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

/** What is held for an account, or for all of them. */
interface HeldResources {
  requestCount: number;
  bodyBytes: number;
  answerBytes: number;
}

const nothing = (): HeldResources => ({ requestCount: 0, bodyBytes: 0, answerBytes: 0 });

/** What one request holds, until it is answered. */
export interface Slot {
  /** Absent until it is known who asks. */
  account: HeldResources | undefined;
  bodyBytes: number;
  /** Until the client has read them, which may be long after the request has left. */
  answerBytes: number;
}

/** What is in work, so that what is too much is refused before it costs anything. */
export class ConcurrencyLimiter {
  readonly #limits: LoadLimits;
  readonly #onShed: (reason: ShedReason) => void;
  readonly #all = nothing();
  /** Bounded by the number of accounts: only who has a key gets here. */
  readonly #accounts = new Map<string, HeldResources>();

  /** @param onShed is told of each refusal */
  constructor(limits: LoadLimits, onShed: (reason: ShedReason) => void) {
    this.#limits = limits;
    this.#onShed = onShed;
  }

  /** @throws Refusal `overloaded` */
  enter(): Slot {
    if (this.#all.requestCount >= this.#limits.requestsInWorkMax) {
      throw this.#shed("too_many_requests", "The service has too many requests in work; ask again in a moment.");
    }
    this.#all.requestCount++;
    return { account: undefined, bodyBytes: 0, answerBytes: 0 };
  }

  /** Says whose request it is. @throws Refusal `overloaded` */
  assign(place: Slot, accountId: string): void {
    const { requestsInWorkMax, answerBytesMax, accountShare } = this.#limits;
    let account = this.#accounts.get(accountId);
    if (account === undefined) {
      account = nothing();
      this.#accounts.set(accountId, account);
    }
    if (account.requestCount >= Math.max(1, requestsInWorkMax * accountShare)) {
      const message = `The account has ${account.requestCount} requests in work already; ask again when some are answered.`;
      throw this.#shed("too_many_requests_of_account", message);
    }
    if (account.answerBytes >= answerBytesMax * accountShare) {
      const message = `The account leaves ${account.answerBytes >> 20} MiB of answers unread; read them first.`;
      throw this.#shed("too_many_answers_unread_of_account", message);
    }
    if (this.#all.answerBytes >= answerBytesMax) {
      const message = "The service holds too many answers that nobody reads; ask again in a moment.";
      throw this.#shed("too_many_answers_unread", message);
    }
    account.requestCount++;
    place.account = account;
  }

  leave({ account, bodyBytes }: Slot): void {
    this.#all.requestCount--;
    this.#all.bodyBytes -= bodyBytes;
    if (account === undefined) return;
    account.requestCount--;
    account.bodyBytes -= bodyBytes;
  }

  /** Whether a body of this size would be too much. @throws Refusal `overloaded` */
  expectBody(place: Slot, sizeBytes: number): void {
    const { bodyBytesMax, accountShare } = this.#limits;
    // A body that is allowed at all must have a chance, however little is allowed at a time.
    const excess = (held: HeldResources | undefined, max: number): boolean =>
      held !== undefined && held.bodyBytes > place.bodyBytes && held.bodyBytes + sizeBytes > max;
    if (excess(place.account, bodyBytesMax * accountShare)) {
      const message = "The account sends too many bodies at a time; ask again when some are answered.";
      throw this.#shed("too_many_bodies_of_account", message);
    }
    if (excess(this.#all, bodyBytesMax)) {
      throw this.#shed("too_many_bodies", "The service is reading too many bodies; ask again in a moment.");
    }
  }

  /** Counts what has come of a body; what was only announced costs nothing. @throws Refusal `overloaded` */
  takeBody(place: Slot, sizeBytes: number): void {
    this.expectBody(place, sizeBytes);
    place.bodyBytes += sizeBytes;
    this.#all.bodyBytes += sizeBytes;
    if (place.account !== undefined) place.account.bodyBytes += sizeBytes;
  }

  /** Counts an answer that is about to go out. */
  keepAnswer(place: Slot, sizeBytes: number): void {
    place.answerBytes = sizeBytes;
    this.#all.answerBytes += sizeBytes;
    if (place.account !== undefined) place.account.answerBytes += sizeBytes;
  }

  /** The answer has been read, or nobody is there to read it. */
  releaseAnswer({ account, answerBytes }: Slot): void {
    this.#all.answerBytes -= answerBytes;
    if (account !== undefined) account.answerBytes -= answerBytes;
  }

  #shed(reason: ShedReason, message: string): Refusal {
    this.#onShed(reason);
    return new Refusal("overloaded", message);
  }
}
