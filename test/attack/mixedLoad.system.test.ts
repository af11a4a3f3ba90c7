/**
 * Honest clients with each attack beside them, one after the other. No honest request may fail, and the memory of
 * the service stays under its `--memory`, 1,024 MiB or `ISOTHERM_ATTACK_MEMORY_MIB`. Times are printed as ratios to those without an attack, and
 * not asserted: attacker and clients share the machine with the service, whose own processor time and event loop delay are
 * printed, too.
 *
 * `ISOTHERM_ATTACK_SECONDS` sets the duration of each attack, and the variable in its row the number of connections,
 * `ISOTHERM_ATTACK_RANDOM_KEYS=3000` for example. `ISOTHERM_ATTACK_ONLY="random keys"` runs one.
 * `ISOTHERM_ATTACK_ADDRESS=127.0.0.1` attacks from the address of the honest clients, which is not limited.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newAccount, type TestAccount, withLedger } from "../durability/service.ts";
import { type ServiceProcess, startServiceProcess } from "../soak/serviceProcess.ts";
import { startAttack } from "./attacker.ts";
import { attackSize } from "./attackSize.ts";
import { type HonestReport, runHonestClients } from "./honestLoad.ts";
import { formatLoad, ServiceMetrics } from "./serviceMetrics.ts";

const DURATION_MS = 1_000 * attackSize("SECONDS", { small: 2, full: 20 });
const ONLY = process.env["ISOTHERM_ATTACK_ONLY"];
/** Not limited by address, as the addresses of a private network might be. */
const HONEST_ADDRESS = "127.0.0.1";
const ATTACK_ADDRESS = process.env["ISOTHERM_ATTACK_ADDRESS"] ?? "127.0.0.2";
/** The option `--memory` of the service, which bounds the memory that it takes during any attack. */
const MEMORY_MIB = attackSize("MEMORY_MIB", { small: 1024, full: 1024 });
const RESIDENT_POLL_MS = 100;

/** Connections of each attack of attacks.mjs: the variable that sets their number, its default, and that of the full attack. */
const ATTACKS = {
  "random keys": ["RANDOM_KEYS", 200, 3_000],
  "idle connections": ["IDLE_CONNECTIONS", 500, 10_000],
  "open routes": ["OPEN_ROUTES", 50, 500],
  "light requests": ["LIGHT_REQUESTS", 50, 500],
  "unknown parameters": ["UNKNOWN_PARAMETERS", 20, 100],
  "chunked bodies": ["CHUNKED_BODIES", 2, 8],
  "unread chunked bodies": ["UNREAD_CHUNKED_BODIES", 4, 20],
  "keys bodies": ["KEYS_BODIES", 2, 10],
  "lists bodies": ["LISTS_BODIES", 2, 10],
  "cold circles": ["COLD_CIRCLES", 2, 6],
  "abandoned usage reports": ["ABANDONED_REPORTS", 10, 40],
  "slow readers": ["SLOW_READERS", 10, 60],
} as const satisfies Readonly<Record<string, readonly [variable: string, small: number, full: number]>>;

let data: string;
let service: ServiceProcess;
let metrics: ServiceMetrics;
let honest: TestAccount;
let attacker: TestAccount;
let alone: HonestReport;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-attack-"));
  service = await startServiceProcess(data, {
    flags: ["--workers", "1", "--memory", String(MEMORY_MIB), "--exempt-address", HONEST_ADDRESS, "--admin-port", "0"],
  });
  metrics = new ServiceMetrics(service);
  [honest, attacker] = await withLedger({ data }, async (ledger) => [
    await newAccount(ledger, { name: "honest", internalIds: ["one"] }),
    await newAccount(ledger, { name: "attacker", internalIds: ["one"] }),
  ]);
  await run(1, 500);
  await metrics.load();
  alone = await run(2);
  console.log(`alone: ${formatReport(alone)}; ${formatLoad(await metrics.load())}`);
}, 120_000);
afterAll(async () => {
  await service.stop();
  await rm(data, { recursive: true, force: true });
});

const headersOf = ({ apiKey, customerIds: [customerId = ""] }: TestAccount): Record<string, string> => ({
  "X-API-Key": apiKey,
  "X-Customer-ID": customerId,
});
const run = (seed: number, durationMs = DURATION_MS): Promise<HonestReport> =>
  runHonestClients(service.port, { headers: headersOf(honest), seed, durationMs });

function formatReport({ requestCount, failed, p50Ms, p99Ms }: HonestReport): string {
  return `${requestCount} requests, ${failed.length} failed, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
}

const NAMES = Object.keys(ATTACKS).filter((name) => ONLY === undefined || name === ONLY) as (keyof typeof ATTACKS)[];

test.each(NAMES)(
  "%s: honest requests are answered, and memory stays bounded",
  async (name) => {
    const [variable, small, full] = ATTACKS[name];
    const size = attackSize(variable, { small, full });
    let residentBytesMax = 0;
    const polling = setInterval(() => {
      void service.residentBytes().then((bytes) => (residentBytesMax = Math.max(residentBytesMax, bytes)));
    }, RESIDENT_POLL_MS);
    const endAttack = await startAttack(name, {
      port: service.port,
      headers: headersOf(attacker),
      size,
      localAddress: ATTACK_ADDRESS,
    });
    await metrics.load();
    const beside = await run(3);
    const load = formatLoad(await metrics.load());
    const { connectionCount, statuses } = await endAttack();
    clearInterval(polling);
    console.log(
      `${name} (${size}): ${formatReport(beside)}, p99 ${(beside.p99Ms / alone.p99Ms).toFixed(1)} times that alone; ` +
        `${load} (load of the machine ${(loadavg()[0] ?? NaN).toFixed(1)}); ` +
        `${(residentBytesMax / 2 ** 20).toFixed(0)} MiB resident; attack: ${connectionCount} connections, ` +
        `responses ${JSON.stringify(statuses)}`,
    );
    expect(connectionCount).toBeGreaterThanOrEqual(size);
    expect(beside.failed).toStrictEqual([]);
    expect(residentBytesMax).toBeLessThan(MEMORY_MIB * 2 ** 20);
  },
  300_000 + 4 * DURATION_MS,
);
