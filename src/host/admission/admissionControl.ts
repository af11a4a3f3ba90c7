import { Fault } from "../../errors.ts";
import { JobAdmission } from "./jobs.ts";
import {
  estimateParsedBytes,
  type HeldResources,
  type LoadLimits,
  MemoryBudget,
  type MemoryShortage,
  noResources,
  plainBodyMemoryBytes,
  type Reject,
  type ShedReason,
  type Slot,
} from "./resources.ts";

/** How long a request waits for memory before its body is read. Short, because its connection and slot are held meanwhile. */
const MEMORY_WAIT_MS = 500;

/**
 * Average interval between the short chunks of one account. Node.js takes 2 to 3 µs for each chunk of a body, however
 * short, so at this interval they occupy at most a seventh of the event loop.
 */
const MS_PER_CHUNK = 0.02;

/** The memory of a body. */
export interface BodyMemory {
  /** Size of the allocated memory. */
  readonly heldBytes: number;
  /** Bytes received. */
  readonly sizeBytes: number;
  /** Estimated memory of the values among them. */
  readonly valueBytes: number;
}

export interface AdmissionOptions {
  readonly limits: LoadLimits;
  /** Number of worker threads. */
  readonly workerCount: number;
  /** Called for each rejected request. */
  readonly onShed: (reason: ShedReason) => void;
  /** A monotonic clock. */
  readonly nowMs?: () => number;
}

/**
 * Limits the requests in progress, the large ones among them ("jobs"), and the memory that they hold. Rejects further
 * requests before it does any work for them.
 */
export class AdmissionControl {
  readonly jobs: JobAdmission;
  readonly #limits: LoadLimits;
  readonly #onShed: (reason: ShedReason) => void;
  readonly #total = noResources();
  /** Resources by account id. Their number is that of the accounts at most, because only authenticated requests are assigned. */
  readonly #accounts = new Map<string, HeldResources>();
  readonly #memory: MemoryBudget;
  readonly #nowMs: () => number;

  constructor({ limits, workerCount, onShed, nowMs = () => performance.now() }: AdmissionOptions) {
    this.#limits = limits;
    this.#onShed = onShed;
    this.#nowMs = nowMs;
    this.#memory = new MemoryBudget({ limitBytes: limits.memoryBytesMax, accountShare: limits.accountShare });
    this.jobs = new JobAdmission({ limits, workerCount, memory: this.#memory, reject: this.reject, nowMs });
  }

  /** Takes a slot of an account. The caller must release it. @throws Fault `overloaded` */
  acquire(accountId: string): Slot {
    const { requestsInProgressMax, responseBytesMax, accountShare } = this.#limits;
    if (this.#total.requestCount >= requestsInProgressMax) {
      throw this.reject("too_many_requests", "The service has too many requests in progress; retry in a moment.");
    }
    let account = this.#accounts.get(accountId);
    if (account === undefined) {
      account = noResources();
      this.#accounts.set(accountId, account);
    }
    if (account.requestCount >= Math.max(1, requestsInProgressMax * accountShare)) {
      const message = `The account already has ${account.requestCount} requests in progress; retry when some have been answered.`;
      throw this.reject("too_many_requests_of_account", message);
    }
    if (account.responseBytes >= responseBytesMax * accountShare) {
      const message = `The account has ${account.responseBytes >> 20} MiB of unread responses; read them first.`;
      throw this.reject("too_many_answers_unread_of_account", message);
    }
    if (this.#total.responseBytes >= responseBytesMax) {
      const message = "The service holds too many unread responses; retry in a moment.";
      throw this.reject("too_many_answers_unread", message);
    }
    this.#total.requestCount++;
    account.requestCount++;
    return { account, bodyBytes: 0, parsedBytes: 0, answerBytes: 0, responseBytes: 0, isStream: false };
  }

  /** Releases a slot and its body, but not its response (see `releaseResponse`). */
  release({ account, bodyBytes, parsedBytes, answerBytes }: Slot): void {
    this.#memory.add(account, -bodyBytes - parsedBytes - answerBytes);
    this.#total.requestCount--;
    this.#total.bodyBytes -= bodyBytes;
    account.requestCount--;
    account.bodyBytes -= bodyBytes;
  }

  /**
   * Rejects a body that would exceed a limit if it had this size. If there is too little memory, waits briefly for other
   * requests to release theirs.
   * @returns undefined if the body is admitted at once
   * @throws Fault `overloaded`, `body_too_large` if the request would take more than the share of an account
   */
  admitBody(slot: Slot, sizeBytes: number): Promise<void> | undefined {
    const memoryBytes = plainBodyMemoryBytes(sizeBytes);
    this.#checkRequestMemory(memoryBytes);
    this.#checkBodyBytes(slot, sizeBytes);
    const isEnough = (): boolean => this.#memoryShortage(slot, memoryBytes) === undefined;
    if (isEnough()) return undefined;
    return this.#memory.waitFor(slot.account, { isEnough, timeMsMax: MEMORY_WAIT_MS }).then(() => {
      this.#checkBodyBytes(slot, sizeBytes);
      this.#checkMemory(slot, memoryBytes);
    });
  }

