/** The rows that PostgreSQL reads for a page of a usage report in a large ledger: they depend on the page, not on the ledger. */
import { randomUUID } from "node:crypto";
import { type CompiledQuery, Kysely, PostgresDialect, sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { UsageGroup } from "../../src/contract/wireTypes.ts";
import { migrate, MIGRATIONS, type Storage, type Tables } from "../../src/ledger/schema.ts";
import { usage } from "../../src/ledger/usageLines.ts";
import { describeWithPostgres, type PostgresServer, startPostgres } from "../ledger/postgresServer.ts";
import { attackSize } from "./attackSize.ts";

/** Hourly sums of the account, each of another customer or day. */
const ROW_COUNT = attackSize("USAGE_PLAN_ROWS", { small: 60_000, full: 1_000_000 });
const DAY_COUNT = 60;
const CUSTOMER_COUNT = Math.ceil(ROW_COUNT / DAY_COUNT);
const METER_COUNT = 2;
const ACCOUNT = "account-1";
const LIMIT = 50;
const TIMEOUT_MS = 600_000;

/** Days of the ranges, which a report by customer adds up for every line. */
const RANGE_DAY_COUNT = 20;
const RANGE = { from: "2026-01-10", to: "2026-01-30" };

interface PlanNode {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly PlanNode[];
}

/** Returns the number of sums that a plan reads. Customers are not counted: scanning a small table is the best plan. */
function rowsRead(node: PlanNode): number {
  const own = node["Relation Name"]?.startsWith("usage_") === true;
  const perLoop = node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0);
  const below = (node.Plans ?? []).map(rowsRead).reduce((sum, count) => sum + count, 0);
  return below + (own ? perLoop * node["Actual Loops"] : 0);
}

describeWithPostgres("usage reports of a large PostgreSQL ledger", () => {
  let server: PostgresServer;
  let db: Kysely<Tables>;
  let storage: Storage;
  let statement: CompiledQuery | undefined;

  beforeAll(async () => {
    server = await startPostgres();
    const pool = new pg.Pool({ connectionString: await server.newDatabase() });
    db = new Kysely<Tables>({
      dialect: new PostgresDialect({ pool }),
      log: ({ query }) => {
        if (query.sql.includes("as line")) statement = query;
      },
    });
    const transaction: Storage["transaction"] = (work) => db.transaction().execute(work);
    storage = { db, dialect: "postgres", nowMs: () => 0, transaction, snapshot: transaction };
    await migrate(storage, randomUUID, MIGRATIONS.slice(0, 1));
    await sql`insert into usage_rollup (account_id, customer_id, meter, hour, units, requests)
      select ${ACCOUNT}, 'customer-' || lpad(customer::text, 6, '0'),
          case customer % ${sql.lit(METER_COUNT)} when 0 then 'hazard_values' else 'alignment_values' end,
          to_char(date '2026-01-01' + day, 'YYYY-MM-DD"T00"'), 1 + day % 7, 1
        from generate_series(1, ${sql.lit(CUSTOMER_COUNT)}) as customer
          cross join generate_series(0, ${sql.lit(DAY_COUNT - 1)}) as day`.execute(db);
    await sql`insert into account values (${ACCOUNT}, 'Large', '2026-01-01', null)`.execute(db);
    await sql`insert into customer (customer_id, account_id, internal_id, created_at)
      select distinct customer_id, account_id, customer_id, '2026-01-01' from usage_rollup`.execute(db);
    const startMs = performance.now();
    await migrate(storage, randomUUID);
    console.log(`${ROW_COUNT} hourly sums on PostgreSQL: migration in ${Math.round(performance.now() - startMs)} ms`);
    await sql`analyze`.execute(db);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await db.destroy();
    await server.dispose();
  });

  const byCustomer: readonly (readonly [readonly UsageGroup[], typeof RANGE | Record<string, never>, number])[] = [
    [["customer", "meter", "day"], {}, 1],
    [["customer", "day"], {}, 1],
    [["customer", "day"], RANGE, 1],
    [["customer", "meter", "month"], {}, 1],
    [["customer", "month"], {}, 1],
    [["customer", "month"], RANGE, 1 + RANGE_DAY_COUNT],
    [["customer", "meter"], {}, 1],
    [["customer"], {}, 1],
    [["customer"], RANGE, 1 + RANGE_DAY_COUNT],
  ];
  test.each(byCustomer)(
    "by %j within %j read at most %i sums per line, on the first page and in the middle",
    async (groupBy, range, sumsPerLine) => {
      const query = { accountId: ACCOUNT, groupBy, ...range };
      let cursor: string | undefined;
      // A page in the middle starts at about half of the lines, unless the report has fewer.
      for (const limit of [LIMIT, Math.min(10_000, Math.floor(CUSTOMER_COUNT / 2)), LIMIT]) {
        const page = await usage(storage, { ...query, limit, ...(cursor === undefined ? {} : { cursor }) });
        cursor = page.next;
        expect(cursor).toBeDefined();
        if (limit !== LIMIT || statement === undefined) continue;
        expect(page.items).toHaveLength(LIMIT);
        const explain = { ...statement, sql: `explain (analyze, format json) ${statement.sql}` };
        const { rows } = await db.executeQuery<{
          "QUERY PLAN": readonly { Plan: PlanNode; "Execution Time": number }[];
        }>(explain);
        const plan = rows[0]?.["QUERY PLAN"][0];
        if (plan === undefined) throw new Error("There is no plan.");
        const read = rowsRead(plan.Plan);
        console.log(`${JSON.stringify(query)}: ${read} rows, ${plan["Execution Time"]} ms`);
        expect(read, JSON.stringify(plan, undefined, 1)).toBeLessThanOrEqual((LIMIT + METER_COUNT + 2) * sumsPerLine);
        expect(read).toBeGreaterThan(LIMIT);
      }
    },
    TIMEOUT_MS,
  );
});
