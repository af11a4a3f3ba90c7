import { ReadinessSchema } from "../../contract/health.ts";
import type { Readiness } from "../../contract/wireTypes.ts";
import { HttpError } from "../problems/problem.ts";
import type { Route } from "../route.ts";

/** GET /readyz: readiness check. Fails until the kernels are warm, and again once the host shuts down. */
export const readyz: Route<undefined, Readiness> = {
  method: "GET",
  path: "/readyz",
  access: "open",
  description: {
    operationId: "getReadiness",
    tag: "Service",
    summary: "Readiness check",
    description: "For load balancers: fails until the service is warm, and again once it shuts down.",
    responses: {
      200: { description: "The service accepts requests.", schema: ReadinessSchema },
    },
    problems: ["overloaded"],
  },
  parse: () => undefined,
  handle(_request, { services }) {
    if (services.readiness?.isReady === false) {
      throw new HttpError("overloaded", "The service is warming up or shutting down.");
    }
    return { status: "ready" };
  },
};
