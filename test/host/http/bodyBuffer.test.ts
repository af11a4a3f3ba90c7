import { describe, expect, test } from "vitest";
import { BodyBuffer } from "../../../src/host/http/bodyBuffer.ts";
import { BodySegments, SEGMENT_BYTES } from "../../../src/host/http/bodyBuffer.ts";
import { randomFrom } from "../../seededRandom.ts";

const CONTIGUOUS_BYTES_MAX = 20_000;

/** Appends `content` in chunks whose sizes `nextSize` returns, and checks the announced memory. */
function collect(
  content: Buffer,
  options: { readonly sizeBytesMax: number; readonly segments?: BodySegments; readonly nextSize: () => number },
): BodyBuffer {
  const { sizeBytesMax, segments = new BodySegments(), nextSize } = options;
  const buffer = new BodyBuffer({ sizeBytesMax, contiguousBytesMax: CONTIGUOUS_BYTES_MAX, segments });
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
  test.each([0, 1, 16_383, 16_385, 20_000, 20_001, 2 * SEGMENT_BYTES, 100_000])(
    "returns a body of %i bytes and its prefixes, however it is divided",
    (sizeBytes) => {
      const random = randomFrom(sizeBytes);
      const content = contentOf(sizeBytes);
      const isLong = sizeBytes > CONTIGUOUS_BYTES_MAX;
      for (const sizeBytesMax of [sizeBytes, sizeBytes + 1, 8 << 20]) {
        const buffer = collect(content, { sizeBytesMax, nextSize: () => 1 + random.below(3_000) });
        const body = buffer.finish();
        expect(body.sizeBytes).toBe(sizeBytes);
        expect(Buffer.concat(body.parts).equals(content)).toBe(true);
        expect(body.parts.every(({ buffer: { constructor } }) => (constructor === SharedArrayBuffer) === isLong)).toBe(
          true,
        );
        expect(buffer.heldBytes).toBe(isLong ? body.parts.length * SEGMENT_BYTES : sizeBytes);
        for (const prefixBytes of [0, 1, 20_000, SEGMENT_BYTES, SEGMENT_BYTES + 1, sizeBytes]) {
          const prefix = Buffer.concat(buffer.prefix(Math.min(prefixBytes, sizeBytes)));
          expect(prefix.equals(content.subarray(0, prefixBytes))).toBe(true);
        }
      }
    },
  );

  test("holds at most twice the received bytes, and never more than the largest size in whole segments", () => {
    for (const sizeBytesMax of [50_000, 8 << 20]) {
      const segments = new BodySegments();
      const buffer = new BodyBuffer({ sizeBytesMax, contiguousBytesMax: CONTIGUOUS_BYTES_MAX, segments });
      const chunk = Buffer.from("x");
      const exceeding: number[] = [];
      for (let sizeBytes = 1; sizeBytes <= 50_000; sizeBytes++) {
        buffer.append(chunk);
        if (buffer.heldBytes > Math.max(16_384, 2 * sizeBytes)) exceeding.push(sizeBytes);
      }
      expect(buffer.sizeBytes).toBe(50_000);
      expect(buffer.heldBytes).toBe(2 * SEGMENT_BYTES);
      expect(exceeding).toStrictEqual([]);
    }
  });

  test("allocates a short body of the declared size once if it arrives in one chunk", () => {
    const segments = new BodySegments();
    const buffer = new BodyBuffer({ sizeBytesMax: 10_000, contiguousBytesMax: CONTIGUOUS_BYTES_MAX, segments });
    buffer.append(contentOf(10_000));
    expect(buffer.heldBytes).toBe(10_000);
    expect(buffer.finish().parts).toHaveLength(1);
  });

  test("uses the memory of released bodies for later ones", () => {
    const segments = new BodySegments();
    const open = [100_000, 300_000].map((sizeBytes) =>
      collect(contentOf(sizeBytes), { sizeBytesMax: 8 << 20, segments, nextSize: () => 10_000 }),
    );
    const [first, second] = open.map((buffer) => buffer.finish());
    expect(segments.allocatedBytes).toBe(14 * SEGMENT_BYTES);
    first?.release();
    second?.release();
    second?.release();
    for (const sizeBytes of [400_000, 30_000, 200_000]) {
      const content = contentOf(sizeBytes);
      const body = collect(content, { sizeBytesMax: 8 << 20, segments, nextSize: () => 65_536 }).finish();
      expect(Buffer.concat(body.parts).equals(content)).toBe(true);
      body.release();
    }
    expect(segments.allocatedBytes).toBe(14 * SEGMENT_BYTES);
  });
});
