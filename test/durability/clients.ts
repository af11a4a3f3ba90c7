import { Agent, request as send } from "node:http";
import type { Ledger, Meter } from "../../src/ledger/ledger.ts";
import { ENTITY } from "../host/entities.ts";
import { type ClientRequest, checkHistory } from "../ledger/history.ts";
import type { SeededRandom } from "../seededRandom.ts";
import { type Account, operate, type Place } from "./service.ts";

export interface Answer {
  readonly status: number;
  /** As they came: name, value, … */
  readonly rawHeaders: readonly string[];
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Question {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What became of a question: an answer, or as much of one as came. */
type Exchanged = { readonly answer: Answer } | { readonly lost: Error; readonly headers?: Answer["headers"] };

/** Connections that are kept, as clients of a service keep them. */
export class Clients {
  readonly #agent: Agent;

  constructor(connectionCount: number) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: connectionCount });
  }

  /** Asks once: whether a lost question may be asked again is for whoever asks to say. */
  exchange(target: string, { method = "GET", headers = {}, body }: Question = {}): Promise<Exchanged> {
    return new Promise((resolve) => {
      const length = body === undefined ? {} : { "Content-Length": String(Buffer.byteLength(body)) };
      const request = send(target, { method, agent: this.#agent, headers: { ...headers, ...length } }, (response) => {
        const parts: Buffer[] = [];
        const { headers: named, rawHeaders, statusCode: status = 0 } = response;
        const lose = (lost: Error): void => resolve({ lost, headers: named });
        response.on("data", (part: Buffer) => parts.push(part));
        response.on("error", lose);
        response.on("aborted", () => lose(new Error("aborted")));
        response.on("end", () => {
          resolve({ answer: { status, rawHeaders, headers: named, text: Buffer.concat(parts).toString() } });
        });
      });
      request.on("error", (lost) => resolve({ lost }));
      request.end(body);
    });
  }

  /** As `exchange`, where an answer is certain. */
  async ask(target: string, question?: Question): Promise<Answer> {
    const exchanged = await this.exchange(target, question);
    if ("answer" in exchanged) return exchanged.answer;
    throw exchanged.lost;
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** A request of which it is known what it costs. */
export interface Priced {
  readonly meter: Meter;
  readonly units: number;
  readonly target: string;
  readonly question: Question;
}

const YEARS = [2030, 2050, 2080] as const;
const FLOODS = ["riverine_floods", "coastal_floods"] as const;
const SCENARIOS = ["rcp4p5", "rcp8p5"] as const;
const COMPANY = {
  name: "Example Cement Ltd",
  country: "India",
  industry: "cement_lime",
  revenue: "7870000000",
  total_assets: "11400000000",
  ebitda: "1380000000",
  total_debt: "1230000000",
  transition_scenarios: ["NGFS_NET_ZERO_2050"],
};

export const posted = (value: unknown): Question => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(value),
});

/** Any of the data requests, most of them the small ones that are asked most. */
export function pricedRequest(random: SeededRandom): Priced {
  const some = <Item>(items: readonly Item[]): Item[] => items.slice(0, 1 + random.below(items.length));
  const query = {
    // A place where the demo has floods of both kinds.
    latitude: 11.59,
    longitude: 43.15,
    radius: 10,
    hazards: some(FLOODS),
    analysis_years: some(YEARS),
    scenarios: some(SCENARIOS),
  };
  const valueCount = query.hazards.length * query.analysis_years.length * query.scenarios.length;
  switch (random.below(10)) {
    case 0: {
      const entities = Array.from({ length: 1 + random.below(4) }, () => ENTITY);
      const units = entities.length * ENTITY.projected_emissions.length;
      const target = "/api/v1/temperature-alignment-projections";
      return { meter: "alignment_values", units, target, question: posted(entities) };
    }
    case 1: {
      const count = 1 + random.below(5);
      const question = posted(Array.from({ length: count }, () => query));
      return { meter: "hazard_values", units: count * valueCount, target: "/api/v1/hazard-risk/batch", question };
    }
    case 2: {
      const assessment_years = some([2030, 2040, 2050]);
      const question = posted({ ...COMPANY, assessment_years });
      const target = "/analyze/total-climate-risk";
      return { meter: "company_results", units: assessment_years.length, target, question };
    }
    default: {
      const parameters = Object.entries(query).map(([name, value]) => `${name}=${String(value)}`);
      const target = `/api/v1/hazard-risk?${parameters.join("&")}`;
      return { meter: "hazard_values", units: valueCount, target, question: {} };
    }
  }
}

