/** What the batches of hazard queries and of curve queries share: requests, limits, and the encoding of results. */
import { Fault } from "../../errors.ts";
import type { RefusedElement } from "../../hazard/batch.ts";
import { HAZARD_NAMES, HAZARDS, SCENARIOS } from "../../hazard/hazards.ts";
import { quote } from "../../schemaErrors.ts";
import type { ProblemContext } from "../bulkRoute.ts";
import { type EncodedElement, ElementEncoder } from "../http/elementEncoder.ts";
import { encodeJson } from "../http/json.ts";
import { problemOf } from "../problems/problem.ts";
import { checkLimit, type Reply, type RouteRequest } from "../route.ts";
import { rejectParameters } from "./parameters.ts";

/** Unvalidated queries. Each is validated when it is processed, because an invalid query affects only its own element. */
export interface BatchRequest {
  readonly queries: readonly unknown[];
}

/** Descriptions of the response header fields of a batch. */
export const BATCH_HEADERS = {
  "X-Atlas-Release": "Release of the atlas from which the numbers come.",
  "X-Item-Errors": "Number of elements that have a problem in place of a result.",
};

/**
 * Checks the envelope and the limits of a batch.
 *
 * @param counts.isLong whether the values of a query count toward the limit of values with detail
 * @throws Fault `invalid_request`, `too_many_values`
 */
export function parseBatch(
  { queryText, body, limits }: RouteRequest,
  {
    hazardCountMax,
    isLong,
    longName,
  }: {
    readonly hazardCountMax: number;
    isLong(query: unknown): boolean;
    readonly longName: string;
  },
): BatchRequest {
  rejectParameters(queryText);
  if (!Array.isArray(body) || body.length === 0) throw batchFault(body);
  checkLimit("locations", { requested: body.length, limit: limits.batchCount });
  let [requested, long] = [0, 0];
  for (const query of body as readonly unknown[]) {
    const count = countRequestedValues(query, hazardCountMax);
    requested += count;
    if (isLong(query)) long += count;
  }
  checkLimit("hazard values", { requested, limit: limits.hazardValueCount });
  checkLimit(longName, { requested: long, limit: limits.detailCount });
  return { queries: body };
}

/** Encodes one element of a batch. @param countUnits counts the usage units of a result */
export function encodeElement<Result extends object>(
  element: Result | RefusedElement,
  { requestId, prefix }: ProblemContext,
  countUnits: (result: Result) => number,
): EncodedElement {
  if (isRefused(element)) {
    return { text: encodeJson({ error: problemOf(element.error, requestId, prefix) }), units: 0, isRefused: true };
  }
  return { text: encodeJson(element), units: countUnits(element), isRefused: false };
}

/** Encodes all elements of a batch. */
export function encodeElements<Element>(
  elements: readonly Element[],
  encode: (element: Element) => EncodedElement,
): ElementEncoder {
  const encoded = new ElementEncoder(elements.length);
  for (const [index, element] of elements.entries()) encoded.add(index, encode(element));
  return encoded;
}

/** Returns the response with all elements. */
export function batchReply(encoded: ElementEncoder): Reply {
  return {
    status: 200,
    contentType: "application/json",
    body: [encoded.response()],
    headers: itemErrors(encoded.refusedCount),
  };
}

/** Returns the header field with the number of invalid queries. */
export function itemErrors(refusedCount: number): Readonly<Record<string, string>> {
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
  const detail = `The body must be a list of at least one query, not ${isList ? "an empty list" : quote(body)}.`;
  return new Fault("invalid_request", detail, {
    items: [{ pointer: "", code: isList ? "empty" : "wrong_type", detail }],
  });
}
