/** Makes the routes for batches of hazard queries and of curve queries. */
import type { TSchema } from "typebox";
import { Fault } from "../../errors.ts";
import type { LocalAtlas } from "../../hazard/answer.ts";
import type { BatchRun, RefusedElement } from "../../hazard/batch.ts";
import { HAZARD_NAMES, HAZARDS, SCENARIOS } from "../../hazard/hazards.ts";
import { quote } from "../../validation/schemaErrors.ts";
import type { ProblemContext, QueriesBulkRoute } from "../bulkRoute.ts";
import { type EncodedElement, ElementEncoder } from "../http/elementEncoder.ts";
import { encodeJson } from "../../text/json/json.ts";
import { problemOf } from "../problems/problem.ts";
import { checkLimit, type Reply, type Route, type RouteDescription, type RouteRequest } from "../route.ts";
import { RELEASE_HEADER, releaseHeader } from "./hazardAnswers.ts";
import { rejectParameters } from "./parameters.ts";

/** Unvalidated queries. Each is validated when it is processed, because an invalid query affects only its own element. */
type Queries = readonly unknown[];

/** What differs between the batches. */
interface QueryBatch<Query, Result extends object> {
  readonly path: string;
  readonly description: Pick<RouteDescription, "operationId" | "summary" | "description" | "body"> & {
    readonly answerSchema: TSchema;
  };
  /** Maximum number of hazards of a query. */
  readonly hazardCountMax: number;
  /** Returns whether the values of a query, which need not be valid, count toward the limit of values with detail. */
  isLong(query: unknown): boolean;
  /** Name of these values in errors. */
  readonly longName: string;
  /** Estimates what the circle of a query takes to sample. @throws Fault if the query is invalid */
  estimateWork(atlas: LocalAtlas, query: unknown): ReturnType<LocalAtlas["estimateWork"]>;
  /** Answers queries as the library does. They have not been validated. */
  answer(
    atlas: Pick<LocalAtlas, "hazardRiskBatch" | "curveBatch">,
    queries: readonly Query[],
    options: { readonly signal: AbortSignal },
    run?: BatchRun<Result>,
  ): Promise<readonly (Result | RefusedElement)[]>;
  /** Counts the usage units of a result. */
  countUnits(result: Result): number;
}

interface BatchRoutes<Result> {
  readonly route: Route<Queries, ElementEncoder>;
  /** Answers a batch in worker threads. Each query goes to the worker that has its tiles. */
  readonly bulkRoute: QueriesBulkRoute<Queries, Result>;
}

/** Returns the routes that answer a list of queries with a list of results. */
export function queryBatchRoutes<Query, Result extends object>(batch: QueryBatch<Query, Result>): BatchRoutes<Result> {
  const { answerSchema, ...description } = batch.description;
  const encode = (element: Result | RefusedElement, context: ProblemContext): EncodedElement =>
    encodeElement(element, context, (result) => batch.countUnits(result));
  const route: BatchRoutes<Result>["route"] = {
    method: "POST",
    path: batch.path,
    access: "customer",
    description: {
      ...description,
      tag: "Hazard risk",
      responses: {
        200: { description: "One element per query, in the same order.", schema: answerSchema, headers: BATCH_HEADERS },
      },
      problems: ["invalid_request", "too_many_values", "atlas_unavailable", "overloaded"],
    },
    metered: { meter: "hazard_values", units: ({ units }) => units },
    // A single query with a large radius can take longer than anything else that runs on the event loop.
    inlineBodyBytesMax: 0,
    parse: (request) => parseBatch(request, batch),
    async handle(queries, { services: { atlas, prefix }, requestId, signal }) {
      const elements = await batch.answer(atlas, queries as readonly Query[], { signal });
      return encodeElements(elements, (element) => encode(element, { requestId, prefix }));
    },
    reply: batchReply,
    headers: releaseHeader,
  };
  const bulkRoute: BatchRoutes<Result>["bulkRoute"] = {
    kind: "queries",
    route,
    queriesOf: (queries) => queries,
    estimateWork: (atlas, query) => batch.estimateWork(atlas, query),
    answer: (atlas, queries, options, run) => batch.answer(atlas, queries as readonly Query[], options, run),
    encode,
    headers: itemErrors,
  };
  return { route, bulkRoute };
}

