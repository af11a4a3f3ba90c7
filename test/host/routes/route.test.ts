import { expect, test } from "vitest";
import { checkLimit } from "../../../src/host/routes/route.ts";

test("a request may ask for just as much as the limit says, and not for one more", () => {
  expect(() => checkLimit("hazard values", { requested: 1000, limit: 1000 })).not.toThrow();
  let refused: unknown;
  try {
    checkLimit("hazard values", { requested: 1001, limit: 1000 });
  } catch (error) {
    refused = error;
  }
  expect(refused).toMatchObject({
    code: "too_many_values",
    message: "The request asks for 1001 hazard values; 1000 are allowed. Ask in several requests.",
    details: { requested: 1001, limit: 1000 },
  });
});
