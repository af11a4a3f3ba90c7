import { Fault, isFault } from "../errors.ts";
import { digestTextOf, isKeyShaped, isMistyped, isSameDigest, KEY_FORM } from "./keys.ts";
import type { Customer, CustomerRef, KeyHolder, Ledger } from "./ledger.ts";

export interface AuthenticatorOptions {
  /** Maximum age of a cache entry; a change notification of the ledger invalidates it earlier. */
  readonly ttlMs: number;
  /** Maximum age up to which a stale entry is used while the ledger is unavailable. */
  readonly staleIfErrorMs: number;
  /** Maximum wait for the ledger if there is a stale entry. */
  readonly lookupTimeoutMs: number;
  /** Maximum number of cached keys, and of cached customers. */
  readonly entryCountMax: number;
  /**
   * Called with the client's address before a key is looked up that is not in the cache, not even out of date.
   * @returns a function that is called after the lookup
   * @throws an error with which the request is rejected without a lookup
   */
  startLookup(address: string): () => void;
  /**
   * Counts a rejected key by the client's address.
   * @returns seconds after which the address may send another key, if it has sent too many
   */
  countRejectedKey(address: string): number | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const DEFAULTS: AuthenticatorOptions = {
  ttlMs: 5_000,
  staleIfErrorMs: 60_000,
  lookupTimeoutMs: 1_000,
  entryCountMax: 10_000,
  startLookup: () => () => undefined,
  countRejectedKey: () => undefined,
  now: Date.now,
};

/** Authenticates API keys and finds customers, using a cache of recent ledger lookups. */
export class Authenticator {
  readonly #ledger: Ledger;
  readonly #options: AuthenticatorOptions;
  readonly #keys: LookupCache<{ readonly digest: Buffer; readonly holder: KeyHolder }>;
  readonly #keysById: LookupCache<KeyHolder>;
  readonly #customers: LookupCache<Customer>;
  readonly #stopListening: () => void;

