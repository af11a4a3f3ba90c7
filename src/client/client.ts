/**
 * A client of Isotherm's HTTP API, on `fetch` and nothing else. Its types stand here for themselves, so that a
 * caller in a browser takes in no part of the engine.
 */
import type {
  Customer,
  CustomerRegistration,
  Limits,
  Page,
  PageQuestion,
  UsageLine,
  UsageQuestion,
} from "./account.ts";
import type { AlignmentAnswer, AlignmentBasis, Entity } from "./alignment.ts";
import type {
  CompanyAnswer,
  CompanyRequest,
  ReferenceCountry,
  ReferenceIndustry,
  ReferenceScenario,
} from "./company.ts";
import type { HazardAnswer, HazardBatchAnswer, HazardCatalogue, HazardQuery } from "./hazard.ts";
import {
  ALIGNMENT_OPTIONS,
  CALL_OPTIONS,
  checkOptions,
  CLIENT_OPTIONS,
  DATA_OPTIONS,
  RETRY_OPTIONS,
} from "./options.ts";
import { rebasePointers, type Chunk, type ChunkLimits, splitIntoChunks } from "./chunks.ts";
import { type AnswerNotes, type RetryOptions, Transport } from "./transport.ts";

export type * from "./account.ts";
export type * from "./alignment.ts";
export type * from "./company.ts";
export type * from "./hazard.ts";
export { IsothermError, type Problem, type ProblemItem } from "./problem.ts";
export type { AnswerNotes, RetryOptions } from "./transport.ts";

export interface ClientOptions {
  /** Where the service is, with or without a slash at the end: "http://127.0.0.1:8080". */
  readonly baseUrl: string | URL;
  /** The account's key. */
  readonly apiKey?: string;
  /** The customer that data is asked for, unless a call names another. */
  readonly customerId?: string;
  readonly retry?: RetryOptions;
  /** Told of every answer that is no refusal: what it was counted as, and how to name it. */
  readonly onAnswer?: (notes: AnswerNotes) => void;
  /** Default: the platform's own. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  /** Gives the call up when it aborts. */
  readonly signal?: AbortSignal;
}

export interface DataOptions extends CallOptions {
  /** The customer that this is for. */
  readonly customerId?: string;
}

export interface AlignmentOptions extends DataOptions {
  /** What is compared with the pathways: emissions per revenue (`intensity`, the default), emissions, or all of them since the baseline. */
  readonly basis?: AlignmentBasis;
  /** Adds to each year how its number came about. */
  readonly detail?: boolean;
}

/** Some results of a list that was asked for in portions. */
export interface Part<Result> {
  /** Index of the first of them in the whole list. */
  readonly first: number;
  readonly results: readonly Result[];
}

type BatchResult = HazardBatchAnswer["results"][number];
type AlignmentResult = AlignmentAnswer["results"][number];

/**
 *   const client = new IsothermClient({ baseUrl: "http://127.0.0.1:8080", apiKey: "iso_sk_...", customerId: "..." });
 *   await client.hazardRisk({ latitude: 11.6, longitude: 43.1, hazards: ["riverine_floods"],
 *     analysis_years: [2050], scenarios: ["rcp8p5"] });
 *
 * What may succeed later is sent again, after the time that the service asks for; a data call carries an
 * Idempotency-Key, so that it is counted once however often it was sent. Every method throws
 *
 * - IsothermError when the service refuses, or when what answered was not the service
 * - what `fetch` throws when nothing answers
 * - the reason of its signal
 * - TypeError for an option that does not exist or has a value of another type
 */
export class IsothermClient {
  readonly #transport: Transport;
  readonly #customerId: string | undefined;
  #limits: Limits | undefined;

  /**
   * @throws TypeError when `baseUrl` is not an address, or with every option that does not exist or has a value of
   *   another type; RangeError when an option of `retry` is out of range
   */
  constructor(options: ClientOptions) {
    const { baseUrl, apiKey, customerId, retry = {}, onAnswer } = checkOptions("The options", options, CLIENT_OPTIONS);
    checkOptions("The options of retry", retry, RETRY_OPTIONS);
    const { fetch = (...request) => globalThis.fetch(...request) } = options;
    this.#transport = new Transport({ baseUrl, apiKey, fetch, retry, onAnswer });
    this.#customerId = customerId;
  }

