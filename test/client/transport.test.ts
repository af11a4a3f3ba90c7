import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { IsothermClient, IsothermError, type RetryOptions } from "../../src/client/client.ts";
import { VALID_QUERY } from "../hazard/queries.ts";

interface SentRequest {
  readonly atMs: number;
  readonly method: string;
  readonly headers: Headers;
  readonly redirect: RequestRedirect | undefined;
}

/** Returns a client of a fake service that returns these responses in order and then repeats the last one. */
function clientOfFakeService(responses: readonly (Response | Error)[], retry: RetryOptions = {}) {
  const sent: SentRequest[] = [];
  const client = new IsothermClient({
    baseUrl: "http://h/",
    retry,
    fetch: (_address, init) => {
      const { method = "", headers, redirect } = init ?? {};
      sent.push({ atMs: Date.now(), method, headers: new Headers(headers), redirect });
      if (init?.signal?.aborted === true) return Promise.reject(init.signal.reason as Error);
      const response = responses[Math.min(sent.length, responses.length) - 1] as Response | Error;
      return response instanceof Error ? Promise.reject(response) : Promise.resolve(response.clone());
    },
  });
  return { client, sent };
}

const problem = (status: number, retryable: boolean, headers: Record<string, string> = {}) =>
  Response.json(
    { type: "/problems/x", title: "", status, code: "x", detail: "why", request_id: "", retryable },
    { status, headers },
  );
const SUCCESS = Response.json({ location: {}, results: [] });
const NETWORK_ERROR = new TypeError("fetch failed");

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** Runs all timers and returns the outcome of a call. */
async function outcomeOf<Value>(call: Promise<Value>): Promise<{ value: Value } | { error: unknown }> {
  const outcome = call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  await vi.runAllTimersAsync();
  return outcome;
}

describe("temporary failures", () => {
  test.each([
    ["a retryable problem", problem(503, true)],
    ["a network error", NETWORK_ERROR],
    ["a proxy's 502", new Response("<html>", { status: 502 })],
    ["a proxy's 504", new Response("", { status: 504 })],
  ])("are retried after %s", async (_what, failure) => {
    const { client, sent } = clientOfFakeService([failure, failure, SUCCESS]);
    expect(await outcomeOf(client.hazardRisk(VALID_QUERY))).toStrictEqual({ value: { location: {}, results: [] } });
    expect(sent).toHaveLength(3);
  });

  test("are thrown unchanged after four attempts by default", async () => {
    const { client, sent } = clientOfFakeService([NETWORK_ERROR]);
    expect(await outcomeOf(client.hazardRisk(VALID_QUERY))).toStrictEqual({ error: NETWORK_ERROR });
    expect(sent).toHaveLength(4);
    const singleAttempt = clientOfFakeService([problem(503, true)], { attempts: 1 });
    expect(await outcomeOf(singleAttempt.client.hazardRisk(VALID_QUERY))).toMatchObject({ error: { status: 503 } });
    expect(singleAttempt.sent).toHaveLength(1);
  });

  test("are retried with the same idempotency key; the next data call has a new key", async () => {
    const { client, sent } = clientOfFakeService([
      NETWORK_ERROR,
      problem(503, true),
      Response.json({
        results: [],
        body_bytes: 1e6,
        batch_elements: 1,
        hazard_values: 1,
        entities: 1,
        alignment_values: 9,
        detail_values: 9,
      }),
    ]);
    await outcomeOf(client.totalClimateRisk({} as never));
    await outcomeOf(client.hazardRisk(VALID_QUERY));
    await outcomeOf(client.limits());
    const keys = sent.map(({ headers }) => headers.get("Idempotency-Key"));
    expect(keys).toHaveLength(5);
    expect(keys.slice(0, 3).every((key) => key === keys[0] && /^[0-9a-f]{32}$/.test(key ?? ""))).toBe(true);
    expect(keys[3]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys[3]).not.toBe(keys[0]);
    expect(keys[4]).toBeNull();
  });

  test.each([
    [429, { "Retry-After": "7" }],
    [503, { "Retry-After": new Date(1_800_000_007_000).toUTCString() }],
  ])("with status %i and %o are retried after Retry-After plus jitter", async (status, headers) => {
    vi.setSystemTime(1_800_000_000_000);
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    const { client, sent } = clientOfFakeService([problem(status, true, headers), SUCCESS]);
    await outcomeOf(client.hazardRisk(VALID_QUERY));
    const [first, second] = sent;
    expect((second?.atMs ?? NaN) - (first?.atMs ?? NaN)).toBe(7000 + 125);
  });

  test("are retried with exponential backoff, full jitter and a maximum delay", async () => {
    const delaysMs = async (random: number): Promise<number[]> => {
      vi.spyOn(Math, "random").mockReturnValue(random);
      const { client, sent } = clientOfFakeService([NETWORK_ERROR], { attempts: 9, delayMsMax: 5000 });
      await outcomeOf(client.limits());
      return sent.slice(1).map(({ atMs }, i) => atMs - (sent[i]?.atMs ?? NaN));
    };
    expect(await delaysMs(0)).toStrictEqual([0, 0, 0, 0, 0, 0, 0, 0]);
    expect(await delaysMs(0.5)).toStrictEqual([125, 250, 500, 1000, 2000, 4000, 5000, 5000]);
  });

  test("are thrown at once if Retry-After exceeds the maximum delay", async () => {
    const { client, sent } = clientOfFakeService([problem(503, true, { "Retry-After": "31" })]);
    expect(await outcomeOf(client.hazardRisk(VALID_QUERY))).toMatchObject({ error: { status: 503 } });
    expect(sent).toHaveLength(1);
  });

  test("are not retried after the signal aborts", async () => {
    const { client, sent } = clientOfFakeService([problem(503, true, { "Retry-After": "20" })]);
    const stop = new AbortController();
    const outcome = client.hazardRisk(VALID_QUERY, { signal: stop.signal }).catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(1000);
    stop.abort(new Error("enough"));
    expect(await outcome).toMatchObject({ message: "enough" });
    expect([sent.length, vi.getTimerCount()]).toStrictEqual([1, 0]);
  });
});

describe("permanent failures", () => {
  test.each([
    ["a problem that is not retryable", problem(400, false), 400],
    ["an internal error", problem(500, false), 500],
    ["an HTML page", new Response("<html>", { status: 200 }), 200],
    ["an error of another service", Response.json({ error: "no" }, { status: 404 }), 404],
    ["a proxy's 500", new Response("<html>", { status: 500 }), 500],
  ])("are not retried after %s", async (_what, response, status) => {
    const { client, sent } = clientOfFakeService([response]);
    const outcome = await outcomeOf(client.hazardRisk(VALID_QUERY));
    expect(outcome).toMatchObject({ error: { status } });
    expect("error" in outcome && outcome.error).toBeInstanceOf(IsothermError);
    expect(sent).toHaveLength(1);
  });

  test.each([200, 404, 502])("name the status %i of a response that is not from Isotherm", async (status) => {
    const { client } = clientOfFakeService([new Response("<html>", { status })], { attempts: 1 });
    expect(await outcomeOf(client.hazardRisk(VALID_QUERY))).toMatchObject({
      error: {
        problem: undefined,
        message: `http://h returned status ${status} with a body that is not from an Isotherm service`,
      },
    });
  });
});

test("redirects are errors, so that the API key is sent only to the service", async () => {
  const { client, sent } = clientOfFakeService([SUCCESS]);
  await outcomeOf(client.limits());
  expect(sent.map(({ redirect }) => redirect)).toStrictEqual(["error"]);
});
