/**
 * Where a customer's assets lie is confidential, and so is what it calls them: requests of all kinds, right and wrong,
 * carry values that are like no others, and none of these shows in a line that the service writes, in its metrics, or in
 * the answer to another request. No answer and no line ever holds a key. ISOTHERM_DURABILITY_CANARIES=50 rounds are the
 * whole of it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { exchangeBytes } from "../host/hosting.ts";
import { ENTITY } from "../host/entities.ts";
import { describeWithPostgres, startPostgres } from "../ledger/postgresServer.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import {
  type Account,
  builtWith,
  type Fault,
  newAccount,
  type Place,
  type Service,
  sizeOf,
  startService,
  withLedger,
} from "./service.ts";

const ROUNDS = sizeOf("CANARIES", 2);
const TIMEOUT_MS = 120_000 + ROUNDS * 10_000;

let data: string;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-canary-"));
});
afterEach(() => rm(data, { recursive: true, force: true }));

/** What only one request holds: eight digits for its numbers, a word for its texts. */
interface Canary {
  readonly digits: string;
  readonly word: string;
}

interface Asking {
  readonly method?: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** As it goes over the wire, instead of all others. */
  readonly bytes?: string;
}

function newCanary(random: SeededRandom): Canary {
  const digits = String(10_000_000 + random.below(90_000_000));
  return { digits, word: `canary${random.below(2 ** 31).toString(36)}x${digits}` };
}

/** The internal_id of a customer that is archived before anything is asked. */
const ARCHIVED = "canary-archived";
const FLOOD = "hazards=riverine_floods&analysis_years=2050&scenarios=rcp8p5";
const BATCH = "/api/v1/hazard-risk/batch";
const ALIGNMENT = "/api/v1/temperature-alignment-projections";
const COMPANY = "/analyze/total-climate-risk";
const CUSTOMERS = "/latest/api/v1/customers";

const placed = (digits: string, more: object = {}): object => ({
  latitude: Number(`11.${digits}`),
  longitude: Number(`43.${digits}`),
  hazards: ["riverine_floods"],
  analysis_years: [2050],
  scenarios: ["rcp8p5"],
  ...more,
});
const company = (more: object): object => ({
  name: "Example Ltd",
  country: "India",
  industry: "cement_lime",
  revenue: "7870000000",
  total_assets: "11400000000",
  ebitda: "1380000000",
  total_debt: "1230000000",
  transition_scenarios: ["NGFS_NET_ZERO_2050"],
  ...more,
});
const entity = (info: object, more: object = {}): object => ({
  ...ENTITY,
  entity_info: { ...ENTITY.entity_info, ...info },
  ...more,
});

const hazard = ({ digits }: Canary, more = ""): string =>
  `/api/v1/hazard-risk?latitude=11.${digits}&longitude=43.${digits}&${FLOOD}${more}`;

