import { CurveBatchAnswerSchema, CurveBatchRequestSchema } from "../../contract/curve.ts";
import type { CurveQueryInput, CurveResult } from "../../contract/wireTypes.ts";
import type { RefusedElement } from "../../hazard/batch.ts";
import { parseCurveQuery } from "../../hazard/curve/curveQuery.ts";
import type { ProblemContext, QueriesBulkRoute } from "../bulkRoute.ts";
import type { EncodedElement, ElementEncoder } from "../http/elementEncoder.ts";
import type { Route } from "../route.ts";
import { countCurveValues } from "./hazardCurve.ts";
import {
  BATCH_HEADERS,
  type BatchRequest,
  batchReply,
  encodeElement,
  encodeElements,
  itemErrors,
  parseBatch,
} from "./queryBatch.ts";

/** POST /api/v1/hazard-risk/curve/batch: the queries of GET /api/v1/hazard-risk/curve for many locations. */
export const hazardCurveBatch: Route<BatchRequest, ElementEncoder> = {
  method: "POST",
  path: "/api/v1/hazard-risk/curve/batch",
  access: "customer",
  description: {
    operationId: "postHazardCurveBatch",
    tag: "Hazard risk",
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
    responses: {
      200: {
        description: "One element per query, in the same order.",
        schema: CurveBatchAnswerSchema,
        headers: BATCH_HEADERS,
      },
    },
    problems: ["invalid_request", "too_many_values", "atlas_unavailable", "overloaded"],
  },
  metered: { meter: "hazard_values", units: ({ units }) => units },
  inlineBodyBytesMax: 0,
  // A curve is about as long as a hazard value with detail.
  parse: (request) => parseBatch(request, { hazardCountMax: 1, isLong: () => true, longName: "curves" }),
  async handle({ queries }, { services: { atlas, prefix }, requestId, signal }) {
    const elements = await atlas.curveBatch(queries as readonly CurveQueryInput[], { signal });
    return encodeElements(elements, (element) => encodeResult(element, { requestId, prefix }));
  },
  reply: batchReply,
  headers: ({ atlas }) => ({ "X-Atlas-Release": atlas.release }),
};

/** Answers a batch in worker threads. Each query goes to the worker that has its tiles. */
export const bulkHazardCurveBatch: QueriesBulkRoute<BatchRequest, CurveResult> = {
  kind: "queries",
  route: hazardCurveBatch,
  queriesOf: ({ queries }) => queries,
  estimateWork: (atlas, query) => atlas.estimateCurveWork(parseCurveQuery(query)),
  answer: (atlas, queries, options, run) => atlas.curveBatch(queries as readonly CurveQueryInput[], options, run),
  encode: encodeResult,
  headers: itemErrors,
};

function encodeResult(element: CurveResult | RefusedElement, context: ProblemContext): EncodedElement {
  return encodeElement(element, context, countCurveValues);
}
