import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Problem } from "../../src/host/problems/problem.ts";
import { newKey } from "../../src/ledger/keys.ts";
import { ENTITY } from "./entities.ts";
import {
  parseResponses,
  exchangeBytes,
  HEADER_LINES,
  HEADERS,
  type TestHost,
  startTestHost,
  QUERY_TARGET,
  ALIGNMENT_PATH,
} from "./testHost.ts";

let host: TestHost;
beforeAll(async () => {
  host = await startTestHost();
});
afterAll(async () => {
  await host.close();
});

/** Sends a request that must be rejected, and checks that it is not metered. */
async function expectRejection(host: TestHost, target: string, init: RequestInit) {
  const entryCount = host.ledger.entries.length;
  const response = await fetch(`${host.address.url}${target}`, init);
  const problem = (await response.json()) as Problem;
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect(response.headers.get("x-request-id")).toBe(problem.request_id);
  expect(response.headers.get("x-usage-units")).toBe("0");
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(host.ledger.entries.length).toBe(entryCount);
  return { status: response.status, headers: response.headers, problem };
}

describe("authentication by API key", () => {
  test.each([
    ["missing", undefined, "api_key_missing"],
    ["empty", "", "api_key_missing"],
    ["unknown", `iso_sk_${"x".repeat(64)}`, "api_key_invalid"],
    ["malformed", "open sesame", "api_key_invalid"],
    ["wrong in its last character", HEADERS["X-API-Key"].replace(/0$/, "1"), "api_key_invalid"],
  ])("returns 401 with WWW-Authenticate if the key is %s", async (_what, key, code) => {
    const headers = { ...(key === undefined ? {} : { "X-API-Key": key }), "X-Customer-ID": HEADERS["X-Customer-ID"] };
    const { status, headers: responseHeaders, problem } = await expectRejection(host, QUERY_TARGET, { headers });
    expect([status, problem.code, problem.retryable]).toStrictEqual([401, code, false]);
    expect(responseHeaders.get("www-authenticate")).toMatch(/^ApiKey realm="isotherm"/);
  });

  test("mentions a possible typing error when the checksum of the key is wrong", async () => {
    const { accountId } = host;
    const { secret } = await host.ledger.createKey({ accountId, secret: newKey() });
    const mistyped = secret.replace(/.$/, (last) => (last === "a" ? "b" : "a"));
    const { status, problem } = await expectRejection(host, QUERY_TARGET, {
      headers: { ...HEADERS, "X-API-Key": mistyped },
    });
    expect([status, problem.code]).toStrictEqual([401, "api_key_invalid"]);
    expect(problem.detail).toMatch(/seems mistyped/);
    expect(JSON.stringify(problem)).not.toContain(mistyped.slice(7));
    expect(
      (await fetch(`${host.address.url}${QUERY_TARGET}`, { headers: { ...HEADERS, "X-API-Key": secret } })).status,
    ).toBe(200);
  });

  test("rejects repeated X-API-Key headers, even valid ones", async () => {
    const lines = [
      `GET ${QUERY_TARGET} HTTP/1.1`,
      "Host: h",
      ...HEADER_LINES,
      HEADER_LINES[0],
      "Connection: close",
      "",
      "",
    ];
    const [answer] = parseResponses(await exchangeBytes(host.address.port, lines.join("\r\n")));
    expect(answer?.status).toBe(401);
    const problem = JSON.parse(answer?.body ?? "") as Problem;
    expect([problem.code, problem.errors]).toMatchObject([
      "api_key_invalid",
      [{ header: "X-API-Key", code: "repeated" }],
    ]);
  });

  test("rejects revoked keys and suspended accounts", async () => {
    const other = await startTestHost();
    try {
      expect((await other.ask(QUERY_TARGET)).status).toBe(200);
      await other.ledger.setAccountSuspended(other.accountId, true);
      const suspended = await expectRejection(other, QUERY_TARGET, { headers: HEADERS });
      expect([suspended.status, suspended.problem.code]).toStrictEqual([401, "account_suspended"]);
      await other.ledger.setAccountSuspended(other.accountId, false);
      expect((await other.ask(QUERY_TARGET)).status).toBe(200);
      await other.ledger.revokeKey(other.keyId);
      const revoked = await expectRejection(other, QUERY_TARGET, { headers: HEADERS });
      expect([revoked.status, revoked.problem.code]).toStrictEqual([401, "api_key_revoked"]);
    } finally {
      await other.close();
    }
  });

  test("limits failed attempts by address, but not valid keys from the same address", async () => {
    const other = await startTestHost();
    try {
      const guess = () =>
        expectRejection(other, QUERY_TARGET, { headers: { "X-API-Key": `iso_sk_${"g".repeat(64)}` } });
      let last = await guess();
      for (let count = 1; last.status === 401 && count < 1000; count++) last = await guess();
      expect([last.status, last.problem.code]).toStrictEqual([429, "rate_limited"]);
      expect(Number(last.headers.get("retry-after"))).toBeGreaterThan(1);
      expect((await other.ask(QUERY_TARGET)).status).toBe(200);
    } finally {
      await other.close();
    }
  });

  test("is not required on open routes", async () => {
    for (const target of ["/healthz", "/readyz"]) {
      expect((await fetch(`${host.address.url}${target}`)).status).toBe(200);
    }
  });

  test("suffices on routes without a customer", async () => {
    const headers = { "X-API-Key": HEADERS["X-API-Key"] };
    const response = await fetch(`${host.address.url}/api/v1/limits`, { headers });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-usage-units")).toBeNull();
  });
});

