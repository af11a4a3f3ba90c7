import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isFault } from "../../../src/errors.ts";
import { decodeJson, encodeJson, parseJson, positionAfter, positionAfterBytes } from "../../../src/text/json/json.ts";
import { JSON_DEPTH_MAX } from "../../../src/text/json/jsonScan.ts";
import { randomFrom } from "../../seededRandom.ts";

/** Returns the position and message with which a text is rejected, or undefined if it is accepted. */
function rejectionOf(text: string | Uint8Array): string | undefined {
  try {
    if (typeof text === "string") parseJson(text);
    else decodeJson([text]);
    return undefined;
  } catch (error) {
    if (!isFault(error, "json_malformed")) throw error;
    const { line, column } = error.details;
    expect(error.message.startsWith(`Line ${String(line)}, column ${String(column)}: `)).toBe(true);
    return `${String(line)}:${String(column)} ${error.message.replace(/^Line \d+, column \d+: |\.$/g, "")}`;
  }
}

function parseWithBuiltIn(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** Divides a document into parts of one to five bytes. */
function dividedAtRandom(bytes: Uint8Array, seed: number): readonly Uint8Array[] {
  const random = randomFrom(seed);
  const parts: Uint8Array[] = [];
  for (let from = 0; from < bytes.length; from += parts.at(-1)?.length ?? 0) {
    parts.push(bytes.subarray(from, from + 1 + random.below(5)));
  }
  return parts;
}

describe("parseJson", () => {
  test("returns the same values as JSON.parse", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, "\t"), (value, indent) => {
        const text = JSON.stringify(value, undefined, indent);
        expect(parseJson(text)).toStrictEqual(JSON.parse(text));
        expect(decodeJson([Buffer.from(text)])).toStrictEqual(JSON.parse(text));
        expect(decodeJson(dividedAtRandom(Buffer.from(text), text.length))).toStrictEqual(JSON.parse(text));
      }),
      { numRuns: 2000 },
    );
  });

  test("accepts the same texts as JSON.parse, except repeated keys and numbers that are too large", () => {
    const random = randomFrom(7);
    const words =
      '{ } [ ] : , " \\ 0 1 2 9 - + . e E t f n u / b é NaN true false null 01 1. .5 -0 1e5 "a" "b": "\\u0061" "\\n"';
    const characters = [
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
    const pieces = [...words.split(" "), ...characters];
    let accepted = 0;
    for (let run = 0; run < 10_000; run++) {
      let text = "";
      if (run % 2 === 0) {
        const count = 1 + random.below(9);
        for (let i = 0; i < count; i++) text += random.pick(pieces);
      } else {
        // One change in a valid document.
        const validText = '{"a": [1, -2.5e+3, "x\\u00e9\\n", {"b": null}], "c": {"d": true, "e": []}}';
        const changeIndex = random.below(validText.length + 1);
        text = validText.slice(0, changeIndex) + random.pick(pieces) + validText.slice(changeIndex + random.below(3));
      }
      const rejection = rejectionOf(text);
      const isStricterRule = rejection !== undefined && /is repeated in this object|too large/.test(rejection);
      if (isStricterRule) continue;
      const expected = parseWithBuiltIn(text);
      if (expected === undefined) expect(rejection, JSON.stringify(text)).toBeDefined();
      else {
        expect(rejection, JSON.stringify(text)).toBeUndefined();
        accepted++;
      }
    }
    expect(accepted).toBeGreaterThan(500);
  });

  test.each([
    ["", "1:1 expected a value (got the end of the document)"],
    [" \r\n\t", "2:2 expected a value (got the end of the document)"],
    ["NaN", '1:1 expected a value (got "N")'],
    ['{"a": Infinity}', '1:7 expected a value (got "I")'],
    ["[1,\n 2,]", '2:4 expected a value (got "]")'],
    ["[1 2]", '1:4 expected a comma or the end of the array (got "2")'],
    ['{"a": 1,}', '1:9 expected a key in double quotes (got "}")'],
    ["{a: 1}", '1:2 expected a key in double quotes (got "a")'],
    ['{"a" 1}', '1:6 expected a colon (got "1")'],
    ['{"a": 1 "b": 2}', '1:9 expected a comma or the end of the object (got "\\"")'],
    ["[] []", '1:4 expected the end of the document (got "[")'],
    ["[01]", '1:3 expected a comma or the end of the array (got "1")'],
    ["[+1]", '1:2 expected a value (got "+")'],
    ["[1", "1:3 expected a comma or the end of the array (got the end of the document)"],
    ['\r\n\r["a\\x"]', "3:4 invalid escape sequence in a string"],
    ['["\u{1f600}é", "open]', "1:8 the string that begins here is not terminated"],
    ['["a\nb"]', "1:4 a control character in a string must be escaped"],
    ['{"a": 1, "b": {"a": 2}, "a": 3}', '1:25 the key "a" is repeated in this object'],
    ['{"a": 1, "\\u0061": 2}', '1:10 the key "a" is repeated in this object'],
    ['{"__proto__": 1, "__proto__": 2}', '1:18 the key "__proto__" is repeated in this object'],
    ["[1e308, 1e309]", "1:9 the number is too large; it must be below 1.8e308"],
    [`[-1${"0".repeat(400)}]`, "1:2 the number is too large; it must be below 1.8e308"],
  ])("rejects %j with its position", (text, rejection) => {
    expect(rejectionOf(text)).toBe(rejection);
  });

  test("rejects a repeated key among many", () => {
    const keys = Array.from({ length: 40 }, (_, i) => `"k${i}": ${i}`);
    expect(rejectionOf(`{${keys.join(",")}}`)).toBeUndefined();
    expect(rejectionOf(`{${[...keys, '"k39": 0'].join(",")}}`)).toMatch(/the key "k39" is repeated in this object/);
    expect(rejectionOf(`{${[...keys.slice(0, 5), '"k0" \n: 0'].join(",")}}`)).toMatch(/the key "k0" is repeated/);
  });

  test.each(["1e308", "1E+308", "9e-999", `1${"0".repeat(308)}`, `0.${"0".repeat(400)}1`, `1${"0".repeat(199)}e99`])(
    "accepts the number %s",
    (number) => expect(parseJson(`[${number}]`)).toStrictEqual([Number(number)]),
  );

  test.each(["1e309", "-1E+400", "1e0000309", `1${"0".repeat(309)}`, `1${"0".repeat(300)}.5e9`, "0.1e310"])(
    "rejects the number %s",
    (number) => expect(rejectionOf(`[0, ${number}]`)).toBe("1:5 the number is too large; it must be below 1.8e308"),
  );

  test("accepts equal keys in different objects", () => {
    expect(
      rejectionOf('[{"a": {"a": 1, "b": 2}, "b": 3}, {"a": 4, "b": 5}, {"a": {}, "b": {"a": 1}}]'),
    ).toBeUndefined();
  });

  test.each(["[", '{"a":'])("accepts at most 16 levels of %s", (opening) => {
    const closing = opening === "[" ? "]" : "}";
    const nested = (depth: number): string =>
      opening.repeat(depth) + (opening === "[" ? "" : "1") + closing.repeat(depth);
    expect(rejectionOf(nested(JSON_DEPTH_MAX))).toBeUndefined();
    const column = 16 * opening.length + 1;
    expect(rejectionOf(nested(17))).toBe(`1:${column} arrays and objects must not be nested more than 16 levels deep`);
    expect(rejectionOf(opening.repeat(1_000_000))).toContain("16 levels deep");
    expect(rejectionOf(`[${nested(15)},${nested(15)}]`)).toBeUndefined();
  });

  test("parses multi-megabyte strings and numbers without exhausting the stack", () => {
    const long = "1".repeat(300) + ".0".padEnd(4_000_000, "0");
    expect(rejectionOf(`["${"\\n".repeat(2_000_000)}", ${long}]`)).toBeUndefined();
  });

  test.each([
    ["an invalid leading byte", [0x5b, 0x0a, 0x22, 0xc3, 0xa9, 0xff, 0x22, 0x5d], "2:3"],
    ["a truncated sequence", [0x22, 0xe2, 0x82, 0x22], "1:2"],
    ["a sequence truncated by the end", [0x22, 0x61, 0xe2, 0x82], "1:3"],
    ["a surrogate", [0x22, 0xed, 0xa0, 0x80, 0x22], "1:2"],
    ["an overlong encoding", [0x22, 0xc0, 0xaf, 0x22], "1:2"],
    ["Latin-1", [0x22, 0x5a, 0xfc, 0x72, 0x69, 0x63, 0x68, 0x22], "1:3"],
  ])("rejects invalid UTF-8: %s", (_what, bytes, position) => {
    expect(rejectionOf(Uint8Array.from(bytes))).toBe(`${position} invalid UTF-8`);
  });

  test("accepts a byte order mark", () => {
    expect(decodeJson([Buffer.from("\ufeff[1]")])).toStrictEqual([1]);
  });

  test("reports positions in the containing document", () => {
    const position = positionAfter("a\nbc", { line: 5, column: 9 });
    expect(position).toStrictEqual({ line: 6, column: 3 });
    expect(() => parseJson("[1,\n,]", position)).toThrow("Line 7, column 1:");
    expect(() => parseJson("[,]", position)).toThrow("Line 6, column 4:");
  });
});

describe("positionAfterBytes", () => {
  test("returns the position of the text, however its bytes are divided", () => {
    const random = randomFrom(3);
    const characters = ["a", "\n", "\r", "\r\n", "é", "€", "😀"];
    for (let round = 0; round < 500; round++) {
      const text = Array.from({ length: random.below(30) }, () => random.pick(characters)).join("");
      const expected = positionAfter(text, { line: 1, column: 1 });
      const bytes = Buffer.from(text);
      expect(positionAfterBytes([bytes])).toStrictEqual(expected);
      expect(positionAfterBytes(dividedAtRandom(bytes, round))).toStrictEqual(expected);
      expect(positionAfterBytes([Buffer.from(`\ufeff${text}`)])).toStrictEqual(expected);
    }
  });
});

describe("encodeJson", () => {
  test.each([
    [{ a: [1, NaN] }, "/a/1"],
    [[null, -Infinity], "/1"],
    [[null, undefined], "/1"],
  ])("rejects %o and names the JSON pointer", (value, pointer) => {
    expect(() => encodeJson(value)).toThrow(`"${pointer}"`);
  });
});
