/**
 * SIGTERM under load. A request counts as lost if all its bytes were passed to the operating system on a connection for
 * which the server had not sent `Connection: close`, and the connection ended without a complete response. Like clients
 * behind a load balancer, these clients open no connection after /readyz has failed, so refused connections do not
 * count.
 *
 * `ISOTHERM_SOAK_STOPS=20` sets the number of shutdowns.
 */
import { setTimeout } from "node:timers/promises";
import { expect, test } from "vitest";
import { dataFolder } from "../durability/dataFolder.ts";
import type { FaultName } from "../faults/faultNames.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";
import { KeepAliveConnection, requestBytes } from "./connection.ts";
import { batchRequest, pointRequest, type TestRequest } from "./requests.ts";
import { ledgerUnits, integerSetting, startServiceProcess, type ServiceProcess } from "./serviceProcess.ts";

const ROUNDS = integerSetting("STOPS", 2);
const SEED = integerSetting("SEED", 11);
const CLIENT_COUNT = 64;
const BATCH_CLIENT_COUNT = 8;
/**
 * The drain delay, in seconds. Must be longer than a busy machine may stall the process that runs all clients, which is
 * about a second.
 */
const FLAGS = ["--drain-delay", "5"];

const data = dataFolder("stops");

interface Round {
  sentCount: number;
  readonly responses: Map<number, number>;
  /** A description of each lost request. */
  readonly lost: string[];
  units: number;
}

/** One client: sends requests one after another until readiness fails. */
async function runClient(
  service: ServiceProcess,
  round: Round,
  options: {
    readonly random: SeededRandom;
    readonly nextRequest: () => TestRequest;
    readonly pauseMs: number;
    isReady(): boolean;
  },
): Promise<void> {
  while (options.isReady()) {
    const connection = await KeepAliveConnection.open(service.port).catch(() => undefined);
    if (connection === undefined) return;
    for (let nth = 1; !connection.isClosed; nth++) {
      const { bytes } = options.nextRequest();
      const sentMs = performance.now();
      round.sentCount++;
      const response = await connection.send(bytes);
      if (response === undefined) {
        const sinceMs = (performance.now() - sentMs).toFixed(0);
        round.lost.push(
          `request number ${nth} on its connection (${bytes.length} bytes), sent ${sinceMs} ms before the connection ended`,
        );
      } else if (response.status === 503 && !response.headers.has("retry-after")) throw new Error(response.body);
      else {
        round.responses.set(response.status, (round.responses.get(response.status) ?? 0) + 1);
        round.units += Number(response.headers.get("x-usage-units") ?? 0);
      }
      if (options.pauseMs > 0) await setTimeout(options.random.between({ min: 0, max: options.pauseMs }));
    }
    connection.close();
  }
}

/** Starts a service, puts it under load from many clients, and stops it. */
async function stopUnderLoad(seed: number, fault?: FaultName): Promise<Round & { readonly code: number | null }> {
  const service = await startServiceProcess(data(), { flags: FLAGS, fault });
  const round: Round = { sentCount: 0, responses: new Map(), lost: [], units: 0 };
  const random = randomFrom(seed);
  // Warm up: generating the demo data takes longer than anything else.
  const first = await KeepAliveConnection.open(service.port);
  const warmUp = await first.send(batchRequest(random, { headers: service.headers, count: 500 }).bytes);
  round.units += Number(warmUp?.headers.get("x-usage-units"));
  for (let i = 0; i < 50; i++) {
    const response = await first.send(pointRequest(random, service.headers).bytes);
    round.units += Number(response?.headers.get("x-usage-units"));
  }
  first.close();
  let isReady = true;
  const clients = Array.from({ length: CLIENT_COUNT }, (_, index) => {
    const clientRandom = randomFrom(seed * 1000 + index);
    const sendsBatches = index < BATCH_CLIENT_COUNT;
    const requests = Array.from({ length: sendsBatches ? 3 : 50 }, () =>
      sendsBatches
        ? batchRequest(clientRandom, { headers: service.headers, count: 500 })
        : pointRequest(clientRandom, service.headers),
    );
    return runClient(service, round, {
      random: clientRandom,
      nextRequest: () => clientRandom.pick(requests),
      // Some clients pause between requests, so that their connections are sometimes idle.
      pauseMs: index % 4 === 3 ? 20 : 0,
      isReady: () => isReady,
    });
  });
  const polling = (async () => {
    while (isReady) {
      const connection = await KeepAliveConnection.open(service.port).catch(() => undefined);
      const response = await connection?.send(requestBytes("GET /readyz", { headers: {} }));
      connection?.close();
      isReady = response?.status === 200;
      await setTimeout(20);
    }
  })();
  await setTimeout(random.between({ min: 500, max: 1500 }));
  await service.stop();
  await Promise.all([...clients, polling]);
  return { ...round, code: (await service.exited).code };
}

test(
  `${ROUNDS} shutdowns under load from ${CLIENT_COUNT} clients lose no requests`,
  { timeout: 60_000 + ROUNDS * 30_000 },
  async () => {
    let units = 0;
    let sentCount = 0;
    let refusedCount = 0;
    for (let index = 0; index < ROUNDS; index++) {
      const round = await stopUnderLoad(SEED + index);
      units += round.units;
      sentCount += round.sentCount;
      const { responses } = round;
      const [answered = 0, refused = 0] = [responses.get(200), responses.get(503)];
      expect([round.lost, round.code, answered + refused]).toStrictEqual([[], 0, round.sentCount]);
      // Under overload, responses are 503 with a Retry-After header, and their clients retry at once.
      expect(answered).toBeGreaterThan(0);
      refusedCount += refused;
    }
    // The ledger holds exactly the units that were reported.
    const service = await startServiceProcess(data());
    expect(await ledgerUnits(service)).toBe(units);
    await service.stop();
    console.log(
      `${ROUNDS} shutdowns under load from ${CLIENT_COUNT} clients: ${sentCount} requests, 0 lost, ${refusedCount} refused, ${units} units reported and recorded`,
    );
  },
);

test("a plain server.close() loses requests", { timeout: 120_000 }, async () => {
  const { lost, sentCount } = await stopUnderLoad(SEED, "closes-without-draining");
  console.log(`A plain server.close(): ${lost.length} of ${sentCount} requests lost`);
  expect(lost.length).toBeGreaterThan(0);
});
