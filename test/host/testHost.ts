import { connect } from "node:net";
import type { AnalysisYearResult, HazardQueryInput, HazardResult } from "../../src/contract/wireTypes.ts";
import { isFault } from "../../src/errors.ts";
import type { Atlas, LocalAtlas } from "../../src/hazard/answer.ts";
import type { RefusedElement } from "../../src/hazard/batch.ts";
import { type HazardQuery, parseHazardQuery } from "../../src/hazard/query.ts";
import { type LogRecord, type RunningServer, serve, type ServeOptions } from "../../src/host/main.ts";
import { TimeSlice } from "../../src/concurrency/timeSlice.ts";
import { parametersOf, queryTextOf, VALID_QUERY } from "../hazard/queries.ts";
import { MemoryLedger } from "./memoryLedger.ts";

/** Returns an atlas that answers queries with `hazardRisk`; by default all values are 0.25. */
export function fakeAtlas(
  hazardRisk: Atlas["hazardRisk"] = (query) => Promise.resolve(quarterResult(query)),
): Omit<LocalAtlas, "neighborhoodOf"> {
  const answerElement = async (query: HazardQueryInput): Promise<HazardResult | RefusedElement> => {
    try {
      return await hazardRisk(query);
    } catch (error) {
      if (isFault(error, "invalid_request") || isFault(error, "combination_unavailable")) return { error };
      throw error;
    }
  };
  return {
    release: "test-1",
    contentHash: "1".repeat(64),
    synthetic: true,
    holdings: [],
    tileUse: { origin: "demo", cachedBytes: 0, onFetch: () => () => undefined },
    hazardRisk,
    readHazardRisk: () => undefined,
    isLong: () => false,
    estimateWork: () => ({ cellVectorCount: 0, coldTileVectorCount: 0 }),
    async hazardRiskBatch(queries, { signal } = {}, { timeSlice = new TimeSlice(), onElement } = {}) {
      const elements: (HazardResult | RefusedElement)[] = [];
      for (const [index, query] of queries.entries()) {
        signal?.throwIfAborted();
        const element = await answerElement(query);
        if (onElement === undefined) elements.push(element);
        else onElement(element, index);
        if (index + 1 < queries.length) await timeSlice.yield();
      }
      return elements;
    },
    checkCurve: () => undefined,
    curve: () => Promise.reject(new Error("The fake atlas has no curves.")),
    curveBatch: () => Promise.reject(new Error("The fake atlas has no curves.")),
    sample: () => Promise.reject(new Error("No route uses bulk sampling.")),
    sampleSteps: () => Promise.reject(new Error("No route uses bulk sampling.")),
    score: () => Promise.reject(new Error("No route scores portfolios.")),
    valueTileLayer: () => {
      throw new Error("The fake atlas has no tiles.");
    },
    valueTile: () => Promise.reject(new Error("The fake atlas has no tiles.")),
    close: () => Promise.resolve(),
  };
}

/** Returns the result of a query with all values 0.25. */
export function quarterResult(input: Parameters<Atlas["hazardRisk"]>[0]): HazardResult {
  return resultWith(input, (analysis_year) => ({
    analysis_year,
    metrics: { intensity: 0.25, probability: 0.25 },
  }));
}

/** Returns the result of a query with the analysis years that `yearOf` returns. */
export function resultWith(
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

/** Target of a valid GET request. */
export const QUERY_TARGET = `/api/v1/hazard-risk?${queryTextOf(parametersOf(VALID_QUERY))}`;
export const ALIGNMENT_PATH = "/api/v1/temperature-alignment-projections";

const API_KEY = `iso_sk_${"t0".repeat(32)}`;
const CUSTOMER_ID = "0190f000-0000-7000-8000-000000000001";
/** Authentication headers of data requests; the same for all test hosts. */
export const HEADERS = { "X-API-Key": API_KEY, "X-Customer-ID": CUSTOMER_ID } as const;
/** The same headers as lines of an HTTP/1.1 request. */
export const HEADER_LINES = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}`);

export interface TestHost extends RunningServer {
  readonly records: readonly LogRecord[];
  readonly ledger: MemoryLedger;
  readonly accountId: string;
  readonly keyId: string;
  /** Sends a request with the headers of `HEADERS`. */
  ask(target: string, init?: Omit<RequestInit, "headers"> & { headers?: Record<string, string> }): Promise<Response>;
}

/** Higher than the request rate of any test. */
const RATE_LIMITS = { requestsPerS: 1e6, requestBurst: 1e6, tilesPerS: 1e6, tileBurst: 1e6 };

/** Starts a host on a free port of 127.0.0.1, with an account, a key and a customer. */
export async function startTestHost({ limits, ...options }: Partial<ServeOptions> = {}): Promise<TestHost> {
  const records: LogRecord[] = [];
  const ledger = new MemoryLedger();
  const { accountId } = await ledger.createAccount({ name: "Tests" });
  const { key } = await ledger.createKey({ accountId, secret: API_KEY });
  const createdAt = new Date().toISOString();
  ledger.customers.set(CUSTOMER_ID, { customerId: CUSTOMER_ID, accountId, internalId: "test-customer", createdAt });
  const running = await serve({
    atlas: fakeAtlas(),
    ledger,
    host: "127.0.0.1",
    port: 0,
    warmUp: false,
    limits: { ...RATE_LIMITS, ...limits },
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

export interface RawResponse {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** Parses the responses received on a connection, which must have a Content-Length. */
export function parseResponses(text: string): RawResponse[] {
  const responses: RawResponse[] = [];
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
    responses.push({ status: Number(statusLine.split(" ")[1]), headers, body });
    rest = rest.slice(headEnd + 4 + size);
  }
  return responses;
}
