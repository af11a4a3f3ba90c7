import { type Static, Type } from "typebox";
import type { ValueSchema } from "../../schemaErrors.ts";
import { HazardQuerySchema } from "../../hazard/query.ts";
import { HEAD_BYTES_MAX } from "../http/requestHead.ts";
import { JSON_DEPTH_MAX } from "../http/json.ts";
import { rejectParameters } from "./parameters.ts";
import type { Route } from "./route.ts";

const LimitsSchema = Type.Object({
  head_bytes: Type.Integer({ description: "Maximum size of the request line and headers." }),
  body_bytes: Type.Integer({ description: "Maximum size of a request body." }),
  json_depth: Type.Integer({ description: "Maximum nesting depth of lists and objects." }),
  batch_elements: Type.Integer({ description: "Maximum number of queries in a hazard batch." }),
  hazard_values: Type.Integer({ description: "Maximum hazards x scenarios x years x locations per request." }),
  entities: Type.Integer({ description: "Maximum number of entities per alignment request." }),
  alignment_values: Type.Integer({ description: "Maximum number of projected years over all entities of a request." }),
  detail_values: Type.Integer({ description: "Maximum number of hazard or alignment values per request with detail." }),
  radius_km: Type.Number({ description: "Maximum radius." }),
  requests_per_second: Type.Number({ description: "Sustained request rate of the account." }),
  request_burst: Type.Integer({ description: "Maximum burst of requests of the account." }),
});

const { maximum: RADIUS_KM_MAX = 0 }: ValueSchema = HazardQuerySchema.properties.radius;

/** GET /api/v1/limits: the limits per request and per account. */
export const limits: Route<undefined, Static<typeof LimitsSchema>> = {
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
    body_bytes: current.bodySizeBytes,
    json_depth: JSON_DEPTH_MAX,
    batch_elements: current.batchCount,
    hazard_values: current.hazardValueCount,
    entities: current.entityCount,
    alignment_values: current.alignmentValueCount,
    detail_values: current.detailCount,
    radius_km: RADIUS_KM_MAX,
    requests_per_second: current.requestsPerS,
    request_burst: current.requestBurst,
  }),
};
