import { type Static, Type } from "typebox";
import type { ValueSchema } from "../../schemaErrors.ts";
import { HazardQuerySchema } from "../../hazard/query.ts";
import { HEAD_BYTES_MAX } from "../http/requestHead.ts";
import { JSON_DEPTH_MAX } from "../http/json.ts";
import { refuseParameters } from "./parameters.ts";
import type { Route } from "./route.ts";

const LimitsSchema = Type.Object({
  head_bytes: Type.Integer({ description: "Length of a request's address and headers." }),
  body_bytes: Type.Integer({ description: "Length of a request's body." }),
  json_depth: Type.Integer({ description: "Lists and objects within one another." }),
  batch_elements: Type.Integer({ description: "Queries of a hazard batch." }),
  hazard_values: Type.Integer({ description: "hazards x scenarios x years x locations of a request." }),
  entities: Type.Integer({ description: "Entities of an alignment request." }),
  alignment_values: Type.Integer({ description: "Projected years over all entities of a request." }),
  detail_values: Type.Integer({ description: "Of either kind of values, those asked for with detail." }),
  radius_km: Type.Number(),
  requests_per_second: Type.Number({ description: "Of the account, in the long run." }),
  request_burst: Type.Integer({ description: "Of the account, at once." }),
});

const { maximum: RADIUS_KM_MAX = 0 }: ValueSchema = HazardQuerySchema.properties.radius;

/** GET /api/v1/limits: what one request, and one account, may ask for here. */
export const limits: Route<undefined, Static<typeof LimitsSchema>> = {
  method: "GET",
  path: "/api/v1/limits",
  access: "key",
  description: {
    operationId: "getLimits",
    tag: "Service",
    summary: "The limits in force",
    answers: { 200: { description: "The limits.", schema: LimitsSchema } },
    problems: ["invalid_request"],
  },
  parse: ({ queryText }) => {
    refuseParameters(queryText);
    return undefined;
  },
  handle: (_request, { services: { limits: now } }) => ({
    head_bytes: HEAD_BYTES_MAX,
    body_bytes: now.bodySizeBytes,
    json_depth: JSON_DEPTH_MAX,
    batch_elements: now.batchCount,
    hazard_values: now.hazardValueCount,
    entities: now.entityCount,
    alignment_values: now.alignmentValueCount,
    detail_values: now.detailCount,
    radius_km: RADIUS_KM_MAX,
    requests_per_second: now.requestsPerS,
    request_burst: now.requestBurst,
  }),
};
