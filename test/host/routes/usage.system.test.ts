import { parse as parseCsv } from "csv-parse/sync";
import { beforeEach, describe, expect, test } from "vitest";
import type { Caller } from "../../../src/host/route.ts";
import { customerUsage } from "../../../src/host/routes/usage.ts";
import { usage } from "../../../src/host/routes/usage.ts";
import type { ReportOptions, UsageQuery } from "../../../src/ledger/ledger.ts";
import { RouteCaller } from "../routeCaller.ts";
import type { Meter } from "../../../src/contract/wireTypes.ts";

let routes: RouteCaller;
let caller: Caller;
let firstId: string;
let secondId: string;
let receiptCount = 0;
beforeEach(async () => {
  routes = new RouteCaller();
  caller = await routes.caller();
  const { accountId } = caller;
  firstId = (
    await routes.ledger.registerCustomer({ accountId, internalId: 'one, "quoted"\r\nand more'.replace(/[\r\n]/g, " ") })
  ).customer.customerId;
  secondId = (await routes.ledger.registerCustomer({ accountId, internalId: "other" })).customer.customerId;
  await record(firstId, "hazard_values", 3);
  await record(firstId, "hazard_values", 4);
  await record(firstId, "alignment_values", 5);
  await record(secondId, "hazard_values", 6);
  const otherCaller = await routes.caller();
  const theirs = await routes.ledger.registerCustomer({ accountId: otherCaller.accountId, internalId: "theirs" });
  await record(theirs.customer.customerId, "hazard_values", 1000, otherCaller);
});

function record(customerId: string, meter: Meter, units: number, { accountId, keyId } = caller): Promise<unknown> {
  return routes.ledger.record({
    receipt: `r${receiptCount++}`,
    accountId,
    customerId,
    keyId,
    meter,
    units,
    route: "/",
  });
}

const ask = async (queryText = "") =>
  JSON.parse((await routes.call(usage, { caller, queryText })).text) as {
    items: Record<string, unknown>[];
    next?: string;
  };
const TODAY = new Date().toISOString().slice(0, 10);

describe("GET /usage", () => {
  test("groups by customer and meter by default", async () => {
    expect(await ask()).toStrictEqual({
      items: [
        { customer_id: firstId, internal_id: 'one, "quoted"  and more', meter: "hazard_values", requests: 2, units: 7 },
        {
          customer_id: firstId,
          internal_id: 'one, "quoted"  and more',
          meter: "alignment_values",
          requests: 1,
          units: 5,
        },
        { customer_id: secondId, internal_id: "other", meter: "hazard_values", requests: 1, units: 6 },
      ],
    });
  });

  test.each([
    [
      "meter",
      [
        { meter: "hazard_values", requests: 3, units: 13 },
        { meter: "alignment_values", requests: 1, units: 5 },
      ],
    ],
    ["day", [{ period: TODAY, requests: 4, units: 18 }]],
    ["month", [{ period: TODAY.slice(0, 7), requests: 4, units: 18 }]],
    [
      "month,meter",
      [
        { meter: "hazard_values", period: TODAY.slice(0, 7), requests: 3, units: 13 },
        { meter: "alignment_values", period: TODAY.slice(0, 7), requests: 1, units: 5 },
      ],
    ],
  ])("groups by %s, and omits the members of other groups", async (groups, items) => {
    expect(await ask(`group_by=${groups}`)).toStrictEqual({ items });
  });

  test("returns one customer's usage by parameter and by path", async () => {
    const items = [
      { meter: "hazard_values", requests: 2, units: 7 },
      { meter: "alignment_values", requests: 1, units: 5 },
    ];
    expect(await ask(`customer_id=${firstId.toUpperCase()}&group_by=meter`)).toStrictEqual({ items });
    const { text } = await routes.call(customerUsage, { caller, path: { id: firstId }, queryText: "group_by=meter" });
    expect(JSON.parse(text)).toStrictEqual({ items });
  });

  test("returns pages", async () => {
    const first = await ask("limit=2");
    expect(first.items).toHaveLength(2);
    const second = await ask(`limit=2&cursor=${first.next}`);
    expect([second.items.length, second.next]).toStrictEqual([1, undefined]);
  });

  test("passes the parameters to the ledger unchanged", async () => {
    const received: UsageQuery[] = [];
    routes.ledger.usage = (query) => {
      received.push(query);
      return Promise.resolve({ items: [] });
    };
    await ask("from=2024-02-29&to=2024-03-01&group_by=day,month&limit=7&cursor=1e5");
    expect(received).toStrictEqual([
      {
        accountId: caller.accountId,
        from: "2024-02-29",
        to: "2024-03-01",
        groupBy: ["day", "month"],
        limit: 7,
        cursor: "1e5",
      },
    ]);
  });

  test.each([
    ["from=2023-02-29", "from", "malformed"],
    ["from=yesterday", "from", "malformed"],
    ["to=2024-13-01", "to", "malformed"],
    ["to=20240101", "to", "malformed"],
    ["from=2024-01-02&to=2024-01-02", "to", "out_of_range"],
    ["from=2024-01-02&to=2024-01-01", "to", "out_of_range"],
    ["group_by=", "group_by", "empty"],
    ["group_by=week", "group_by", "not_allowed"],
    ["group_by=day,day", "group_by", "duplicate"],
    ["format=xml", "format", "not_allowed"],
    ["customer_id=42", "customer_id", "malformed"],
    ["format=csv&limit=5", "limit", "not_expected"],
    ["format=csv&cursor=a", "cursor", "not_expected"],
    ["limit=1000", "limit", "out_of_range"],
  ])("rejects %s", async (queryText, parameter, code) => {
    const items = [{ parameter, code }];
    await expect(routes.call(usage, { caller, queryText })).rejects.toMatchObject({ code: "invalid_request", items });
  });

  test("rejects customer_id on the route of one customer", async () => {
    const call = routes.call(customerUsage, { caller, path: { id: firstId }, queryText: `customer_id=${secondId}` });
    await expect(call).rejects.toMatchObject({ items: [{ parameter: "customer_id", code: "unknown" }] });
  });
});

