import { Type } from "typebox";

/** The response of GET /. */
export const AboutSchema = Type.Object({
  service: Type.String(),
  documentation: Type.String({ description: "Path of the interactive API page." }),
  openapi: Type.String({ description: "Path of the OpenAPI document." }),
  health: Type.String({ description: "Path of the liveness check." }),
  readiness: Type.String({ description: "Path of the readiness check." }),
  atlas: Type.Object({
    release: Type.String(),
    synthetic: Type.Boolean({ description: "True if all values are invented, as in the demo." }),
  }),
});

/** The response of GET /healthz. */
export const HealthSchema = Type.Object({ status: Type.Literal("ok") });

/** The response of GET /readyz. */
export const ReadinessSchema = Type.Object({ status: Type.Literal("ready") });

/** The response of GET /api/v1/limits. */
export const LimitsSchema = Type.Object({
  head_bytes: Type.Integer({ description: "Maximum size of the request line and headers, bytes." }),
  body_bytes: Type.Integer({ description: "Maximum size of a request body, bytes." }),
  json_depth: Type.Integer({ description: "Maximum nesting depth of lists and objects." }),
  json_values: Type.Integer({ description: "Maximum number of values in a request body, in all lists and objects." }),
  json_object_keys: Type.Integer({ description: "Maximum number of keys of one object." }),
  batch_elements: Type.Integer({ description: "Maximum number of queries in a hazard batch." }),
  hazard_values: Type.Integer({
    description: "Maximum number of hazard values per request: hazards x scenarios x years, summed over the locations.",
  }),
  entities: Type.Integer({ description: "Maximum number of entities per alignment request." }),
  alignment_values: Type.Integer({
    description: "Maximum number of projected years per request, summed over its entities.",
  }),
  detail_values: Type.Integer({
    description: "Maximum number of hazard or alignment values per request with detail, and of curves.",
  }),
  radius_km: Type.Number({ description: "Maximum radius of a hazard query, kilometers." }),
  customers: Type.Integer({ description: "Maximum number of customers of the account, including archived ones." }),
  requests_per_second: Type.Number({
    description: "Maximum sustained request rate of the account, requests per second.",
  }),
  request_burst: Type.Integer({ description: "Maximum number of requests that the account can send at once." }),
  tiles_per_second: Type.Number({
    description: "Maximum sustained rate of map tiles of the account, tiles per second. They do not count as requests.",
  }),
  tile_burst: Type.Integer({ description: "Maximum number of map tiles that the account can request at once." }),
});
