import { expect, test } from "vitest";
import { PROBLEM_CODES, describeProblem } from "../../../src/host/problems/problemTexts.ts";
import { PROBLEM_CASES, triggerProblem } from "./problemCases.ts";

/** Header fields that a status requires (RFC 9110, RFC 6585). */
const REQUIRED_HEADERS: Readonly<Record<number, readonly string[]>> = {
  401: ["www-authenticate"],
  405: ["allow"],
  429: ["retry-after", "ratelimit", "ratelimit-policy"],
  503: ["retry-after"],
};
const BEFORE_ROUTING = new Set<string>(["http_malformed", "headers_too_large", "request_timeout"]);
const seen = new Set<string>();

test.each(PROBLEM_CASES.map((problemCase) => [problemCase.code, problemCase.status, problemCase] as const))(
  "%s with status %i has all members and header fields and is not metered",
  async (code, status, problemCase) => {
    const { headers, problem, recordedCount, ...answer } = await triggerProblem(problemCase);
    expect([answer.status, problem.status, problem.code]).toStrictEqual([status, status, code]);
    seen.add(problem.code);
    expect(headers.get("content-type")).toBe("application/problem+json");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("x-request-id")).toBe(problem.request_id);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    for (const name of REQUIRED_HEADERS[status] ?? [])
      expect([name, headers.get(name)]).toStrictEqual([name, expect.any(String)]);
    if (headers.has("x-usage-units")) expect(headers.get("x-usage-units")).toBe("0");
    expect(recordedCount).toBe(0);

    const { title, retryable } = describeProblem(code);
    expect(problem).toMatchObject({ type: `/problems/${code}`, title, retryable });
    expect(problem.retryable).toBe(headers.has("retry-after") || code === "request_timeout");
    if (status >= 500) expect(problem.detail).not.toContain("operator");
    if (!BEFORE_ROUTING.has(code)) expect(problem.detail.length).toBeGreaterThan(20);
  },
);

test("covers every problem code", () => {
  expect(PROBLEM_CODES.filter((code) => !seen.has(code))).toStrictEqual([]);
});
