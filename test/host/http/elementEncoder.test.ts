import { expect, test } from "vitest";
import {
  ElementEncoder,
  elementsBytes,
  joinResponse,
  type PositionedElements,
  responseBytes,
} from "../../../src/host/http/elementEncoder.ts";
import { randomFrom, type SeededRandom } from "../../seededRandom.ts";

/** Returns texts of random length, with characters of one to four bytes and unpaired surrogates. */
function textsOf(random: SeededRandom, count: number, lengthMax: number): readonly string[] {
  const characters = ["a", "é", "海", "🌊", "\ud800"];
  return Array.from({ length: count }, () => random.pick(characters).repeat(random.below(lengthMax)));
}

/** Encodes texts at random as parts of several workers. */
function partsOf(random: SeededRandom, texts: readonly string[], partCount: number): readonly PositionedElements[] {
  const parts = Array.from({ length: partCount }, () => [] as number[]);
  for (const position of texts.keys()) random.pick(parts).push(position);
  return parts.map((positions) => {
    const encoded = new ElementEncoder(positions.length);
    for (const i of [...positions.keys()].toReversed()) {
      encoded.add(i, { text: texts[positions[i] ?? 0] ?? "", units: 1, isRefused: i % 2 === 1 });
    }
    expect(encoded.units).toBe(positions.length);
    expect(encoded.refusedCount).toBe(Math.floor(positions.length / 2));
    return { ...encoded.elements, positions: Uint32Array.from(positions) };
  });
}

test.each([
  ["nothing", 0, 1],
  ["one element", 1, 100],
  ["many short elements", 3_000, 40],
  ["elements that need one or several chunks", 60, 60_000],
])("joins the elements of several parts in the order of the request: %s", (_what, count, lengthMax) => {
  const random = randomFrom(11);
  const texts = textsOf(random, count, lengthMax);
  const expected = new TextEncoder().encode(`{"results":[${texts.join(",")}]}`);
  for (const partCount of [1, 2, 7]) {
    const parts = partsOf(random, texts, partCount);
    const joined = joinResponse(parts);
    expect(Buffer.compare(joined, expected)).toBe(0);
    expect(responseBytes(parts)).toBe(joined.length);
  }
  const encoded = new ElementEncoder(count);
  for (const [index, text] of texts.entries()) encoded.add(index, { text, units: 0, isRefused: false });
  expect(Buffer.compare(encoded.response(), expected)).toBe(0);
});

test.each([
  ["short", 300],
  ["about as long as a chunk can hold several times", 8_192],
  ["long", 30_000],
])("allocates little more than the size of %s elements", (_what, sizeBytes) => {
  const count = 200;
  const encoded = new ElementEncoder(count);
  for (let i = 0; i < count; i++) encoded.add(i, { text: "x".repeat(sizeBytes), units: 0, isRefused: false });
  expect(elementsBytes(encoded.elements)).toBe(encoded.allocatedBytes);
  expect(encoded.allocatedBytes).toBeGreaterThanOrEqual(count * sizeBytes);
  expect(encoded.allocatedBytes).toBeLessThan(1.15 * count * sizeBytes + 2 ** 16 + 12 * count);
});
