/** Compares scores with the results of single queries, bit for bit. */
import type { AnalysisYearResult, Exceedance } from "../../../src/contract/wireTypes.ts";
import { isFault } from "../../../src/errors.ts";
import type { Atlas } from "../../../src/hazard/answer.ts";
import {
  SCORE_BOUNDS,
  SCORE_STATUSES,
  type ScoreRequest,
  type ScoreResult,
} from "../../../src/hazard/scoring/scoreRequest.ts";

/** The scores of one place and group. */
interface GroupScores {
  readonly values: readonly (number | null)[];
  readonly statuses: readonly string[];
  readonly bound: string;
  readonly probabilityLimit: number | null;
  readonly totalLimit: number | null;
  readonly exceedance: readonly [number | null, string, number | null] | undefined;
}

/** Returns the scores of a result: one list per place, with one element per group. */
export function groupScores(
  { groups, latitudes }: ScoreRequest,
  scores: ScoreResult,
): readonly (readonly GroupScores[])[] {
  const columnCount = scores.values.length / latitudes.length;
  const orNull = (value: number | undefined): number | null =>
    value === undefined || Number.isNaN(value) ? null : value;
  return Array.from(latitudes, (_, place) => {
    let column = place * columnCount;
    return groups.map(({ metrics, threshold }, index): GroupScores => {
      const at = place * groups.length + index;
      const [first, end] = [column, column + metrics.length];
      column = end;
      return {
        values: Array.from(scores.values.subarray(first, end), orNull),
        statuses: Array.from(scores.statuses.subarray(first, end), (status) => SCORE_STATUSES[status] ?? ""),
        bound: SCORE_BOUNDS[scores.bounds[at] ?? 0] ?? "",
        probabilityLimit: orNull(scores.probabilityLimits[at]),
        totalLimit: metrics.includes("total_hazard") ? orNull(scores.totalHazardLimits[at]) : null,
        exceedance:
          threshold === undefined
            ? undefined
            : [
                orNull(scores.exceedanceProbabilities[at]),
                SCORE_BOUNDS[scores.exceedanceBounds[at] ?? 0] ?? "",
                orNull(scores.exceedanceLimits[at]),
              ],
      };
    });
  });
}

/** Returns the same scores, from one query per place and group. */
export async function queriedScores(
  atlas: Pick<Atlas, "hazardRisk" | "curve">,
  { groups, latitudes, longitudes, radiiKm, method, anthropogenic }: ScoreRequest,
): Promise<readonly (readonly GroupScores[])[]> {
  const places: (readonly GroupScores[])[] = [];
  for (const [place, latitude] of latitudes.entries()) {
    const ofPlace: GroupScores[] = [];
    for (const { hazard, scenario, analysisYear, metrics, threshold } of groups) {
      const query = {
        latitude,
        longitude: longitudes[place] ?? NaN,
        hazards: [hazard],
        scenarios: [scenario],
        analysis_years: [analysisYear],
        radius: radiiKm[place] ?? NaN,
        aggregation_method: method,
      };
      const total_hazard = metrics.includes("total_hazard");
      const { results } = await atlas.hazardRisk({ ...query, total_hazard, anthropogenic, detail: true });
      const year = results[0]?.scenarios[0]?.analysis_years[0];
      if (year === undefined) throw new Error("A query must return its analysis year.");
      const isBounded = total_hazard || metrics.includes("probability");
      const bounds = isBounded ? year.bounds : undefined;
      ofPlace.push({
        values: metrics.map((metric) => year.metrics[metric] ?? null),
        statuses: metrics.map((metric) => statusOf(year, metric)),
        bound: bounds?.probability.bound ?? "exact",
        probabilityLimit: bounds?.probability.limit ?? null,
        totalLimit: bounds?.total_hazard?.limit ?? null,
        exceedance: threshold === undefined ? undefined : toList(await exceedanceOf(atlas, { ...query, threshold })),
      });
    }
    places.push(ofPlace);
  }
  return places;
}

function statusOf(
  { metrics, detail, no_data }: AnalysisYearResult,
  metric: keyof AnalysisYearResult["metrics"],
): string {
  const value = metrics[metric];
  if (typeof value === "number") return value === 0 ? "zero" : "value";
  // `detail.metrics` is absent if all metrics are missing for the same reason.
  return detail?.metrics?.[metric]?.no_data ?? no_data ?? "";
}

async function exceedanceOf(
  atlas: Pick<Atlas, "curve">,
  query: Parameters<Atlas["curve"]>[0],
): Promise<Exceedance | undefined> {
  try {
    return (await atlas.curve(query)).results[0]?.scenarios[0]?.analysis_years[0]?.exceedance;
  } catch (error) {
    if (isFault(error, "combination_unavailable")) return undefined;
    throw error;
  }
}

function toList(exceedance: Exceedance | undefined): GroupScores["exceedance"] {
  if (exceedance === undefined) return [null, "exact", null];
  return [exceedance.probability, exceedance.bound ?? "exact", exceedance.limit ?? null];
}
