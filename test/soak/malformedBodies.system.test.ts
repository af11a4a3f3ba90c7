/**
 * Corrupted JSON bodies at every endpoint that takes one. Expected: every response is 200, 201 or a rejection that
 * names the errors and is not metered; `json_malformed` is returned exactly for bodies that are not JSON; connections
 * stay open, except after bodies above the limit of their route (413); the units reported match the ledger; each customer is reported as new once; and nothing stays allocated.
 *
 * `ISOTHERM_SOAK_MALFORMED_BODIES=200000` sets the number of bodies.
 */
import { expect, test } from "vitest";
import { dataFolder } from "../durability/dataFolder.ts";
import type { Problem } from "../../src/host/problems/problem.ts";
import { isStrictJson } from "../oracle/json.ts";
import { KeepAliveConnection, requestBytes, runConcurrently } from "./connection.ts";
import { bodyOf } from "./malformedBodies.ts";
import {
  ledgerUnits,
  integerSetting,
  formatUsage,
  startServiceProcess,
  type ServiceProcess,
} from "./serviceProcess.ts";
import type { CustomerRecord } from "../../src/contract/wireTypes.ts";

const COUNT = integerSetting("MALFORMED_BODIES", 3000);
const SEED = integerSetting("SEED", 11);
const CONCURRENCY = 32;
/** Cached tiles and a margin: less than 130 bytes per request in a full run. */
const SLACK_BYTES = 24 << 20;
const SLACK_DESCRIPTORS = 4;
const REGISTRATION_BYTES_MAX = 16 << 10;

const data = dataFolder("bodies");

/** Registrations have a lower limit than other bodies. */
const isTooLong = (operationId: string, body: Buffer): boolean =>
  operationId === "registerCustomer" && body.length > REGISTRATION_BYTES_MAX;

interface Campaign {
  /** Counts by status and error code. */
  readonly outcomes: ReadonlyMap<string, number>;
  readonly faults: readonly string[];
  readonly units: number;
}

/** How often each customer was reported as new. */
type Registrations = Map<string, number>;

/** Returns the defect of a response to such a body, or undefined. */
function faultIn(
  requestBody: Buffer,
  { status, body, counted }: { readonly status: number; readonly body: string; readonly counted: string | undefined },
): string | undefined {
  if (status >= 500) return body;
  const response = JSON.parse(body) as Partial<Problem>;
  const isJson = isStrictJson(requestBody);
  if ((response.code === "json_malformed") === isJson) return `body is ${isJson ? "" : "not "}JSON: ${body}`;
  if (status === 200 || status === 201) return undefined;
  if (response.status !== status || (counted ?? "0") !== "0") return `${counted} units: ${body}`;
  if (response.code === "json_malformed") {
    return (response.line ?? 0) >= 1 && (response.column ?? 0) >= 1 ? undefined : `no position: ${body}`;
  }
  const isNamed = (response.errors ?? []).length > 0 || response.code === "too_many_values";
  return isNamed ? undefined : `no error is named: ${body}`;
}

async function runCampaign(
  service: ServiceProcess,
  { count, seed, registrations }: { count: number; seed: number; registrations: Registrations },
): Promise<Campaign> {
  const { port, headers } = service;
  const free: KeepAliveConnection[] = [];
  const outcomes = new Map<string, number>();
  const faults: string[] = [];
  let units = 0;
  await runConcurrently(count, { concurrency: CONCURRENCY }, async (index) => {
    const { operation, bytes } = bodyOf(seed, index);
    const connection = free.pop() ?? (await KeepAliveConnection.open(port));
    const response = await connection.send(requestBytes(`POST ${operation.path}`, { headers, body: bytes }));
    const fail = (message: string): void => {
      faults.push(`${index}: ${message.slice(0, 500)}, to ${JSON.stringify(bytes.toString("latin1").slice(0, 2000))}`);
    };
    // Only bodies above the limit of their route may close the connection.
    if (response?.status === 413 && isTooLong(operation.operationId, bytes)) {
      outcomes.set("413", (outcomes.get("413") ?? 0) + 1);
      return;
    }
    if (response === undefined || connection.isClosed)
      return fail(`the connection was closed, status ${response?.status}`);
    free.push(connection);
    const counted = response.headers.get("x-usage-units");
    units += Number(counted ?? 0);
    const body = Buffer.from(response.body, "latin1").toString();
    const fault = faultIn(bytes, { status: response.status, body, counted });
    if (fault !== undefined) fail(fault);
    if (operation.operationId === "registerCustomer" && response.status < 300) {
      const { internal_id: name } = JSON.parse(body) as CustomerRecord;
      registrations.set(name, (registrations.get(name) ?? 0) + (response.status === 201 ? 1 : 0));
    }
    const { code = "" } = response.status < 400 ? {} : (JSON.parse(body) as Problem);
    const outcome = `${response.status} ${code}`.trim();
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
  });
  for (const connection of free) connection.close();
  return { outcomes, faults, units };
}

test("every thousand bodies include the registration of a new customer", () => {
  for (let seed = SEED; seed < SEED + 20; seed++) {
    const newRegistrations = Array.from({ length: 1000 }, (_, index) => ({ ...bodyOf(seed, index), index })).filter(
      ({ operation, bytes, index }) =>
        operation.operationId === "registerCustomer" &&
        bytes.equals(Buffer.from(`{"internal_id":"client ${seed}-${index}"}`)),
    );
    expect([seed, newRegistrations.length > 0]).toStrictEqual([seed, true]);
  }
});

test(
  `${COUNT} malformed bodies are answered or rejected without leaks`,
  { timeout: 120_000 + COUNT * 30 },
  async () => {
    const service = await startServiceProcess(data(), { flags: ["--cache", "16"] });
    const registrations: Registrations = new Map();
    try {
      const first = { count: Math.max(1000, COUNT / 10), seed: SEED + 1, registrations };
      const { units: unitsBefore } = await runCampaign(service, first);
      expect(await ledgerUnits(service)).toBe(unitsBefore);
      const before = await service.resourceUsage();
      const { outcomes, faults, units } = await runCampaign(service, { count: COUNT, seed: SEED, registrations });
      const after = await service.resourceUsage();
      const summary = [...outcomes]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([outcome, count]) => `${outcome}: ${count}`);
      console.log(`${COUNT} bodies, ${summary.join(", ")}; before ${formatUsage(before)}; after ${formatUsage(after)}`);
      expect(faults.slice(0, 10)).toStrictEqual([]);
      for (const outcome of ["200", "201", "400 invalid_request", "400 json_malformed"]) {
        expect([outcome, outcomes.has(outcome)]).toStrictEqual([outcome, true]);
      }
      expect([...registrations].filter(([, newCount]) => newCount !== 1)).toStrictEqual([]);
      expect(await ledgerUnits(service)).toBe(unitsBefore + units);
      expect(after.descriptorCount).toBeLessThanOrEqual(before.descriptorCount + SLACK_DESCRIPTORS);
      expect(after.reachableBytes - before.reachableBytes).toBeLessThan(SLACK_BYTES);
    } finally {
      await service.stop();
    }
    expect(await service.exited).toStrictEqual({ code: 0, signal: null });
  },
);
