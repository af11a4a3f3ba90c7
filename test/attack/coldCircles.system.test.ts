/**
 * Circles whose tiles are not in memory, which take a thousand times as long as locations.
 * `ISOTHERM_ATTACK_CIRCLES`, `ISOTHERM_ATTACK_PARALLEL` and `ISOTHERM_ATTACK_OVERLOAD_SECONDS` set the circles of a batch, the
 * clients and the duration of the overload.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCli } from "../durability/service.ts";
import { randomFrom } from "../seededRandom.ts";
import { type ServiceProcess, startServiceProcess } from "../soak/serviceProcess.ts";
import { attackSize } from "./attackSize.ts";

const CIRCLE_COUNT = attackSize("CIRCLES", { small: 60, full: 500 });
const PARALLEL_COUNT = attackSize("PARALLEL", { small: 12, full: 64 });
const DURATION_S = attackSize("OVERLOAD_SECONDS", { small: 8, full: 240 });
const VICTIM_BATCH_COUNT = attackSize("VICTIM_BATCHES", { small: 15, full: 15 });
const PLACE_COUNT = 500;
const random = randomFrom(attackSize("SEED", { small: 5, full: 5 }));

let data: string;
let service: ServiceProcess;
let victimHeaders: Readonly<Record<string, string>>;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-attack-"));
  service = await startServiceProcess(data, { flags: ["--workers", "1", "--cache", "16"] });
  const created = await runCli(["accounts", "create", "--name", "Victim", "--json"], { data });
  const { account_id: account } = JSON.parse(created) as { account_id: string };
  const { api_key: apiKey } = JSON.parse(
    await runCli(["keys", "create", "--account", account, "--json"], { data }),
  ) as {
    api_key: string;
  };
  const registered = await fetch(`http://127.0.0.1:${service.port}/api/v1/customers`, {
    method: "POST",
    headers: { "X-API-Key": apiKey, "Content-Type": "application/json" },
    body: JSON.stringify({ internal_id: "victim" }),
  });
  const { customer_id: customerId } = (await registered.json()) as { customer_id: string };
  victimHeaders = { "X-API-Key": apiKey, "X-Customer-ID": customerId };
}, 120_000);
afterAll(async () => {
  await service.stop();
  await rm(data, { recursive: true, force: true });
});

function batchOf(count: number, radius: number): string {
  return JSON.stringify(
    Array.from({ length: count }, () => ({
      latitude: random.between({ min: -60, max: 70 }),
      longitude: random.between({ min: -180, max: 180 }),
      hazards: ["riverine_floods", "cyclones"],
      analysis_years: [2050],
      scenarios: ["rcp8p5"],
      radius,
    })),
  );
}

interface Outcome {
  readonly status: number;
  readonly retryAfterS: number;
  readonly durationMs: number;
}

async function send(headers: Readonly<Record<string, string>>, body: string): Promise<Outcome> {
  const startMs = performance.now();
  const response = await fetch(`http://127.0.0.1:${service.port}/api/v1/hazard-risk/batch`, {
    method: "POST",
    headers: { ...headers, "Content-Type": "application/json" },
    body,
  });
  await response.arrayBuffer();
  const retryAfterS = Number(response.headers.get("retry-after"));
  return { status: response.status, retryAfterS, durationMs: performance.now() - startMs };
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? NaN;

test(
  "cold circles of one account do not cause the batches of another to be rejected",
  { timeout: 300_000 },
  async () => {
    const place = batchOf(PLACE_COUNT, 0);
    const alone: number[] = [];
    for (let i = 0; i < VICTIM_BATCH_COUNT; i++) alone.push((await send(victimHeaders, place)).durationMs);
    const stop = new AbortController();
    let attackCount = 0;
    const attack = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        await send(service.headers, batchOf(CIRCLE_COUNT, 100));
        attackCount++;
      }
    };
    const attacks = Array.from({ length: 6 }, attack);
    const beside: Outcome[] = [];
    for (let i = 0; i < VICTIM_BATCH_COUNT; i++) beside.push(await send(victimHeaders, place));
    stop.abort();
    await Promise.all(attacks);
    expect(beside.map(({ status }) => status)).toEqual(beside.map(() => 200));
    const [aloneMs, besideMs] = [median(alone), median(beside.map(({ durationMs }) => durationMs))];
    console.log(
      `${PLACE_COUNT} places: ${aloneMs.toFixed(1)} ms alone, ${besideMs.toFixed(1)} ms beside ${attackCount} batches of ` +
        `${CIRCLE_COUNT} cold circles (${(besideMs / aloneMs).toFixed(1)} times)`,
    );
  },
);

test(
  "cold circles in overload are still answered, or rejected with the time of a retry",
  { timeout: 600_000 },
  async () => {
    const peakStartMs = performance.now();
    let peakCount = 0;
    for (let i = 0; i < 3; i++)
      if ((await send(service.headers, batchOf(CIRCLE_COUNT, 100))).status === 200) peakCount++;
    const peakPerS = (1000 * peakCount) / (performance.now() - peakStartMs);
    const startMs = performance.now();
    const endMs = startMs + 1000 * DURATION_S;
    let answeredCount = 0;
    let rejectedCount = 0;
    /** Time from a client's first rejection to the request that was admitted, divided by its first Retry-After. */
    const waitRatios: number[] = [];
    await Promise.all(
      Array.from({ length: PARALLEL_COUNT }, async () => {
        let rejected: { readonly atMs: number; readonly retryAfterS: number } | undefined;
        while (performance.now() < endMs) {
          const sentMs = performance.now();
          const { status, retryAfterS } = await send(service.headers, batchOf(CIRCLE_COUNT, 100));
          if (status === 200) {
            if (performance.now() < endMs) answeredCount++;
            if (rejected !== undefined) waitRatios.push((sentMs - rejected.atMs) / (1000 * rejected.retryAfterS));
            rejected = undefined;
          } else {
            expect(status).toBe(503);
            expect(retryAfterS).toBeGreaterThan(0);
            rejectedCount++;
            rejected ??= { atMs: performance.now(), retryAfterS };
            await setTimeout(Math.min(1000 * retryAfterS, Math.max(0, endMs - performance.now())));
          }
        }
      }),
    );
    const goodputShare = answeredCount / DURATION_S / peakPerS;
    const sorted = waitRatios.toSorted((first, second) => first - second);
    const quantiles = [0.1, 0.5, 0.9, 1].map((share) => sorted[Math.ceil(share * sorted.length) - 1]?.toFixed(2));
    console.log(
      `${PARALLEL_COUNT} clients: ${(100 * goodputShare).toFixed(0)} % of ${peakPerS.toFixed(2)} batches/s, ` +
        `${answeredCount} answered, ${rejectedCount} rejected; wait divided by Retry-After of ${sorted.length}: ` +
        `10 %, 50 %, 90 %, maximum ${quantiles.join(", ")} (load of the machine ${(loadavg()[0] ?? NaN).toFixed(1)})`,
    );
    // Retry-After reserves nothing, so that clients may be rejected again. A machine on which one batch misses its deadline
    // answers none in overload either.
    if (peakCount === 3) expect(answeredCount).toBeGreaterThan(0);
  },
);
