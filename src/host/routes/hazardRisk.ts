import { countValues, parseHazardParameters } from "../../hazard/query.ts";
import type { HazardQuery } from "../../hazard/query.ts";
import { type Route, checkLimit } from "../route.ts";
import type { AnalysisYearResult, HazardResult } from "../../contract/wireTypes.ts";
import { HazardQueryInputSchema } from "../../contract/hazardQuery.ts";
import { HazardResultSchema } from "../../contract/hazardResult.ts";
import { countYears, RELEASE_HEADER, releaseHeader } from "./hazardAnswers.ts";

/** Counts the usage units of a result: one per analysis year in which at least one metric has data. */
export function countHazardValues(result: HazardResult): number {
  return countYears(result, hasData);
}

function hasData({ no_data, metrics }: AnalysisYearResult): boolean {
  return no_data === undefined || Object.values(metrics).some((value) => value !== null);
}

/** GET /api/v1/hazard-risk: every requested combination of hazard, scenario and analysis year at one location. */
export const hazardRisk: Route<HazardQuery, HazardResult> = {
  method: "GET",
  path: "/api/v1/hazard-risk",
  access: "customer",
  description: {
    operationId: "getHazardRisk",
    tag: "Hazard risk",
    summary: "Hazards at one location",
    description:
      "Returns every requested combination of hazard, scenario and analysis year, at the location or aggregated within a " +
      "radius around it. Each combination that has data counts as one unit of `hazard_values`.",
    query: HazardQueryInputSchema,
    parameterExamples: {
      latitude: 11.59,
      longitude: 43.15,
      hazards: "riverine_floods,coastal_floods",
      analysis_years: "2050",
      scenarios: "rcp8p5",
      radius: 10,
    },
    responses: {
      200: {
        description: "The metrics, nested by hazard, scenario and analysis year.",
        schema: HazardResultSchema,
        headers: RELEASE_HEADER,
      },
    },
    problems: ["invalid_request", "combination_unavailable", "too_many_values", "atlas_unavailable"],
  },
  metered: { meter: "hazard_values", units: countHazardValues },
  revision: ({ atlas }) => atlas.contentHash,
  parse({ queryText, limits }) {
    const query = parseHazardParameters(queryText);
    const requested = countValues(query);
    checkLimit("hazard values", { requested, limit: limits.hazardValueCount });
    if (query.detail) checkLimit("hazard values with detail", { requested, limit: limits.detailCount });
    return query;
  },
  readResult: (query, { atlas }) => atlas.readHazardRisk?.(query),
  isLong: (query, { atlas }) => atlas.isLong?.(query) === true,
  estimateWork: (query, { atlas }) => ({
    elementCount: 1,
    ...(atlas.estimateWork?.(query) ?? { cellVectorCount: 0, coldTileVectorCount: 0 }),
  }),
  handle: (query, { services: { atlas }, timeSlice, signal }) => atlas.hazardRisk(query, { timeSlice, signal }),
  headers: releaseHeader,
};
