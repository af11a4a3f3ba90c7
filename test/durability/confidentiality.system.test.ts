/**
 * Confidentiality of customer data such as locations and names: valid and invalid requests of all kinds carry unique
 * canary values, none of which may appear in logs, in metrics or in the response to another request. API keys may appear
 * in no response and no log line. A full run has ISOTHERM_DURABILITY_CANARIES=50 rounds.
 */
import { expect, test } from "vitest";
import { faultTest } from "../faultTest.ts";
import type { FaultName } from "../faults/faultNames.ts";
import { exchangeBytes } from "../host/testHost.ts";
import { EXAMPLE_COMPANY } from "../company/exampleCompany.ts";
import { ENTITY } from "../host/entities.ts";
import { describeWithPostgres, startPostgres } from "../ledger/postgresServer.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { dataFolder } from "./dataFolder.ts";
import {
  findDamage,
  type TestAccount,
  newAccount,
  type LedgerLocation,
  type Service,
  sizeSetting,
  startService,
  withLedger,
} from "./service.ts";

const ROUNDS = sizeSetting("CANARIES", 1);
const TIMEOUT_MS = 120_000 + ROUNDS * 60_000;

const data = dataFolder("canary");

/** Values that only one request contains: twelve digits for numbers, a word for texts. Fewer digits occur in times. */
interface Canary {
  readonly digits: string;
  readonly word: string;
}

interface CanaryRequest {
  readonly method?: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** The raw body, instead of `body`. */
  readonly bytes?: string;
}

function newCanary(random: SeededRandom): Canary {
  const digits = `${100_000 + random.below(900_000)}${100_001 + 2 * random.below(450_000)}`;
  return { digits, word: `canary${random.below(2 ** 31).toString(36)}x${digits}` };
}

/** The internal_id of a customer that is archived before the first request. */
const ARCHIVED = "canary-archived";
const FLOOD = "hazards=riverine_floods&analysis_years=2050&scenarios=rcp8p5";
const BATCH = "/api/v1/hazard-risk/batch";
const ALIGNMENT = "/api/v1/temperature-alignment-projections";
const COMPANY = "/analyze/total-climate-risk";
const CUSTOMERS = "/latest/api/v1/customers";

const location = (digits: string, overrides: object = {}): object => ({
  latitude: Number(`11.${digits}`),
  longitude: Number(`43.${digits}`),
  hazards: ["riverine_floods"],
  analysis_years: [2050],
  scenarios: ["rcp8p5"],
  ...overrides,
});
const company = (overrides: object): object => ({ ...EXAMPLE_COMPANY, ...overrides });
const entity = (info: object, overrides: object = {}): object => ({
  ...ENTITY,
  entity_info: { ...ENTITY.entity_info, ...info },
  ...overrides,
});

const hazard = ({ digits }: Canary, parameters = ""): string =>
  `/api/v1/hazard-risk?latitude=11.${digits}&longitude=43.${digits}&${FLOOD}${parameters}`;

