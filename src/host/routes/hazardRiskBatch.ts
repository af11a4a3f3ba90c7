import { HazardBatchRequestSchema } from "../../contract/hazardQuery.ts";
import { HazardBatchAnswerSchema } from "../../contract/hazardResult.ts";
import type { HazardQueryInput, HazardResult } from "../../contract/wireTypes.ts";
import { HAZARD_NAMES } from "../../hazard/hazards.ts";
import { parseHazardQuery } from "../../hazard/query.ts";
import { countHazardValues } from "./hazardRisk.ts";
import { queryBatchRoutes } from "./queryBatch.ts";

/** POST /api/v1/hazard-risk/batch: the queries of GET /api/v1/hazard-risk for many locations. */
export const { route: hazardRiskBatch, bulkRoute: bulkHazardRiskBatch } = queryBatchRoutes<
  HazardQueryInput,
  HazardResult
>({
  path: "/api/v1/hazard-risk/batch",
  description: {
    operationId: "postHazardRiskBatch",
    summary: "Hazards at many locations",
    description:
      "Returns one result per query, in the order of the queries, identical to that of GET /api/v1/hazard-risk. An invalid " +
      "query has a problem in place of its result and does not affect the other queries. Each combination of hazard, " +
      "scenario and analysis year that has data counts as one unit of `hazard_values`.",
    body: {
      schema: HazardBatchRequestSchema,
      example: [
        {
          latitude: 11.59,
          longitude: 43.15,
          hazards: ["riverine_floods", "coastal_floods"],
          analysis_years: [2050],
          scenarios: ["rcp8p5"],
          radius: 10,
        },
        {
          latitude: 25.76,
          longitude: -80.19,
          hazards: ["cyclones"],
          analysis_years: [2030, 2050],
          scenarios: ["rcp4p5"],
        },
      ],
    },
    answerSchema: HazardBatchAnswerSchema,
  },
  hazardCountMax: HAZARD_NAMES.length,
  isLong: isDetailed,
  longName: "hazard values with detail",
  estimateWork: (atlas, query) => atlas.estimateWork(parseHazardQuery(query)),
  answer: (atlas, queries, options, run) => atlas.hazardRiskBatch(queries, options, run),
  countUnits: countHazardValues,
});

function isDetailed(query: unknown): boolean {
  return typeof query === "object" && query !== null && "detail" in query && query.detail === true;
}
