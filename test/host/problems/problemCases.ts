import { connect } from "node:net";
import { once } from "node:events";
import { Fault, type FaultCode } from "../../../src/errors.ts";
import type { Problem } from "../../../src/host/problems/problem.ts";
import { totalClimateRisk } from "../../../src/host/routes/totalClimateRisk.ts";
import type { Atlas } from "../../../src/hazard/answer.ts";
import { parametersOf, queryTextOf, VALID_QUERY } from "../../hazard/queries.ts";
import { ENTITY } from "../entities.ts";
import {
  parseResponses,
  fakeAtlas,
  HEADERS,
  HEADER_LINES,
  type TestHost,
  startTestHost,
  quarterResult,
  ALIGNMENT_PATH,
} from "../testHost.ts";

/** A problem response, and what its request recorded. */
export interface TriggeredProblem {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly problem: Problem;
  /** Number of ledger entries that the request added. */
  readonly recordedCount: number;
}

/** A problem code with a status, and how to trigger it. */
interface ProblemCase {
  readonly code: FaultCode;
  readonly status: number;
  readonly options?: Parameters<typeof startTestHost>[0];
  readonly trigger: (host: TestHost) => Promise<Response | string>;
}

const HAZARD_RISK = `/api/v1/hazard-risk?${queryTextOf(parametersOf(VALID_QUERY))}`;
const UNKNOWN_ID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const COMPANY = totalClimateRisk.description.body?.example as object;

const jsonPost = (body: unknown, headers: Record<string, string> = {}) => ({
  method: "POST",
  body: typeof body === "string" ? body : JSON.stringify(body),
  headers: { "Content-Type": "application/json", ...headers },
});
const postCompany = (change: object) => (host: TestHost) =>
  host.ask("/analyze/total-climate-risk", jsonPost({ ...COMPANY, ...change }));
const withoutHeader = (name: string) => (host: TestHost) =>
  fetch(`${host.address.url}${HAZARD_RISK}`, {
    headers: Object.fromEntries(Object.entries(HEADERS).filter(([header]) => header !== name)),
  });
const withHeader = (name: string, value: string) => (host: TestHost) =>
  host.ask(HAZARD_RISK, { headers: { [name]: value } });

/** Sends raw bytes and returns everything received until the connection closes. */
async function exchangeRaw({ address }: TestHost, bytes: string): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port: address.port });
  socket.on("error", () => undefined);
  socket.write(bytes);
  let text = "";
  socket.on("data", (part: Buffer) => (text += part.toString()));
  await once(socket, "close");
  return text;
}

/**
 * An atlas that fails with the given error at the location of VALID_QUERY. It works elsewhere, so that the host can warm
 * up.
 */
function failingAtlas(error: unknown): { readonly atlas: Atlas } {
  return {
    atlas: fakeAtlas((query) =>
      query.latitude === VALID_QUERY.latitude ? Promise.reject(error) : Promise.resolve(quarterResult(query)),
    ),
  };
}

const atlasProblem = (code: FaultCode, status: number): ProblemCase => ({
  code,
  status,
  options: failingAtlas(new Fault(code, "Only for the operator.")),
  trigger: (host) => host.ask(HAZARD_RISK),
});

