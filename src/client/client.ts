/**
 * A client of Isotherm's HTTP API that needs only `fetch`. It imports only types from the contract, which add no code to
 * browser bundles.
 */
import type {
  AlignmentAnswer,
  AlignmentBasis,
  AlignmentInclude,
  AlignmentResult,
  BudgetScenario,
  CompanyAnswer,
  CompanyRequest,
  CurveBatchAnswer,
  CurveParameters,
  CurveQueryInput,
  CurveResult,
  CustomerPage,
  CustomerRecord,
  CustomerRegistration,
  Entity,
  HazardBatchAnswer,
  HazardCatalog,
  HazardQueryInput,
  HazardResult,
  Limits,
  PageParameters,
  PortfolioAnswer,
  PortfolioRequest,
  ReferenceCountry,
  ReferenceIndustry,
  ReferenceScenario,
  RefusedQuery,
  TileJson,
  TileLayerPath,
  UsageFilter,
  UsagePage,
} from "../contract/wireTypes.ts";
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

export type {
  AlignedYear,
  AlignmentAnswer,
  AlignmentBasis,
  AlignmentDetail,
  AlignmentFlag,
  AlignmentInclude,
  AlignmentReason,
  AlignmentResult,
  AnalysisYearResult,
  Anchor,
  AnnualTail,
  AnswerDetail,
  BeforeAfter,
  BlendedYear,
  Bound,
  Bounds,
  BudgetScenario,
  CatalogBox,
  CatalogGrid,
  CatalogHazard,
  CatalogLayer,
  ColorStop,
  CompanyAnswer,
  CompanyAssumptions,
  CompanyAssumptionsRequest,
  CompanyEcho,
  CompanyHeadline,
  CompanyRequest,
  CompanyResult,
  CompanyValuation,
  CurveBatchAnswer,
  CurveDetail,
  CurveParameters,
  CurvePoint,
  CurveQueryInput,
  CurveResult,
  CurveScenarioResult,
  CurveYearResult,
  DamageCurvePoint,
  Exceedance,
  ExpectedAnnualDamage,
  ExpectedAnnualValue,
  IndustryParameters,
  CountryParameters,
  Contribution,
  CustomerPage,
  CustomerRecord,
  CustomerRegistration,
  DataQuality,
  DataSource,
  EmissionsBudget,
  EmissionsFigure,
  EmissionsFigures,
  Entity,
  EntityEcho,
  ExcludedLabels,
  Financed,
  FinancedBudget,
  FinancedHolding,
  HazardBatchAnswer,
  HazardCatalog,
  HazardName,
  HazardQueryInput,
  HazardResult,
  Holding,
  HoldingBudget,
  HoldingQuality,
  HoldingScore,
  HoldingTemperature,
  Limits,
  MatchedSector,
  Meter,
  MetricDetail,
  ModelRange,
  ModelRanges,
  MetricName,
  ModelRangePoint,
  NameSuggestions,
  NoDataReason,
  OverallTemperature,
  PageParameters,
  Pathway,
  PortfolioAnswer,
  PortfolioBounds,
  PortfolioCoverage,
  PortfolioGroup,
  PortfolioMethod,
  PortfolioOptions,
  PortfolioRequest,
  PortfolioResult,
  PortfolioScope,
  Problem,
  ProblemItem,
  QualityMark,
  ReferenceCountry,
  ReferenceIndustry,
  ReferenceScenario,
  RefusedEntity,
  RefusedQuery,
  Remark,
  RemarkCode,
  ReturnLevel,
  Scenario,
  ScenarioResult,
  ScopeEmissions,
  ScopeTemperatures,
  ScoredHolding,
  TemperatureRange,
  TileJson,
  TileLayerPath,
  UnattributedReason,
  UncoveredHolding,
  UncoveredReason,
  UsageFilter,
  UsageGroup,
  UsagePage,
  UsageRecord,
} from "../contract/wireTypes.ts";
export { IsothermError } from "./problem.ts";
export type { AnswerNotes, RetryOptions } from "./transport.ts";

export interface ClientOptions {
  /** URL of the service, such as "http://127.0.0.1:8080", with or without a trailing slash. */
  readonly baseUrl: string | URL;
  /** API key of the account. */
  readonly apiKey?: string;
  /** Customer of data calls that do not specify one. */
  readonly customerId?: string;
  readonly retry?: RetryOptions;
  /** Called with the metadata of each successful response. */
  readonly onAnswer?: (notes: AnswerNotes) => void;
  /** Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  /** Cancels the call. */
  readonly signal?: AbortSignal;
}

export interface DataOptions extends CallOptions {
  /** Customer of this call; default: that of the client. */
  readonly customerId?: string;
}

