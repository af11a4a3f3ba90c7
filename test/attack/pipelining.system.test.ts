/**
 * Clients with a valid key that pipeline requests without end, or long bodies and bodies in short chunks, behind a request in progress, which
 * is never answered.
 * `ISOTHERM_ATTACK_PIPELINING_CLIENTS` sets the number of their connections, and `ISOTHERM_ATTACK_PIPELINED_REQUESTS` how
 * many requests each of them sends.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { QUERY_TARGET } from "../host/testHost.ts";
import { randomFrom } from "../seededRandom.ts";
import { parseResponses } from "../soak/connection.ts";
import { type ServiceProcess, startServiceProcess } from "../soak/serviceProcess.ts";
import { attackSize } from "./attackSize.ts";
import { headOf, openRawConnection, type RawConnection, writeAll } from "./rawConnection.ts";
import { ServiceMetrics } from "./serviceMetrics.ts";

const CLIENT_COUNT = attackSize("PIPELINING_CLIENTS", { small: 6, full: 200 });
const REQUEST_COUNT = attackSize("PIPELINED_REQUESTS", { small: 20_000, full: 200_000 });
const HONEST_COUNT_MIN = 50;
/** A batch that has not been read in this time stays unread. */
const UNREAD_MS = 1_000;
/** What a client may hold besides its first request, and what the measurement varies by. */
const CLIENT_BYTES_MAX = 256 << 10;
const SLACK_BYTES = 4 << 20;

let data: string;
let service: ServiceProcess;
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-attack-"));
  service = await startServiceProcess(data, { fault: "never-answers", flags: ["--admin-port", "0"] });
}, 120_000);
afterEach(async () => {
  // Connections that are no longer read are closed at the end of the drain timeout of 30 s.
  await service.stop();
  await rm(data, { recursive: true, force: true });
}, 120_000);

/** Sends requests in batches of random size until the service closes the connection or reads it no further. */
async function flood({ socket }: RawConnection, request: Buffer, { seed, count }: { seed: number; count: number }) {
  const random = randomFrom(seed);
  for (let leftCount = count; leftCount > 0 && !socket.destroyed;) {
    const batchCount = Math.min(leftCount, 1 + random.below(Math.ceil(count / 10)));
    const batch = Buffer.concat(Array.from({ length: batchCount }, () => request));
    await Promise.race([writeAll(socket, batch), setTimeout(UNREAD_MS)]);
    leftCount -= batchCount;
  }
}

/**
 * Sends one request after the other on a connection.
 * @returns a function that stops, and returns the number of requests and the responses to them
 */
function startHonestClient() {
  const stopped = new AbortController();
  const run = async () => {
    const { socket, received } = await openRawConnection(service.port);
    const responses = () => parseResponses(received(), { allowsHeadResponses: false }).responses;
    let count = 0;
    while (count < HONEST_COUNT_MIN || !stopped.signal.aborted) {
      socket.write(headOf("GET /api/v1/limits", service.headers));
      count++;
      await expect.poll(() => responses().length, { interval: 5, timeout: 120_000 }).toBe(count);
    }
    socket.destroy();
    return { count, statuses: responses().map(({ status }) => status) };
  };
  const finished = run();
  return () => {
    stopped.abort();
    return finished;
  };
}

test.each([
  ["short requests", 0, REQUEST_COUNT],
  ["requests with long headers", 10_000, Math.ceil(REQUEST_COUNT / 100)],
])("%s that are pipelined without end hold no memory", { timeout: 1_200_000 }, async (name, paddingBytes, count) => {
  const metrics = new ServiceMetrics(service);
  const clients = await Promise.all(Array.from({ length: CLIENT_COUNT }, () => openRawConnection(service.port)));
  for (const { socket } of clients) socket.write(headOf(`GET ${QUERY_TARGET}`, service.headers));
  await expect.poll(() => metrics.value("isotherm_requests_open"), { timeout: 120_000 }).toBe(CLIENT_COUNT);
  const before = await service.resourceUsage();

  const stopHonestClient = startHonestClient();
  const request = Buffer.from(headOf("GET /x", paddingBytes === 0 ? {} : { "X-Padding": "x".repeat(paddingBytes) }));
  await Promise.all(clients.map((client, seed) => flood(client, request, { seed, count })));
  const honest = await stopHonestClient();
  const after = await service.resourceUsage();
  const heldBytes = after.reachableBytes - before.reachableBytes;
  console.log(
    `${CLIENT_COUNT} clients, up to ${count} ${name} of ${request.length} bytes each: ` +
      `${(heldBytes / 2 ** 20).toFixed(1)} MiB more reachable`,
  );
  expect(heldBytes).toBeLessThan(CLIENT_COUNT * CLIENT_BYTES_MAX + SLACK_BYTES);
  expect(honest.statuses).toHaveLength(honest.count);
  expect(honest.statuses.filter((status) => status !== 200)).toStrictEqual([]);
  for (const { socket } of clients) socket.destroy();
  const received = await Promise.all(clients.map(({ closed }) => closed));
  expect(received.filter((text) => text !== "")).toStrictEqual([]);
});

const CHUNKED = { "Content-Type": "application/json", "Transfer-Encoding": "chunked" };
const chunkedHead = headOf("POST /x", CHUNKED);
const chunksOfOneByte = (count: number): string => "1\r\nx\r\n".repeat(count);
const postHeadOf = (sizeBytes: number): string =>
  headOf("POST /x", { "Content-Type": "application/json", "Content-Length": String(sizeBytes) });
const completePost = postHeadOf(20_000) + "x".repeat(20_000);

test.each([
  ["one in chunks of one byte", chunkedHead + chunksOfOneByte(40_000)],
  ["one in chunks of one byte, behind another", headOf("GET /x", {}) + chunkedHead + chunksOfOneByte(40_000)],
  ["a long one", postHeadOf(1e9) + "x".repeat(4 << 20)],
  ["a long one behind a complete one", completePost + postHeadOf(1e9) + "x".repeat(4 << 20)],
])("pipelined bodies hold no memory: %s", { timeout: 1_200_000 }, async (name, text) => {
  const metrics = new ServiceMetrics(service);
  const clients = await Promise.all(Array.from({ length: CLIENT_COUNT }, () => openRawConnection(service.port)));
  for (const { socket } of clients) socket.write(headOf(`GET ${QUERY_TARGET}`, service.headers));
  await expect.poll(() => metrics.value("isotherm_requests_open"), { timeout: 120_000 }).toBe(CLIENT_COUNT);
  const before = await service.resourceUsage();

  const bytes = Buffer.from(text);
  // The service stops reading a connection before all is sent.
  for (const { socket } of clients) socket.write(bytes);
  const stopHonestClient = startHonestClient();
  expect((await stopHonestClient()).statuses.filter((status) => status !== 200)).toStrictEqual([]);
  const after = await service.resourceUsage();
  const heldBytes = after.reachableBytes - before.reachableBytes;
  console.log(`${CLIENT_COUNT} clients, ${name}: ${(heldBytes / 2 ** 20).toFixed(1)} MiB more reachable`);
  expect(heldBytes).toBeLessThan(CLIENT_COUNT * CLIENT_BYTES_MAX + SLACK_BYTES);
  for (const { socket } of clients) socket.destroy();
});
