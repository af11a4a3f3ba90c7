import { CurveBatchAnswerSchema, CurveBatchRequestSchema } from "../../contract/curve.ts";
import type { CurveQueryInput, CurveResult } from "../../contract/wireTypes.ts";
import { parseCurveQuery } from "../../hazard/curveQuery.ts";
import { countCurveValues } from "./hazardCurve.ts";
import { queryBatchRoutes } from "./queryBatch.ts";

/** POST /api/v1/hazard-risk/curve/batch: the queries of GET /api/v1/hazard-risk/curve for many locations. */
export const { route: hazardCurveBatch, bulkRoute: bulkHazardCurveBatch } = queryBatchRoutes<
  CurveQueryInput,
  CurveResult
>({
  path: "/api/v1/hazard-risk/curve/batch",
  description: {
    operationId: "postHazardCurveBatch",
    summary: "Return-period curves at many locations",
    description:
      "Returns one result per query, in the order of the queries, identical to that of GET /api/v1/hazard-risk/curve. A " +
      "query can also contain a damage curve, for the expected annual damage. An invalid query has a problem in place of " +
      "its result and does not affect the other queries. Each curve counts as one unit of `hazard_values`.",
    body: {
      schema: CurveBatchRequestSchema,
      example: [
        {
          latitude: 11.59,
          longitude: 43.15,
          hazards: ["riverine_floods"],
          analysis_years: [2050],
          scenarios: ["rcp8p5"],
          radius: 10,
          damage_curve: [
            { value: 0, damage_share: 0 },
            { value: 1, damage_share: 0.4 },
            { value: 3, damage_share: 0.8 },
          ],
        },
        {
          latitude: 25.76,
          longitude: -80.19,
          hazards: ["cyclones"],
          analysis_years: [2050],
          scenarios: ["rcp4p5"],
          threshold: 50,
        },
      ],
    },
    answerSchema: CurveBatchAnswerSchema,
  },
  hazardCountMax: 1,
  // A curve is about as long as a hazard value with detail.
  isLong: () => true,
  longName: "curves",
  estimateWork: (atlas, query) => atlas.estimateWork(parseCurveQuery(query)),
  answer: (atlas, queries, options, run) => atlas.curveBatch(queries, options, run),
  countUnits: countCurveValues,
});
