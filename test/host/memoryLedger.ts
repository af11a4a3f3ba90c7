import { createHash, randomUUID } from "node:crypto";
import { Fault } from "../../src/errors.ts";
import type {
  Account,
  ApiKey,
  Commit,
  Customer,
  KeyHolder,
  Ledger,
  UsageEntry,
  UsageLine,
  UsageQuery,
} from "../../src/ledger/ledger.ts";
import { csvLine } from "../../src/text/csv.ts";

interface StoredEntry extends UsageEntry {
  readonly seq: number;
  readonly recordedAt: string;
}

/** An in-memory ledger for tests of the host. */
export class MemoryLedger implements Ledger {
  readonly accounts = new Map<string, Account>();
  readonly keys = new Map<string, ApiKey>();
  readonly customers = new Map<string, Customer>();
  readonly entries: StoredEntry[] = [];
  /** Ledgers with the same secret accept each other's tokens. */
  secret: string = randomUUID();
  /** If set, `record` rejects with this fault, as when the clock is wrong. */
  clockFault: Fault | undefined;
  /** If set, `checkWritable` rejects with this error, and `record` with `usage_not_recorded` caused by it. */
  failure: Error | undefined;
  readonly failed: Promise<Error>;
  readonly waitingReportCount = 0;
  readonly anchorUnwrittenMs = 0;
  readonly #digests = new Map<string, string>();
  readonly #fingerprints = new Map<string, string>();
  readonly #listeners = new Set<() => void>();
  readonly #commitListeners = new Set<(commit: Commit) => void>();
  #fail: (error: Error) => void = () => undefined;

