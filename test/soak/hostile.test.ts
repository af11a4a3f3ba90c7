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
import { heardIn, KeptConnection, requestBytes } from "./connection.ts";
import { getQuestion } from "./questions.ts";
import { randomFrom } from "../seededRandom.ts";
import { countedUnits, sizeOf, toldOf, watchedService, type WatchedService } from "./watched.ts";

const COUNT = sizeOf("HOSTILE", 60);
const IS_FULL = COUNT >= 200;
const SLACK_BYTES = 8 << 20;

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
    ]);
    service = await watchedService(data, { built: hasty.built });
  }
});
afterAll(async () => {
  await service.stop();
  expect(await service.ended).toStrictEqual({ code: 0, signal: null });
  await hasty?.done();
  await rm(data, { recursive: true, force: true });
});

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

test("clients that ask for much and never read", { timeout: 300_000 }, async () => {
  await beside(`${COUNT} that never read`, async () => {
    const body = JSON.stringify(Array.from({ length: 4000 }, () => ENTITY));
    const { apiKey, customerIds } = await withLedger({ data }, (ledger) =>
      newAccount(ledger, { name: "Never reads", internalIds: ["never"] }),
    );
    const headers = { "X-API-Key": apiKey, "X-Customer-ID": String(customerIds[0]) };
    const asked = requestBytes("POST /api/v1/temperature-alignment-projections?detail=true", { headers, body });
    let mostBytes = 0;
    const sockets = Array.from({ length: COUNT }, () => {
      const socket = connect({ host: "127.0.0.1", port: service.port });
      socket.on("error", () => undefined).pause();
      socket.write(asked);
      return socket;
    });
    const untilMs = performance.now() + 90_000;
    do {
      await setTimeout(500);
      mostBytes = Math.max(mostBytes, await service.residentBytes());
    } while ((await service.holding()).descriptorCount > 60 && performance.now() < untilMs);
    console.log(`At most ${(mostBytes / 2 ** 20).toFixed(0)} MiB resident`);
    expect(mostBytes).toBeLessThan(1.5 * 2 ** 30);
    for (const socket of sockets) socket.destroy();
  });
});
