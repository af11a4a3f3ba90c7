import { IsothermError, isProblem } from "./problem.ts";

/** Limits on retries of failed calls. */
export interface RetryOptions {
  /** Maximum number of attempts including the first, 1 or more. Default 4. */
  readonly attempts?: number;
  /** Maximum delay before a retry. If the service asks for a longer one, the call fails immediately. Default 30 s. */
  readonly delayMsMax?: number;
}

/** Metadata of a successful response. */
export interface AnswerNotes {
  /** Id of the request; include it when you contact the operator of the service. */
  readonly requestId: string | undefined;
  /** Usage units counted for a data call. */
  readonly usageUnits: number | undefined;
  /** Release of the atlas that hazard values come from. */
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
  /** Path and query. */
  readonly path: string;
  /** JSON text. */
  readonly body?: string;
  /** Customer of a data call. */
  readonly customerId?: string | undefined;
  /** Whether the call requests data, so that it is metered and has an idempotency key. */
  readonly isData?: boolean;
  readonly signal?: AbortSignal | undefined;
}

const ATTEMPT_COUNT_DEFAULT = 4;
const DELAY_MS_MAX_DEFAULT = 30_000;
/** Upper limit of the random delay before the second attempt; doubles with each further attempt. */
const FIRST_DELAY_MS_MAX = 250;
/** Statuses that proxies return while a service is temporarily unavailable. */
const TRANSIENT_STATUSES = new Set([502, 503, 504]);

/**
 * Sends calls to the service and retries failures that may be temporary. Retries are safe because all calls are idempotent
 * or have an idempotency key.
 */
export class Transport {
  readonly baseUrl: string;
  readonly #options: TransportOptions;
  readonly #attempts: number;
  readonly #delayMsMax: number;

  /** @throws TypeError if `baseUrl` is not a URL; RangeError if an option of `retry` is out of range */
  constructor(options: TransportOptions) {
    const { attempts = ATTEMPT_COUNT_DEFAULT, delayMsMax = DELAY_MS_MAX_DEFAULT } = options.retry;
    if (!(Number.isInteger(attempts) && attempts >= 1))
      throw new RangeError(`attempts must be an integer of at least 1 (got ${attempts})`);
    if (!(delayMsMax >= 0)) throw new RangeError(`delayMsMax must be at least 0 (got ${delayMsMax})`);
    this.baseUrl = new URL(options.baseUrl).href.replace(/\/+$/, "");
    this.#options = options;
    this.#attempts = attempts;
    this.#delayMsMax = delayMsMax;
  }

  /** Returns the decoded JSON body of a successful response. Throws like `text`. */
  async json(call: Call): Promise<unknown> {
    const { status, text } = await this.text(call);
    const value = parseJson(text);
    if (value === undefined) throw this.#unexpectedResponse(status);
    return value;
  }

  /** Returns the status and the body of a successful response as text. Throws like `bytes`. */
  async text(call: Call): Promise<{ readonly status: number; readonly text: string }> {
    const { status, bytes } = await this.bytes(call);
    return { status, text: new TextDecoder().decode(bytes) };
  }

  /**
   * Returns the status and the body of a successful response.
   *
   * @throws IsothermError for error responses; the error of `fetch` if the service cannot be reached; the signal's reason
   */
  async bytes(call: Call): Promise<{ readonly status: number; readonly bytes: Uint8Array }> {
    const headers = this.#headersOf(call);
    for (let attempt = 1; ; attempt++) {
      const result = await this.#attempt(call, headers);
      if ("bytes" in result) return result;
      call.signal?.throwIfAborted();
      const delayMs =
        result.isTransient && attempt < this.#attempts ? this.#delayMs(attempt, result.retryAfterMs) : undefined;
      if (delayMs === undefined) throw result.error;
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
      // Every attempt has the same key, so that only one of them is metered.
      ...(isData === true ? { "Idempotency-Key": randomKey() } : {}),
    };
  }

  async #attempt({ method, path, body, signal }: Call, headers: Readonly<Record<string, string>>): Promise<Attempt> {
    let response: Response;
    let bytes: Uint8Array;
    try {
      response = await this.#options.fetch(`${this.baseUrl}${path}`, {
        method,
        headers,
        // Never send the API key to the target of a redirect.
        redirect: "error",
        ...(body === undefined ? {} : { body }),
        ...(signal === undefined ? {} : { signal }),
      });
      bytes = new Uint8Array(await response.arrayBuffer());
    } catch (error) {
      return { error, isTransient: true };
    }
    const { status, ok } = response;
    if (ok) {
      this.#options.onAnswer?.(readNotes(response.headers));
      return { status, bytes };
    }
    const problem = parseJson(new TextDecoder().decode(bytes));
    const retryAfterMs = parseRetryAfter(response.headers);
    if (!isProblem(problem))
      return { error: this.#unexpectedResponse(status), isTransient: TRANSIENT_STATUSES.has(status), retryAfterMs };
    const error = new IsothermError(`${problem.code}: ${problem.detail}`, { status, problem, retryAfterMs });
    return { error, isTransient: problem.retryable, retryAfterMs };
  }

  /** Returns the delay before the next attempt, with full jitter, so that clients do not retry simultaneously. */
  #delayMs(attempt: number, retryAfterMs = 0): number | undefined {
    if (retryAfterMs > this.#delayMsMax) return undefined;
    const jitterMs = Math.random() * FIRST_DELAY_MS_MAX * 2 ** (attempt - 1);
    return Math.min(this.#delayMsMax, retryAfterMs + jitterMs);
  }

  #unexpectedResponse(status: number): IsothermError {
    return new IsothermError(
      `${this.baseUrl} returned status ${status} with a body that is not from an Isotherm service`,
      { status },
    );
  }
}

type Attempt =
  | { readonly status: number; readonly bytes: Uint8Array }
  | { readonly error: unknown; readonly isTransient: boolean; readonly retryAfterMs?: number | undefined };

function readNotes(headers: Headers): AnswerNotes {
  const units = headers.get("X-Usage-Units");
  return {
    requestId: headers.get("X-Request-Id") ?? undefined,
    usageUnits: units === null ? undefined : Number(units),
    atlasRelease: headers.get("X-Atlas-Release") ?? undefined,
  };
}

/** Parses Retry-After, which is a number of seconds or a date (RFC 9110, section 10.2.3), and returns milliseconds. */
function parseRetryAfter(headers: Headers): number | undefined {
  const text = headers.get("Retry-After");
  if (text === null) return undefined;
  if (/^\s*[0-9]+\s*$/.test(text)) return Number(text) * 1000;
  const dateMs = Date.parse(text);
  return Number.isNaN(dateMs) ? undefined : Math.max(0, dateMs - Date.now());
}

/** Returns 128 random bits as hex. `randomUUID` is not used because browsers offer it only on https pages. */
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