  constructor() {
    this.failed = new Promise((resolve) => (this.#fail = resolve));
  }

  /** Fails permanently, as after an I/O error. */
  fail(error: Error): void {
    this.failure = error;
    this.#fail(error);
  }

  createAccount({ name }: { readonly name: string }): Promise<Account> {
    const account = { accountId: randomUUID(), name, createdAt: now() };
    this.accounts.set(account.accountId, account);
    return Promise.resolve(account);
  }

  listAccounts(): Promise<readonly Account[]> {
    return Promise.resolve([...this.accounts.values()]);
  }

  setAccountSuspended(accountId: string, isSuspended: boolean): Promise<Account> {
    const { suspendedAt: _, ...account } = requireFound(this.accounts.get(accountId), "account_not_found");
    const changed = isSuspended ? { ...account, suspendedAt: now() } : account;
    this.accounts.set(accountId, changed);
    this.#notify();
    return Promise.resolve(changed);
  }

  createKey({ accountId, name, secret }: { accountId: string; name?: string; secret?: string }) {
    requireFound(this.accounts.get(accountId), "account_not_found");
    const issuedSecret = secret ?? `iso_sk_${(randomUUID() + randomUUID()).replaceAll("-", "")}`;
    const key: ApiKey = {
      keyId: randomUUID(),
      accountId,
      ...(name === undefined ? {} : { name }),
      createdAt: now(),
    };
    this.keys.set(key.keyId, key);
    this.#digests.set(digestOf(issuedSecret), key.keyId);
    return Promise.resolve({ secret: issuedSecret, key });
  }

  listKeys({ accountId }: { readonly accountId?: string } = {}): Promise<readonly ApiKey[]> {
    const keys = [...this.keys.values()];
    return Promise.resolve(accountId === undefined ? keys : keys.filter((key) => key.accountId === accountId));
  }

  async rotateKey({ keyId, overlapS }: { readonly keyId: string; readonly overlapS: number }) {
    const old = requireFound(this.keys.get(keyId), "key_not_found");
    const issued = await this.createKey({ accountId: old.accountId });
    const expiresAt = new Date(Date.now() + overlapS * 1000).toISOString();
    this.keys.set(keyId, { ...old, expiresAt, replacedBy: issued.key.keyId });
    this.#notify();
    return issued;
  }

  revokeKey(keyId: string): Promise<ApiKey> {
    const key = { ...requireFound(this.keys.get(keyId), "key_not_found"), revokedAt: now() };
    this.keys.set(keyId, key);
    this.#notify();
    return Promise.resolve(key);
  }

  findKey(digest: Uint8Array): Promise<KeyHolder | undefined> {
    const key = this.keys.get(this.#digests.get(Buffer.from(digest).toString("hex")) ?? "");
    const account = this.accounts.get(key?.accountId ?? "");
    return Promise.resolve(key === undefined || account === undefined ? undefined : { key, account });
  }

  findKeyById(keyId: string): Promise<KeyHolder | undefined> {
    const key = this.keys.get(keyId);
    const account = this.accounts.get(key?.accountId ?? "");
    return Promise.resolve(key === undefined || account === undefined ? undefined : { key, account });
  }

  signingSecret(purpose: string): Promise<string> {
    return Promise.resolve(digestOf(`${this.secret} ${purpose}`));
  }

  checkWritable(): Promise<void> {
    return this.failure === undefined ? Promise.resolve() : Promise.reject(this.failure);
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  onCommit(listener: (commit: Commit) => void): () => void {
    this.#commitListeners.add(listener);
    return () => this.#commitListeners.delete(listener);
  }

  registerCustomer({
    accountId,
    internalId,
    name,
    customerCountMax = Infinity,
  }: {
    accountId: string;
    internalId: string;
    name?: string;
    customerCountMax?: number;
  }) {
    const customers = [...this.customers.values()].filter((customer) => customer.accountId === accountId);
    const known = customers.find((customer) => customer.internalId === internalId);
    if (known?.archivedAt !== undefined) {
      return Promise.reject(new Fault("customer_archived", "The customer was archived."));
    }
    if (known !== undefined) {
      const named = name === undefined ? known : { ...known, name };
      this.customers.set(named.customerId, named);
      return Promise.resolve({ customer: named, isNew: false });
    }
    const requested = customers.length + 1;
    if (requested > customerCountMax) {
      const details = { requested, limit: customerCountMax };
      return Promise.reject(new Fault("too_many_values", "The account has too many customers.", { details }));
    }
    const customer: Customer = {
      customerId: randomUUID(),
      accountId,
      internalId,
      ...(name === undefined ? {} : { name }),
      createdAt: now(),
    };
    this.customers.set(customer.customerId, customer);
    this.#notify();
    return Promise.resolve({ customer, isNew: true });
  }

  findCustomer({ accountId, customerId }: { readonly accountId: string; readonly customerId: string }) {
    const customer = this.customers.get(customerId);
    return Promise.resolve(customer?.accountId === accountId ? customer : undefined);
  }

  listCustomers({ accountId, limit, cursor }: { accountId: string; limit: number; cursor?: string }) {
    const matching = [...this.customers.values()].filter((customer) => customer.accountId === accountId);
    return Promise.resolve(pageOf(matching, { limit, cursor }));
  }

  async archiveCustomer(ids: { readonly accountId: string; readonly customerId: string }) {
    const customer = await this.findCustomer(ids);
    if (customer === undefined) return undefined;
    const archived = { archivedAt: now(), ...customer };
    this.customers.set(customer.customerId, archived);
    this.#notify();
    return archived;
  }

  record(entry: UsageEntry): Promise<{ units: number; isReplay: boolean }> {
    if (this.failure !== undefined) {
      return Promise.reject(
        new Fault("usage_not_recorded", "The usage could not be recorded.", { cause: this.failure }),
      );
    }
    if (this.clockFault !== undefined) return Promise.reject(this.clockFault);
    if (entry.idempotency !== undefined) {
      const { key, fingerprint } = entry.idempotency;
      const idempotencyScope = JSON.stringify([entry.accountId, entry.customerId, entry.route, key]);
      const known = this.#fingerprints.get(idempotencyScope);
      if (known !== undefined && known !== fingerprint) {
        return Promise.reject(new Fault("idempotency_key_reused", "The idempotency key was used for another request."));
      }
      if (known !== undefined) return Promise.resolve({ units: 0, isReplay: true });
      this.#fingerprints.set(idempotencyScope, fingerprint);
    }
    if (entry.units > 0 && !this.entries.some(({ receipt }) => receipt === entry.receipt)) {
      this.entries.push({ ...entry, seq: this.entries.length + 1, recordedAt: now() });
    }
    for (const listener of this.#commitListeners) listener({ rowCount: 1, durationMs: 1 });
    return Promise.resolve({ units: entry.units, isReplay: false });
  }

  usage({ accountId, customerId, from, to, groupBy, limit, cursor }: UsageQuery) {
    const lines = new Map<string, UsageLine>();
    for (const entry of this.entries) {
      if (entry.accountId !== accountId || (customerId !== undefined && entry.customerId !== customerId)) continue;
      const day = entry.recordedAt.slice(0, 10);
      if ((from !== undefined && day < from) || (to !== undefined && day >= to)) continue;
      const period = groupBy.includes("day") ? day : groupBy.includes("month") ? day.slice(0, 7) : undefined;
      const internalId = this.customers.get(entry.customerId)?.internalId;
      const group = {
        ...(groupBy.includes("customer") ? { customerId: entry.customerId } : {}),
        ...(groupBy.includes("customer") && internalId !== undefined ? { internalId } : {}),
        ...(groupBy.includes("meter") ? { meter: entry.meter } : {}),
        ...(period === undefined ? {} : { period }),
      };
      const groupKey = JSON.stringify(group);
      const { requests, units } = lines.get(groupKey) ?? { requests: 0, units: 0 };
      lines.set(groupKey, { ...group, requests: requests + 1, units: units + entry.units });
    }
    return Promise.resolve(pageOf([...lines.values()], { limit, cursor }));
  }

  async usageCsv(query: UsageQuery) {
    const { items, next } = await this.usage(query);
    const lines = items.map(({ customerId, internalId, meter, period, requests, units }) =>
      csvLine([customerId, internalId, meter, period, requests, units], "\r\n"),
    );
    return { text: lines.join(""), lineCount: lines.length, ...(next === undefined ? {} : { next }) };
  }

  audit() {
    const chain = {
      ledgerId: "",
      head: { batch: 0, hash: "" },
      batchCount: 0,
      eventCount: 0,
      archives: [],
      areArchivesVerified: false,
      problems: [],
    };
    return Promise.resolve({
      chain,
      eventCount: this.entries.length,
      rollupCount: 0,
      differences: [],
      sumDifferences: [],
    });
  }

  async *events({ accountId, from, to }: { accountId?: string; from?: string; to?: string }) {
    await Promise.resolve();
    for (const entry of this.entries) {
      const day = entry.recordedAt.slice(0, 10);
      if (accountId !== undefined && entry.accountId !== accountId) continue;
      if ((from === undefined || day >= from) && (to === undefined || day < to)) yield entry;
    }
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #notify(): void {
    for (const listener of this.#listeners) listener();
  }
}

function now(): string {
  return new Date().toISOString();
}

function digestOf(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}

function requireFound<Item>(item: Item | undefined, code: "account_not_found" | "key_not_found"): Item {
  if (item === undefined)
    throw new Fault(code, code === "key_not_found" ? "The key does not exist." : "The account does not exist.");
  return item;
}

function pageOf<Item>(items: readonly Item[], { limit, cursor }: { limit: number; cursor: string | undefined }) {
  const start = cursor === undefined ? 0 : Number(cursor);
  if (!Number.isInteger(start)) throw new Fault("invalid_request", "cursor must be a cursor returned by this ledger.");
  const end = start + limit;
  return { items: items.slice(start, end), ...(end < items.length ? { next: String(end) } : {}) };
}
