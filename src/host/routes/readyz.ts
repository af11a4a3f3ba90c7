import { Type } from "typebox";
import { Refusal } from "../problems/problem.ts";
import type { Route } from "./route.ts";

/** GET /readyz: whether to send requests here. Not before the kernels are warm, and not once the host is stopping. */
export const readyz: Route<undefined, { readonly status: "ready" }> = {
  method: "GET",
  path: "/readyz",
  access: "open",
  description: {
    operationId: "getReadiness",
    tag: "Service",
    summary: "Whether to send requests here",
    description: "For load balancers: not before the service is warm, and not once it has been told to stop.",
    responses: {
      200: { description: "It takes requests.", schema: Type.Object({ status: Type.Literal("ready") }) },
    },
    problems: ["overloaded"],
  },
  parse: () => undefined,
  handle(_request, { services }) {
    if (services.readiness?.isReady === false) {
      throw new Refusal("overloaded", "The service is warming up, or has been told to stop.");
    }
    return { status: "ready" };
  },
};
