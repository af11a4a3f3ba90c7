/** CSV reports of clients that do not read them. */
import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { HEADER_LINES, startTestHost, type TestHost } from "../testHost.ts";

const TARGET = "/latest/api/v1/usage?format=csv";
const STREAM_COUNT_MAX = 2;
/** More than the buffers of a connection hold. */
const PAGE_TEXT = "x".repeat(32 << 20);

let host: TestHost;
let pageCount: number;
const sockets: Socket[] = [];
beforeEach(async () => {
  host = await startTestHost({ load: { streamsPerAccountMax: STREAM_COUNT_MAX } });
  pageCount = 0;
  host.ledger.usageCsv = () => {
    pageCount++;
    return Promise.resolve({ text: PAGE_TEXT, lineCount: 1, next: "next" });
  };
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await host.close({ drainDelayMs: 0 });
});

/** Requests a report, and reads nothing after the first bytes of the response. @returns the socket and the first bytes */
function requestUnread(): Promise<string> {
  const socket = connect(host.address.port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => undefined);
  socket.write(`GET ${TARGET} HTTP/1.1\r\nHost: h\r\n${HEADER_LINES.join("\r\n")}\r\n\r\n`);
  return new Promise((resolve) => {
    socket.once("data", (bytes) => {
      socket.pause();
      resolve(bytes.toString("latin1"));
    });
  });
}

test("hold one page each, and a limited number of them is sent to an account", async () => {
  for (let i = 0; i < STREAM_COUNT_MAX; i++) expect(await requestUnread()).toMatch(/^HTTP\/1\.1 200 /);
  const rejected = await host.ask(TARGET);
  expect([rejected.status, rejected.headers.get("Retry-After")]).toEqual([503, "1"]);
  expect(await rejected.json()).toMatchObject({ code: "overloaded", retryable: true });
  // Pages beyond the first ones would have been requested before the responses began.
  expect(pageCount).toBe(STREAM_COUNT_MAX);
  expect((await host.ask("/latest/api/v1/usage")).status).toBe(200);

  for (const socket of sockets) socket.destroy();
  host.ledger.usageCsv = () => Promise.resolve({ text: "a\r\n", lineCount: 1 });
  await expect.poll(async () => (await host.ask(TARGET)).status, { timeout: 60_000 }).toBe(200);
});

test("count no more once they have been read, rejected or requested with HEAD", async () => {
  host.ledger.usageCsv = () => Promise.resolve({ text: "a\r\n", lineCount: 1 });
  for (let i = 0; i < 3 * STREAM_COUNT_MAX; i++) {
    expect(await (await host.ask(TARGET)).text()).toMatch(/\r\na\r\n$/);
    expect((await host.ask(TARGET, { method: "HEAD" })).status).toBe(200);
  }
  host.ledger.usageCsv = () => Promise.reject(new Error("broken"));
  for (let i = 0; i < 3 * STREAM_COUNT_MAX; i++) expect((await host.ask(TARGET)).status).toBe(500);
});
