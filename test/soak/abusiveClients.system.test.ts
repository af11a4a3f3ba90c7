/**
 * Many concurrent abusive clients. The limits that the host enforces for a single client
 * (test/host/http/protocol.system.test.ts) must also hold for hundreds of them, while well-behaved clients are served,
 * and no memory or descriptors may remain allocated.
 *
 * `ISOTHERM_SOAK_ABUSIVE_CLIENTS=300` opens 300 connections of each kind. With 200 or more, the service runs with its
 * real timeouts; with fewer, with timeouts of one or two seconds instead of half a minute.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newAccount, withLedger } from "../durability/service.ts";
import { ENTITY } from "../host/entities.ts";
import { parseResponses, KeepAliveConnection, requestBytes, runConcurrently } from "./connection.ts";
import { pointRequest } from "./requests.ts";
import { randomFrom } from "../seededRandom.ts";
import {
  ledgerUnits,
  integerSetting,
  formatUsage,
  startServiceProcess,
  type ServiceProcess,
} from "./serviceProcess.ts";

const COUNT = integerSetting("ABUSIVE_CLIENTS", 60);
/** Real timeouts with 200 or more clients. */
const TIMEOUTS = COUNT >= 200 ? undefined : "short-timeouts";
const SLACK_BYTES = 8 << 20;
const CONCURRENCY = 8;
/** Responses that one account may leave unread, plus memory for the 12 MB responses being built. */
const HELD_BYTES_MAX = (256 + 32 * CONCURRENCY) * 2 ** 20;

let data: string;
let service: ServiceProcess;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-abusive-"));
  service = await startServiceProcess(data, { fault: TIMEOUTS });
});
// A stop may take more than half a minute.
afterAll(async () => {
  await service.stop();
  expect(await service.exited).toStrictEqual({ code: 0, signal: null });
  await rm(data, { recursive: true, force: true });
}, 120_000);

/** Opens a connection and collects everything received until the server closes it. */
async function openConnection(): Promise<{ readonly socket: Socket; readonly received: Promise<string> }> {
  const socket = connect({ host: "127.0.0.1", port: service.port, noDelay: true });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  let text = "";
  socket.setEncoding("latin1").on("data", (chunk: string) => (text += chunk));
  // Not `once`, which rejects after a reset.
  const received = new Promise<string>((resolve) => socket.once("close", () => resolve(text)));
  return { socket, received };
}

/**
 * Runs a well-behaved client until stopped. Returns the number of responses and the slowest response time in
 * milliseconds.
 */
function startWellBehavedClient(): {
  stop(): Promise<{ readonly answeredCount: number; readonly slowestMs: number }>;
} {
  const stopped = new AbortController();
  let answeredCount = 0;
  let slowestMs = 0;
  const running = (async () => {
    const { bytes } = pointRequest(randomFrom(1), service.headers);
    const connection = await KeepAliveConnection.open(service.port);
    while (!stopped.signal.aborted) {
      const sentMs = performance.now();
      const response = await connection.send(bytes);
      expect(response?.status).toBe(200);
      slowestMs = Math.max(slowestMs, performance.now() - sentMs);
      answeredCount++;
      await setTimeout(10);
    }
    connection.close();
  })();
  return {
    async stop() {
      stopped.abort();
      await running;
      return { answeredCount, slowestMs };
    },
  };
}

async function checkDuring(label: string, attack: () => Promise<void>): Promise<void> {
  await ledgerUnits(service);
  const before = await service.resourceUsage();
  const client = startWellBehavedClient();
  await attack();
  const { answeredCount, slowestMs } = await client.stop();
  await setTimeout(2500);
  const after = await service.resourceUsage();
  console.log(
    `${label}: ${answeredCount} concurrent requests answered, slowest ${slowestMs.toFixed(0)} ms; ` +
      `before ${formatUsage(before)}; after ${formatUsage(after)}`,
  );
  expect(answeredCount).toBeGreaterThan(0);
  expect(after.descriptorCount).toBeLessThanOrEqual(before.descriptorCount + 4);
  expect(after.reachableBytes - before.reachableBytes).toBeLessThan(SLACK_BYTES);
}

