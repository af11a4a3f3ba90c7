import { expect, test } from "vitest";
import { problemHeaders, problemOf } from "../../../src/host/problems/problem.ts";
import { WorkerDeathError } from "../../../src/pool/workerDeath.ts";

test("the death of a worker is an overload, after which the request can be repeated", () => {
  const error = new WorkerDeathError("The worker ran out of memory at /srv/atlas.");
  const problem = problemOf(error, "id");
  expect(problem).toMatchObject({ status: 503, code: "overloaded", retryable: true });
  expect(problem.detail).not.toContain("/srv");
  expect(problemHeaders(problem, error)).toMatchObject({ "Retry-After": "1" });
});

test("any other error is internal, and not repeated", () => {
  const problem = problemOf(new TypeError("x is undefined"), "id");
  expect(problem).toMatchObject({ status: 500, code: "internal_error", retryable: false });
  expect(problem.detail).not.toContain("undefined");
});