  constructor(ledger: Ledger, options: Partial<AuthenticatorOptions> = {}) {
    this.#ledger = ledger;
    this.#options = { ...DEFAULTS, ...options };
    this.#keys = new LookupCache(this.#options);
    this.#keysById = new LookupCache(this.#options);
    this.#customers = new LookupCache(this.#options);
    this.#stopListening = ledger.onChange((customer) => {
      if (customer !== undefined) {
        this.#customers.invalidate(customerCacheKey(customer));
        return;
      }
      this.#keys.invalidateAll();
      this.#keysById.invalidateAll();
      this.#customers.invalidateAll();
    });
  }

  /** Returns the holder of a key that is in the cache and valid; undefined otherwise, when `authenticate` must decide. */
  cachedHolder(presented: string): KeyHolder | undefined {
    const holder = this.#keys.get(digestTextOf(presented))?.holder;
    if (holder === undefined) return undefined;
    const { key, account } = holder;
    const isExpired = key.expiresAt !== undefined && this.#isExpired(key.expiresAt);
    return key.revokedAt === undefined && account.suspendedAt === undefined && !isExpired ? holder : undefined;
  }

  /**
   * Authenticates an API key. Returns synchronously on a cache hit.
   *
   * @param address the client's address, by which rejected keys are counted
   * @throws Fault `api_key_invalid`, `api_key_revoked` (also for expired keys), `account_suspended`; `rate_limited`
   *   instead after too many rejected keys; `ledger_unavailable` if the ledger fails and the key is not cached; errors of
   *   `startLookup`
   */
  authenticate(presented: string, address: string): KeyHolder | Promise<KeyHolder> {
    // Text that cannot be a key is not looked up. Keys with a wrong checksum are looked up: they may have been issued elsewhere.
    if (!isKeyShaped(presented)) return this.#reject(malformedKey(presented), address);
    const digestText = digestTextOf(presented);
    const digest = Buffer.from(digestText, "hex");
    const cached = this.#keys.get(digestText);
    if (cached !== undefined) return this.#verify({ presented, digest, address }, cached);
    // Requests with the same key share one lookup.
    const endLookup = this.#keys.has(digestText) ? undefined : this.#options.startLookup(address);
    return this.#keys
      .load(digestText, async () => {
        const holder = await this.#ledger.findKey(digest);
        return holder === undefined ? undefined : { digest, holder };
      })
      .finally(endLookup)
      .then((lookup) => this.#verify({ presented, digest, address }, lookup));
  }

  /**
   * Authenticates the holder of a key by the key's id, which the caller has read from a token that it has verified. Returns
   * synchronously on a cache hit.
   * @throws Fault as `authenticate` does
   */
  authenticateId(keyId: string, address: string): KeyHolder | Promise<KeyHolder> {
    const cached = this.#keysById.get(keyId);
    if (cached !== undefined) return this.#verifyHolder(cached, address);
    return this.#keysById
      .load(keyId, () => this.#ledger.findKeyById(keyId))
      .then((holder) => {
        if (holder !== undefined) return this.#verifyHolder(holder, address);
        return this.#reject(new Fault("api_key_invalid", "The API key of this token is not known here."), address);
      });
  }

  /**
   * Finds a customer of an account, including archived ones. Returns synchronously on a cache hit.
   * @throws Fault `ledger_unavailable`
   */
  findCustomer({ accountId, customerId }: CustomerRef): Customer | undefined | Promise<Customer | undefined> {
    const key = customerCacheKey({ accountId, customerId });
    return (
      this.#customers.get(key) ?? this.#customers.load(key, () => this.#ledger.findCustomer({ accountId, customerId }))
    );
  }

  close(): void {
    this.#stopListening();
  }

  #verify(
    request: { readonly presented: string; readonly digest: Buffer; readonly address: string },
    lookup: { readonly digest: Buffer; readonly holder: KeyHolder } | undefined,
  ): KeyHolder | Promise<KeyHolder> {
    const { presented, digest, address } = request;
    if (lookup === undefined || !isSameDigest(lookup.digest, digest)) {
      return this.#reject(unknownKey(presented), address);
    }
    return this.#verifyHolder(lookup.holder, address);
  }

  #verifyHolder(holder: KeyHolder, address: string): KeyHolder | Promise<KeyHolder> {
    const { key, account } = holder;
    if (key.revokedAt !== undefined || this.#isExpired(key.expiresAt)) {
      return this.#reject(new Fault("api_key_revoked", "This API key has been revoked."), address);
    }
    if (account.suspendedAt !== undefined) {
      const message = "The account of this API key is suspended; contact the operator of the service.";
      return this.#reject(new Fault("account_suspended", message), address);
    }
    return holder;
  }

  #isExpired(expiresAt: string | undefined): boolean {
    return expiresAt !== undefined && Date.parse(expiresAt) <= this.#options.now();
  }

  /** Counts a rejected key by address and throws `fault`, or `rate_limited` after too many. */
  async #reject(fault: Fault, address: string): Promise<never> {
    const retryAfterS = this.#options.countRejectedKey(address);
    if (retryAfterS === undefined) throw fault;
    const message = `Too many rejected API keys from this address; retry in ${retryAfterS} s.`;
    throw new Fault("rate_limited", message, { details: { retryAfterS } });
  }
}

function customerCacheKey({ accountId, customerId }: CustomerRef): string {
  return `${accountId} ${customerId}`;
}

interface CacheEntry<Value> {
  readonly value: Value;
  /** When the lookup started. */
  readonly lookedUpAtMs: number;
  /** Whether the ledger has changed since the lookup; the change may concern this value. */
  isInvalidated: boolean;
}

interface PendingLookup<Value> {
  readonly value: Promise<Value | undefined>;
  /** Whether the ledger has changed since the lookup started. */
  isInvalidated: boolean;
}

