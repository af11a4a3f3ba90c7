import { isIPv6 } from "node:net";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { Fault, isFault } from "../errors.ts";
import { digestTextOf, isKeyShaped, isMistyped, isSameDigest, KEY_FORM } from "./keys.ts";
import type { Customer, KeyHolder, Ledger } from "./ledger.ts";

export interface GateOptions {
  /** What is remembered is asked for anew after this, where the ledger has not said before that it changed. */
  readonly rememberMs: number;
  /** And goes on being believed for so long while the ledger does not answer. */
  readonly rememberAwayMs: number;
  /** How long the ledger is waited for, where something is remembered. */
  readonly patienceMs: number;
  /** Keys and customers, each. */
  readonly rememberCountMax: number;
  /** Refused keys of one address in a minute; those after them are told to wait, a valid key is not. */
  readonly failureCountMax: number;
  /** Addresses that are counted in a minute; those after them are counted together. */
  readonly addressCountMax: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const DEFAULTS: GateOptions = {
  rememberMs: 5_000,
  rememberAwayMs: 60_000,
  patienceMs: 1_000,
  rememberCountMax: 10_000,
  failureCountMax: 20,
  addressCountMax: 50_000,
  now: Date.now,
};

const FAILURE_WINDOW_S = 60;
/** What addresses beyond those that are counted one by one share. */
const CROWD = "others";

/** Refused keys of one minute. */
interface Failures {
  readonly limiter: RateLimiterMemory;
  /** Those that are counted one by one. */
  readonly addresses: Set<string>;
  readonly startMs: number;
}

/** Authenticates API keys and finds customers, from memory where the ledger was asked for them a moment ago. */
export class KeyGate {
  readonly #ledger: Ledger;
  readonly #options: GateOptions;
  readonly #keys: Memory<{ readonly digest: Buffer; readonly holder: KeyHolder }>;
  readonly #customers: Memory<Customer>;
  readonly #stopListening: () => void;
  #failures: Failures;

  constructor(ledger: Ledger, options: Partial<GateOptions> = {}) {
    this.#ledger = ledger;
    this.#options = { ...DEFAULTS, ...options };
    this.#keys = new Memory(this.#options);
    this.#customers = new Memory(this.#options);
    this.#failures = this.#newFailures();
    this.#stopListening = ledger.onChange(() => {
      this.#keys.doubt();
      this.#customers.doubt();
    });
  }

  /**
   * Returns the holder of a key, synchronously where it is remembered.
   *
   * @param address of the client, by which refused keys are counted
   * @throws Fault `api_key_invalid`, `api_key_revoked` (expired ones too), `account_suspended`; `rate_limited` instead of
   *   each of them after too many; `ledger_unavailable` when nobody can tell
   */
  admit(presented: string, address: string): KeyHolder | Promise<KeyHolder> {
    // Text that cannot be a key is not looked up. A key with a wrong checksum is: it may have been imported.
    if (!isKeyShaped(presented)) return this.#refuse(malformedKey(presented), address);
    const place = digestTextOf(presented);
    const digest = Buffer.from(place, "hex");
    const known = this.#keys.recall(place);
    if (known !== undefined) return this.#judge({ presented, digest, address }, known);
    return this.#keys
      .ask(place, async () => {
        const holder = await this.#ledger.findKey(digest);
        return holder === undefined ? undefined : { digest, holder };
      })
      .then((found) => this.#judge({ presented, digest, address }, found));
  }

  /** The account's customer, archived ones too; at once where it is remembered. @throws Fault `ledger_unavailable` */
  customer(place: {
    readonly accountId: string;
    readonly customerId: string;
  }): Customer | undefined | Promise<Customer | undefined> {
    const { accountId, customerId } = place;
    const name = `${accountId} ${customerId}`;
    return (
      this.#customers.recall(name) ??
      this.#customers.ask(name, () => this.#ledger.findCustomer({ accountId, customerId }))
    );
  }

  close(): void {
    this.#stopListening();
  }

  #judge(
    asked: { readonly presented: string; readonly digest: Buffer; readonly address: string },
    found: { readonly digest: Buffer; readonly holder: KeyHolder } | undefined,
  ): KeyHolder | Promise<KeyHolder> {
    const { presented, digest, address } = asked;
    if (found === undefined || !isSameDigest(found.digest, digest)) {
      return this.#refuse(unknownKey(presented), address);
    }
    const { key, account } = found.holder;
    if (key.revokedAt !== undefined || this.#isOver(key.expiresAt)) {
      return this.#refuse(new Fault("api_key_revoked", "This API key has been revoked."), address);
    }
    if (account.suspendedAt !== undefined) {
      const message = "The account of this API key is suspended; the operator of the service can say why.";
      return this.#refuse(new Fault("account_suspended", message), address);
    }
    return found.holder;
  }

  #isOver(expiresAt: string | undefined): boolean {
    return expiresAt !== undefined && Date.parse(expiresAt) <= this.#options.now();
  }

  /** Counts the refusal for the address, and tells one that has had too many to wait. */
  async #refuse(fault: Fault, address: string): Promise<never> {
    const ageMs = this.#options.now() - this.#failures.startMs;
    // Also where the clock has gone back: nobody would know how long this minute lasts.
    if (ageMs < 0 || ageMs >= FAILURE_WINDOW_S * 1000) this.#failures = this.#newFailures();
    const { limiter, addresses } = this.#failures;
    let bucket = networkOf(address);
    if (!addresses.has(bucket)) {
      if (addresses.size < this.#options.addressCountMax) addresses.add(bucket);
      else bucket = CROWD;
    }
    try {
      await limiter.consume(bucket);
    } catch (error) {
      if (!(error instanceof RateLimiterRes)) throw error;
      const retryAfterS = Math.max(1, Math.ceil(error.msBeforeNext / 1000));
      const message = `Too many refused API keys from this address; ask again in ${retryAfterS} s.`;
      throw new Fault("rate_limited", message, { details: { retryAfterS } });
    }
    throw fault;
  }

  /** Begun anew each time, so that no address is counted for longer, and none takes memory for longer. */
  #newFailures(): Failures {
    const { failureCountMax, now } = this.#options;
    const limiter = new RateLimiterMemory({ points: failureCountMax, duration: FAILURE_WINDOW_S });
    return { limiter, addresses: new Set(), startMs: now() };
  }
}

