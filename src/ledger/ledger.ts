/**
 * Who asks, and what it counts: accounts, their keys, their customers, and every answer that was given to them.
 * Two storages keep this interface, `sqlite.ts` and `postgres.ts`, and `test/contracts/ledger.ts` holds both to it.
 *
 * Times are ISO 8601 in UTC with milliseconds, set by the ledger and never going back.
 */

/** The embedded ledger, in the data folder. */
export const SQLITE_FILE_NAME = "ledger.sqlite";

/** The organisation that holds keys. */
export interface Account {
  /** UUID. */
  readonly accountId: string;
  readonly name: string;
  readonly createdAt: string;
  /** Absent while the account may ask. */
  readonly suspendedAt?: string;
}

/** A key as the ledger knows it: never the secret itself. */
export interface ApiKey {
  /** UUID; shown in lists and logs instead of the key. */
  readonly keyId: string;
  readonly accountId: string;
  readonly name?: string;
  readonly createdAt: string;
  /** After this the key is refused: a rotated key lives on for its overlap. */
  readonly expiresAt?: string;
  readonly revokedAt?: string;
  /** The key that took this one's place. */
  readonly replacedBy?: string;
}

/** A key at the one moment when its secret is known. */
export interface IssuedKey {
  readonly secret: string;
  readonly key: ApiKey;
}

/** What a presented key stands for. */
export interface KeyHolder {
  readonly key: ApiKey;
  readonly account: Account;
}

/** The part of an account that usage is counted for. */
export interface Customer {
  /** UUID; what `X-Customer-ID` says. */
  readonly customerId: string;
  readonly accountId: string;
  /** The caller's own, unique within the account. */
  readonly internalId: string;
  readonly name?: string;
  readonly createdAt: string;
  readonly archivedAt?: string;
}

export const METERS = ["hazard_values", "alignment_values", "company_results"] as const;
export type Meter = (typeof METERS)[number];

/** One answer that is about to be given. */
export interface UsageEntry {
  /** UUIDv7, the request's own: recording it twice changes nothing. */
  readonly receipt: string;
  readonly accountId: string;
  readonly customerId: string;
  readonly keyId: string;
  readonly meter: Meter;
  /** Whole, 0 or more. What costs nothing is not written down, but for its idempotency key. */
  readonly units: number;
  /** The route's template. */
  readonly route: string;
  readonly atlasRelease?: string;
  readonly idempotency?: {
    /** 1 to 255 visible ASCII characters; means something within account, customer and route, for 72 h. */
    readonly key: string;
    /** SHA-256 of the request, in hexadecimal. */
    readonly fingerprint: string;
  };
}

/** An entry as it was written down. */
export interface RecordedEntry extends Omit<UsageEntry, "idempotency"> {
  /** Counts up in the order of recording; not every number need be there. */
  readonly seq: number;
  readonly recordedAt: string;
}

/** What became of an entry. */
export interface Recorded {
  /** What stands there for this receipt: 0 where its request had been recorded under another one. */
  readonly units: number;
  readonly isReplay: boolean;
}

export const USAGE_GROUPS = ["customer", "meter", "day", "month"] as const;
export type UsageGroup = (typeof USAGE_GROUPS)[number];

/** Lines that are fetched together. Every page adds up anew: whoever wants all lines asks for as many as there may be. */
export const USAGE_LINE_COUNT_MAX = 10_000;

export interface UsageQuestion {
  readonly accountId: string;
  readonly customerId?: string;
  /** Dates `YYYY-MM-DD` in UTC, half-open. */
  readonly from?: string;
  readonly to?: string;
  readonly groupBy: readonly UsageGroup[];
  /** 1 to USAGE_LINE_COUNT_MAX. */
  readonly limit: number;
  readonly cursor?: string;
}

/** A line of usage; what is not grouped by is absent. */
export interface UsageLine {
  readonly customerId?: string;
  readonly internalId?: string;
  readonly meter?: Meter;
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period?: string;
  readonly requests: number;
  readonly units: number;
}

/** Items in a stable order, and where the next page begins. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next?: string;
}

export interface PageQuestion {
  readonly accountId: string;
  /** 1 to 500. */
  readonly limit: number;
  /** `next` of the page before. @throws Fault `invalid_request` for one that this ledger did not give */
  readonly cursor?: string;
}

