import findMyWay from "find-my-way";
import { Refusal } from "../problems/problem.ts";
import { addressesOf, type Route, type Services } from "../routes/route.ts";

/** A route at one of its addresses, with the parts of its responses that never change. */
export interface Target {
  readonly route: Route<unknown, unknown>;
  /** The path template, for the log. */
  readonly template: string;
  /** Header fields of every response, flat: name, value, … */
  readonly fields: readonly string[];
  /** Prefix of the ETag of every response; undefined for routes without ETags. */
  readonly tag: string | undefined;
}

export interface RouteMatch {
  readonly target: Target;
  /** The parameters of the path template, decoded. */
  readonly path: Readonly<Record<string, string>>;
}

const METHODS = ["GET", "POST", "DELETE"] as const;
const NO_PARAMETERS = {};

/** Finds the route for a method and a path. */
export class Router {
  readonly #router = findMyWay();
  /** Paths without parameters, by method: the fast path of most requests. */
  readonly #static: Readonly<Record<string, Map<string, RouteMatch>>> = {
    GET: new Map(),
    POST: new Map(),
    DELETE: new Map(),
  };

  constructor(routes: readonly Route<unknown, unknown>[], services: Services, tagOf: (revision: string) => string) {
    for (const route of routes) {
      const fields = ["X-Content-Type-Options", "nosniff", ...Object.entries(route.headers?.(services) ?? {}).flat()];
      const revision = route.revision?.(services);
      for (const template of addressesOf(route)) {
        const target: Target = { route, template, fields, tag: revision === undefined ? undefined : tagOf(revision) };
        this.#router.on(route.method, template, neverCalled, target);
        if (!/[:*]/.test(template)) this.#static[route.method]?.set(template, { target, path: NO_PARAMETERS });
      }
    }
  }

  /** @throws Refusal `route_not_found`, `method_not_allowed` */
  find(method: string, path: string): RouteMatch {
    const found = this.#find(method === "HEAD" ? "GET" : method, path);
    if (found !== undefined) return found;
    const allowed = this.allowedAt(path).join(", ");
    throw new Refusal("method_not_allowed", `${method} is not supported at this path; allowed: ${allowed}.`, {
      Allow: allowed,
    });
  }

  /** Returns the methods that a path supports. @throws Refusal `route_not_found` */
  allowedAt(path: string): readonly string[] {
    // `OPTIONS *` refers to the server as a whole (RFC 9110, 9.3.7).
    const methods = path === "*" ? METHODS : METHODS.filter((method) => this.#find(method, path) !== undefined);
    if (methods.length > 0)
      return [...methods.flatMap((name) => (name === "GET" ? [name, "HEAD"] : [name])), "OPTIONS"];
    throw new Refusal("route_not_found", "No route has this path; data routes start with /api/v1/.");
  }

  #find(method: string, path: string): RouteMatch | undefined {
    const known = this.#static[method]?.get(path);
    if (known !== undefined) return known;
    const found = this.#router.find(method as "GET", path);
    if (found === null) return undefined;
    return { target: found.store as Target, path: found.params as Readonly<Record<string, string>> };
  }
}

/** Handler that find-my-way requires: routes are only looked up here, and executed by the pipeline. */
function neverCalled(): never {
  throw new Error("Router handlers are not used.");
}
