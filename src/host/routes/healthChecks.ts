import { HealthSchema, ReadinessSchema } from "../../contract/service.ts";
import type { Health, Readiness } from "../../contract/wireTypes.ts";
import { Fault } from "../../errors.ts";
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

/** GET /readyz: readiness check. Fails until the service is warm, while its ledger cannot record, and during shutdown. */
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
      "Readiness check for load balancers. Fails until the service has warmed up, while its ledger cannot record usage, and " +
      "while it shuts down. Responds within three seconds.",
    responses: {
      200: { description: "The service accepts requests.", schema: ReadinessSchema },
    },
    problems: ["overloaded"],
  },
  parse: () => undefined,
  async handle(_request, { services }) {
    if (services.readiness?.isReady === false) {
      throw new Fault("overloaded", "The service is warming up, cannot record usage, or is shutting down.");
    }
    await services.ledger.checkWritable().catch((cause: unknown) => {
      const message = "The service cannot record usage at present; its log states the reason.";
      throw new Fault("overloaded", message, { cause });
    });
    return { status: "ready" };
  },
};