/** Caches ledger lookups. Missing values are not cached, because they may be created at any time. */
class LookupCache<Value> {
  readonly #options: AuthenticatorOptions;
  readonly #entries = new Map<string, CacheEntry<Value>>();
  readonly #pending = new Map<string, PendingLookup<Value>>();

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  /** Returns the cached value, or undefined if there is none or it is out of date. */
  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.isInvalidated) return undefined;
    return this.#isYounger(entry, this.#options.ttlMs) ? entry.value : undefined;
  }

  /** Returns whether an entry is younger than an age; its age is unknown if the clock was set back. */
  #isYounger({ lookedUpAtMs }: CacheEntry<Value>, limitMs: number): boolean {
    const ageMs = this.#options.now() - lookedUpAtMs;
    return ageMs >= 0 && ageMs < limitMs;
  }

  /** Returns whether a value is cached, possibly out of date, or is being looked up. */
  has(key: string): boolean {
    return this.#entries.has(key) || this.#pending.has(key);
  }

  /** Invalidates all entries. They remain usable while the ledger is unavailable. */
  invalidateAll(): void {
    for (const lookup of this.#pending.values()) lookup.isInvalidated = true;
    for (const entry of this.#entries.values()) entry.isInvalidated = true;
  }

  /** Invalidates one entry, as `invalidateAll` does. */
  invalidate(key: string): void {
    for (const value of [this.#pending.get(key), this.#entries.get(key)]) {
      if (value !== undefined) value.isInvalidated = true;
    }
  }

  /** Looks a value up and caches it. Returns the stale value if the ledger is unavailable. */
  async load(key: string, lookUp: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const stale = this.#entries.get(key);
    const value = this.#lookUpOnce(key, lookUp);
    try {
      return stale === undefined ? await value : await withTimeout(value, this.#options.lookupTimeoutMs);
    } catch (error) {
      const isUsable = isFault(error, "ledger_unavailable") && stale !== undefined;
      if (isUsable && this.#isYounger(stale, this.#options.staleIfErrorMs)) return stale.value;
      throw error;
    }
  }

  /** Shares one lookup between concurrent calls for the same key, unless the cache was invalidated since it started. */
  #lookUpOnce(key: string, lookUp: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const inFlight = this.#pending.get(key);
    if (inFlight?.isInvalidated === false) return inFlight.value;
    const lookedUpAtMs = this.#options.now();
    const pending: PendingLookup<Value> = {
      isInvalidated: false,
      value: lookUp()
        .then((value) => {
          this.#entries.delete(key);
          if (value !== undefined) this.#set(key, { value, lookedUpAtMs, isInvalidated: pending.isInvalidated });
          return value;
        })
        .finally(() => {
          if (this.#pending.get(key) === pending) this.#pending.delete(key);
        }),
    };
    this.#pending.set(key, pending);
    return pending.value;
  }

  #set(key: string, entry: CacheEntry<Value>): void {
    this.#entries.set(key, entry);
    if (this.#entries.size <= this.#options.entryCountMax) return;
    // Evict the entry whose lookup is the oldest: a map iterates in insertion order.
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}

async function withTimeout<T>(promise: Promise<T>, timeoutMs: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_resolve, reject) => {
    const fault = new Fault("ledger_unavailable", `The ledger did not respond within ${timeoutMs} ms.`);
    timer = setTimeout(() => reject(fault), timeoutMs);
  });
  try {
    return await Promise.race([promise, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Creates the error of a key that the ledger does not have. Whether its checksum is right depends on the presented text
 * alone, so neither the message nor its computing time reveals anything about the keys in the ledger.
 */
function unknownKey(presented: string): Fault {
  const message = isMistyped(presented)
    ? "This API key is not known here, and it seems mistyped: its last 6 characters do not match the rest. " +
      "Compare it with the key that was issued."
    : "This API key is not known here.";
  return new Fault("api_key_invalid", message);
}

/** Creates the error of text without the form of a key. The text is not repeated, because it may be most of a key. */
function malformedKey(presented: string): Fault {
  const message = `This is not an API key: a key is ${KEY_FORM} (got ${presented.length} characters).`;
  return new Fault("api_key_invalid", message);
}
