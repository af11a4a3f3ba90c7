import { ReadinessSchema } from "../../contract/health.ts";
import type { Readiness } from "../../contract/wireTypes.ts";
import { HttpError } from "../problems/problem.ts";
import type { Route } from "../route.ts";

/** GET /readyz: readiness check. Fails until the service is warm, after the ledger has failed, and during shutdown. */
export const readyz: Route<undefined, Readiness> = {
  method: "GET",
  path: "/readyz",
  access: "open",
  isProbe: true,
  description: {
    operationId: "getReadiness",
    tag: "Service",
    summary: "Readiness check",
    description:
      "Readiness check for load balancers. Fails until the service has warmed up, after its ledger has failed, and while it " +
      "shuts down.",
    responses: {
      200: { description: "The service accepts requests.", schema: ReadinessSchema },
    },
    problems: ["overloaded"],
  },
  parse: () => undefined,
  handle(_request, { services }) {
    if (services.readiness?.isReady === false) {
      throw new HttpError("overloaded", "The service is warming up, cannot record usage, or is shutting down.");
    }
    return { status: "ready" };
  },
};
