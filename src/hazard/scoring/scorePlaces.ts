import type { Sampler } from "../../atlas/sampler.ts";
import { TimeSlice } from "../../threads/timeSlice.ts";
import { planHazards } from "./hazardPlan.ts";
import { dividePlaces, samplePlaces } from "./sampledPlaces.ts";
import { scoreArrays, scoreShapeOf } from "./scoreArrays.ts";
import type { ScoreRequest, ScoreResult } from "./scoreRequest.ts";
import type { StepMatrix } from "./stepMatrix.ts";
import { planExceedances, writeExceedances } from "./writeExceedances.ts";
import { writeScores } from "./writeScores.ts";

/** Rows that are computed between two checks of the clock; with the values of a hazard, a fraction of a millisecond. */
const ROWS_PER_TIME_CHECK = 256;

/**
 * Scores places: values, bounds and reasons equal those that `hazardRisk` and `curve` return for each place, bit for bit.
 *
 * @throws Fault `atlas_unavailable`; the signal's reason when aborted
 */
export async function scorePlaces(
  sampler: Sampler,
  request: ScoreRequest,
  timeSlice = new TimeSlice(),
): Promise<ScoreResult> {
  const { groups, latitudes, anthropogenic, signal, onBusy } = request;
  signal?.throwIfAborted();
  const startMs = performance.now();
  const shape = scoreShapeOf(groups);
  const out = request.into ?? scoreArrays(shape, latitudes.length);
  const target = { out, shape };
  const run = { method: request.method, signal, timeSlice };
  const forRows = async (matrix: StepMatrix, write: (from: number, to: number) => void): Promise<void> => {
    const rowCount = matrix.places.length;
    for (let from = 0; from < rowCount; from += ROWS_PER_TIME_CHECK) {
      write(from, Math.min(rowCount, from + ROWS_PER_TIME_CHECK));
      if (!timeSlice.isExpired) continue;
      await timeSlice.yield();
      signal?.throwIfAborted();
    }
  };
  const subsets = dividePlaces(request);
  for (const plan of planHazards(sampler, request)) {
    for (const subset of subsets) {
      const matrix = await samplePlaces(sampler, plan.set, subset, run);
      await forRows(matrix, (from, to) => writeScores(plan, { matrix, from, to }, anthropogenic, target));
    }
  }
  for (const planned of shape.thresholdCount === 0 ? [] : planExceedances(sampler, groups)) {
    for (const subset of subsets) {
      const matrix = await samplePlaces(sampler, planned.plan?.set, subset, run);
      await forRows(matrix, (from, to) => writeExceedances(planned, { matrix, from, to }, target));
    }
  }
  onBusy?.(performance.now() - startMs);
  return out;
}