/** All kinds of requests that a client can send, with the canary in every suitable place. */
const REQUESTS: readonly ((canary: Canary, key: string) => CanaryRequest)[] = [
  // Valid requests.
  (canary) => ({ target: hazard(canary) }),
  (canary) => ({ target: hazard(canary, "&radius=3&detail=true") }),
  (canary) => ({ target: `/latest${hazard(canary)}`, method: "HEAD" }),
  (canary) => ({ target: hazard(canary), headers: { "Idempotency-Key": canary.word } }),
  (canary) => ({
    target: hazard(canary),
    headers: { "User-Agent": canary.word, Referer: `https://${canary.word}.example/` },
  }),
  (canary) => ({ target: hazard(canary), headers: { "X-Request-Id": canary.word, traceparent: canary.word } }),
  (canary) => ({ target: hazard(canary), headers: { "If-None-Match": `"${canary.word}"`, Cookie: canary.word } }),
  ({ digits }) => ({ target: BATCH, body: [location(digits), location(digits, { radius: 2 })] }),
  ({ digits }) => ({ target: BATCH, body: Array.from({ length: 300 }, () => location(digits)) }),
  ({ word }) => ({ target: ALIGNMENT, body: [entity({ name: word, identifier: word })] }),
  ({ word }) => ({ target: COMPANY, body: company({ name: word }) }),
  ({ word }) => ({ target: CUSTOMERS, body: { internal_id: word, name: word } }),
  ({ word }) => ({ target: hazard({ word, digits: "5" }), headers: { "Accept-Encoding": word } }),
  // Invalid values.
  ({ digits }) => ({ target: `/api/v1/hazard-risk?latitude=911.${digits}&longitude=943.${digits}&${FLOOD}` }),
  ({ digits }) => ({ target: `/api/v1/hazard-risk?latitude=11.${digits}x&longitude=0x${digits}&${FLOOD}` }),
  (canary) => ({ target: hazard(canary, `&latitude=12.${canary.digits}`) }),
  (canary) => ({ target: hazard(canary, `&${canary.word}=1`) }),
  (canary) => ({ target: hazard(canary, `&radius=${canary.word}`) }),
  (canary) => ({ target: hazard(canary, `&radius=-${canary.digits}`) }),
  ({ digits, word }) => ({ target: `/api/v1/hazard-risk?latitude=1.${digits}&longitude=2&hazards=${word}` }),
  (canary) => ({ target: hazard(canary, "%zz%00") }),
  ({ digits, word }) => ({
    target: BATCH,
    body: [location(digits, { latitude: Number(`911.${digits}`) }), { [word]: word }],
  }),
  ({ digits }) => ({ target: BATCH, body: Array.from({ length: 300 }, () => location(digits, { radius: -1 })) }),
  ({ digits }) => ({ target: BATCH, body: Array.from({ length: 10_001 }, () => Number(digits)) }),
  ({ word }) => ({ target: BATCH, body: word }),
  ({ word }) => ({ target: ALIGNMENT, body: [entity({ name: word, asset_type: word })] }),
  ({ word }) => ({ target: ALIGNMENT, body: [entity({ name: word }, { projected_emissions: [{ year: word }] })] }),
  ({ word }) => ({ target: COMPANY, body: company({ country: word }) }),
  ({ word }) => ({ target: COMPANY, body: company({ industry: word }) }),
  ({ word }) => ({ target: COMPANY, body: company({ transition_scenarios: [word] }) }),
  ({ word, digits }) => ({ target: COMPANY, body: company({ revenue: `-${digits}`, [word]: word }) }),
  ({ word }) => ({ target: CUSTOMERS, body: { internal_id: word.repeat(20) } }),
  ({ word }) => ({ target: CUSTOMERS, body: { internal_id: `${word}\n` } }),
  ({ word }) => ({ target: CUSTOMERS, body: { internal_id: `${word}\ud800` } }),
  ({ word }) => ({ target: CUSTOMERS, body: { internal_id: { [word]: word }, [word]: 1 } }),
  // Invalid bodies.
  ({ word }) => ({ target: ALIGNMENT, method: "POST", bytes: `[{"${word}": ${word}}]` }),
  ({ word }) => ({ target: ALIGNMENT, method: "POST", bytes: `{"${word}": 1, "${word}": 2}` }),
  ({ word }) => ({ target: ALIGNMENT, method: "POST", bytes: `${'{"a":'.repeat(20)}"${word}"` }),
  ({ word, digits }) => ({ target: COMPANY, body: word, headers: { "Content-Type": `text/${word}; a=${digits}` } }),
  ({ word }) => ({ target: COMPANY, body: word, headers: { "Content-Encoding": word } }),
  // Invalid credentials and customers.
  (canary) => ({ target: hazard(canary), headers: { "X-API-Key": canary.word } }),
  (canary, key) => ({ target: hazard(canary), headers: { "X-API-Key": `${key.slice(0, -12)}${canary.digits}` } }),
  (canary, key) => ({ target: hazard(canary, `&api_key=${key}`) }),
  (canary, key) => ({ target: hazard(canary), headers: { "X-API-Key": "", Authorization: `Bearer ${key}` } }),
  (canary, key) => ({ target: hazard(canary), headers: { "X-API-Key": `${key}, ${key}` } }),
  (canary, key) => ({ target: `/api/v1/hazard-risk/${key}`, headers: { "X-Customer-ID": canary.word } }),
  (canary, key) => ({ target: hazard(canary), headers: { "X-Customer-ID": key } }),
  (canary) => ({ target: hazard(canary), headers: { "X-Customer-ID": canary.word } }),
  (canary) => ({
    target: hazard(canary),
    headers: { "X-Customer-ID": `0190f000-0000-7000-8000-${canary.digits}` },
  }),
  () => ({ target: CUSTOMERS, body: { internal_id: ARCHIVED } }),
  (canary) => ({ target: hazard(canary), headers: { "Idempotency-Key": `${canary.word} ${canary.word}` } }),
  // Paths and query parameters.
  ({ word, digits }) => ({ target: `/${word}/11.${digits}` }),
  ({ word }) => ({ target: `${CUSTOMERS}/${word}` }),
  ({ word }) => ({ target: `${CUSTOMERS}/${word}`, method: "DELETE" }),
  ({ word }) => ({ target: `${CUSTOMERS}/${word}/usage` }),
  ({ word }) => ({ target: `${CUSTOMERS}?cursor=${word}&limit=${word}` }),
  ({ word }) => ({ target: `/latest/api/v1/usage?customer_id=${word}&from=${word}&to=${word}&group_by=${word}` }),
  ({ word }) => ({ target: `/latest/api/v1/usage?cursor=${word}` }),
  ({ word }) => ({ target: `/problems/${word}` }),
  ({ word }) => ({ target: `/docs/${word}` }),
  ({ word }) => ({ target: `/healthz?${word}` }),
  (canary) => ({ target: `http://${canary.word}.example${hazard(canary)}` }),
  // Unusual and malformed HTTP.
  (canary) => ({ target: hazard(canary), method: "PUT" }),
  (canary) => ({ target: hazard(canary), method: canary.word.toUpperCase() }),
  (canary) => ({ target: hazard(canary), headers: { Host: `${canary.word} ${canary.word}` } }),
  (canary) => ({ target: hazard(canary), headers: { Expect: canary.word } }),
  (canary) => ({ target: hazard(canary), headers: { Upgrade: canary.word, Connection: "close, upgrade" } }),
  (canary) => ({ target: hazard(canary), headers: { "Transfer-Encoding": canary.word } }),
  (canary) => ({ target: hazard(canary), headers: { "Content-Length": canary.word } }),
  ({ word, digits }) => ({ target: ALIGNMENT, body: word, headers: { "Content-Length": digits } }),
  (canary) => ({ target: hazard(canary), headers: { Bloated: canary.word.repeat(1500) } }),
  (canary) => ({ target: `${hazard(canary)}&${canary.word.repeat(1500)}` }),
];

