/**
 * Many clients at once that mean no good: what the host promises of each of them (test/host/wire.test.ts) must hold beside
 * hundreds of others too, while whoever asks decently is answered, and none of it may stay behind.
 *
 * `ISOTHERM_SOAK_HOSTILE=300` opens so many connections of each kind; from 200 on the service is as patient as it is
 * shipped, before that it waits for a second or two where it would for half a minute.
 */
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { builtWith, newAccount, withLedger } from "../durability/service.ts";
import { ENTITY } from "../host/entities.ts";
import { heardIn, KeptConnection, requestBytes, times } from "./connection.ts";
import { getQuestion } from "./questions.ts";
import { randomFrom } from "../seededRandom.ts";
import { countedUnits, sizeOf, toldOf, watchedService, type WatchedService } from "./watched.ts";

const COUNT = sizeOf("HOSTILE", 60);
const IS_FULL = COUNT >= 200;
const SLACK_BYTES = 8 << 20;
const ASKING_AT_ONCE = 8;
/** Answers that one account may leave unread, and what is held for those of 12 MB that are made meanwhile. */
const HELD_BYTES_MAX = (256 + 32 * ASKING_AT_ONCE) * 2 ** 20;

let data: string;
let service: WatchedService;
let hasty: Awaited<ReturnType<typeof builtWith>> | undefined;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-hostile-"));
  if (IS_FULL) service = await watchedService(data);
  else {
    hasty = await builtWith([
      { file: "host/server.js", from: "headersTimeoutMs: 5_000", to: "headersTimeoutMs: 1_500" },
      { file: "host/server.js", from: "requestTimeoutMs: 30_000", to: "requestTimeoutMs: 2_000" },
      { file: "host/server.js", from: "silenceTimeoutMs: 35_000", to: "silenceTimeoutMs: 4_000" },
      { file: "host/server.js", from: "drainTimeoutMs: 30_000", to: "drainTimeoutMs: 1_000" },
    ]);
    service = await watchedService(data, { built: hasty.built });
  }
});
// More than the half a minute for which a stop may wait.
afterAll(async () => {
  await service.stop();
  expect(await service.ended).toStrictEqual({ code: 0, signal: null });
  await hasty?.done();
  await rm(data, { recursive: true, force: true });
}, 120_000);

/** One connection, and all that comes over it until the server ends it. */
async function opened(): Promise<{ readonly socket: Socket; readonly heard: Promise<string> }> {
  const socket = connect({ host: "127.0.0.1", port: service.port, noDelay: true });
  socket.on("error", () => undefined);
  await once(socket, "connect");
  let text = "";
  socket.setEncoding("latin1").on("data", (piece: string) => (text += piece));
  return { socket, heard: once(socket, "close").then(() => text) };
}

/** Somebody decent, meanwhile: how many were answered, and the slowest of them, milliseconds. */
function decently(): { stop(): Promise<{ readonly answered: number; readonly slowestMs: number }> } {
  const over = new AbortController();
  let answered = 0;
  let slowestMs = 0;
  const asking = (async () => {
    const { bytes } = getQuestion(randomFrom(1), service.headers);
    const connection = await KeptConnection.open(service.port);
    while (!over.signal.aborted) {
      const sentMs = performance.now();
      const answer = await connection.ask(bytes);
      expect(answer?.status).toBe(200);
      slowestMs = Math.max(slowestMs, performance.now() - sentMs);
      answered++;
      await setTimeout(10);
    }
    connection.end();
  })();
  return {
    async stop() {
      over.abort();
      await asking;
      return { answered, slowestMs };
    },
  };
}

async function beside(what: string, act: () => Promise<void>): Promise<void> {
  await countedUnits(service);
  const before = await service.holding();
  const decent = decently();
  await act();
  const { answered, slowestMs } = await decent.stop();
  await setTimeout(2500);
  const after = await service.holding();
  console.log(
    `${what}: beside them ${answered} answered, the slowest after ${slowestMs.toFixed(0)} ms; ` +
      `before ${toldOf(before)}; after ${toldOf(after)}`,
  );
  expect(answered).toBeGreaterThan(0);
  expect(after.descriptorCount).toBeLessThanOrEqual(before.descriptorCount + 4);
  expect(after.reachableBytes - before.reachableBytes).toBeLessThan(SLACK_BYTES);
}

const problemsIn = (text: string): readonly (readonly [number, string])[] =>
  heardIn(text, { mayBeHeads: false }).answers.map(({ status, body }) => [
    status,
    (JSON.parse(body) as { readonly code?: string }).code ?? "",
  ]);

test("10,000 requests sent ahead, on several connections at once", { timeout: 120_000 }, async () => {
  await beside("10,000 ahead", async () => {
    const ahead = Buffer.concat(
      Array.from({ length: 10_000 }, () => requestBytes("GET /api/v1/limits", { headers: service.headers })),
    );
    await Promise.all(
      Array.from({ length: Math.ceil(COUNT / 20) }, async () => {
        const { socket, heard } = await opened();
        socket.write(ahead);
        const { answers } = heardIn(await heard, { mayBeHeads: false });
        expect(answers.length).toBeLessThan(100);
        expect(new Set(answers.map(({ status }) => status))).toStrictEqual(new Set([200]));
        expect(answers.at(-1)?.headers.get("connection")).toBe("close");
      }),
    );
  });
});

