import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { OUTSIDE_SHADE, paintTile, pixelColor, pixelValue } from "../../src/explorer/map/paint.ts";
import { scaleOf } from "../../src/explorer/map/legendModel.ts";
import { colorOf, NO_DATA_COLOR, NO_DATA_LINE_COLOR } from "../../src/tiles/colorScales.ts";
import { STEP_NO_DATA, STEP_OUTSIDE, type ValueTile } from "../../src/tiles/valueTile.ts";

const PIXELS = 256 * 256;

function tileOf(steps: readonly number[], encoding: Partial<ValueTile> = {}): ValueTile {
  return {
    stepsPerUnit: 1000,
    offset: 0,
    isBlockMaximum: false,
    blockSizeCells: 1,
    steps: Uint16Array.from({ length: PIXELS }, (_, i) => steps[i % steps.length] ?? 0),
    ...encoding,
  };
}

const DEPTH = scaleOf("depth_meters", false);
const DEPTH_DIFFERENCE = scaleOf("depth_meters", true);

describe("pixelValue", () => {
  const tile = tileOf([0, 1500, STEP_NO_DATA, STEP_OUTSIDE]);

  test("decodes a step, or returns the reason for a missing value", () => {
    const values = [0, 1, 2, 3].map((pixel) => pixelValue({ tile, other: undefined }, pixel));
    expect(values).toStrictEqual([0, 1.5, "no_data", "outside"]);
  });

  test("applies the offset", () => {
    const celsius = tileOf([2500], { stepsPerUnit: 100, offset: -40 });
    expect(pixelValue({ tile: celsius, other: undefined }, 0)).toBe(-15);
  });

  test("subtracts values, and has none where one of the layers has none", () => {
    const other = tileOf([500, 1000, 1000, 1000]);
    const values = [0, 1, 2, 3].map((pixel) => pixelValue({ tile, other }, pixel));
    expect(values).toStrictEqual([-0.5, 0.5, "no_data", "outside"]);
    const reversed = [2, 3].map((pixel) => pixelValue({ tile: other, other: tile }, pixel));
    expect(reversed).toStrictEqual(["no_data", "outside"]);
  });

  test("equal steps differ by exactly 0", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: STEP_OUTSIDE - 1 }),
        fc.integer({ min: 1, max: 65_534 }),
        (step, perUnit) => {
          const tile = tileOf([step], { stepsPerUnit: perUnit, offset: 0.1 });
          expect(pixelValue({ tile, other: tileOf([step], { stepsPerUnit: perUnit, offset: 0.1 }) }, 0)).toBe(0);
        },
      ),
      { numRuns: 50 },
    );
  });

  test("subtracts values of different encodings", () => {
    const fine = tileOf([1500], { stepsPerUnit: 1000 });
    const coarse = tileOf([20], { stepsPerUnit: 10, offset: -1 });
    expect(pixelValue({ tile: fine, other: coarse }, 0)).toBe(0.5);
  });
});

describe("pixelColor", () => {
  test("zero is transparent, and other values have the color of the scale", () => {
    const rule = { scale: DEPTH, threshold: undefined };
    expect(pixelColor(0, 0, rule)[3]).toBe(0);
    expect(pixelColor(0.001, 0, rule)).toStrictEqual(colorOf(DEPTH, 0.001));
    expect(pixelColor(0.001, 0, rule)[3]).toBe(255);
  });

  test("values below the threshold are transparent, the threshold itself is not", () => {
    const rule = { scale: DEPTH, threshold: 0.5 };
    expect(pixelColor(0.499, 0, rule)[3]).toBe(0);
    expect(pixelColor(0.5, 0, rule)).toStrictEqual(colorOf(DEPTH, 0.5));
  });

  test("the threshold applies to the size of a difference", () => {
    const rule = { scale: DEPTH_DIFFERENCE, threshold: 0.5 };
    expect([-0.4, 0.4, -0.6, 0.6].map((value) => pixelColor(value, 0, rule)[3])).toStrictEqual([0, 0, 255, 255]);
    expect(pixelColor(-0.6, 0, rule)).not.toStrictEqual(pixelColor(0.6, 0, rule));
  });

  test("no data is hatched and outside is shaded, whatever the threshold is", () => {
    const rule = { scale: DEPTH, threshold: 10 };
    const colors = Array.from({ length: 8 }, (_, pixel) => pixelColor("no_data", pixel, rule));
    expect(colors).toContainEqual(NO_DATA_COLOR);
    expect(colors).toContainEqual(NO_DATA_LINE_COLOR);
    expect(pixelColor("outside", 0, rule)).toStrictEqual(OUTSIDE_SHADE);
  });
});

test.each([
  ["a layer", undefined],
  ["a difference", tileOf([0, 5, 1000, 3000, STEP_NO_DATA, STEP_OUTSIDE, 65_533])],
])("paintTile gives every pixel of %s the color of its value", (_name, other) => {
  const steps = [0, 1, 499, 500, 501, 3000, 65_533, STEP_NO_DATA, STEP_OUTSIDE];
  const shown = { tile: tileOf(steps), other };
  const rule = { scale: other === undefined ? DEPTH : DEPTH_DIFFERENCE, threshold: 0.5 };
  const rgba = new Uint8ClampedArray(4 * PIXELS).fill(7);
  paintTile(shown, rule, rgba);
  for (let pixel = 0; pixel < 2000; pixel++) {
    const painted = [...rgba.subarray(4 * pixel, 4 * pixel + 4)];
    expect(painted, `pixel ${pixel}`).toStrictEqual([...pixelColor(pixelValue(shown, pixel), pixel, rule)]);
  }
});
