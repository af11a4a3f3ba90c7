import { describe, expect, test } from "vitest";
import { decodeParameters, findParameter } from "../../src/validation/parameters.ts";

const MEMBERS = { latitude: { type: "number" }, hazards: { type: "array", items: { type: "string" } } };

describe("a query string of many unknown names", () => {
  const names = Array.from({ length: 3_500 }, (_, i) => `latitud_${i.toString(36)}=1`).join("&");

  test("is decoded up to 100 errors, the first 10 with a suggestion", () => {
    const { items, input } = decodeParameters(`${names}&longitude=1`, { ...MEMBERS, longitude: { type: "number" } });
    expect(items).toHaveLength(100);
    expect(items.map(({ did_you_mean }) => did_you_mean)).toEqual([
      ...Array<string>(10).fill("latitude"),
      ...Array<undefined>(90).fill(undefined),
    ]);
    expect(input).toEqual({});
  });
});

describe("findParameter", () => {
  test.each([
    ["token=a", "a"],
    ["x=1&token=a%2Eb&token=c", "a.b"],
    ["xtoken=a&token=b", "b"],
    ["token=", undefined],
    ["token", undefined],
    ["", undefined],
    ["token=%", undefined],
    ["x=%&token=a", "a"],
  ])("finds in %j the token %j", (queryText, token) => {
    expect(findParameter(queryText, "token")).toBe(token);
  });
});
