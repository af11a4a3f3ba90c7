import { describe, expect, test } from "vitest";
import { findSchemaErrors, type SchemaError, type ValueSchema } from "../../src/validation/schemaErrors.ts";

describe("the errors of a value with several types", () => {
  const schema: ValueSchema = {
    anyOf: [
      { const: "all", type: "string" },
      { type: "integer", minimum: 1 },
      { type: "object", properties: { first: { type: ["number", "null"], maximum: 9 } }, required: ["first"] },
      { type: "null" },
    ],
  };
  const expected = "all, or an integer of at least 1, or an object with first";
  test.each([
    ["all", []],
    [5, []],
    [null, []],
    [{ first: null }, []],
    [{ first: 5 }, []],
    [0, [" out_of_range: choice must be at least 1 (got 0)."]],
    [1.5, [" wrong_type: choice must be an integer of at least 1 (got 1.5)."]],
    ["none", [` not_allowed: choice must be ${expected} (got "none").`]],
    [true, [` wrong_type: choice must be ${expected} (got true).`]],
    [[], [` wrong_type: choice must be ${expected} (got an array).`]],
    [{}, ["/first missing: first is required and must be a number of at most 9."]],
    [{ first: 10 }, ["/first out_of_range: first must be at most 9 (got 10)."]],
    [{ first: "10" }, ['/first wrong_type: first must be a number of at most 9 (got "10").']],
  ])("of %j are those of the alternative with its type", (value, errors) => {
    const found = findSchemaErrors(schema, value, { name: "choice" });
    expect(found.map(({ pointer, code, detail }) => `${pointer} ${code}: ${detail}`)).toEqual(errors);
  });
});

describe("the errors of many unknown names", () => {
  const member: ValueSchema = { type: "object", properties: { latitude: {} }, additionalProperties: false };
  const givenOf = (count: number): Record<string, number> =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`latitud${i.toString(36)}`, 0]));
  const suggestionCount = (errors: readonly SchemaError[]): number =>
    errors.filter(({ did_you_mean }) => did_you_mean === "latitude").length;

  test("are at most 100, the first 10 with a suggestion", () => {
    const errors = findSchemaErrors(member, givenOf(5_000), { name: "value" });
    expect(errors).toHaveLength(100);
    expect(suggestionCount(errors)).toBe(10);
  });

  test("have 10 suggestions in all objects of a list together", () => {
    const list: ValueSchema = { type: "array", items: member };
    const errors = findSchemaErrors(list, Array(60).fill(givenOf(3)), { name: "value" });
    expect(errors).toHaveLength(100);
    expect(suggestionCount(errors)).toBe(10);
  });

  test("have 10 suggestions for values that are not allowed", () => {
    const list: ValueSchema = { type: "array", items: { enum: ["latitude", "longitude"] } };
    const errors = findSchemaErrors(list, Object.keys(givenOf(5_000)), { name: "value" });
    expect(errors).toHaveLength(100);
    expect(suggestionCount(errors)).toBe(10);
  });
});
