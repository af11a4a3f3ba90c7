/**
 * The ledger: accounts, their API keys and customers, and the usage of every response. `sqlite.ts` and `postgres.ts`
 * implement this interface; `test/contracts/ledger.ts` tests both against it.
 *
 * Times are ISO 8601 in UTC with milliseconds. The ledger sets them, and they never decrease.
 */

import type { Meter, UsageGroup } from "../contract/wireTypes.ts";
import type { AuditOptions, ChainHead, ChainReport, PrunePlan } from "./chainReport.ts";

/** File name of the embedded ledger in the data folder. */
export const SQLITE_FILE_NAME = "ledger.sqlite";

/** The organization that owns API keys and customers. */
export interface Account {
  /** UUID. */
  readonly accountId: string;
  readonly name: string;
  readonly createdAt: string;
  /** Absent while the account is active. */
  readonly suspendedAt?: string;
}

/** An API key as stored, without its secret. */
export interface ApiKey {
  /** UUID; shown in lists and logs instead of the key. */
  readonly keyId: string;
  readonly accountId: string;
  readonly name?: string;
  readonly createdAt: string;
  /** When a rotated key stops working: at the end of the overlap. */
  readonly expiresAt?: string;
  readonly revokedAt?: string;
  /** Id of the key that this one was rotated to. */
  readonly replacedBy?: string;
}

/** A key with its secret, which is returned only when the key is created. */
export interface IssuedKey {
  readonly secret: string;
  readonly key: ApiKey;
}

/** A key and the account that it belongs to. */
export interface KeyHolder {
  readonly key: ApiKey;
  readonly account: Account;
}

/** A subdivision of an account that usage is attributed to. */
export interface Customer {
  /** UUID; the value of `X-Customer-ID`. */
  readonly customerId: string;
  readonly accountId: string;
  /** The account's own id for the customer, unique within the account. */
  readonly internalId: string;
  readonly name?: string;
  readonly createdAt: string;
  readonly archivedAt?: string;
}

/** A customer of an account. */
export interface CustomerRef {
  readonly accountId: string;
  readonly customerId: string;
}

/** The usage of one response, recorded before the response is sent. */
export interface UsageEntry {
  /** The request's UUIDv7; recording it a second time has no effect. */
  readonly receipt: string;
  readonly accountId: string;
  readonly customerId: string;
  readonly keyId: string;
  readonly meter: Meter;
  /** Integer, 0 or more. If it is 0, only the idempotency key is stored. */
  readonly units: number;
  /** The route's path template. */
  readonly route: string;
  readonly atlasRelease?: string;
  readonly idempotency?: {
    /** 1 to 255 visible ASCII characters; unique within account, customer and route for 72 h. */
    readonly key: string;
    /** SHA-256 of the request in hexadecimal. */
    readonly fingerprint: string;
  };
}

/** An entry as stored. */
export interface RecordedEntry extends Omit<UsageEntry, "idempotency"> {
  /** Increases in the order of recording; may have gaps. */
  readonly seq: number;
  readonly recordedAt: string;
}

/** The result of recording an entry. */
export interface RecordResult {
  /** Units recorded for this receipt: 0 for a replay. */
  readonly units: number;
  /** Whether the same request was already recorded under another receipt. */
  readonly isReplay: boolean;
}

/** Maximum number of lines per page. */
export const USAGE_LINE_COUNT_MAX = 10_000;
/** Maximum length of a page of CSV, in UTF-16 code units: 5,000 lines with ids of usual length. */
export const CSV_PAGE_LENGTH_MAX = 512 * 1024;
/** Maximum number of reports of one account that wait for their turn. */
export const WAITING_REPORT_COUNT_MAX = 100;

/** Options of methods that read many rows. */
export interface ReportOptions {
  /** If it aborts before the report has its turn, the report does not run. */
  readonly signal?: AbortSignal;
}

export interface UsageQuery {
  readonly accountId: string;
  readonly customerId?: string;
  /** UTC dates `YYYY-MM-DD`, `from` inclusive, `to` exclusive. */
  readonly from?: string;
  readonly to?: string;
  readonly groupBy: readonly UsageGroup[];
  /** 1 to USAGE_LINE_COUNT_MAX. */
  readonly limit: number;
  readonly cursor?: string;
}