export const PROBLEM_CASES: readonly ProblemCase[] = [
  {
    code: "invalid_request",
    status: 400,
    trigger: (host) =>
      host.ask("/api/v1/hazard-risk?latitude=91&longitude=43.15&hazard=cyclones&analysis_years=2050&scenarios=rcp85"),
  },
  {
    code: "combination_unavailable",
    status: 422,
    trigger: (host) =>
      host.ask(
        "/api/v1/hazard-risk?latitude=11.59&longitude=43.15&hazards=riverine_floods&analysis_years=2040&scenarios=rcp8p5",
      ),
  },
  {
    code: "asset_type_unsupported",
    status: 422,
    trigger: (host) =>
      host.ask(ALIGNMENT_PATH, jsonPost([{ ...ENTITY, entity_info: { ...ENTITY.entity_info, asset_type: "bond" } }])),
  },
  {
    code: "token_invalid",
    status: 401,
    trigger: ({ address }) =>
      fetch(`${address.url}/api/v1/tiles/riverine_floods/rcp8p5/2050/depth_meters/0/0/0.png?token=expired`),
  },
  { code: "country_unknown", status: 422, trigger: postCompany({ country: "Germani" }) },
  { code: "industry_unknown", status: 422, trigger: postCompany({ industry: "Cemnt" }) },
  { code: "scenario_unknown", status: 422, trigger: postCompany({ transition_scenarios: ["NGFS_NET_ZERO"] }) },
  {
    code: "too_many_values",
    status: 400,
    trigger: (host) => host.ask("/api/v1/hazard-risk/batch", jsonPost(Array.from({ length: 10_001 }, () => ({})))),
  },
  {
    code: "json_malformed",
    status: 400,
    trigger: (host) => host.ask(ALIGNMENT_PATH, jsonPost('[\n  { "entity_info": }\n]')),
  },
  atlasProblem("atlas_not_found", 503),
  atlasProblem("atlas_unavailable", 503),
  atlasProblem("source_invalid", 500),
  atlasProblem("account_not_found", 500),
  atlasProblem("key_not_found", 500),
  atlasProblem("ledger_unavailable", 503),
  atlasProblem("configuration_invalid", 500),
  {
    code: "internal_error",
    status: 500,
    options: failingAtlas(new TypeError("x is not a function")),
    trigger: (host) => host.ask(HAZARD_RISK),
  },
  { code: "api_key_missing", status: 401, trigger: withoutHeader("X-API-Key") },
  { code: "api_key_invalid", status: 401, trigger: withHeader("X-API-Key", `iso_sk_${"x".repeat(64)}`) },
  {
    code: "api_key_revoked",
    status: 401,
    async trigger(host) {
      await host.ledger.revokeKey(host.keyId);
      return host.ask(HAZARD_RISK);
    },
  },
  {
    code: "account_suspended",
    status: 401,
    async trigger(host) {
      await host.ledger.setAccountSuspended(host.accountId, true);
      return host.ask(HAZARD_RISK);
    },
  },
  {
    code: "customer_not_found",
    status: 404,
    trigger: (host) => host.ask(`/latest/api/v1/customers/${UNKNOWN_ID}`),
  },
  { code: "customer_id_missing", status: 400, trigger: withoutHeader("X-Customer-ID") },
  { code: "customer_id_malformed", status: 400, trigger: withHeader("X-Customer-ID", "team-lisbon") },
  { code: "customer_not_accessible", status: 403, trigger: withHeader("X-Customer-ID", UNKNOWN_ID) },
  {
    code: "customer_archived",
    status: 403,
    async trigger(host) {
      await host.ask(`/latest/api/v1/customers/${HEADERS["X-Customer-ID"]}`, { method: "DELETE" });
      return host.ask(HAZARD_RISK);
    },
  },
  {
    code: "customer_archived",
    status: 409,
    async trigger(host) {
      await host.ask(`/latest/api/v1/customers/${HEADERS["X-Customer-ID"]}`, { method: "DELETE" });
      return host.ask("/latest/api/v1/customers", jsonPost({ internal_id: "test-customer" }));
    },
  },
  {
    code: "idempotency_key_reused",
    status: 422,
    async trigger(host) {
      const headers = { "Idempotency-Key": "order-7" };
      await host.ask(`${HAZARD_RISK}&radius=1`, { headers });
      host.ledger.entries.length = 0;
      return host.ask(`${HAZARD_RISK}&radius=2`, { headers });
    },
  },
  {
    code: "rate_limited",
    status: 429,
    options: { limits: { requestsPerS: 0.1, requestBurst: 1 } },
    async trigger(host) {
      await host.ask("/api/v1/limits");
      return host.ask("/api/v1/limits");
    },
  },
  {
    code: "usage_not_recorded",
    status: 503,
    trigger(host) {
      host.ledger.fail(new Error("disk full"));
      return host.ask(HAZARD_RISK);
    },
  },
  {
    code: "clock_unreliable",
    status: 503,
    trigger(host) {
      host.ledger.clockFault = new Fault(
        "clock_unreliable",
        "The clock of the service was set forward by 12 minutes while it was running, so usage cannot be dated and is not recorded. Correct the clock; if it is right now, restart the service.",
      );
      return host.ask(HAZARD_RISK);
    },
  },
  { code: "route_not_found", status: 404, trigger: (host) => host.ask("/api/v2/hazard-risk") },
  { code: "method_not_allowed", status: 405, trigger: (host) => host.ask(HAZARD_RISK, { method: "PUT" }) },
  { code: "http_malformed", status: 400, trigger: (host) => exchangeRaw(host, "GET / HTTP/1.1\r\nHost h\r\n\r\n") },
  {
    code: "headers_too_large",
    status: 431,
    trigger: (host) => exchangeRaw(host, `GET / HTTP/1.1\r\nHost: h\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`),
  },
  {
    code: "request_timeout",
    status: 408,
    options: { timeouts: { headersTimeoutMs: 50, requestTimeoutMs: 100, checkEveryMs: 20 } },
    trigger: (host) => exchangeRaw(host, "GET / HTTP/1.1\r\nHost: h\r\n"),
  },
  {
    code: "content_type_unsupported",
    status: 415,
    trigger: (host) => host.ask(ALIGNMENT_PATH, jsonPost("name;country", { "Content-Type": "text/csv" })),
  },
  {
    code: "body_too_large",
    status: 413,
    trigger: (host) =>
      exchangeRaw(
        host,
        [
          `POST ${ALIGNMENT_PATH} HTTP/1.1`,
          "Host: h",
          ...HEADER_LINES,
          "Content-Type: application/json",
          "Content-Length: 8388609",
          "",
          "",
        ].join("\r\n"),
      ),
  },
  {
    code: "overloaded",
    status: 503,
    options: { load: { requestsInProgressMax: 0 } },
    trigger: (host) => host.ask("/api/v1/limits"),
  },
];

/** Triggers a problem on a new host. */
export async function triggerProblem({ options = {}, trigger }: ProblemCase): Promise<TriggeredProblem> {
  const host = await startTestHost(options);
  try {
    await host.ready;
    const before = host.ledger.entries.length;
    const answer = await trigger(host);
    const recordedCount = Math.max(0, host.ledger.entries.length - before);
    if (typeof answer !== "string") {
      const headers = new Map(answer.headers);
      return { status: answer.status, headers, problem: (await answer.json()) as Problem, recordedCount };
    }
    const [only, ...more] = parseResponses(answer);
    if (only === undefined || more.length > 0) throw new Error(`expected exactly one response (got ${answer})`);
    const { status, headers, body } = only;
    return { status, headers, problem: JSON.parse(body) as Problem, recordedCount };
  } finally {
    await host.close();
  }
}
