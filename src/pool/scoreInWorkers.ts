import type { AtlasHoldings } from "../hazard/answer.ts";
import type { HazardName } from "../hazard/hazards.ts";
import { scoreArrays, scoreShapeOf, type ScoreShape } from "../hazard/scoring/scoreArrays.ts";
import type { ScoreRequest, ScoreResult } from "../hazard/scoring/scoreRequest.ts";
import { SCORE } from "./atlasTasks.ts";
import type { TaskExecutor } from "./executor.ts";
import { balanceShards, forEachChunk, type NeighborhoodOf, shardByOwner } from "./sharding.ts";
import { gather, scatter, scoreBufferBytes, scoreBufferIn, TransferBuffers } from "./transferBuffers.ts";

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
  const scores = request.into ?? scoreArrays(shape, placeCount);
  const hazard = finestHazard(request, holdings);
  const shards = shardByOwner(placeCount, executor.workerCount, (i) =>
    neighborhoodOf(hazard, { latDeg: latitudes[i] ?? NaN, lonDeg: longitudes[i] ?? NaN }),
  );
  const chunkSize = radiiKm.some((radiusKm) => radiusKm > 0) ? CIRCLES_PER_TASK : POINTS_PER_TASK;
  const buffers = new TransferBuffers(scoreBufferBytes(Math.min(chunkSize, placeCount), shape));
  await forEachChunk(balanceShards(shards), { chunkSize, signal }, async (worker, indices) => {
    const places = scoreBufferIn(buffers.take(), indices.length, shape);
    gather(latitudes, indices, places.latitudes);
    gather(longitudes, indices, places.longitudes);
    gather(radiiKm, indices, places.radiiKm);
    const scored = await executor.run(
      SCORE,
      { groups, method, anthropogenic, ...places },
      {
        worker,
        tenant,
        signal,
        transfer: [places.latitudes.buffer],
        onSlice: ({ busyMs }) => onBusy?.(busyMs),
      },
    );
    copyRows(scored, indices, shape, scores);
    buffers.giveBack(scored.values);
  });
  return scores;
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

function copyRows(
  from: ScoreResult,
  indices: Uint32Array,
  { columnCount, groupCount, totalCount, thresholdCount }: ScoreShape,
  to: ScoreResult,
): void {
  scatter(from.values, indices, columnCount, to.values);
  scatter(from.statuses, indices, columnCount, to.statuses);
  scatter(from.bounds, indices, groupCount, to.bounds);
  scatter(from.probabilityLimits, indices, groupCount, to.probabilityLimits);
  scatter(from.totalHazardLimits, indices, totalCount, to.totalHazardLimits);
  scatter(from.exceedanceProbabilities, indices, thresholdCount, to.exceedanceProbabilities);
  scatter(from.exceedanceBounds, indices, thresholdCount, to.exceedanceBounds);
  scatter(from.exceedanceLimits, indices, thresholdCount, to.exceedanceLimits);
}