describe("usage as CSV", () => {
  test("has the same content as the pages", async () => {
    const file = await routes.call(usage, { caller, queryText: "format=csv&group_by=customer,meter,day" });
    expect(file.contentType).toBe("text/csv; charset=utf-8; header=present");
    expect(file.headers).toStrictEqual({ "Content-Disposition": 'attachment; filename="usage.csv"' });
    const { items } = await ask("group_by=customer,meter,day");
    const rows = parseCsv<Record<string, string>>(file.text, { columns: true, record_delimiter: "\r\n" });
    expect(rows).toStrictEqual(
      items.map((item) => Object.fromEntries(Object.entries(item).map(([name, value]) => [name, String(value)]))),
    );
  });

  test("leaves the columns of other groups empty", async () => {
    const { text } = await routes.call(usage, { caller, queryText: "format=csv&group_by=month" });
    expect(text).toBe(`customer_id,internal_id,meter,period,requests,units\r\n,,,${TODAY.slice(0, 7)},4,18\r\n`);
  });

  test("includes the lines of all pages", async () => {
    for (let i = 0; i < 1234; i++) {
      const { customer } = await routes.ledger.registerCustomer({ accountId: caller.accountId, internalId: `c${i}` });
      await record(customer.customerId, "company_results", i + 1);
    }
    const limits: number[] = [];
    const ledgerUsageCsv = routes.ledger.usageCsv.bind(routes.ledger);
    routes.ledger.usageCsv = (query) => {
      limits.push(query.limit);
      return ledgerUsageCsv({ ...query, limit: 500 });
    };
    const { text } = await routes.call(usage, { caller, queryText: "format=csv&group_by=customer" });
    const lines = text.trimEnd().split("\r\n");
    expect(lines).toHaveLength(1 + 2 + 1234);
    expect(lines.at(-1)?.endsWith(",c1233,,,1,1234")).toBe(true);
    // Small pages, between which reports of other accounts have their turn.
    expect(limits).toStrictEqual([5_000, 5_000, 5_000]);
  });

  test("reads a page when the client has received the one before it, and as many lines as fit in it", async () => {
    const queries: UsageQuery[] = [];
    // Lines of 1,000 code units, and then of 100: a page has room for 524.
    routes.ledger.usageCsv = (query) => {
      queries.push(query);
      const lineCount = Math.min(query.limit, 500);
      const line = "x".repeat(queries.length === 1 ? 1_000 : 100);
      return Promise.resolve({ text: line.repeat(lineCount), lineCount, next: "next" });
    };
    const request = usage.parse({ queryText: "format=csv", path: {}, limits: routes.services.limits });
    const { services } = routes;
    const { signal } = new AbortController();
    const result = await usage.handle(request, { services, caller, requestId: "", signal });
    if (!("file" in result)) throw new Error("The result is not a file.");
    const pieces = result.file[Symbol.asyncIterator]();
    const counts: number[] = [];
    for (let piece = 0; piece < 5; piece++) {
      await pieces.next();
      counts.push(queries.length);
    }
    expect(counts).toStrictEqual([1, 1, 2, 3, 4]);
    expect(queries.map(({ limit }) => limit)).toStrictEqual([5_000, 524, 5_000, 5_000]);
  });

  test("stops reading when the client disconnects", async () => {
    const client = new AbortController();
    const queries: UsageQuery[] = [];
    const ledgerUsageCsv = routes.ledger.usageCsv.bind(routes.ledger);
    const report = (query: UsageQuery, options?: ReportOptions): ReturnType<typeof ledgerUsageCsv> => {
      queries.push(query);
      if (queries.length === 1) return ledgerUsageCsv({ ...query, limit: 1 });
      client.abort(new Error("disconnected"));
      return options?.signal?.aborted === true
        ? Promise.reject(options.signal.reason as Error)
        : ledgerUsageCsv({ ...query, limit: 1 });
    };
    Object.assign(routes.ledger, { usageCsv: report });
    const call = routes.call(usage, { caller, queryText: "format=csv&group_by=customer", signal: client.signal });
    await expect(call).rejects.toThrow("disconnected");
    expect(queries).toHaveLength(2);
  });

  test("fails before the response starts if the ledger fails", async () => {
    routes.ledger.usageCsv = () => Promise.reject(new Error("broken"));
    await expect(routes.call(usage, { caller, queryText: "format=csv" })).rejects.toThrow("broken");
  });
});