const problemsIn = (text: string): readonly (readonly [number, string])[] =>
  parseResponses(text, { allowsHeadResponses: false }).responses.map(({ status, body }) => [
    status,
    (JSON.parse(body) as { readonly code?: string }).code ?? "",
  ]);

test("closes connections that pipeline 10,000 requests", { timeout: 120_000 }, async () => {
  await checkDuring("10,000 pipelined requests", async () => {
    const pipelined = Buffer.concat(
      Array.from({ length: 10_000 }, () => requestBytes("GET /api/v1/limits", { headers: service.headers })),
    );
    await Promise.all(
      Array.from({ length: Math.ceil(COUNT / 20) }, async () => {
        const { socket, received } = await openConnection();
        socket.write(pipelined);
        const { responses } = parseResponses(await received, { allowsHeadResponses: false });
        expect(responses.length).toBeLessThan(100);
        expect(responses.filter(({ status }) => status !== 200)).toStrictEqual([]);
      }),
    );
  });
});

test("times out headers that arrive byte by byte", { timeout: 120_000 }, async () => {
  await checkDuring(`${COUNT} slow headers`, async () => {
    await Promise.all(
      Array.from({ length: COUNT }, async (_, index) => {
        const { socket, received } = await openConnection();
        socket.write("GET /healthz HTTP/1.1\r\nX: ");
        const drip = setInterval(() => socket.write("x"), 150 + (index % 100));
        const text = await received;
        clearInterval(drip);
        expect(problemsIn(text)).toStrictEqual([[408, "request_timeout"]]);
      }),
    );
  });
});

test("survives connections that request a tunnel and are reset", { timeout: 120_000 }, async () => {
  await checkDuring(`${10 * COUNT} resets`, async () => {
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        Array.from({ length: COUNT }, async (_, index) => {
          const { socket, received } = await openConnection();
          const line = ["CONNECT h:443 HTTP/1.1", "GET /healthz HTTP/1.1", "POST /analyze/total-climate-risk HTTP/1.1"];
          const fields = `Host: h\r\nX-API-Key: ${service.headers["X-API-Key"]}\r\nContent-Length: 5\r\n`;
          socket.write(`${line[index % 3]}\r\n${fields}\r\n`);
          await setTimeout(index % 5);
          socket.resetAndDestroy();
          await received;
        }),
      );
    }
  });
});

test("times out bodies that arrive byte by byte", { timeout: 180_000 }, async () => {
  await checkDuring(`${COUNT} slow bodies`, async () => {
    await Promise.all(
      Array.from({ length: COUNT }, async (_, index) => {
        const { socket, received } = await openConnection();
        const body = "x".repeat(1000);
        const whole = requestBytes("POST /api/v1/temperature-alignment-projections", {
          headers: service.headers,
          body,
        });
        socket.write(whole.subarray(0, whole.length - 1000));
        const drip = setInterval(() => socket.write(" "), 300 + index);
        const text = await received;
        clearInterval(drip);
        expect(problemsIn(text)).toStrictEqual([[408, "request_timeout"]]);
      }),
    );
  });
});

/** Returns a request that has a 12 MB response. */
function largeResponseRequest(headers: Readonly<Record<string, string>>): Buffer {
  const body = JSON.stringify(Array.from({ length: 4000 }, () => ENTITY));
  return requestBytes("POST /api/v1/temperature-alignment-projections?detail=true", { headers, body });
}

