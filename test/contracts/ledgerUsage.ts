import { describe, expect, test } from "vitest";
import { fault, HOUR_MS, MINUTE_MS, type TestLedger } from "./testLedger.ts";

/** Tests of recorded usage and its audit. */
export function describeUsage(contract: TestLedger): void {
  const { withOther, newAccount, eventsOf, expectConsistent } = contract;

  describe("usage", () => {
    test("is included in sums and events as soon as recording resolves", async () => {
      const { accountId, customerId, entry } = await newAccount();
      const first = entry();
      expect(await contract.ledger.record(first)).toEqual({ units: 7, isReplay: false });
      expect(await contract.ledger.usage({ accountId, groupBy: ["customer", "meter", "day"], limit: 10 })).toEqual({
        items: [
          {
            customerId,
            internalId: "first",
            meter: "hazard_values",
            period: new Date(contract.nowMs).toISOString().slice(0, 10),
            requests: 1,
            units: 7,
          },
        ],
      });
      expect(await eventsOf(accountId)).toEqual([
        { ...first, seq: expect.any(Number) as number, recordedAt: new Date(contract.nowMs).toISOString() },
      ]);
      await expectConsistent();
    });

    test("of the same receipt is recorded once, whether concurrently, sequentially or by another instance", async () => {
      const { accountId, entry } = await newAccount();
      const first = entry({ units: 5 });
      const concurrent = await Promise.all([
        contract.ledger.record(first),
        contract.ledger.record(first),
        contract.ledger.record(first),
      ]);
      const sequential = await contract.ledger.record({ ...first, units: 6 });
      const byOtherInstance = await withOther((other) => other.record(first));
      for (const recorded of [...concurrent, sequential, byOtherInstance]) expect(recorded).toMatchObject({ units: 5 });
      expect((await contract.ledger.usage({ accountId, groupBy: [], limit: 1 })).items).toEqual([
        { requests: 1, units: 5 },
      ]);
      await expectConsistent();
    });

    test("of 1000 concurrent entries from two instances is complete and ordered by time", async () => {
      const { accountId, entry } = await newAccount();
      await withOther(async (other) => {
        const recordings = Array.from({ length: 1000 }, (_, i) =>
          (i % 3 === 0 ? other : contract.ledger).record(entry({ units: i + 1 })),
        );
        expect(await Promise.all(recordings)).toHaveLength(1000);
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
      await Promise.all(entries.map((each) => contract.ledger.record(each)));
      const events = await eventsOf(accountId);
      expect(new Set(events.map(({ receipt }) => receipt))).toEqual(new Set(entries.map(({ receipt }) => receipt)));
      expect(events).toHaveLength(2500);
    });

    test("gets the last recorded time if the clock steps back, even from another instance whose clock is behind", async () => {
      const { accountId, entry } = await newAccount();
      // The first call at this hour is a recording.
      contract.nowMs += HOUR_MS;
      await contract.ledger.record(entry());
      const before = contract.nowMs;
      contract.nowMs -= 4 * MINUTE_MS;
      await contract.ledger.record(entry());
      await withOther((other) => other.record(entry()));
      await withOther(
        (other) => other.record(entry()),
        () => before - 1,
      );
      contract.nowMs = before;
      const times = (await eventsOf(accountId)).map(({ recordedAt }) => Date.parse(recordedAt));
      expect(times).toEqual([before, before, before, before]);
      await expectConsistent();
    });

    test("is not recorded while the ledger's time is more than five minutes ahead of the clock", async () => {
      const { accountId, entry } = await newAccount();
      await contract.ledger.record(entry());
      const before = contract.nowMs;
      contract.nowMs -= 6 * MINUTE_MS;
      const rejection = fault("clock_unreliable", /is 6 minutes after the clock .* reset-clock/);
      await expect(contract.ledger.record(entry())).rejects.toEqual(rejection);
      await expect(contract.ledger.checkWritable()).rejects.toEqual(rejection);
      await withOther((other) => expect(other.checkWritable()).rejects.toEqual(rejection));
      contract.nowMs = before - 4 * MINUTE_MS;
      await contract.ledger.record(entry());
      await contract.ledger.checkWritable();
      contract.nowMs = before;
      expect(await eventsOf(accountId)).toHaveLength(2);
      await expectConsistent();
    });

    test("rejects invalid entries with a plain error", async () => {
      const { accountId, entry } = await newAccount();
      for (const overrides of [
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
        await expect(
          (async () => contract.ledger.record(entry(overrides)))(),
          JSON.stringify(overrides),
        ).rejects.toThrow(/Invalid usage entry/);
      }
      expect((await contract.ledger.usage({ accountId, groupBy: [], limit: 1 })).items).toEqual([]);
    });

    test("of 0 units is not stored", async () => {
      const { accountId, entry } = await newAccount();
      expect(await contract.ledger.record(entry({ units: 0 }))).toEqual({ units: 0, isReplay: false });
      expect(await eventsOf(accountId)).toEqual([]);
      await expectConsistent();
    });

    test("cannot be changed or deleted, not even directly in the database", async () => {
      const { accountId, entry } = await newAccount();
      await contract.ledger.record(entry());
      await expect(contract.fixture.execute("update usage_event set units = 1")).rejects.toThrow(/only added to/);
      await expect(contract.fixture.execute("delete from usage_event")).rejects.toThrow(/only added to/);
      expect(await eventsOf(accountId)).toMatchObject([{ units: 7 }]);
    });

    test("the audit finds rollups that do not match the events", async () => {
      const { accountId, customerId, entry } = await newAccount();
      await contract.ledger.record(entry());
      const { eventCount, rollupCount } = await expectConsistent();
      expect(eventCount).toBeGreaterThan(0);
      expect(rollupCount).toBeGreaterThan(0);
      const hour = new Date(contract.nowMs).toISOString().slice(0, 13);
      const change = (by: string): Promise<void> =>
        contract.fixture.execute(`update usage_rollup set units = units ${by} where account_id = '${accountId}'`);
      await change("+ 1");
      const difference = { accountId, customerId, meter: "hazard_values", hour };
      const counts = { eventUnits: 7, rollupUnits: 8, eventRequests: 1, rollupRequests: 1 };
      expect((await contract.ledger.audit()).differences).toEqual([{ ...difference, ...counts }]);
      await change("- 1");
      await contract.fixture.execute(
        `insert into usage_rollup (account_id, customer_id, meter, hour, units, requests)
         values ('${accountId}', '${customerId}', 'company_results', '${hour}', 3, 2)`,
      );
      expect((await contract.ledger.audit()).differences).toMatchObject([
        { meter: "company_results", eventUnits: 0, rollupUnits: 3, eventRequests: 0, rollupRequests: 2 },
      ]);
      await contract.fixture.execute("delete from usage_rollup where meter = 'company_results' and units = 3");
      await expectConsistent();
    });
  });
}
