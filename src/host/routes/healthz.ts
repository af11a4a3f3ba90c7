import { Type } from "typebox";
import type { Route } from "./route.ts";

/** GET /healthz: liveness check. Query parameters are ignored, since callers add them to bypass caches. */
export const healthz: Route<undefined, { readonly status: "ok" }> = {
  method: "GET",
  path: "/healthz",
  access: "open",
  description: {
    operationId: "getHealth",
    tag: "Service",
    summary: "Liveness check",
    responses: {
      200: { description: "The process is running.", schema: Type.Object({ status: Type.Literal("ok") }) },
    },
    problems: [],
  },
  parse: () => undefined,
  handle: () => ({ status: "ok" }),
};