export interface AlignmentOptions extends DataOptions {
  /**
   * Quantity compared with the pathways: emissions per revenue (`intensity`, the default), emissions, or cumulative
   * emissions since the baseline.
   */
  readonly basis?: AlignmentBasis;
  /** Members to add to the results. */
  readonly include?: readonly AlignmentInclude[];
  /** Scenario of the member `budget`, default `net_zero_2050`. Naming one adds `budget`. */
  readonly budgetScenario?: BudgetScenario;
  /**
   * Fraction of the gap between the entity's emissions intensity and that of its industry that is closed by 2050; above
   * 0 and at most 1. Default: no convergence.
   */
  readonly convergence?: number;
  /** Id of the benchmark; default: that of the service. */
  readonly benchmark?: string;
  /** Adds to each year how its temperature was computed, and all members that `include` can add. */
  readonly detail?: boolean;
}

/** Results for a part of a list that was split into several requests. */
export interface Part<Result> {
  /** Index of the first result in the whole list. */
  readonly first: number;
  readonly results: readonly Result[];
}

/** Temperatures of a part of the entities, with the versions of the method and benchmark that were used. */
export type AlignmentPart = Part<AlignmentResult> & Omit<AlignmentAnswer, "results">;

/**
 * Client of one service, usually for one account:
 *
 *   const client = new IsothermClient({ baseUrl: "http://127.0.0.1:8080", apiKey: "iso_sk_...", customerId: "..." });
 *   await client.hazardRisk({ latitude: 11.6, longitude: 43.1, hazards: ["riverine_floods"],
 *     analysis_years: [2050], scenarios: ["rcp8p5"] });
 *
 * Temporary failures are retried, after the delay that the service requests. Data calls have an Idempotency-Key, so that a
 * call is metered once, however often it is retried. All methods that send requests throw
 *
 * - IsothermError for error responses, and for responses that are not from an Isotherm service
 * - the error of `fetch` if there is no response
 * - the reason of the call's signal if the signal is aborted
 * - TypeError for unknown options and for values of a wrong type
 */
export class IsothermClient {
  readonly #transport: Transport;
  readonly #customerId: string | undefined;
  #limits: Limits | undefined;

  /**
   * @throws TypeError if `baseUrl` is not a URL, or if options are unknown or have a wrong type; RangeError if an option
   *   of `retry` is out of range
   */
  constructor(options: ClientOptions) {
    const { baseUrl, apiKey, customerId, retry = {}, onAnswer } = checkOptions("The options", options, CLIENT_OPTIONS);
    checkOptions("The options of retry", retry, RETRY_OPTIONS);
    const { fetch = (...request) => globalThis.fetch(...request) } = options;
    this.#transport = new Transport({ baseUrl, apiKey, fetch, retry, onAnswer });
    this.#customerId = customerId;
  }

