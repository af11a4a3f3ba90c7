import { readFileSync } from "node:fs";
import type { Problem } from "../problems/problem.ts";

interface Example {
  /** States which part of the response is included; present only if it was shortened. */
  readonly summary?: string;
  readonly value: unknown;
}

export interface Examples {
  /** By operation id and status. */
  readonly responses: Readonly<Record<string, Readonly<Record<string, Example>>>>;
  /** By code and status, such as `rate_limited_429`. */
  readonly problems: Readonly<Record<string, Problem>>;
}

/** Names of response members that contain a path of the service. */
const LINK_MEMBERS = new Set(["type", "documentation", "openapi", "health", "readiness"]);

/** Read when a document is built, not when the module is loaded; the build copies it to dist. */
const FILE = new URL("./examples.json", import.meta.url);

/**
 * Reads the examples of the OpenAPI document: recorded responses of the service, with fixed ids and times.
 * test/host/openapi/examples.system.test.ts compares them with the responses of a running service, and rewrites the file if
 * ISOTHERM_UPDATE_EXAMPLES is 1.
 *
 * @param prefix path below which clients reach the service; precedes the links of the examples
 */
export function readExamples(prefix = ""): Examples {
  const isLink = (name: string, value: unknown): boolean =>
    LINK_MEMBERS.has(name) && typeof value === "string" && value.startsWith("/");
  return JSON.parse(readFileSync(FILE, "utf8"), (name, value: unknown) =>
    isLink(name, value) ? prefix + String(value) : value,
  ) as Examples;
}
