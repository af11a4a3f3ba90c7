import { LimitsSchema } from "../../contract/service.ts";
import { RADIUS_KM_MAX } from "../../contract/ranges.ts";
import type { Limits } from "../../contract/wireTypes.ts";
import { HEAD_BYTES_MAX } from "../http/requestHead.ts";
import { JSON_DEPTH_MAX, JSON_KEY_COUNT_MAX, jsonValueCountMax } from "../../text/json/jsonScan.ts";
import { rejectParameters } from "./parameters.ts";
import type { Route } from "../route.ts";

/** GET /api/v1/limits: the limits per request and per account. */
export const limits: Route<undefined, Limits> = {
  method: "GET",
  path: "/api/v1/limits",
  access: "key",
  description: {
    operationId: "getLimits",
    tag: "Service",
    summary: "Current limits",
    responses: { 200: { description: "The limits.", schema: LimitsSchema } },
    problems: ["invalid_request"],
  },
  parse: ({ queryText }) => {
    rejectParameters(queryText);
    return undefined;
  },
  handle: (_request, { services: { limits: current } }) => ({
    head_bytes: HEAD_BYTES_MAX,
    body_bytes: current.requestBodyBytesMax,
    json_depth: JSON_DEPTH_MAX,
    json_values: jsonValueCountMax(current.requestBodyBytesMax),
    json_object_keys: JSON_KEY_COUNT_MAX,
    batch_elements: current.batchCount,
    hazard_values: current.hazardValueCount,
    entities: current.entityCount,
    alignment_values: current.alignmentValueCount,
    detail_values: current.detailCount,
    radius_km: RADIUS_KM_MAX,
    customers: current.customerCount,
    requests_per_second: current.requestsPerS,
    request_burst: current.requestBurst,
    tiles_per_second: current.tilesPerS,
    tile_burst: current.tileBurst,
  }),
};
