import { connect } from "node:net";
import { once } from "node:events";
import { Fault, type FaultCode } from "../../src/errors.ts";
import type { Problem, ProblemCode } from "../../src/host/problems/problem.ts";
import { totalClimateRisk } from "../../src/host/routes/totalClimateRisk.ts";
import type { Atlas } from "../../src/hazard/answer.ts";
import { parametersOf, queryTextOf, RIGHT } from "../hazard/queries.ts";
import { ENTITY } from "./entities.ts";
import { answersIn, atlasOf, HEADERS, HEADER_LINES, type Hosted, hosted, quarters } from "./hosting.ts";

/** A problem response as received over a socket. */
export interface Provoked {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly problem: Problem;
  /** Rows that were added to the ledger. */
  readonly recordedCount: number;
}

/** Causes a problem response with a given code and status. */
interface Provocation {
  readonly code: ProblemCode;
  readonly status: number;
  readonly options?: Parameters<typeof hosted>[0];
  readonly provoke: (host: Hosted) => Promise<Response | string>;
}

export const HAZARD_RISK = `/api/v1/hazard-risk?${queryTextOf(parametersOf(RIGHT))}`;
const ALIGNMENT = "/api/v1/temperature-alignment-projections";
const UNKNOWN_ID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const COMPANY = totalClimateRisk.description.body?.example as object;

const posting = (body: unknown, headers: Record<string, string> = {}) => ({
  method: "POST",
  body: typeof body === "string" ? body : JSON.stringify(body),
  headers: { "Content-Type": "application/json", ...headers },
});
const company = (change: object) => (host: Hosted) =>
  host.ask("/analyze/total-climate-risk", posting({ ...COMPANY, ...change }));
const without = (name: string) => (host: Hosted) =>
  fetch(`${host.address.url}${HAZARD_RISK}`, {
    headers: Object.fromEntries(Object.entries(HEADERS).filter(([header]) => header !== name)),
  });
const withHeader = (name: string, value: string) => (host: Hosted) =>
  host.ask(HAZARD_RISK, { headers: { [name]: value } });

/** Sends raw bytes and returns the response. */
async function exchanged({ address }: Hosted, bytes: string): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port: address.port });
  socket.on("error", () => undefined);
  socket.write(bytes);
  let text = "";
  socket.on("data", (part: Buffer) => (text += part.toString()));
  await once(socket, "close");
  return text;
}

/** An atlas that works during warm-up and then fails with the given error. */
function breaking(error: unknown): { readonly atlas: Atlas } {
  return {
    atlas: atlasOf((query) =>
      query.latitude === RIGHT.latitude ? Promise.reject(error) : Promise.resolve(quarters(query)),
    ),
  };
}

const broken = (code: FaultCode, status: number): Provocation => ({
  code,
  status,
  options: breaking(new Fault(code, "What only the operator should read.")),
  provoke: (host) => host.ask(HAZARD_RISK),
});