test(
  "limits the memory held for clients that request large responses and never read them",
  { timeout: 400_000 },
  async () => {
    await checkDuring(`${COUNT} clients that never read`, async () => {
      const { apiKey, customerIds } = await withLedger({ data }, (ledger) =>
        newAccount(ledger, { name: "Never reads", internalIds: ["never"] }),
      );
      const requestText = largeResponseRequest({ "X-API-Key": apiKey, "X-Customer-ID": String(customerIds[0]) });
      const before = await service.resourceUsage();
      const sockets: Socket[] = [];
      const allSent = new AbortController();
      try {
        // Limited concurrency, because most of the connections would otherwise be rejected.
        const sending = runConcurrently(COUNT, { concurrency: CONCURRENCY }, async () => {
          const socket = connect({ host: "127.0.0.1", port: service.port });
          sockets.push(socket);
          socket.write(requestText);
          // Waits for the response to start, and reads no further.
          await new Promise<void>((resolve) => {
            socket
              .once("readable", resolve)
              .once("close", resolve)
              .on("error", () => undefined);
          });
        }).finally(() => allSent.abort());
        let peak = before;
        let residentBytes = 0;
        let descriptorCount = Infinity;
        // Rejected connections are then idle and stay open for 75 s.
        const deadlineMs = performance.now() + 240_000;
        while ((!allSent.signal.aborted || descriptorCount > 60) && performance.now() < deadlineMs) {
          await setTimeout(500);
          residentBytes = Math.max(residentBytes, await service.residentBytes());
          const usage = await service.resourceUsage();
          if (usage.reachableBytes > peak.reachableBytes) peak = usage;
          ({ descriptorCount } = usage);
        }
        await sending;
        console.log(
          `Peak ${formatUsage(peak)}; ${(residentBytes / 2 ** 20).toFixed(0)} MiB resident before garbage collection`,
        );
        expect(peak.reachableBytes - before.reachableBytes).toBeLessThan(HELD_BYTES_MAX);
        expect(residentBytes).toBeLessThan(1.5 * 2 ** 30);
        expect(descriptorCount).toBeLessThanOrEqual(60);
      } finally {
        // Otherwise the service would wait for these connections when it is stopped.
        for (const socket of sockets) socket.destroy();
      }
    });
  },
);

test("exits on SIGTERM regardless of what its clients do", { timeout: 300_000 }, async () => {
  const stopData = await mkdtemp(join(tmpdir(), "isotherm-stop-"));
  const stopping = await startServiceProcess(stopData, {
    flags: ["--drain-delay", "0.2"],
    fault: TIMEOUTS,
  });
  const sockets: Socket[] = [];
  const drips: NodeJS.Timeout[] = [];
  try {
    const { headers } = stopping;
    const body = requestBytes("POST /analyze/total-climate-risk", { headers, body: "x".repeat(100_000) });
    const kinds: readonly { readonly bytes: Buffer | string; readonly drip?: string }[] = [
      { bytes: largeResponseRequest(headers) },
      { bytes: "GET /healthz HTTP/1.1\r\nX: ", drip: "x" },
      { bytes: body.subarray(0, body.length - 90_000), drip: " " },
      { bytes: "CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n", drip: "x" },
      { bytes: "no HTTP\r\n\r\n", drip: "x" },
      { bytes: requestBytes("GET /api/v1/limits", { headers }) },
      { bytes: Buffer.concat(Array.from({ length: 200 }, () => requestBytes("GET /docs", { headers }))) },
      { bytes: "" },
    ];
    for (let index = 0; index < COUNT; index++) {
      const { bytes, drip } = kinds[index % kinds.length] as (typeof kinds)[number];
      // Reads nothing, and does not close its side when the server does.
      const socket = connect({ host: "127.0.0.1", port: stopping.port, allowHalfOpen: true });
      socket.on("error", () => undefined).pause();
      await once(socket, "connect");
      socket.write(bytes);
      sockets.push(socket);
      if (drip !== undefined) drips.push(setInterval(() => socket.write(drip), 100));
    }
    await setTimeout(500);
    const sinceMs = performance.now();
    await stopping.stop();
    console.log(`Exited ${(performance.now() - sinceMs).toFixed(0)} ms after SIGTERM, with ${COUNT} clients connected`);
    expect(await stopping.exited).toStrictEqual({ code: 0, signal: null });
  } finally {
    for (const drip of drips) clearInterval(drip);
    for (const socket of sockets) socket.destroy();
    await stopping.stop();
    await rm(stopData, { recursive: true, force: true });
  }
});
