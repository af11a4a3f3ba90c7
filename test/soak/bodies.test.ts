/**
 * Bodies of JSON that something happened to, at every address that takes one. What must hold of all: the answer is 200,
 * 201 or a refusal that names what is wrong and costs nothing; what is no JSON is told to be none and nothing else is;
 * connections go on; what was told to cost something is what the ledger has; each customer is new once; nothing stays behind.
 *
 * `ISOTHERM_SOAK_BODIES=200000` asks for so many.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CustomerRecord } from "../../src/host/customerRecord.ts";
import type { Problem } from "../../src/host/problem.ts";
import { isStrictJson } from "../oracle/json.ts";
import { KeptConnection, requestBytes, times } from "./connection.ts";
import { bodyOf } from "./spoiltBodies.ts";
import { countedUnits, sizeOf, toldOf, watchedService, type WatchedService } from "./watched.ts";

const COUNT = sizeOf("BODIES", 3000);
const SEED = sizeOf("SEED", 11);
const AT_ONCE = 32;
/** What tiles may be kept, and a little: less than 130 bytes a request in a full run. */
const SLACK_BYTES = 24 << 20;
const SLACK_DESCRIPTORS = 4;

let data: string;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-bodies-"));
});
afterAll(() => rm(data, { recursive: true, force: true }));

interface Campaign {
  /** By status and code. */
  readonly outcomes: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
  readonly units: number;
}

/** How often each customer was told to be new. */
type Registrations = Map<string, number>;

/** What is wrong with an answer to such a body. */
function faultIn(
  asked: Buffer,
  { status, body, counted }: { readonly status: number; readonly body: string; readonly counted: string | undefined },
): string | undefined {
  if (status >= 500) return body;
  const answer = JSON.parse(body) as Partial<Problem>;
  const isJson = isStrictJson(asked);
  if ((answer.code === "json_malformed") === isJson) return `it ${isJson ? "is" : "is no"} JSON: ${body}`;
  if (status === 200 || status === 201) return undefined;
  if (answer.status !== status || (counted ?? "0") !== "0") return `${counted} units: ${body}`;
  if (answer.code === "json_malformed") {
    return (answer.line ?? 0) >= 1 && (answer.column ?? 0) >= 1 ? undefined : `no place: ${body}`;
  }
  const isNamed = (answer.errors ?? []).length > 0 || answer.code === "too_many_values";
  return isNamed ? undefined : `nothing is named: ${body}`;
}

async function fuzzed(
  service: WatchedService,
  { count, seed, registrations }: { count: number; seed: number; registrations: Registrations },
): Promise<Campaign> {
  const { port, headers } = service;
  const free: KeptConnection[] = [];
  const outcomes = new Map<string, number>();
  const faults: string[] = [];
  let units = 0;
  await times(count, { atOnce: AT_ONCE }, async (index) => {
    const { place, bytes } = bodyOf(seed, index);
    const connection = free.pop() ?? (await KeptConnection.open(port));
    const answer = await connection.ask(requestBytes(`POST ${place.path}`, { headers, body: bytes }));
    const fail = (what: string): void => {
      faults.push(`${index}: ${what.slice(0, 500)}, to ${JSON.stringify(bytes.toString("latin1").slice(0, 2000))}`);
    };
    // No body of these is a reason to end a connection.
    if (answer === undefined || connection.isOver) return fail(`the connection ended, ${answer?.status}`);
    free.push(connection);
    const counted = answer.headers.get("x-usage-units");
    units += Number(counted ?? 0);
    const body = Buffer.from(answer.body, "latin1").toString();
    const fault = faultIn(bytes, { status: answer.status, body, counted });
    if (fault !== undefined) fail(fault);
    if (place.operationId === "registerCustomer" && answer.status < 300) {
      const { internal_id: name } = JSON.parse(body) as CustomerRecord;
      registrations.set(name, (registrations.get(name) ?? 0) + (answer.status === 201 ? 1 : 0));
    }
    const { code = "" } = answer.status < 400 ? {} : (JSON.parse(body) as Problem);
    const outcome = `${answer.status} ${code}`.trim();
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  });
  for (const connection of free) connection.end();
  return { outcomes, faults, units };
}

test("some of any thousand bodies register a customer that nobody has registered before", () => {
  for (let seed = SEED; seed < SEED + 20; seed++) {
    const fresh = Array.from({ length: 1000 }, (_, index) => ({ ...bodyOf(seed, index), index })).filter(
      ({ place, bytes, index }) =>
        place.operationId === "registerCustomer" &&
        bytes.equals(Buffer.from(`{"internal_id":"client ${seed}-${index}"}`)),
    );
    expect([seed, fresh.length > 0]).toStrictEqual([seed, true]);
  }
});

test(
  `${COUNT} bodies to which something happened are answered or refused, and nothing stays behind`,
  { timeout: 120_000 + COUNT * 30 },
  async () => {
    const service = await watchedService(data, { flags: ["--cache", "16"] });
    const registrations: Registrations = new Map();
    try {
      const first = { count: Math.max(1000, COUNT / 10), seed: SEED + 1, registrations };
      const { units: unitsBefore } = await fuzzed(service, first);
      expect(await countedUnits(service)).toBe(unitsBefore);
      const before = await service.holding();
      const { outcomes, faults, units } = await fuzzed(service, { count: COUNT, seed: SEED, registrations });
      const after = await service.holding();
      const told = [...outcomes]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([outcome, many]) => `${outcome}: ${many}`);
      console.log(`${COUNT} bodies, ${told.join(", ")}; before ${toldOf(before)}; after ${toldOf(after)}`);
      expect(faults.slice(0, 10)).toStrictEqual([]);
      for (const outcome of ["200", "201", "400 invalid_request", "400 json_malformed"]) {
        expect([outcome, outcomes.has(outcome)]).toStrictEqual([outcome, true]);
      }
      expect([...registrations].filter(([, newCount]) => newCount !== 1)).toStrictEqual([]);
      expect(await countedUnits(service)).toBe(unitsBefore + units);
      expect(after.descriptorCount).toBeLessThanOrEqual(before.descriptorCount + SLACK_DESCRIPTORS);
      expect(after.reachableBytes - before.reachableBytes).toBeLessThan(SLACK_BYTES);
    } finally {
      await service.stop();
    }
    expect(await service.ended).toStrictEqual({ code: 0, signal: null });
  },
);
