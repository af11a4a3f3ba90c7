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
