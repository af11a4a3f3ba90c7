import { expect } from "vitest";

type NumberArray = Uint8Array | Uint16Array | Int32Array | Float32Array | Float64Array;

/** Compares two arrays bit for bit, which takes much less time than `toEqual` if they are large. */
export function expectSameBytes<T extends NumberArray>(actual: T, expected: T): void {
  if (bytesOf(actual).equals(bytesOf(expected))) return;
  expect(actual).toEqual(expected); // describes the difference
  throw new Error("The arrays differ in the bits of a NaN.");
}

function bytesOf({ buffer, byteOffset, byteLength }: NumberArray): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
