import type { Route } from "../route.ts";

/** GET /healthz: the process answers. Whatever stands in the query part is for caches and of no meaning here. */
export const healthz: Route<undefined, { readonly status: "ok" }> = {
  method: "GET",
  path: "/healthz",
  parse: () => undefined,
  handle: () => ({ status: "ok" }),
};
