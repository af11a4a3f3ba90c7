/** Usage reports compared with sums over the hourly rows, on tables that an earlier release has written. */
import { randomUUID } from "node:crypto";
import Database from "better-sqlite3";
import { Kysely, PostgresDialect, sql, SqliteDialect } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Meter, UsageGroup } from "../../src/contract/wireTypes.ts";
import type { UsageLine, UsageQuery } from "../../src/ledger/ledger.ts";
import { migrate, MIGRATIONS, type Storage, type Tables } from "../../src/ledger/schema.ts";
import { auditSums } from "../../src/ledger/usage.ts";
import { usage } from "../../src/ledger/usageLines.ts";
import type { ReadBounds } from "../../src/ledger/usageSelections.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { describeWithPostgres, type PostgresServer, startPostgres } from "./postgresServer.ts";

type Hourly = Tables["usage_rollup"];

const ACCOUNTS = ["account-1", "account-2"] as const;
const CUSTOMERS = Array.from({ length: 7 }, (_, i) => `customer-${i}`);
const METERS: readonly Meter[] = ["hazard_values", "company_results", "alignment_values"];
const GROUPINGS: readonly (readonly UsageGroup[])[] = [
  [],
  ["meter"],
  ["day"],
  ["month"],
  ["day", "meter"],
  ["month", "meter"],
  ["customer"],
  ["customer", "meter"],
  ["customer", "day"],
  ["customer", "month"],
  ["customer", "meter", "day"],
  ["customer", "meter", "month"],
];
const RANGES: readonly { readonly from?: string; readonly to?: string }[] = [
  {},
  { from: "2025-12-01" },
  { from: "2025-12-07" },
  { to: "2026-01-01" },
  { to: "2026-02-11" },
  { from: "2025-12-01", to: "2026-02-01" },
  { from: "2025-11-20", to: "2026-02-03" },
  { from: "2026-01-05", to: "2026-01-20" },
  { from: "2026-01-01", to: "2026-01-20" },
  { from: "2026-01-05", to: "2026-02-01" },
  { from: "2025-12-30", to: "2026-01-02" },
  { from: "2026-01-05", to: "2026-01-05" },
  { from: "2030-01-01" },
];

/** Returns random hourly sums from November 2025 to February 2026. */
function hourlySums(random: SeededRandom, count: number): Hourly[] {
  const rows = new Map<string, Hourly>();
  while (rows.size < count) {
    const row: Hourly = {
      account_id: random.pick(ACCOUNTS),
      customer_id: random.pick(CUSTOMERS),
      meter: random.pick(METERS),
      hour: new Date(Date.UTC(2025, 10, 1, random.below(2880))).toISOString().slice(0, 13),
      units: 1 + random.below(100),
      requests: 1 + random.below(10),
    };
    rows.set(`${row.account_id} ${row.customer_id} ${row.meter} ${row.hour}`, row);
  }
  return [...rows.values()];
}

/** Reference implementation: adds up the rows of a query, in the order of the report. */
function expectedLines(hourly: readonly Hourly[], query: UsageQuery): readonly Omit<UsageLine, "internalId">[] {
  const { accountId, customerId, from = "", to = "9", groupBy } = query;
  const length = groupBy.includes("day") ? 10 : groupBy.includes("month") ? 7 : 0;
  const sums = new Map<string, { units: number; requests: number }>();
  for (const row of hourly) {
    const isMatching = row.account_id === accountId && row.hour >= from && row.hour < to;
    if (!isMatching || (customerId !== undefined && row.customer_id !== customerId)) continue;
    const key = [
      row.hour.slice(0, length),
      groupBy.includes("customer") ? row.customer_id : "",
      groupBy.includes("meter") ? row.meter : "",
    ].join(" ");
    const { units, requests } = sums.get(key) ?? { units: 0, requests: 0 };
    sums.set(key, { units: units + row.units, requests: requests + row.requests });
  }
  return [...sums]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, { requests, units }]) => {
      const [period = "", customer = "", meter = ""] = key.split(" ");
      return {
        ...(groupBy.includes("customer") ? { customerId: customer } : {}),
        ...(groupBy.includes("meter") ? { meter: meter as Meter } : {}),
        ...(length === 0 ? {} : { period }),
        requests,
        units,
      };
    });
}

async function allLines(storage: Storage, query: UsageQuery, bounds?: ReadBounds): Promise<readonly UsageLine[]> {
  const lines: UsageLine[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await usage(storage, cursor === undefined ? query : { ...query, cursor }, bounds);
    lines.push(...page.items);
    cursor = page.next;
    if (cursor === undefined) return lines;
  }
}

