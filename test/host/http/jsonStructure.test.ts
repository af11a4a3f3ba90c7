import { describe, expect, test } from "vitest";
import { isFault } from "../../../src/errors.ts";
import { decodeJson, decodeLongJson } from "../../../src/host/http/json.ts";
import { type JsonExcess, JsonStructureScan } from "../../../src/host/http/jsonStructure.ts";
import { ROUTES } from "../../../src/host/routes/routeList.ts";
import { TimeSlice } from "../../../src/threads/timeSlice.ts";
import { randomFrom } from "../../seededRandom.ts";

const LIMITS = { depthMax: 3, valueCountMax: 5, keyCountMax: 2 };

function excessOf(text: string, charsPerStep = Infinity): JsonExcess | undefined {
  const scan = new JsonStructureScan(text, LIMITS);
  while (!scan.isDone) {
    const excess = scan.advance(charsPerStep);
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
    ["[[[[", { index: 3, message: "lists and objects must not be nested more than 3 levels deep" }],
    [String.raw`["[[[[{,,,,,,\"[,,\\\\\"",1]`, undefined],
    [String.raw`["\\",1,2,3,4,5]`, { index: 13, message: "the document has more than 5 values" }],
    ['["unterminated,,,,,,,,', undefined],
    ["]]]]}}", undefined],
  ])("checks %j, in steps of any length", (text, excess) => {
    expect(excessOf(text)).toStrictEqual(excess);
    for (let charsPerStep = 1; charsPerStep < 5; charsPerStep++) {
      expect(excessOf(text, charsPerStep)).toStrictEqual(excess);
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
        new JsonStructureScan(text, { depthMax: 16, keyCountMax: 9, valueCountMax }).advance(Infinity);
      expect(excessWith(valueCount)).toBeUndefined();
      if (valueCount > 1) expect(excessWith(valueCount - 1)).toBeDefined();
    }
  });
});

describe("bodies with too many values or keys", () => {
  const DETAIL = "Line 2, column 2: the document has more than 2 values.";

  test("are rejected with the position, whether they are short or long", async () => {
    const bytes = Buffer.from("[1,\n2,33,4,5]");
    expect(() => decodeJson(bytes, 16)).toThrow(DETAIL);
    const long = decodeLongJson(bytes, { bodyBytesMax: 16, timeSlice: new TimeSlice() });
    await expect(long).rejects.toSatisfy((error) => isFault(error, "json_malformed"));
  });

  test("are rejected before a long body has been scanned completely, in several time slices", async () => {
    const bytes = Buffer.from(`[${"10,".repeat(1_000_000)}`);
    let sliceCount = 0;
    const timeSlice = new TimeSlice({
      durationMs: 0,
      nextSlice() {
        sliceCount++;
        return Promise.resolve();
      },
    });
    await expect(decodeLongJson(bytes, { bodyBytesMax: 4_000_000, timeSlice })).rejects.toThrow("500000 values");
    expect(sliceCount).toBeGreaterThan(10);
    expect(sliceCount).toBeLessThan(bytes.length / 65_536);
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
