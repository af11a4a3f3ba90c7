import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Authenticator } from "../../src/ledger/authenticator.ts";
import type { AuditReport, Customer, Ledger, RecordResult, UsageEntry, UsageGroup } from "../../src/ledger/ledger.ts";
import { newKey, digestOf } from "../../src/ledger/keys.ts";
import { newReceipt } from "../ledger/receipt.ts";

/** An initially empty storage for a ledger. */
export interface LedgerFixture {
  open(options?: { readonly now?: () => number }): Promise<Ledger>;
  /** Runs a SQL statement directly on the storage, bypassing the ledger. */
  execute(statement: string): Promise<void>;
  readonly dispose: () => Promise<void>;
}

/** Rounds of concurrent registrations of one internal id. */
const RACE_COUNT = Number(process.env["ISOTHERM_RACES"] ?? 3);
const RACER_COUNT = 1000;
const START_MS = Date.parse("2026-03-31T23:59:59.000Z");
const HOUR_MS = 3_600_000;

/** Defines the tests that every implementation of `Ledger` must pass. */
export function describeLedgerContract(name: string, createFixture: () => Promise<LedgerFixture>): void {
  describe(`${name}: ledger contract`, () => {
    let fixture: LedgerFixture;
    let ledger: Ledger;
    let nowMs = START_MS;
    const now = (): number => nowMs;
    beforeAll(async () => {
      fixture = await createFixture();
      ledger = await fixture.open({ now });
    });
    afterAll(async () => {
      await ledger.close();
      await fixture.dispose();
    });

    const fault = (code: string, message: RegExp = /./): unknown =>
      expect.objectContaining({ name: "Fault", code, message: expect.stringMatching(message) as unknown });

    /** Opens a second instance of the ledger for the duration of `use`. */
    const withOther = async <T>(use: (other: Ledger) => Promise<T>, clock = now): Promise<T> => {
      const other = await fixture.open({ now: clock });
      try {
        return await use(other);
      } finally {
        await other.close();
      }
    };

    /** Creates an account with a key and a customer. */
    const newAccount = async (name = "Someone"): Promise<TestAccount> => {
      const { accountId } = await ledger.createAccount({ name });
      const { key, secret } = await ledger.createKey({ accountId });
      const { customer } = await ledger.registerCustomer({ accountId, internalId: "first" });
      const entry = (overrides: Partial<UsageEntry> = {}): UsageEntry => ({
        receipt: newReceipt(),
        accountId,
        customerId: customer.customerId,
        keyId: key.keyId,
        meter: "hazard_values",
        units: 7,
        route: "/api/v1/hazard-risk",
        atlasRelease: "2026-1",
        ...overrides,
      });
      return { accountId, keyId: key.keyId, secret, customerId: customer.customerId, entry };
    };

    const eventsOf = async (accountId: string) => {
      const events = [];
      for await (const event of ledger.events({ accountId })) events.push(event);
      return events;
    };

    const expectConsistent = async (): Promise<AuditReport> => {
      const report = await ledger.audit();
      expect(report.differences).toEqual([]);
      return report;
    };

    describe("accounts", () => {
      test("lists accounts as they were created", async () => {
        const first = await ledger.createAccount({ name: "Bank of Somewhere" });
        const second = await ledger.createAccount({ name: "Zürich 再保険 🌊" });
        expect(first).toEqual({
          accountId: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
          name: "Bank of Somewhere",
          createdAt: expect.stringMatching(/^2026-0[34]-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
        });
        const mine = (await ledger.listAccounts()).filter(({ accountId }) =>
          [first.accountId, second.accountId].includes(accountId),
        );
        expect(new Set(mine)).toEqual(new Set([first, second]));
      });

      test.each(["", "x".repeat(201), "two\nlines", "\ud800"])("rejects the account name %j", async (name) => {
        await expect(ledger.createAccount({ name })).rejects.toEqual(fault("invalid_request", /name/));
      });

      test("suspends and reactivates accounts, keeping the time of the first suspension", async () => {
        const { accountId, secret } = await newAccount();
        const { suspendedAt } = await ledger.suspendAccount(accountId, true);
        expect(suspendedAt).toBeDefined();
        nowMs += 1000;
        expect(await ledger.suspendAccount(accountId, true)).toMatchObject({ suspendedAt });
        expect((await ledger.findKey(digestOf(secret)))?.account.suspendedAt).toBe(suspendedAt);
        expect(await ledger.suspendAccount(accountId, false)).not.toHaveProperty("suspendedAt");
        expect((await ledger.findKey(digestOf(secret)))?.account).not.toHaveProperty("suspendedAt");
        await expect(ledger.suspendAccount(randomUUID(), true)).rejects.toEqual(fault("account_not_found"));
      });
    });

    describe("keys", () => {
      test("finds keys by digest, and never returns the secret again", async () => {
        const account = await ledger.createAccount({ name: "Holder" });
        const { secret, key } = await ledger.createKey({ accountId: account.accountId, name: "batch" });
        expect(await ledger.findKey(digestOf(secret))).toEqual({ key, account });
        expect(key).toMatchObject({ accountId: account.accountId, name: "batch" });
        expect(await ledger.findKey(digestOf(newKey()))).toBeUndefined();
        expect(await ledger.listKeys({ accountId: account.accountId })).toEqual([key]);
        expect(JSON.stringify(await ledger.listKeys())).not.toContain(secret);
      });

      test("imports a key issued elsewhere once, without checking its checksum", async () => {
        const { accountId } = await ledger.createAccount({ name: "Newcomer" });
        const secret = `iso_sk_${"Az09".repeat(16).split("").toSorted().join("")}`;
        const { key } = await ledger.createKey({ accountId, secret });
        expect((await ledger.findKey(digestOf(secret)))?.key).toEqual(key);
        await expect(ledger.createKey({ accountId, secret })).rejects.toEqual(
          fault("invalid_request", /already exists/),
        );
        await expect(ledger.createKey({ accountId, secret: secret.slice(1) + "-" })).rejects.toEqual(
          fault("invalid_request"),
        );
        await expect(ledger.createKey({ accountId: randomUUID() })).rejects.toEqual(fault("account_not_found"));
      });

      test("rotates a key once, with an overlap", async () => {
        const { keyId, secret } = await newAccount();
        const { key, secret: successor } = await ledger.rotateKey({ keyId, overlapS: 3600 });
        const old = (await ledger.findKey(digestOf(secret)))?.key;
        expect(old).toMatchObject({ keyId, replacedBy: key.keyId });
        expect(Date.parse(old?.expiresAt ?? "") - Date.parse(key.createdAt)).toBe(HOUR_MS);
        expect((await ledger.findKey(digestOf(successor)))?.key).toEqual(key);
        await expect(ledger.rotateKey({ keyId, overlapS: 0 })).rejects.toEqual(fault("invalid_request", /rotated/));
        await expect(ledger.rotateKey({ keyId: key.keyId, overlapS: -1 })).rejects.toEqual(fault("invalid_request"));
        await expect(ledger.rotateKey({ keyId: randomUUID(), overlapS: 0 })).rejects.toEqual(fault("key_not_found"));
      });

      test("a key rotated without overlap is refused at once, even after a clock step back", async () => {
        const { keyId, secret, entry } = await newAccount();
        nowMs += HOUR_MS;
        await ledger.record(entry());
        nowMs -= HOUR_MS;
        await ledger.rotateKey({ keyId, overlapS: 0 });
        const authenticator = new Authenticator(ledger, { now });
        const result: unknown = await (async () => authenticator.authenticate(secret, "192.0.2.1"))().catch(
          (error: unknown) => error,
        );
        authenticator.close();
        nowMs += HOUR_MS;
        expect(result).toEqual(fault("api_key_revoked"));
      });

      test("revokes keys permanently, and still finds them", async () => {
        const { keyId, secret } = await newAccount();
        const { revokedAt } = await ledger.revokeKey(keyId);
        expect(revokedAt).toBeDefined();
        nowMs += 1000;
        expect(await ledger.revokeKey(keyId)).toMatchObject({ keyId, revokedAt });
        expect((await ledger.findKey(digestOf(secret)))?.key).toMatchObject({ keyId, revokedAt });
        await expect(ledger.rotateKey({ keyId, overlapS: 0 })).rejects.toEqual(fault("invalid_request", /revoked/));
        await expect(ledger.revokeKey(randomUUID())).rejects.toEqual(fault("key_not_found"));
      });

      test("notifies listeners of changes, including those made by another instance", async () => {
        const { keyId } = await newAccount();
        await withOther(async (other) => {
          const notified = new Promise<void>((resolve) => other.onChange(resolve));
          await ledger.revokeKey(keyId);
          await notified;
        });
        let count = 0;
        const stop = ledger.onChange(() => count++);
        await ledger.revokeKey(keyId);
        expect(count).toBeGreaterThan(0);
        stop();
        const before = count;
        await ledger.revokeKey(keyId);
        expect(count).toBe(before);
      });
    });

    test("notifies listeners of each commit with its number of rows", async () => {
      const { entry } = await newAccount();
      const commits: { readonly rowCount: number; readonly durationMs: number }[] = [];
      const stop = ledger.onCommit((commit) => commits.push(commit));
      const rowCount = (): number => commits.reduce((sum, each) => sum + each.rowCount, 0);
      await Promise.all(Array.from({ length: 50 }, () => ledger.record(entry({ units: 1 }))));
      await expect.poll(rowCount).toBe(50);
      // Entries that are queued during the first commit are committed together.
      expect(commits.length).toBeLessThan(50);
      for (const { durationMs } of commits) expect(durationMs).toBeGreaterThan(0);
      stop();
      await ledger.record(entry({ units: 1 }));
      await ledger.listAccounts();
      expect(rowCount()).toBe(50);
    });

    test("notifies an instance that records continuously of a revocation", async () => {
      const { accountId, keyId, entry } = await newAccount();
      await withOther(async (other) => {
        const stop = new AbortController();
        let count = 0;
        other.onChange(() => stop.abort());
        const client = async (): Promise<void> => {
          for (; !stop.signal.aborted; count++) await other.record(entry({ units: 1 }));
        };
        const clients = Array.from({ length: 64 }, client);
        await ledger.revokeKey(keyId);
        await Promise.all(clients);
        expect(await ledger.usage({ accountId, groupBy: [], limit: 1 })).toEqual({
          items: [{ requests: count, units: count }],
        });
      });
    });

    describe("customers", () => {
      test("are identified by internal id within an account, and invisible to other accounts", async () => {
        const one = await newAccount();
        const other = await newAccount();
        const again = await ledger.registerCustomer({ accountId: one.accountId, internalId: "first" });
        expect(again).toEqual({
          isNew: false,
          customer: {
            customerId: one.customerId,
            accountId: one.accountId,
            internalId: "first",
            createdAt: again.customer.createdAt,
          },
        });
        expect(other.customerId).not.toBe(one.customerId);
        const ref = { accountId: other.accountId, customerId: one.customerId };
        expect(await ledger.findCustomer(ref)).toBeUndefined();
        expect(await ledger.archiveCustomer(ref)).toBeUndefined();
        expect(await ledger.findCustomer({ accountId: one.accountId, customerId: randomUUID() })).toBeUndefined();
        expect(await ledger.findCustomer({ ...one })).toEqual(again.customer);
        const registration = { accountId: randomUUID(), internalId: "first" };
        await expect(ledger.registerCustomer(registration)).rejects.toEqual(fault("account_not_found"));
      });

      test.each(["a ", "A", "ä", "a\u0308", "再", "🌊", "'; drop table customer; --", "%", "_", "x".repeat(200)])(
        "stores the internal id %j unchanged and distinguishes it from others",
        async (internalId) => {
          const { accountId, customerId } = await newAccount();
          const { customer, isNew } = await ledger.registerCustomer({ accountId, internalId, name: internalId });
          expect(isNew).toBe(true);
          expect(customer).toMatchObject({ internalId, name: internalId });
          expect(customer.customerId).not.toBe(customerId);
          expect(await ledger.findCustomer({ accountId, customerId: customer.customerId })).toEqual(customer);
        },
      );

      test.each(["", "x".repeat(201), "a\u0000b", "line\n", "\udc00"])(
        "rejects the internal id %j",
        async (internalId) => {
          const { accountId } = await newAccount();
          await expect(ledger.registerCustomer({ accountId, internalId })).rejects.toEqual(
            fault("invalid_request", /internal_id/),
          );
        },
      );

      test("take the name of a later registration, and keep their name if it has none", async () => {
        const { accountId } = await newAccount();
        const other = await newAccount();
        const register = (name?: string) =>
          ledger.registerCustomer({ accountId, internalId: "renamed", ...(name === undefined ? {} : { name }) });
        const { customer, isNew } = await register();
        expect([isNew, "name" in customer]).toStrictEqual([true, false]);
        await ledger.registerCustomer({ accountId: other.accountId, internalId: "renamed", name: "Theirs" });
        for (const [name, expectedName] of [
          ["Lisbon", "Lisbon"],
          [undefined, "Lisbon"],
          ["Lisbon", "Lisbon"],
          ["Zürich 再保険 🌊", "Zürich 再保険 🌊"],
        ] as const) {
          expect(await register(name)).toEqual({ isNew: false, customer: { ...customer, name: expectedName } });
          expect(await ledger.findCustomer({ accountId, customerId: customer.customerId })).toMatchObject({
            name: expectedName,
          });
        }
        for (const name of ["", "x".repeat(201), "two\nlines", "\ud800"]) {
          await expect(register(name)).rejects.toEqual(fault("invalid_request", /name/));
        }
        const { items: theirs } = await ledger.listCustomers({ accountId: other.accountId, limit: 10 });
        expect(theirs.find(({ internalId }) => internalId === "renamed")).toMatchObject({ name: "Theirs" });
        expect(theirs.find(({ internalId }) => internalId === "first")).not.toHaveProperty("name");
      });

      test("are created once by concurrent registrations with different names, each of which returns its own name", async () => {
        const { accountId } = await ledger.createAccount({ name: "Names" });
        const names = Array.from({ length: 50 }, (_, i) => `name ${i}`);
        await withOther(async (other) => {
          const all = await Promise.all(
            names.map((name, i) =>
              (i % 2 === 0 ? ledger : other).registerCustomer({ accountId, internalId: "raced", name }),
            ),
          );
          expect(all.map(({ customer }) => customer.name)).toStrictEqual(names);
          expect(new Set(all.map(({ customer }) => customer.customerId)).size).toBe(1);
          expect(all.filter(({ isNew }) => isNew)).toHaveLength(1);
        });
        const { items } = await ledger.listCustomers({ accountId, limit: 10 });
        expect(items).toHaveLength(1);
        expect(names).toContain(items[0]?.name);
      });

      test("are not renamed once archived", async () => {
        const { accountId, customerId } = await newAccount();
        await ledger.registerCustomer({ accountId, internalId: "first", name: "Before" });
        await ledger.archiveCustomer({ accountId, customerId });
        await expect(ledger.registerCustomer({ accountId, internalId: "first", name: "After" })).rejects.toEqual(
          fault("customer_archived"),
        );
        expect(await ledger.findCustomer({ accountId, customerId })).toMatchObject({ name: "Before" });
      });

      test(`registers one customer for ${RACER_COUNT} concurrent registrations, ${RACE_COUNT} rounds`, async () => {
        const { accountId } = await ledger.createAccount({ name: "Race" });
        await withOther(async (other) => {
          for (let round = 0; round < RACE_COUNT; round++) {
            const internalId = `round ${round}`;
            const all = await Promise.all(
              Array.from({ length: RACER_COUNT }, (_, i) =>
                (i % 2 === 0 ? ledger : other).registerCustomer({ accountId, internalId }),
              ),
            );
            expect(new Set(all.map(({ customer }) => customer.customerId)).size).toBe(1);
            expect(all.filter(({ isNew }) => isNew)).toHaveLength(1);
          }
        });
        expect((await ledger.listCustomers({ accountId, limit: 500 })).items).toHaveLength(RACE_COUNT);
      });

      test("archived customers can still be found, but not registered again", async () => {
        const { accountId, customerId } = await newAccount();
        const archived = await ledger.archiveCustomer({ accountId, customerId });
        expect(archived).toMatchObject({ customerId, archivedAt: expect.any(String) as string });
        nowMs += 1000;
        expect(await ledger.archiveCustomer({ accountId, customerId })).toEqual(archived);
        expect(await ledger.findCustomer({ accountId, customerId })).toEqual(archived);
        await expect(ledger.registerCustomer({ accountId, internalId: "first" })).rejects.toEqual(
          fault("customer_archived"),
        );
        expect((await ledger.listCustomers({ accountId, limit: 10 })).items).toEqual([archived]);
      });

      test("pages list each customer once, in the order of registration", async () => {
        const { accountId } = await ledger.createAccount({ name: "Pages" });
        const registered: Customer[] = [];
        for (let i = 0; i < 23; i++) {
          if (i % 5 === 0) nowMs += 1;
          registered.push((await ledger.registerCustomer({ accountId, internalId: `customer ${i}` })).customer);
        }
        const listed: Customer[] = [];
        for (let cursor: string | undefined; ;) {
          const page = await ledger.listCustomers({ accountId, limit: 5, ...(cursor === undefined ? {} : { cursor }) });
          expect(page.items.length).toBeLessThanOrEqual(5);
          listed.push(...page.items);
          cursor = page.next;
          if (cursor === undefined) break;
        }
        expect(new Set(listed)).toEqual(new Set(registered));
        expect(listed).toHaveLength(23);
        const times = listed.map(({ createdAt }) => createdAt);
        expect(times).toEqual(times.toSorted());
        // A full last page has no empty page after it.
        expect(await ledger.listCustomers({ accountId, limit: 23 })).toEqual({ items: listed });
      });

      test("rejects cursors of another account, of another list, and invalid ones", async () => {
        const one = await newAccount();
        const other = await newAccount();
        await ledger.registerCustomer({ accountId: one.accountId, internalId: "second" });
        const { next = "" } = await ledger.listCustomers({ accountId: one.accountId, limit: 1 });
        expect(next).not.toBe("");
        const changed = next.slice(0, -1) + (next.endsWith("A") ? "B" : "A");
        for (const cursor of [
          "",
          "garbage",
          `${next}=`,
          ` ${next}`,
          changed,
          Buffer.from('["",""]').toString("base64"),
        ]) {
          const query = { accountId: one.accountId, limit: 1, cursor };
          await expect(ledger.listCustomers(query), cursor).rejects.toEqual(fault("invalid_request", /cursor/));
        }
        await expect(ledger.listCustomers({ accountId: other.accountId, limit: 1, cursor: next })).rejects.toEqual(
          fault("invalid_request", /cursor/),
        );
        await expect(ledger.usage({ accountId: one.accountId, groupBy: [], limit: 1, cursor: next })).rejects.toEqual(
          fault("invalid_request", /cursor/),
        );
        for (const limit of [0, 501, 1.5, NaN]) {
          await expect(ledger.listCustomers({ accountId: one.accountId, limit })).rejects.toEqual(
            fault("invalid_request", /limit/),
          );
        }
      });
    });

    describe("usage", () => {
      test("is in sums and events as soon as recording resolves", async () => {
        const { accountId, customerId, entry } = await newAccount();
        const first = entry();
        expect(await ledger.record(first)).toEqual({ units: 7, isReplay: false });
        expect(await ledger.usage({ accountId, groupBy: ["customer", "meter", "day"], limit: 10 })).toEqual({
          items: [
            {
              customerId,
              internalId: "first",
              meter: "hazard_values",
              period: new Date(nowMs).toISOString().slice(0, 10),
              requests: 1,
              units: 7,
            },
          ],
        });
        expect(await eventsOf(accountId)).toEqual([
          { ...first, seq: expect.any(Number) as number, recordedAt: new Date(nowMs).toISOString() },
        ]);
        await expectConsistent();
      });

      test("of the same receipt is recorded once: concurrently, sequentially and by another instance", async () => {
        const { accountId, entry } = await newAccount();
        const first = entry({ units: 5 });
        const together = await Promise.all([ledger.record(first), ledger.record(first), ledger.record(first)]);
        const after = await ledger.record({ ...first, units: 6 });
        const elsewhere = await withOther((other) => other.record(first));
        for (const recorded of [...together, after, elsewhere]) expect(recorded).toMatchObject({ units: 5 });
        expect((await ledger.usage({ accountId, groupBy: [], limit: 1 })).items).toEqual([{ requests: 1, units: 5 }]);
        await expectConsistent();
      });

      test("of 1000 concurrent entries from two instances is complete and ordered by time", async () => {
        const { accountId, entry } = await newAccount();
        await withOther(async (other) => {
          const all = Array.from({ length: 1000 }, (_, i) =>
            (i % 3 === 0 ? other : ledger).record(entry({ units: i + 1 })),
          );
          expect(await Promise.all(all)).toHaveLength(1000);
        });
        const events = await eventsOf(accountId);
        expect(events.map(({ units }) => units).toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: 1000 }, (_, i) => i + 1),
        );
        const seqs = events.map(({ seq }) => seq);
        expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
        await expectConsistent();
      });

      test("that spans several pages of events is yielded completely, each event once", async () => {
        const { accountId, entry } = await newAccount();
        const entries = Array.from({ length: 2500 }, () => entry({ units: 1 }));
        await Promise.all(entries.map((each) => ledger.record(each)));
        const events = await eventsOf(accountId);
        expect(new Set(events.map(({ receipt }) => receipt))).toEqual(new Set(entries.map(({ receipt }) => receipt)));
        expect(events).toHaveLength(2500);
      });

      test("keeps the last time when the clock steps back, also for another instance with a clock behind", async () => {
        const { accountId, entry } = await newAccount();
        // Only recording sets the ledger's time to this hour.
        nowMs += HOUR_MS;
        await ledger.record(entry());
        const before = nowMs;
        nowMs -= 5 * HOUR_MS;
        await ledger.record(entry());
        await withOther((other) => other.record(entry()));
        await withOther(
          (other) => other.record(entry()),
          () => before - 1,
        );
        nowMs = before;
        const times = (await eventsOf(accountId)).map(({ recordedAt }) => Date.parse(recordedAt));
        expect(times).toEqual([before, before, before, before]);
        await expectConsistent();
      });

      test("rejects invalid entries with a plain error", async () => {
        const { accountId, entry } = await newAccount();
        for (const wrong of [
          { units: -1 },
          { units: 1.5 },
          { units: NaN },
          { units: 2 ** 53 },
          { receipt: "1" },
          { meter: "coffee" as never },
          { customerId: "" },
          { route: "a\u0000b" },
          { idempotency: { key: "", fingerprint: "0".repeat(64) } },
          { idempotency: { key: "k", fingerprint: "short" } },
        ]) {
          await expect((async () => ledger.record(entry(wrong)))(), JSON.stringify(wrong)).rejects.toThrow(
            /Invalid usage entry/,
          );
        }
        expect((await ledger.usage({ accountId, groupBy: [], limit: 1 })).items).toEqual([]);
      });

      test("of 0 units is not stored", async () => {
        const { accountId, entry } = await newAccount();
        expect(await ledger.record(entry({ units: 0 }))).toEqual({ units: 0, isReplay: false });
        expect(await eventsOf(accountId)).toEqual([]);
        await expectConsistent();
      });

      test("cannot be changed or deleted, not even directly in the database", async () => {
        const { accountId, entry } = await newAccount();
        await ledger.record(entry());
        await expect(fixture.execute("update usage_event set units = 1")).rejects.toThrow(/only added to/);
        await expect(fixture.execute("delete from usage_event")).rejects.toThrow(/only added to/);
        expect(await eventsOf(accountId)).toMatchObject([{ units: 7 }]);
      });

      test("the audit finds rollups that do not match the events", async () => {
        const { accountId, customerId, entry } = await newAccount();
        await ledger.record(entry());
        const { eventCount, rollupCount } = await expectConsistent();
        expect(eventCount).toBeGreaterThan(0);
        expect(rollupCount).toBeGreaterThan(0);
        const hour = new Date(nowMs).toISOString().slice(0, 13);
        const change = (by: string): Promise<void> =>
          fixture.execute(`update usage_rollup set units = units ${by} where account_id = '${accountId}'`);
        await change("+ 1");
        const difference = { accountId, customerId, meter: "hazard_values", hour };
        const counts = { eventUnits: 7, rollupUnits: 8, eventRequests: 1, rollupRequests: 1 };
        expect((await ledger.audit()).differences).toEqual([{ ...difference, ...counts }]);
        await change("- 1");
        await fixture.execute(
          `insert into usage_rollup (account_id, customer_id, meter, hour, units, requests)
           values ('${accountId}', '${customerId}', 'company_results', '${hour}', 3, 2)`,
        );
        expect((await ledger.audit()).differences).toMatchObject([
          { meter: "company_results", eventUnits: 0, rollupUnits: 3, eventRequests: 0, rollupRequests: 2 },
        ]);
        await fixture.execute("delete from usage_rollup where meter = 'company_results' and units = 3");
        await expectConsistent();
      });
    });

    describe("usage queries", () => {
      const FROM_MS = Date.parse("2026-05-30T22:30:00.000Z");
      let account: TestAccount;
      let second: Customer;
      /** Usage of two customers and two meters over three days and two months. */
      const uses = [
        { hours: 0, customer: 0, meter: "hazard_values", units: 1 },
        { hours: 1, customer: 1, meter: "hazard_values", units: 2 },
        { hours: 2, customer: 0, meter: "company_results", units: 4 },
        { hours: 25, customer: 0, meter: "hazard_values", units: 8 },
        { hours: 26, customer: 1, meter: "company_results", units: 16 },
        { hours: 26, customer: 1, meter: "company_results", units: 32 },
      ] as const;
      beforeAll(async () => {
        account = await newAccount();
        second = (await ledger.registerCustomer({ accountId: account.accountId, internalId: "second" })).customer;
        for (const { hours, customer, meter, units } of uses) {
          nowMs = FROM_MS + hours * HOUR_MS;
          const customerId = customer === 0 ? account.customerId : second.customerId;
          await ledger.record(account.entry({ customerId, meter, units }));
        }
        const other = await newAccount();
        await ledger.record(other.entry({ units: 1000 }));
      });

      const query = async (groupBy: readonly UsageGroup[], overrides: object = {}) =>
        (await ledger.usage({ accountId: account.accountId, groupBy, limit: 500, ...overrides })).items;

      test("sum in total, by meter, by day and by month", async () => {
        expect(await query([])).toEqual([{ requests: 6, units: 63 }]);
        expect(await query(["meter"])).toEqual([
          { meter: "company_results", requests: 3, units: 52 },
          { meter: "hazard_values", requests: 3, units: 11 },
        ]);
        const days = [
          { period: "2026-05-30", requests: 2, units: 3 },
          { period: "2026-05-31", requests: 2, units: 12 },
          { period: "2026-06-01", requests: 2, units: 48 },
        ];
        expect(await query(["day"])).toEqual(days);
        expect(await query(["month"])).toEqual([
          { period: "2026-05", requests: 4, units: 15 },
          { period: "2026-06", requests: 2, units: 48 },
        ]);
        // Grouping by day and month is grouping by day.
        expect(await query(["day", "month"])).toEqual(days);
      });

      test("sum by customer, with the internal id", async () => {
        const lines = await query(["customer", "customer"]);
        expect(new Set(lines)).toEqual(
          new Set([
            { customerId: account.customerId, internalId: "first", requests: 3, units: 13 },
            { customerId: second.customerId, internalId: "second", requests: 3, units: 50 },
          ]),
        );
      });

      test("filter by half-open date range and by customer", async () => {
        const sum = async (filters: object): Promise<number> => (await query([], filters))[0]?.units ?? 0;
        expect(await sum({ from: "2026-05-31" })).toBe(60);
        expect(await sum({ to: "2026-05-31" })).toBe(3);
        expect(await sum({ from: "2026-05-31", to: "2026-06-01" })).toBe(12);
        expect(await sum({ from: "2026-05-31", to: "2026-05-31" })).toBe(0);
        expect(await sum({ customerId: second.customerId })).toBe(50);
        expect(await sum({ customerId: randomUUID() })).toBe(0);
        expect(await query([], { from: "2030-01-01" })).toEqual([]);
        expect(await query(["customer"], { limit: 10_000 })).toHaveLength(2);
        for (const limit of [0, 10_001, 1.5, NaN]) {
          await expect(query([], { limit })).rejects.toEqual(fault("invalid_request", /limit/));
        }
        for (const [from, to] of [
          ["2026-02-30", undefined],
          ["2026-5-1", undefined],
          ["2026-05-01T00:00", undefined],
          ["yesterday", undefined],
          ["2026-06-01", "2026-05-31"],
        ]) {
          await expect(query([], { from, to })).rejects.toEqual(fault("invalid_request"));
        }
      });

      test.each<[readonly UsageGroup[]]>([[["customer", "meter", "day"]], [["day"]], [["meter"]], [[]]])(
        "by %j list each line once across pages",
        async (groupBy) => {
          const expected = await query(groupBy);
          const lines = [];
          for (let cursor: string | undefined; ;) {
            const position = cursor === undefined ? {} : { cursor };
            const page = await ledger.usage({ accountId: account.accountId, groupBy, limit: 1, ...position });
            lines.push(...page.items);
            cursor = page.next;
            if (cursor === undefined) break;
          }
          expect(lines).toEqual(expected);
          expect(lines.reduce((sum, { units }) => sum + units, 0)).toBe(63);
        },
      );

      test("reject the cursor of another query", async () => {
        const firstPage = { accountId: account.accountId, groupBy: ["day"] as const, limit: 1 };
        const { next = "" } = await ledger.usage(firstPage);
        for (const other of [
          { ...firstPage, groupBy: ["month"] as const },
          { ...firstPage, groupBy: ["day", "meter"] as const },
          { ...firstPage, from: "2026-01-01" },
          { ...firstPage, customerId: second.customerId },
          { ...firstPage, accountId: randomUUID() },
        ]) {
          await expect(ledger.usage({ ...other, cursor: next })).rejects.toEqual(fault("invalid_request", /cursor/));
        }
        expect((await ledger.usage({ ...firstPage, limit: 500, cursor: next })).items).toHaveLength(2);
      });

      test("list events by account and date range", async () => {
        const units = async (filters: object): Promise<number[]> => {
          const listed = [];
          for await (const event of ledger.events(filters)) listed.push(event.units);
          return listed;
        };
        expect(await units({ accountId: account.accountId })).toEqual([1, 2, 4, 8, 16, 32]);
        const span = { from: "2026-05-31", to: "2026-06-01" };
        expect(await units({ accountId: account.accountId, ...span })).toEqual([4, 8]);
        expect(await units(span)).toEqual([4, 8]);
        await expect(units({ from: "x" })).rejects.toEqual(fault("invalid_request"));
      });
    });

    describe("idempotency keys", () => {
      const FINGERPRINT = "ab".repeat(32);
      const OTHER = "cd".repeat(32);
      const withKey = (key: string, fingerprint = FINGERPRINT): Pick<UsageEntry, "idempotency"> => ({
        idempotency: { key, fingerprint },
      });
      const REPLAY: RecordResult = { units: 0, isReplay: true };

      test("make a repeated request free, and refuse a different request with the same key", async () => {
        const { accountId, entry } = await newAccount();
        expect(await ledger.record(entry(withKey("k")))).toEqual({ units: 7, isReplay: false });
        expect(await ledger.record(entry(withKey("k")))).toEqual(REPLAY);
        expect(await withOther((other) => other.record(entry(withKey("k"))))).toEqual(REPLAY);
        await expect(ledger.record(entry(withKey("k", OTHER)))).rejects.toEqual(
          fault("idempotency_key_reused", /Idempotency-Key/),
        );
        expect(await ledger.record(entry(withKey("K")))).toEqual({ units: 7, isReplay: false });
        expect(await eventsOf(accountId)).toHaveLength(2);
        await expectConsistent();
      });

      test("are scoped to account, customer and route", async () => {
        const one = await newAccount();
        const other = await newAccount();
        const { customer } = await ledger.registerCustomer({ accountId: one.accountId, internalId: "second" });
        for (const each of [
          one.entry(withKey("k")),
          one.entry({ ...withKey("k"), customerId: customer.customerId }),
          one.entry({ ...withKey("k"), route: "/api/v1/hazard-risk/batch" }),
          other.entry(withKey("k")),
        ]) {
          expect(await ledger.record(each)).toEqual({ units: 7, isReplay: false });
        }
      });

      test("are stored for requests of 0 units too", async () => {
        const { accountId, entry } = await newAccount();
        expect(await ledger.record(entry({ ...withKey("k"), units: 0 }))).toEqual({ units: 0, isReplay: false });
        expect(await ledger.record(entry({ ...withKey("k"), units: 0 }))).toEqual(REPLAY);
        await expect(ledger.record(entry(withKey("k", OTHER)))).rejects.toEqual(fault("idempotency_key_reused"));
        expect(await eventsOf(accountId)).toEqual([]);
      });

      test("do not make an entry with the same receipt a replay", async () => {
        const { accountId, entry } = await newAccount();
        const first = entry(withKey("k"));
        const all = [...(await Promise.all([ledger.record(first), ledger.record(first)])), await ledger.record(first)];
        for (const recorded of all) expect(recorded).toEqual({ units: 7, isReplay: false });
        expect(await eventsOf(accountId)).toHaveLength(1);
      });

      test("record one of many concurrent requests at two instances, and refuse the requests that differ from it", async () => {
        const { accountId, entry } = await newAccount();
        await withOther(async (other) => {
          for (let round = 0; round < 20; round++) {
            const key = `race ${round}`.replace(" ", "-");
            const all = await Promise.allSettled(
              Array.from({ length: 50 }, (_, i) =>
                (i % 2 === 0 ? ledger : other).record(entry(withKey(key, i % 5 === 0 ? OTHER : FINGERPRINT))),
              ),
            );
            const recorded = all.filter((each) => each.status === "fulfilled").map(({ value }) => value);
            const wins = recorded.filter(({ isReplay }) => !isReplay);
            expect(wins).toEqual([{ units: 7, isReplay: false }]);
            const reused = all.filter(
              (each) =>
                each.status === "rejected" && (each.reason as { code: string }).code === "idempotency_key_reused",
            );
            // 10 of the 50 have the other fingerprint; those that differ from the first request are refused.
            expect([10, 40]).toContain(reused.length);
            expect(recorded.length + reused.length).toBe(50);
          }
        });
        expect(await eventsOf(accountId)).toHaveLength(20);
        await expectConsistent();
      });

      test("expire after exactly 72 hours", async () => {
        const { accountId, entry } = await newAccount();
        await ledger.record(entry(withKey("k")));
        nowMs += 72 * HOUR_MS;
        expect(await ledger.record(entry(withKey("k")))).toEqual(REPLAY);
        nowMs += 1;
        expect(await ledger.record(entry(withKey("k", OTHER)))).toEqual({ units: 7, isReplay: false });
        expect(await ledger.record(entry(withKey("k", OTHER)))).toEqual(REPLAY);
        await expect(ledger.record(entry(withKey("k")))).rejects.toEqual(fault("idempotency_key_reused"));
        expect(await eventsOf(accountId)).toHaveLength(2);
      });

      test("are deleted after they expire, as new ones are recorded", async () => {
        const { entry } = await newAccount();
        await Promise.all(Array.from({ length: 400 }, (_, i) => ledger.record(entry(withKey(`old-${i}`)))));
        nowMs += 73 * HOUR_MS;
        await Promise.all(Array.from({ length: 400 }, (_, i) => ledger.record(entry(withKey(`new-${i}`)))));
        // Resolves only after the pruning that follows the previous batch.
        await ledger.record(entry());
        const cutoff = new Date(nowMs - 72 * HOUR_MS).toISOString();
        await expect(
          fixture.execute(`insert into ledger_state (id, last_at, change_count, cursor_secret)
            select 2, '', 0, '' from idempotency where recorded_at < '${cutoff}'`),
        ).resolves.toBeUndefined();
      });
    });

    describe("opening and closing", () => {
      test("a reopened ledger has everything that was recorded", async () => {
        const { accountId, customerId, secret, entry } = await newAccount();
        await ledger.record(entry());
        await ledger.close();
        ledger = await fixture.open({ now });
        expect(ledger.failure).toBeUndefined();
        expect((await ledger.findKey(digestOf(secret)))?.account.accountId).toBe(accountId);
        expect(await ledger.findCustomer({ accountId, customerId })).toMatchObject({ internalId: "first" });
        expect(await eventsOf(accountId)).toMatchObject([{ units: 7 }]);
      });

      test("concurrent first opens create the ledger once", async () => {
        const fresh = await createFixture();
        try {
          const all = await Promise.all(Array.from({ length: 4 }, () => fresh.open()));
          await Promise.all(all.map((each, i) => each.createAccount({ name: `account ${i}` })));
          expect(await all[0]?.listAccounts()).toHaveLength(4);
          await Promise.all(all.map((each) => each.close()));
        } finally {
          await fresh.dispose();
        }
      });

      test("refuses a ledger that a newer release has written", async () => {
        const fresh = await createFixture();
        try {
          await (await fresh.open()).close();
          await fresh.execute("insert into migration (version, name, applied_at) values (1000, 'far future', '')");
          await expect(fresh.open()).rejects.toEqual(fault("configuration_invalid", /newer release.*1000/));
        } finally {
          await fresh.dispose();
        }
      });

      test("a closed ledger rejects calls, and closing twice is harmless", async () => {
        const other = await fixture.open({ now });
        const { entry } = await newAccount();
        const recording = other.record(entry());
        await Promise.all([other.close(), other.close()]);
        expect(await recording).toEqual({ units: 7, isReplay: false });
        await expect(other.record(entry())).rejects.toThrow(/closed/);
        await expect(other.listAccounts()).rejects.toThrow(/closed/);
      });
    });
  });
}

interface TestAccount {
  readonly accountId: string;
  readonly keyId: string;
  readonly secret: string;
  readonly customerId: string;
  entry(overrides?: Partial<UsageEntry>): UsageEntry;
}
