import { HealthSchema } from "../../contract/service.ts";
import type { Health } from "../../contract/wireTypes.ts";
import type { Route } from "../route.ts";

/** GET /healthz: liveness check. Query parameters are ignored, since callers add them to bypass caches. */
export const healthz: Route<undefined, Health> = {
  method: "GET",
  path: "/healthz",
  access: "open",
  isProbe: true,
  description: {
    operationId: "getHealth",
    tag: "Service",
    summary: "Liveness check",
    responses: {
      200: { description: "The process is running.", schema: HealthSchema },
    },
    problems: [],
  },
  parse: () => undefined,
  handle: () => ({ status: "ok" }),
};
