import { expect, test, describe } from "vitest";
import type { ArchivedBatch, RecordedEntry } from "../../src/ledger/ledger.ts";
import { fault, HOUR_MS, type TestLedger } from "./testLedger.ts";

/** Tests of archiving and deleting old events. */
export function describePruning(contract: TestLedger): void {
  const { newAccount, eventsOf, expectConsistent } = contract;

  describe("pruning", () => {
    const dayAfter = (days: number): string =>
      new Date(contract.nowMs + days * 24 * HOUR_MS).toISOString().slice(0, 10);
    const archiveTo =
      (archived: RecordedEntry[]) =>
      async (batches: AsyncIterable<ArchivedBatch>): Promise<{ readonly name: string; readonly sha256: string }> => {
        for await (const { events } of batches) archived.push(...events);
        return { name: "archive.csv", sha256: "ab".repeat(32) };
      };

    test("archives and deletes the events before a day; sums stay, and the audit succeeds", async () => {
      const { accountId, entry } = await newAccount();
      const record = async (count: number): Promise<void> => {
        await Promise.all(Array.from({ length: count }, () => contract.ledger.record(entry({ units: 3 }))));
      };
      await record(5);
      contract.nowMs += 24 * HOUR_MS;
      await record(4);
      const before = dayAfter(0);
      const all = await eventsOf(accountId);
      const usage = await contract.ledger.usage({ accountId, groupBy: ["day"], limit: 10 });
      const plan = await contract.ledger.prunePlan({ before });
      expect(plan.eventCount).toBeGreaterThanOrEqual(5);
      expect(await eventsOf(accountId)).toEqual(all);

      const archived: RecordedEntry[] = [];
      const head = await contract.ledger.prune(plan, archiveTo(archived));
      expect(head.batch).toBeGreaterThan(plan.head.batch);
      expect(archived).toHaveLength(plan.eventCount);
      expect(archived.filter((event) => event.accountId === accountId)).toEqual(all.slice(0, 5));
      expect(await eventsOf(accountId)).toEqual(all.slice(5));
      expect(await contract.ledger.usage({ accountId, groupBy: ["day"], limit: 10 })).toEqual(usage);

      const report = await expectConsistent();
      expect(report.sumDifferences).toEqual([]);
      expect(report.chain.archives.at(-1)).toEqual({
        before,
        eventCount: plan.eventCount,
        head: plan.head,
        name: "archive.csv",
        sha256: "ab".repeat(32),
      });
      expect(await contract.ledger.prunePlan({ before })).toMatchObject({
        batchCount: 0,
        eventCount: 0,
        undeletedCount: 0,
      });
      await record(1);
      contract.nowMs += 24 * HOUR_MS;
      await contract.reopen();
      // All events, so that the next one continues an empty table.
      await contract.ledger.prune(await contract.ledger.prunePlan({ before: dayAfter(0) }), archiveTo(archived));
      expect(await eventsOf(accountId)).toEqual([]);
      await record(1);
      const [last] = await eventsOf(accountId);
      expect(last?.seq).toBeGreaterThan(archived.at(-1)?.seq ?? Infinity);
      await expectConsistent();
    });

    test("deletes nothing if the archive cannot be written, and continues a deletion that was interrupted", async () => {
      const { accountId, entry } = await newAccount();
      await contract.ledger.record(entry());
      contract.nowMs += 24 * HOUR_MS;
      const plan = await contract.ledger.prunePlan({ before: dayAfter(0) });
      const failing = contract.ledger.prune(plan, () => Promise.reject(new Error("disk full")));
      await expect(failing).rejects.toThrow("disk full");
      expect(await eventsOf(accountId)).toHaveLength(1);
      await expectConsistent();

      const interrupted = contract.ledger.prune(plan, archiveTo([]), () => {
        throw new Error("interrupted");
      });
      await expect(interrupted).rejects.toThrow("interrupted");
      await expectConsistent();
      const rest = await contract.ledger.prunePlan({ before: dayAfter(0) });
      expect(rest.eventCount).toBe(0);
      await contract.ledger.prune(rest, () => Promise.reject(new Error("there is nothing to archive")));
      expect(await eventsOf(accountId)).toEqual([]);
      await expectConsistent();
    });

    test("is rejected if an event before the day was recorded while they were archived, by a clock that is behind", async () => {
      const { accountId, entry } = await newAccount();
      await contract.ledger.record(entry());
      const moveClock = async (days: number): Promise<void> => {
        contract.nowMs += days * 24 * HOUR_MS;
        await contract.ledger.resetClock();
      };
      await moveClock(1);
      const plan = await contract.ledger.prunePlan({ before: dayAfter(0) });
      const late = contract.ledger.prune(plan, async (batches) => {
        await moveClock(-1);
        await contract.ledger.record(entry());
        await moveClock(1);
        return archiveTo([])(batches);
      });
      await expect(late).rejects.toMatchObject({
        code: "invalid_request",
        message: `Usage before ${plan.before} was recorded while it was archived; start again.`,
      });
      expect(await eventsOf(accountId)).toHaveLength(2);
      await expectConsistent();
      const again = await contract.ledger.prunePlan({ before: plan.before });
      expect(again.eventCount).toBe(plan.eventCount + 1);
      await contract.ledger.prune(again, archiveTo([]));
      expect(await eventsOf(accountId)).toEqual([]);
      await expectConsistent();
    });

    test("rejects a day that is invalid, in the future or before an earlier one", async () => {
      const rejected = fault("invalid_request");
      for (const before of ["2026-02-30", "yesterday", dayAfter(1), "2026-01-01"]) {
        await expect(contract.ledger.prunePlan({ before })).rejects.toEqual(rejected);
      }
    });

    test("archives events that a wrong clock has dated after the day, and keeps their sums", async () => {
      const { accountId, entry } = await newAccount();
      const atYears = async (years: number, units: number): Promise<void> => {
        contract.nowMs += years * 365 * 24 * HOUR_MS;
        await contract.ledger.resetClock();
        await contract.ledger.record(entry({ units }));
        contract.nowMs -= years * 365 * 24 * HOUR_MS;
        await contract.ledger.resetClock();
      };
      const usage = (): Promise<unknown> => contract.ledger.usage({ accountId, groupBy: ["day"], limit: 10 });
      await contract.ledger.record(entry({ units: 1 }));
      await atYears(30, 20);
      await contract.ledger.record(entry({ units: 300 }));
      contract.nowMs += 24 * HOUR_MS;
      await contract.ledger.record(entry({ units: 4000 }));
      // In the same hour as the archived one, but after the last event before the day.
      contract.nowMs -= 24 * HOUR_MS;
      await atYears(30, 50_000);
      contract.nowMs += 24 * HOUR_MS;
      await contract.ledger.resetClock();
      const before = await usage();

      const archived: RecordedEntry[] = [];
      const plan = await contract.ledger.prunePlan({ before: dayAfter(0) });
      expect(plan.postdatedCount).toBe(1);
      await contract.ledger.prune(plan, archiveTo(archived));
      const units = (events: readonly RecordedEntry[]): readonly number[] =>
        events.filter((event) => event.accountId === accountId).map((event) => event.units);
      expect(units(archived)).toEqual([1, 20, 300]);
      expect(units(await eventsOf(accountId))).toEqual([4000, 50_000]);
      expect(await usage()).toEqual(before);
      await expectConsistent();

      // The sums of later days stay comparable when more is archived.
      contract.nowMs += 24 * HOUR_MS;
      await contract.ledger.record(entry({ units: 600_000 }));
      const later = await contract.ledger.prunePlan({ before: dayAfter(0) });
      expect(later.postdatedCount).toBe(0);
      await contract.ledger.prune(later, archiveTo(archived));
      expect(units(await eventsOf(accountId))).toEqual([600_000, 50_000]);
      await expectConsistent();
      await contract.fixture.execute(
        `update usage_carried set units = units + 1 where account_id = '${accountId}' and units = 20`,
      );
      const { chain, differences } = await contract.ledger.audit();
      expect(chain.problems).toMatchObject([{ code: "pruned_sums_changed" }]);
      expect(differences).toMatchObject([{ accountId, eventUnits: 50_021, rollupUnits: 50_020 }]);
      await contract.fixture.execute(
        `update usage_carried set units = units - 1 where account_id = '${accountId}' and units = 21`,
      );
      await expectConsistent();
    });

    test("is refused for a day after today, also if a wrong clock has set the time of the ledger to a later one", async () => {
      const { entry } = await newAccount();
      contract.nowMs += 365 * 24 * HOUR_MS;
      await contract.ledger.record(entry());
      const before = dayAfter(0);
      contract.nowMs -= 365 * 24 * HOUR_MS;
      await expect(contract.ledger.prunePlan({ before })).rejects.toEqual(
        fault("invalid_request", /must not be after today/),
      );
      await contract.ledger.resetClock();
    });

    test("cannot be avoided by deleting events directly: only archived ones can be deleted", async () => {
      const { accountId, entry } = await newAccount();
      await contract.ledger.record(entry());
      const [event] = await eventsOf(accountId);
      await expect(contract.fixture.execute(`delete from usage_event where seq = ${event?.seq}`)).rejects.toThrow(
        /only added to/,
      );
    });
  });

  describe("the time of the ledger", () => {
    test("is that of the clock again after it was reset", async () => {
      const { accountId, entry } = await newAccount();
      const before = contract.nowMs;
      contract.nowMs += 30 * 365 * 24 * HOUR_MS;
      await contract.ledger.record(entry());
      contract.nowMs = before;
      await expect(contract.ledger.record(entry())).rejects.toEqual(fault("clock_unreliable"));
      expect(await contract.ledger.resetClock()).toMatchObject({ to: new Date(before).toISOString() });
      await contract.ledger.record(entry());
      const years = (await eventsOf(accountId)).map(({ recordedAt }) => recordedAt.slice(0, 4));
      expect(years).toEqual(["2026", "2056"]);
      await expectConsistent();
    });
  });
}
