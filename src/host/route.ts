import { Fault } from "../errors.ts";
import type { Atlas } from "../hazard/answer.ts";

/** What routes answer from. */
export interface Services {
  readonly atlas: Atlas;
}

/** What one request may ask for. */
export interface HostLimits {
  /** hazards x scenarios x years x locations */
  readonly hazardValueCount: number;
  readonly entityCount: number;
  /** entities x projected years */
  readonly alignmentValueCount: number;
  readonly bodySizeBytes: number;
}

/** A request as a route sees it: read, matched, not yet understood. */
interface RouteRequest {
  /** What follows the question mark, still percent-encoded. */
  readonly queryText: string;
  /** What the JSON of a POST says; a GET has none. */
  readonly body?: unknown;
  readonly limits: HostLimits;
}

/**
 * One thing the host answers, as a value: server.ts carries it, and it can be tried without a socket.
 * HEAD is answered wherever GET is.
 */
export interface Route<Request, Answer> {
  readonly method: "GET" | "POST";
  /** The address, or a template of it. One below /api/ is answered below /latest/api/ too. */
  readonly path: string;
  /** @throws Fault for everything that the caller can put right */
  parse(request: RouteRequest): Request;
  handle(request: Request, services: Services): Answer | Promise<Answer>;
  /** Header fields of every answer, problems too. */
  headers?(services: Services): Readonly<Record<string, string>>;
}

/** Every address of a route. */
export function addressesOf({ path }: Route<unknown, unknown>): readonly string[] {
  return path.startsWith("/api/") ? [path, `/latest${path}`] : [path];
}

/** @throws Fault `too_many_values` with `requested` and `limit` in its details */
export function withinLimit(
  what: string,
  { requested, limit }: { readonly requested: number; readonly limit: number },
) {
  if (requested <= limit) return;
  const message = `The request asks for ${requested} ${what}; ${limit} are allowed. Ask in several requests.`;
  throw new Fault("too_many_values", message, { details: { requested, limit } });
}
