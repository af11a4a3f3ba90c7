import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Fault } from "../../src/errors.ts";
import { type AuthenticatorOptions, Authenticator } from "../../src/ledger/authenticator.ts";
import { digestOf, newKey } from "../../src/ledger/keys.ts";
import type { Account, ApiKey, Customer, CustomerRef, KeyHolder, Ledger } from "../../src/ledger/ledger.ts";

const CREATED = "2026-01-01T00:00:00.000Z";
const ADDRESS = "192.0.2.1";

/** An in-memory fake of the parts of a ledger that an authenticator uses, which counts lookups. */
class FakeLedger {
  readonly holders = new Map<string, KeyHolder>();
  readonly customers = new Map<string, Customer>();
  keyLookupCount = 0;
  customerLookupCount = 0;
  /** Runs before a lookup resolves. */
  beforeResult: () => Promise<void> = () => Promise.resolve();
  #listener: (customer?: CustomerRef) => void = () => undefined;

  add(overrides: { key?: Partial<ApiKey>; account?: Partial<Account> } = {}): { secret: string; holder: KeyHolder } {
    const account = { accountId: randomUUID(), name: "Someone", createdAt: CREATED, ...overrides.account };
    const key = { keyId: randomUUID(), accountId: account.accountId, createdAt: CREATED, ...overrides.key };
    const secret = newKey();
    const holder = { key, account };
    this.holders.set(digestOf(secret).toString("hex"), holder);
    return { secret, holder };
  }

  revoke(secret: string): void {
    const digest = digestOf(secret).toString("hex");
    const holder = this.holders.get(digest);
    if (holder !== undefined) this.holders.set(digest, { ...holder, key: { ...holder.key, revokedAt: CREATED } });
  }

  notifyChange(customer?: CustomerRef): void {
    this.#listener(customer);
  }

  authenticator(options: Partial<AuthenticatorOptions> = {}): Authenticator {
    const ledger: Pick<Ledger, "findKey" | "findKeyById" | "findCustomer" | "onChange"> = {
      findKeyById: async (keyId) => {
        this.keyLookupCount++;
        const found = [...this.holders.values()].find(({ key }) => key.keyId === keyId);
        await this.beforeResult();
        return found;
      },
      findKey: async (digest) => {
        this.keyLookupCount++;
        const found = this.holders.get(Buffer.from(digest).toString("hex"));
        await this.beforeResult();
        return found;
      },
      findCustomer: async ({ accountId, customerId }) => {
        this.customerLookupCount++;
        const found = this.customers.get(customerId);
        await this.beforeResult();
        return found?.accountId === accountId ? found : undefined;
      },
      onChange: (listener) => {
        this.#listener = listener;
        return () => {
          this.#listener = () => undefined;
        };
      },
    };
    return new Authenticator(ledger as Ledger, options);
  }
}

