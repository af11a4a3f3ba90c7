import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { parametersOf, queryTextOf, RIGHT } from "../hazard/queries.ts";
import { answersIn, atlasOf, exchangeBytes, HEADER_LINES, type Hosted, hosted, quarters } from "./hosting.ts";

const TARGET = `/api/v1/hazard-risk?${queryTextOf(parametersOf(RIGHT))}`;
const head = (target: string, ...fields: string[]): string =>
  [`GET ${target} HTTP/1.1`, "Host: h", ...HEADER_LINES, ...fields, "", ""].join("\r\n");
const LAST = "Connection: close";

let host: Hosted;
beforeAll(async () => {
  host = await hosted();
});
afterEach(() => {
  vi.restoreAllMocks();
});
afterAll(async () => {
  await host.close();
});

describe("what Node lets through", () => {
  test.each([
    [
      "an upgrade to WebSocket is not offered: the request is answered",
      ["Upgrade: websocket", "Connection: upgrade, close"],
    ],
    [
      "an upgrade to HTTP/2 neither",
      ["Upgrade: h2c", "HTTP2-Settings: AAMAAABkAAQAAP__", "Connection: upgrade, close"],
    ],
    ["an expectation that nobody knows is no reason to refuse", ["Expect: the-unexpected", LAST]],
    ["trailers may be announced", ["TE: trailers", LAST]],
  ])("%s", async (_what, fields) => {
    const [answer] = answersIn(await exchangeBytes(host.address.port, head(TARGET, ...fields)));
    expect([answer?.status, answer?.body]).toStrictEqual([200, JSON.stringify(quarters(RIGHT))]);
    expect(answer?.headers.has("upgrade")).toBe(false);
  });

  test("HTTP/1.0 without a Host is answered, and its connection ends", async () => {
    const lines = [`GET ${TARGET} HTTP/1.0`, ...HEADER_LINES, "", ""];
    const text = await exchangeBytes(host.address.port, lines.join("\r\n"));
    expect(answersIn(text).map(({ status }) => status)).toStrictEqual([200]);
  });

  test("null characters and spaces in an address are an address that is not there", async () => {
    for (const path of [
      "/api/v1/hazard-risk%00",
      "/api/v1/%20hazard-risk",
      "/api/v1//hazard-risk",
      "/api/v1/../v1/hazard-risk",
    ]) {
      const [answer] = answersIn(await exchangeBytes(host.address.port, head(path, LAST)));
      expect([path, answer?.status]).toStrictEqual([path, 404]);
    }
  });

  test("10,000 requests sent ahead: a few are answered, then the connection ends, and others feel nothing", async () => {
    const text = exchangeBytes(host.address.port, head(TARGET).repeat(10_000));
    expect((await host.ask(TARGET)).status).toBe(200);
    const answers = answersIn(await text);
    expect(answers.length).toBeLessThan(100);
    expect(answers.at(-1)?.headers.get("connection")).toBe("close");
  });
});

describe("a body on what has none", () => {
  test.each(["OPTIONS", "DELETE"])("%s: answered once, and the connection ends with the answer", async (method) => {
    const request = `${head(TARGET, "Content-Length: 4").replace("GET", method)}ab=c`;
    const answers = answersIn(await exchangeBytes(host.address.port, request + head(TARGET)));
    expect(answers.map(({ status }) => status)).toStrictEqual([method === "OPTIONS" ? 204 : 405]);
    expect(answers[0]?.headers.get("connection")).toBe("close");
  });
});

describe("clients that never read", () => {
  test("are ended once nothing has moved for long enough", async () => {
    const wide = await hosted({
      atlas: atlasOf((query) => {
        const answer = quarters(query);
        // Megabytes: more than the system takes off our hands.
        return Promise.resolve({ ...answer, results: Array.from({ length: 20_000 }, () => answer.results).flat() });
      }),
      patience: { silenceTimeoutMs: 200 },
    });
    try {
      const socket = connect({ host: "127.0.0.1", port: wide.address.port });
      socket.on("error", () => undefined).pause();
      socket.write(head(TARGET));
      await vi.waitFor(() => expect(wide.records).toHaveLength(1), { timeout: 10_000 });
      expect((await fetch(`${wide.address.url}/healthz`)).status).toBe(200);
      const gone = once(socket, "close");
      socket.resume();
      await gone;
      expect(socket.bytesRead).toBeLessThan(20_000 * 500);
    } finally {
      await wide.close();
    }
  });
});

describe("text that comes bit by bit", () => {
  const CSV = "/latest/api/v1/usage?format=csv";

  test("goes out in pieces, whole", async () => {
    await host.ask(TARGET);
    const response = await host.ask(CSV);
    expect([response.status, response.headers.get("content-length")]).toStrictEqual([200, null]);
    expect(response.headers.get("content-type")).toMatch(/^text\/csv/);
    expect((await response.text()).trimEnd().split("\n").length).toBeGreaterThan(1);
  });

  test("that breaks off is seen to have broken off", async () => {
    const usage = vi.spyOn(host.ledger, "usage");
    const events = vi.spyOn(host.ledger, "events");
    let calls = 0;
    usage.mockImplementation(() => {
      if (++calls > 1) return Promise.reject(new Error("disk gone"));
      return Promise.resolve({ items: [{ requests: 1, units: 1 }], next: "more" });
    });
    events.mockImplementation(async function* () {
      await Promise.resolve();
      for (const entry of host.ledger.entries.slice(0, 1)) yield entry;
      throw new Error("disk gone");
    });
    await expect(host.ask(CSV).then((response) => response.text())).rejects.toThrow(/terminated|fetch failed/);
    usage.mockRestore();
    events.mockRestore();
    expect((await host.ask(TARGET)).status).toBe(200);
  });

  test("is not begun for HEAD", async () => {
    const response = await host.ask(CSV, { method: "HEAD" });
    expect([response.status, await response.text()]).toStrictEqual([200, ""]);
  });
});