async function expectReports(storage: Storage, hourly: readonly Hourly[]): Promise<void> {
  for (const groupBy of GROUPINGS) {
    for (const range of RANGES) {
      for (const customer of [{}, { customerId: CUSTOMERS[2] ?? "" }, { customerId: "" }]) {
        const query = { accountId: ACCOUNTS[0], groupBy, ...range, ...customer };
        const expected = expectedLines(hourly, { ...query, limit: 1 });
        expect(await allLines(storage, { ...query, limit: 7 }), JSON.stringify(query)).toEqual(expected);
        // Few sums are sorted. Otherwise customers are searched for: one at a time in ranges of 67 days or more, up to seven
        // in shorter ones, or all.
        const isBounded = groupBy.includes("customer") && !groupBy.includes("day") && !("customerId" in customer);
        if (!isBounded || Object.keys(range).length === 0) continue;
        for (const dailySumCountMax of [200, 300_000]) {
          const bounds = { dailySumCountMax, sortedSumCountMax: 0 };
          expect(await allLines(storage, { ...query, limit: 7 }, bounds), JSON.stringify(query)).toEqual(expected);
        }
      }
    }
  }
}

/** Tests on tables of the first release, created by `open`. */
function describeSums(open: () => Promise<{ storage: Storage; close(): Promise<void> }>): void {
  let storage: Storage;
  let close: () => Promise<void>;
  const hourly = hourlySums(randomFrom(4), 1500);
  beforeAll(async () => {
    ({ storage, close } = await open());
    await migrate(storage, randomUUID, MIGRATIONS.slice(0, 1));
    for (let i = 0; i < 1000; i += 100) {
      await storage.db
        .insertInto("usage_rollup")
        .values(hourly.slice(i, i + 100))
        .execute();
    }
    await migrate(storage, randomUUID);
  });
  afterAll(() => close());

  test("equal the sums over all hourly rows, for rows before the migration and after it", async () => {
    await expectReports(storage, hourly.slice(0, 1000));
    // As earlier releases record: into the hourly sums only.
    for (const row of hourly.slice(1000)) {
      for (const part of [
        { units: 1, requests: 1 },
        { units: row.units - 1, requests: row.requests - 1 },
      ]) {
        await sql`insert into usage_rollup as total (account_id, customer_id, meter, hour, units, requests)
          values (${row.account_id}, ${row.customer_id}, ${row.meter}, ${row.hour}, ${part.units}, ${part.requests})
          on conflict (account_id, customer_id, meter, hour) do update set
            units = total.units + excluded.units, requests = total.requests + excluded.requests`.execute(storage.db);
      }
    }
    await expectReports(storage, hourly);
  });

  test.each([
    ["usage_daily", CUSTOMERS[0], "day", "2025-12-24"],
    ["usage_daily", "", "day", "2025-12-24"],
    ["usage_total", CUSTOMERS[0], "period", "2025-12"],
    ["usage_total", CUSTOMERS[0], "period", ""],
  ])("the audit finds a wrong sum in %s of %j with the %s %j", async (table, customer = "", column, period) => {
    const add = (units: number): Promise<unknown> =>
      sql`update ${sql.table(table)} set units = units + ${units}
        where account_id = ${ACCOUNTS[0]} and customer_id = ${customer} and meter = ${METERS[0]}
          and ${sql.ref(column)} = ${period}`.execute(storage.db);
    await sql`insert into usage_rollup values (${ACCOUNTS[0]}, ${CUSTOMERS[0]}, ${METERS[0]}, '2025-12-24T24', 1, 1)`.execute(
      storage.db,
    );
    expect((await auditSums(storage)).sumDifferences).toEqual([]);
    await add(1);
    const [difference, ...others] = (await auditSums(storage)).sumDifferences;
    expect(others).toEqual([]);
    expect(difference).toMatchObject({
      accountId: ACCOUNTS[0],
      meter: METERS[0],
      ...(customer === "" ? {} : { customerId: customer }),
      ...(period === "" ? {} : { period }),
    });
    expect(difference?.units).toBe((difference?.hourlyUnits ?? 0) + 1);
    await add(-1);
    await sql`delete from usage_rollup where hour = '2025-12-24T24'`.execute(storage.db);
    expect((await auditSums(storage)).sumDifferences).toEqual([]);
  });
}