/** Requests of every kind that a client can send, each with its canary wherever it fits. */
const ASKINGS: readonly ((canary: Canary, key: string) => Asking)[] = [
  // Right ones.
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
  ({ digits }) => ({ target: BATCH, body: [placed(digits), placed(digits, { radius: 2 })] }),
  ({ digits }) => ({ target: BATCH, body: Array.from({ length: 300 }, () => placed(digits)) }),
  ({ word }) => ({ target: ALIGNMENT, body: [entity({ name: word, identifier: word })] }),
  ({ word }) => ({ target: COMPANY, body: company({ name: word }) }),
  ({ word }) => ({ target: CUSTOMERS, body: { internal_id: word, name: word } }),
  ({ word }) => ({ target: hazard({ word, digits: "5" }), headers: { "Accept-Encoding": word } }),
  // Wrong values.
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
    body: [placed(digits, { latitude: Number(`911.${digits}`) }), { [word]: word }],
  }),
  ({ digits }) => ({ target: BATCH, body: Array.from({ length: 300 }, () => placed(digits, { radius: -1 })) }),
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
  // Bodies that are none.
  ({ word }) => ({ target: ALIGNMENT, method: "POST", bytes: `[{"${word}": ${word}}]` }),
  ({ word }) => ({ target: ALIGNMENT, method: "POST", bytes: `{"${word}": 1, "${word}": 2}` }),
  ({ word }) => ({ target: ALIGNMENT, method: "POST", bytes: `${'{"a":'.repeat(20)}"${word}"` }),
  ({ word, digits }) => ({ target: COMPANY, body: word, headers: { "Content-Type": `text/${word}; a=${digits}` } }),
  ({ word }) => ({ target: COMPANY, body: word, headers: { "Content-Encoding": word } }),
  // Who asks.
  (canary) => ({ target: hazard(canary), headers: { "X-API-Key": canary.word } }),
  (canary, key) => ({ target: hazard(canary), headers: { "X-API-Key": `${key.slice(0, -8)}${canary.digits}` } }),
  (canary, key) => ({ target: hazard(canary, `&api_key=${key}`) }),
  (canary, key) => ({ target: hazard(canary), headers: { "X-API-Key": "", Authorization: `Bearer ${key}` } }),
  (canary, key) => ({ target: hazard(canary), headers: { "X-API-Key": `${key}, ${key}` } }),
  (canary, key) => ({ target: `/api/v1/hazard-risk/${key}`, headers: { "X-Customer-ID": canary.word } }),
  (canary, key) => ({ target: hazard(canary), headers: { "X-Customer-ID": key } }),
  (canary) => ({ target: hazard(canary), headers: { "X-Customer-ID": canary.word } }),
  (canary) => ({
    target: hazard(canary),
    headers: { "X-Customer-ID": `0190f000-0000-7000-8000-0000${canary.digits}` },
  }),
  () => ({ target: CUSTOMERS, body: { internal_id: ARCHIVED } }),
  (canary) => ({ target: hazard(canary), headers: { "Idempotency-Key": `${canary.word} ${canary.word}` } }),
  // Addresses.
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
  // What is no HTTP, or hardly.
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

/** The request as it goes over the wire, and what comes back for it. */
function exchange(service: Service, { apiKey, customerIds }: Account, asking: Asking): Promise<string> {
  const { target, headers = {}, body, bytes = body === undefined ? undefined : JSON.stringify(body) } = asking;
  const { method = bytes === undefined ? "GET" : "POST" } = asking;
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

interface Outcome {
  readonly findings: readonly string[];
  readonly requestCount: number;
  readonly lineCount: number;
  readonly statuses: ReadonlyMap<string, number>;
}

/** @param disturb done between rounds: what goes wrong then is told of in lines and answers too */
async function campaign(
  place: Place,
  {
    rounds = ROUNDS,
    built,
    disturb,
  }: {
    readonly rounds?: number;
    readonly built?: string;
    readonly disturb?: (round: number) => Promise<void>;
  } = {},
): Promise<Outcome> {
  const account = await withLedger(place, async (ledger) => {
    const made = await newAccount(ledger, { name: "Canaries", internalIds: ["one", ARCHIVED] });
    await ledger.archiveCustomer({ accountId: made.accountId, customerId: made.customerIds[1] ?? "" });
    return made;
  });
  const service = await startService(place, {
    flags: ["--admin-port", "0"],
    ...(built === undefined ? {} : { built }),
  });
  const random = randomFrom(10);
  const asked: { readonly canary: Canary; readonly what: string; readonly answer: string }[] = [];
  const statuses = new Map<string, number>();
  let metrics = "";
  try {
    for (let round = 0; round < rounds; round++) {
      // Several at a time, so that one could get into another's answer.
      const waiting = ASKINGS.map((make) => {
        const canary = newCanary(random);
        return { canary, asking: make(canary, account.apiKey) };
      });
      const client = async (): Promise<void> => {
        for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
          const { canary, asking } = next;
          const answer = await exchange(service, account, asking);
          const status = answer.slice("HTTP/1.1 ".length, "HTTP/1.1 200".length);
          statuses.set(status, (statuses.get(status) ?? 0) + 1);
          asked.push({ canary, what: `${asking.method ?? ""} ${asking.target}`.slice(0, 80), answer });
        }
      };
      await Promise.all([...Array.from({ length: 8 }, client), disturb?.(round)]);
    }
    const [, url = ""] = /Metrics: (\S+)/.exec(service.output()) ?? [];
    metrics = await (await fetch(url)).text();
  } finally {
    await service.stop();
  }
  const findings: string[] = [];
  const written = `${service.output()}\n${metrics}`;
  if (written.includes(account.apiKey.slice(7))) findings.push("a key is written down");
  if (written.includes(ARCHIVED)) findings.push("an internal_id is written down");
  for (const { canary, what, answer } of asked) {
    if (answer.includes(account.apiKey.slice(7))) findings.push(`${what}: the answer holds the key`);
    for (const secret of [canary.digits, canary.word]) {
      if (written.toLowerCase().includes(secret)) findings.push(`${what}: ${secret} is written down`);
      for (const other of asked) {
        if (other.canary !== canary && other.answer.includes(secret)) findings.push(`${what} shows in ${other.what}`);
      }
    }
  }
  const lineCount = written.split("\n").filter((line) => line.startsWith("{")).length;
  return { findings, requestCount: asked.length, lineCount, statuses };
}

