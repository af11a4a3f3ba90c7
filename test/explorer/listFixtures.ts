/** A list of places and its scores, as the tests of lists use them. */
import type { AnalysisYearResult } from "../../src/contract/wireTypes.ts";
import { metricValue } from "../../src/explorer/place/placeQuery.ts";
import type { ListColumn, ListQuery, RowScore } from "../../src/explorer/places/scoreList.ts";
import { parsePlaceList, type PlaceList } from "../../src/explorer/places/placeList.ts";

export const QUERY: ListQuery = {
  hazard: "riverine_floods",
  scenario: "rcp8p5",
  year: 2050,
  radiusKm: 0,
  method: "max",
  returnPeriodYears: undefined,
};

export function listOf(text: string): PlaceList {
  const parsed = parsePlaceList(text);
  if ("errors" in parsed) throw new Error(parsed.errors.join(" "));
  return parsed;
}

export function answerOf(depth: number | null): AnalysisYearResult {
  return {
    analysis_year: 2050,
    metrics: { intensity: depth, depth_meters: depth, probability: depth === null ? null : 0 },
    ...(depth === null
      ? { no_data: "no_data" as const }
      : { bounds: { probability: { bound: "at_most" as const, limit: 0.001 } } }),
  };
}

export function scoreOf(depth: number | null): RowScore {
  const answer = answerOf(depth);
  return {
    kind: "scored",
    values: {
      depth_meters: metricValue(answer, "depth_meters"),
      probability: metricValue(answer, "probability"),
    },
  };
}

export const DEPTH_AND_PROBABILITY: readonly ListColumn[] = [
  { name: "depth_meters", title: "Flood depth", metric: "depth_meters" },
  { name: "probability", title: "Annual probability", metric: "probability" },
];