  /** Returns the hazards at one location. */
  async hazardRisk(query: HazardQueryInput, options: DataOptions = {}): Promise<HazardResult> {
    checkDataOptions(options);
    return (await this.#data("GET", withQuery("/api/v1/hazard-risk", query), options)) as HazardResult;
  }

  /**
   * Returns the hazards at any number of locations, in order, requested in as few batches as the service's limits allow. An
   * invalid query has a problem in place of its result.
   */
  async hazardRiskBatch(queries: readonly HazardQueryInput[], options: DataOptions = {}): Promise<HazardBatchAnswer> {
    return { results: await collect(this.hazardRiskParts(queries, options)) };
  }

  /**
   * Yields the results of `hazardRiskBatch` request by request, so that a later failure does not lose earlier results.
   */
  async *hazardRiskParts(
    queries: readonly HazardQueryInput[],
    options: DataOptions = {},
  ): AsyncGenerator<Part<HazardResult | RefusedQuery>, void, undefined> {
    checkDataOptions(options);
    const limits = await this.#cachedLimits(options);
    yield* this.#parts<HazardQueryInput, HazardBatchAnswer>("/api/v1/hazard-risk/batch", queries, options, {
      itemCount: limits.batch_elements,
      valueCount: limits.hazard_values,
      detailCount: limits.detail_values,
      isDetailed: (query) => query?.detail === true,
      bodyBytes: limits.body_bytes,
      valuesOf: (query) => lengthOf(query?.hazards) * lengthOf(query?.scenarios) * lengthOf(query?.analysis_years),
    });
  }

  /**
   * Returns the return-period curves of one hazard at one location. A query with a damage curve must be sent with
   * `curveBatch`.
   */
  async curve(query: CurveParameters, options: DataOptions = {}): Promise<CurveResult> {
    checkDataOptions(options);
    return (await this.#data("GET", withQuery("/api/v1/hazard-risk/curve", query), options)) as CurveResult;
  }

  /**
   * Returns the return-period curves at any number of locations, in order, requested in as few batches as the service's
   * limits allow. An invalid query has a problem in place of its result.
   */
  async curveBatch(queries: readonly CurveQueryInput[], options: DataOptions = {}): Promise<CurveBatchAnswer> {
    return { results: await collect(this.curveParts(queries, options)) };
  }

  /** Yields the results of `curveBatch` request by request. */
  async *curveParts(
    queries: readonly CurveQueryInput[],
    options: DataOptions = {},
  ): AsyncGenerator<Part<CurveResult | RefusedQuery>, void, undefined> {
    checkDataOptions(options);
    const limits = await this.#cachedLimits(options);
    yield* this.#parts<CurveQueryInput, CurveBatchAnswer>("/api/v1/hazard-risk/curve/batch", queries, options, {
      itemCount: limits.batch_elements,
      valueCount: limits.hazard_values,
      // Curves count toward the limit of values with detail.
      detailCount: limits.detail_values,
      isDetailed: () => true,
      bodyBytes: limits.body_bytes,
      valuesOf: (query) => lengthOf(query?.scenarios) * lengthOf(query?.analysis_years),
    });
  }

  /**
   * Returns the implied temperature rise of any number of companies for each of their projected years, requested in as few
   * batches as the service's limits allow.
   */
  async alignTemperature(entities: readonly Entity[], options: AlignmentOptions = {}): Promise<AlignmentAnswer> {
    const results: AlignmentResult[] = [];
    let versions: Omit<AlignmentAnswer, "results"> | undefined;
    for await (const { first: _, results: partResults, ...partVersions } of this.alignTemperatureParts(
      entities,
      options,
    )) {
      versions ??= partVersions;
      // Results of different versions are not comparable; the service may be updated between two requests.
      if (versions.method !== partVersions.method || versions.benchmark !== partVersions.benchmark) {
        throw new Error(
          `the service must not change the method or benchmark between the parts of a list (${versions.method}, ` +
            `${versions.benchmark}; then ${partVersions.method}, ${partVersions.benchmark})`,
        );
      }
      for (const result of partResults) results.push(result);
    }
    if (versions === undefined) throw new Error("the list must be requested in at least one part");
    return { ...versions, results };
  }

  /** Yields the results of `alignTemperature` request by request. */
  async *alignTemperatureParts(
    entities: readonly Entity[],
    options: AlignmentOptions = {},
  ): AsyncGenerator<AlignmentPart, void, undefined> {
    const { basis, include, budgetScenario, convergence, benchmark, detail } = checkOptions(
      "The options of the call",
      options,
      ALIGNMENT_OPTIONS,
    );
    const limits = await this.#cachedLimits(options);
    const parameters = { basis, include, budget_scenario: budgetScenario, convergence, benchmark, detail };
    const path = withQuery("/api/v1/temperature-alignment-projections", parameters);
    yield* this.#parts<Entity, AlignmentAnswer>(path, entities, options, {
      itemCount: limits.entities,
      valueCount: limits.alignment_values,
      detailCount: limits.detail_values,
      isDetailed: () => detail === true,
      bodyBytes: limits.body_bytes,
      valuesOf: (entity) => lengthOf(entity?.projected_emissions),
    });
  }

  /**
   * Returns the temperature of a portfolio for each method and scope, and its financed emissions. A portfolio is never
   * split into several requests.
   */
  async alignPortfolio(request: PortfolioRequest, options: DataOptions = {}): Promise<PortfolioAnswer> {
    checkDataOptions(options);
    const body = JSON.stringify(request);
    return (await this.#data("POST", "/api/v1/portfolio-alignment", options, body)) as PortfolioAnswer;
  }

  /** Returns the climate-related losses of a company in each requested scenario and year. */
  async totalClimateRisk(request: CompanyRequest, options: DataOptions = {}): Promise<CompanyAnswer> {
    checkDataOptions(options);
    const body = JSON.stringify(request);
    return (await this.#data("POST", "/analyze/total-climate-risk", options, body)) as CompanyAnswer;
  }

  /**
   * Registers a customer, or returns the customer that is already registered with the internal id. `name`, if given,
   * replaces the name of a registered customer.
   */
  async registerCustomer(registration: CustomerRegistration, options: CallOptions = {}): Promise<CustomerRecord> {
    const { signal } = checkCallOptions(options);
    const body = JSON.stringify(registration);
    return (await this.#transport.json({ method: "POST", path: CUSTOMERS, body, signal })) as CustomerRecord;
  }

  /** Returns a page of the account's customers, including archived ones. */
  async customers(page: PageParameters = {}, options: CallOptions = {}): Promise<CustomerPage> {
    return (await this.#get(withQuery(CUSTOMERS, page), options)) as CustomerPage;
  }

  /** Returns one customer, archived or not. */
  async customer(customerId: string, options: CallOptions = {}): Promise<CustomerRecord> {
    return (await this.#get(customerPath(customerId), options)) as CustomerRecord;
  }

  /** Archives a customer. Data calls for it then fail; its usage can still be read. */
  async archiveCustomer(customerId: string, options: CallOptions = {}): Promise<CustomerRecord> {
    const { signal } = checkCallOptions(options);
    return (await this.#transport.json({ method: "DELETE", path: customerPath(customerId), signal })) as CustomerRecord;
  }

  /** Returns a page of the account's recorded usage. */
  async usage(filter: UsageFilter & PageParameters = {}, options: CallOptions = {}): Promise<UsagePage> {
    return (await this.#get(withQuery("/latest/api/v1/usage", filter), options)) as UsagePage;
  }

  /** Returns all recorded usage that matches the filter, as CSV (RFC 4180). */
  async usageCsv(filter: UsageFilter = {}, options: CallOptions = {}): Promise<string> {
    const { signal } = checkCallOptions(options);
    const path = withQuery("/latest/api/v1/usage", { ...filter, format: "csv" });
    return (await this.#transport.text({ method: "GET", path, signal })).text;
  }

  /** Returns the limits per request and per account. */
  async limits(options: CallOptions = {}): Promise<Limits> {
    return (await this.#get("/api/v1/limits", options)) as Limits;
  }

  /** Returns the supported hazards and the layers of the service's atlas. */
  async hazards(options: CallOptions = {}): Promise<HazardCatalog> {
    return (await this.#get("/api/v1/hazards", options)) as HazardCatalog;
  }

  /** Returns the TileJSON of a layer, with URLs of map tiles that need no header field. */
  async tileJson({ hazard, scenario, year, metric }: TileLayerPath, options: CallOptions = {}): Promise<TileJson> {
    const layer = [hazard, scenario, year, metric].map(encodeURIComponent).join("/");
    return (await this.#get(`/api/v1/tiles/${layer}.json`, options)) as TileJson;
  }

  /** Returns the industries of the company model. */
  async industries(options: CallOptions = {}): Promise<readonly ReferenceIndustry[]> {
    return this.#reference<ReferenceIndustry>("industries", options);
  }

  /** Returns the countries of the company model. */
  async countries(options: CallOptions = {}): Promise<readonly ReferenceCountry[]> {
    return this.#reference<ReferenceCountry>("countries", options);
  }

  /** Returns the transition scenarios of the company model. */
  async scenarios(options: CallOptions = {}): Promise<readonly ReferenceScenario[]> {
    return this.#reference<ReferenceScenario>("scenarios", options);
  }

  async #reference<Item>(listName: string, options: CallOptions): Promise<readonly Item[]> {
    return ((await this.#get(`/api/v1/reference/${listName}`, options)) as { readonly items: readonly Item[] }).items;
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

  async *#parts<Item, Answer extends { readonly results: readonly unknown[] }>(
    path: string,
    items: readonly Item[],
    options: DataOptions,
    limits: ChunkLimits<Item>,
  ): AsyncGenerator<Answer & { readonly first: number }, void, undefined> {
    for (const chunk of splitIntoChunks(items, limits)) {
      yield { first: chunk.firstIndex, ...(await this.#chunk<Answer>(path, chunk, options)) };
    }
  }

  async #chunk<Answer extends { readonly results: readonly unknown[] }>(
    path: string,
    { firstIndex, count, body }: Chunk,
    options: DataOptions,
  ): Promise<Answer> {
    let answer: Answer;
    try {
      answer = (await this.#data("POST", path, options, body)) as Answer;
    } catch (error) {
      throw rebasePointers(error, firstIndex);
    }
    // If the number of results differed, they would be assigned to the wrong items.
    if (answer.results.length === count) return answer;
    throw new Error(`the service must return one result per item (items: ${count}, results: ${answer.results.length})`);
  }

  /** Returns the limits, which do not change while a service runs and are requested only once. */
  async #cachedLimits({ signal }: CallOptions): Promise<Limits> {
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
  const joined: Result[] = [];
  for await (const { results } of parts) for (const result of results) joined.push(result);
  return joined;
}

/** Returns the length of a list, or 0 for other values, which untyped callers may pass. */
function lengthOf(list: unknown): number {
  return Array.isArray(list) ? list.length : 0;
}

/**
 * Appends parameters to a path. Does not use URLSearchParams, which encodes a space as a plus sign: the service reads a
 * plus sign literally.
 */
function withQuery(path: string, members: object): string {
  const parameters = (Object.entries(members) as [string, unknown][])
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join("&");
  return parameters === "" ? path : `${path}?${parameters}`;
}
