import {
  type Account,
  type ApiKey,
  type ArchivedBatch,
  type AuditReport,
  type Commit,
  type CsvPage,
  type Customer,
  type CustomerRef,
  type IssuedKey,
  type KeyHolder,
  type MaintainedLedger,
  type Page,
  type PageQuery,
  type RecordResult,
  type RecordedEntry,
  type ReportOptions,
  type UsageEntry,
  type UsageLine,
  type UsageQuery,
  WAITING_REPORT_COUNT_MAX,
} from "./ledger.ts";
import { Turns } from "../concurrency/turns.ts";
import { Fault, isFault } from "../errors.ts";
import type { AuditOptions, ChainHead, PrunePlan } from "./chainReport.ts";
import type { ChainState } from "./chainAudit.ts";
import { ClockMonitor, futureFault } from "./clock.ts";
import { type ChainStart, LedgerChain } from "./ledgerChain.ts";
import { type ArgumentOf, DATED_METHODS, INVALIDATING_METHODS, type MethodName, type ResultOf } from "./methods.ts";

/** How long the result of a write check is used again, and the time after which a check has failed. */
const WRITE_CHECK_VALID_MS = 2_000;
const WRITE_CHECK_TIMEOUT_MS = 2_000;
/** Events per page of `events()`, which bounds its memory. */
const EVENT_PAGE_COUNT = 1000;

/** The clocks of a ledger. */
export interface LedgerClock {
  /** The system clock, milliseconds since 1970. */
  readonly now: () => number;
  /** A clock that is never set, in milliseconds; without it, changes of the system clock are not detected. */
  readonly monotonicNow?: (() => number) | undefined;
}

