import type { AtlasHoldings } from "../hazard/answer.ts";
import type { HazardName } from "../hazard/hazards.ts";
import {
  scoreArrays,
  scoreBytesPerPlace,
  type ScoreRequest,
  type ScoreResult,
  type ScoreShape,
  scoreShapeOf,
} from "../hazard/scoring/scoreRequest.ts";
import { SCORE } from "./atlasTasks.ts";
import type { TaskExecutor } from "./executor.ts";
import { balanceShards, forEachChunk, type NeighborhoodOf, shardByOwner } from "./sharding.ts";
import { gather } from "./transferBuffers.ts";

/** Places per task: fewer circles than points, because a circle takes as long as many points. */
const POINTS_PER_TASK = 4096;
const CIRCLES_PER_TASK = 512;

export interface ScoreWorkers {
  readonly executor: TaskExecutor;
  readonly tenant: string;
  readonly holdings: readonly AtlasHoldings[];
  readonly neighborhoodOf: NeighborhoodOf;
}

/**
 * Scores places in the workers that own their tiles. If many places have the same owner, other workers score some of them.
 * @throws errors of the tasks; the signal's reason when aborted
 */
export async function scoreInWorkers(
  request: ScoreRequest,
  { executor, tenant, holdings, neighborhoodOf }: ScoreWorkers,
): Promise<ScoreResult> {
  const { groups, method, anthropogenic, latitudes, longitudes, radiiKm, signal, onBusy } = request;
  const placeCount = latitudes.length;
  const shape = scoreShapeOf(groups);
  const scores = request.into ?? sharedScores(shape, placeCount);
  const hazard = finestHazard(request, holdings);
  const shards = shardByOwner(placeCount, executor.workerCount, (i) =>
    neighborhoodOf(hazard, { latDeg: latitudes[i] ?? NaN, lonDeg: longitudes[i] ?? NaN }),
  );
  const chunkSize = radiiKm.some((radiusKm) => radiusKm > 0) ? CIRCLES_PER_TASK : POINTS_PER_TASK;
  await forEachChunk(balanceShards(shards), { chunkSize, signal }, async (worker, rows) => {
    const places = { latitudes: gathered(latitudes, rows), longitudes: gathered(longitudes, rows) };
    await executor.run(
      SCORE,
      { groups, method, anthropogenic, ...places, radiiKm: gathered(radiiKm, rows), rows: rows.slice(), into: scores },
      { worker, tenant, signal, onSlice: ({ busyMs }) => onBusy?.(busyMs) },
    );
  });
  return scores;
}

/** Returns arrays in shared memory, which all workers write to. */
function sharedScores(shape: ScoreShape, placeCount: number): ScoreResult {
  const buffer = new SharedArrayBuffer(placeCount * scoreBytesPerPlace(shape));
  return scoreArrays(shape, placeCount, { buffer, offset: 0 });
}

/** Returns the elements at the indices. */
function gathered(from: Float64Array, indices: Uint32Array): Float64Array {
  const elements = new Float64Array(indices.length);
  gather(from, indices, elements);
  return elements;
}

/** Returns the hazard with the smallest cells, whose tiles take most of the time. */
function finestHazard({ groups }: ScoreRequest, holdings: readonly AtlasHoldings[]): HazardName | "" {
  let finest: AtlasHoldings | undefined;
  for (const held of holdings) {
    if (!groups.some(({ hazard }) => hazard === held.hazard)) continue;
    if (held.grid.cell_size_lat_deg < (finest?.grid.cell_size_lat_deg ?? Infinity)) finest = held;
  }
  return finest?.hazard ?? "";
}
