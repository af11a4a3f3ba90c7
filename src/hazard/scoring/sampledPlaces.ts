import type { LayerSet } from "../../atlas/layerSet.ts";
import type { Sampler } from "../../atlas/sampler.ts";
import type { LocationArrays } from "../../kernel/sampling.ts";
import type { TimeSlice } from "../../threads/timeSlice.ts";
import { sampleCircles } from "../sampleCircles.ts";
import type { ScoreRequest } from "./scoreRequest.ts";
import { StepMatrix } from "./stepMatrix.ts";

/** Places of a request that are sampled in the same way. */
export interface PlaceSubset extends LocationArrays {
  /** Indices of the places in the request. */
  readonly places: Uint32Array;
  /** Kilometers, one per place; undefined for points. */
  readonly radiiKm: Float64Array | undefined;
}

/** Divides the places of a request into points and circles. Places with NaN become points outside every grid. */
export function dividePlaces({ latitudes, longitudes, radiiKm }: ScoreRequest): readonly PlaceSubset[] {
  const [points, circles]: [number[], number[]] = [[], []];
  for (let place = 0; place < latitudes.length; place++) {
    const isCircle =
      (radiiKm[place] ?? NaN) > 0 && !Number.isNaN((latitudes[place] ?? NaN) + (longitudes[place] ?? NaN));
    (isCircle ? circles : points).push(place);
  }
  const subsets: PlaceSubset[] = [];
  if (points.length > 0) {
    const places = Uint32Array.from(points);
    const orNaN = (degrees: Float64Array): Float64Array =>
      Float64Array.from(places, (place) => (Number.isNaN(radiiKm[place] ?? NaN) ? NaN : (degrees[place] ?? NaN)));
    subsets.push({ places, latitudes: orNaN(latitudes), longitudes: orNaN(longitudes), radiiKm: undefined });
  }
  if (circles.length > 0) {
    const places = Uint32Array.from(circles);
    // Adding 0 turns -0 into 0, as in a query.
    const from = (numbers: Float64Array): Float64Array =>
      Float64Array.from(places, (place) => (numbers[place] ?? NaN) + 0);
    subsets.push({ places, latitudes: from(latitudes), longitudes: from(longitudes), radiiKm: from(radiiKm) });
  }
  return subsets;
}

export interface SamplingRun extends Pick<ScoreRequest, "method" | "signal"> {
  readonly timeSlice: TimeSlice;
}

/** Returns the steps of a set of layers at the places of a subset. */
export async function samplePlaces(
  sampler: Sampler,
  set: LayerSet | undefined,
  subset: PlaceSubset,
  { method, signal, timeSlice }: SamplingRun,
): Promise<StepMatrix> {
  const { places, radiiKm } = subset;
  const layerCount = set?.lanes.length ?? 0;
  const length = places.length * layerCount;
  if (radiiKm === undefined) {
    const steps = new Uint16Array(length);
    const onProgress = (): void => signal?.throwIfAborted();
    if (set !== undefined) await sampler.sampleLocations(set, subset, { steps }, { timeSlice, onProgress });
    return new StepMatrix(steps, { layerCount, places, isMean: false });
  }
  const steps = new Float64Array(length);
  if (set !== undefined) {
    const circles = { ...subset, radiusKmOf: (index: number) => radiiKm[index] ?? NaN, method };
    await sampleCircles(sampler, set, circles, { out: { steps }, timeSlice, signal });
  }
  return new StepMatrix(steps, { layerCount, places, isMean: method === "mean" });
}
