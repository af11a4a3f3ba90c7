/**
 * A client of Isotherm's HTTP API, on `fetch` and nothing else. Its types stand here for themselves, so that a
 * caller in a browser takes in no part of the engine.
 */

export type Hazard = "cyclones" | "wildfire" | "coastal_floods" | "riverine_floods";
export type Scenario = "baseline" | "rcp2p6" | "rcp4p5" | "rcp6p0" | "rcp8p5";
export type Metric =
  "intensity" | "wind_speed_mps" | "fire_danger_days" | "depth_meters" | "probability" | "total_hazard";

/** A location and what is asked about it. */
export interface HazardQuery {
  /** Degrees north, -90 to 90, WGS84. */
  readonly latitude: number;
  /** Degrees east, -180 to 180, WGS84. */
  readonly longitude: number;
  /** At least one, none twice; likewise `analysis_years` and `scenarios`. */
  readonly hazards: readonly Hazard[];
  readonly analysis_years: readonly number[];
  readonly scenarios: readonly Scenario[];
  /** Kilometres, 0 to 100, default 0. Above 0 the cells within this geodesic distance are aggregated. */
  readonly radius?: number;
  /** Default max. */
  readonly aggregation_method?: "max" | "mean";
  /** Adds the metric `total_hazard`. */
  readonly total_hazard?: boolean;
  /** Gives every metric as its change since the baseline of 1980. */
  readonly anthropogenic?: boolean;
  /** Adds to each analysis year how its numbers were made. */
  readonly detail?: boolean;
}

export interface HazardAnswer {
  readonly location: { readonly latitude: number; readonly longitude: number };
  /** There exactly when a radius above 0 was asked for. */
  readonly aggregation?: { readonly radius_km: number; readonly method: "max" | "mean" };
  /** In the order asked for, as are scenarios and years. */
  readonly results: readonly {
    readonly hazard: Hazard;
    readonly scenarios: readonly {
      readonly scenario: Scenario;
      readonly analysis_years: readonly AnalysisYear[];
    }[];
  }[];
}

export interface AnalysisYear {
  readonly analysis_year: number;
  /** `null` where no number exists; `no_data` then says why. */
  readonly metrics: Readonly<Partial<Record<Metric, number | null>>>;
  readonly no_data?: "outside_coverage" | "no_data" | "layer_missing";
  /** With `detail` alone. */
  readonly detail?: {
    readonly cells: number;
    /** Share of the cells' area that has data. */
    readonly valid_share: number;
    readonly cell_centre?: { readonly latitude: number; readonly longitude: number };
    readonly source: Readonly<Record<string, unknown>>;
    readonly rules: Readonly<Record<string, unknown>>;
  };
}

export type AlignmentBasis = "intensity" | "emissions" | "cumulative";
export type AlignmentPathway = "economy" | "power" | "energy_supply" | "industry" | "transport" | "buildings";
export type AlignmentFlag =
  | "unknown_industry"
  | "unknown_country"
  | "unknown_classification"
  | "scope_missing"
  | "no_usable_scope"
  | "zero_baseline"
  | "negative_scope"
  | "revenue_unusable"
  | "beyond_table"
  | "early_baseline"
  | "duplicate_year"
  | "check_units"
  | "short_horizon"
  | "anchors_close";

/** Emissions of a year in any one unit, -1e15 to 1e15, at least one scope; removals are negative. */
export interface ScopeEmissions {
  readonly scope1?: number;
  readonly scope2?: number;
  readonly scope3?: number;
}

