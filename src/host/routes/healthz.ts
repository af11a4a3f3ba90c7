import { Type } from "typebox";
import type { Route } from "./route.ts";

/** GET /healthz: the process answers. Whatever stands in the query part is for caches and of no meaning here. */
export const healthz: Route<undefined, { readonly status: "ok" }> = {
  method: "GET",
  path: "/healthz",
  access: "open",
  description: {
    operationId: "getHealth",
    tag: "Service",
    summary: "Whether the process answers",
    responses: {
      200: { description: "It does.", schema: Type.Object({ status: Type.Literal("ok") }) },
    },
    problems: [],
  },
  parse: () => undefined,
  handle: () => ({ status: "ok" }),
};
