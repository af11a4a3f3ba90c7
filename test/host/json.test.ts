import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isFault } from "../../src/errors.ts";
import { decodeJson, encodeJson, JSON_DEPTH_MAX, parseJson, positionAfter } from "../../src/host/http/json.ts";
import { randomFrom } from "../seededRandom.ts";

/** Where a text is refused, and how; undefined where it is not. */
function refusalOf(text: string | Uint8Array): string | undefined {
  try {
    if (typeof text === "string") parseJson(text);
    else decodeJson(text);
    return undefined;
  } catch (error) {
    if (!isFault(error, "json_malformed")) throw error;
    const { line, column } = error.details;
    expect(error.message.startsWith(`Line ${String(line)}, column ${String(column)}: `)).toBe(true);
    return `${String(line)}:${String(column)} ${error.message.replace(/^Line \d+, column \d+: |\.$/g, "")}`;
  }
}

function builtIn(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

describe("JSON that comes in", () => {
  test("is read as the language reads it", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, "\t"), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        expect(parseJson(text)).toStrictEqual(JSON.parse(text));
        expect(decodeJson(Buffer.from(text))).toStrictEqual(JSON.parse(text));
      }),
      { numRuns: 2000 },
    );
  });

  test("is refused where the language refuses it, and nowhere else but for what it lets pass", () => {
    const random = randomFrom(7);
    const words =
      '{ } [ ] : , " \\ 0 1 2 9 - + . e E t f n u / b é NaN true false null 01 1. .5 -0 1e5 "a" "b": "\\u0061" "\\n"';
    const signs = [
      " ",
      "\n",
      "\r",
      "\t",
      "\u{1f600}",
      "\u0000",
      "\u001f",
      "\u007f",
      "\u2028",
      "\ud800",
      "\ufeff",
      "\u00a0",
    ];
    const pieces = [...words.split(" "), ...signs];
    let accepted = 0;
    for (let run = 0; run < 60_000; run++) {
      let text = "";
      if (run % 2 === 0) {
        const count = 1 + random.below(9);
        for (let i = 0; i < count; i++) text += random.pick(pieces);
      } else {
        // One change in a document that is right.
        const right = '{"a": [1, -2.5e+3, "x\\u00e9\\n", {"b": null}], "c": {"d": true, "e": []}}';
        const at = random.below(right.length + 1);
        text = right.slice(0, at) + random.pick(pieces) + right.slice(at + random.below(3));
      }
      const refusal = refusalOf(text);
      const isOurs = refusal !== undefined && /stands in this object already|too large/.test(refusal);
      if (isOurs) continue;
      const expected = builtIn(text);
      if (expected === undefined) expect(refusal, JSON.stringify(text)).toBeDefined();
      else {
        expect(refusal, JSON.stringify(text)).toBeUndefined();
        accepted++;
      }
    }
    expect(accepted).toBeGreaterThan(2000);
  });

  test.each([
    ["", "1:1 the document ends where a value is expected"],
    [" \r\n\t", "2:2 the document ends where a value is expected"],
    ["NaN", '1:1 there is "N" where a value is expected'],
    ['{"a": Infinity}', '1:7 there is "I" where a value is expected'],
    ["[1,\n 2,]", '2:4 there is "]" where a value is expected'],
    ["[1 2]", '1:4 there is "2" where a comma or the end of the list is expected'],
    ['{"a": 1,}', '1:9 there is "}" where a key in double quotes is expected'],
    ["{a: 1}", '1:2 there is "a" where a key in double quotes is expected'],
    ['{"a" 1}', '1:6 there is "1" where a colon is expected'],
    ['{"a": 1 "b": 2}', '1:9 there is "\\"" where a comma or the end of the object is expected'],
    ["[] []", '1:4 there is "[" where the end of the document is expected'],
    ["[01]", '1:3 there is "1" where a comma or the end of the list is expected'],
    ["[+1]", '1:2 there is "+" where a value is expected'],
    ["[1", "1:3 the document ends where a comma or the end of the list is expected"],
    ['\r\n\r["a\\x"]', "3:4 there is no such escape in a string"],
    ['["\u{1f600}é", "open]', "1:8 the string that begins here does not end"],
    ['["a\nb"]', "1:4 a control character in a string must be escaped"],
    ['{"a": 1, "b": {"a": 2}, "a": 3}', '1:25 the key "a" stands in this object already'],
    ['{"a": 1, "\\u0061": 2}', '1:10 the key "a" stands in this object already'],
    ['{"__proto__": 1, "__proto__": 2}', '1:18 the key "__proto__" stands in this object already'],
    ["[1e308, 1e309]", "1:9 the number is too large to be held"],
    [`[-1${"0".repeat(400)}]`, "1:2 the number is too large to be held"],
  ])("%j is refused with its place", (text, refusal) => {
    expect(refusalOf(text)).toBe(refusal);
  });

  test("a key may stand again in another object", () => {
    expect(refusalOf('[{"a": {"a": 1, "b": 2}, "b": 3}, {"a": 4, "b": 5}, {"a": {}, "b": {"a": 1}}]')).toBeUndefined();
  });

  test.each(["[", '{"a":'])("is at most 16 deep, of %s", (opening) => {
    const closing = opening === "[" ? "]" : "}";
    const deep = (depth: number): string =>
      opening.repeat(depth) + (opening === "[" ? "" : "1") + closing.repeat(depth);
    expect(refusalOf(deep(JSON_DEPTH_MAX))).toBeUndefined();
    const column = 16 * opening.length + 1;
    expect(refusalOf(deep(17))).toBe(`1:${column} lists and objects may stand 16 deep in one another, no deeper`);
    expect(refusalOf(opening.repeat(1_000_000))).toContain("16 deep");
    expect(refusalOf(`[${deep(15)},${deep(15)}]`)).toBeUndefined();
  });

  test("a long text is no danger to the stack", () => {
    const long = "1".repeat(300) + ".0".padEnd(4_000_000, "0");
    expect(refusalOf(`["${"\\n".repeat(2_000_000)}", ${long}]`)).toBeUndefined();
  });

  test.each([
    ["a byte that begins nothing", [0x5b, 0x0a, 0x22, 0xc3, 0xa9, 0xff, 0x22, 0x5d], "2:3"],
    ["a letter cut short", [0x22, 0xe2, 0x82, 0x22], "1:2"],
    ["the end in the middle of a letter", [0x22, 0x61, 0xe2, 0x82], "1:3"],
    ["a surrogate", [0x22, 0xed, 0xa0, 0x80, 0x22], "1:2"],
    ["more bytes than a letter needs", [0x22, 0xc0, 0xaf, 0x22], "1:2"],
    ["Latin-1", [0x22, 0x5a, 0xfc, 0x72, 0x69, 0x63, 0x68, 0x22], "1:3"],
  ])("%s is not UTF-8", (_what, bytes, place) => {
    expect(refusalOf(Uint8Array.from(bytes))).toBe(`${place} the bytes here are not UTF-8`);
  });

  test("may begin with a byte order mark", () => {
    expect(decodeJson(Buffer.from("\ufeff[1]"))).toStrictEqual([1]);
  });

  test("a part of a larger text is placed within the larger one", () => {
    const place = positionAfter("a\nbc", { line: 5, column: 9 });
    expect(place).toStrictEqual({ line: 6, column: 3 });
    expect(() => parseJson("[1,\n,]", place)).toThrow("Line 7, column 1:");
    expect(() => parseJson("[,]", place)).toThrow("Line 6, column 4:");
  });
});

describe("JSON that goes out", () => {
  test.each([
    [{ a: [1, NaN] }, "/a/1"],
    [[null, -Infinity], "/1"],
    [[null, undefined], "/1"],
  ])("%o is no value of it", (value, pointer) => {
    expect(() => encodeJson(value)).toThrow(`"${pointer}"`);
  });
});