describe("the check of X-Customer-ID", () => {
  const withCustomerId = (customerId: string | undefined) => ({
    headers: {
      "X-API-Key": HEADERS["X-API-Key"],
      ...(customerId === undefined ? {} : { "X-Customer-ID": customerId }),
    },
  });

  test.each([
    ["missing", undefined, 400, "customer_id_missing"],
    ["empty", "", 400, "customer_id_missing"],
    ["not a UUID", "customer-1", 400, "customer_id_malformed"],
    ["repeated", `${HEADERS["X-Customer-ID"]}, ${HEADERS["X-Customer-ID"]}`, 400, "customer_id_malformed"],
    ["in braces", `{${HEADERS["X-Customer-ID"]}}`, 400, "customer_id_malformed"],
    ["unknown", randomUUID(), 403, "customer_not_accessible"],
  ])("rejects an id that is %s", async (_what, customerId, status, code) => {
    const rejected = await expectRejection(host, QUERY_TARGET, withCustomerId(customerId));
    expect([rejected.status, rejected.problem.code]).toStrictEqual([status, code]);
    expect(rejected.problem.errors).toMatchObject([{ header: "X-Customer-ID" }]);
  });

  test("accepts an id in upper case", async () => {
    expect(
      (await fetch(`${host.address.url}${QUERY_TARGET}`, withCustomerId(HEADERS["X-Customer-ID"].toUpperCase())))
        .status,
    ).toBe(200);
  });

  test("responds identically to unknown customers and customers of other accounts", async () => {
    const { accountId } = await host.ledger.createAccount({ name: "Others" });
    const { customer } = await host.ledger.registerCustomer({ accountId, internalId: "theirs" });
    const answers = await Promise.all(
      [customer.customerId, randomUUID()].map(async (customerId) => {
        const { status, headers, problem } = await expectRejection(host, QUERY_TARGET, withCustomerId(customerId));
        const fields = [...headers].filter(([name]) => !/^(date|x-request-id|ratelimit)$/.test(name));
        return { status, fields, problem: { ...problem, request_id: "" } };
      }),
    );
    expect(answers[0]).toStrictEqual(answers[1]);
    expect(JSON.stringify(answers[0])).not.toContain(customer.customerId);
  });

  test("returns 403 customer_archived for an archived customer", async () => {
    const { accountId } = host;
    const { customer } = await host.ledger.registerCustomer({ accountId, internalId: "gone" });
    await host.ledger.archiveCustomer({ accountId, customerId: customer.customerId });
    const { status, problem } = await expectRejection(host, QUERY_TARGET, withCustomerId(customer.customerId));
    expect([status, problem.code]).toStrictEqual([403, "customer_archived"]);
  });
});

