import { expect, test } from "vitest";
import { checkLimit } from "../../../src/host/route.ts";

test("checkLimit accepts a request at the limit and rejects one above it", () => {
  expect(() => checkLimit("hazard values", { requested: 1000, limit: 1000 })).not.toThrow();
  let fault: unknown;
  try {
    checkLimit("hazard values", { requested: 1001, limit: 1000 });
  } catch (error) {
    fault = error;
  }
  expect(fault).toMatchObject({
    code: "too_many_values",
    message: "The request asks for 1001 hazard values; at most 1000 are allowed. Split it into several requests.",
    details: { requested: 1001, limit: 1000 },
  });
});
