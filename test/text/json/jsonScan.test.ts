import { describe, expect, test } from "vitest";
import { type JsonExcess, JsonStructureScan } from "../../../src/text/json/jsonScan.ts";
import { ROUTES } from "../../../src/host/routes/routeList.ts";
import { randomFrom } from "../../seededRandom.ts";

const LIMITS = { depthMax: 3, valueCountMax: 5, keyCountMax: 2 };

function excessOf(text: string, stepBytes = Infinity, limits = LIMITS): JsonExcess | undefined {
  const scan = new JsonStructureScan(limits);
  const bytes = Buffer.from(text);
  for (let from = 0; from < bytes.length; from += stepBytes) {
    const excess = scan.advance(bytes.subarray(from, from + stepBytes));
    if (excess !== undefined) return excess;
  }
  return undefined;
}

describe("JsonStructureScan", () => {
  test.each([
    ["", undefined],
    ["[1,2,3,4,5]", undefined],
    ["[1,2,3,4,5,6]", { index: 10, message: "the document has more than 5 values" }],
    ['{"a":1,"b":2}', undefined],
    ['{"a":1,"b":2,"c":3}', { index: 12, message: "the object has more than 2 keys" }],
    ['[{"a":1,"b":2},{"a":1,"b":2}]', undefined],
    ['{"a":{"a":1},"b":[1,2,3]}', undefined],
    ["[[[]]]", undefined],
    ["[[[[", { index: 3, message: "arrays and objects must not be nested more than 3 levels deep" }],
    [String.raw`["[[[[{,,,,,,\"[,,\\\\\"",1]`, undefined],
    [String.raw`["\\",1,2,3,4,5]`, { index: 13, message: "the document has more than 5 values" }],
    ['["unterminated,,,,,,,,', undefined],
    ["]]]]}}", undefined],
  ])("checks %j, in steps of any length", (text, excess) => {
    expect(excessOf(text)).toStrictEqual(excess);
    for (let stepBytes = 1; stepBytes < 5; stepBytes++) {
      expect(excessOf(text, stepBytes)).toStrictEqual(excess);
    }
  });

  test.each([
    ["1", 0],
    ["[]", 64],
    ["[1,2,3]", 64 + 2 * 32],
    ['{"a":1,"b":2}', 192 + 96],
    ["[[],[[]]]", 4 * 64 + 32],
    ['{"a":[1,{"b":2}],"c":1}', 2 * 192 + 64 + 32 + 96],
    ['[{"a":1,"b":2},{"c":[]}]', 2 * 64 + 2 * 192 + 96 + 32],
    [String.raw`[{"a,[{\\\"":[1,2]}]`, 2 * 64 + 192 + 32],
  ])("estimates the memory of the values of %j, in steps of any length", (text, valueBytes) => {
    for (const stepBytes of [1, 2, 3, text.length]) {
      const scan = new JsonStructureScan(LIMITS);
      const bytes = Buffer.from(text);
      for (let from = 0; from < bytes.length; from += stepBytes) scan.advance(bytes.subarray(from, from + stepBytes));
      expect(scan.valueBytes).toBe(valueBytes);
    }
  });

  test("counts the values and keys that JSON.parse finds", () => {
    const random = randomFrom(5);
    const valueOf = (depth: number): unknown => {
      if (depth === 0 || random.chance(0.3)) return random.pick([1, "a,[{", '"\\', null]);
      const values = Array.from({ length: 1 + random.below(4) }, () => valueOf(depth - 1));
      return random.chance(0.5) ? values : Object.fromEntries(values.map((value, index) => [`,"${index}`, value]));
    };
    const commasOf = (value: unknown): number => {
      if (typeof value !== "object" || value === null) return 0;
      const values: unknown[] = Object.values(value);
      return values.reduce<number>((sum, each) => sum + commasOf(each), values.length - 1);
    };
    for (let round = 0; round < 500; round++) {
      const value = valueOf(5);
      const text = JSON.stringify(value);
      const valueCount = 1 + commasOf(value);
      const excessWith = (valueCountMax: number): JsonExcess | undefined =>
        excessOf(text, 1 + random.below(9), { depthMax: 16, keyCountMax: 9, valueCountMax });
      expect(excessWith(valueCount)).toBeUndefined();
      if (valueCount > 1) expect(excessWith(valueCount - 1)).toBeDefined();
    }
  });
});

test("every route that takes a body parses at most 16 KiB of it on the event loop", () => {
  const posting = ROUTES.filter(({ method }) => method === "POST");
  const exceeding = posting.filter(
    ({ bodyBytesMax = Infinity, inlineBodyBytesMax = Infinity }) => Math.min(bodyBytesMax, inlineBodyBytesMax) > 16_384,
  );
  expect(posting.length).toBeGreaterThan(4);
  expect(exceeding.map(({ path }) => path)).toStrictEqual([]);
});