test("heads that come byte by byte, for ever", { timeout: 120_000 }, async () => {
  await beside(`${COUNT} slow heads`, async () => {
    await Promise.all(
      Array.from({ length: COUNT }, async (_, index) => {
        const { socket, heard } = await opened();
        socket.write("GET /healthz HTTP/1.1\r\nX: ");
        const drip = setInterval(() => socket.write("x"), 150 + (index % 100));
        const text = await heard;
        clearInterval(drip);
        expect(problemsIn(text)).toStrictEqual([[408, "request_timeout"]]);
      }),
    );
  });
});

test("connections that come, ask for a tunnel and are reset", { timeout: 120_000 }, async () => {
  await beside(`${10 * COUNT} resets`, async () => {
    for (let round = 0; round < 10; round++) {
      await Promise.all(
        Array.from({ length: COUNT }, async (_, index) => {
          const { socket, heard } = await opened();
          const line = ["CONNECT h:443 HTTP/1.1", "GET /healthz HTTP/1.1", "POST /analyze/total-climate-risk HTTP/1.1"];
          const fields = `Host: h\r\nX-API-Key: ${service.headers["X-API-Key"]}\r\nContent-Length: 5\r\n`;
          socket.write(`${line[index % 3]}\r\n${fields}\r\n`);
          await setTimeout(index % 5);
          socket.resetAndDestroy();
          await heard;
        }),
      );
    }
  });
});

test("bodies that come byte by byte, for ever", { timeout: 180_000 }, async () => {
  await beside(`${COUNT} slow bodies`, async () => {
    await Promise.all(
      Array.from({ length: COUNT }, async (_, index) => {
        const { socket, heard } = await opened();
        const body = "x".repeat(1000);
        const whole = requestBytes("POST /api/v1/temperature-alignment-projections", {
          headers: service.headers,
          body,
        });
        socket.write(whole.subarray(0, whole.length - 1000));
        const drip = setInterval(() => socket.write(" "), 300 + index);
        const text = await heard;
        clearInterval(drip);
        expect(problemsIn(text)).toStrictEqual([[408, "request_timeout"]]);
      }),
    );
  });
});

/** What is answered with 12 MB. */
function muchAsked(headers: Readonly<Record<string, string>>): Buffer {
  const body = JSON.stringify(Array.from({ length: 4000 }, () => ENTITY));
  return requestBytes("POST /api/v1/temperature-alignment-projections?detail=true", { headers, body });
}

test("clients that ask for much and never read", { timeout: 400_000 }, async () => {
  await beside(`${COUNT} that never read`, async () => {
    const { apiKey, customerIds } = await withLedger({ data }, (ledger) =>
      newAccount(ledger, { name: "Never reads", internalIds: ["never"] }),
    );
    const asked = muchAsked({ "X-API-Key": apiKey, "X-Customer-ID": String(customerIds[0]) });
    const before = await service.holding();
    const sockets: Socket[] = [];
    const allAsked = new AbortController();
    try {
      // Not all at once: most would be refused for that.
      const asking = times(COUNT, { atOnce: ASKING_AT_ONCE }, async () => {
        const socket = connect({ host: "127.0.0.1", port: service.port });
        sockets.push(socket);
        socket.write(asked);
        // Learns that it is answered, and reads no more than that.
        await new Promise<void>((resolve) => {
          socket
            .once("readable", resolve)
            .once("close", resolve)
            .on("error", () => undefined);
        });
      }).finally(() => allAsked.abort());
      let most = before;
      let residentBytes = 0;
      let descriptorCount = Infinity;
      // Who is refused is idle then, and is kept for 75 s.
      const untilMs = performance.now() + 240_000;
      while ((!allAsked.signal.aborted || descriptorCount > 60) && performance.now() < untilMs) {
        await setTimeout(500);
        residentBytes = Math.max(residentBytes, await service.residentBytes());
        const holding = await service.holding();
        if (holding.reachableBytes > most.reachableBytes) most = holding;
        ({ descriptorCount } = holding);
      }
      await asking;
      console.log(`At most ${toldOf(most)}; ${(residentBytes / 2 ** 20).toFixed(0)} MiB resident before collecting`);
      expect(most.reachableBytes - before.reachableBytes).toBeLessThan(HELD_BYTES_MAX);
      expect(residentBytes).toBeLessThan(1.5 * 2 ** 30);
      expect(descriptorCount).toBeLessThanOrEqual(60);
    } finally {
      // Else the service would wait for them when it is told to stop.
      for (const socket of sockets) socket.destroy();
    }
  });
});

test("a service that is told to stop ends, whoever is still there", { timeout: 300_000 }, async () => {
  const own = await mkdtemp(join(tmpdir(), "isotherm-hostile-stop-"));
  const stopping = await watchedService(own, {
    flags: ["--drain-delay", "0.2"],
    ...(hasty === undefined ? {} : { built: hasty.built }),
  });
  const sockets: Socket[] = [];
  const drips: NodeJS.Timeout[] = [];
  try {
    const { headers } = stopping;
    const body = requestBytes("POST /analyze/total-climate-risk", { headers, body: "x".repeat(100_000) });
    const kinds: readonly { readonly bytes: Buffer | string; readonly drip?: string }[] = [
      { bytes: muchAsked(headers) },
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
      // Reads nothing, and does not end when it is ended.
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
    console.log(`Ended ${(performance.now() - sinceMs).toFixed(0)} ms after it was told to, beside ${COUNT} clients`);
    expect(await stopping.ended).toStrictEqual({ code: 0, signal: null });
  } finally {
    for (const drip of drips) clearInterval(drip);
    for (const socket of sockets) socket.destroy();
    await stopping.stop();
    await rm(own, { recursive: true, force: true });
  }
});
