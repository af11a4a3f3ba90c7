import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { Fault } from "../../src/errors.ts";
import { type GateOptions, KeyGate } from "../../src/ledger/gate.ts";
import { digestOf, newKey } from "../../src/ledger/keys.ts";
import type { Account, ApiKey, Customer, KeyHolder, Ledger } from "../../src/ledger/ledger.ts";

const CREATED = "2026-01-01T00:00:00.000Z";
const ADDRESS = "192.0.2.1";

/** What a gate asks of a ledger, in memory and with a count of the questions. */
class FewKeys {
  readonly holders = new Map<string, KeyHolder>();
  readonly customers = new Map<string, Customer>();
  keyQuestionCount = 0;
  customerQuestionCount = 0;
  /** What happens before an answer. */
  before: () => Promise<void> = () => Promise.resolve();
  #listener: () => void = () => undefined;

  add(more: { key?: Partial<ApiKey>; account?: Partial<Account> } = {}): { secret: string; holder: KeyHolder } {
    const account = { accountId: randomUUID(), name: "Someone", createdAt: CREATED, ...more.account };
    const key = { keyId: randomUUID(), accountId: account.accountId, createdAt: CREATED, ...more.key };
    const secret = newKey();
    const holder = { key, account };
    this.holders.set(digestOf(secret).toString("hex"), holder);
    return { secret, holder };
  }

  revoke(secret: string): void {
    const place = digestOf(secret).toString("hex");
    const holder = this.holders.get(place);
    if (holder !== undefined) this.holders.set(place, { ...holder, key: { ...holder.key, revokedAt: CREATED } });
  }

  change(): void {
    this.#listener();
  }

  gate(options: Partial<GateOptions> = {}): KeyGate {
    const ledger: Pick<Ledger, "findKey" | "findCustomer" | "onChange"> = {
      findKey: async (digest) => {
        this.keyQuestionCount++;
        const found = this.holders.get(Buffer.from(digest).toString("hex"));
        await this.before();
        return found;
      },
      findCustomer: async ({ accountId, customerId }) => {
        this.customerQuestionCount++;
        const found = this.customers.get(customerId);
        await this.before();
        return found?.accountId === accountId ? found : undefined;
      },
      onChange: (listener) => {
        this.#listener = listener;
        return () => {
          this.#listener = () => undefined;
        };
      },
    };
    return new KeyGate(ledger as Ledger, options);
  }
}