/** A line of a usage report; fields that are not grouped by are absent. */
export interface UsageLine {
  readonly customerId?: string;
  readonly internalId?: string;
  readonly meter?: Meter;
  /** `YYYY-MM-DD` or `YYYY-MM`. */
  readonly period?: string;
  readonly requests: number;
  readonly units: number;
}

/** Items in a stable order; `next` is the cursor of the next page, absent on the last one. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly next?: string;
}

/** Lines of CSV (RFC 4180), each with its line end; `next` is the cursor of the next page, absent on the last one. */
export interface CsvPage {
  /** At most CSV_PAGE_LENGTH_MAX. */
  readonly text: string;
  /** May be below the limit, or 0, although there is a next page. */
  readonly lineCount: number;
  readonly next?: string;
}

export interface PageQuery {
  readonly accountId: string;
  /** 1 to 500. */
  readonly limit: number;
  /** `next` of the previous page. Any other value is rejected with `invalid_request`. */
  readonly cursor?: string;
}

/** The result of verifying the hash chain, and of comparing hourly sums with events, and other sums with hourly ones. */
export interface AuditReport {
  readonly chain: ChainReport;
  readonly eventCount: number;
  readonly rollupCount: number;
  /** Empty if all hourly sums match their events. */
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
  /** Sums per day, month or in total that are not the sum of their hours; empty if all are. */
  readonly sumDifferences: readonly {
    readonly accountId: string;
    /** Absent in sums of all customers. */
    readonly customerId?: string;
    readonly meter: Meter;
    /** `YYYY-MM-DD` or `YYYY-MM`; absent in sums of all months. */
    readonly period?: string;
    readonly hourlyUnits: number;
    readonly units: number;
    readonly hourlyRequests: number;
    readonly requests: number;
  }[];
}

/** A batch of the hash chain with its events. */
export interface ArchivedBatch extends ChainHead {
  readonly events: readonly RecordedEntry[];
}

/** A committed batch of entries. */
export interface Commit {
  readonly rowCount: number;
  /** From the start of the transaction until the commit was on disk. */
  readonly durationMs: number;
}

export interface Ledger {
  createAccount(account: { readonly name: string }): Promise<Account>;
  listAccounts(): Promise<readonly Account[]>;
  /** Suspends or reactivates an account. @throws Fault `account_not_found` */
  setAccountSuspended(accountId: string, isSuspended: boolean): Promise<Account>;

  /** Creates a key, or imports one issued elsewhere. @throws Fault `account_not_found` */
  createKey(key: {
    readonly accountId: string;
    readonly name?: string;
    /** The key to import; generated if absent. */
    readonly secret?: string;
  }): Promise<IssuedKey>;
  listKeys(query?: { readonly accountId?: string }): Promise<readonly ApiKey[]>;
  /** Replaces a key with a new one; the old one stays valid for the overlap. @throws Fault `key_not_found` */
  rotateKey(rotation: { readonly keyId: string; readonly overlapS: number }): Promise<IssuedKey>;
  /** @throws Fault `key_not_found` */
  revokeKey(keyId: string): Promise<ApiKey>;
  /** Finds a key by its SHA-256 (32 bytes), including revoked and expired keys, which the caller must check for. */
  findKey(digest: Uint8Array): Promise<KeyHolder | undefined>;
  /** Finds a key by its id, as `findKey` does. */
  findKeyById(keyId: string): Promise<KeyHolder | undefined>;
  /**
   * Returns a secret of this ledger for one purpose, 64 hexadecimal digits. All processes that use the ledger get the same
   * secret, also after a restart, and secrets of different purposes do not reveal each other.
   */
  signingSecret(purpose: string): Promise<string>;
  /** Registers a listener that is called whenever a key, an account or the archived state of a customer may have changed,
   *  so that caches of them must be invalidated: within half a second for SQLite, at once (by NOTIFY) for PostgreSQL.
   *  With a customer, nothing but that customer has changed. Changes of a customer's name are not announced.
   *  @returns a function that removes the listener */
  onChange(listener: (customer?: CustomerRef) => void): () => void;
  /** Registers a listener that is called after each committed batch of entries. @returns a function that removes the listener */
  onCommit(listener: (commit: Commit) => void): () => void;

