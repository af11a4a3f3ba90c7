import findMyWay from "find-my-way";
import { Fault } from "../../errors.ts";
import { pathBelow } from "./requestHead.ts";
import { addressesOf, type Route, type Services } from "../route.ts";

/** A route at one of its addresses, with the constant parts of its responses. */
export interface Target {
  readonly route: Route<unknown, unknown>;
  /** The path template, for the log. */
  readonly template: string;
  /** Header fields of every response, flat: name, value, … */
  readonly fields: readonly string[];
  /** Value of the header Cache-Control. */
  readonly cacheControl: string;
  /** Prefix of the ETag of every response; undefined for routes without ETags. */
  readonly tag: string | undefined;
}

export interface RouteMatch {
  readonly target: Target;
  /** The parameters of the path template, decoded. */
  readonly path: Readonly<Record<string, string>>;
}

const METHODS = ["GET", "POST", "DELETE"] as const;

/** Finds the route for a method and a path. */
export class Router {
  readonly #router = findMyWay();
  readonly #prefix: string;

  constructor(routes: readonly Route<unknown, unknown>[], services: Services, tagOf: (revision: string) => string) {
    this.#prefix = services.prefix;
    for (const route of routes) {
      const fields = ["X-Content-Type-Options", "nosniff", ...Object.entries(route.headers?.(services) ?? {}).flat()];
      const revision = route.revision?.(services);
      for (const template of addressesOf(route)) {
        const tag = revision === undefined ? undefined : tagOf(revision);
        const target: Target = { route, template, fields, cacheControl: cacheControlOf(route), tag };
        this.#router.on(route.method, template, neverCalled, target);
      }
    }
  }

  /** Finds the route of a request. @throws Fault `route_not_found`, `method_not_allowed` */
  find(method: string, path: string): RouteMatch {
    const match = this.#find(method === "HEAD" ? "GET" : method, path);
    if (match !== undefined) return match;
    const allowed = this.allowedAt(path).join(", ");
    throw new Fault("method_not_allowed", `${method} is not supported at this path; allowed: ${allowed}.`, {
      headers: { Allow: allowed },
    });
  }

  /** Returns the methods that a path supports. @throws Fault `route_not_found` */
  allowedAt(path: string): readonly string[] {
    // `OPTIONS *` refers to the server as a whole (RFC 9110, 9.3.7).
    const methods = path === "*" ? METHODS : METHODS.filter((method) => this.#find(method, path) !== undefined);
    if (methods.length > 0)
      return [...methods.flatMap((name) => (name === "GET" ? [name, "HEAD"] : [name])), "OPTIONS"];
    throw new Fault("route_not_found", `No route has this path; data routes start with ${this.#prefix}/api/v1/.`);
  }

  #find(method: string, requestedPath: string): RouteMatch | undefined {
    const path = this.#prefix === "" ? requestedPath : pathBelow(this.#prefix, requestedPath);
    if (path === undefined) return undefined;
    const match = this.#router.find(method as "GET", path);
    if (match === null) return undefined;
    return { target: match.store as Target, path: match.params as Readonly<Record<string, string>> };
  }
}

/**
 * Returns the Cache-Control value of a route. Authenticated responses may be cached only by the client, which must
 * revalidate them unless the route has a maximum age.
 */
function cacheControlOf({ access, revision, maxAgeS }: Route<unknown, unknown>): string {
  if (revision === undefined) return "no-store";
  if (maxAgeS !== undefined) return `${access === "open" ? "public" : "private"}, max-age=${maxAgeS}`;
  return access === "open" ? "no-cache" : "private, no-cache";
}

/** Handler that find-my-way requires. The router only looks routes up; the pipeline runs them. */
function neverCalled(): never {
  throw new Error("Router handlers are not used.");
}
