import { HazardBatchRequestSchema } from "../../contract/hazardQuery.ts";
import { HazardBatchAnswerSchema } from "../../contract/hazardResult.ts";
import type { HazardQueryInput, HazardResult } from "../../contract/wireTypes.ts";
import type { RefusedElement } from "../../hazard/batch.ts";
import { HAZARD_NAMES } from "../../hazard/hazards.ts";
import { parseHazardQuery } from "../../hazard/query.ts";
import type { ProblemContext, QueriesBulkRoute } from "../bulkRoute.ts";
import type { EncodedElement, ElementEncoder } from "../http/elementEncoder.ts";
import type { Route } from "../route.ts";
import { countHazardValues } from "./hazardRisk.ts";
import {
  BATCH_HEADERS,
  type BatchRequest,
  batchReply,
  encodeElement,
  encodeElements,
  itemErrors,
  parseBatch,
} from "./queryBatch.ts";

/** POST /api/v1/hazard-risk/batch: the queries of GET /api/v1/hazard-risk for many locations. */
export const hazardRiskBatch: Route<BatchRequest, ElementEncoder> = {
  method: "POST",
  path: "/api/v1/hazard-risk/batch",
  access: "customer",
  description: {
    operationId: "postHazardRiskBatch",
    tag: "Hazard risk",
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
    responses: {
      200: {
        description: "One element per query, in the same order.",
        schema: HazardBatchAnswerSchema,
        headers: BATCH_HEADERS,
      },
    },
    problems: ["invalid_request", "too_many_values", "atlas_unavailable", "overloaded"],
  },
  metered: {
    meter: "hazard_values",
    units: ({ units }) => units,
  },
  // A single query with a large radius can take longer than anything else that runs on the event loop.
  inlineBodyBytesMax: 0,
  parse: (request) =>
    parseBatch(request, {
      hazardCountMax: HAZARD_NAMES.length,
      isLong: isDetailed,
      longName: "hazard values with detail",
    }),
  async handle({ queries }, { services: { atlas, prefix }, requestId, signal }) {
    const elements = await atlas.hazardRiskBatch(queries as readonly HazardQueryInput[], { signal });
    return encodeElements(elements, (element) => encodeResult(element, { requestId, prefix }));
  },
  reply: batchReply,
  headers: ({ atlas }) => ({ "X-Atlas-Release": atlas.release }),
};

/** Answers a batch in worker threads. Each query goes to the worker that has its tiles. */
export const bulkHazardRiskBatch: QueriesBulkRoute<BatchRequest, HazardResult> = {
  kind: "queries",
  route: hazardRiskBatch,
  queriesOf: ({ queries }) => queries,
  estimateWork: (atlas, query) => atlas.estimateWork(parseHazardQuery(query)),
  answer: (atlas, queries, options, run) => atlas.hazardRiskBatch(queries as readonly HazardQueryInput[], options, run),
  encode: encodeResult,
  headers: itemErrors,
};

function encodeResult(element: HazardResult | RefusedElement, context: ProblemContext): EncodedElement {
  return encodeElement(element, context, countHazardValues);
}

function isDetailed(query: unknown): boolean {
  return typeof query === "object" && query !== null && "detail" in query && query.detail === true;
}
