import { deflateRawSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { inflateRaw as inflateRawInBrowser } from "../../src/atlas/inflate.browser.ts";
import { inflateRaw } from "../../src/atlas/inflate.ts";
import { randomFrom } from "../seededRandom.ts";

const random = randomFrom(11);
const BYTES = Uint8Array.from({ length: 40_000 }, (_, i) => (i % 1000 < 500 ? i % 7 : random.below(256)));
const PACKED = deflateRawSync(BYTES);

/**
 * test/browser repeats the main cases in Chromium, because decompression streams differ between platforms, notably in the
 * errors they ignore.
 */
describe.each([
  ["inflate.ts", inflateRaw],
  ["inflate.browser.ts", inflateRawInBrowser],
])("inflateRaw of %s", (_, inflate) => {
  test("returns the original bytes in their own buffer, and leaves the input unchanged", async () => {
    const packed = PACKED.slice();
    const unpacked = await inflate(packed, BYTES.length);
    expect(Buffer.from(unpacked).equals(BYTES)).toBe(true);
    expect(PACKED.equals(packed)).toBe(true);
    for (const sizeBytes of [1, 100, 3000, 16_384, 16_385, 32_768]) {
      const part = await inflate(deflateRawSync(BYTES.subarray(0, sizeBytes)), sizeBytes);
      expect(Buffer.from(part).equals(BYTES.subarray(0, sizeBytes))).toBe(true);
      expect([part.byteOffset, part.buffer.byteLength]).toEqual([0, sizeBytes]);
    }
  });

  test("inflates a part of a larger buffer", async () => {
    const around = Buffer.concat([Buffer.from("before"), PACKED, Buffer.from("after")]);
    const unpacked = await inflate(around.subarray(6, 6 + PACKED.length), BYTES.length);
    expect(Buffer.from(unpacked).equals(BYTES)).toBe(true);
  });

  test("rejects an unexpected size", async () => {
    await expect(inflate(PACKED, BYTES.length + 1)).rejects.toThrow(`must be 40001 bytes (got ${BYTES.length})`);
    await expect(inflate(PACKED, BYTES.length - 1)).rejects.toThrow(Error);
    await expect(inflate(deflateRawSync(new Uint8Array(1 << 26)), 10)).rejects.toThrow(Error);
  });

  test("rejects truncated, empty and invalid data", async () => {
    for (const cut of [1, 2, 100, PACKED.length - 1, PACKED.length]) {
      await expect(inflate(PACKED.subarray(0, PACKED.length - cut), BYTES.length)).rejects.toThrow(Error);
    }
    await expect(inflate(Uint8Array.of(0xff, 0xff, 0xff), 10)).rejects.toThrow(Error);
  });
});

test("inflateRaw of inflate.ts rejects trailing data", async () => {
  const followed = Buffer.concat([PACKED, Buffer.from("abc")]);
  await expect(inflateRaw(followed, BYTES.length)).rejects.toThrow(
    "The compressed data are followed by 3 extra bytes.",
  );
});