/** Base class of ledgers: forwards every call to `dispatch`, which the storage implements, and manages listeners. */
export abstract class LedgerBase implements MaintainedLedger {
  readonly failed: Promise<Error>;
  readonly #listeners = new Set<(customer?: CustomerRef) => void>();
  readonly #commitListeners = new Set<(commit: Commit) => void>();
  readonly #writeCheck = new CachedCheck({
    check: () => this.checkStorage(),
    validMs: WRITE_CHECK_VALID_MS,
    timeoutMs: WRITE_CHECK_TIMEOUT_MS,
  });
  #failure: Error | undefined;
  #resolveFailed!: (error: Error) => void;

  readonly #clock: LedgerClock;
  readonly #clockMonitor: ClockMonitor | undefined;
  /** The ledger's time, if it was in the future. */
  #futureAt: string | undefined;
  readonly #chain = new LedgerChain({
    call: (name, argument) => this.#call(name, argument),
    readState: (query) => this.readChainState(query),
    now: () => this.#clock.now(),
  });

  constructor(clock: LedgerClock) {
    this.#clock = clock;
    const { now, monotonicNow } = clock;
    this.#clockMonitor = monotonicNow === undefined ? undefined : new ClockMonitor({ now, monotonicNow });
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
  /** Reads the end of the hash chain, also while the ledger is being closed. What it returns is on disk. */
  protected abstract readChainState(query: { readonly batch?: number }): Promise<ChainState>;
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

  /** The reason why the system clock cannot be used; undefined if it was not set while the process was running. */
  protected get clockDriftFault(): Fault | undefined {
    return this.#clockMonitor?.fault;
  }

  /** Remembers that the ledger's time is in the future, if that is why an entry was not recorded. */
  protected noteRejection(error: unknown): void {
    if (!isFault(error, "clock_unreliable")) return;
    const { lastAt } = error.details;
    if (typeof lastAt === "string") this.#futureAt = lastAt;
  }

  /**
   * Verifies the end of the hash chain and keeps its anchor from now on.
   * @throws Fault `ledger_unavailable` if the ledger does not match its chain or anchor
   */
  async startChain(options: ChainStart): Promise<void> {
    this.#futureAt = await this.#chain.start(options);
  }

  /** Writes the anchor a last time; the subclass calls it after the last entry has been recorded. */
  protected async closeChain(): Promise<void> {
    if (this.#failure === undefined) await this.#chain.close();
  }

  onChange(listener: (customer?: CustomerRef) => void): () => void {
    // Wrapped, so that each of several registrations of a listener can be removed separately.
    const registration = (customer?: CustomerRef): void => listener(customer);
    this.#listeners.add(registration);
    return () => this.#listeners.delete(registration);
  }

  /** Announces a change of a customer, or without one a change of any key, account or customer. */
  protected notifyChange(customer?: CustomerRef): void {
    for (const listener of this.#listeners) listener(customer);
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    const registration = (commit: Commit): void => listener(commit);
    this.#commitListeners.add(registration);
    return () => this.#commitListeners.delete(registration);
  }

  protected notifyCommit(commit: Commit): void {
    this.#futureAt = undefined;
    this.#chain.onCommit();
    for (const listener of this.#commitListeners) listener(commit);
  }

  async #call<Name extends MethodName>(
    name: Name,
    argument: ArgumentOf<Name>,
    signal?: AbortSignal,
  ): Promise<ResultOf<Name>> {
    const { clockDriftFault } = this;
    if (clockDriftFault !== undefined && DATED_METHODS.has(name)) throw clockDriftFault;
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

  findKeyById(keyId: string): Promise<KeyHolder | undefined> {
    return this.#call("findKeyById", { keyId });
  }

  signingSecret(purpose: string): Promise<string> {
    return this.#call("signingSecret", { purpose });
  }

  registerCustomer(
    customer: ArgumentOf<"registerCustomer">,
  ): Promise<{ readonly customer: Customer; readonly isNew: boolean }> {
    return this.#call("registerCustomer", customer);
  }

  findCustomer({ accountId, customerId }: CustomerRef): Promise<Customer | undefined> {
    return this.#call("findCustomer", { accountId, customerId });
  }

  listCustomers(query: PageQuery, { signal }: ReportOptions = {}): Promise<Page<Customer>> {
    return this.#call("listCustomers", query, signal);
  }

  async archiveCustomer({ accountId, customerId }: CustomerRef): Promise<Customer | undefined> {
    const ref = { accountId, customerId };
    // A request that changes nothing neither writes nor invalidates caches. Archived customers stay archived.
    const known = await this.findCustomer(ref);
    if (known === undefined || known.archivedAt !== undefined) return known;
    const archived = await this.#call("archiveCustomer", ref);
    this.notifyChange(ref);
    return archived;
  }

  async usage(query: UsageQuery, { signal }: ReportOptions = {}): Promise<Page<UsageLine>> {
    const items: UsageLine[] = [];
    // Each part has its own turn among the reports.
    for (let position = query.cursor; ;) {
      const isFull = items.length > 0 && items.length === query.limit;
      const cursor = position === undefined ? {} : { cursor: position };
      // After a full page, looks for a further line, because the last page has no cursor.
      const limit = isFull ? 1 : query.limit - items.length;
      const part = await this.#call("usage", { ...query, ...cursor, limit }, signal);
      if (isFull && part.items.length > 0) return { items, ...(position === undefined ? {} : { next: position }) };
      items.push(...part.items);
      position = part.next;
      if (!part.isPartial) return { items, ...(position === undefined ? {} : { next: position }) };
    }
  }

  usageCsv(query: UsageQuery, { signal }: ReportOptions = {}): Promise<CsvPage> {
    return this.#call("usageCsv", query, signal);
  }

  audit(options: AuditOptions = {}): Promise<AuditReport> {
    return this.#chain.audit(options);
  }

  chainHead(): Promise<ChainHead> {
    return this.#chain.head();
  }

  acceptRestored(): Promise<ChainHead> {
    return this.#chain.acceptRestored();
  }

  resetClock(): Promise<{ readonly from: string; readonly to: string }> {
    return this.#call("resetClock", undefined);
  }

  prunePlan(query: { readonly before: string }): Promise<PrunePlan> {
    return this.#call("prunePlan", query);
  }

  prune(
    plan: PrunePlan,
    write: (batches: AsyncIterable<ArchivedBatch>) => Promise<{ readonly name: string; readonly sha256: string }>,
    onProgress: (deletedCount: number) => void = () => undefined,
  ): Promise<ChainHead> {
    return this.#chain.prune(plan, write, onProgress);
  }

  async checkWritable(): Promise<void> {
    const future = this.#futureAt === undefined ? undefined : futureFault(this.#futureAt, this.#clock.now());
    const clockFault = this.clockDriftFault ?? future;
    if (clockFault !== undefined) throw clockFault;
    const { anchorFault } = this.#chain;
    if (anchorFault !== undefined) throw anchorFault;
    await this.#writeCheck.run();
  }

  get anchorUnwrittenMs(): number {
    return this.#chain.anchorUnwrittenMs;
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

/** Returns a queue of reports, which accounts share fairly. @param runningMax reports that run at the same time */
export function reportTurns(runningMax: number): Turns {
  const onFull = (waitingCount: number): Fault => {
    const message = `${waitingCount} reports of this account are waiting already; send the next one after a response.`;
    return new Fault("rate_limited", message);
  };
  return new Turns({ runningMax, waitingPerTenantMax: WAITING_REPORT_COUNT_MAX, onFull });
}

/** Creates the error of a call to a closed ledger. */
export function closedError(): Error {
  return new Error("The ledger is closed.");
}

export interface CachedCheckOptions {
  /** Rejects with the problem that it has found. */
  readonly check: () => Promise<void>;
  /** How long a result is used again. */
  readonly validMs: number;
  /** Time after which a check that has not finished counts as failed. It runs on, and no other one starts beside it. */
  readonly timeoutMs: number;
  /** A clock that never decreases, in milliseconds. */
  readonly nowMs?: () => number;
}

/** A check whose results are shared, so that the number of callers does not matter for what is checked. */
export class CachedCheck {
  readonly #options: CachedCheckOptions;
  readonly #nowMs: () => number;
  #running: { readonly startMs: number; readonly finished: Promise<void> } | undefined;
  #result: { readonly atMs: number; readonly problem?: unknown } | undefined;

  constructor(options: CachedCheckOptions) {
    this.#options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
  }

  /** @throws the problem that the latest check has found; Fault `ledger_unavailable` if it does not finish in time */
  async run(): Promise<void> {
    const { validMs, timeoutMs } = this.#options;
    const isValid = this.#result !== undefined && this.#nowMs() - this.#result.atMs < validMs;
    if (this.#running === undefined && !isValid) this.#start();
    const running = this.#running;
    if (running !== undefined) {
      await settledWithin(running.finished, running.startMs + timeoutMs - this.#nowMs());
      if (this.#running === running) {
        throw new Fault("ledger_unavailable", `The storage of the ledger has not responded for ${timeoutMs / 1000} s.`);
      }
    }
    if (this.#result !== undefined && "problem" in this.#result) throw this.#result.problem;
  }

  #start(): void {
    const startMs = this.#nowMs();
    const finish = (problem: { readonly problem?: unknown }): void => {
      this.#running = undefined;
      this.#result = { atMs: this.#nowMs(), ...problem };
    };
    const finished = this.#options.check().then(
      () => finish({}),
      (problem: unknown) => finish({ problem }),
    );
    this.#running = { startMs, finished };
  }
}

/** Resolves when a promise that never rejects has resolved, or after a time. */
async function settledWithin(promise: Promise<void>, timeMs: number): Promise<void> {
  if (timeMs <= 0) return;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, timeMs)));
  await Promise.race([promise, timeout]);
  clearTimeout(timer);
}