  #checkBodyBytes(slot: Slot, sizeBytes: number): void {
    const { totalBodyBytesMax, accountShare } = this.#limits;
    // A body is always accepted if no other body is held, even if it alone exceeds the limit.
    const exceeds = (held: HeldResources, max: number): boolean =>
      held.bodyBytes > slot.bodyBytes && held.bodyBytes + sizeBytes > max;
    if (exceeds(slot.account, totalBodyBytesMax * accountShare)) {
      const message = "The account sends too many request bodies at once; retry when some requests have been answered.";
      throw this.reject("too_many_bodies_of_account", message);
    }
    if (exceeds(this.#total, totalBodyBytesMax)) {
      throw this.reject("too_many_bodies", "The service is reading too many request bodies; retry in a moment.");
    }
  }

  /** Rejects a body that alone exceeds the share of an account, so that there is always memory for other accounts. */
  #checkRequestMemory(memoryBytes: number): void {
    const limitBytes = this.#memory.accountLimitBytes;
    if (memoryBytes <= limitBytes) return;
    const message =
      `The body would take at least ${toMebibytes(memoryBytes)} of memory, estimated from its size, lists, objects and ` +
      `values; one account may use ${toMebibytes(limitBytes)}. Split the request.`;
    throw new Fault("body_too_large", message);
  }

  #memoryShortage(slot: Slot, sizeBytes: number): MemoryShortage | undefined {
    return this.#memory.shortage(slot.account, sizeBytes, slot.bodyBytes + slot.parsedBytes + slot.answerBytes);
  }

  #checkMemory(slot: Slot, sizeBytes: number): void {
    const shortage = this.#memoryShortage(slot, sizeBytes);
    if (shortage !== undefined) throw this.jobs.outOfMemory(shortage);
  }

  /**
   * Sets the memory that a body holds, and what it will hold when it has been parsed. Bytes that are only announced are
   * not counted.
   * @throws Fault `overloaded`, `body_too_large` if the request takes more than the share of an account
   */
  setBody(slot: Slot, { heldBytes, sizeBytes, valueBytes }: BodyMemory): void {
    const addedBytes = heldBytes - slot.bodyBytes;
    const parsedBytes = estimateParsedBytes(sizeBytes, valueBytes);
    this.#checkRequestMemory(heldBytes + parsedBytes);
    const addedMemoryBytes = addedBytes + parsedBytes - slot.parsedBytes;
    if (addedBytes > 0) this.#checkBodyBytes(slot, addedBytes);
    if (addedMemoryBytes > 0) this.#checkMemory(slot, addedMemoryBytes);
    this.#memory.add(slot.account, addedMemoryBytes);
    slot.parsedBytes = parsedBytes;
    slot.bodyBytes += addedBytes;
    this.#total.bodyBytes += addedBytes;
    slot.account.bodyBytes += addedBytes;
  }

  /** Counts short chunks of a body. @returns the time to wait before further ones are read */
  shortChunksDelayMs({ account }: Slot, chunkCount: number): number {
    const nowMs = this.#nowMs();
    account.chunksDueMs = Math.max(nowMs, account.chunksDueMs) + chunkCount * MS_PER_CHUNK;
    return account.chunksDueMs - nowMs;
  }

  /**
   * Counts a response while it is being compressed, in place of the parsed body, which is no longer used.
   * @param sizeBytes size of the response and of its copies
   * @throws Fault `overloaded` if the account would exceed its share of the memory; that of other accounts does not matter
   */
  holdAnswer(slot: Slot, sizeBytes: number): void {
    const addedBytes = sizeBytes - slot.answerBytes - slot.parsedBytes;
    this.#checkAccountMemory(slot, addedBytes);
    this.#memory.add(slot.account, addedBytes);
    slot.parsedBytes = 0;
    slot.answerBytes = sizeBytes;
  }

  /** Counts compressed bytes in addition; they are much smaller than the response, and therefore never rejected. */
  growAnswer(slot: Slot, addedBytes: number): void {
    this.#memory.add(slot.account, addedBytes);
    slot.answerBytes += addedBytes;
  }

  /**
   * Counts a response that is about to be recorded and written, in place of `holdAnswer`. The body, which is released next,
   * leaves room for it.
   * @throws Fault `overloaded` if the account would exceed its share of the memory; that of other accounts does not matter
   */
  holdResponse(slot: Slot, sizeBytes: number): void {
    this.#checkAccountMemory(slot, sizeBytes - slot.bodyBytes - slot.parsedBytes - slot.answerBytes);
    this.#addResponse(slot, { sizeBytes, addedBytes: sizeBytes - slot.answerBytes });
    slot.answerBytes = 0;
  }

  /**
   * Counts a streamed response with the memory that it may take at a time, until `releaseResponse`. Called before any of
   * it is read.
   * @throws Fault `overloaded` if the account has too many of them, or there is too little memory
   */
  holdStream(slot: Slot, sizeBytes: number): void {
    const { account } = slot;
    if (account.streamCount >= this.#limits.streamsPerAccountMax) {
      const message = `The account is already being sent ${account.streamCount} streamed responses; retry when one has been read.`;
      throw this.reject("too_many_streams_of_account", message);
    }
    this.#checkMemory(slot, sizeBytes);
    slot.isStream = true;
    account.streamCount++;
    this.#addResponse(slot, { sizeBytes, addedBytes: sizeBytes });
  }

  #addResponse(
    slot: Slot,
    { sizeBytes, addedBytes }: { readonly sizeBytes: number; readonly addedBytes: number },
  ): void {
    const { account } = slot;
    this.#memory.add(account, addedBytes);
    slot.responseBytes = sizeBytes;
    this.#total.responseBytes += sizeBytes;
    account.responseBytes += sizeBytes;
  }

  #checkAccountMemory(slot: Slot, addedBytes: number): void {
    const shortage = addedBytes > 0 ? this.#memoryShortage(slot, addedBytes) : undefined;
    if (shortage === "account") throw this.jobs.outOfMemory(shortage);
  }

  /** Stops counting a response, if there is one: after the client has read it or disconnected, or if it is not sent. */
  releaseResponse(slot: Slot): void {
    const { account, responseBytes, isStream } = slot;
    slot.responseBytes = 0;
    slot.isStream = false;
    this.#memory.add(account, -responseBytes);
    this.#total.responseBytes -= responseBytes;
    account.responseBytes -= responseBytes;
    if (isStream) account.streamCount--;
  }

  /** Counts a rejection. @returns the error to throw */
  readonly reject: Reject = (reason, message, retryAfterS) => {
    this.#onShed(reason);
    if (retryAfterS === undefined) return new Fault("overloaded", message);
    return new Fault("overloaded", message, {
      headers: { "Retry-After": String(Math.max(1, Math.ceil(retryAfterS))) },
    });
  };
}

/** Returns a size to be read by people, not rounded to the other side of a limit. */
const toMebibytes = (bytes: number): string => `${(Math.ceil(bytes / 2 ** 10) / 2 ** 10).toFixed(2)} MiB`;