interface Remembered<Value> {
  readonly value: Value;
  /** When the ledger said so. */
  readonly sinceMs: number;
  /** Something has changed since; it may have been this. */
  isDoubtful: boolean;
}

/** What the ledger has said, for a while. What it does not have is not remembered: it may come any time. */
class Memory<Value> {
  readonly #options: GateOptions;
  readonly #known = new Map<string, Remembered<Value>>();
  readonly #asked = new Map<string, { readonly answer: Promise<Value | undefined>; readonly doubts: number }>();
  #doubts = 0;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  recall(name: string): Value | undefined {
    const found = this.#known.get(name);
    if (found === undefined || found.isDoubtful) return undefined;
    const ageMs = this.#options.now() - found.sinceMs;
    return ageMs >= 0 && ageMs < this.#options.rememberMs ? found.value : undefined;
  }

  /** Nothing that was said until now is certain any more. */
  doubt(): void {
    this.#doubts++;
    for (const remembered of this.#known.values()) remembered.isDoubtful = true;
  }

  async ask(name: string, look: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const remembered = this.#known.get(name);
    const answer = this.#lookOnce(name, look);
    try {
      return remembered === undefined ? await answer : await within(this.#options.patienceMs, answer);
    } catch (error) {
      const isBelieved =
        isFault(error, "ledger_unavailable") &&
        remembered !== undefined &&
        this.#options.now() - remembered.sinceMs < this.#options.rememberAwayMs;
      if (isBelieved) return remembered.value;
      throw error;
    }
  }

  /** Who asks the same at the same time gets the same answer, unless something has changed in between. */
  #lookOnce(name: string, look: () => Promise<Value | undefined>): Promise<Value | undefined> {
    const underWay = this.#asked.get(name);
    if (underWay !== undefined && underWay.doubts === this.#doubts) return underWay.answer;
    const doubts = this.#doubts;
    const sinceMs = this.#options.now();
    const asked = {
      doubts,
      answer: look()
        .then((value) => {
          this.#known.delete(name);
          if (value !== undefined) this.#remember(name, { value, sinceMs, isDoubtful: doubts !== this.#doubts });
          return value;
        })
        .finally(() => {
          if (this.#asked.get(name) === asked) this.#asked.delete(name);
        }),
    };
    this.#asked.set(name, asked);
    return asked.answer;
  }

  #remember(name: string, remembered: Remembered<Value>): void {
    this.#known.set(name, remembered);
    if (this.#known.size <= this.#options.rememberCountMax) return;
    // The one that was asked for anew the longest ago: a map keeps the order of setting.
    const [oldest] = this.#known.keys();
    if (oldest !== undefined) this.#known.delete(oldest);
  }
}

async function within<T>(patienceMs: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    const fault = new Fault("ledger_unavailable", `The ledger has not answered within ${patienceMs} ms.`);
    timer = setTimeout(() => reject(fault), patienceMs);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whoever has one address of IPv6 has 2^64 of them: they are counted as one. */
function networkOf(address: string): string {
  if (!isIPv6(address) || address.startsWith("::ffff:")) return address;
  const [head = "", tail] = address.split("%")[0]?.split("::") ?? [];
  const groups = head === "" ? [] : head.split(":");
  if (tail !== undefined) {
    const after = tail === "" ? 0 : tail.split(":").length;
    while (groups.length + after < 8) groups.push("0");
    if (tail !== "") groups.push(...tail.split(":"));
  }
  return groups
    .slice(0, 4)
    .map((group) => group.toLowerCase().replace(/^0+(?=.)/, ""))
    .join(":");
}

/**
 * Refuses a key that the ledger does not have. Whether its checksum is right depends on the presented text alone, so
 * neither the message nor the time that it takes tells anything about the keys that the ledger has.
 */
function unknownKey(presented: string): Fault {
  const message = isMistyped(presented)
    ? "This API key is not known here, and it seems mistyped: its last 6 characters do not match the rest. " +
      "Compare it with the key that was issued."
    : "This API key is not known here.";
  return new Fault("api_key_invalid", message);
}

/** Refuses text that does not have the form of a key. The text itself is not repeated: it may be most of a key. */
function malformedKey(presented: string): Fault {
  const message = `This is not an API key: a key is ${KEY_FORM} (got ${presented.length} characters).`;
  return new Fault("api_key_invalid", message);
}
