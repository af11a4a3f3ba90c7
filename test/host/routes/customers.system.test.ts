import { beforeEach, describe, expect, test } from "vitest";
import type { Caller } from "../../../src/host/route.ts";
import { archiveCustomer } from "../../../src/host/routes/customers.ts";
import { customerUsage } from "../../../src/host/routes/usage.ts";
import { getCustomer } from "../../../src/host/routes/customers.ts";
import { listCustomers } from "../../../src/host/routes/customers.ts";
import { registerCustomer } from "../../../src/host/routes/customers.ts";
import { usage } from "../../../src/host/routes/usage.ts";
import { RouteCaller } from "../routeCaller.ts";

const UNKNOWN = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const NOT_FOUND = { code: "customer_not_found", message: "This account has no customer with this id.", items: [] };

let routes: RouteCaller;
let caller: Caller;
beforeEach(async () => {
  routes = new RouteCaller();
  caller = await routes.caller();
});

const register = (body: unknown, by = caller) => routes.call(registerCustomer, { caller: by, body });
const idOf = (text: string): string => (JSON.parse(text) as { customer_id: string }).customer_id;

describe("POST /customers", () => {
  test("registers a customer, and returns the same one when repeated", async () => {
    const first = await register({ internal_id: "team-1", name: "Team One" });
    expect(first.status).toBe(201);
    const customer: unknown = JSON.parse(first.text);
    expect(customer).toStrictEqual({
      customer_id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
      internal_id: "team-1",
      name: "Team One",
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      archived_at: null,
    });
    expect(first.headers).toStrictEqual({ Location: `/latest/api/v1/customers/${idOf(first.text)}` });

    const second = await register({ internal_id: "team-1" });
    expect([second.status, second.headers, JSON.parse(second.text)]).toStrictEqual([200, {}, customer]);
  });

  test("renames the customer if repeated with another name", async () => {
    const { text } = await register({ internal_id: "team-1", name: "Team One" });
    const renamed: unknown = { ...(JSON.parse(text) as object), name: "Team Uno" };
    const second = await register({ internal_id: "team-1", name: "Team Uno" });
    expect([second.status, second.headers, JSON.parse(second.text)]).toStrictEqual([200, {}, renamed]);
    const read = await routes.call(getCustomer, { caller, path: { id: idOf(text) } });
    expect(JSON.parse(read.text)).toStrictEqual(renamed);
  });

  test("returns null for a missing name", async () => {
    expect(JSON.parse((await register({ internal_id: "x" })).text)).toMatchObject({ name: null });
  });

  test("registers the same internal id separately for each account", async () => {
    const other = await routes.caller();
    const [first, second] = [await register({ internal_id: "same" }), await register({ internal_id: "same" }, other)];
    expect([first.status, second.status]).toStrictEqual([201, 201]);
    expect(idOf(first.text)).not.toBe(idOf(second.text));
  });

  test.each(["a", " ", "x".repeat(200), "🌍".repeat(200), "Ünïcode/ß?&=#%", "line separator"])(
    "accepts %o as internal id",
    async (internal_id) => {
      expect(JSON.parse((await register({ internal_id })).text)).toMatchObject({ internal_id });
    },
  );

  test.each([
    ["a missing body", undefined, [["", "wrong_type"]]],
    ["a list as the body", [], [["", "wrong_type"]]],
    ["no internal id", {}, [["/internal_id", "missing"]]],
    ["an internal id that is a number", { internal_id: 7 }, [["/internal_id", "wrong_type"]]],
    ["an internal id of null", { internal_id: null }, [["/internal_id", "wrong_type"]]],
    ["an empty internal id", { internal_id: "" }, [["/internal_id", "out_of_range"]]],
    ["an internal id of 201 characters", { internal_id: "🌍".repeat(201) }, [["/internal_id", "out_of_range"]]],
    ["an internal id with a line break", { internal_id: "a\nb" }, [["/internal_id", "malformed"]]],
    ["an internal id with a null character", { internal_id: "a\0" }, [["/internal_id", "malformed"]]],
    ["an internal id with a C1 control character", { internal_id: "a\u0085" }, [["/internal_id", "malformed"]]],
    ["an internal id with a lone surrogate", { internal_id: "a\ud800" }, [["/internal_id", "malformed"]]],
    ["a name of null", { internal_id: "a", name: null }, [["/name", "wrong_type"]]],
    ["an unknown member", { internal_id: "a", nam: "b" }, [["/nam", "unknown"]]],
    [
      "several errors",
      { internal_id: "", name: "\t", note: 1 },
      [
        ["/note", "unknown"],
        ["/internal_id", "out_of_range"],
        ["/name", "malformed"],
      ],
    ],
  ])("rejects %s", async (_what, body, expectedErrors) => {
    const fault = await register(body).catch((error: unknown) => error);
    expect(fault).toMatchObject({ code: "invalid_request" });
    const { items } = fault as { items: { pointer: string; code: string }[] };
    expect(items.map(({ pointer, code }) => [pointer, code])).toStrictEqual(expectedErrors);
    expect(routes.ledger.customers.size).toBe(0);
  });

  test("rejects a customer beyond the limit of the account, but neither repeats nor customers of other accounts", async () => {
    routes = new RouteCaller({ limits: { customerCount: 2 } });
    caller = await routes.caller();
    const first = await register({ internal_id: "one" });
    await register({ internal_id: "two" });
    await routes.call(archiveCustomer, { caller, path: { id: idOf(first.text) } });
    await expect(register({ internal_id: "three" })).rejects.toMatchObject({
      code: "too_many_values",
      details: { requested: 3, limit: 2 },
    });
    expect((await register({ internal_id: "two", name: "Renamed" })).status).toBe(200);
    expect((await register({ internal_id: "three" }, await routes.caller())).status).toBe(201);
  });

  test("rejects the internal id of an archived customer", async () => {
    const { text } = await register({ internal_id: "gone" });
    await routes.call(archiveCustomer, { caller, path: { id: idOf(text) } });
    await expect(register({ internal_id: "gone" })).rejects.toMatchObject({ code: "customer_archived" });
  });
});