/** A request that is refused: wrong, or somebody else's. */
function refusedRequest(random: SeededRandom, request: Priced): Priced {
  if (random.chance(0.5)) return { ...request, target: "/api/v1/hazard-risk?latitude=91", question: {} };
  const headers = { ...request.question.headers, "X-Customer-ID": "0190f000-0000-7000-8000-00000000dead" };
  return { ...request, question: { ...request.question, headers } };
}

/** As the checker of histories wants it told. */
export function toldOf(
  exchanged: Exchanged,
  request: Pick<ClientRequest, "accountId" | "customerId" | "meter" | "units">,
): ClientRequest {
  const headers = "answer" in exchanged ? exchanged.answer.headers : exchanged.headers;
  const receipt = headers?.["x-request-id"];
  const named = { ...request, ...(typeof receipt === "string" ? { receipt } : {}) };
  if ("lost" in exchanged) return { ...named, outcome: "unknown" };
  const { status, text } = exchanged.answer;
  if (status === 200) {
    const units = Number(headers?.["x-usage-units"]);
    return units === 0 ? { ...named, outcome: "refused" } : { ...named, units, outcome: "ok" };
  }
  // A commit that failed may have been one all the same.
  const isUnknown = status === 503 && (JSON.parse(text) as { code?: string }).code === "usage_not_recorded";
  return { ...named, outcome: isUnknown ? "unknown" : "refused" };
}

/** What clients saw: what the checker of histories wants, and what else there was. */
export interface Seen {
  readonly log: ClientRequest[];
  /** Answers by status; 0 where none came, or not all of it. */
  readonly statuses: Map<number, number>;
  /** Answers that said that they cost something else than they do. */
  readonly overcharges: string[];
}

export const nothingSeen = (): Seen => ({ log: [], statuses: new Map(), overcharges: [] });

/** So many clients ask, each the next thing as soon as it has heard, until told to stop. */
export async function askUntil(
  url: string,
  work: {
    readonly account: Account;
    readonly clientCount: number;
    readonly random: SeededRandom;
    readonly seen: Seen;
    readonly isOver: () => boolean;
    readonly refusedShare?: number;
  },
): Promise<void> {
  const { account, clientCount, random, seen, isOver, refusedShare = 0.1 } = work;
  const clients = new Clients(clientCount);
  const ask = async (): Promise<void> => {
    while (!isOver()) {
      const priced = pricedRequest(random);
      const { meter, units, target, question } = random.chance(refusedShare) ? refusedRequest(random, priced) : priced;
      const customerId = random.pick(account.customerIds);
      const headers = { "X-API-Key": account.apiKey, "X-Customer-ID": customerId, ...question.headers };
      const exchanged = await clients.exchange(url + target, { ...question, headers });
      const told = toldOf(exchanged, { accountId: account.accountId, customerId, meter, units });
      const status = "answer" in exchanged ? exchanged.answer.status : 0;
      // Who found nobody there has not asked.
      const isAsked = !("lost" in exchanged) || (exchanged.lost as NodeJS.ErrnoException).code !== "ECONNREFUSED";
      if (isAsked) seen.log.push(told);
      seen.statuses.set(status, (seen.statuses.get(status) ?? 0) + 1);
      if (told.outcome === "ok" && told.units !== units)
        seen.overcharges.push(`${target}: ${told.units}, not ${units}`);
      // Who cannot be reached now is not reached any faster by asking at once.
      if (status === 0 || status === 503) await new Promise((resolve) => setTimeout(resolve, 20));
    }
  };
  await Promise.all(Array.from({ length: clientCount }, ask));
  clients.close();
}

/** What is wrong between clients, ledger, usage and export; nothing when all is well. */
export async function findingsOf({ log, overcharges }: Seen, ledger: Ledger, place: Place): Promise<readonly string[]> {
  const csv = await operate(["usage", "export"], place);
  return [...overcharges, ...(await checkHistory(log, ledger, { csv }))];
}

/** How many of what clients saw, for the report of a run. */
export function countsOf({ log, statuses }: Seen): string {
  const count = (outcome: ClientRequest["outcome"]): number => log.filter((each) => each.outcome === outcome).length;
  const byStatus = [...statuses].toSorted(([a], [b]) => a - b).map(([status, many]) => `${status}: ${many}`);
  return `${count("ok")} ok, ${count("refused")} refused, ${count("unknown")} unknown (${byStatus.join(", ")})`;
}
