import { Agent, request as httpRequest } from "node:http";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { EXAMPLE_COMPANY } from "../company/exampleCompany.ts";
import { ENTITY } from "../host/entities.ts";
import { type ClientRequest, checkHistory } from "../ledger/history.ts";
import type { SeededRandom } from "../seededRandom.ts";
import { type LedgerLocation, runCli, type TestAccount } from "./service.ts";
import type { Meter } from "../../src/contract/wireTypes.ts";

export interface HttpResponse {
  readonly status: number;
  /** Names and values in the order received. */
  readonly rawHeaders: readonly string[];
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface RequestOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A complete response, or the error that prevented one, with the headers if they were received. */
type SendResult =
  { readonly response: HttpResponse } | { readonly error: Error; readonly headers?: HttpResponse["headers"] };

/** An HTTP client with keep-alive connections. */
export class HttpClient {
  readonly #agent: Agent;

  constructor(connectionCount: number) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: connectionCount });
  }

  /** Sends a request once, without retries. Never rejects. */
  trySend(target: string, { method = "GET", headers = {}, body }: RequestOptions = {}): Promise<SendResult> {
    return new Promise((resolve) => {
      const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
      const options = { method, agent: this.#agent, headers: { ...headers, ...length } };
      const request = httpRequest(target, options, (incoming) => {
        const parts: Buffer[] = [];
        const { headers: received, rawHeaders, statusCode: status = 0 } = incoming;
        const fail = (error: Error): void => resolve({ error, headers: received });
        incoming.on("data", (part: Buffer) => parts.push(part));
        incoming.on("error", fail);
        incoming.on("aborted", () => fail(new Error("aborted")));
        incoming.on("end", () => {
          resolve({ response: { status, rawHeaders, headers: received, text: Buffer.concat(parts).toString() } });
        });
      });
      request.on("error", (error) => resolve({ error }));
      request.end(body);
    });
  }

  /** Sends a request. Rejects if there is no complete response. */
  async send(target: string, options?: RequestOptions): Promise<HttpResponse> {
    const result = await this.trySend(target, options);
    if ("response" in result) return result.response;
    throw result.error;
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** A request with a known cost. */
export interface PricedRequest {
  readonly meter: Meter;
  readonly units: number;
  readonly target: string;
  readonly options: RequestOptions;
}

const YEARS = [2030, 2050, 2080] as const;
const FLOODS = ["riverine_floods", "coastal_floods"] as const;
const SCENARIOS = ["rcp4p5", "rcp8p5"] as const;

export const jsonPost = (value: unknown): RequestOptions => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(value),
});

/** Returns a random request of any data route; most are single hazard queries, as in production. */
export function randomRequest(random: SeededRandom): PricedRequest {
  const someOf = <Item>(items: readonly Item[]): Item[] => items.slice(0, 1 + random.below(items.length));
  const query = {
    // The demo atlas has both kinds of flood here.
    latitude: 11.59,
    longitude: 43.15,
    radius: 10,
    hazards: someOf(FLOODS),
    analysis_years: someOf(YEARS),
    scenarios: someOf(SCENARIOS),
  };
  const valueCount = query.hazards.length * query.analysis_years.length * query.scenarios.length;
  switch (random.below(10)) {
    case 0: {
      const entities = Array.from({ length: 1 + random.below(4) }, () => ENTITY);
      const units = entities.length * ENTITY.projected_emissions.length;
      const target = "/api/v1/temperature-alignment-projections";
      return { meter: "alignment_values", units, target, options: jsonPost(entities) };
    }
    case 1: {
      const count = 1 + random.below(5);
      const options = jsonPost(Array.from({ length: count }, () => query));
      return { meter: "hazard_values", units: count * valueCount, target: "/api/v1/hazard-risk/batch", options };
    }
    case 2: {
      const assessment_years = someOf([2030, 2040, 2050]);
      const options = jsonPost({ ...EXAMPLE_COMPANY, assessment_years });
      const target = "/analyze/total-climate-risk";
      return { meter: "company_results", units: assessment_years.length, target, options };
    }
    default: {
      const parameters = Object.entries(query).map(([name, value]) => `${name}=${String(value)}`);
      const target = `/api/v1/hazard-risk?${parameters.join("&")}`;
      return { meter: "hazard_values", units: valueCount, target, options: {} };
    }
  }
}

