import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { HEADERS, type TestHost, startTestHost } from "./testHost.ts";
import { DATA_OPERATIONS } from "./openapi/requests.ts";
import { OPERATIONS, parametersOf } from "./openapi/publishedDocument.ts";

interface Account {
  readonly apiKey: string;
  readonly accountId: string;
  /** An active and an archived customer. */
  readonly customerIds: readonly string[];
}

let host: TestHost;
const accounts: Account[] = [];
beforeAll(async () => {
  host = await startTestHost();
  await host.ready;
  for (const name of ["one", "two", "three"]) {
    const { accountId } = await host.ledger.createAccount({ name });
    const { secret: apiKey } = await host.ledger.createKey({ accountId });
    const customerIds: string[] = [];
    for (const internalId of [`open of ${name}`, `archived of ${name}`]) {
      customerIds.push((await host.ledger.registerCustomer({ accountId, internalId })).customer.customerId);
    }
    await host.ledger.archiveCustomer({ accountId, customerId: customerIds[1] ?? "" });
    accounts.push({ apiKey, accountId, customerIds });
    const customerId = customerIds[0] ?? "";
    await host.ledger.record({
      receipt: randomUUID(),
      accountId,
      customerId,
      keyId: randomUUID(),
      meter: "hazard_values",
      units: 7,
      route: "/",
    });
  }
});
afterAll(async () => {
  await host.close();
});

/** Returns a response without the parts that differ between requests. */
async function comparableResponse(response: Response): Promise<unknown> {
  const headers = [...response.headers].filter(([name]) => !/^(?:date|x-request-id|ratelimit)$/.test(name));
  const text = (await response.text()).replace(/"request_id":"[^"]+"/, "");
  return { status: response.status, headers, text };
}

const CUSTOMER_OPERATIONS = OPERATIONS.filter(({ path }) => path.includes("{id}"));
const METERED_OPERATIONS = OPERATIONS.filter(({ operationId }) =>
  (DATA_OPERATIONS as readonly string[]).includes(operationId),
);

function ask(
  { apiKey }: Account,
  operation: (typeof OPERATIONS)[number],
  id: { path?: string; customer?: string; query?: string },
) {
  const { method, path, requestBody } = operation;
  const query = id.query === undefined ? "" : `?customer_id=${id.query}`;
  const example = new URLSearchParams(
    parametersOf(operation).flatMap(({ name, in: location, example: value }) =>
      location === "query" && value !== undefined && id.query === undefined
        ? [[name, (value as string | number | string[]).toString()]]
        : [],
    ),
  );
  const target = path.replace("{id}", id.path ?? "") + (query === "" && example.size > 0 ? `?${example}` : query);
  const body = requestBody?.content["application/json"]?.example;
  return fetch(`${host.address.url}${target}`, {
    method,
    headers: {
      "X-API-Key": apiKey,
      ...(id.customer === undefined ? {} : { "X-Customer-ID": id.customer }),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

test("covers all operations with a customer id", () => {
  expect([CUSTOMER_OPERATIONS.length, METERED_OPERATIONS.length]).toStrictEqual([3, 7]);
});

test.each(CUSTOMER_OPERATIONS)("$operationId does not reveal customers of other accounts", async (operation) => {
  for (const account of accounts) {
    const unknown = await comparableResponse(await ask(account, operation, { path: randomUUID() }));
    expect(unknown).toMatchObject({ status: 404 });
    for (const other of accounts) {
      if (other === account) continue;
      for (const path of other.customerIds) {
        expect(await comparableResponse(await ask(account, operation, { path }))).toStrictEqual(unknown);
      }
    }
    for (const path of ["x", "%00", "..", randomUUID().slice(1), HEADERS["X-Customer-ID"]]) {
      const answer = await comparableResponse(await ask(account, operation, { path }));
      if (path !== "..") expect(answer).toStrictEqual(unknown);
    }
  }
});

test("usage does not reveal customers of other accounts", async () => {
  const operation = OPERATIONS.find(({ operationId }) => operationId === "getUsage");
  if (operation === undefined) throw new Error("The operation getUsage does not exist.");
  for (const account of accounts) {
    const unknown = await comparableResponse(await ask(account, operation, { query: randomUUID() }));
    expect(unknown).toMatchObject({ status: 404 });
    for (const other of accounts) {
      for (const query of other.customerIds) {
        const answer = await ask(account, operation, { query });
        if (other === account) expect(answer.status).toBe(200);
        else expect(await comparableResponse(answer)).toStrictEqual(unknown);
      }
    }
  }
});

test.each(METERED_OPERATIONS)("$operationId treats customers of other accounts as unknown", async (operation) => {
  const before = host.ledger.entries.length;
  for (const account of accounts) {
    const unknown = await comparableResponse(await ask(account, operation, { customer: randomUUID() }));
    expect(unknown).toMatchObject({ status: 403 });
    for (const other of accounts) {
      if (other === account) continue;
      for (const customer of other.customerIds) {
        expect(await comparableResponse(await ask(account, operation, { customer }))).toStrictEqual(unknown);
      }
    }
  }
  expect(host.ledger.entries).toHaveLength(before);
});

test("lists contain only data of the requesting account", async () => {
  for (const account of accounts) {
    const foreignIds = accounts
      .filter((other) => other !== account)
      .flatMap(({ accountId, customerIds }) => [accountId, ...customerIds]);
    for (const path of ["/latest/api/v1/customers", "/latest/api/v1/usage", "/latest/api/v1/usage?format=csv"]) {
      const response = await fetch(`${host.address.url}${path}`, { headers: { "X-API-Key": account.apiKey } });
      const text = await response.text();
      expect([response.status, text.includes(account.customerIds[0] ?? "?")]).toStrictEqual([200, true]);
      for (const id of foreignIds) expect(text).not.toContain(id);
    }
  }
});
