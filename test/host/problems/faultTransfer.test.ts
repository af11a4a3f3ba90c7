import { expect, test } from "vitest";
import { packError, unpackError } from "../../../src/concurrency/errorTransfer.ts";
import { Fault } from "../../../src/errors.ts";
import { problemOf } from "../../../src/host/problems/problem.ts";

test.each([
  new Fault("overloaded", "busy", { headers: { "Retry-After": "3" } }),
  new Fault("customer_archived", "archived", {
    details: { status: 403 },
    items: [{ header: "X", code: "unknown", detail: "d" }],
  }),
])("a Fault keeps its class, status, header fields and errors between threads", (error) => {
  const received = unpackError(structuredClone(packError(error)));
  expect(received).toBeInstanceOf(Fault);
  expect(problemOf(received, "id")).toStrictEqual(problemOf(error, "id"));
  expect((received as Fault).headers).toStrictEqual(error.headers);
});