describe("GET /customers", () => {
  test("returns every customer exactly once over all pages, including archived ones", async () => {
    const ids: string[] = [];
    for (let i = 0; i < 7; i++) ids.push(idOf((await register({ internal_id: `team-${i}` })).text));
    await routes.call(archiveCustomer, { caller, path: { id: ids[3] ?? "" } });
    await register({ internal_id: "theirs" }, await routes.caller());
    const seen: unknown[] = [];
    for (let cursor = ""; ;) {
      const { text } = await routes.call(listCustomers, { caller, queryText: `limit=3${cursor}` });
      const page = JSON.parse(text) as { items: { customer_id: string; archived_at: string | null }[]; next?: string };
      expect(page.items.length).toBeLessThanOrEqual(3);
      seen.push(...page.items.map(({ customer_id, archived_at }) => [customer_id, archived_at !== null]));
      if (page.next === undefined) break;
      cursor = `&cursor=${encodeURIComponent(page.next)}`;
    }
    expect(seen).toStrictEqual(ids.map((id, i) => [id, i === 3]));
  });

  test("returns 50 customers per page by default", async () => {
    for (let i = 0; i < 51; i++) await register({ internal_id: `team-${i}` });
    const page = JSON.parse((await routes.call(listCustomers, { caller })).text) as { items: unknown[]; next?: string };
    expect([page.items.length, typeof page.next]).toStrictEqual([50, "string"]);
  });

  test.each([
    ["limit=0", "limit", "out_of_range"],
    ["limit=501", "limit", "out_of_range"],
    ["limit=1.5", "limit", "wrong_type"],
    ["limit=", "limit", "wrong_type"],
    ["limit=1&limit=2", "limit", "repeated"],
    ["lmit=1", "lmit", "unknown"],
  ])("rejects %s", async (queryText, parameter, code) => {
    await expect(routes.call(listCustomers, { caller, queryText })).rejects.toMatchObject({
      code: "invalid_request",
      items: [{ parameter, code }],
    });
  });

  test("passes the cursor to the ledger unchanged", async () => {
    const received: unknown[] = [];
    routes.ledger.listCustomers = (query) => {
      received.push(query);
      return Promise.resolve({ items: [] });
    };
    await routes.call(listCustomers, { caller, queryText: "cursor=007&limit=5" });
    expect(received).toStrictEqual([{ accountId: caller.accountId, limit: 5, cursor: "007" }]);
  });
});

describe("/customers/:id", () => {
  test("returns a customer, and archives it idempotently", async () => {
    const { text } = await register({ internal_id: "one" });
    const path = { id: idOf(text) };
    expect((await routes.call(getCustomer, { caller, path })).text).toBe(text);
    expect((await routes.call(getCustomer, { caller, path: { id: path.id.toUpperCase() } })).text).toBe(text);
    const archived = await routes.call(archiveCustomer, { caller, path });
    expect(archived.status).toBe(200);
    expect(JSON.parse(archived.text)).toStrictEqual({
      ...(JSON.parse(text) as object),
      archived_at: expect.stringMatching(/Z$/) as string,
    });
    expect((await routes.call(archiveCustomer, { caller, path })).text).toBe(archived.text);
    expect((await routes.call(getCustomer, { caller, path })).text).toBe(archived.text);
  });

  test("rejects query parameters", async () => {
    const { text } = await register({ internal_id: "one" });
    await expect(
      routes.call(getCustomer, { caller, path: { id: idOf(text) }, queryText: "a=1&b=%ff" }),
    ).rejects.toMatchObject({ items: [{ parameter: "a" }, { parameter: "b" }] });
  });

  test("returns the same customer_not_found for unknown, foreign and malformed ids on every route", async () => {
    const theirs = idOf((await register({ internal_id: "theirs" }, await routes.caller())).text);
    const faults: unknown[] = [];
    for (const id of [UNKNOWN, theirs, "x", "", "../../etc", `${UNKNOWN} `]) {
      for (const route of [getCustomer, archiveCustomer, customerUsage]) {
        faults.push(
          await routes.call(route as typeof getCustomer, { caller, path: { id } }).catch((error: unknown) => error),
        );
      }
    }
    for (const customer_id of [UNKNOWN, theirs]) {
      faults.push(
        await routes.call(usage, { caller, queryText: `customer_id=${customer_id}` }).catch((error: unknown) => error),
      );
    }
    expect(faults).toHaveLength(20);
    for (const fault of faults) {
      const { code, message, items, details } = fault as Record<string, unknown>;
      expect({ code, message, items }).toStrictEqual(NOT_FOUND);
      expect(details).toStrictEqual({});
    }
    expect([...routes.ledger.customers.values()].every(({ archivedAt }) => archivedAt === undefined)).toBe(true);
  });
});
