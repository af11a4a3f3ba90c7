import type { ReadonlySignal } from "@preact/signals";
import type {
  AlignmentAnswer,
  AlignmentParameters,
  AlignmentRequest,
  CompanyAnswer,
  CompanyRequest,
  CurveQueryInput,
  CurveResult,
  HazardCatalog,
  HazardName,
  HazardQueryInput,
  HazardResult,
  ProblemItem,
  ReferenceCountries,
  ReferenceIndustries,
  ReferenceScenarios,
  RefusedQuery,
  Scenario,
} from "../../contract/wireTypes.ts";
import type { ValueTile } from "../../tiles/valueTile.ts";

/** One layer of the atlas, as chosen for the map. */
export interface LayerAddress {
  readonly hazard: HazardName;
  readonly scenario: Scenario;
  readonly analysisYear: number;
  readonly metric: string;
}

/** A Web Mercator tile of a layer. */
export interface TileAddress extends LayerAddress {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

/**
 * Where the page gets its numbers from: the HTTP API of the service that sent it (serviceData.ts), or the engine in a worker
 * of the browser, which reads a published atlas (engineData.ts). Both return the objects of the API. Every method rejects
 * with an ExplorerError, or with the signal's reason.
 */
export interface ExplorerData {
  readonly kind: "service" | "published";
  /** Address of a published atlas, as `openAtlas` accepts it; undefined if a service answers. */
  readonly atlasAddress?: string;
  /** Release with which the service answers since it changed its atlas; undefined while it is that of the catalog. */
  readonly newRelease?: ReadonlySignal<string | undefined>;
  catalog(signal?: AbortSignal): Promise<HazardCatalog>;
  valueTile(address: TileAddress, signal?: AbortSignal): Promise<ValueTile>;
  hazardRisk(query: HazardQueryInput, signal?: AbortSignal): Promise<HazardResult>;
  hazardRiskBatch(
    queries: readonly HazardQueryInput[],
    signal?: AbortSignal,
  ): Promise<readonly (HazardResult | RefusedQuery)[]>;
  curve(query: CurveQueryInput, signal?: AbortSignal): Promise<CurveResult>;
  curveBatch(
    queries: readonly CurveQueryInput[],
    signal?: AbortSignal,
  ): Promise<readonly (CurveResult | RefusedQuery)[]>;
  alignTemperature(
    request: AlignmentRequest,
    parameters: AlignmentParameters,
    signal?: AbortSignal,
  ): Promise<AlignmentAnswer>;
  totalClimateRisk(request: CompanyRequest, signal?: AbortSignal): Promise<CompanyAnswer>;
  industries(signal?: AbortSignal): Promise<ReferenceIndustries>;
  countries(signal?: AbortSignal): Promise<ReferenceCountries>;
  scenarios(signal?: AbortSignal): Promise<ReferenceScenarios>;
  /** Ends the worker of a published atlas. Calls fail from then on. */
  close(): void;
}

/** A request that failed: an error of the API, of the engine, or of the network. */
export class ExplorerError extends Error {
  override readonly name = "ExplorerError";
  /** Code of the problem, such as `invalid_request`; `network` if there was no answer. */
  readonly code: string;
  /** Errors of single values; empty if there are none. */
  readonly items: readonly ProblemItem[];
  /** Seconds after which the same request may succeed, if the service asks for a delay. */
  readonly retryAfterS: number | undefined;

  constructor(code: string, message: string, items: readonly ProblemItem[] = [], retryAfterS?: number) {
    super(message);
    this.code = code;
    this.items = items;
    this.retryAfterS = retryAfterS;
  }
}

/** Returns an error as it is shown: unchanged, or as an `unexpected_error` with its message. */
export function asExplorerError(error: unknown): ExplorerError {
  if (error instanceof ExplorerError) return error;
  return new ExplorerError("unexpected_error", error instanceof Error ? error.message : String(error));
}
