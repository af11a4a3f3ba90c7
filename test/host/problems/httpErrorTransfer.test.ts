import { expect, test } from "vitest";
import { problemOf, HttpError } from "../../../src/host/problems/problem.ts";
import { packError, unpackError } from "../../../src/concurrency/errorTransfer.ts";

test.each([
  new HttpError("overloaded", "busy", { "Retry-After": "3" }),
  new HttpError(
    "customer_archived",
    "archived",
    {},
    { status: 403, items: [{ header: "X", code: "unknown", detail: "d" }] },
  ),
])("an HttpError keeps its class, status, header fields and errors between threads", (error) => {
  const received = unpackError(structuredClone(packError(error)));
  expect(received).toBeInstanceOf(HttpError);
  expect(problemOf(received, "id")).toStrictEqual(problemOf(error, "id"));
  expect((received as HttpError).headers).toStrictEqual(error.headers);
});
