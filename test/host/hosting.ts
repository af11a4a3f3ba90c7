import { connect } from "node:net";
import type { Atlas } from "../../src/hazard/answer.ts";
import type { AnalysisYearResult, HazardResult } from "../../src/hazard/result.ts";
import { type HazardQuery, parseHazardQuery } from "../../src/hazard/query.ts";
import { type LogRecord, type RunningServer, serve, type ServeOptions } from "../../src/host/main.ts";
import { MemoryLedger } from "./memoryLedger.ts";

/** An atlas whose values are all 0.25, unless `hazardRisk` is given. */
export function atlasOf(hazardRisk: Atlas["hazardRisk"] = (query) => Promise.resolve(quarters(query))): Atlas {
  return {
    release: "test-1",
    contentHash: "1".repeat(64),
    synthetic: true,
    holdings: [],
    tileUse: { origin: "demo", cachedBytes: 0, onFetch: () => () => undefined },
    hazardRisk,
    isLong: () => false,
    hazardRiskBatch: () => Promise.reject(new Error("No route uses batches.")),
    sample: () => Promise.reject(new Error("No route uses bulk sampling.")),
    sampleSteps: () => Promise.reject(new Error("No route uses bulk sampling.")),
    close: () => Promise.resolve(),
  };
}

/** The result of a query with all values 0.25. */
export function quarters(input: Parameters<Atlas["hazardRisk"]>[0]): HazardResult {
  return answerWith(input, (analysis_year) => ({
    analysis_year,
    metrics: { intensity: 0.25, probability: 0.25 },
  }));
}

/** The result of a query, with the analysis years that `yearOf` returns. */
export function answerWith(
  input: Parameters<Atlas["hazardRisk"]>[0],
  yearOf: (year: number, query: HazardQuery) => AnalysisYearResult,
): HazardResult {
  const query = parseHazardQuery(input);
  const { latitude, longitude, radius, aggregation_method } = query;
  return {
    location: { latitude, longitude },
    ...(radius > 0 ? { aggregation: { radius_km: radius, method: aggregation_method } } : {}),
    results: query.hazards.map((hazard) => ({
      hazard,
      scenarios: query.scenarios.map((scenario) => ({
        scenario,
        analysis_years: query.analysis_years.map((year) => yearOf(year, query)),
      })),
    })),
  };
}

const API_KEY = `iso_sk_${"t0".repeat(32)}`;
const CUSTOMER_ID = "0190f000-0000-7000-8000-000000000001";
/** Authentication headers of data requests; the same for all test hosts. */
export const HEADERS = { "X-API-Key": API_KEY, "X-Customer-ID": CUSTOMER_ID } as const;
/** The same as header lines. */
export const HEADER_LINES = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}`);

export interface Hosted extends RunningServer {
  readonly records: readonly LogRecord[];
  readonly ledger: MemoryLedger;
  readonly accountId: string;
  readonly keyId: string;
  /** Sends a request with key and customer. */
  ask(target: string, init?: Omit<RequestInit, "headers"> & { headers?: Record<string, string> }): Promise<Response>;
}

/** Above what any test sends. */
const UNLIMITED = { requestsPerS: 1e6, requestBurst: 1e6 };

/** A host on a free port of 127.0.0.1, with an account, a key and a customer. */
export async function hosted({ limits, ...options }: Partial<ServeOptions> = {}): Promise<Hosted> {
  const records: LogRecord[] = [];
  const ledger = new MemoryLedger();
  const { accountId } = await ledger.createAccount({ name: "Tests" });
  const { key } = await ledger.createKey({ accountId, secret: API_KEY });
  const createdAt = new Date().toISOString();
  ledger.customers.set(CUSTOMER_ID, { customerId: CUSTOMER_ID, accountId, internalId: "test-customer", createdAt });
  const running = await serve({
    atlas: atlasOf(),
    ledger,
    host: "127.0.0.1",
    port: 0,
    warmUp: false,
    limits: { ...UNLIMITED, ...limits },
    log: (record) => records.push(record),
    ...options,
  });
  return {
    ...running,
    records,
    ledger,
    accountId,
    keyId: key.keyId,
    ask: (target, init = {}) =>
      fetch(`${running.address.url}${target}`, { ...init, headers: { ...HEADERS, ...init.headers } }),
  };
}

/** Sends raw bytes and returns everything received until the server closes the connection. */
export async function exchangeBytes(port: number, bytes: string | Buffer): Promise<string> {
  const socket = connect({ host: "127.0.0.1", port });
  socket.on("error", () => undefined); // A reset shows as a truncated response.
  socket.write(bytes);
  const parts: Buffer[] = [];
  socket.on("data", (part: Buffer) => parts.push(part));
  await new Promise<void>((resolve) => socket.once("close", () => resolve()));
  return Buffer.concat(parts).toString("latin1");
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Parses the responses received on a connection, which must have a Content-Length. */
export function answersIn(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = text; rest !== "";) {
    const headEnd = rest.indexOf("\r\n\r\n");
    const [statusLine = "", ...lines] = rest.slice(0, headEnd).split("\r\n");
    const headers = new Map(
      lines.map((line): [string, string] => {
        const colon = line.indexOf(":");
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const size = Number(headers.get("content-length") ?? 0);
    const body = rest.slice(headEnd + 4, headEnd + 4 + size);
    if (headEnd < 0 || body.length !== size) throw new Error(`Incomplete response: ${JSON.stringify(rest)}`);
    answers.push({ status: Number(statusLine.split(" ")[1]), headers, body });
    rest = rest.slice(headEnd + 4 + size);
  }
  return answers;
}
