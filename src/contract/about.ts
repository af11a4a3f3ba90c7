import { Type } from "typebox";

/** The response of GET /. */
export const AboutSchema = Type.Object({
  service: Type.String(),
  documentation: Type.String({ description: "Interactive API page." }),
  openapi: Type.String({ description: "OpenAPI document." }),
  health: Type.String(),
  readiness: Type.String(),
  atlas: Type.Object({
    release: Type.String(),
    synthetic: Type.Boolean({ description: "True if all values are invented, as in the demo." }),
  }),
});
