import { describe, expect, test } from "vitest";
import { bitWidthOf, encodeHybrid, hybridSizeMax } from "../../../src/places/writers/parquetChunk.ts";
import { NumberDictionary } from "../../../src/places/writers/parquetColumns.ts";
import { NUMBER_SIZE_MAX, NumberTexts } from "../../../src/places/writers/rowText.ts";
import { randomFrom } from "../../seededRandom.ts";

/** Decodes Parquet's hybrid encoding bit by bit. */
function decodeHybrid(bytes: Uint8Array, { bitWidth, count }: { bitWidth: number; count: number }): number[] {
  const values: number[] = [];
  let offset = 0;
  while (values.length < count) {
    let header = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[offset++] ?? 0;
      header |= (byte & 0x7f) << shift;
      if (byte < 0x80) break;
    }
    if (header % 2 === 0) {
      let value = 0;
      for (let shift = 0; shift < bitWidth; shift += 8) value |= (bytes[offset++] ?? 0) << shift;
      for (let i = 0; i < header >> 1; i++) values.push(value);
    } else {
      for (let i = 0; i < (header >> 1) * 8; i++) {
        let value = 0;
        for (let bit = 0; bit < bitWidth; bit++) {
          const position = i * bitWidth + bit;
          value |= (((bytes[offset + (position >> 3)] ?? 0) >> (position & 7)) & 1) << bit;
        }
        values.push(value);
      }
      offset += (header >> 1) * bitWidth;
    }
  }
  expect(offset).toBe(bytes.length);
  return values.slice(0, count);
}

describe("the hybrid encoding", () => {
  test("keeps values of every width, with runs of all lengths", () => {
    const random = randomFrom(1);
    for (let round = 0; round < 300; round++) {
      const bitWidth = 1 + random.below(24);
      const values: number[] = [];
      const runLengthMax = 1 + random.below(30);
      while (values.length < round) {
        const value = random.below(2 ** bitWidth);
        const length = 1 + random.below(runLengthMax);
        for (let i = 0; i < length; i++) values.push(value);
      }
      const count = values.length;
      const target = new Uint8Array(hybridSizeMax(count, bitWidth));
      const end = encodeHybrid(Int32Array.from(values), { count, bitWidth, target, start: 0 });
      expect(decodeHybrid(target.subarray(0, end), { bitWidth, count })).toEqual(values);
    }
  });

  test("an index below the count fits in the bit width", () => {
    expect([0, 1, 2, 3, 4, 5, 255, 256, 257, 65_536].map(bitWidthOf)).toEqual([1, 1, 1, 2, 2, 3, 8, 8, 9, 16]);
  });
});

describe("texts of numbers", () => {
  test("equal those of JavaScript, also of numbers that share a cache entry", () => {
    const random = randomFrom(2);
    const texts = new NumberTexts();
    const bytes = new Uint8Array(2 + NUMBER_SIZE_MAX);
    const words = new Uint32Array(2);
    const [float] = [new Float64Array(words.buffer)];
    const check = (number: number): void => {
      const end = texts.write(number, bytes, 2);
      const text = Buffer.from(bytes.subarray(2, end)).toString();
      if (text !== String(number)) throw new Error(`${number} was written as ${text}`);
    };
    for (const number of [
      -2.4523447598986393e-6,
      0,
      -0,
      1,
      -1,
      5e-324,
      -2.2250738585072014e-308,
      Number.MAX_VALUE,
      0.1 + 0.2,
      1e21,
      1 / 3,
    ]) {
      check(number);
    }
    for (let i = 0; i < 100_000; i++) {
      words[0] = random.below(2 ** 32);
      words[1] = random.below(2 ** 32);
      const number = i % 2 === 0 ? (float[0] ?? 0) : random.below(5000) / 1000;
      if (Number.isFinite(number)) check(number);
    }
  });
});

describe("the dictionary of numbers", () => {
  test("distinguishes 0 from -0, and reports that it is full", () => {
    const dictionary = new NumberDictionary();
    expect([0, -0, 1.5, 0, -0, 1.5].map((number) => dictionary.indexOf(number))).toEqual([0, 1, 2, 0, 1, 2]);
    const indices = Array.from({ length: 65_533 }, (_, i) => dictionary.indexOf(i + 2));
    expect(indices.every((index, i) => index === i + 3)).toBe(true);
    expect(dictionary.indexOf(0.123)).toBe(-1);
    expect(dictionary.indexOf(1.5)).toBe(2);
    dictionary.clear();
    expect([7, 1.5, 7].map((number) => dictionary.indexOf(number))).toEqual([0, 1, 0]);
  });
});