/** A company, its emissions in exactly one baseline year, and in one or more later years. */
export interface Entity {
  readonly entity_info: {
    /** The caller's own; not echoed. */
    readonly identifier?: string;
    readonly name: string;
    readonly asset_type: "equity";
    /** ISO code or name. */
    readonly country?: string;
    readonly industry_classification_system?: string;
    /** Names, not codes; the sector is asked where the industry says nothing. */
    readonly industry?: string;
    readonly sector?: string;
  };
  readonly data: readonly {
    /** 1900 to 2200, as every year. */
    readonly year: number;
    readonly emissions: ScopeEmissions;
    /** In any currency. */
    readonly financials?: { readonly revenue?: number; readonly ebitda?: number };
  }[];
  readonly projected_emissions: readonly { readonly year: number; readonly emissions: ScopeEmissions }[];
}

export interface AlignmentOptions extends CallOptions {
  /** What is compared with the pathways: emissions per revenue (`intensity`, the default), emissions, or all of them since the baseline. */
  readonly basis?: AlignmentBasis;
  /** Adds to each year how its number came about. */
  readonly detail?: boolean;
}

export interface AlignmentAnswer {
  /** One element an entity, in the order submitted. */
  readonly results: readonly {
    readonly entity_info: Pick<
      Entity["entity_info"],
      "name" | "asset_type" | "country" | "industry_classification_system" | "industry" | "sector"
    >;
    /** One element a projected year, in the order submitted. */
    readonly data: readonly AlignedYear[];
  }[];
}

export interface AlignedYear {
  readonly year: number;
  /** Implied warming in 2100, degrees C, 1.3 to 6; `null` where there is none, and `reason` then says why. */
  readonly temperature_alignment: number | null;
  readonly reason?: "no_usable_scope" | "zero_baseline";
  /** With `detail` alone. A figure that does not exist is `null`. */
  readonly detail?: {
    readonly benchmark: string;
    readonly credit: string;
    readonly basis: AlignmentBasis;
    readonly temperature_intensity: number | null;
    readonly temperature_emissions: number | null;
    readonly temperature_cumulative: number | null;
    readonly pathway: AlignmentPathway;
    /** Which text decided, by which row and key of the table of sectors. */
    readonly matched: {
      readonly on: "industry" | "sector" | null;
      readonly row: number | null;
      readonly key: string | null;
    };
    readonly scope_pathways: ByScope<AlignmentPathway>;
    readonly emissions: Change;
    readonly emissions_ratio: number | null;
    readonly growth_factor: number | null;
    readonly emissions_ratio_q: number | null;
    readonly evaluated_year: number;
    readonly anchors: readonly { readonly scenario: string; readonly temperature_2100_c: number }[];
    readonly benchmark_ratio_at_anchors: readonly number[] | null;
    readonly between: { readonly below: string | null; readonly above: string | null; readonly weight: number } | null;
    readonly growth_region: string;
    readonly revenue: Change;
    readonly intensity: Change;
    readonly convergence: { readonly kappa: number; readonly gamma: number } | null;
    readonly temperature_by_scope: ByScope<number | null>;
    readonly flags: readonly AlignmentFlag[];
  };
}

interface Change {
  readonly baseline: number | null;
  readonly projected: number | null;
}

type ByScope<Value> = { readonly [Scope in "scope1" | "scope2" | "scope3"]?: Value };

/** A refusal (RFC 9457). Programs branch on `code`. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  /** To be named when asking the operator. */
  readonly request_id: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** Everything that the caller can put right. */
  readonly errors?: readonly ProblemItem[];
  /** With `too_many_values`. */
  readonly requested?: number;
  readonly limit?: number;
  /** With `json_malformed`: where in the body, counted from 1. */
  readonly line?: number;
  readonly column?: number;
}

/** Exactly one of `pointer`, `parameter` and `header` says where. */
export interface ProblemItem {
  /** A JSON pointer into the body. */
  readonly pointer?: string;
  readonly parameter?: string;
  readonly header?: string;
  readonly code: string;
  readonly detail: string;
  readonly allowed?: readonly (string | number | boolean)[];
  readonly did_you_mean?: string | number;
  /** With `combination_unavailable`. */
  readonly hazard?: string;
  readonly offered_years?: readonly number[];
  readonly offered_scenarios?: readonly string[];
}

