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
    // Not URLSearchParams, which writes a space as a plus sign: on this wire a plus sign is one.
    const parameters = (Object.entries(query) as [string, HazardQuery[keyof HazardQuery]][])
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
    return (await this.#get(`/api/v1/hazard-risk?${parameters.join("&")}`, signal)) as HazardAnswer;
  }

  async #get(path: string, signal: AbortSignal | undefined): Promise<unknown> {
    const response = await this.#fetch(`${this.#baseUrl}${path}`, {
      headers: { Accept: "application/json, application/problem+json" },
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
