/** Interface of a contender that aggregates circles (Isotherm or a competitor), and the check that results agree. */
import type { Workload } from "./workload.ts";
import { LAYER_COUNT } from "./floodMaps.ts";

/** `both` requests maximum and mean: some contenders compute them in one pass; Isotherm needs two queries. */
export type Aggregation = "max" | "mean" | "both";

/** One value per layer, in steps; NaN if no cell is valid or the aggregation was not requested. */
export interface CircleResult {
  readonly max: Float64Array;
  readonly mean: Float64Array;
}

/** Returns a result without values. */
export function emptyResult(): CircleResult {
  return { max: new Float64Array(LAYER_COUNT).fill(Number.NaN), mean: new Float64Array(LAYER_COUNT).fill(Number.NaN) };
}

/** Circles of one radius around places of the workload. */
interface CircleRequest {
  /** Indices into `workload.places`. */
  readonly places: readonly number[];
  readonly radiusKm: number;
  readonly aggregation: Aggregation;
}

/** An implementation that aggregates circles over a loaded workload. */
export interface CircleContender {
  readonly name: string;
  compute(request: CircleRequest): Promise<readonly CircleResult[]>;
  /** Computes all circles and discards the results. @returns elapsed nanoseconds if the contender times itself */
  run(request: CircleRequest): Promise<number | undefined>;
  close(): Promise<void>;
}

/** Opens a competitor. @returns a message if something that it needs is not installed */
export type OpenCompetitor = (workload: Workload) => Promise<CircleContender | string>;

/** Returns a contender in this process that handles one place at a time. */
export function inProcessContender(
  name: string,
  aggregate: (place: number, radiusKm: number, aggregation: Aggregation) => CircleResult | Promise<CircleResult>,
  options: { close?(): Promise<void> } = {},
): CircleContender {
  return {
    name,
    async compute({ places, radiusKm, aggregation }) {
      const results: CircleResult[] = [];
      for (const place of places) results.push(await aggregate(place, radiusKm, aggregation));
      return results;
    },
    async run({ places, radiusKm, aggregation }) {
      for (const place of places) {
        const result = aggregate(place, radiusKm, aggregation);
        if (result instanceof Promise) await result; // no await for synchronous results
      }
      return undefined;
    },
    close: options.close ?? (() => Promise.resolve()),
  };
}

/** Limits of the difference between a competitor's results and Isotherm's. */
export interface Tolerance {
  /** Minimum fraction of the maxima that are equal. */
  readonly equalMaxShareMin: number;
  /** Maximum relative difference of means: the largest difference for EXACT, otherwise the median difference. */
  readonly meanErrorMax: number;
}

/** For competitors that use the same cells and the same arithmetic. */
export const EXACT: Tolerance = { equalMaxShareMin: 1, meanErrorMax: 1e-12 };
/**
 * For the haversine on a sphere or a polygon approximating the circle: the effective radius is up to 0.4 % too long or
 * too short, so the cells along the rim differ. This changes means and, if there is water at the rim, sometimes maxima.
 */
export const APPROXIMATE: Tolerance = { equalMaxShareMin: 0.7, meanErrorMax: 0.04 };

/**
 * Compares results before timing, so that no competitor is fast because it computes something different.
 *
 * @throws Error if the results differ by more than the tolerance
 */
export function checkAgreement(
  name: string,
  { ours, theirs }: { readonly ours: readonly CircleResult[]; readonly theirs: readonly CircleResult[] },
  tolerance: Tolerance,
): void {
  if (ours.length !== theirs.length) throw new Error(`${name} returned ${theirs.length} of ${ours.length} circles`);
  let comparedCount = 0;
  let equalMaxCount = 0;
  const errors: number[] = [];
  for (const [i, our] of ours.entries()) {
    for (let layer = 0; layer < LAYER_COUNT; layer++) {
      const [max = Number.NaN, theirMax = Number.NaN] = [our.max[layer], theirs[i]?.max[layer]];
      const [mean = Number.NaN, theirMean = Number.NaN] = [our.mean[layer], theirs[i]?.mean[layer]];
      comparedCount += 1;
      if (Object.is(max, theirMax)) equalMaxCount += 1;
      if (Number.isNaN(mean) !== Number.isNaN(theirMean)) errors.push(1);
      else if (!Number.isNaN(mean))
        errors.push(mean === theirMean ? 0 : Math.abs(theirMean - mean) / Math.max(mean, 1));
    }
  }
  errors.sort((a, b) => a - b);
  // EXACT limits the largest error; other tolerances limit the median error, because rim cells may differ.
  const error = errors[tolerance.equalMaxShareMin === 1 ? errors.length - 1 : errors.length >> 1] ?? 0;
  if (!(equalMaxCount >= comparedCount * tolerance.equalMaxShareMin && error <= tolerance.meanErrorMax)) {
    throw new Error(
      `${name} disagrees with Isotherm: ${equalMaxCount} of ${comparedCount} maxima are equal, relative error of means ${error}`,
    );
  }
}
