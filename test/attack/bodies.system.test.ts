/**
 * Request bodies that are sent so that they cost more than their size. `ISOTHERM_ATTACK_CHUNKS` sets the number of chunks of
 * one byte. A million of them take 20 s; a request has 30 s.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ENTITY } from "../host/entities.ts";
import { HEADERS, startTestHost } from "../host/testHost.ts";
import { type ServiceProcess, startServiceProcess } from "../soak/serviceProcess.ts";
import { attackSize } from "./attackSize.ts";
import { headOf, openRawConnection, writeAll } from "./rawConnection.ts";

const CHUNK_COUNT = attackSize("CHUNKS", { small: 200_000, full: 1_000_000 });
const PATH = "/api/v1/temperature-alignment-projections";
/** Memory of the connection, and twice the payload: the buffer has up to twice the size of its content. */
const heldBytesMax = (payloadBytes: number): number => (8 << 20) + 2 * payloadBytes;
/** The heap grows by less than this while the chunks are read. */
const RESIDENT_GROWTH_MAX = 256 << 20;

let data: string;
let service: ServiceProcess;
beforeAll(async () => {
  data = await mkdtemp(join(tmpdir(), "isotherm-attack-"));
  service = await startServiceProcess(data, { flags: ["--workers", "1"] });
});
afterAll(async () => {
  await service.stop();
  await rm(data, { recursive: true, force: true });
});

const postHead = (fields: Readonly<Record<string, string>>): string =>
  headOf(`POST ${PATH}`, { ...service.headers, "Content-Type": "application/json", ...fields });

test("chunks of one byte hold no more memory than their content", { timeout: 180_000 }, async () => {
  const before = await service.resourceUsage();
  const { socket, received, closed } = await openRawConnection(service.port);
  socket.write(postHead({ "Transfer-Encoding": "chunked" }));
  const chunks = Buffer.from("1\r\n \r\n".repeat(10_000));
  const startMs = performance.now();
  for (let sent = 0; sent < CHUNK_COUNT; sent += 10_000) await writeAll(socket, chunks);
  const sentMs = performance.now() - startMs;
  // The system may still buffer some of the chunks.
  await setTimeout(1_500);
  const during = await service.resourceUsage();
  const heldBytes = during.reachableBytes - before.reachableBytes;
  console.log(
    `${CHUNK_COUNT} chunks of one byte in ${(sentMs / 1000).toFixed(1)} s: ${(heldBytes / 2 ** 20).toFixed(1)} MiB ` +
      `reachable, resident ${(before.residentBytes / 2 ** 20).toFixed(0)} -> ${(during.residentBytes / 2 ** 20).toFixed(0)} MiB`,
  );
  expect(received()).toBe("");
  expect(heldBytes).toBeLessThan(heldBytesMax(CHUNK_COUNT));
  expect(during.residentBytes - before.residentBytes).toBeLessThan(RESIDENT_GROWTH_MAX + heldBytesMax(CHUNK_COUNT));
  socket.destroy();
  await closed;
});

test("a body below the minimum rate is rejected, a slow one above it is read", { timeout: 60_000 }, async () => {
  const host = await startTestHost({ timeouts: { bodyBytesPerSMin: 1_000, bodyGraceMs: 500 } });
  try {
    /** Sends the first part of a body at once, and the rest in small parts until it is complete or rejected. */
    const send = async (bodyBytes: number, firstBytes: number): Promise<string> => {
      const { socket, closed } = await openRawConnection(host.address.port);
      const body = JSON.stringify([ENTITY]).padEnd(bodyBytes, " ");
      const fields = { ...HEADERS, "Content-Type": "application/json", "Content-Length": String(body.length) };
      socket.write(headOf(`POST ${PATH}`, { ...fields, Connection: "close" }));
      await writeAll(socket, body.slice(0, firstBytes));
      for (let from = firstBytes; from < body.length && !socket.destroyed; from += 20) {
        await setTimeout(100);
        await writeAll(socket, body.slice(from, from + 20));
      }
      return closed;
    };
    // The first has 100 s at the minimum rate for its last second; the second sends much less than the minimum, without end.
    const [fast, slow] = await Promise.all([send(100_200, 100_000), send(100_000, 20)]);
    expect(slow).toMatch(/^HTTP\/1.1 408 /);
    expect(slow).toContain("at least 1000 bytes per second");
    expect(fast).toMatch(/^HTTP\/1.1 200 /);
  } finally {
    await host.close();
  }
});

test("the memory of bodies is counted as they arrive, in chunks of any size", async () => {
  const host = await startTestHost({ load: { totalBodyBytesMax: 256 << 10 } });
  try {
    const fields = { ...HEADERS, "Content-Type": "application/json", "Transfer-Encoding": "chunked" };
    const sizes = [1, 7, 1_000];
    const connections = await Promise.all(
      sizes.map(async (chunkBytes) => {
        const connection = await openRawConnection(host.address.port);
        await writeAll(connection.socket, headOf(`POST ${PATH}`, fields));
        const chunk = `${chunkBytes.toString(16)}\r\n${" ".repeat(chunkBytes)}\r\n`;
        await writeAll(connection.socket, chunk.repeat(Math.ceil(100_000 / chunkBytes)));
        return connection;
      }),
    );
    // Each holds 128 KiB for 100,000 bytes, and one account may hold 128 KiB.
    const statuses = (): readonly string[] => connections.map(({ received }) => received().slice(9, 12)).toSorted();
    await expect.poll(statuses).toStrictEqual(["", "503", "503"]);
    for (const { socket } of connections) socket.destroy();
  } finally {
    await host.close();
  }
});
