import type { LayerSet } from "../atlas/layerSet.ts";
import type { CircleResults, Sampler } from "../atlas/sampler.ts";
import type { LocationArrays } from "../kernel/sampling.ts";
import type { TimeSlice } from "../concurrency/timeSlice.ts";

/** Number of circles that are sampled concurrently, so that reads of tiles overlap. */
const CIRCLE_CONCURRENCY = 16;
/** Circles between two progress reports. */
const CIRCLES_PER_PROGRESS_REPORT = 512;
/**
 * Circles between two checks of the clock. A cached circle takes microseconds; a circle that is read cell by cell takes
 * milliseconds.
 */
const CIRCLES_PER_TIME_CHECK = 4;

/** Many circles around locations. */
export interface Circles extends LocationArrays {
  /** Returns the radius of a circle by its index, above 0. */
  readonly radiusKmOf: (index: number) => number;
  readonly method: "max" | "mean";
}

/**
 * Samples a set of layers over many circles, tile by tile.
 *
 * @param run.out receives the results, f64[circle][layer]
 * @param run.reportProgress called with the number of circles just completed; may throw to stop
 * @throws Fault `atlas_unavailable`; the signal's reason when aborted
 */
export async function sampleCircles(
  sampler: Sampler,
  set: LayerSet,
  { latitudes, longitudes, radiusKmOf, method }: Circles,
  run: {
    readonly out: CircleResults;
    readonly timeSlice: TimeSlice;
    readonly signal: AbortSignal | undefined;
    readonly reportProgress?: (count: number) => void;
  },
): Promise<void> {
  const { out, timeSlice, signal, reportProgress } = run;
  const circleCount = latitudes.length;
  const order = sampler.orderByTile(set, { latitudes, longitudes });
  let next = 0;
  /** Circles completed since the last progress report. */
  let unreportedCount = 0;
  let failure: { readonly error: unknown } | undefined;
  const work = async (): Promise<void> => {
    try {
      for (let position = next++; position < circleCount; position = next++) {
        const index = order[position] ?? 0;
        const circle = {
          latDeg: latitudes[index] ?? NaN,
          lonDeg: longitudes[index] ?? NaN,
          radiusM: radiusKmOf(index) * 1000,
        };
        const target = { circle, method, first: index * set.lanes.length };
        if (!sampler.readCircle(set, target, out)) await sampler.fetchCircle(set, target, out, timeSlice);
        unreportedCount++;
        if (unreportedCount === CIRCLES_PER_PROGRESS_REPORT) {
          unreportedCount = 0;
          reportProgress?.(CIRCLES_PER_PROGRESS_REPORT);
        }
        if (timeSlice.isPaused || (position % CIRCLES_PER_TIME_CHECK === 0 && timeSlice.isExpired)) {
          await timeSlice.yield();
          signal?.throwIfAborted();
        }
      }
    } catch (error) {
      failure ??= { error };
      next = circleCount; // stops the other loops
    }
  };
  // Waits for all loops even after a failure, because the caller may then reuse the output arrays.
  await Promise.all(Array.from({ length: CIRCLE_CONCURRENCY }, work));
  if (failure !== undefined) throw failure.error;
  if (unreportedCount > 0) reportProgress?.(unreportedCount);
}
