import { HazardBatchRequestSchema } from "../../contract/hazardQuery.ts";
import { HazardBatchAnswerSchema } from "../../contract/hazardResult.ts";
import type { HazardQueryInput, HazardResult } from "../../contract/wireTypes.ts";
import { Fault } from "../../errors.ts";
import type { RefusedElement } from "../../hazard/answer.ts";
import { HAZARD_NAMES, HAZARDS, SCENARIOS } from "../../hazard/hazards.ts";
import { quote } from "../../schemaErrors.ts";
import type { ProblemContext, QueriesBulkRoute } from "../bulkRoute.ts";
import { type EncodedElement, ElementEncoder } from "../http/elementEncoder.ts";
import { encodeJson } from "../http/json.ts";
import { problemOf } from "../problems/problem.ts";
import { countHazardValues } from "./hazardRisk.ts";
import { rejectParameters } from "./parameters.ts";
import { checkLimit, type Route } from "../route.ts";

/** Unvalidated queries. Each is validated when it is processed, because an invalid query affects only its own element. */
interface BatchRequest {
  readonly queries: readonly unknown[];
}

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
        headers: {
          "X-Atlas-Release": "Release of the atlas from which the numbers come.",
          "X-Item-Errors": "Number of elements that have a problem in place of a result.",
        },
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
  parse({ queryText, body, limits }) {
    rejectParameters(queryText);
    if (!Array.isArray(body) || body.length === 0) throw batchFault(body);
    checkLimit("locations", { requested: body.length, limit: limits.batchCount });
    const requested = body.reduce<number>((count, query) => count + countRequestedValues(query), 0);
    checkLimit("hazard values", { requested, limit: limits.hazardValueCount });
    const detailed = body.reduce<number>(
      (count, query) => count + (isDetailed(query) ? countRequestedValues(query) : 0),
      0,
    );
    checkLimit("hazard values with detail", { requested: detailed, limit: limits.detailCount });
    return { queries: body };
  },
  async handle({ queries }, { services: { atlas, prefix }, requestId, signal }) {
    const elements = await atlas.hazardRiskBatch(queries as readonly HazardQueryInput[], { signal });
    const encoded = new ElementEncoder(elements.length);
    for (const [index, element] of elements.entries())
      encoded.add(index, encodeElement(element, { requestId, prefix }));
    return encoded;
  },
  reply: (encoded) => ({
    status: 200,
    contentType: "application/json",
    body: [encoded.response()],
    headers: itemErrors(encoded.refusedCount),
  }),
  headers: ({ atlas }) => ({ "X-Atlas-Release": atlas.release }),
};

/** Answers a batch in worker threads. Each query goes to the worker that has its tiles. */
export const bulkHazardRiskBatch: QueriesBulkRoute<BatchRequest> = {
  kind: "queries",
  route: hazardRiskBatch,
  queriesOf: ({ queries }) => queries,
  encode: encodeElement,
  headers: itemErrors,
};

function itemErrors(refusedCount: number): Readonly<Record<string, string>> {
  return { "X-Item-Errors": String(refusedCount) };
}

function encodeElement(element: HazardResult | RefusedElement, { requestId, prefix }: ProblemContext): EncodedElement {
  if ("error" in element) {
    return { text: encodeJson({ error: problemOf(element.error, requestId, prefix) }), units: 0, isRefused: true };
  }
  return { text: encodeJson(element), units: countHazardValues(element), isRefused: false };
}

/** Number of distinct years over all hazards. A query with a longer list is invalid and requests 0 values. */
const YEARS_MAX = new Set(HAZARD_NAMES.flatMap((hazard) => HAZARDS[hazard].years)).size;

/** Returns the number of values that a query requests; the query has not been validated. */
function countRequestedValues(query: unknown): number {
  const { hazards, scenarios, analysis_years } = (query ?? {}) as Readonly<Record<string, unknown>>;
  return (
    lengthOf(hazards, HAZARD_NAMES.length) * lengthOf(scenarios, SCENARIOS.length) * lengthOf(analysis_years, YEARS_MAX)
  );
}

function isDetailed(query: unknown): boolean {
  return typeof query === "object" && query !== null && "detail" in query && query.detail === true;
}

function lengthOf(list: unknown, countMax: number): number {
  return Array.isArray(list) && list.length <= countMax ? list.length : 0;
}

function batchFault(body: unknown): Fault {
  const isList = Array.isArray(body);
  const detail = `The body must be a list of at least one query, not ${isList ? "an empty list" : quote(body)}.`;
  return new Fault("invalid_request", detail, {
    items: [{ pointer: "", code: isList ? "empty" : "wrong_type", detail }],
  });
}