async function codeOf(result: KeyHolder | Promise<KeyHolder>): Promise<string> {
  try {
    await result;
    return "authenticated";
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}

/** Returns the message with which a key is rejected; fails if it is accepted. */
async function messageOf(authenticate: () => KeyHolder | Promise<KeyHolder>): Promise<string> {
  const error: unknown = await (async () => authenticate())().then(
    () => "authenticated",
    (error: unknown) => error,
  );
  expect(error).toMatchObject({ code: "api_key_invalid" });
  return (error as Fault).message;
}

const failLookup = (): Promise<never> =>
  Promise.reject(new Fault("ledger_unavailable", "The database is unavailable."));

describe("Authenticator", () => {
  test("authenticates a key, and returns synchronously on a cache hit", async () => {
    const ledger = new FakeLedger();
    const { secret, holder } = ledger.add();
    const authenticator = ledger.authenticator();
    expect(await authenticator.authenticate(secret, ADDRESS)).toEqual(holder);
    expect(authenticator.authenticate(secret, ADDRESS)).toEqual(holder);
    expect(ledger.keyLookupCount).toBe(1);
  });

  test("shares one lookup between concurrent requests", async () => {
    const ledger = new FakeLedger();
    const { secret, holder } = ledger.add();
    const authenticator = ledger.authenticator();
    const all = await Promise.all(Array.from({ length: 100 }, async () => authenticator.authenticate(secret, ADDRESS)));
    expect(new Set(all)).toEqual(new Set([holder]));
    expect(ledger.keyLookupCount).toBe(1);
  });

  test("reports an unknown key with a wrong checksum as mistyped", async () => {
    const ledger = new FakeLedger();
    const { secret } = ledger.add();
    const authenticator = ledger.authenticator();
    await authenticator.authenticate(secret, ADDRESS);
    for (let i = "iso_sk_".length; i < secret.length; i++) {
      const mistyped = secret.slice(0, i) + (secret[i] === "x" ? "y" : "x") + secret.slice(i + 1);
      expect(await messageOf(() => authenticator.authenticate(mistyped, ADDRESS))).toMatch(/seems mistyped/);
    }
    expect(await messageOf(() => authenticator.authenticate(newKey(), ADDRESS))).not.toMatch(/mistyped/);
    // Keys of other services have no checksum that could be wrong.
    expect(await messageOf(() => authenticator.authenticate(`other_sk_${"x".repeat(64)}`, ADDRESS))).not.toMatch(
      /mistyped/,
    );
  });

  test("accepts an imported key without a valid checksum, and reports it as revoked after revocation", async () => {
    const ledger = new FakeLedger();
    const imported = `iso_sk_${"Az09".repeat(16)}`;
    const { holder } = ledger.add();
    ledger.holders.set(digestOf(imported).toString("hex"), holder);
    expect(await ledger.authenticator().authenticate(imported, ADDRESS)).toEqual(holder);
    ledger.revoke(imported);
    expect(await codeOf(ledger.authenticator().authenticate(imported, ADDRESS))).toBe("api_key_revoked");
  });

  test.each([
    ["one character too few", `iso_sk_${"a".repeat(63)}`],
    ["one character too many", `iso_sk_${"a".repeat(65)}`],
    ["a foreign character", `iso_sk_${"a".repeat(63)}-`],
    ["no resemblance to a key", "open sesame"],
  ])("rejects text with %s and describes the form of a key, without a lookup", async (_name, text) => {
    const ledger = new FakeLedger();
    const message = await messageOf(() => ledger.authenticator().authenticate(text, ADDRESS));
    expect(message).toContain("64 characters of 0-9, A-Z, a-z");
    expect(message).toContain(`(got ${text.length} characters)`);
    expect(message).not.toContain(text);
    expect(ledger.keyLookupCount).toBe(0);
  });

  test("rejects each invalid key with the matching code", async () => {
    const ledger = new FakeLedger();
    const nowMs = Date.parse("2026-06-01T00:00:00.000Z");
    const authenticator = ledger.authenticator({ now: () => nowMs });
    const revoked = ledger.add({ key: { revokedAt: CREATED } });
    const expired = ledger.add({ key: { expiresAt: new Date(nowMs).toISOString() } });
    const overlapping = ledger.add({ key: { expiresAt: new Date(nowMs + 1).toISOString() } });
    const suspended = ledger.add({ account: { suspendedAt: CREATED } });
    for (let round = 0; round < 2; round++) {
      expect(await codeOf(authenticator.authenticate(newKey(), ADDRESS))).toBe("api_key_invalid");
      expect(await codeOf(authenticator.authenticate("no key at all", ADDRESS))).toBe("api_key_invalid");
      expect(await codeOf(authenticator.authenticate("", ADDRESS))).toBe("api_key_invalid");
      expect(await codeOf(authenticator.authenticate(`${overlapping.secret}, ${overlapping.secret}`, ADDRESS))).toBe(
        "api_key_invalid",
      );
      expect(await codeOf(authenticator.authenticate(revoked.secret, ADDRESS))).toBe("api_key_revoked");
      expect(await codeOf(authenticator.authenticate(expired.secret, ADDRESS))).toBe("api_key_revoked");
      expect(await codeOf(authenticator.authenticate(suspended.secret, ADDRESS))).toBe("account_suspended");
      expect(await codeOf(authenticator.authenticate(overlapping.secret, ADDRESS))).toBe("authenticated");
    }
  });

  test("looks up keys with any checksum, but not text that cannot be a key", async () => {
    const ledger = new FakeLedger();
    const { holder } = ledger.add();
    const secret = `other_sk_${"a1".repeat(32)}`;
    ledger.holders.set(digestOf(secret).toString("hex"), holder);
    const authenticator = ledger.authenticator();
    expect(await codeOf(authenticator.authenticate("iso_sk_short", ADDRESS))).toBe("api_key_invalid");
    expect(ledger.keyLookupCount).toBe(0);
    expect(await authenticator.authenticate(secret, ADDRESS)).toEqual(holder);
  });

  test("does not cache unknown keys, so that a new key works at once", async () => {
    const ledger = new FakeLedger();
    const authenticator = ledger.authenticator();
    const { secret, holder } = ledger.add();
    const digest = digestOf(secret).toString("hex");
    ledger.holders.delete(digest);
    expect(await codeOf(authenticator.authenticate(secret, ADDRESS))).toBe("api_key_invalid");
    ledger.holders.set(digest, holder);
    expect(await authenticator.authenticate(secret, ADDRESS)).toEqual(holder);
  });

  test("invalidates cached keys on a change notification, and after 5 seconds", async () => {
    const ledger = new FakeLedger();
    let nowMs = 1_000_000;
    const authenticator = ledger.authenticator({ now: () => nowMs });
    const first = ledger.add();
    await authenticator.authenticate(first.secret, ADDRESS);
    ledger.revoke(first.secret);
    nowMs += 4999;
    expect(await codeOf(authenticator.authenticate(first.secret, ADDRESS))).toBe("authenticated");
    nowMs += 1;
    expect(await codeOf(authenticator.authenticate(first.secret, ADDRESS))).toBe("api_key_revoked");

    const second = ledger.add();
    await authenticator.authenticate(second.secret, ADDRESS);
    ledger.revoke(second.secret);
    ledger.notifyChange();
    expect(await codeOf(authenticator.authenticate(second.secret, ADDRESS))).toBe("api_key_revoked");
  });

  test("does not use the result of a lookup that started before a change", async () => {
    const ledger = new FakeLedger();
    const authenticator = ledger.authenticator();
    const { secret } = ledger.add();
    let release: () => void = () => undefined;
    ledger.beforeResult = () => new Promise((resolve) => (release = resolve));
    const early = authenticator.authenticate(secret, ADDRESS);
    ledger.revoke(secret);
    ledger.notifyChange();
    const releaseEarly = release;
    ledger.beforeResult = () => Promise.resolve();
    expect(await codeOf(authenticator.authenticate(secret, ADDRESS))).toBe("api_key_revoked");
    releaseEarly();
    await early;
    expect(await codeOf(authenticator.authenticate(secret, ADDRESS))).toBe("api_key_revoked");
  });

  test("uses stale entries for a minute while the database fails or does not respond", async () => {
    const ledger = new FakeLedger();
    let nowMs = 1_000_000;
    const authenticator = ledger.authenticator({ now: () => nowMs, lookupTimeoutMs: 10 });
    const { secret } = ledger.add();
    const customer = { customerId: randomUUID(), accountId: randomUUID(), internalId: "x", createdAt: CREATED };
    ledger.customers.set(customer.customerId, customer);
    await authenticator.authenticate(secret, ADDRESS);
    await authenticator.findCustomer(customer);
    for (const beforeResult of [failLookup, () => new Promise<never>(() => undefined)]) {
      ledger.beforeResult = beforeResult;
      nowMs += 20_000;
      expect(await codeOf(authenticator.authenticate(secret, ADDRESS))).toBe("authenticated");
      expect(await authenticator.findCustomer(customer)).toEqual(customer);
    }
    ledger.beforeResult = failLookup;
    nowMs += 20_000;
    await expect(authenticator.authenticate(secret, ADDRESS)).rejects.toMatchObject({ code: "ledger_unavailable" });
    await expect(authenticator.findCustomer(customer)).rejects.toMatchObject({ code: "ledger_unavailable" });
    // A key that was never cached cannot be authenticated.
    expect(await codeOf(authenticator.authenticate(ledger.add().secret, ADDRESS))).toBe("ledger_unavailable");
  });

  test("finds customers of the account, including archived ones, and invalidates them on changes", async () => {
    const ledger = new FakeLedger();
    const authenticator = ledger.authenticator();
    const customer = { customerId: randomUUID(), accountId: randomUUID(), internalId: "x", createdAt: CREATED };
    const { customerId, accountId } = customer;
    expect(await authenticator.findCustomer({ accountId, customerId })).toBeUndefined();
    ledger.customers.set(customerId, customer);
    expect(await authenticator.findCustomer({ accountId, customerId })).toEqual(customer);
    expect(authenticator.findCustomer({ accountId, customerId })).toEqual(customer);
    expect(await authenticator.findCustomer({ accountId: randomUUID(), customerId })).toBeUndefined();
    const archived = { ...customer, archivedAt: CREATED };
    ledger.customers.set(customerId, archived);
    ledger.notifyChange();
    expect(await authenticator.findCustomer({ accountId, customerId })).toEqual(archived);
  });

  test("invalidates only a customer that is named by the notification, also while it is looked up", async () => {
    const ledger = new FakeLedger();
    const authenticator = ledger.authenticator();
    const { secret } = ledger.add();
    const newCustomer = (): Customer => {
      return { customerId: randomUUID(), accountId: randomUUID(), internalId: "x", createdAt: CREATED };
    };
    const [changed, other] = [newCustomer(), newCustomer()];
    for (const customer of [changed, other]) ledger.customers.set(customer.customerId, customer);
    await authenticator.authenticate(secret, ADDRESS);
    await authenticator.findCustomer(other);

    let release: () => void = () => undefined;
    ledger.beforeResult = () => new Promise((resolve) => (release = resolve));
    const early = authenticator.findCustomer(changed);
    const archived = { ...changed, archivedAt: CREATED };
    ledger.customers.set(changed.customerId, archived);
    ledger.notifyChange(changed);
    ledger.beforeResult = () => Promise.resolve();
    release();
    await early;
    expect(await authenticator.findCustomer(changed)).toEqual(archived);
    expect(authenticator.findCustomer(changed)).toEqual(archived);

    ledger.customers.set(changed.customerId, changed);
    ledger.notifyChange(changed);
    expect(await authenticator.findCustomer(changed)).toEqual(changed);
    expect(authenticator.findCustomer(other)).toEqual(other);
    expect(authenticator.authenticate(secret, ADDRESS)).not.toBeInstanceOf(Promise);
  });

  test("authenticates the holder of a key by the id of the key, and checks it as the key itself", async () => {
    const ledger = new FakeLedger();
    const { secret, holder } = ledger.add();
    const { keyId } = holder.key;
    const authenticator = ledger.authenticator();
    expect(await authenticator.authenticateId(keyId, ADDRESS)).toEqual(holder);
    expect(authenticator.authenticateId(keyId, ADDRESS)).toEqual(holder);
    expect(ledger.keyLookupCount).toBe(1);
    ledger.revoke(secret);
    ledger.notifyChange();
    expect(await codeOf(authenticator.authenticateId(keyId, ADDRESS))).toBe("api_key_revoked");
    const suspended = ledger.add({ account: { suspendedAt: CREATED } }).holder.key.keyId;
    expect(await codeOf(authenticator.authenticateId(suspended, ADDRESS))).toBe("account_suspended");
    expect(await codeOf(authenticator.authenticateId(randomUUID(), ADDRESS))).toBe("api_key_invalid");
  });

  test("evicts the oldest entry when the cache is full", async () => {
    const ledger = new FakeLedger();
    const authenticator = ledger.authenticator({ entryCountMax: 3 });
    const all = Array.from({ length: 5 }, () => ledger.add().secret);
    for (const secret of all) await authenticator.authenticate(secret, ADDRESS);
    for (const secret of all.slice(2)) await authenticator.authenticate(secret, ADDRESS);
    expect(ledger.keyLookupCount).toBe(5);
    await authenticator.authenticate(all[0] ?? "", ADDRESS);
    expect(ledger.keyLookupCount).toBe(6);
  });

  test("ignores change notifications after it is closed", async () => {
    const ledger = new FakeLedger();
    const authenticator = ledger.authenticator();
    const { secret } = ledger.add();
    await authenticator.authenticate(secret, ADDRESS);
    authenticator.close();
    ledger.notifyChange();
    await authenticator.authenticate(secret, ADDRESS);
    expect(ledger.keyLookupCount).toBe(1);
  });
});

describe("rejected keys", () => {
  test("are counted by address, and get another error when there are too many; valid keys do not", async () => {
    const ledger = new FakeLedger();
    const counted: string[] = [];
    const authenticator = ledger.authenticator({
      countRejectedKey: (address) => (counted.push(address) > 2 ? 7 : undefined),
    });
    const { secret } = ledger.add();
    for (const key of [newKey(), secret, "no key"]) await codeOf(authenticator.authenticate(key, ADDRESS));
    expect(counted).toEqual([ADDRESS, ADDRESS]);
    await expect(authenticator.authenticate(newKey(), "192.0.2.2")).rejects.toMatchObject({
      code: "rate_limited",
      details: { retryAfterS: 7 },
    });
    expect(counted).toEqual([ADDRESS, ADDRESS, "192.0.2.2"]);
    expect(await codeOf(authenticator.authenticate(secret, ADDRESS))).toBe("authenticated");
    expect(await codeOf(authenticator.authenticate(secret, ADDRESS))).toBe("authenticated");
  });
});

describe("after the clock was set back", () => {
  test("a cached key is looked up again, also if the ledger has not announced its revocation", async () => {
    const ledger = new FakeLedger();
    let nowMs = Date.parse("2026-06-01T00:00:00.000Z");
    const authenticator = ledger.authenticator({ now: () => nowMs });
    const { secret } = ledger.add();
    await authenticator.authenticate(secret, ADDRESS);
    ledger.revoke(secret);
    expect(await codeOf(authenticator.authenticate(secret, ADDRESS))).toBe("authenticated");
    nowMs -= 1;
    expect(await codeOf(authenticator.authenticate(secret, ADDRESS))).toBe("api_key_revoked");
  });

  test("a cached key is not used in place of a ledger that is unavailable", async () => {
    const ledger = new FakeLedger();
    let nowMs = Date.parse("2026-06-01T00:00:00.000Z");
    const authenticator = ledger.authenticator({ now: () => nowMs });
    const { secret } = ledger.add();
    await authenticator.authenticate(secret, ADDRESS);
    ledger.beforeResult = () => Promise.reject(new Fault("ledger_unavailable", "no connection"));
    nowMs += 59_999;
    expect(await codeOf(authenticator.authenticate(secret, ADDRESS))).toBe("authenticated");
    nowMs -= 60_000;
    expect(await codeOf(authenticator.authenticate(secret, ADDRESS))).toBe("ledger_unavailable");
  });
});