  /** The hazards of one location. */
  async hazardRisk(query: HazardQuery, options: DataOptions = {}): Promise<HazardAnswer> {
    checkDataOptions(options);
    return (await this.#data("GET", withQuery("/api/v1/hazard-risk", query), options)) as HazardAnswer;
  }

  /**
   * The hazards of any number of locations, asked for in as many requests as the service's limits make it, and joined
   * in order. A location that is wrong in itself has its problem in its place.
   */
  async hazardRiskBatch(queries: readonly HazardQuery[], options: DataOptions = {}): Promise<HazardBatchAnswer> {
    return { results: await collect(this.hazardRiskParts(queries, options)) };
  }

  /** The same part by part, as they come: what was answered is not lost with what comes after it. */
  async *hazardRiskParts(
    queries: readonly HazardQuery[],
    options: DataOptions = {},
  ): AsyncGenerator<Part<BatchResult>, void, undefined> {
    checkDataOptions(options);
    const limits = await this.#limitsInForce(options);
    yield* this.#parts<HazardQuery, BatchResult>("/api/v1/hazard-risk/batch", queries, options, {
      itemCount: limits.batch_elements,
      valueCount: limits.hazard_values,
      detailCount: limits.detail_values,
      isDetailed: (query) => query?.detail === true,
      bodyBytes: limits.body_bytes,
      valuesOf: (query) => lengthOf(query?.hazards) * lengthOf(query?.scenarios) * lengthOf(query?.analysis_years),
    });
  }

  /**
   * The implied temperature rise of any number of companies, for each of their projected years; in as many requests as
   * the service's limits make it.
   */
  async alignTemperature(entities: readonly Entity[], options: AlignmentOptions = {}): Promise<AlignmentAnswer> {
    return { results: await collect(this.alignTemperatureParts(entities, options)) };
  }

  /** The same part by part. */
  async *alignTemperatureParts(
    entities: readonly Entity[],
    options: AlignmentOptions = {},
  ): AsyncGenerator<Part<AlignmentResult>, void, undefined> {
    const { basis, detail } = checkOptions("The options of the call", options, ALIGNMENT_OPTIONS);
    const limits = await this.#limitsInForce(options);
    const path = withQuery("/api/v1/temperature-alignment-projections", { basis, detail });
    yield* this.#parts<Entity, AlignmentResult>(path, entities, options, {
      itemCount: limits.entities,
      valueCount: limits.alignment_values,
      detailCount: limits.detail_values,
      isDetailed: () => detail === true,
      bodyBytes: limits.body_bytes,
      valuesOf: (entity) => lengthOf(entity?.projected_emissions),
    });
  }

  /** What a company stands to lose, in each scenario and year asked for. */
  async totalClimateRisk(request: CompanyRequest, options: DataOptions = {}): Promise<CompanyAnswer> {
    checkDataOptions(options);
    const body = JSON.stringify(request);
    return (await this.#data("POST", "/analyze/total-climate-risk", options, body)) as CompanyAnswer;
  }

  /**
   * Returns the customer of an internal id, registered where it was not: the same one however often it is called. A
   * `name` replaces the one of a customer registered before; without one the name stays.
   */
  async registerCustomer(registration: CustomerRegistration, options: CallOptions = {}): Promise<Customer> {
    const { signal } = checkCallOptions(options);
    const body = JSON.stringify(registration);
    return (await this.#transport.json({ method: "POST", path: CUSTOMERS, body, signal })) as Customer;
  }

  /** A page of the account's customers, archived ones too. */
  async customers(page: PageQuestion = {}, options: CallOptions = {}): Promise<Page<Customer>> {
    return (await this.#get(withQuery(CUSTOMERS, page), options)) as Page<Customer>;
  }

  async customer(customerId: string, options: CallOptions = {}): Promise<Customer> {
    return (await this.#get(customerPath(customerId), options)) as Customer;
  }

  /** Nothing more is asked for this customer; its usage stays. */
  async archiveCustomer(customerId: string, options: CallOptions = {}): Promise<Customer> {
    const { signal } = checkCallOptions(options);
    return (await this.#transport.json({ method: "DELETE", path: customerPath(customerId), signal })) as Customer;
  }

  /** A page of what the account's answers have counted. */
  async usage(question: UsageQuestion & PageQuestion = {}, options: CallOptions = {}): Promise<Page<UsageLine>> {
    return (await this.#get(withQuery("/latest/api/v1/usage", question), options)) as Page<UsageLine>;
  }

  /** All of it, as CSV (RFC 4180). */
  async usageCsv(question: UsageQuestion = {}, options: CallOptions = {}): Promise<string> {
    const { signal } = checkCallOptions(options);
    const path = withQuery("/latest/api/v1/usage", { ...question, format: "csv" });
    return (await this.#transport.text({ method: "GET", path, signal })).text;
  }

  /** What one request, and the account, may ask for. */
  async limits(options: CallOptions = {}): Promise<Limits> {
    return (await this.#get("/api/v1/limits", options)) as Limits;
  }

  /** The catalogue of hazards, and what the service's atlas has of it. */
  async hazards(options: CallOptions = {}): Promise<HazardCatalogue> {
    return (await this.#get("/api/v1/hazards", options)) as HazardCatalogue;
  }

  /** What the company model knows, as the next two. */
  async industries(options: CallOptions = {}): Promise<readonly ReferenceIndustry[]> {
    return this.#reference<ReferenceIndustry>("industries", options);
  }

  async countries(options: CallOptions = {}): Promise<readonly ReferenceCountry[]> {
    return this.#reference<ReferenceCountry>("countries", options);
  }

  async scenarios(options: CallOptions = {}): Promise<readonly ReferenceScenario[]> {
    return this.#reference<ReferenceScenario>("scenarios", options);
  }

  async #reference<Item>(what: string, options: CallOptions): Promise<readonly Item[]> {
    return ((await this.#get(`/api/v1/reference/${what}`, options)) as { readonly items: readonly Item[] }).items;
  }

  #get(path: string, options: CallOptions): Promise<unknown> {
    const { signal } = checkCallOptions(options);
    return this.#transport.json({ method: "GET", path, signal });
  }

  #data(method: "GET" | "POST", path: string, { signal, customerId }: DataOptions, body?: string): Promise<unknown> {
    return this.#transport.json({
      method,
      path,
      signal,
      isData: true,
      customerId: customerId ?? this.#customerId,
      ...(body === undefined ? {} : { body }),
    });
  }

  async *#parts<Item, Result>(
    path: string,
    items: readonly Item[],
    options: DataOptions,
    limits: ChunkLimits<Item>,
  ): AsyncGenerator<Part<Result>, void, undefined> {
    for (const portion of splitIntoChunks(items, limits)) {
      yield { first: portion.first, results: await this.#portion<Result>(path, portion, options) };
    }
  }

  async #portion<Result>(
    path: string,
    { first, count, body }: Chunk,
    options: DataOptions,
  ): Promise<readonly Result[]> {
    let answer: { readonly results: readonly Result[] };
    try {
      answer = (await this.#data("POST", path, options, body)) as typeof answer;
    } catch (error) {
      throw rebasePointers(error, first);
    }
    // One result too few, and every later one would be another place's.
    if (answer.results.length === count) return answer.results;
    throw new Error(`The service answered ${count} items with ${answer.results.length} results.`);
  }

  /** They do not change while a service runs, so that they are asked for until they are known. */
  async #limitsInForce({ signal }: CallOptions): Promise<Limits> {
    this.#limits ??= await this.limits(signal === undefined ? {} : { signal });
    return this.#limits;
  }
}

function checkDataOptions(options: DataOptions): DataOptions {
  return checkOptions("The options of the call", options, DATA_OPTIONS);
}

function checkCallOptions(options: CallOptions): CallOptions {
  return checkOptions("The options of the call", options, CALL_OPTIONS);
}

const CUSTOMERS = "/latest/api/v1/customers";

function customerPath(customerId: string): string {
  return `${CUSTOMERS}/${encodeURIComponent(customerId)}`;
}

async function collect<Result>(parts: AsyncIterable<Part<Result>>): Promise<Result[]> {
  const all: Result[] = [];
  for await (const { results } of parts) for (const result of results) all.push(result);
  return all;
}

/** Of what a caller without types may have sent. */
function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

/** Not by URLSearchParams, which writes a space as a plus sign: on this wire a plus sign is one. */
function withQuery(path: string, members: object): string {
  const parameters = (Object.entries(members) as [string, unknown][])
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join("&");
  return parameters === "" ? path : `${path}?${parameters}`;
}
