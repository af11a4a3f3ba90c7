import { describe, expect, test } from "vitest";
import { BodyBuffer } from "../../../src/host/http/bodyBuffer.ts";
import { randomFrom } from "../../seededRandom.ts";

const SHARED_ABOVE_BYTES = 20_000;

/** Appends `content` in chunks whose sizes `nextSize` returns, and checks the announced memory. */
function collect(
  content: Buffer,
  { sizeBytesMax, nextSize }: { readonly sizeBytesMax: number; readonly nextSize: () => number },
): BodyBuffer {
  const buffer = new BodyBuffer({ sizeBytesMax, sharedAboveBytes: SHARED_ABOVE_BYTES });
  for (let from = 0; from < content.length;) {
    const chunk = content.subarray(from, from + nextSize());
    const announcedBytes = buffer.heldBytesWith(chunk.length);
    buffer.append(chunk);
    expect(buffer.heldBytes).toBe(announcedBytes);
    from += chunk.length;
  }
  return buffer;
}

const contentOf = (sizeBytes: number): Buffer => Buffer.from(Array.from({ length: sizeBytes }, (_, i) => i % 251));

describe("BodyBuffer", () => {
  test.each([0, 1, 16_383, 16_385, 20_000, 20_001, 100_000])(
    "returns a body of %i bytes, however it is divided",
    (sizeBytes) => {
      const random = randomFrom(sizeBytes);
      const content = contentOf(sizeBytes);
      for (const sizeBytesMax of [sizeBytes, sizeBytes + 1, 8 << 20]) {
        const buffer = collect(content, { sizeBytesMax, nextSize: () => 1 + random.below(3_000) });
        const body = buffer.finish();
        expect(body.equals(content)).toBe(true);
        expect(buffer.heldBytes).toBe(sizeBytes);
        expect(body.buffer instanceof SharedArrayBuffer).toBe(sizeBytes > SHARED_ABOVE_BYTES);
      }
    },
  );

  test("holds at most twice the received bytes, and never more than the largest size", () => {
    for (const sizeBytesMax of [50_000, 8 << 20]) {
      const buffer = new BodyBuffer({ sizeBytesMax, sharedAboveBytes: SHARED_ABOVE_BYTES });
      const chunk = Buffer.from("x");
      const exceeding: number[] = [];
      for (let sizeBytes = 1; sizeBytes <= 50_000; sizeBytes++) {
        buffer.append(chunk);
        if (buffer.heldBytes > Math.min(sizeBytesMax, Math.max(16_384, 2 * sizeBytes))) exceeding.push(sizeBytes);
      }
      expect(buffer.sizeBytes).toBe(50_000);
      expect(exceeding).toStrictEqual([]);
    }
  });

  test("allocates a body of the declared size once if it arrives in one chunk", () => {
    const buffer = new BodyBuffer({ sizeBytesMax: 100_000, sharedAboveBytes: Infinity });
    buffer.append(contentOf(100_000));
    const body = buffer.finish();
    expect(body.length).toBe(100_000);
    expect(buffer.finish()).toBe(body);
  });
});
