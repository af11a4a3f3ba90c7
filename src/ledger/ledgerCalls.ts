import type {
  Account,
  ApiKey,
  AuditReport,
  Commit,
  Customer,
  IssuedKey,
  KeyHolder,
  Ledger,
  Page,
  PageQuestion,
  Recorded,
  RecordedEntry,
  UsageEntry,
  UsageLine,
  UsageQuestion,
} from "./ledger.ts";
import { type ArgumentOf, CHANGING, type MethodName, type ResultOf } from "./methods.ts";

/** Events that are read at a time: little memory, however many there are. */
const EVENT_PAGE_COUNT = 1000;

/** The calls of a ledger, each led to the one place where the storage carries them out. */
export abstract class LedgerCalls implements Ledger {
  readonly failed: Promise<Error>;
  readonly #listeners = new Set<() => void>();
  readonly #commitListeners = new Set<(commit: Commit) => void>();
  #failure: Error | undefined;
  #tellFailure!: (error: Error) => void;

  constructor() {
    this.failed = new Promise((resolve) => {
      this.#tellFailure = resolve;
    });
  }

  protected abstract ask<Name extends MethodName>(name: Name, argument: ArgumentOf<Name>): Promise<ResultOf<Name>>;
  abstract record(entry: UsageEntry): Promise<Recorded>;
  abstract close(): Promise<void>;

  get failure(): Error | undefined {
    return this.#failure;
  }

  /** Nothing can be recorded from here on. */
  protected fail(error: Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = error;
    this.#tellFailure(error);
  }

  onChange(listener: () => void): () => void {
    // Somebody may listen twice, and leaves once for each.
    const own = (): void => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  protected announceChange(): void {
    for (const listener of this.#listeners) listener();
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    const own = (commit: Commit): void => listener(commit);
    this.#commitListeners.add(own);
    return () => this.#commitListeners.delete(own);
  }

  protected announceCommit(commit: Commit): void {
    for (const listener of this.#commitListeners) listener(commit);
  }

  async #call<Name extends MethodName>(name: Name, argument: ArgumentOf<Name>): Promise<ResultOf<Name>> {
    const result = await this.ask(name, argument);
    if (CHANGING.has(name)) this.announceChange();
    return result;
  }

  createAccount(account: { readonly name: string }): Promise<Account> {
    return this.#call("createAccount", account);
  }

  listAccounts(): Promise<readonly Account[]> {
    return this.#call("listAccounts", undefined);
  }

  suspendAccount(accountId: string, isSuspended: boolean): Promise<Account> {
    return this.#call("suspendAccount", { accountId, isSuspended });
  }

  createKey(key: { readonly accountId: string; readonly name?: string; readonly secret?: string }): Promise<IssuedKey> {
    return this.#call("createKey", key);
  }

  listKeys(question?: { readonly accountId?: string }): Promise<readonly ApiKey[]> {
    return this.#call("listKeys", question);
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

  listCustomers(question: PageQuestion): Promise<Page<Customer>> {
    return this.#call("listCustomers", question);
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

  usage(question: UsageQuestion): Promise<Page<UsageLine>> {
    return this.#call("usage", question);
  }

  audit(): Promise<AuditReport> {
    return this.#call("audit", undefined);
  }

  async *events(question: {
    readonly accountId?: string;
    readonly from?: string;
    readonly to?: string;
  }): AsyncGenerator<RecordedEntry> {
    let after: RecordedEntry | undefined;
    for (;;) {
      const page = await this.#call("eventPage", { ...question, after, limit: EVENT_PAGE_COUNT });
      yield* page;
      after = page.at(-1);
      if (page.length < EVENT_PAGE_COUNT) return;
    }
  }
}