describe("usage reports on SQLite", () => {
  let database: Database.Database;
  const statements: { readonly text: string; readonly parameters: readonly unknown[] }[] = [];
  const open = (): Promise<{ storage: Storage; close(): Promise<void> }> => {
    database = new Database(":memory:");
    const db = new Kysely<Tables>({
      dialect: new SqliteDialect({ database }),
      log: ({ query }) => void statements.push({ text: query.sql, parameters: query.parameters }),
    });
    const transaction: Storage["transaction"] = (work) => db.transaction().execute(work);
    const storage: Storage = { db, dialect: "sqlite", nowMs: () => 0, transaction, snapshot: transaction };
    return Promise.resolve({ storage, close: () => db.destroy() });
  };
  describeSums(open);

  test("by customer within a range read a bounded number of customers at a time", async () => {
    const { storage, close } = await open();
    await migrate(storage, randomUUID);
    const [row] = hourlySums(randomFrom(6), 1);
    if (row === undefined) throw new Error("No row.");
    const rows = Array.from({ length: 60 }, (_, i) => ({
      ...row,
      customer_id: `customer-${10 + i}`,
      hour: "2026-01-01T00",
    }));
    const last = { ...row, customer_id: "customer-50", hour: "2026-01-09T00", units: 7, requests: 1 };
    await storage.db
      .insertInto("usage_rollup")
      .values([...rows, last])
      .execute();
    const query = { accountId: row.account_id, groupBy: ["customer"] as const, from: "2026-01-02", limit: 100 };
    // Eight days of three meters per customer.
    const bounds = { dailySumCountMax: 10 * 8 * METERS.length, sortedSumCountMax: 0 };
    const partsWith = async (sortedSumCountMax: number): Promise<unknown> => {
      const parts = [];
      for (let cursor: string | undefined; ;) {
        const part = await usage(
          storage,
          { ...query, ...(cursor === undefined ? {} : { cursor }) },
          { ...bounds, sortedSumCountMax },
        );
        parts.push([part.items.map(({ customerId }) => customerId), part.isPartial]);
        cursor = part.next;
        if (cursor === undefined) return parts;
      }
    };
    expect(await partsWith(0)).toEqual([
      [[], true],
      [[], true],
      [[], true],
      [[], true],
      [["customer-50"], true],
      [[], true],
      [[], false],
    ]);
    statements.length = 0;
    expect(await partsWith(1), "few sums are sorted").toEqual([[["customer-50"], false]]);
    const { text, parameters } = statements.find(({ text }) => text.includes("as line")) ?? {
      text: "",
      parameters: [],
    };
    const plan = database.prepare<unknown[], { detail: string }>(`explain query plan ${text}`).all(...parameters);
    expect(plan.map(({ detail }) => detail)).toContain("SEARCH usage_daily USING PRIMARY KEY (account_id=? AND day>?)");
    await storage.db
      .insertInto("usage_rollup")
      .values({ ...last, customer_id: "customer-51" })
      .execute();
    expect(await partsWith(1)).toHaveLength(7);
    expect(await partsWith(2)).toEqual([[["customer-50", "customer-51"], false]]);
    const beyond = { ...query, from: "2026-01-10" };
    expect(await usage(storage, beyond, bounds)).toEqual({ items: [], isPartial: false });
    await close();
  });

  test("by customer read their lines in the order of an index, on every page", async () => {
    const { storage, close } = await open();
    await migrate(storage, randomUUID);
    const [row] = hourlySums(randomFrom(5), 1);
    if (row === undefined) throw new Error("No row.");
    await storage.db
      .insertInto("usage_rollup")
      .values([row, { ...row, customer_id: "z" }, { ...row, hour: "2026-03-01T00" }])
      .execute();
    for (const groupBy of GROUPINGS.filter((groups) => groups.includes("customer"))) {
      for (const range of RANGES) {
        statements.length = 0;
        const bounds = { dailySumCountMax: 300_000, sortedSumCountMax: 0 };
        await allLines(storage, { accountId: row.account_id, groupBy, ...range, limit: 1 }, bounds);
        // A range without sums is sorted.
        const isSorted = (text: string): boolean =>
          text.includes("usage_daily") && text.includes("group by customer_id");
        const reads = statements.filter(({ text }) => /as line|offset/.test(text) && !isSorted(text));
        for (const { text, parameters } of reads) {
          const plan = database.prepare<unknown[], { detail: string }>(`explain query plan ${text}`).all(...parameters);
          const details = plan.map(({ detail }) => detail);
          // Afterwards the lines of the page are sorted and their internal ids added.
          const end = text.includes("as line") ? details.indexOf("SCAN line") : details.length;
          expect(details.slice(0, end).join("\n"), text).not.toMatch(
            /TEMP B-TREE FOR (GROUP|ORDER) BY|SCAN (usage|daily|known)/,
          );
        }
      }
    }
    await close();
  });
});

describeWithPostgres("usage reports on PostgreSQL", () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.dispose());

  describeSums(async () => {
    const int8 = 20;
    const types: pg.CustomTypesConfig = {
      getTypeParser: (oid: number, format?: "text" | "binary") =>
        oid === int8 ? Number : pg.types.getTypeParser(oid, format),
    };
    const pool = new pg.Pool({ connectionString: await server.newDatabase(), types });
    const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
    const transaction: Storage["transaction"] = (work) => db.transaction().execute(work);
    const storage: Storage = { db, dialect: "postgres", nowMs: () => 0, transaction, snapshot: transaction };
    return { storage, close: () => db.destroy() };
  });
});
