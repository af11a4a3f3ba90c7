import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CSV_PAGE_LENGTH_MAX, type Customer } from "../../src/ledger/ledger.ts";
import { fault, HOUR_MS, type TestAccount, type TestLedger } from "./testLedger.ts";
import { METERS } from "../../src/contract/names.ts";
import type { UsageGroup } from "../../src/contract/wireTypes.ts";

/** Tests of usage queries. */
export function describeUsageQueries(contract: TestLedger): void {
  const { newAccount } = contract;

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
      second = (await contract.ledger.registerCustomer({ accountId: account.accountId, internalId: "second" }))
        .customer;
      for (const { hours, customer, meter, units } of uses) {
        contract.nowMs = FROM_MS + hours * HOUR_MS;
        const customerId = customer === 0 ? account.customerId : second.customerId;
        await contract.ledger.record(account.entry({ customerId, meter, units }));
      }
      const other = await newAccount();
      await contract.ledger.record(other.entry({ units: 1000 }));
    });

    /** Accounts of which the hourly sums have no events, which the audit in other tests would report. */
    const accountsWithoutEvents: string[] = [];
    afterAll(async () => {
      for (const accountId of accountsWithoutEvents) {
        await contract.fixture.execute(`delete from usage_rollup where account_id = '${accountId}'`);
      }
    });
    const newAccountWithoutEvents = async (): Promise<string> => {
      const { accountId } = await contract.ledger.createAccount({ name: "Without events" });
      accountsWithoutEvents.push(accountId);
      return accountId;
    };

    const query = async (groupBy: readonly UsageGroup[], overrides: object = {}) =>
      (await contract.ledger.usage({ accountId: account.accountId, groupBy, limit: 500, ...overrides })).items;

    test("sum the usage in total, by meter, by day and by month", async () => {
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
      // Grouping by day and month is the same as grouping by day.
      expect(await query(["day", "month"])).toEqual(days);
    });

    test("sum the usage by customer, with the internal id", async () => {
      const lines = await query(["customer", "customer"]);
      expect(new Set(lines)).toEqual(
        new Set([
          { customerId: account.customerId, internalId: "first", requests: 3, units: 13 },
          { customerId: second.customerId, internalId: "second", requests: 3, units: 50 },
        ]),
      );
    });

    test("filter by half-open date range and by customer, and reject invalid dates and limits", async () => {
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
          const page = await contract.ledger.usage({ accountId: account.accountId, groupBy, limit: 1, ...position });
          lines.push(...page.items);
          cursor = page.next;
          if (cursor === undefined) break;
        }
        expect(lines).toEqual(expected);
        expect(lines.reduce((sum, { units }) => sum + units, 0)).toBe(63);
      },
    );

    test("by customer within a range search many customers in vain, in parts, and still fill the pages", async () => {
      const accountId = await newAccountWithoutEvents();
      // A year, of which one call reads 277 customers. With fewer daily sums, they would be sorted instead.
      const days = Array.from({ length: 12 * 28 }, (_, i) => {
        const [month, day] = [Math.floor(i / 28) + 1, (i % 28) + 1].map((part) => String(part).padStart(2, "0"));
        return `2026-${month}-${day}`;
      }).slice(1);
      const values = [500, 501, 998].flatMap((customer) =>
        METERS.slice(0, 2).flatMap((meter) =>
          days.map((day) => `('${accountId}', 'customer-000${customer}', '${meter}', '${day}T00', 2, 1)`),
        ),
      );
      expect(values.length).toBeGreaterThan(2_000);
      await contract.fixture.execute(`insert into usage_rollup (account_id, customer_id, meter, hour, units, requests)
        with recursive number (n) as (select 0 union all select n + 1 from number where n < 999)
          select '${accountId}', 'customer-' || substr('00000' || n, length('00000' || n) - 5, 6), 'hazard_values',
              '2026-01-01T00', 1, 1 from number`);
      await contract.fixture.execute(`insert into usage_rollup (account_id, customer_id, meter, hour, units, requests)
        values ${values.join(", ")}`);
      const range = { accountId, groupBy: ["customer"] as const, from: "2026-01-02", to: "2026-12-31" };
      const lineOf = (customer: number) => ({ customerId: `customer-000${customer}`, requests: 670, units: 1340 });
      expect(await contract.ledger.usage({ ...range, limit: 500 })).toEqual({ items: [500, 501, 998].map(lineOf) });
      const first = await contract.ledger.usage({ ...range, limit: 2 });
      expect(first).toEqual({ items: [500, 501].map(lineOf), next: expect.any(String) as string });
      const cursor = first.next ?? "";
      expect(await contract.ledger.usage({ ...range, limit: 1, cursor })).toEqual({ items: [lineOf(998)] });
      expect(await contract.ledger.usage({ ...range, limit: 3 })).not.toHaveProperty("next");

      let text = "";
      let pageCount = 0;
      for (let next: string | undefined = ""; next !== undefined; pageCount++) {
        const page = await contract.ledger.usageCsv({
          ...range,
          limit: 5_000,
          ...(next === "" ? {} : { cursor: next }),
        });
        expect(page.text.split("\r\n")).toHaveLength(page.lineCount + 1);
        text += page.text;
        next = page.next;
      }
      expect(text).toBe([500, 501, 998].map((customer) => `customer-000${customer},,,,670,1340\r\n`).join(""));
      expect(pageCount).toBeGreaterThan(1);
    });

    test("as CSV end a page when its text is long enough, and continue after its last line", async () => {
      const accountId = await newAccountWithoutEvents();
      const internalId = `"${"🌊".repeat(198)}"`;
      await contract.fixture.execute(`insert into usage_rollup (account_id, customer_id, meter, hour, units, requests)
        with recursive number (n) as (select 1000 union all select n + 1 from number where n < 3999)
          select '${accountId}', '${accountId} ' || n, 'hazard_values', '2026-01-01T00', 1, 1 from number`);
      await contract.fixture.execute(`insert into customer (customer_id, account_id, internal_id, created_at)
          select customer_id, account_id, '${internalId}' || customer_id, '2026-01-01'
            from usage_rollup where account_id = '${accountId}'`);
      const query = { accountId, groupBy: ["customer"] as const, limit: 5_000 };
      const ids: string[] = [];
      for (let next: string | undefined = ""; next !== undefined;) {
        const page = await contract.ledger.usageCsv({ ...query, ...(next === "" ? {} : { cursor: next }) });
        expect(page.text.length).toBeLessThanOrEqual(CSV_PAGE_LENGTH_MAX);
        expect(page.lineCount).toBeGreaterThan(500);
        ids.push(
          ...page.text
            .trimEnd()
            .split("\r\n")
            .map((line) => line.split(",")[0] ?? ""),
        );
        next = page.next;
      }
      expect(ids).toEqual(Array.from({ length: 3000 }, (_, i) => `${accountId} ${1000 + i}`));
    });

    test("reject the cursor of another query", async () => {
      const firstPage = { accountId: account.accountId, groupBy: ["day"] as const, limit: 1 };
      const { next = "" } = await contract.ledger.usage(firstPage);
      for (const other of [
        { ...firstPage, groupBy: ["month"] as const },
        { ...firstPage, groupBy: ["day", "meter"] as const },
        { ...firstPage, from: "2026-01-01" },
        { ...firstPage, customerId: second.customerId },
        { ...firstPage, accountId: randomUUID() },
      ]) {
        await expect(contract.ledger.usage({ ...other, cursor: next })).rejects.toEqual(
          fault("invalid_request", /cursor/),
        );
      }
      expect((await contract.ledger.usage({ ...firstPage, limit: 500, cursor: next })).items).toHaveLength(2);
    });

    test("list events by account and date range", async () => {
      const units = async (filters: object): Promise<number[]> => {
        const eventUnits = [];
        for await (const event of contract.ledger.events(filters)) eventUnits.push(event.units);
        return eventUnits;
      };
      expect(await units({ accountId: account.accountId })).toEqual([1, 2, 4, 8, 16, 32]);
      const span = { from: "2026-05-31", to: "2026-06-01" };
      expect(await units({ accountId: account.accountId, ...span })).toEqual([4, 8]);
      expect(await units(span)).toEqual([4, 8]);
      await expect(units({ from: "x" })).rejects.toEqual(fault("invalid_request"));
    });
  });
}
