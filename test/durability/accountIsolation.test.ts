/**
 * Accounts are strangers to one another: whatever id of another account is put wherever an id can be put, the answer is
 * the one that an id gets which never was, to the byte, and nowhere is there a byte of another account.
 */
import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type DescribedOperation, OPERATIONS, parametersOf } from "../host/openapiSchema.ts";
import { type Answer, Clients } from "./clients.ts";
import { type Account, builtWith, type Fault, newAccount, startService, withLedger } from "./service.ts";

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-strangers-"));
});
afterEach(() => rm(data, { recursive: true, force: true }));

interface Stranger extends Account {
  readonly archivedId: string;
  readonly receipt: string;
  readonly cursor: string;
  /** All that is this account's alone, as text. */
  readonly own: readonly string[];
}

async function strangers(): Promise<readonly Stranger[]> {
  return withLedger({ data }, async (ledger) => {
    const made: Stranger[] = [];
    for (const name of ["Alpha", "Beta", "Gamma"]) {
      const internalIds = [1, 2, 3].map((number) => `${name.toLowerCase()}-internal-${number}`);
      const account = await newAccount(ledger, { name: `${name} Holding`, internalIds });
      const [customerId = "", , archivedId = ""] = account.customerIds;
      const { accountId, keyId } = account;
      await ledger.archiveCustomer({ accountId, customerId: archivedId });
      const receipt = randomUUID();
      const units = 770_000_000_000 + made.length;
      await ledger.record({ receipt, accountId, customerId, keyId, meter: "hazard_values", units, route: "/" });
      const { next = "" } = await ledger.listCustomers({ accountId, limit: 1 });
      const ids = [accountId, keyId, account.apiKey, receipt, ...account.customerIds];
      made.push({
        ...account,
        archivedId,
        receipt,
        cursor: next,
        own: [...ids, ...internalIds, `${name} Holding`, String(units)],
      });
    }
    return made;
  });
}

/** Where in a request an id is put, whether that request has a use for it or not. */
const SLOTS = ["path", "X-Customer-ID", "customer_id", "cursor"] as const;
type Slot = (typeof SLOTS)[number];

const METHODS = OPERATIONS.flatMap((operation) =>
  operation.method === "GET" ? [operation, { ...operation, method: "HEAD" }] : [operation],
);

