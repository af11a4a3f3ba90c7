/** Starts a host for tests of the temperature alignment route and sends requests to it. */
import { afterAll, beforeAll, expect } from "vitest";
import type { Problem } from "../../../src/host/problems/problem.ts";
import { HEADER_LINES, type TestHost, startTestHost, ALIGNMENT_PATH } from "../testHost.ts";

export const JSON_TYPE = { "Content-Type": "application/json" };

/** Starts a host for the tests of a file and stops it after the last one. */
export function alignmentRoute() {
  let testHost: TestHost;
  beforeAll(async () => {
    testHost = await startTestHost();
  });
  afterAll(async () => {
    await testHost.close();
  });
  return {
    host: () => testHost,
    post: (
      body: string | Uint8Array<ArrayBuffer>,
      target = ALIGNMENT_PATH,
      headers: Record<string, string> = JSON_TYPE,
    ) => testHost.ask(target, { method: "POST", body, headers }),
  };
}

/** Returns the text of an HTTP/1.1 request; with the field `Connection: close`, its response ends the connection. */
export const requestText = (body: string, ...fields: string[]): string =>
  [`POST ${ALIGNMENT_PATH} HTTP/1.1`, "Host: h", ...HEADER_LINES, ...fields, "", body].join("\r\n");

/** Returns the problem document of a response, after checking its content type, status and request id. */
export async function problemOf(response: Response): Promise<Problem> {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  const problem = (await response.json()) as Problem;
  expect(problem.status).toBe(response.status);
  expect(problem.request_id).toBe(response.headers.get("x-request-id"));
  return problem;
}