/** What a comparison of rollups and events found. */
export interface AuditReport {
  readonly eventCount: number;
  readonly rollupCount: number;
  /** Where the two disagree; empty when all is well. */
  readonly differences: readonly {
    readonly accountId: string;
    readonly customerId: string;
    readonly meter: Meter;
    readonly hour: string;
    readonly eventUnits: number;
    readonly rollupUnits: number;
    readonly eventRequests: number;
    readonly rollupRequests: number;
  }[];
}

/** Entries that were put on disk together. */
export interface Commit {
  readonly rowCount: number;
  /** From the beginning of the transaction until it was on disk. */
  readonly durationMs: number;
}

export interface Ledger {
  createAccount(account: { readonly name: string }): Promise<Account>;
  listAccounts(): Promise<readonly Account[]>;
  /** Suspends, or lets ask again. @throws Fault `account_not_found` */
  suspendAccount(accountId: string, isSuspended: boolean): Promise<Account>;

  /** Makes a key, or takes in one of 64 random characters issued elsewhere. @throws Fault `account_not_found` */
  createKey(key: {
    readonly accountId: string;
    readonly name?: string;
    /** Imported as it is; made here where absent. */
    readonly secret?: string;
  }): Promise<IssuedKey>;
  listKeys(question?: { readonly accountId?: string }): Promise<readonly ApiKey[]>;
  /** A new key in the place of an old one, which goes on working for the overlap. @throws Fault `key_not_found` */
  rotateKey(rotation: { readonly keyId: string; readonly overlapS: number }): Promise<IssuedKey>;
  /** @throws Fault `key_not_found` */
  revokeKey(keyId: string): Promise<ApiKey>;
  /** By the SHA-256 of the key, 32 bytes. Revoked and expired ones too: the caller tells them apart. */
  findKey(digest: Uint8Array): Promise<KeyHolder | undefined>;
  /** Called whenever a key, an account or whether a customer is archived may have changed, so that caches of them are
   *  invalidated: within half a second on one machine, at once on a notice of the database server. A new name of a
   *  customer is not announced. @returns ends the calls */
  onChange(listener: () => void): () => void;
  /** Called after each batch of entries that this ledger has put on disk. @returns ends the calls */
  onCommit(listener: (commit: Commit) => void): () => void;

  /**
   * Idempotent by `internalId`. A `name` that is given replaces the one of a customer registered before, the last one
   * written staying; without one the name stays. @throws Fault `customer_archived` where it was archived
   */
  registerCustomer(customer: {
    readonly accountId: string;
    readonly internalId: string;
    readonly name?: string;
  }): Promise<{ readonly customer: Customer; readonly isNew: boolean }>;
  /** Of this account only: another's is as unknown as one that never was. */
  findCustomer(place: { readonly accountId: string; readonly customerId: string }): Promise<Customer | undefined>;
  listCustomers(question: PageQuestion): Promise<Page<Customer>>;
  /** History stays. @returns undefined where the account has no such customer */
  archiveCustomer(place: { readonly accountId: string; readonly customerId: string }): Promise<Customer | undefined>;

  /**
   * Resolves when the entry is on disk: everything that waits is committed together.
   * @throws Fault `usage_not_recorded` when that is not known to have happened: after an error of its disk an embedded
   *   ledger takes no more, one in PostgreSQL goes on with a new connection; `idempotency_key_reused` where the key stands
   *   for another request
   */
  record(entry: UsageEntry): Promise<Recorded>;
  usage(question: UsageQuestion): Promise<Page<UsageLine>>;
  audit(): Promise<AuditReport>;
  /** All events of a span of days, in the order they were recorded. */
  events(question: {
    readonly accountId?: string;
    readonly from?: string;
    readonly to?: string;
  }): AsyncIterable<RecordedEntry>;

  /** Why nothing can be recorded any more, once that is so. */
  readonly failure: Error | undefined;
  /** Resolves with the cause when an I/O error has stopped the ledger: the process is to end and recover from the file. */
  readonly failed: Promise<Error>;
  /** Commits what waits, then lets go of the storage. */
  close(): Promise<void>;
}
