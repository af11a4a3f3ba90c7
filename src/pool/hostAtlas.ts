import type { HazardResult } from "../contract/wireTypes.ts";
import type { CircleWork } from "../atlas/circleWork.ts";
import type { TileUse } from "../atlas/tileUse.ts";
import type { Atlas, LocalAtlas } from "../hazard/answer.ts";
import type { CurveQuery } from "../hazard/curveQuery.ts";
import type { HazardQuery } from "../hazard/query.ts";
import type { TaskExecutor } from "./executor.ts";

/** Members of atlases returned by `openAtlas` that only the host uses. */
export interface AtlasInternals {
  /** Memory used by cached tiles, and the time that fetches take. */
  readonly tileUse: TileUse;
  /** Answers a query from memory. @returns undefined if `hazardRisk` has to read something, or may take longer */
  readHazardRisk(query: HazardQuery): HazardResult | undefined;
  /**
   * Returns whether the query is estimated to block the thread for a millisecond or more, which delays other requests.
   * Only circle queries can be long.
   */
  isLong(query: HazardQuery | CurveQuery): boolean;
  /** Estimates what the query's circle takes to sample; nothing for a point. */
  estimateWork(query: HazardQuery | CurveQuery): CircleWork;
  /** @throws Fault `combination_unavailable` if the atlas has no curves of the hazard */
  checkCurve(query: CurveQuery): void;
  /** Runs bulk work in worker threads. */
  readonly executor: TaskExecutor;
  /** Returns the index of the worker that owns the location of a query. The query need not be valid. */
  ownerOf(query: unknown): number;
}

/**
 * An atlas as the host uses it. `executor` and `ownerOf` are absent if there are no workers; all internals are absent if
 * the embedding program implements the atlas.
 */
export type HostAtlas = Omit<Atlas, "hazardRisk" | "curve"> &
  Pick<LocalAtlas, "hazardRisk" | "curve"> &
  Partial<AtlasInternals>;
