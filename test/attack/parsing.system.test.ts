/**
 * Bodies that are expensive to parse. `ISOTHERM_ATTACK_BODY_BYTES` sets their size, and `ISOTHERM_ATTACK_PARSE_REQUESTS` how
 * many are sent.
 */
import { monitorEventLoopDelay } from "node:perf_hooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HEADERS, startTestHost, type TestHost } from "../host/testHost.ts";
import { attackSize } from "./attackSize.ts";
import { headOf, openRawConnection, writeAll } from "./rawConnection.ts";

const BODY_BYTES = attackSize("BODY_BYTES", { small: 1 << 20, full: 8 << 20 });
const REQUEST_COUNT = attackSize("PARSE_REQUESTS", { small: 3, full: 10 });
const CUSTOMERS = "/latest/api/v1/customers";
const ALIGNMENT = "/api/v1/temperature-alignment-projections";

/** Returns an object of at most `BODY_BYTES` whose keys all differ. */
function objectOfKeys(): string {
  const members: string[] = [];
  for (let sizeBytes = 2; sizeBytes < BODY_BYTES - 16; sizeBytes += members.at(-1)?.length ?? 0) {
    members.push(`"${members.length.toString(36)}":0,`);
  }
  return `{${members.join("").slice(0, -1)}}`;
}

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(async () => {
  await host.close();
});

async function post(path: string, body: string): Promise<readonly [number, string]> {
  const response = await host.ask(path, { method: "POST", headers: { "Content-Type": "application/json" }, body });
  return [response.status, await response.text()];
}

describe("a body of many keys", () => {
  test("is rejected by POST customers before it is read", async () => {
    const body = objectOfKeys();
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    const responses = await Promise.all(Array.from({ length: REQUEST_COUNT }, () => post(CUSTOMERS, body)));
    delay.disable();
    console.log(`${REQUEST_COUNT} bodies of ${body.length} bytes: longest stall ${(delay.max / 1e6).toFixed(0)} ms`);
    for (const [status, text] of responses) {
      expect(status).toBe(413);
      expect(text).toContain("at most 16384 bytes");
    }
  });

  test("is rejected without parsing it, where large bodies are allowed", async () => {
    const [status, text] = await post(ALIGNMENT, objectOfKeys());
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ code: "json_malformed", line: 1 });
    expect(text).toContain("more than 1000 keys");
  });
});

test.each([
  ["keys", "1000 keys", `{${Array.from({ length: 1_100 }, (_, index) => `"${index}":0,`).join("")}`],
  ["levels", "16 levels", "[".repeat(20)],
])("a body of too many %s is rejected before it is complete", async (_what, detail, start) => {
  const { socket, closed } = await openRawConnection(host.address.port);
  const fields = { ...HEADERS, "Content-Type": "application/json", "Content-Length": String(BODY_BYTES) };
  socket.write(headOf(`POST ${ALIGNMENT}`, fields));
  await writeAll(socket, start);
  const response = await closed;
  expect(response).toMatch(/^HTTP\/1.1 400 /);
  expect(response).toContain(detail);
});

test("a body of many values is rejected without parsing it", async () => {
  const limited = await startTestHost({ limits: { requestBodyBytesMax: BODY_BYTES } });
  try {
    const body = `[${"0,".repeat(BODY_BYTES / 2 - 2)}0]`;
    const response = await limited.ask(ALIGNMENT, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body,
    });
    expect(response.status).toBe(400);
    expect(await response.text()).toContain(`more than ${Math.floor(BODY_BYTES / 8)} values`);
  } finally {
    await limited.close();
  }
});
