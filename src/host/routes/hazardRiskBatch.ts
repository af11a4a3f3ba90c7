import { setImmediate } from "node:timers/promises";
import { Type } from "typebox";
import { Fault, isFault } from "../../errors.ts";
import { quote } from "../../schemaErrors.ts";
import type { Atlas } from "../../hazard/answer.ts";
import type { HazardResult } from "../../hazard/result.ts";
import { HAZARD_NAMES, HAZARDS, SCENARIOS } from "../../hazard/hazards.ts";
import { HazardQuerySchema, type HazardQueryInput } from "../../hazard/query.ts";
import { encodeJson } from "../http/json.ts";
import { refuseParameters } from "./parameters.ts";
import { type Problem, problemOf } from "../problems/problem.ts";
import { ProblemSchema } from "../problems/problemSchema.ts";
import { type Route, type RouteContext, withinLimit } from "./route.ts";
import type { Sliced } from "../work/sliced.ts";
import { countHazardValues, HazardResultSchema } from "./hazardRisk.ts";

/** Queries as they came: each is checked when its turn comes, since a wrong one is refused in its place. */
interface BatchRequest {
  readonly queries: readonly unknown[];
}

type BatchElement = HazardResult | { readonly error: Problem };

interface BatchAnswer {
  readonly results: readonly BatchElement[];
}

/** Without workers a batch gives way to others after so long. */
const TURN_MS = 5;

/** Pointers in it lead into the element, not into the whole batch. */
const RefusedElementSchema = Type.Object({ error: ProblemSchema });

/** POST /api/v1/hazard-risk/batch: many locations, each asked about as GET /api/v1/hazard-risk does. */
export const hazardRiskBatch: Route<BatchRequest, BatchAnswer> = {
  method: "POST",
  path: "/api/v1/hazard-risk/batch",
  access: "customer",
  description: {
    operationId: "postHazardRiskBatch",
    tag: "Hazard risk",
    summary: "Hazards of many locations",
    description:
      "One result a query, in the order of the queries, each as GET /api/v1/hazard-risk answers it. A query that is " +
      "wrong in itself gets its problem in its place, and the others are untouched by it. " +
      "Counts one `hazard_values` for each analysis year that has data.",
    body: {
      schema: Type.Array(HazardQuerySchema, { minItems: 1 }),
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
    answers: {
      200: {
        description: "One element a query, in their order.",
        schema: Type.Object({ results: Type.Array(Type.Union([HazardResultSchema, RefusedElementSchema])) }),
        headers: {
          "X-Atlas-Release": "The release of the atlas that the numbers are of.",
          "X-Item-Errors": "How many elements are refused.",
        },
      },
    },
    problems: ["invalid_request", "too_many_values", "atlas_unavailable", "overloaded"],
  },
  metered: {
    meter: "hazard_values",
    units: ({ results }) => results.reduce((units, each) => units + unitsOf(each), 0),
  },
  // A single query may ask for a circle that takes longer than all else that is done on the event loop.
  inlineBodyBytesMax: 0,
  parse({ queryText, body, limits }) {
    refuseParameters(queryText);
    if (!Array.isArray(body) || body.length === 0) throw noBatch(body);
    withinLimit("locations", { requested: body.length, limit: limits.batchCount });
    const requested = body.reduce<number>((count, query) => count + countAsked(query), 0);
    withinLimit("hazard values", { requested, limit: limits.hazardValueCount });
    const detailed = body.reduce<number>((count, query) => count + (isDetailed(query) ? countAsked(query) : 0), 0);
    withinLimit("hazard values with detail", { requested: detailed, limit: limits.detailCount });
    return { queries: body };
  },
  async handle({ queries }, { services: { atlas }, requestId, signal }) {
    const results: BatchElement[] = [];
    let sinceMs = performance.now();
    for (const query of queries) {
      if (performance.now() - sinceMs >= TURN_MS) {
        await setImmediate();
        signal.throwIfAborted();
        sinceMs = performance.now();
      }
      results.push(await answerElement(atlas, query, requestId));
    }
    return { results };
  },
  reply: (answer) => ({
    status: 200,
    contentType: "application/json",
    body: encodeJson(answer),
    headers: itemErrors(answer.results.filter(isRefused).length),
  }),
  headers: ({ atlas }) => ({ "X-Atlas-Release": atlas.release }),
};

/** How workers share a batch: each query goes to the one that owns its place. */
export const slicedHazardRiskBatch: Sliced<BatchRequest, unknown> = {
  route: hazardRiskBatch,
  elementsOf: ({ queries }) => queries,
  restOf: () => undefined,
  isPlaced: true,
  async answer(query, _rest, { services: { atlas }, requestId }: RouteContext) {
    const element = await answerElement(atlas, query, requestId);
    return { text: encodeJson(element), units: unitsOf(element), isRefused: isRefused(element) };
  },
  headers: itemErrors,
};

function itemErrors(refusedCount: number): Readonly<Record<string, string>> {
  return { "X-Item-Errors": String(refusedCount) };
}

async function answerElement(atlas: Atlas, query: unknown, requestId: string): Promise<BatchElement> {
  try {
    return await atlas.hazardRisk(query as HazardQueryInput);
  } catch (error) {
    const isItsOwn = isFault(error, "invalid_request") || isFault(error, "combination_unavailable");
    if (isItsOwn) return { error: problemOf(error, requestId) };
    throw error;
  }
}

function isRefused(element: BatchElement): element is { readonly error: Problem } {
  return "error" in element;
}

function unitsOf(element: BatchElement): number {
  return isRefused(element) ? 0 : countHazardValues(element);
}

/** More years, scenarios or hazards than there are can only be wrong, and what is wrong is not answered. */
const YEARS_MAX = new Set(HAZARD_NAMES.flatMap((hazard) => HAZARDS[hazard].years)).size;

/** How many values a query asks for; nothing of it has been checked. */
function countAsked(query: unknown): number {
  const { hazards, scenarios, analysis_years } = (query ?? {}) as Readonly<Record<string, unknown>>;
  return (
    lengthOf(hazards, HAZARD_NAMES.length) * lengthOf(scenarios, SCENARIOS.length) * lengthOf(analysis_years, YEARS_MAX)
  );
}

function isDetailed(query: unknown): boolean {
  return typeof query === "object" && query !== null && "detail" in query && query.detail === true;
}

function lengthOf(list: unknown, most: number): number {
  return Array.isArray(list) && list.length <= most ? list.length : 0;
}

function noBatch(body: unknown): Fault {
  const isList = Array.isArray(body);
  const detail = `A batch is a list of at least one query, not ${isList ? "an empty list" : quote(body)}.`;
  return new Fault("invalid_request", detail, {
    items: [{ pointer: "", code: isList ? "empty" : "wrong_type", detail }],
  });
}