/** Returns a request that is rejected: it is invalid or has the customer id of another account. */
function refusedRequest(random: SeededRandom, request: PricedRequest): PricedRequest {
  if (random.chance(0.5)) return { ...request, target: "/api/v1/hazard-risk?latitude=91", options: {} };
  const headers = { ...request.options.headers, "X-Customer-ID": "0190f000-0000-7000-8000-00000000dead" };
  return { ...request, options: { ...request.options, headers } };
}

/** Converts a result to the form that `checkHistory` expects. */
export function toClientRequest(
  result: SendResult,
  request: Pick<ClientRequest, "accountId" | "customerId" | "meter" | "units">,
): ClientRequest {
  const headers = "response" in result ? result.response.headers : result.headers;
  const receipt = headers?.["x-request-id"];
  const identified = { ...request, ...(typeof receipt === "string" ? { receipt } : {}) };
  if ("error" in result) return { ...identified, outcome: "unknown" };
  const { status, text } = result.response;
  if (status === 200) {
    const units = Number(headers?.["x-usage-units"]);
    return units === 0 ? { ...identified, outcome: "refused" } : { ...identified, units, outcome: "ok" };
  }
  // The commit may have succeeded although it was reported as failed.
  const isUnknown = status === 503 && (JSON.parse(text) as { code?: string }).code === "usage_not_recorded";
  return { ...identified, outcome: isUnknown ? "unknown" : "refused" };
}

/** Observations of the clients. */
export interface Observations {
  readonly log: ClientRequest[];
  /** Number of responses by status; 0 for no response or an incomplete one. */
  readonly statuses: Map<number, number>;
  /** Responses whose reported units differ from the cost of the request. */
  readonly overcharges: string[];
}

export const newObservations = (): Observations => ({ log: [], statuses: new Map(), overcharges: [] });

/** Runs clients that each send one request after another until `isOver`. */
export async function runClients(
  url: string,
  settings: {
    readonly account: TestAccount;
    readonly clientCount: number;
    readonly random: SeededRandom;
    readonly observations: Observations;
    readonly isOver: () => boolean;
    readonly refusedShare?: number;
  },
): Promise<void> {
  const { account, clientCount, random, observations, isOver, refusedShare = 0.1 } = settings;
  const http = new HttpClient(clientCount);
  const runClient = async (): Promise<void> => {
    while (!isOver()) {
      const request = randomRequest(random);
      const { meter, units, target, options } = random.chance(refusedShare) ? refusedRequest(random, request) : request;
      const customerId = random.pick(account.customerIds);
      const headers = { "X-API-Key": account.apiKey, "X-Customer-ID": customerId, ...options.headers };
      const result = await http.trySend(url + target, { ...options, headers });
      const observed = toClientRequest(result, { accountId: account.accountId, customerId, meter, units });
      const status = "response" in result ? result.response.status : 0;
      // A refused connection means that the request was not sent.
      const isSent = !("error" in result) || (result.error as NodeJS.ErrnoException).code !== "ECONNREFUSED";
      if (isSent) observations.log.push(observed);
      observations.statuses.set(status, (observations.statuses.get(status) ?? 0) + 1);
      if (observed.outcome === "ok" && observed.units !== units)
        observations.overcharges.push(`${target}: ${observed.units}, not ${units}`);
      // Do not retry in a tight loop while the service is unavailable.
      if (status === 0 || status === 503) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await Promise.all(Array.from({ length: clientCount }, runClient));
  http.close();
}

/** Returns the inconsistencies between observations, ledger, usage and export; empty if there are none. */
export async function findInconsistencies(
  { log, overcharges }: Observations,
  ledger: Ledger,
  location: LedgerLocation,
): Promise<readonly string[]> {
  const csv = await runCli(["usage", "export"], location);
  return [...overcharges, ...(await checkHistory(log, ledger, { csv }))];
}

/** Summarizes the observations by outcome and status, for the console. */
export function summarize({ log, statuses }: Observations): string {
  const count = (outcome: ClientRequest["outcome"]): number =>
    log.filter((request) => request.outcome === outcome).length;
  const byStatus = [...statuses].toSorted(([a], [b]) => a - b).map(([status, total]) => `${status}: ${total}`);
  return `${count("ok")} ok, ${count("refused")} refused, ${count("unknown")} unknown (${byStatus.join(", ")})`;
}
