import type { Sampler } from "../../atlas/sampler.ts";
import { type PartialScoreRequest, scoreArrays, type ScoreResult, scoreShapeOf } from "./scoreRequest.ts";
import { TimeSlice } from "../../concurrency/timeSlice.ts";
import { dividePlaces, samplePlaces, samplePoints } from "./sampledPlaces.ts";
import { planExceedances, planHazards, writeExceedances, writeScores } from "./writeScores.ts";
import { planPointScores, type PointSteps, writePointScores } from "./writePointScores.ts";

/** Rows that are computed between two checks of the clock; with the values of a hazard, a fraction of a millisecond. */
const ROWS_PER_TIME_CHECK = 256;

/**
 * Scores places: values, bounds and reasons equal those that `hazardRisk` and `curve` return for each place, bit for bit.
 *
 * @throws Fault `atlas_unavailable`; the signal's reason when aborted
 */
export async function scorePlaces(
  sampler: Sampler,
  request: PartialScoreRequest,
  timeSlice = new TimeSlice(),
): Promise<ScoreResult> {
  const { groups, latitudes, anthropogenic, signal, onBusy } = request;
  signal?.throwIfAborted();
  const startMs = performance.now();
  const shape = scoreShapeOf(groups);
  const out = request.into ?? scoreArrays(shape, latitudes.length);
  const target = { out, shape };
  const run = { method: request.method, signal, timeSlice };
  const forRows = async (rowCount: number, write: (from: number, to: number) => void): Promise<void> => {
    for (let from = 0; from < rowCount; from += ROWS_PER_TIME_CHECK) {
      write(from, Math.min(rowCount, from + ROWS_PER_TIME_CHECK));
      if (!timeSlice.isExpired) continue;
      await timeSlice.yield();
      signal?.throwIfAborted();
    }
  };
  const subsets = dividePlaces(request);
  const plans = planHazards(sampler, request);
  const pointPlan = planPointScores(plans, { shape, isChange: anthropogenic });
  for (const subset of subsets) {
    if (subset.radiiKm === undefined && pointPlan !== undefined) {
      const { places } = subset;
      const hazards: PointSteps[] = [];
      for (const { set } of plans) hazards.push(await samplePoints(sampler, set, subset, run));
      await forRows(places.length, (from, to) => writePointScores(pointPlan, hazards, { places, from, to }, target));
      continue;
    }
    for (const plan of plans) {
      const matrix = await samplePlaces(sampler, plan.set, subset, run);
      await forRows(matrix.places.length, (from, to) => writeScores(plan, { matrix, from, to }, anthropogenic, target));
    }
  }
  for (const planned of shape.thresholdCount === 0 ? [] : planExceedances(sampler, groups)) {
    for (const subset of subsets) {
      const matrix = await samplePlaces(sampler, planned.plan?.set, subset, run);
      await forRows(matrix.places.length, (from, to) => writeExceedances(planned, { matrix, from, to }, target));
    }
  }
  onBusy?.(performance.now() - startMs);
  return out;
}
