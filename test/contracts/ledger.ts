import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KeyGate } from "../../src/ledger/gate.ts";
import type { AuditReport, Customer, Ledger, Recorded, UsageEntry, UsageGroup } from "../../src/ledger/ledger.ts";
import { newKey, digestOf } from "../../src/ledger/keys.ts";
import { newReceipt } from "../ledger/receipts.ts";

/** A place where a ledger can lie, empty at first. */
export interface LedgerPlace {
  open(options?: { readonly now?: () => number }): Promise<Ledger>;
  /** Runs a statement past the ledger. */
  execute(statement: string): Promise<void>;
  readonly done: () => Promise<void>;
}

/** Rounds of the race for one internal id. */
const RACE_COUNT = Number(process.env["ISOTHERM_RACES"] ?? 3);
const RACER_COUNT = 1000;
const NIGHT_MS = Date.parse("2026-03-31T23:59:59.000Z");
const HOUR_MS = 3_600_000;

/** What every ledger promises, whatever it lies in. */
export function keepsThePromisesOfLedgers(what: string, makePlace: () => Promise<LedgerPlace>): void {
  describe(`${what}, as any ledger`, () => {
    let place: LedgerPlace;
    let ledger: Ledger;
    let nowMs = NIGHT_MS;
    const now = (): number => nowMs;
    beforeAll(async () => {
      place = await makePlace();
      ledger = await place.open({ now });
    });
    afterAll(async () => {
      await ledger.close();
      await place.done();
    });

    const refused = (code: string, message: RegExp = /./): unknown =>
      expect.objectContaining({ name: "Fault", code, message: expect.stringMatching(message) as unknown });

    const withOther = async <T>(use: (other: Ledger) => Promise<T>, clock = now): Promise<T> => {
      const other = await place.open({ now: clock });
      try {
        return await use(other);
      } finally {
        await other.close();
      }
    };

    /** An account of its own with a key and a customer. */
    const newcomer = async (name = "Someone"): Promise<Newcomer> => {
      const { accountId } = await ledger.createAccount({ name });
      const { key, secret } = await ledger.createKey({ accountId });
      const { customer } = await ledger.registerCustomer({ accountId, internalId: "first" });
      const entry = (more: Partial<UsageEntry> = {}): UsageEntry => ({
        receipt: newReceipt(),
        accountId,
        customerId: customer.customerId,
        keyId: key.keyId,
        meter: "hazard_values",
        units: 7,
        route: "/api/v1/hazard-risk",
        atlasRelease: "2026-1",
        ...more,
      });
      return { accountId, keyId: key.keyId, secret, customerId: customer.customerId, entry };
    };

    const eventsOf = async (accountId: string) => {
      const events = [];
      for await (const event of ledger.events({ accountId })) events.push(event);
      return events;
    };

    const expectBalanced = async (): Promise<AuditReport> => {
      const report = await ledger.audit();
      expect(report.differences).toEqual([]);
      return report;
    };

    describe("accounts", () => {
      test("are listed in the order of making, as they were made", async () => {
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

      test.each(["", "x".repeat(201), "two\nlines", "\ud800"])("are not named %j", async (name) => {
        await expect(ledger.createAccount({ name })).rejects.toEqual(refused("invalid_request", /name/));
      });

      test("are suspended and let ask again; since when does not change by saying so twice", async () => {
        const { accountId, secret } = await newcomer();
        const { suspendedAt } = await ledger.suspendAccount(accountId, true);
        expect(suspendedAt).toBeDefined();
        nowMs += 1000;
        expect(await ledger.suspendAccount(accountId, true)).toMatchObject({ suspendedAt });
        expect((await ledger.findKey(digestOf(secret)))?.account.suspendedAt).toBe(suspendedAt);
        expect(await ledger.suspendAccount(accountId, false)).not.toHaveProperty("suspendedAt");
        expect((await ledger.findKey(digestOf(secret)))?.account).not.toHaveProperty("suspendedAt");
        await expect(ledger.suspendAccount(randomUUID(), true)).rejects.toEqual(refused("account_not_found"));
      });
    });

    describe("keys", () => {
      test("are found by their digest alone, and nowhere else in clear", async () => {
        const account = await ledger.createAccount({ name: "Holder" });
        const { secret, key } = await ledger.createKey({ accountId: account.accountId, name: "batch" });
        expect(await ledger.findKey(digestOf(secret))).toEqual({ key, account });
        expect(key).toMatchObject({ accountId: account.accountId, name: "batch" });
        expect(await ledger.findKey(digestOf(newKey()))).toBeUndefined();
        expect(await ledger.listKeys({ accountId: account.accountId })).toEqual([key]);
        expect(JSON.stringify(await ledger.listKeys())).not.toContain(secret);
      });

      test("issued elsewhere are taken in once, whatever their last characters check", async () => {
        const { accountId } = await ledger.createAccount({ name: "Newcomer" });
        const secret = `iso_sk_${"Az09".repeat(16).split("").toSorted().join("")}`;
        const { key } = await ledger.createKey({ accountId, secret });
        expect((await ledger.findKey(digestOf(secret)))?.key).toEqual(key);
        await expect(ledger.createKey({ accountId, secret })).rejects.toEqual(
          refused("invalid_request", /here already/),
        );
        await expect(ledger.createKey({ accountId, secret: secret.slice(1) + "-" })).rejects.toEqual(
          refused("invalid_request"),
        );
        await expect(ledger.createKey({ accountId: randomUUID() })).rejects.toEqual(refused("account_not_found"));
      });

      test("are rotated with an overlap, once", async () => {
        const { keyId, secret } = await newcomer();
        const { key, secret: successor } = await ledger.rotateKey({ keyId, overlapS: 3600 });
        const old = (await ledger.findKey(digestOf(secret)))?.key;
        expect(old).toMatchObject({ keyId, replacedBy: key.keyId });
        expect(Date.parse(old?.expiresAt ?? "") - Date.parse(key.createdAt)).toBe(HOUR_MS);
        expect((await ledger.findKey(digestOf(successor)))?.key).toEqual(key);
        await expect(ledger.rotateKey({ keyId, overlapS: 0 })).rejects.toEqual(refused("invalid_request", /rotated/));
        await expect(ledger.rotateKey({ keyId: key.keyId, overlapS: -1 })).rejects.toEqual(refused("invalid_request"));
        await expect(ledger.rotateKey({ keyId: randomUUID(), overlapS: 0 })).rejects.toEqual(refused("key_not_found"));
      });

      test("rotated without overlap are refused at once, by a clock that has gone back too", async () => {
        const { keyId, secret, entry } = await newcomer();
        nowMs += HOUR_MS;
        await ledger.record(entry());
        nowMs -= HOUR_MS;
        await ledger.rotateKey({ keyId, overlapS: 0 });
        const gate = new KeyGate(ledger, { now });
        const admitted: unknown = await (async () => gate.admit(secret, "192.0.2.1"))().catch(
          (error: unknown) => error,
        );
        gate.close();
        nowMs += HOUR_MS;
        expect(admitted).toEqual(refused("api_key_revoked"));
      });

      test("are revoked for good, and still found, so that the caller can be told", async () => {
        const { keyId, secret } = await newcomer();
        const { revokedAt } = await ledger.revokeKey(keyId);
        expect(revokedAt).toBeDefined();
        nowMs += 1000;
        expect(await ledger.revokeKey(keyId)).toMatchObject({ keyId, revokedAt });
        expect((await ledger.findKey(digestOf(secret)))?.key).toMatchObject({ keyId, revokedAt });
        await expect(ledger.rotateKey({ keyId, overlapS: 0 })).rejects.toEqual(refused("invalid_request", /revoked/));
        await expect(ledger.revokeKey(randomUUID())).rejects.toEqual(refused("key_not_found"));
      });

      test("of others are heard of when they change, by whoever listens", async () => {
        const { keyId } = await newcomer();
        await withOther(async (other) => {
          const heard = new Promise<void>((resolve) => other.onChange(resolve));
          await ledger.revokeKey(keyId);
          await heard;
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

    test("tells of what it has put on disk, how many rows at a time, to whoever listens", async () => {
      const { entry } = await newcomer();
      const commits: { readonly rowCount: number; readonly durationMs: number }[] = [];
      const stop = ledger.onCommit((commit) => commits.push(commit));
      const rowCount = (): number => commits.reduce((sum, each) => sum + each.rowCount, 0);
      await Promise.all(Array.from({ length: 50 }, () => ledger.record(entry({ units: 1 }))));
      await expect.poll(rowCount).toBe(50);
      // Those that wait while the first is written are written together.
      expect(commits.length).toBeLessThan(50);
      for (const { durationMs } of commits) expect(durationMs).toBeGreaterThan(0);
      stop();
      await ledger.record(entry({ units: 1 }));
      await ledger.listAccounts();
      expect(rowCount()).toBe(50);
    });

    test("a revocation is heard by one that records without pause", async () => {
      const { accountId, keyId, entry } = await newcomer();
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
      test("are the same for the same internal id of an account, and other accounts' for themselves", async () => {
        const one = await newcomer();
        const other = await newcomer();
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
        const place = { accountId: other.accountId, customerId: one.customerId };
        expect(await ledger.findCustomer(place)).toBeUndefined();
        expect(await ledger.archiveCustomer(place)).toBeUndefined();
        expect(await ledger.findCustomer({ accountId: one.accountId, customerId: randomUUID() })).toBeUndefined();
        expect(await ledger.findCustomer({ ...one })).toEqual(again.customer);
        const registration = { accountId: randomUUID(), internalId: "first" };
        await expect(ledger.registerCustomer(registration)).rejects.toEqual(refused("account_not_found"));
      });

      test.each(["a ", "A", "ä", "a\u0308", "再", "🌊", "'; drop table customer; --", "%", "_", "x".repeat(200)])(
        "keep the internal id %j to the letter, apart from others",
        async (internalId) => {
          const { accountId, customerId } = await newcomer();
          const { customer, isNew } = await ledger.registerCustomer({ accountId, internalId, name: internalId });
          expect(isNew).toBe(true);
          expect(customer).toMatchObject({ internalId, name: internalId });
          expect(customer.customerId).not.toBe(customerId);
          expect(await ledger.findCustomer({ accountId, customerId: customer.customerId })).toEqual(customer);
        },
      );

      test.each(["", "x".repeat(201), "a\u0000b", "line\n", "\udc00"])("are not called %j", async (internalId) => {
        const { accountId } = await newcomer();
        await expect(ledger.registerCustomer({ accountId, internalId })).rejects.toEqual(
          refused("invalid_request", /internal_id/),
        );
      });

      test("take the name of a later registration, and keep the one they have where it states none", async () => {
        const { accountId } = await newcomer();
        const other = await newcomer();
        const register = (name?: string) =>
          ledger.registerCustomer({ accountId, internalId: "renamed", ...(name === undefined ? {} : { name }) });
        const { customer, isNew } = await register();
        expect([isNew, "name" in customer]).toStrictEqual([true, false]);
        await ledger.registerCustomer({ accountId: other.accountId, internalId: "renamed", name: "Theirs" });
        for (const [asked, kept] of [
          ["Lisbon", "Lisbon"],
          [undefined, "Lisbon"],
          ["Lisbon", "Lisbon"],
          ["Zürich 再保険 🌊", "Zürich 再保険 🌊"],
        ] as const) {
          expect(await register(asked)).toEqual({ isNew: false, customer: { ...customer, name: kept } });
          expect(await ledger.findCustomer({ accountId, customerId: customer.customerId })).toMatchObject({
            name: kept,
          });
        }
        for (const name of ["", "x".repeat(201), "two\nlines", "\ud800"]) {
          await expect(register(name)).rejects.toEqual(refused("invalid_request", /name/));
        }
        const { items: theirs } = await ledger.listCustomers({ accountId: other.accountId, limit: 10 });
        expect(theirs.find(({ internalId }) => internalId === "renamed")).toMatchObject({ name: "Theirs" });
        expect(theirs.find(({ internalId }) => internalId === "first")).not.toHaveProperty("name");
      });

      test("registered at the same time under several names come about once, each answer with the name it states", async () => {
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
        const { accountId, customerId } = await newcomer();
        await ledger.registerCustomer({ accountId, internalId: "first", name: "Before" });
        await ledger.archiveCustomer({ accountId, customerId });
        await expect(ledger.registerCustomer({ accountId, internalId: "first", name: "After" })).rejects.toEqual(
          refused("customer_archived"),
        );
        expect(await ledger.findCustomer({ accountId, customerId })).toMatchObject({ name: "Before" });
      });

      test(`asked for by ${RACER_COUNT} at a time come about once, ${RACE_COUNT} rounds`, async () => {
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

      test("once archived stay known, are archived once, and do not come back", async () => {
        const { accountId, customerId } = await newcomer();
        const archived = await ledger.archiveCustomer({ accountId, customerId });
        expect(archived).toMatchObject({ customerId, archivedAt: expect.any(String) as string });
        nowMs += 1000;
        expect(await ledger.archiveCustomer({ accountId, customerId })).toEqual(archived);
        expect(await ledger.findCustomer({ accountId, customerId })).toEqual(archived);
        await expect(ledger.registerCustomer({ accountId, internalId: "first" })).rejects.toEqual(
          refused("customer_archived"),
        );
        expect((await ledger.listCustomers({ accountId, limit: 10 })).items).toEqual([archived]);
      });

      test("come in pages that hold each of them once, in the order of registration", async () => {
        const { accountId } = await ledger.createAccount({ name: "Pages" });
        const registered: Customer[] = [];
        for (let i = 0; i < 23; i++) {
          if (i % 5 === 0) nowMs += 1;
          registered.push((await ledger.registerCustomer({ accountId, internalId: `customer ${i}` })).customer);
        }
        const met: Customer[] = [];
        for (let cursor: string | undefined; ;) {
          const page = await ledger.listCustomers({ accountId, limit: 5, ...(cursor === undefined ? {} : { cursor }) });
          expect(page.items.length).toBeLessThanOrEqual(5);
          met.push(...page.items);
          cursor = page.next;
          if (cursor === undefined) break;
        }
        expect(new Set(met)).toEqual(new Set(registered));
        expect(met).toHaveLength(23);
        const times = met.map(({ createdAt }) => createdAt);
        expect(times).toEqual(times.toSorted());
        // Whole pages have no empty one after them.
        expect(await ledger.listCustomers({ accountId, limit: 23 })).toEqual({ items: met });
      });

      test("are not paged by a cursor of another account, another list, or none of ours", async () => {
        const one = await newcomer();
        const other = await newcomer();
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
          const question = { accountId: one.accountId, limit: 1, cursor };
          await expect(ledger.listCustomers(question), cursor).rejects.toEqual(refused("invalid_request", /cursor/));
        }
        await expect(ledger.listCustomers({ accountId: other.accountId, limit: 1, cursor: next })).rejects.toEqual(
          refused("invalid_request", /cursor/),
        );
        await expect(ledger.usage({ accountId: one.accountId, groupBy: [], limit: 1, cursor: next })).rejects.toEqual(
          refused("invalid_request", /cursor/),
        );
        for (const limit of [0, 501, 1.5, NaN]) {
          await expect(ledger.listCustomers({ accountId: one.accountId, limit })).rejects.toEqual(
            refused("invalid_request", /limit/),
          );
        }
      });
    });

    describe("usage", () => {
      test("is there once it is answered, in what is summed and in what is listed", async () => {
        const { accountId, customerId, entry } = await newcomer();
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
        await expectBalanced();
      });

      test("of one receipt is written down once, together, one after the other and by replicas", async () => {
        const { accountId, entry } = await newcomer();
        const first = entry({ units: 5 });
        const together = await Promise.all([ledger.record(first), ledger.record(first), ledger.record(first)]);
        const after = await ledger.record({ ...first, units: 6 });
        const elsewhere = await withOther((other) => other.record(first));
        for (const recorded of [...together, after, elsewhere]) expect(recorded).toMatchObject({ units: 5 });
        expect((await ledger.usage({ accountId, groupBy: [], limit: 1 })).items).toEqual([{ requests: 1, units: 5 }]);
        await expectBalanced();
      });

      test("of a thousand at a time from two sides is all there, in the order of its times", async () => {
        const { accountId, entry } = await newcomer();
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
        await expectBalanced();
      });

      test("of more events than are read at a time comes as a whole, each once", async () => {
        const { accountId, entry } = await newcomer();
        const entries = Array.from({ length: 2500 }, () => entry({ units: 1 }));
        await Promise.all(entries.map((each) => ledger.record(each)));
        const events = await eventsOf(accountId);
        expect(new Set(events.map(({ receipt }) => receipt))).toEqual(new Set(entries.map(({ receipt }) => receipt)));
        expect(events).toHaveLength(2500);
      });

      test("whose times would go back keeps the last one, also after a restart and from another clock", async () => {
        const { accountId, entry } = await newcomer();
        // Nothing but recording itself has seen this hour.
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
        await expectBalanced();
      });

      test("that is no usage is refused as the bug that it is", async () => {
        const { accountId, entry } = await newcomer();
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
          await expect((async () => ledger.record(entry(wrong)))(), JSON.stringify(wrong)).rejects.toThrow(/No entry/);
        }
        expect((await ledger.usage({ accountId, groupBy: [], limit: 1 })).items).toEqual([]);
      });

      test("of nothing is not written down", async () => {
        const { accountId, entry } = await newcomer();
        expect(await ledger.record(entry({ units: 0 }))).toEqual({ units: 0, isReplay: false });
        expect(await eventsOf(accountId)).toEqual([]);
        await expectBalanced();
      });

      test("cannot be changed or removed, past the ledger either", async () => {
        const { accountId, entry } = await newcomer();
        await ledger.record(entry());
        await expect(place.execute("update usage_event set units = 1")).rejects.toThrow(/only added to/);
        await expect(place.execute("delete from usage_event")).rejects.toThrow(/only added to/);
        expect(await eventsOf(accountId)).toMatchObject([{ units: 7 }]);
      });

      test("that the sums do not agree with is found by an audit", async () => {
        const { accountId, customerId, entry } = await newcomer();
        await ledger.record(entry());
        const { eventCount, rollupCount } = await expectBalanced();
        expect(eventCount).toBeGreaterThan(0);
        expect(rollupCount).toBeGreaterThan(0);
        const hour = new Date(nowMs).toISOString().slice(0, 13);
        const change = (by: string): Promise<void> =>
          place.execute(`update usage_rollup set units = units ${by} where account_id = '${accountId}'`);
        await change("+ 1");
        const difference = { accountId, customerId, meter: "hazard_values", hour };
        const counts = { eventUnits: 7, rollupUnits: 8, eventRequests: 1, rollupRequests: 1 };
        expect((await ledger.audit()).differences).toEqual([{ ...difference, ...counts }]);
        await change("- 1");
        await place.execute(
          `insert into usage_rollup (account_id, customer_id, meter, hour, units, requests)
           values ('${accountId}', '${customerId}', 'company_results', '${hour}', 3, 2)`,
        );
        expect((await ledger.audit()).differences).toMatchObject([
          { meter: "company_results", eventUnits: 0, rollupUnits: 3, eventRequests: 0, rollupRequests: 2 },
        ]);
        await place.execute("delete from usage_rollup where meter = 'company_results' and units = 3");
        await expectBalanced();
      });
    });

    describe("usage, asked for", () => {
      const FROM_MS = Date.parse("2026-05-30T22:30:00.000Z");
      let who: Newcomer;
      let second: Customer;
      /** Six hours of two customers and two meters over three days and two months. */
      const uses = [
        { hours: 0, customer: 0, meter: "hazard_values", units: 1 },
        { hours: 1, customer: 1, meter: "hazard_values", units: 2 },
        { hours: 2, customer: 0, meter: "company_results", units: 4 },
        { hours: 25, customer: 0, meter: "hazard_values", units: 8 },
        { hours: 26, customer: 1, meter: "company_results", units: 16 },
        { hours: 26, customer: 1, meter: "company_results", units: 32 },
      ] as const;
      beforeAll(async () => {
        who = await newcomer();
        second = (await ledger.registerCustomer({ accountId: who.accountId, internalId: "second" })).customer;
        for (const { hours, customer, meter, units } of uses) {
          nowMs = FROM_MS + hours * HOUR_MS;
          const customerId = customer === 0 ? who.customerId : second.customerId;
          await ledger.record(who.entry({ customerId, meter, units }));
        }
        const stranger = await newcomer();
        await ledger.record(stranger.entry({ units: 1000 }));
      });

      const ask = async (groupBy: readonly UsageGroup[], more: object = {}) =>
        (await ledger.usage({ accountId: who.accountId, groupBy, limit: 500, ...more })).items;

      test("is summed by nothing, by meter, by day, by month", async () => {
        expect(await ask([])).toEqual([{ requests: 6, units: 63 }]);
        expect(await ask(["meter"])).toEqual([
          { meter: "company_results", requests: 3, units: 52 },
          { meter: "hazard_values", requests: 3, units: 11 },
        ]);
        const days = [
          { period: "2026-05-30", requests: 2, units: 3 },
          { period: "2026-05-31", requests: 2, units: 12 },
          { period: "2026-06-01", requests: 2, units: 48 },
        ];
        expect(await ask(["day"])).toEqual(days);
        expect(await ask(["month"])).toEqual([
          { period: "2026-05", requests: 4, units: 15 },
          { period: "2026-06", requests: 2, units: 48 },
        ]);
        // Days say their month.
        expect(await ask(["day", "month"])).toEqual(days);
      });

      test("is summed by customer, with the caller's own id", async () => {
        const lines = await ask(["customer", "customer"]);
        expect(new Set(lines)).toEqual(
          new Set([
            { customerId: who.customerId, internalId: "first", requests: 3, units: 13 },
            { customerId: second.customerId, internalId: "second", requests: 3, units: 50 },
          ]),
        );
      });

      test("is narrowed by days, with the first and without the last, and by customer", async () => {
        const sum = async (more: object): Promise<number> => (await ask([], more))[0]?.units ?? 0;
        expect(await sum({ from: "2026-05-31" })).toBe(60);
        expect(await sum({ to: "2026-05-31" })).toBe(3);
        expect(await sum({ from: "2026-05-31", to: "2026-06-01" })).toBe(12);
        expect(await sum({ from: "2026-05-31", to: "2026-05-31" })).toBe(0);
        expect(await sum({ customerId: second.customerId })).toBe(50);
        expect(await sum({ customerId: randomUUID() })).toBe(0);
        expect(await ask([], { from: "2030-01-01" })).toEqual([]);
        expect(await ask(["customer"], { limit: 10_000 })).toHaveLength(2);
        for (const limit of [0, 10_001, 1.5, NaN]) {
          await expect(ask([], { limit })).rejects.toEqual(refused("invalid_request", /limit/));
        }
        for (const [from, to] of [
          ["2026-02-30", undefined],
          ["2026-5-1", undefined],
          ["2026-05-01T00:00", undefined],
          ["yesterday", undefined],
          ["2026-06-01", "2026-05-31"],
        ]) {
          await expect(ask([], { from, to })).rejects.toEqual(refused("invalid_request"));
        }
      });

      test.each<[readonly UsageGroup[]]>([[["customer", "meter", "day"]], [["day"]], [["meter"]], [[]]])(
        "by %j comes in pages that hold each line once",
        async (groupBy) => {
          const whole = await ask(groupBy);
          const lines = [];
          for (let cursor: string | undefined; ;) {
            const more = cursor === undefined ? {} : { cursor };
            const page = await ledger.usage({ accountId: who.accountId, groupBy, limit: 1, ...more });
            lines.push(...page.items);
            cursor = page.next;
            if (cursor === undefined) break;
          }
          expect(lines).toEqual(whole);
          expect(lines.reduce((sum, { units }) => sum + units, 0)).toBe(63);
        },
      );

      test("is not paged with the cursor of another question", async () => {
        const question = { accountId: who.accountId, groupBy: ["day"] as const, limit: 1 };
        const { next = "" } = await ledger.usage(question);
        for (const other of [
          { ...question, groupBy: ["month"] as const },
          { ...question, groupBy: ["day", "meter"] as const },
          { ...question, from: "2026-01-01" },
          { ...question, customerId: second.customerId },
          { ...question, accountId: randomUUID() },
        ]) {
          await expect(ledger.usage({ ...other, cursor: next })).rejects.toEqual(refused("invalid_request", /cursor/));
        }
        expect((await ledger.usage({ ...question, limit: 500, cursor: next })).items).toHaveLength(2);
      });

      test("is listed by account and days", async () => {
        const units = async (question: object): Promise<number[]> => {
          const found = [];
          for await (const event of ledger.events(question)) found.push(event.units);
          return found;
        };
        expect(await units({ accountId: who.accountId })).toEqual([1, 2, 4, 8, 16, 32]);
        const span = { from: "2026-05-31", to: "2026-06-01" };
        expect(await units({ accountId: who.accountId, ...span })).toEqual([4, 8]);
        expect(await units(span)).toEqual([4, 8]);
        await expect(units({ from: "x" })).rejects.toEqual(refused("invalid_request"));
      });
    });

    describe("a repeated request", () => {
      const FINGERPRINT = "ab".repeat(32);
      const OTHER = "cd".repeat(32);
      const withKey = (key: string, fingerprint = FINGERPRINT): Pick<UsageEntry, "idempotency"> => ({
        idempotency: { key, fingerprint },
      });
      const REPLAY: Recorded = { units: 0, isReplay: true };

      test("costs nothing, and another one under its key is refused", async () => {
        const { accountId, entry } = await newcomer();
        expect(await ledger.record(entry(withKey("k")))).toEqual({ units: 7, isReplay: false });
        expect(await ledger.record(entry(withKey("k")))).toEqual(REPLAY);
        expect(await withOther((other) => other.record(entry(withKey("k"))))).toEqual(REPLAY);
        await expect(ledger.record(entry(withKey("k", OTHER)))).rejects.toEqual(
          refused("idempotency_key_reused", /Idempotency-Key/),
        );
        expect(await ledger.record(entry(withKey("K")))).toEqual({ units: 7, isReplay: false });
        expect(await eventsOf(accountId)).toHaveLength(2);
        await expectBalanced();
      });

      test("is one within its account, customer and route alone", async () => {
        const one = await newcomer();
        const other = await newcomer();
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

      test("that cost nothing is known again too", async () => {
        const { accountId, entry } = await newcomer();
        expect(await ledger.record(entry({ ...withKey("k"), units: 0 }))).toEqual({ units: 0, isReplay: false });
        expect(await ledger.record(entry({ ...withKey("k"), units: 0 }))).toEqual(REPLAY);
        await expect(ledger.record(entry(withKey("k", OTHER)))).rejects.toEqual(refused("idempotency_key_reused"));
        expect(await eventsOf(accountId)).toEqual([]);
      });

      test("with the same receipt is the same one", async () => {
        const { accountId, entry } = await newcomer();
        const first = entry(withKey("k"));
        const all = [...(await Promise.all([ledger.record(first), ledger.record(first)])), await ledger.record(first)];
        for (const recorded of all) expect(recorded).toEqual({ units: 7, isReplay: false });
        expect(await eventsOf(accountId)).toHaveLength(1);
      });

      test("in a race of two sides is recorded once, and reused keys are refused whoever wins", async () => {
        const { accountId, entry } = await newcomer();
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
            // 10 of the 50 are the other request; whichever came first refuses all of the other.
            expect([10, 40]).toContain(reused.length);
            expect(recorded.length + reused.length).toBe(50);
          }
        });
        expect(await eventsOf(accountId)).toHaveLength(20);
        await expectBalanced();
      });

      test("is forgotten after 72 hours, and not a moment before", async () => {
        const { accountId, entry } = await newcomer();
        await ledger.record(entry(withKey("k")));
        nowMs += 72 * HOUR_MS;
        expect(await ledger.record(entry(withKey("k")))).toEqual(REPLAY);
        nowMs += 1;
        expect(await ledger.record(entry(withKey("k", OTHER)))).toEqual({ units: 7, isReplay: false });
        expect(await ledger.record(entry(withKey("k", OTHER)))).toEqual(REPLAY);
        await expect(ledger.record(entry(withKey("k")))).rejects.toEqual(refused("idempotency_key_reused"));
        expect(await eventsOf(accountId)).toHaveLength(2);
      });

      test("leaves no trace for ever: what is out of date is cleared away by what comes", async () => {
        const { entry } = await newcomer();
        await Promise.all(Array.from({ length: 400 }, (_, i) => ledger.record(entry(withKey(`old-${i}`)))));
        nowMs += 73 * HOUR_MS;
        await Promise.all(Array.from({ length: 400 }, (_, i) => ledger.record(entry(withKey(`new-${i}`)))));
        // The next one comes after the clearing.
        await ledger.record(entry());
        const cutoff = new Date(nowMs - 72 * HOUR_MS).toISOString();
        await expect(
          place.execute(`insert into ledger_state (id, last_at, change_count, cursor_secret)
            select 2, '', 0, '' from idempotency where recorded_at < '${cutoff}'`),
        ).resolves.toBeUndefined();
      });
    });

    describe("opened again", () => {
      test("has everything that was answered", async () => {
        const { accountId, customerId, secret, entry } = await newcomer();
        await ledger.record(entry());
        await ledger.close();
        ledger = await place.open({ now });
        expect(ledger.failure).toBeUndefined();
        expect((await ledger.findKey(digestOf(secret)))?.account.accountId).toBe(accountId);
        expect(await ledger.findCustomer({ accountId, customerId })).toMatchObject({ internalId: "first" });
        expect(await eventsOf(accountId)).toMatchObject([{ units: 7 }]);
      });

      test("by several at a time, the first time, is made once", async () => {
        const fresh = await makePlace();
        try {
          const all = await Promise.all(Array.from({ length: 4 }, () => fresh.open()));
          await Promise.all(all.map((each, i) => each.createAccount({ name: `account ${i}` })));
          expect(await all[0]?.listAccounts()).toHaveLength(4);
          await Promise.all(all.map((each) => each.close()));
        } finally {
          await fresh.done();
        }
      });

      test("refuses what a newer release has written", async () => {
        const fresh = await makePlace();
        try {
          await (await fresh.open()).close();
          await fresh.execute("insert into migration (version, name, applied_at) values (1000, 'far future', '')");
          await expect(fresh.open()).rejects.toEqual(refused("configuration_invalid", /newer release.*1000/));
        } finally {
          await fresh.done();
        }
      });

      test("after it was closed takes nothing, and closing twice does no harm", async () => {
        const other = await place.open({ now });
        const { entry } = await newcomer();
        const recording = other.record(entry());
        await Promise.all([other.close(), other.close()]);
        expect(await recording).toEqual({ units: 7, isReplay: false });
        await expect(other.record(entry())).rejects.toThrow(/closed/);
        await expect(other.listAccounts()).rejects.toThrow(/closed/);
      });
    });
  });
}

interface Newcomer {
  readonly accountId: string;
  readonly keyId: string;
  readonly secret: string;
  readonly customerId: string;
  entry(more?: Partial<UsageEntry>): UsageEntry;
}
