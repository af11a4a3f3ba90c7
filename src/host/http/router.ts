import findMyWay from "find-my-way";
import { Refusal } from "../problems/problem.ts";
import { addressesOf, type Route, type Services } from "../routes/route.ts";

/** A route at one of its addresses, with all that can be known of its answers before one is asked for. */
export interface Target {
  readonly route: Route<unknown, unknown>;
  /** The address or template, for the log. */
  readonly template: string;
  /** Header fields of every answer, flat: name, value, … */
  readonly fields: readonly string[];
  /** Begins the ETag of every answer; absent where answers have none. */
  readonly tag: string | undefined;
}

export interface RouteMatch {
  readonly target: Target;
  /** The members of the template, decoded. */
  readonly path: Readonly<Record<string, string>>;
}

const METHODS = ["GET", "POST", "DELETE"] as const;
const NO_MEMBERS = {};

/** Finds the route that an address and a method mean. */
export class Router {
  readonly #router = findMyWay();
  /** Addresses without members, by method: most of what is asked, and found at once. */
  readonly #plain: Readonly<Record<string, Map<string, RouteMatch>>> = {
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
        this.#router.on(route.method, template, notCalled, target);
        if (!/[:*]/.test(template)) this.#plain[route.method]?.set(template, { target, path: NO_MEMBERS });
      }
    }
  }

  /** @throws Refusal `route_not_found`, `method_not_allowed` */
  find(method: string, path: string): RouteMatch {
    const found = this.#find(method === "HEAD" ? "GET" : method, path);
    if (found !== undefined) return found;
    const allowed = this.allowedAt(path).join(", ");
    throw new Refusal("method_not_allowed", `${method} is not answered here; allowed: ${allowed}.`, { Allow: allowed });
  }

  /** The methods that an address takes. @throws Refusal `route_not_found` */
  allowedAt(path: string): readonly string[] {
    // Of the server as a whole (RFC 9110, 9.3.7).
    const methods = path === "*" ? METHODS : METHODS.filter((method) => this.#find(method, path) !== undefined);
    if (methods.length > 0)
      return [...methods.flatMap((name) => (name === "GET" ? [name, "HEAD"] : [name])), "OPTIONS"];
    throw new Refusal("route_not_found", "There is nothing at this address. Data is below /api/v1/.");
  }

  #find(method: string, path: string): RouteMatch | undefined {
    const plain = this.#plain[method]?.get(path);
    if (plain !== undefined) return plain;
    const found = this.#router.find(method as "GET", path);
    if (found === null) return undefined;
    return { target: found.store as Target, path: found.params as Readonly<Record<string, string>> };
  }
}

/** The router only finds; answering is ours. */
function notCalled(): never {
  throw new Error("The router's own way of calling a route is not used.");
}