  /**
   * Registers a customer; idempotent by `internalId`. A `name` replaces that of an existing customer; without one the
   * name is kept. @throws Fault `customer_archived` for an archived customer; `too_many_values` if a new customer would
   *   exceed `customerCountMax`
   */
  registerCustomer(customer: {
    readonly accountId: string;
    readonly internalId: string;
    readonly name?: string;
    /**
     * Customers that the account may have, including archived ones; without a limit if absent. In PostgreSQL, concurrent
     * registrations may exceed it by one each.
     */
    readonly customerCountMax?: number;
  }): Promise<{ readonly customer: Customer; readonly isNew: boolean }>;
  /** Finds a customer of this account; customers of other accounts are not found. */
  findCustomer(ref: CustomerRef): Promise<Customer | undefined>;
  /** @throws Fault `rate_limited` if too many reports of the account are waiting; the reason of the signal */
  listCustomers(query: PageQuery, options?: ReportOptions): Promise<Page<Customer>>;
  /** Archives a customer; its usage is kept. @returns undefined if the account has no such customer */
  archiveCustomer(ref: CustomerRef): Promise<Customer | undefined>;

  /**
   * Records an entry. Resolves when it is on disk; pending entries are committed together.
   * @throws Fault `usage_not_recorded` if it is unknown whether the entry is on disk: after an I/O error the embedded
   *   ledger accepts no more entries, while the PostgreSQL ledger reconnects; `idempotency_key_reused` if the key was
   *   used for a different request; `clock_unreliable` if the clock is wrong, so that nothing was recorded
   */
  record(entry: UsageEntry): Promise<RecordResult>;
  /** @throws Fault `rate_limited` if too many reports of the account are waiting; the reason of the signal */
  usage(query: UsageQuery, options?: ReportOptions): Promise<Page<UsageLine>>;
  /** Like `usage`, as lines of CSV without a header. @throws as `usage` does */
  usageCsv(query: UsageQuery, options?: ReportOptions): Promise<CsvPage>;
  audit(options?: AuditOptions): Promise<AuditReport>;
  /** Yields all events of a date range in the order of their times, which is that of recording unless the clock was reset. */
  events(query: {
    readonly accountId?: string;
    readonly from?: string;
    readonly to?: string;
  }): AsyncIterable<RecordedEntry>;

  /**
   * Checks that usage can be recorded at present. Resolves or rejects within two seconds. The result is shared and used
   * again for two seconds, so that callers cannot put load on the ledger.
   * Also rejects if the ledger no longer matches the anchor of its hash chain, or if that has not been written for more
   * than ten seconds: usage is still recorded, but was lost, or its loss would not be noticed.
   * @throws Fault `ledger_unavailable`, `configuration_invalid`, `clock_unreliable` with the reason why not
   */
  checkWritable(): Promise<void>;
  /** How long the anchor of the hash chain could not be written, milliseconds; 0 while it can be or if there is none. */
  readonly anchorUnwrittenMs: number;
  /** The I/O error that stopped the ledger, if any: no more entries can be recorded. */
  readonly failure: Error | undefined;
  /** Resolves with the cause when an I/O error has stopped the ledger: the process must restart to recover the file. */
  readonly failed: Promise<Error>;
  /** Number of reports and lists that wait for their turn. */
  readonly waitingReportCount: number;
  /** Commits pending entries and closes the storage. */
  close(): Promise<void>;
}

/** A ledger with the operations that maintain its storage, which the command line uses. */
export interface MaintainedLedger extends Ledger {
  /** Returns the last batch of the hash chain. */
  chainHead(): Promise<ChainHead>;
  /** Replaces an anchor that the ledger does not match, because an older ledger was restored. */
  acceptRestored(): Promise<ChainHead>;
  /** Sets the time of the ledger to the system clock, after a wrong clock has set it to the future. */
  resetClock(): Promise<{ readonly from: string; readonly to: string }>;
  /** Returns which events `prune` would archive. @throws Fault `invalid_request` if the day is invalid or not in the past */
  prunePlan(query: { readonly before: string }): Promise<PrunePlan>;
  /**
   * Archives the events of a plan, and then deletes them; their sums stay.
   * @param write writes the archive; it must be on disk when the result is returned
   * @throws Fault `ledger_unavailable` if the events do not match the hash chain
   */
  prune(
    plan: PrunePlan,
    write: (batches: AsyncIterable<ArchivedBatch>) => Promise<{ readonly name: string; readonly sha256: string }>,
    onProgress?: (deletedCount: number) => void,
  ): Promise<ChainHead>;
}
