/**
 * Isolation between accounts: a request with any id of another account, wherever an id is accepted, gets the same response,
 * except for values that differ every time, as a request with an id that does not exist; and no response contains data of
 * another account.
 */
import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { faultTest } from "../faultTest.ts";
import type { FaultName } from "../faults/faultNames.ts";
import { type OperationAtPath, OPERATIONS, parametersOf } from "../host/openapi/publishedDocument.ts";
import { HttpClient, type HttpResponse } from "./clients.ts";
import { dataFolder } from "./dataFolder.ts";
import { findDamage, type TestAccount, newAccount, startService, withLedger } from "./service.ts";

/** Thousands of requests, one after the other; a busy machine takes several times as long as an idle one. */
const TIMEOUT_MS = 1_800_000;

const data = dataFolder("isolation");

interface IsolatedAccount extends TestAccount {
  readonly cursor: string;
  /** All ids, names and values that only this account has. */
  readonly secrets: readonly string[];
}

async function createAccounts(): Promise<readonly IsolatedAccount[]> {
  return withLedger({ data: data() }, async (ledger) => {
    const accounts: IsolatedAccount[] = [];
    for (const name of ["Alpha", "Beta", "Gamma"]) {
      const internalIds = [1, 2, 3].map((number) => `${name.toLowerCase()}-internal-${number}`);
      const account = await newAccount(ledger, { name: `${name} Holding`, internalIds });
      const [customerId = "", , archivedId = ""] = account.customerIds;
      const { accountId, keyId } = account;
      await ledger.archiveCustomer({ accountId, customerId: archivedId });
      const receipt = randomUUID();
      const units = 770_000_000_000 + accounts.length;
      await ledger.record({ receipt, accountId, customerId, keyId, meter: "hazard_values", units, route: "/" });
      const { next = "" } = await ledger.listCustomers({ accountId, limit: 1 });
      const ids = [accountId, keyId, account.apiKey, receipt, ...account.customerIds];
      accounts.push({
        ...account,
        cursor: next,
        secrets: [...ids, ...internalIds, `${name} Holding`, String(units)],
      });
    }
    return accounts;
  });
}

/** Places in a request that can hold an id, including those that the operation does not read. */
const SLOTS = ["path", "X-Customer-ID", "customer_id", "cursor"] as const;
type Slot = (typeof SLOTS)[number];

const TESTED_OPERATIONS = OPERATIONS.flatMap((operation) =>
  operation.method === "GET" ? [operation, { ...operation, method: "HEAD" }] : [operation],
);