export const PROVOCATIONS: readonly Provocation[] = [
  {
    code: "invalid_request",
    status: 400,
    provoke: (host) =>
      host.ask("/api/v1/hazard-risk?latitude=91&longitude=43.15&hazard=cyclones&analysis_years=2050&scenarios=rcp85"),
  },
  {
    code: "combination_unavailable",
    status: 422,
    provoke: (host) =>
      host.ask(
        "/api/v1/hazard-risk?latitude=11.59&longitude=43.15&hazards=riverine_floods&analysis_years=2040&scenarios=rcp8p5",
      ),
  },
  {
    code: "asset_type_unsupported",
    status: 422,
    provoke: (host) =>
      host.ask(ALIGNMENT, posting([{ ...ENTITY, entity_info: { ...ENTITY.entity_info, asset_type: "bond" } }])),
  },
  { code: "country_unknown", status: 422, provoke: company({ country: "Germani" }) },
  { code: "industry_unknown", status: 422, provoke: company({ industry: "Cemnt" }) },
  { code: "scenario_unknown", status: 422, provoke: company({ transition_scenarios: ["NGFS_NET_ZERO"] }) },
  {
    code: "too_many_values",
    status: 400,
    provoke: (host) => host.ask("/api/v1/hazard-risk/batch", posting(Array.from({ length: 10_001 }, () => ({})))),
  },
  {
    code: "json_malformed",
    status: 400,
    provoke: (host) => host.ask(ALIGNMENT, posting('[\n  { "entity_info": }\n]')),
  },
  broken("atlas_not_found", 503),
  broken("atlas_unavailable", 503),
  broken("source_invalid", 500),
  broken("account_not_found", 500),
  broken("key_not_found", 500),
  broken("ledger_unavailable", 503),
  broken("configuration_invalid", 500),
  {
    code: "internal_error",
    status: 500,
    options: breaking(new TypeError("x is not a function")),
    provoke: (host) => host.ask(HAZARD_RISK),
  },
  { code: "api_key_missing", status: 401, provoke: without("X-API-Key") },
  { code: "api_key_invalid", status: 401, provoke: withHeader("X-API-Key", `iso_sk_${"x".repeat(64)}`) },
  {
    code: "api_key_revoked",
    status: 401,
    async provoke(host) {
      await host.ledger.revokeKey(host.keyId);
      return host.ask(HAZARD_RISK);
    },
  },
  {
    code: "account_suspended",
    status: 401,
    async provoke(host) {
      await host.ledger.suspendAccount(host.accountId, true);
      return host.ask(HAZARD_RISK);
    },
  },
  {
    code: "customer_not_found",
    status: 404,
    provoke: (host) => host.ask(`/latest/api/v1/customers/${UNKNOWN_ID}`),
  },
  { code: "customer_id_missing", status: 400, provoke: without("X-Customer-ID") },
  { code: "customer_id_malformed", status: 400, provoke: withHeader("X-Customer-ID", "team-lisbon") },
  { code: "customer_not_accessible", status: 403, provoke: withHeader("X-Customer-ID", UNKNOWN_ID) },
  {
    code: "customer_archived",
    status: 403,
    async provoke(host) {
      await host.ask(`/latest/api/v1/customers/${HEADERS["X-Customer-ID"]}`, { method: "DELETE" });
      return host.ask(HAZARD_RISK);
    },
  },
  {
    code: "customer_archived",
    status: 409,
    async provoke(host) {
      await host.ask(`/latest/api/v1/customers/${HEADERS["X-Customer-ID"]}`, { method: "DELETE" });
      return host.ask("/latest/api/v1/customers", posting({ internal_id: "test-customer" }));
    },
  },
  {
    code: "idempotency_key_reused",
    status: 422,
    async provoke(host) {
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
    async provoke(host) {
      await host.ask("/api/v1/limits");
      return host.ask("/api/v1/limits");
    },
  },
  {
    code: "usage_not_recorded",
    status: 503,
    provoke(host) {
      host.ledger.stop(new Error("disk full"));
      return host.ask(HAZARD_RISK);
    },
  },
  { code: "route_not_found", status: 404, provoke: (host) => host.ask("/api/v2/hazard-risk") },
  { code: "method_not_allowed", status: 405, provoke: (host) => host.ask(HAZARD_RISK, { method: "PUT" }) },
  { code: "http_malformed", status: 400, provoke: (host) => exchanged(host, "GET / HTTP/1.1\r\nHost h\r\n\r\n") },
  {
    code: "headers_too_large",
    status: 431,
    provoke: (host) => exchanged(host, `GET / HTTP/1.1\r\nHost: h\r\nX-Long: ${"x".repeat(20_000)}\r\n\r\n`),
  },
  {
    code: "request_timeout",
    status: 408,
    options: { timeouts: { headersTimeoutMs: 50, requestTimeoutMs: 100, checkEveryMs: 20 } },
    provoke: (host) => exchanged(host, "GET / HTTP/1.1\r\nHost: h\r\n"),
  },
  {
    code: "content_type_unsupported",
    status: 415,
    provoke: (host) => host.ask(ALIGNMENT, posting("name;country", { "Content-Type": "text/csv" })),
  },
  {
    code: "body_too_large",
    status: 413,
    provoke: (host) =>
      exchanged(
        host,
        [
          `POST ${ALIGNMENT} HTTP/1.1`,
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
    options: { load: { requestsInWorkMax: 0 } },
    provoke: (host) => host.ask("/api/v1/limits"),
  },
];

/** Runs one provocation on a separate host. */
export async function provoked({ options = {}, provoke }: Provocation): Promise<Provoked> {
  const host = await hosted(options);
  try {
    await host.ready;
    const before = host.ledger.entries.length;
    const answer = await provoke(host);
    const recordedCount = Math.max(0, host.ledger.entries.length - before);
    if (typeof answer !== "string") {
      const headers = new Map(answer.headers);
      return { status: answer.status, headers, problem: (await answer.json()) as Problem, recordedCount };
    }
    const [only, ...more] = answersIn(answer);
    if (only === undefined || more.length > 0) throw new Error(`Expected exactly one response (got ${answer})`);
    const { status, headers, body } = only;
    return { status, headers, problem: JSON.parse(body) as Problem, recordedCount };
  } finally {
    await host.close();
  }
}