async function codeOf(admitted: KeyHolder | Promise<KeyHolder>): Promise<string> {
  try {
    await admitted;
    return "admitted";
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}

/** The message of a refusal; fails where the key is admitted. */
async function messageOf(admit: () => KeyHolder | Promise<KeyHolder>): Promise<string> {
  const refused: unknown = await (async () => admit())().then(
    () => "admitted",
    (error: unknown) => error,
  );
  expect(refused).toMatchObject({ code: "api_key_invalid" });
  return (refused as Fault).message;
}

const away = (): Promise<never> => Promise.reject(new Fault("ledger_unavailable", "The database is away."));

describe("a gate", () => {
  test("lets a key in, and remembers it without a promise", async () => {
    const keys = new FewKeys();
    const { secret, holder } = keys.add();
    const gate = keys.gate();
    expect(await gate.admit(secret, ADDRESS)).toEqual(holder);
    expect(gate.admit(secret, ADDRESS)).toEqual(holder);
    expect(keys.keyQuestionCount).toBe(1);
  });

  test("asks once for many who ask at the same time", async () => {
    const keys = new FewKeys();
    const { secret, holder } = keys.add();
    const gate = keys.gate();
    const all = await Promise.all(Array.from({ length: 100 }, async () => gate.admit(secret, ADDRESS)));
    expect(new Set(all)).toEqual(new Set([holder]));
    expect(keys.keyQuestionCount).toBe(1);
  });

  test("says of an unknown key with a wrong checksum that it seems mistyped", async () => {
    const keys = new FewKeys();
    const { secret } = keys.add();
    const gate = keys.gate({ failureCountMax: 1000 });
    await gate.admit(secret, ADDRESS);
    for (let i = "iso_sk_".length; i < secret.length; i++) {
      const slip = secret.slice(0, i) + (secret[i] === "x" ? "y" : "x") + secret.slice(i + 1);
      expect(await messageOf(() => gate.admit(slip, ADDRESS))).toMatch(/seems mistyped/);
    }
    expect(await messageOf(() => gate.admit(newKey(), ADDRESS))).not.toMatch(/mistyped/);
    // Keys of other services have no checksum that could be wrong.
    expect(await messageOf(() => gate.admit(`other_sk_${"x".repeat(64)}`, ADDRESS))).not.toMatch(/mistyped/);
  });

  test("admits an imported key without a valid checksum, and gives the real reason once it is revoked", async () => {
    const keys = new FewKeys();
    const imported = `iso_sk_${"Az09".repeat(16)}`;
    const { holder } = keys.add();
    keys.holders.set(digestOf(imported).toString("hex"), holder);
    expect(await keys.gate().admit(imported, ADDRESS)).toEqual(holder);
    keys.revoke(imported);
    expect(await codeOf(keys.gate().admit(imported, ADDRESS))).toBe("api_key_revoked");
  });

  test.each([
    ["a character too few", `iso_sk_${"a".repeat(63)}`],
    ["a character too many", `iso_sk_${"a".repeat(65)}`],
    ["a foreign character", `iso_sk_${"a".repeat(63)}-`],
    ["nothing of a key", "open sesame"],
  ])("says of text with %s that a key has another form, without a lookup", async (_what, text) => {
    const keys = new FewKeys();
    const message = await messageOf(() => keys.gate().admit(text, ADDRESS));
    expect(message).toContain("64 characters of 0-9, A-Z, a-z");
    expect(message).toContain(`(got ${text.length} characters)`);
    expect(message).not.toContain(text);
    expect(keys.keyQuestionCount).toBe(0);
  });

  test("says of each key why it is refused", async () => {
    const keys = new FewKeys();
    const nowMs = Date.parse("2026-06-01T00:00:00.000Z");
    const gate = keys.gate({ now: () => nowMs, failureCountMax: 100 });
    const revoked = keys.add({ key: { revokedAt: CREATED } });
    const expired = keys.add({ key: { expiresAt: new Date(nowMs).toISOString() } });
    const overlapping = keys.add({ key: { expiresAt: new Date(nowMs + 1).toISOString() } });
    const suspended = keys.add({ account: { suspendedAt: CREATED } });
    for (let time = 0; time < 2; time++) {
      expect(await codeOf(gate.admit(newKey(), ADDRESS))).toBe("api_key_invalid");
      expect(await codeOf(gate.admit("no key at all", ADDRESS))).toBe("api_key_invalid");
      expect(await codeOf(gate.admit("", ADDRESS))).toBe("api_key_invalid");
      expect(await codeOf(gate.admit(`${overlapping.secret}, ${overlapping.secret}`, ADDRESS))).toBe("api_key_invalid");
      expect(await codeOf(gate.admit(revoked.secret, ADDRESS))).toBe("api_key_revoked");
      expect(await codeOf(gate.admit(expired.secret, ADDRESS))).toBe("api_key_revoked");
      expect(await codeOf(gate.admit(suspended.secret, ADDRESS))).toBe("account_suspended");
      expect(await codeOf(gate.admit(overlapping.secret, ADDRESS))).toBe("admitted");
    }
  });

  test("does not ask for what cannot be a key, but for what checks wrongly: it may be from elsewhere", async () => {
    const keys = new FewKeys();
    const { holder } = keys.add();
    const secret = `other_sk_${"a1".repeat(32)}`;
    keys.holders.set(digestOf(secret).toString("hex"), holder);
    const gate = keys.gate();
    expect(await codeOf(gate.admit("iso_sk_short", ADDRESS))).toBe("api_key_invalid");
    expect(keys.keyQuestionCount).toBe(0);
    expect(await gate.admit(secret, ADDRESS)).toEqual(holder);
  });

  test("does not remember what is not there: a new key works at once", async () => {
    const keys = new FewKeys();
    const gate = keys.gate();
    const { secret, holder } = keys.add();
    const place = digestOf(secret).toString("hex");
    keys.holders.delete(place);
    expect(await codeOf(gate.admit(secret, ADDRESS))).toBe("api_key_invalid");
    keys.holders.set(place, holder);
    expect(await gate.admit(secret, ADDRESS)).toEqual(holder);
  });

  test("forgets when it is told of a change, and after 5 seconds anyhow", async () => {
    const keys = new FewKeys();
    let nowMs = 1_000_000;
    const gate = keys.gate({ now: () => nowMs });
    const one = keys.add();
    await gate.admit(one.secret, ADDRESS);
    keys.revoke(one.secret);
    nowMs += 4999;
    expect(await codeOf(gate.admit(one.secret, ADDRESS))).toBe("admitted");
    nowMs += 1;
    expect(await codeOf(gate.admit(one.secret, ADDRESS))).toBe("api_key_revoked");

    const other = keys.add();
    await gate.admit(other.secret, ADDRESS);
    keys.revoke(other.secret);
    keys.change();
    expect(await codeOf(gate.admit(other.secret, ADDRESS))).toBe("api_key_revoked");
  });

  test("does not trust an answer that was under way when something changed", async () => {
    const keys = new FewKeys();
    const gate = keys.gate();
    const { secret } = keys.add();
    let answer: () => void = () => undefined;
    keys.before = () => new Promise((resolve) => (answer = resolve));
    const early = gate.admit(secret, ADDRESS);
    keys.revoke(secret);
    keys.change();
    const answerEarly = answer;
    keys.before = () => Promise.resolve();
    expect(await codeOf(gate.admit(secret, ADDRESS))).toBe("api_key_revoked");
    answerEarly();
    await early;
    expect(await codeOf(gate.admit(secret, ADDRESS))).toBe("api_key_revoked");
  });

  test("believes what it remembers for a minute while the database is away, or does not answer", async () => {
    const keys = new FewKeys();
    let nowMs = 1_000_000;
    const gate = keys.gate({ now: () => nowMs, patienceMs: 10 });
    const { secret } = keys.add();
    const customer = { customerId: randomUUID(), accountId: randomUUID(), internalId: "x", createdAt: CREATED };
    keys.customers.set(customer.customerId, customer);
    await gate.admit(secret, ADDRESS);
    await gate.customer(customer);
    for (const before of [away, () => new Promise<never>(() => undefined)]) {
      keys.before = before;
      nowMs += 20_000;
      expect(await codeOf(gate.admit(secret, ADDRESS))).toBe("admitted");
      expect(await gate.customer(customer)).toEqual(customer);
    }
    keys.before = away;
    nowMs += 20_000;
    await expect(gate.admit(secret, ADDRESS)).rejects.toMatchObject({ code: "ledger_unavailable" });
    await expect(gate.customer(customer)).rejects.toMatchObject({ code: "ledger_unavailable" });
    // Of a key that it does not remember nobody can tell.
    expect(await codeOf(gate.admit(keys.add().secret, ADDRESS))).toBe("ledger_unavailable");
  });

  test("knows an account's own customers, archived ones too, and forgets them likewise", async () => {
    const keys = new FewKeys();
    const gate = keys.gate();
    const customer = { customerId: randomUUID(), accountId: randomUUID(), internalId: "x", createdAt: CREATED };
    const { customerId, accountId } = customer;
    expect(await gate.customer({ accountId, customerId })).toBeUndefined();
    keys.customers.set(customerId, customer);
    expect(await gate.customer({ accountId, customerId })).toEqual(customer);
    expect(gate.customer({ accountId, customerId })).toEqual(customer);
    expect(await gate.customer({ accountId: randomUUID(), customerId })).toBeUndefined();
    const archived = { ...customer, archivedAt: CREATED };
    keys.customers.set(customerId, archived);
    keys.change();
    expect(await gate.customer({ accountId, customerId })).toEqual(archived);
  });

  test("remembers so many and no more", async () => {
    const keys = new FewKeys();
    const gate = keys.gate({ rememberCountMax: 3 });
    const all = Array.from({ length: 5 }, () => keys.add().secret);
    for (const secret of all) await gate.admit(secret, ADDRESS);
    for (const secret of all.slice(2)) await gate.admit(secret, ADDRESS);
    expect(keys.keyQuestionCount).toBe(5);
    await gate.admit(all[0] ?? "", ADDRESS);
    expect(keys.keyQuestionCount).toBe(6);
  });

  test("hears of no change after it is closed", async () => {
    const keys = new FewKeys();
    const gate = keys.gate();
    const { secret } = keys.add();
    await gate.admit(secret, ADDRESS);
    gate.close();
    keys.change();
    await gate.admit(secret, ADDRESS);
    expect(keys.keyQuestionCount).toBe(1);
  });
});

describe("refused keys", () => {
  const failTimes = async (gate: KeyGate, count: number, address: string): Promise<string[]> => {
    const codes = [];
    for (let i = 0; i < count; i++) codes.push(await codeOf(gate.admit(newKey(), address)));
    return codes;
  };

  test("are limited for their address, for a minute; a valid key behind it is not", async () => {
    const keys = new FewKeys();
    let nowMs = 1_000_000;
    const gate = keys.gate({ failureCountMax: 3, now: () => nowMs });
    const { secret } = keys.add();
    expect(await failTimes(gate, 4, ADDRESS)).toEqual([
      "api_key_invalid",
      "api_key_invalid",
      "api_key_invalid",
      "rate_limited",
    ]);
    expect(await codeOf(gate.admit("no key", ADDRESS))).toBe("rate_limited");
    expect(await codeOf(gate.admit(secret, ADDRESS))).toBe("admitted");
    expect(await codeOf(gate.admit(secret, ADDRESS))).toBe("admitted");
    expect(await failTimes(gate, 1, "192.0.2.2")).toEqual(["api_key_invalid"]);
    await expect(gate.admit(newKey(), ADDRESS)).rejects.toMatchObject({
      details: { retryAfterS: expect.any(Number) as number },
    });
    nowMs += 60_000;
    expect(await failTimes(gate, 1, ADDRESS)).toEqual(["api_key_invalid"]);
    // A clock that goes back does not make the minute last until it is where it was.
    expect((await failTimes(gate, 3, ADDRESS)).at(-1)).toBe("rate_limited");
    nowMs -= 3_600_000;
    expect(await failTimes(gate, 4, ADDRESS)).toEqual([
      "api_key_invalid",
      "api_key_invalid",
      "api_key_invalid",
      "rate_limited",
    ]);
    nowMs += 60_000;
    expect(await failTimes(gate, 1, ADDRESS)).toEqual(["api_key_invalid"]);
  });

  test("of one IPv6 network count together, however they are written", async () => {
    const gate = new FewKeys().gate({ failureCountMax: 2 });
    expect(await failTimes(gate, 1, "2001:db8:0:1::1")).toEqual(["api_key_invalid"]);
    expect(await failTimes(gate, 1, "2001:0db8:0000:0001:ffff::2")).toEqual(["api_key_invalid"]);
    expect(await failTimes(gate, 1, "2001:DB8::1:0:0:0:3%eth0")).toEqual(["rate_limited"]);
    expect(await failTimes(gate, 1, "2001:db8:0:2::1")).toEqual(["api_key_invalid"]);
    expect(await failTimes(gate, 1, "::1")).toEqual(["api_key_invalid"]);
    expect(await failTimes(gate, 1, "::ffff:192.0.2.1")).toEqual(["api_key_invalid"]);
    expect(await failTimes(gate, 1, "::ffff:192.0.2.2")).toEqual(["api_key_invalid"]);
  });

  test("of more addresses than are counted are counted together", async () => {
    const gate = new FewKeys().gate({ failureCountMax: 2, addressCountMax: 2 });
    const codes = [];
    for (let i = 0; i < 5; i++) codes.push(...(await failTimes(gate, 1, `192.0.2.${i}`)));
    expect(codes).toEqual(["api_key_invalid", "api_key_invalid", "api_key_invalid", "api_key_invalid", "rate_limited"]);
  });
});
