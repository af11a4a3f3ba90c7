import { IsothermError, isProblem } from "./problem.ts";

/** When a call that may succeed later is sent again. */
export interface RetryOptions {
  /** Times that a call is sent in all, 1 or more. Default 4. */
  readonly attempts?: number;
  /** Longest wait before one of them. A service that asks for a longer one is not asked again. Default 30 s. */
  readonly delayMsMax?: number;
}

/** What an answer said of itself. */
export interface AnswerNotes {
  /** To be named when asking the operator. */
  readonly requestId: string | undefined;
  /** What a data call has been counted as. */
  readonly usageUnits: number | undefined;
  /** The set of numbers that hazards were answered from. */
  readonly atlasRelease: string | undefined;
}

export interface TransportOptions {
  readonly baseUrl: string | URL;
  readonly apiKey: string | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly retry: RetryOptions;
  readonly onAnswer: ((notes: AnswerNotes) => void) | undefined;
}

export interface Call {
  readonly method: "GET" | "POST" | "DELETE";
  /** With its query part. */
  readonly path: string;
  /** JSON. */
  readonly body?: string;
  /** Set on data calls, which are counted. */
  readonly customerId?: string | undefined;
  readonly isData?: boolean;
  readonly signal?: AbortSignal | undefined;
}

const ATTEMPTS = 4;
const DELAY_MS_MAX = 30_000;
/** The first wait is this at most, each later one twice the one before. */
const DELAY_MS_FIRST = 250;
/** What proxies say of a service that is not to be had for a moment. */
const TRANSIENT_STATUSES = new Set([502, 503, 504]);

/** Carries calls to the service, again where that can help and can do no harm. */
export class Transport {
  readonly baseUrl: string;
  readonly #options: TransportOptions;
  readonly #attempts: number;
  readonly #delayMsMax: number;

  /** @throws TypeError when `baseUrl` is no address; RangeError when an option of `retry` is out of range */
  constructor(options: TransportOptions) {
    const { attempts = ATTEMPTS, delayMsMax = DELAY_MS_MAX } = options.retry;
    if (!(Number.isInteger(attempts) && attempts >= 1)) throw new RangeError(`attempts must be 1 or more: ${attempts}`);
    if (!(delayMsMax >= 0)) throw new RangeError(`delayMsMax must be 0 or more: ${delayMsMax}`);
    this.baseUrl = new URL(options.baseUrl).href.replace(/\/+$/, "");
    this.#options = options;
    this.#attempts = attempts;
    this.#delayMsMax = delayMsMax;
  }

  /** The JSON of an answer. */
  async json(call: Call): Promise<unknown> {
    const { status, text } = await this.text(call);
    const value = parseJson(text);
    if (value === undefined) throw this.#unexpectedResponse(status);
    return value;
  }

  /**
   * The text of an answer.
   * @throws IsothermError when the service refuses; what `fetch` throws when it cannot be reached; the signal's reason
   */
  async text(call: Call): Promise<{ readonly status: number; readonly text: string }> {
    const headers = this.#headersOf(call);
    for (let attempt = 1; ; attempt++) {
      const outcome = await this.#attempt(call, headers);
      if ("text" in outcome) return outcome;
      call.signal?.throwIfAborted();
      const delayMs =
        outcome.isTransient && attempt < this.#attempts ? this.#delayMs(attempt, outcome.retryAfterMs) : undefined;
      if (delayMs === undefined) throw outcome.error;
      await delay(delayMs, call.signal);
    }
  }

  #headersOf({ body, customerId, isData }: Call): Readonly<Record<string, string>> {
    const { apiKey } = this.#options;
    return {
      Accept: "application/json, application/problem+json",
      ...(apiKey === undefined ? {} : { "X-API-Key": apiKey }),
      ...(customerId === undefined ? {} : { "X-Customer-ID": customerId }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      // The same on every attempt: whichever of them was counted, the others are not.
      ...(isData === true ? { "Idempotency-Key": randomKey() } : {}),
    };
  }

  async #attempt({ method, path, body, signal }: Call, headers: Readonly<Record<string, string>>): Promise<Attempt> {
    let response: Response;
    let text: string;
    try {
      response = await this.#options.fetch(`${this.baseUrl}${path}`, {
        method,
        headers,
        // A key is for this service, not for where it may point to.
        redirect: "error",
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      });
      text = await response.text();
    } catch (error) {
      // Every call is safe to send again: it reads, or says the same twice, or carries a key that counts it once.
      return { error, isTransient: true };
    }
    const { status, ok } = response;
    if (ok) {
      this.#options.onAnswer?.(notesOf(response.headers));
      return { status, text };
    }
    const problem = parseJson(text);
    const retryAfterMs = parseRetryAfter(response.headers);
    if (!isProblem(problem))
      return { error: this.#unexpectedResponse(status), isTransient: TRANSIENT_STATUSES.has(status), retryAfterMs };
    const error = new IsothermError(`${problem.code}: ${problem.detail}`, { status, problem });
    return { error, isTransient: problem.retryable, retryAfterMs };
  }

  /** Full jitter, so that clients which were refused together do not come back together. */
  #delayMs(attempt: number, retryAfterMs = 0): number | undefined {
    if (retryAfterMs > this.#delayMsMax) return undefined;
    const spreadMs = Math.random() * DELAY_MS_FIRST * 2 ** (attempt - 1);
    return Math.min(this.#delayMsMax, retryAfterMs + spreadMs);
  }

  #unexpectedResponse(status: number): IsothermError {
    return new IsothermError(`${this.baseUrl} answered with status ${status}, but not as Isotherm does.`, { status });
  }
}

type Attempt =
  | { readonly status: number; readonly text: string }
  | { readonly error: unknown; readonly isTransient: boolean; readonly retryAfterMs?: number | undefined };

function notesOf(headers: Headers): AnswerNotes {
  const units = headers.get("X-Usage-Units");
  return {
    requestId: headers.get("X-Request-Id") ?? undefined,
    usageUnits: units === null ? undefined : Number(units),
    atlasRelease: headers.get("X-Atlas-Release") ?? undefined,
  };
}

/** Seconds, or a date (RFC 9110, 10.2.3). */
function parseRetryAfter(headers: Headers): number | undefined {
  const text = headers.get("Retry-After");
  if (text === null) return undefined;
  if (/^\s*[0-9]+\s*$/.test(text)) return Number(text) * 1000;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - Date.now());
}

/** 128 random bits. Not `randomUUID`, which browsers have on https pages alone. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function delay(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, delayMs);
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