/** Errors that the problem of one element of a batch lists. */
const ELEMENT_ERROR_COUNT_MAX = 3;

/** Descriptions of the response header fields of a batch. */
const BATCH_HEADERS = {
  ...RELEASE_HEADER,
  "X-Item-Errors": "Number of elements that have a problem in place of a result.",
};

/**
 * Checks the envelope and the limits of a batch.
 * @throws Fault `invalid_request`, `too_many_values`
 */
function parseBatch(
  { queryText, body, limits }: RouteRequest,
  batch: Pick<QueryBatch<never, never>, "hazardCountMax" | "isLong" | "longName">,
): Queries {
  rejectParameters(queryText);
  if (!Array.isArray(body) || body.length === 0) throw batchFault(body);
  checkLimit("locations", { requested: body.length, limit: limits.batchCount });
  let [requested, long] = [0, 0];
  for (const query of body as readonly unknown[]) {
    const count = countRequestedValues(query, batch.hazardCountMax);
    requested += count;
    if (batch.isLong(query)) long += count;
  }
  checkLimit("hazard values", { requested, limit: limits.hazardValueCount });
  checkLimit(batch.longName, { requested: long, limit: limits.detailCount });
  return body;
}

/**
 * Encodes one element of a batch, with at most 3 errors: those of 10,000 invalid queries, for which no units are counted,
 * would otherwise take hundreds of MiB.
 *
 * @param countUnits counts the usage units of a result
 */
function encodeElement<Result extends object>(
  element: Result | RefusedElement,
  { requestId, prefix }: ProblemContext,
  countUnits: (result: Result) => number,
): EncodedElement {
  if (isRefused(element)) {
    const { errors, ...problem } = problemOf(element.error, requestId, prefix);
    const listed = errors === undefined ? {} : { errors: errors.slice(0, ELEMENT_ERROR_COUNT_MAX) };
    return { text: encodeJson({ error: { ...problem, ...listed } }), units: 0, isRefused: true };
  }
  return { text: encodeJson(element), units: countUnits(element), isRefused: false };
}

/** Encodes all elements of a batch. */
function encodeElements<Element>(
  elements: readonly Element[],
  encode: (element: Element) => EncodedElement,
): ElementEncoder {
  const encoded = new ElementEncoder(elements.length);
  for (const [index, element] of elements.entries()) encoded.add(index, encode(element));
  return encoded;
}

/** Returns the response with all elements. */
function batchReply(encoded: ElementEncoder): Reply {
  return {
    status: 200,
    contentType: "application/json",
    body: [encoded.response()],
    headers: itemErrors(encoded.refusedCount),
  };
}

/** Returns the header field with the number of invalid queries. */
function itemErrors(refusedCount: number): Readonly<Record<string, string>> {
  return { "X-Item-Errors": String(refusedCount) };
}

function isRefused(element: object): element is RefusedElement {
  return "error" in element;
}

/** Number of distinct years over all hazards. A query with a longer list is invalid and requests 0 values. */
const YEARS_MAX = new Set(HAZARD_NAMES.flatMap((hazard) => HAZARDS[hazard].years)).size;

/** Returns the number of values that a query requests; the query has not been validated. */
function countRequestedValues(query: unknown, hazardCountMax: number): number {
  const { hazards, scenarios, analysis_years } = (query ?? {}) as Readonly<Record<string, unknown>>;
  return (
    lengthOf(hazards, hazardCountMax) * lengthOf(scenarios, SCENARIOS.length) * lengthOf(analysis_years, YEARS_MAX)
  );
}

function lengthOf(list: unknown, countMax: number): number {
  return Array.isArray(list) && list.length <= countMax ? list.length : 0;
}

function batchFault(body: unknown): Fault {
  const isList = Array.isArray(body);
  const detail = `The body must be an array of at least one query, not ${isList ? "an empty array" : quote(body)}.`;
  return new Fault("invalid_request", detail, {
    items: [{ pointer: "", code: isList ? "empty" : "wrong_type", detail }],
  });
}