/** Sends a request as raw bytes. @returns the raw response */
function sendRaw(service: Service, { apiKey, customerIds }: TestAccount, request: CanaryRequest): Promise<string> {
  const { target, headers = {}, body, bytes = body === undefined ? undefined : JSON.stringify(body) } = request;
  const { method = bytes === undefined ? "GET" : "POST" } = request;
  const port = Number(new URL(service.url).port);
  const fields: Record<string, string> = {
    Host: `127.0.0.1:${port}`,
    "X-API-Key": apiKey,
    "X-Customer-ID": customerIds[0] ?? "",
    Connection: "close",
    ...(bytes === undefined
      ? {}
      : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(bytes)) }),
    ...headers,
  };
  const lines = Object.entries(fields).flatMap(([name, value]) => (value === "" ? [] : [`${name}: ${value}`]));
  return exchangeBytes(port, [`${method} ${target} HTTP/1.1`, ...lines, "", bytes ?? ""].join("\r\n"));
}

interface CampaignResult {
  readonly findings: readonly string[];
  readonly requestCount: number;
  readonly lineCount: number;
  readonly statuses: ReadonlyMap<string, number>;
}

/** @param disturb runs during each round to provoke errors, which are also logged and returned */
async function campaign(
  ledgerLocation: LedgerLocation,
  {
    rounds = ROUNDS,
    fault,
    disturb,
  }: {
    readonly rounds?: number;
    readonly fault?: FaultName;
    readonly disturb?: (round: number) => Promise<void>;
  } = {},
): Promise<CampaignResult> {
  const account = await withLedger(ledgerLocation, async (ledger) => {
    const created = await newAccount(ledger, { name: "Canaries", internalIds: ["one", ARCHIVED] });
    await ledger.archiveCustomer({ accountId: created.accountId, customerId: created.customerIds[1] ?? "" });
    return created;
  });
  const service = await startService(ledgerLocation, {
    flags: ["--admin-port", "0"],
    fault,
  });
  const random = randomFrom(10);
  const exchanges: { readonly canary: Canary; readonly name: string; readonly response: string }[] = [];
  const statuses = new Map<string, number>();
  let metrics = "";
  try {
    for (let round = 0; round < rounds; round++) {
      // Concurrently, so that data of one request could leak into the response to another.
      const queue = REQUESTS.map((create) => {
        const canary = newCanary(random);
        return { canary, request: create(canary, account.apiKey) };
      });
      const runClient = async (): Promise<void> => {
        for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
          const { canary, request } = next;
          const response = await sendRaw(service, account, request);
          const status = response.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          exchanges.push({ canary, name: `${request.method ?? ""} ${request.target}`.slice(0, 80), response });
        }
      };
      await Promise.all([...Array.from({ length: 8 }, runClient), disturb?.(round)]);
    }
    const [, url = ""] = /"metrics":"([^"]+)"/.exec(service.output()) ?? [];
    metrics = await (await fetch(url)).text();
  } finally {
    await service.stop();
  }
  const findings: string[] = [];
  const output = `${service.output()}\n${metrics}`;
  if (output.includes(account.apiKey.slice(7))) findings.push("the output contains the key");
  if (output.includes(ARCHIVED)) findings.push("the output contains an internal_id");
  for (const { canary, name, response } of exchanges) {
    if (response.includes(account.apiKey.slice(7))) findings.push(`${name}: the response contains the key`);
    for (const secret of [canary.digits, canary.word]) {
      if (output.toLowerCase().includes(secret)) findings.push(`${name}: the output contains ${secret}`);
      for (const other of exchanges) {
        if (other.canary !== canary && other.response.includes(secret)) {
          findings.push(`${name}: the response to ${other.name} contains ${secret}`);
        }
      }
    }
  }
  const lineCount = output.split("\n").filter((line) => line.startsWith("{")).length;
  return { findings, requestCount: exchanges.length, lineCount, statuses };
}