/** The service refused, or what answered was not the service. A connection that fails throws as `fetch` does. */
export class IsothermError extends Error {
  override readonly name = "IsothermError";
  readonly status: number;
  /** Absent where the answer was no problem document: a proxy's page, say. */
  readonly problem: Problem | undefined;
  constructor(message: string, { status, problem }: { readonly status: number; readonly problem?: Problem }) {
    super(message);
    this.status = status;
    this.problem = problem;
  }
}

export interface ClientOptions {
  /** Where the service is, with or without a slash at the end: "http://127.0.0.1:8080". */
  readonly baseUrl: string | URL;
  /** Default: the platform's own. */
  readonly fetch?: typeof globalThis.fetch;
}

export interface CallOptions {
  /** Gives the call up when it aborts. */
  readonly signal?: AbortSignal;
}

/**
 *   const client = new IsothermClient({ baseUrl: "http://127.0.0.1:8080" });
 *   await client.hazardRisk({ latitude: 11.6, longitude: 43.1, hazards: ["riverine_floods"],
 *     analysis_years: [2050], scenarios: ["rcp8p5"] });
 */
export class IsothermClient {
  readonly #baseUrl: string;
  readonly #fetch: typeof globalThis.fetch;

  /** @throws TypeError when `baseUrl` is no address */
  constructor({ baseUrl, fetch = (...request) => globalThis.fetch(...request) }: ClientOptions) {
    this.#baseUrl = new URL(baseUrl).href.replace(/\/+$/, "");
    this.#fetch = fetch;
  }

  /**
   * The hazards of one location.
   * @throws IsothermError when the service refuses
   */
  async hazardRisk(query: HazardQuery, { signal }: CallOptions = {}): Promise<HazardAnswer> {
    return (await this.#call(`/api/v1/hazard-risk?${parametersOf(query)}`, { signal })) as HazardAnswer;
  }

  /**
   * The implied temperature rise of companies, for each of their projected years.
   * @throws IsothermError when the service refuses
   */
  async temperatureAlignment(
    entities: readonly Entity[],
    { basis, detail, signal }: AlignmentOptions = {},
  ): Promise<AlignmentAnswer> {
    const parameters = parametersOf({ basis, detail });
    const path = `/api/v1/temperature-alignment-projections${parameters === "" ? "" : `?${parameters}`}`;
    return (await this.#call(path, { signal, body: JSON.stringify(entities) })) as AlignmentAnswer;
  }

  async #call(
    path: string,
    { signal, body: sent }: { readonly signal?: AbortSignal | undefined; readonly body?: string },
  ): Promise<unknown> {
    const accepted = { Accept: "application/json, application/problem+json" };
    const response = await this.#fetch(`${this.#baseUrl}${path}`, {
      ...(sent === undefined
        ? { headers: accepted }
        : { method: "POST", headers: { ...accepted, "Content-Type": "application/json" }, body: sent }),
      ...(signal === undefined ? {} : { signal }),
    });
    const { status } = response;
    const text = await response.text();
    const body = parsed(text);
    if (response.ok && body !== undefined) return body;
    if (isProblem(body)) throw new IsothermError(`${body.code}: ${body.detail}`, { status, problem: body });
    const message = `${this.#baseUrl} answered with status ${status}, but not as Isotherm does.`;
    throw new IsothermError(message, { status });
  }
}

/** Not by URLSearchParams, which writes a space as a plus sign: on this wire a plus sign is one. */
function parametersOf(members: object): string {
  return (Object.entries(members) as [string, unknown][])
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`)
    .join("&");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function isProblem(body: unknown): body is Problem {
  return (
    typeof body === "object" &&
    body !== null &&
    "code" in body &&
    typeof body.code === "string" &&
    "detail" in body &&
    typeof body.detail === "string"
  );
}