describe("the rate limit", () => {
  test("is reported in every response, and returns 429 with Retry-After when exceeded", async () => {
    const slow = await startTestHost({ limits: { requestsPerS: 0.5, requestBurst: 3 } });
    try {
      const left = [];
      for (let i = 0; i < 3; i++) {
        const response = await slow.ask(i === 1 ? "/api/v1/hazard-risk" : QUERY_TARGET);
        expect(response.headers.get("ratelimit-policy")).toBe('"account";q=3;w=6');
        left.push(/^"account";r=([0-9]+);t=[0-9]+$/.exec(response.headers.get("ratelimit") ?? "")?.[1]);
      }
      expect(left).toStrictEqual(["2", "1", "0"]);
      const { status, headers, problem } = await expectRejection(slow, QUERY_TARGET, { headers: HEADERS });
      expect([status, problem.code, problem.retryable]).toStrictEqual([429, "rate_limited", true]);
      expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      expect(headers.get("ratelimit")).toBe(`"account";r=0;t=${headers.get("retry-after")}`);
      expect(headers.get("ratelimit-policy")).toBe('"account";q=3;w=6');
    } finally {
      await slow.close();
    }
  });

  test("applies per account, and not to open routes", async () => {
    const slow = await startTestHost({ limits: { requestsPerS: 0.5, requestBurst: 1 } });
    try {
      const { accountId } = await slow.ledger.createAccount({ name: "Others" });
      const { secret } = await slow.ledger.createKey({ accountId });
      expect((await slow.ask(QUERY_TARGET)).status).toBe(200);
      expect((await slow.ask(QUERY_TARGET)).status).toBe(429);
      const limits = `${slow.address.url}/api/v1/limits`;
      expect((await fetch(limits, { headers: { "X-API-Key": secret } })).status).toBe(200);
      expect((await fetch(limits, { headers: { "X-API-Key": secret } })).status).toBe(429);
      for (let i = 0; i < 5; i++) {
        const response = await fetch(`${slow.address.url}/healthz`);
        expect([response.status, response.headers.get("ratelimit")]).toStrictEqual([200, null]);
      }
    } finally {
      await slow.close();
    }
  });
});