/** The example of an operation as the document gives it, asked with an id in one place. */
function askWith(
  clients: Clients,
  url: string,
  { asking, operation, slot, id }: { asking: Stranger; operation: DescribedOperation; slot: Slot; id: string },
): Promise<Answer> {
  const parameters = parametersOf(operation);
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => {
    if (name === "id") return encodeURIComponent(slot === "path" ? id : (asking.customerIds[0] ?? ""));
    return parameters.some((parameter) => parameter.name === name && parameter.example === "rate_limited")
      ? "rate_limited"
      : "x";
  });
  const query = new URLSearchParams();
  for (const { name, in: place, example } of parameters) {
    const isShown = place === "query" && example !== undefined && name !== "customer_id" && name !== "cursor";
    if (isShown) query.set(name, (example as string | number | readonly string[]).toString());
  }
  if (slot === "customer_id" || slot === "cursor") query.set(slot, id);
  const body: unknown = operation.requestBody?.content["application/json"]?.example;
  return clients.ask(`${url}${path}${query.size > 0 ? `?${query}` : ""}`, {
    method: operation.method,
    headers: {
      "X-API-Key": asking.apiKey,
      "X-Customer-ID": slot === "X-Customer-ID" ? encodeURIComponent(id) : (asking.customerIds[0] ?? ""),
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

/** An answer without what is another one every time, and without what was given and comes back. */
function told({ status, rawHeaders, text }: Answer, id: string): unknown {
  const headers: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const [name = "", value = ""] = rawHeaders.slice(i, i + 2);
    // A tag is made of the address that was asked for.
    if (/^etag$/i.test(name)) headers.push(name);
    else if (!/^(?:date|x-request-id|ratelimit)$/i.test(name)) headers.push(`${name}: ${value}`);
  }
  const body = text.replaceAll(encodeURIComponent(id), "?").replaceAll(id, "?");
  return { status, headers, body: body.replace(/"request_id":"[^"]+"/, "") };
}

/** A text that is nobody's, of the same kind as another. */
function nobodys(id: string): string {
  if (/^[0-9a-f]{8}-/.test(id)) return randomUUID();
  return id.replaceAll(/[a-z]/gi, (letter) => (letter === "q" ? "z" : "q"));
}

const MALFORMED = ["", "x", "%", "..", "null", "0", randomUUID().slice(1), `${randomUUID()}0`, "ä", "' or 1=1 --", "*"];

interface Outcome {
  readonly findings: readonly string[];
  readonly comparisons: number;
}

/** So many of three accounts ask every operation with every id in every place. */
async function campaign(askingCount: number, built?: string): Promise<Outcome> {
  const accounts = await strangers();
  const service = await startService({ data }, built === undefined ? {} : { built });
  const clients = new Clients(1);
  const findings: string[] = [];
  let comparisons = 0;
  const find = (operation: DescribedOperation, slot: Slot, what: string): void => {
    findings.push(`${operation.method} ${operation.path}, ${slot}: ${what}`.slice(0, 1000));
  };
  try {
    for (const asking of accounts.slice(0, askingCount)) {
      const others = accounts.filter((other) => other !== asking);
      const secrets = others.flatMap(({ own }) => own);
      for (const operation of METHODS) {
        for (const slot of SLOTS.filter((each) => each !== "path" || operation.path.includes("{id}"))) {
          const ask = async (id: string): Promise<Answer> => {
            const answer = await askWith(clients, service.url, { asking, operation, slot, id });
            const whole = `${answer.rawHeaders.join("\n")}\n${answer.text}`.replaceAll(id === "" ? "\0" : id, "");
            for (const secret of secrets) if (whole.includes(secret)) find(operation, slot, `${id} shows ${secret}`);
            return answer;
          };
          // What registers is a first time only once.
          await ask(randomUUID());
          for (const { customerIds, accountId, keyId, receipt, cursor, own } of others) {
            for (const id of new Set([...customerIds, accountId, keyId, receipt, cursor, ...own])) {
              const nobody = nobodys(id);
              const expected = JSON.stringify(told(await ask(nobody), nobody));
              const found = JSON.stringify(told(await ask(id), id));
              comparisons++;
              if (found !== expected) find(operation, slot, `${id}: ${found}, not ${expected}`);
            }
          }
          for (const id of MALFORMED) {
            const { status } = await ask(id);
            if (status >= 500) find(operation, slot, `${JSON.stringify(id)}: ${status}`);
          }
        }
      }
    }
    findings.push(...(await reachable(clients, service.url, accounts)));
  } finally {
    clients.close();
    await service.kill();
  }
  return { findings, comparisons };
}

/**
 * What is its own an account still reaches: else nothing would be shown by its not reaching others'. The same
 * Idempotency-Key is another one for each of them.
 */
async function reachable(clients: Clients, url: string, accounts: readonly Stranger[]): Promise<readonly string[]> {
  const findings: string[] = [];
  const query = "latitude=11.59&longitude=43.15&hazards=riverine_floods&analysis_years=2050&scenarios=rcp8p5";
  for (const [index, { apiKey, customerIds, own }] of accounts.entries()) {
    const { status: first, headers: said } = await clients.ask(`${url}/api/v1/hazard-risk?${query}&radius=${index}`, {
      headers: { "X-API-Key": apiKey, "X-Customer-ID": customerIds[1] ?? "", "Idempotency-Key": "everybody's" },
    });
    if (first !== 200 || said["x-usage-units"] !== "1") findings.push(`Idempotency-Key: ${first}`);
    const headers = { "X-API-Key": apiKey };
    for (const target of ["/api/v1/customers", `/api/v1/customers/${customerIds[0]}`, "/api/v1/usage"]) {
      const { status, text } = await clients.ask(url + target, { headers });
      if (status !== 200 || !own.some((mine) => text.includes(mine))) findings.push(`${target}: ${status} ${text}`);
    }
  }
  return findings;
}

test("whatever id of another account is asked with, it is as unknown as one that never was", async () => {
  const { findings, comparisons } = await campaign(3);
  console.log(`strangers: ${comparisons} comparisons, ${findings.length} findings`);
  expect(findings.slice(0, 10)).toStrictEqual([]);
  expect(comparisons).toBeGreaterThan(METHODS.length * 3 * 2 * 10);
}, 300_000);

const PLANTED: readonly (readonly [string, readonly Fault[], RegExp])[] = [
  [
    "a customer is looked up by its id alone",
    [
      {
        file: "ledger/customers.js",
        from: `.where("account_id", "=", accountId)\n        .where("customer_id", "=", customerId)`,
        to: `.where("customer_id", "=", customerId)`,
      },
    ],
    /customers\/\{id\}, path: .*shows/,
  ],
  [
    "a cursor opens the list of any account",
    [{ file: "ledger/cursor.js", from: "timingSafeEqual(signature, signatureOf(secret, scope, text))", to: "true" }],
    /customers, cursor: /,
  ],
];

test.each(PLANTED)(
  "is found out when %s",
  async (_what, faults, finding) => {
    const { built, done } = await builtWith(faults);
    try {
      const { findings } = await campaign(1, built);
      console.log(`strangers, planted: ${findings.length} findings`);
      expect(findings.join("\n")).toMatch(finding);
    } finally {
      await done();
    }
  },
  300_000,
);
