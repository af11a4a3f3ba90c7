import { describe, expect, test } from "vitest";
import type { RecordResult, UsageEntry } from "../../src/ledger/ledger.ts";
import { FREE_KEYS_PER_DAY_MAX } from "../../src/ledger/entry.ts";
import { fault, HOUR_MS, type TestLedger } from "./testLedger.ts";

/** Tests of idempotency keys. */
export function describeIdempotency(contract: TestLedger): void {
  const { withOther, newAccount, eventsOf, expectConsistent } = contract;

  describe("idempotency keys", () => {
    const FINGERPRINT = "ab".repeat(32);
    const OTHER_FINGERPRINT = "cd".repeat(32);
    const withKey = (key: string, fingerprint = FINGERPRINT): Pick<UsageEntry, "idempotency"> => ({
      idempotency: { key, fingerprint },
    });
    const REPLAY: RecordResult = { units: 0, isReplay: true };

    test("make a repeated request free, and reject a different request with the same key", async () => {
      const { accountId, entry } = await newAccount();
      expect(await contract.ledger.record(entry(withKey("k")))).toEqual({ units: 7, isReplay: false });
      expect(await contract.ledger.record(entry(withKey("k")))).toEqual(REPLAY);
      expect(await withOther((other) => other.record(entry(withKey("k"))))).toEqual(REPLAY);
      await expect(contract.ledger.record(entry(withKey("k", OTHER_FINGERPRINT)))).rejects.toEqual(
        fault("idempotency_key_reused", /Idempotency-Key/),
      );
      expect(await contract.ledger.record(entry(withKey("K")))).toEqual({ units: 7, isReplay: false });
      expect(await eventsOf(accountId)).toHaveLength(2);
      await expectConsistent();
    });

    test("are scoped to account, customer and route", async () => {
      const account = await newAccount();
      const otherAccount = await newAccount();
      const { customer } = await contract.ledger.registerCustomer({
        accountId: account.accountId,
        internalId: "second",
      });
      for (const each of [
        account.entry(withKey("k")),
        account.entry({ ...withKey("k"), customerId: customer.customerId }),
        account.entry({ ...withKey("k"), route: "/api/v1/hazard-risk/batch" }),
        otherAccount.entry(withKey("k")),
      ]) {
        expect(await contract.ledger.record(each)).toEqual({ units: 7, isReplay: false });
      }
    });

    test("are stored even for requests of 0 units", async () => {
      const { accountId, entry } = await newAccount();
      expect(await contract.ledger.record(entry({ ...withKey("k"), units: 0 }))).toEqual({ units: 0, isReplay: false });
      expect(await contract.ledger.record(entry({ ...withKey("k"), units: 0 }))).toEqual(REPLAY);
      await expect(contract.ledger.record(entry(withKey("k", OTHER_FINGERPRINT)))).rejects.toEqual(
        fault("idempotency_key_reused"),
      );
      expect(await eventsOf(accountId)).toEqual([]);
    });

    test("do not make an entry with the same receipt a replay", async () => {
      const { accountId, entry } = await newAccount();
      const first = entry(withKey("k"));
      const results = [
        ...(await Promise.all([contract.ledger.record(first), contract.ledger.record(first)])),
        await contract.ledger.record(first),
      ];
      for (const recorded of results) expect(recorded).toEqual({ units: 7, isReplay: false });
      expect(await eventsOf(accountId)).toHaveLength(1);
    });

    test("record one of many concurrent requests at two instances, and reject the requests that differ from it", async () => {
      const { accountId, entry } = await newAccount();
      await withOther(async (other) => {
        for (let round = 0; round < 20; round++) {
          const key = `race ${round}`.replace(" ", "-");
          const outcomes = await Promise.allSettled(
            Array.from({ length: 50 }, (_, i) =>
              (i % 2 === 0 ? contract.ledger : other).record(
                entry(withKey(key, i % 5 === 0 ? OTHER_FINGERPRINT : FINGERPRINT)),
              ),
            ),
          );
          const recorded = outcomes.filter((outcome) => outcome.status === "fulfilled").map(({ value }) => value);
          const charged = recorded.filter(({ isReplay }) => !isReplay);
          expect(charged).toEqual([{ units: 7, isReplay: false }]);
          const reused = outcomes.filter(
            (outcome) =>
              outcome.status === "rejected" && (outcome.reason as { code: string }).code === "idempotency_key_reused",
          );
          // 10 of the 50 have the other fingerprint; those that differ from the first request are rejected.
          expect([10, 40]).toContain(reused.length);
          expect(recorded.length + reused.length).toBe(50);
        }
      });
      expect(await eventsOf(accountId)).toHaveLength(20);
      await expectConsistent();
    });

    test("expire after exactly 72 hours", async () => {
      const { accountId, entry } = await newAccount();
      await contract.ledger.record(entry(withKey("k")));
      contract.nowMs += 72 * HOUR_MS;
      expect(await contract.ledger.record(entry(withKey("k")))).toEqual(REPLAY);
      contract.nowMs += 1;
      expect(await contract.ledger.record(entry(withKey("k", OTHER_FINGERPRINT)))).toEqual({
        units: 7,
        isReplay: false,
      });
      expect(await contract.ledger.record(entry(withKey("k", OTHER_FINGERPRINT)))).toEqual(REPLAY);
      await expect(contract.ledger.record(entry(withKey("k")))).rejects.toEqual(fault("idempotency_key_reused"));
      expect(await eventsOf(accountId)).toHaveLength(2);
    });

    test("are deleted after they expire, as new ones are recorded", async () => {
      const { entry } = await newAccount();
      await Promise.all(Array.from({ length: 400 }, (_, i) => contract.ledger.record(entry(withKey(`old-${i}`)))));
      contract.nowMs += 73 * HOUR_MS;
      await Promise.all(Array.from({ length: 400 }, (_, i) => contract.ledger.record(entry(withKey(`new-${i}`)))));
      // Resolves only after the pruning that follows the previous batch.
      await contract.ledger.record(entry());
      const cutoff = new Date(contract.nowMs - 72 * HOUR_MS).toISOString();
      // Violates the constraint `id = 1` if there is a key that has expired.
      await expect(
        contract.fixture.execute(`insert into ledger_state (id, last_at, change_count, cursor_secret)
          select 2, '', 0, '' from idempotency where recorded_at < '${cutoff}'`),
      ).resolves.toBeUndefined();
    });

    test("of requests of 0 units are kept up to a limit per account and day, and those of others are not affected", async () => {
      const { entry } = await newAccount();
      const other = await newAccount();
      const free = (key: string): UsageEntry => entry({ ...withKey(key), units: 0 });
      const recordAll = async (first: number, end: number): Promise<void> => {
        const keys = Array.from({ length: end - first }, (_, i) => `free-${first + i}`);
        const recorded = await Promise.all(keys.map((key) => contract.ledger.record(free(key))));
        expect(recorded.filter(({ isReplay }) => isReplay)).toEqual([]);
      };
      await recordAll(0, FREE_KEYS_PER_DAY_MAX - 3);
      await recordAll(FREE_KEYS_PER_DAY_MAX - 3, FREE_KEYS_PER_DAY_MAX + 5);
      const isKept = async (key: string): Promise<boolean> => (await contract.ledger.record(free(key))).isReplay;
      expect(await isKept(`free-${FREE_KEYS_PER_DAY_MAX - 1}`)).toBe(true);
      expect(await isKept(`free-${FREE_KEYS_PER_DAY_MAX}`)).toBe(false);
      expect(await isKept(`free-${FREE_KEYS_PER_DAY_MAX}`)).toBe(false);
      // Keys of requests that cost units are always kept.
      await contract.ledger.record(entry(withKey("paid")));
      expect(await contract.ledger.record(entry(withKey("paid")))).toEqual(REPLAY);
      await contract.ledger.record(other.entry({ ...withKey("other"), units: 0 }));
      expect(await contract.ledger.record(other.entry({ ...withKey("other"), units: 0 }))).toEqual(REPLAY);
      contract.nowMs += 24 * HOUR_MS;
      await recordAll(FREE_KEYS_PER_DAY_MAX + 10, FREE_KEYS_PER_DAY_MAX + 11);
      expect(await isKept(`free-${FREE_KEYS_PER_DAY_MAX + 10}`)).toBe(true);
    }, 60_000);
  });
}