const tellOf = ({ findings, requestCount, lineCount, statuses }: Outcome): string =>
  `${requestCount} requests, ${lineCount} lines, ${JSON.stringify(Object.fromEntries(statuses))}, ${findings.length} findings`;

test(
  "nothing confidential is written down or gets into another's answer",
  async () => {
    const outcome = await campaign({ data });
    console.log(`canaries: ${tellOf(outcome)}`);
    expect(outcome.findings).toStrictEqual([]);
    expect(outcome.requestCount).toBe(ROUNDS * ASKINGS.length);
    // All but those whose connection was closed without a word.
    expect(outcome.lineCount).toBeGreaterThan(outcome.requestCount * 0.9);
    for (const status of ["200", "201", "400", "401", "403", "404", "405", "409", "413", "415", "422", "431"]) {
      expect(outcome.statuses.has(status), status).toBe(true);
    }
  },
  TIMEOUT_MS,
);

const PLANTED: readonly (readonly [string, Fault, RegExp])[] = [
  [
    "the log holds addresses",
    { file: "host/server.js", from: `method: request.method ?? "",`, to: `method: request.url ?? "",` },
    /is written down/,
  ],
  [
    "an answer tells of the refusal before it",
    {
      file: "host/pipeline.js",
      from: "const problem = problemOf(error, exchange.requestId);",
      to: `const problem = problemOf(globalThis.before ?? error, exchange.requestId);
        globalThis.before = error;`,
    },
    /shows in/,
  ],
];

test.each(PLANTED)(
  "it is found out when %s",
  async (_what, fault, finding) => {
    const { built, done } = await builtWith([fault]);
    try {
      const outcome = await campaign({ data }, { rounds: 1, built });
      console.log(`canaries, planted: ${tellOf(outcome)}`);
      expect(outcome.findings.join("\n")).toMatch(finding);
    } finally {
      await done();
    }
  },
  TIMEOUT_MS,
);

describeWithPostgres("with a database that goes away", () => {
  test(
    "nothing confidential is written down or gets into another's answer",
    async () => {
      const server = await startPostgres();
      try {
        const place = { data, database: await server.newDatabase() };
        const outcome = await campaign(place, {
          disturb: (round) => (round % 2 === 0 ? server.stop() : server.start()),
        });
        console.log(`canaries, database away: ${tellOf(outcome)}`);
        expect(outcome.findings).toStrictEqual([]);
        expect(outcome.statuses.has("503")).toBe(true);
      } finally {
        await server.dispose();
      }
    },
    TIMEOUT_MS,
  );
});