describe("the pipeline", () => {
  // Each case corrects the error of the previous case and keeps those of all later cases.
  const WRONG_BODY = "[" + " ".repeat(2000);
  const keyHeaders = { "X-API-Key": HEADERS["X-API-Key"] };
  const jsonHeaders = { ...keyHeaders, "Content-Type": "application/json" };
  const customerHeaders = { ...jsonHeaders, "X-Customer-ID": HEADERS["X-Customer-ID"] };
  const CASES: [string, string, Record<string, string>, string, number, string][] = [
    ["route", `${ALIGNMENT_PATH}/x?z=1`, {}, WRONG_BODY, 404, "route_not_found"],
    ["key", `${ALIGNMENT_PATH}?z=1`, {}, WRONG_BODY, 401, "api_key_missing"],
    [
      "headers",
      `${ALIGNMENT_PATH}?z=1`,
      { ...keyHeaders, "Content-Type": "text/plain" },
      WRONG_BODY,
      415,
      "content_type_unsupported",
    ],
    [
      "idempotency key",
      `${ALIGNMENT_PATH}?z=1`,
      { ...jsonHeaders, "Idempotency-Key": "a b" },
      WRONG_BODY,
      400,
      "invalid_request",
    ],
    ["customer", `${ALIGNMENT_PATH}?z=1`, jsonHeaders, WRONG_BODY, 400, "customer_id_missing"],
    ["body size", `${ALIGNMENT_PATH}?z=1`, customerHeaders, WRONG_BODY, 413, "body_too_large"],
    ["JSON", `${ALIGNMENT_PATH}?z=1`, customerHeaders, "[1", 400, "json_malformed"],
    ["shape", `${ALIGNMENT_PATH}?z=1`, customerHeaders, JSON.stringify([ENTITY, ENTITY]), 400, "invalid_request"],
    ["limits", ALIGNMENT_PATH, customerHeaders, JSON.stringify([ENTITY, ENTITY]), 400, "too_many_values"],
    ["nothing", ALIGNMENT_PATH, customerHeaders, JSON.stringify([ENTITY]), 200, ""],
  ];

  test("checks requests in the documented order", async () => {
    const small = await startTestHost({ limits: { requestBodyBytesMax: 2000, entityCount: 1 } });
    try {
      for (const [what, target, headers, body, status, code] of CASES) {
        const response = await fetch(`${small.address.url}${target}`, { method: "POST", headers, body });
        const answer = (await response.json()) as Partial<Problem>;
        expect([what, response.status, answer.code ?? ""]).toStrictEqual([what, status, code]);
        expect(response.headers.has("ratelimit")).toBe(status !== 404 && status !== 401);
      }
      expect(small.ledger.entries).toMatchObject([{ meter: "alignment_values", units: 2, route: ALIGNMENT_PATH }]);
    } finally {
      await small.close();
    }
  });

  test("checks the rate after the key and before everything else", async () => {
    const slow = await startTestHost({ limits: { requestsPerS: 0.5, requestBurst: 1 } });
    try {
      expect((await slow.ask(QUERY_TARGET)).status).toBe(200);
      const init = { method: "POST", headers: keyHeaders, body: WRONG_BODY };
      expect((await expectRejection(slow, ALIGNMENT_PATH, init)).problem.code).toBe("rate_limited");
      expect((await expectRejection(slow, ALIGNMENT_PATH, { method: "POST", body: WRONG_BODY })).problem.code).toBe(
        "api_key_missing",
      );
    } finally {
      await slow.close();
    }
  });

  test("does not read the body of a request whose headers are rejected", async () => {
    const head = [
      `POST ${ALIGNMENT_PATH} HTTP/1.1`,
      "Host: h",
      "Content-Type: application/json",
      "Content-Length: 1000",
      "Expect: 100-continue",
    ];
    const text = await exchangeBytes(host.address.port, [...head, "", ""].join("\r\n"));
    expect(text.startsWith("HTTP/1.1 401 ")).toBe(true);
    expect(text).not.toContain("100 Continue");
  });
});

describe("a request in progress", () => {
  // With two places and two shares of them, a place that is kept would reject the third request of its kind.
  test.each([
    ["exceeds the rate of its account", 429, { requestBurst: 1 }, {}],
    ["has an unknown key", 401, {}, { "X-API-Key": newKey() }],
    ["has no customer", 400, {}, { "X-Customer-ID": "" }],
    ["has a customer of another account", 403, {}, { "X-Customer-ID": randomUUID() }],
    ["is answered", 200, {}, {}],
  ])("no longer counts as one when it %s", async (_what, expectedStatus, limits, headers) => {
    const small = await startTestHost({
      limits: { requestsPerS: 0.001, requestBurst: 1_000, ...limits },
      load: { requestsInProgressMax: 2, accountShare: 1 },
    });
    try {
      if (expectedStatus === 429) expect((await small.ask(QUERY_TARGET)).status).toBe(200);
      const statuses: number[] = [];
      for (let i = 0; i < 5; i++) {
        const response = await fetch(`${small.address.url}${QUERY_TARGET}`, { headers: { ...HEADERS, ...headers } });
        await response.arrayBuffer();
        statuses.push(response.status);
      }
      expect(statuses).toEqual(Array(5).fill(expectedStatus));
    } finally {
      await small.close();
    }
  });
});