const summarize = ({ findings, requestCount, lineCount, statuses }: CampaignResult): string =>
  `${requestCount} requests, ${lineCount} lines, ${JSON.stringify(Object.fromEntries(statuses))}, ${findings.length} findings`;

test(
  "confidential data is in no log line, no metric and no response to another request",
  async () => {
    const result = await campaign({ data: data() });
    console.log(`confidentiality: ${summarize(result)}`);
    expect(result.findings).toStrictEqual([]);
    expect(await findDamage({ data: data() })).toStrictEqual([]);
    expect(result.requestCount).toBe(ROUNDS * REQUESTS.length);
    // Requests whose connection is closed without a response are not logged.
    expect(result.lineCount).toBeGreaterThan(result.requestCount * 0.9);
    for (const status of ["200", "201", "400", "401", "403", "404", "405", "409", "413", "415", "422", "431"]) {
      expect(result.statuses.has(status), status).toBe(true);
    }
  },
  TIMEOUT_MS,
);

const INJECTED_FAULTS: readonly (readonly [string, FaultName, RegExp])[] = [
  ["the log contains the queries", "logs-requests", /the output contains/],
  ["a response contains the previous result", "returns-previous-results", /the response to .* contains/],
];

for (const [name, fault, finding] of INJECTED_FAULTS) {
  faultTest(
    `detects the injected fault: ${name}`,
    async () => {
      const result = await campaign({ data: data() }, { rounds: 1, fault });
      console.log(`confidentiality, injected fault: ${summarize(result)}`);
      expect(result.findings.join("\n")).toMatch(finding);
    },
    TIMEOUT_MS,
  );
}

describeWithPostgres("with a PostgreSQL server that is stopped repeatedly", () => {
  test(
    "confidential data is in no log line, no metric and no response to another request",
    async () => {
      const server = await startPostgres();
      try {
        const ledgerLocation = { data: data(), database: await server.newDatabase() };
        const result = await campaign(ledgerLocation, {
          disturb: (round) => (round % 2 === 0 ? server.stop() : server.start()),
        });
        console.log(`confidentiality, server stopped: ${summarize(result)}`);
        expect(result.findings).toStrictEqual([]);
        expect(result.statuses.has("503")).toBe(true);
        if (ROUNDS % 2 === 1) await server.start();
        expect(await findDamage(ledgerLocation)).toStrictEqual([]);
      } finally {
        await server.dispose();
      }
    },
    TIMEOUT_MS,
  );
});
