import { readFileSync } from "node:fs";
import type { Problem } from "../problems/problem.ts";

interface Example {
  /** Present on a shortened response: which part of it is shown. */
  readonly summary?: string;
  readonly value: unknown;
}

export interface Examples {
  /** By operation id and status. */
  readonly responses: Readonly<Record<string, Readonly<Record<string, Example>>>>;
  /** By code and status, such as `rate_limited_429`. */
  readonly problems: Readonly<Record<string, Problem>>;
}

/** Read as a file because importing JSON prints a warning on Node 20; the build copies it to dist. */
const FILE = new URL("./examples.json", import.meta.url);

/**
 * Reads the examples of the OpenAPI document: actual responses of the service in which ids and times have fixed values.
 * test/host/openapi/examples.test.ts compares them with the responses over a socket, and rewrites the file when
 * ISOTHERM_UPDATE_EXAMPLES=1.
 */
export function readExamples(): Examples {
  return JSON.parse(readFileSync(FILE, "utf8")) as Examples;
}
