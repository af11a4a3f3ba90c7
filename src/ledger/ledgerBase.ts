import { CachedCheck } from "./cachedCheck.ts";
import type {
  Account,
  ApiKey,
  AuditReport,
  Commit,
  CsvPage,
  Customer,
  IssuedKey,
  KeyHolder,
  Ledger,
  Page,
  PageQuery,
  RecordResult,
  RecordedEntry,
  ReportOptions,
  UsageEntry,
  UsageLine,
  UsageQuery,
} from "./ledger.ts";
import { type ArgumentOf, INVALIDATING_METHODS, type MethodName, type ResultOf } from "./methods.ts";

/** How long the result of a write check is used again, and the time after which a check has failed. */
const WRITE_CHECK_VALID_MS = 2_000;
const WRITE_CHECK_TIMEOUT_MS = 2_000;
/** Events per page of `events()`, which bounds its memory. */
const EVENT_PAGE_COUNT = 1000;

/** Base class of ledgers: forwards every call to `dispatch`, which the storage implements, and manages listeners. */
export abstract class LedgerBase implements Ledger {
  readonly failed: Promise<Error>;
  readonly #listeners = new Set<() => void>();
  readonly #commitListeners = new Set<(commit: Commit) => void>();
  readonly #writeCheck = new CachedCheck({
    check: () => this.checkStorage(),
    validMs: WRITE_CHECK_VALID_MS,
    timeoutMs: WRITE_CHECK_TIMEOUT_MS,
  });
  #failure: Error | undefined;
  #resolveFailed!: (error: Error) => void;

  constructor() {
    this.failed = new Promise((resolve) => {
      this.#resolveFailed = resolve;
    });
  }

  /** Runs a method of `LEDGER_METHODS` on the storage. */
  protected abstract dispatch<Name extends MethodName>(
    name: Name,
    argument: ArgumentOf<Name>,
    signal?: AbortSignal,
  ): Promise<ResultOf<Name>>;
  abstract record(entry: UsageEntry): Promise<RecordResult>;
  abstract close(): Promise<void>;
  abstract readonly waitingReportCount: number;

  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Marks the ledger as failed: nothing more can be recorded. */
  protected fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#resolveFailed(error);
  }

  onChange(listener: () => void): () => void {
    // Wrapped, so that each of several registrations of a listener can be removed separately.
    const registration = (): void => listener();
    this.#listeners.add(registration);
    return () => this.#listeners.delete(registration);
  }

  protected notifyChange(): void {
    for (const listener of this.#listeners) listener();
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    const registration = (commit: Commit): void => listener(commit);
    this.#commitListeners.add(registration);
    return () => this.#commitListeners.delete(registration);
  }

  protected notifyCommit(commit: Commit): void {
    for (const listener of this.#commitListeners) listener(commit);
  }

  async #call<Name extends MethodName>(
    name: Name,
    argument: ArgumentOf<Name>,
    signal?: AbortSignal,
  ): Promise<ResultOf<Name>> {
    const result = await this.dispatch(name, argument, signal);
    if (INVALIDATING_METHODS.has(name)) this.notifyChange();
    return result;
  }

  createAccount(account: { readonly name: string }): Promise<Account> {
    return this.#call("createAccount", account);
  }

  listAccounts(): Promise<readonly Account[]> {
    return this.#call("listAccounts", undefined);
  }

  setAccountSuspended(accountId: string, isSuspended: boolean): Promise<Account> {
    return this.#call("setAccountSuspended", { accountId, isSuspended });
  }

  createKey(key: { readonly accountId: string; readonly name?: string; readonly secret?: string }): Promise<IssuedKey> {
    return this.#call("createKey", key);
  }

  listKeys(query?: { readonly accountId?: string }): Promise<readonly ApiKey[]> {
    return this.#call("listKeys", query);
  }

  rotateKey(rotation: { readonly keyId: string; readonly overlapS: number }): Promise<IssuedKey> {
    return this.#call("rotateKey", rotation);
  }

  revokeKey(keyId: string): Promise<ApiKey> {
    return this.#call("revokeKey", { keyId });
  }

  findKey(digest: Uint8Array): Promise<KeyHolder | undefined> {
    return this.#call("findKey", { digest });
  }

  registerCustomer(customer: {
    readonly accountId: string;
    readonly internalId: string;
    readonly name?: string;
  }): Promise<{ readonly customer: Customer; readonly isNew: boolean }> {
    return this.#call("registerCustomer", customer);
  }

  findCustomer({
    accountId,
    customerId,
  }: {
    readonly accountId: string;
    readonly customerId: string;
  }): Promise<Customer | undefined> {
    return this.#call("findCustomer", { accountId, customerId });
  }

  listCustomers(query: PageQuery, { signal }: ReportOptions = {}): Promise<Page<Customer>> {
    return this.#call("listCustomers", query, signal);
  }

  archiveCustomer({
    accountId,
    customerId,
  }: {
    readonly accountId: string;
    readonly customerId: string;
  }): Promise<Customer | undefined> {
    return this.#call("archiveCustomer", { accountId, customerId });
  }

  usage(query: UsageQuery, { signal }: ReportOptions = {}): Promise<Page<UsageLine>> {
    return this.#call("usage", query, signal);
  }

  usageCsv(query: UsageQuery, { signal }: ReportOptions = {}): Promise<CsvPage> {
    return this.#call("usageCsv", query, signal);
  }

  audit(): Promise<AuditReport> {
    return this.#call("audit", undefined);
  }

  checkWritable(): Promise<void> {
    return this.#writeCheck.run();
  }

  /** Checks that usage can be recorded; `checkWritable` limits how often it is called. */
  protected checkStorage(): Promise<void> {
    return this.#call("checkWritable", undefined);
  }

  async *events(query: {
    readonly accountId?: string;
    readonly from?: string;
    readonly to?: string;
  }): AsyncGenerator<RecordedEntry> {
    let after: RecordedEntry | undefined;
    for (;;) {
      const page = await this.#call("eventPage", { ...query, after, limit: EVENT_PAGE_COUNT });
      yield* page;
      after = page.at(-1);
      if (page.length < EVENT_PAGE_COUNT) return;
    }
  }
}

/** Creates the error of a call to a closed ledger. */
export function closedError(): Error {
  return new Error("The ledger is closed.");
}
