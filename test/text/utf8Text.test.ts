import { isUtf8 } from "node:buffer";
import { describe, expect, test } from "vitest";
import { decodeMarkedUtf8, decodeUtf8, INVALID_UTF8_MARK, withoutMarks } from "../../src/text/utf8Text.ts";
import { randomFrom } from "../seededRandom.ts";

async function* pieces(bytes: Buffer, sizes: () => number): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length;) {
    const end = start + sizes();
    yield await Promise.resolve(bytes.subarray(start, end));
    start = end;
  }
}

async function joined(texts: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const piece of texts) text += piece;
  return text;
}

describe("UTF-8 in pieces", () => {
  const random = randomFrom(1);
  const PARTS = ["a", "\n", "é", "\u20ac", "\u{1f600}", "\ufffd", "\ufeff"].map((text) => Buffer.from(text));

  test("is decoded as a whole, with marks of invalid bytes", async () => {
    const counts = { valid: 0, invalid: 0 };
    for (let run = 0; run < 2000; run++) {
      const parts = Array.from({ length: random.below(12) }, () => {
        const part = random.pick(PARTS);
        if (random.chance(0.85)) return part;
        return random.chance(0.5) ? part.subarray(0, part.length - 1) : Buffer.from([random.below(256)]);
      });
      const bytes = Buffer.concat(parts);
      const text = await joined(decodeMarkedUtf8(pieces(bytes, () => 1 + random.below(4))));
      expect(withoutMarks(text)).toBe(new TextDecoder().decode(bytes));
      expect(INVALID_UTF8_MARK.test(text)).toBe(!isUtf8(bytes));
      const strict = joined(decodeUtf8(pieces(bytes, () => 1 + random.below(4))));
      if (isUtf8(bytes)) {
        counts.valid++;
        expect(await strict).toBe(text);
      } else {
        counts.invalid++;
        const line = text.split(INVALID_UTF8_MARK, 1).join("").split("\n").length;
        await expect(strict).rejects.toThrow(`Line ${line}: the text is not valid UTF-8. Save the file as UTF-8.`);
      }
    }
    expect(Math.min(counts.valid, counts.invalid)).toBeGreaterThan(200);
  });
});