/** Sends the OpenAPI example of an operation with an id in one slot. */
function sendWithId(
  http: HttpClient,
  url: string,
  { account, operation, slot, id }: { account: IsolatedAccount; operation: OperationAtPath; slot: Slot; id: string },
): Promise<HttpResponse> {
  const parameters = parametersOf(operation);
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    if (name === "id") return encodeURIComponent(slot === "path" ? id : (account.customerIds[0] ?? ""));
    return parameters.some((parameter) => parameter.name === name && parameter.example === "rate_limited")
      ? "rate_limited"
      : "x";
  });
  const query = new URLSearchParams();
  for (const { name, in: place, example } of parameters) {
    const isIncluded = place === "query" && example !== undefined && name !== "customer_id" && name !== "cursor";
    if (isIncluded) query.set(name, (example as string | number | readonly string[]).toString());
  }
  if (slot === "customer_id" || slot === "cursor") query.set(slot, id);
  const body: unknown = operation.requestBody?.content["application/json"]?.example;
  return http.send(`${url}${path}${query.size > 0 ? `?${query}` : ""}`, {
    method: operation.method,
    headers: {
      "X-API-Key": account.apiKey,
      "X-Customer-ID": slot === "X-Customer-ID" ? encodeURIComponent(id) : (account.customerIds[0] ?? ""),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** Returns a response in comparable form: without values that differ every time, and with the id replaced. */
function normalize({ status, rawHeaders, text }: HttpResponse, id: string): unknown {
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = "", value = ""] = rawHeaders.slice(i, i + 2);
    // The ETag depends on the request target.
    if (/^etag$/i.test(name)) headers.push(name);
    else if (!/^(?:date|x-request-id|ratelimit)$/i.test(name)) headers.push(`${name}: ${value}`);
  }
  const body = text.replaceAll(encodeURIComponent(id), "?").replaceAll(id, "?");
  return { status, headers, body: body.replace(/"request_id":"[^"]+"/, "") };
}

/** Returns an id of the same form that does not exist: a new UUID, or the id with other letters or, without letters, digits. */
function nonexistentIdLike(id: string): string {
  if (/^[0-9a-f]{8}-/.test(id)) return randomUUID();
  const changed = /[a-z]/i.test(id)
    ? id.replaceAll(/[a-z]/gi, (letter) => (letter === "q" ? "z" : "q"))
    : id.replaceAll(/[0-9]/g, (digit) => String(9 - Number(digit)));
  if (changed === id) throw new Error(`an id must contain letters or digits (got ${JSON.stringify(id)})`);
  return changed;
}

const MALFORMED = ["", "x", "%", "..", "null", "0", randomUUID().slice(1), `${randomUUID()}0`, "ä", "' or 1=1 --", "*"];

interface CampaignResult {
  readonly findings: readonly string[];
  readonly comparisons: number;
}

/**
 * As each of the first `accountCount` of three accounts, sends every operation with every id of the other accounts in every
 * slot.
 */
async function campaign(accountCount: number, fault?: FaultName): Promise<CampaignResult> {
  const accounts = await createAccounts();
  const service = await startService({ data: data() }, { fault });
  const http = new HttpClient(1);
  const findings: string[] = [];
  let comparisons = 0;
  const addFinding = (operation: OperationAtPath, slot: Slot, text: string): void => {
    findings.push(`${operation.method} ${operation.path}, ${slot}: ${text}`.slice(0, 1000));
  };
  try {
    for (const account of accounts.slice(0, accountCount)) {
      const others = accounts.filter((other) => other !== account);
      const othersSecrets = others.flatMap(({ secrets }) => secrets);
      for (const operation of TESTED_OPERATIONS) {
        for (const slot of SLOTS.filter((each) => each !== "path" || operation.path.includes("{id}"))) {
          const sendId = async (id: string): Promise<HttpResponse> => {
            const response = await sendWithId(http, service.url, { account, operation, slot, id });
            const text = `${response.rawHeaders.join("\n")}\n${response.text}`.replaceAll(id === "" ? "\0" : id, "");
            for (const secret of othersSecrets) {
              if (text.includes(secret)) addFinding(operation, slot, `the response to ${id} contains ${secret}`);
            }
            return response;
          };
          // The first request may register a customer; its response then differs from all later ones.
          await sendId(randomUUID());
          for (const { cursor, secrets } of others) {
            for (const id of [cursor, ...secrets]) {
              const nonexistentId = nonexistentIdLike(id);
              const expected = JSON.stringify(normalize(await sendId(nonexistentId), nonexistentId));
              const actual = JSON.stringify(normalize(await sendId(id), id));
              comparisons++;
              if (actual !== expected) addFinding(operation, slot, `${id}: received ${actual}, expected ${expected}`);
            }
          }
          for (const id of MALFORMED) {
            const { status } = await sendId(id);
            if (status >= 500) addFinding(operation, slot, `${JSON.stringify(id)}: ${status}`);
          }
        }
      }
    }
    findings.push(...(await checkOwnAccess(http, service.url, accounts)));
  } finally {
    http.close();
    await service.kill();
  }
  expect(await findDamage({ data: data() })).toStrictEqual([]);
  return { findings, comparisons };
}

/**
 * Checks that accounts can access their own data; otherwise the isolation tests would prove nothing. Also checks that
 * accounts can use the same Idempotency-Key independently.
 */
async function checkOwnAccess(
  http: HttpClient,
  url: string,
  accounts: readonly IsolatedAccount[],
): Promise<readonly string[]> {
  const findings: string[] = [];
  const query = "latitude=11.59&longitude=43.15&hazards=riverine_floods&analysis_years=2050&scenarios=rcp8p5";
  for (const [index, { apiKey, customerIds, secrets }] of accounts.entries()) {
    const { status: hazardStatus, headers: received } = await http.send(
      `${url}/api/v1/hazard-risk?${query}&radius=${index}`,
      {
        headers: { "X-API-Key": apiKey, "X-Customer-ID": customerIds[1] ?? "", "Idempotency-Key": "shared-key" },
      },
    );
    if (hazardStatus !== 200 || received["x-usage-units"] !== "1") findings.push(`Idempotency-Key: ${hazardStatus}`);
    const headers = { "X-API-Key": apiKey };
    for (const target of ["/api/v1/customers", `/api/v1/customers/${customerIds[0]}`, "/api/v1/usage"]) {
      const { status, text } = await http.send(url + target, { headers });
      if (status !== 200 || !secrets.some((secret) => text.includes(secret)))
        findings.push(`${target}: ${status} ${text}`);
    }
  }
  return findings;
}

test(
  "ids of other accounts get the same responses as ids that do not exist",
  async () => {
    const { findings, comparisons } = await campaign(3);
    console.log(`account isolation: ${comparisons} comparisons, ${findings.length} findings`);
    expect(findings.slice(0, 10)).toStrictEqual([]);
    expect(comparisons).toBeGreaterThan(TESTED_OPERATIONS.length * 3 * 2 * 10);
  },
  TIMEOUT_MS,
);

const INJECTED_FAULTS: readonly (readonly [string, FaultName, RegExp])[] = [
  ["customer lookups ignore the account", "finds-customers-of-any-account", /customers\/\{id\}, path: .*contains/],
  ["cursor signatures are not verified", "accepts-unsigned-cursors", /customers, cursor: /],
];

for (const [name, fault, finding] of INJECTED_FAULTS) {
  faultTest(
    `detects the injected fault: ${name}`,
    async () => {
      const { findings } = await campaign(1, fault);
      console.log(`account isolation, injected fault: ${findings.length} findings`);
      expect(findings.join("\n")).toMatch(finding);
    },
    TIMEOUT_MS,
  );
}
