import { describe, expect, test } from "vitest";
import { findSchemaErrors, type ValueSchema } from "../src/schemaErrors.ts";

describe("the errors of a value with several types", () => {
  const schema: ValueSchema = {
    anyOf: [
      { const: "all", type: "string" },
      { type: "integer", minimum: 1 },
      { type: "object", properties: { first: { type: ["number", "null"], maximum: 9 } }, required: ["first"] },
      { type: "null" },
    ],
  };
  const expected = "all, or a whole number of at least 1, or an object with first";
  test.each([
    ["all", []],
    [5, []],
    [null, []],
    [{ first: null }, []],
    [{ first: 5 }, []],
    [0, [" out_of_range: choice must be at least 1 (got 0)."]],
    [1.5, [" wrong_type: choice must be a whole number of at least 1 (got 1.5)."]],
    ["none", [` not_allowed: choice must be ${expected} (got "none").`]],
    [true, [` wrong_type: choice must be ${expected} (got true).`]],
    [[], [` wrong_type: choice must be ${expected} (got a list).`]],
    [{}, ["/first missing: first is required and must be a number of at most 9."]],
    [{ first: 10 }, ["/first out_of_range: first must be at most 9 (got 10)."]],
    [{ first: "10" }, ['/first wrong_type: first must be a number of at most 9 (got "10").']],
  ])("of %j are those of the alternative with its type", (value, errors) => {
    const found = findSchemaErrors(schema, value, { name: "choice" });
    expect(found.map(({ pointer, code, detail }) => `${pointer} ${code}: ${detail}`)).toEqual(errors);
  });
});
