import { describe, expect, test } from "vitest";
import {
  decodeValueTile,
  encodeValueTile,
  STEP_NO_DATA,
  STEP_OUTSIDE,
  VALUE_TILE_BYTES,
  VALUE_TILE_HEADER_BYTES,
  valueOfStep,
  type ValueTile,
} from "../../src/tiles/valueTile.ts";

const tile: ValueTile = {
  stepsPerUnit: 1000,
  offset: -2.5,
  isBlockMaximum: true,
  blockSizeCells: 64,
  steps: Uint16Array.from({ length: 65_536 }, (_, i) => (i * 40_503) % 65_536),
};

describe("value tiles", () => {
  test("decode to what was encoded", () => {
    expectEqual(decodeValueTile(encodeValueTile(tile)), tile);
    const cells = { ...tile, isBlockMaximum: false, blockSizeCells: 1 };
    expectEqual(decodeValueTile(encodeValueTile(cells)), cells);
  });

  test("decode from a view at an odd position of a larger buffer", () => {
    const buffer = new Uint8Array(VALUE_TILE_BYTES + 7);
    buffer.set(encodeValueTile(tile), 3);
    expectEqual(decodeValueTile(buffer.subarray(3, 3 + VALUE_TILE_BYTES)), tile);
  });

  test("have the documented layout", () => {
    const view = new DataView(encodeValueTile(tile).buffer);
    expect(view.byteLength).toBe(131_104);
    expect(view.getUint32(0, false)).toBe(0x49_73_6f_56);
    expect(view.getUint16(4, true)).toBe(1);
    expect(view.getUint16(6, true)).toBe(1);
    expect(view.getUint32(8, true)).toBe(256);
    expect(view.getUint32(12, true)).toBe(64);
    expect(view.getFloat64(16, true)).toBe(1000);
    expect(view.getFloat64(24, true)).toBe(-2.5);
    expect(view.getUint16(32 + 2 * 259, true)).toBe((259 * 40_503) % 65_536);
  });

  test("reject steps of another number", () => {
    expect(() => encodeValueTile({ ...tile, steps: new Uint16Array(3) })).toThrow("must have 65536 steps (got 3)");
  });

  test.each([
    { what: "other bytes", change: (bytes: Uint8Array) => bytes.fill(0, 0, 4), error: /must begin with "IsoV"/ },
    { what: "a part of the header", change: (bytes: Uint8Array) => bytes.subarray(0, 20), error: /header of 32 bytes/ },
    {
      what: "another version",
      change: (bytes: Uint8Array) => bytes.fill(2, 4, 5),
      error: "the version of a value tile must be 1 (got 2)",
    },
    {
      what: "another size",
      change: (bytes: Uint8Array) => bytes.fill(128, 8, 9),
      error: "must have 256 pixels (got 384)",
    },
    {
      what: "truncated steps",
      change: (bytes: Uint8Array) => bytes.subarray(0, -1),
      error: "must have 131104 bytes (got 131103)",
    },
  ])("reject $what", ({ change, error }) => {
    expect(() => decodeValueTile(change(encodeValueTile(tile)))).toThrow(error);
  });

  test("values are steps divided by steps per unit, plus the offset; reserved steps have none", () => {
    expect(valueOfStep(tile, 9)).toBe(9 / 1000 - 2.5);
    expect(valueOfStep(tile, 0)).toBe(-2.5);
    expect(valueOfStep(tile, STEP_OUTSIDE - 1)).toBe(65_533 / 1000 - 2.5);
    expect(valueOfStep(tile, STEP_OUTSIDE)).toBeUndefined();
    expect(valueOfStep(tile, STEP_NO_DATA)).toBeUndefined();
    expect(VALUE_TILE_HEADER_BYTES % 8).toBe(0);
  });
});

/** Compares the steps as bytes, which takes a thousandth of the time of `toEqual`. */
function expectEqual({ steps, ...members }: ValueTile, { steps: expectedSteps, ...expected }: ValueTile): void {
  expect(members).toEqual(expected);
  expect(Buffer.from(steps.buffer).equals(Buffer.from(expectedSteps.buffer))).toBe(true);
}
