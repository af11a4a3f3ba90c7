import { describe, expect, test } from "vitest";
import { METRIC_NAMES } from "../../src/contract/names.ts";
import {
  legendModel,
  positionOfThreshold,
  scaleOf,
  thresholdAt,
  thresholdPositionMax,
} from "../../src/explorer/map/legendModel.ts";
import { COLOR_LEVEL_COUNT, levelOf } from "../../src/tiles/colorScales.ts";

const SCALES = METRIC_NAMES.flatMap((metric) => [false, true].map((isDifference) => ({ metric, isDifference })));

describe.each(SCALES)("legend of $metric, difference: $isDifference", ({ metric, isDifference }) => {
  const { scale, colors, ticks } = legendModel(metric, isDifference);

  test("has the colors of the map, and numbers where the map has their colors", () => {
    expect(scale).toBe(scaleOf(metric, isDifference));
    expect(colors).toStrictEqual(scale.stops.map(({ color }) => color));
    for (const { position } of ticks) {
      const stop = scale.stops[Math.round(position * (scale.stops.length - 1))];
      expect(levelOf(scale, stop?.value ?? NaN) / (COLOR_LEVEL_COUNT - 1)).toBeCloseTo(position, 2);
    }
  });

  test("has numbers at both ends, and 0, in ascending order and apart", () => {
    const positions = ticks.map(({ position }) => position);
    expect([positions[0], positions.at(-1)]).toStrictEqual([0, 1]);
    expect(ticks.map(({ text }) => text)).toContain("0");
    expect(ticks.length).toBeGreaterThanOrEqual(5);
    expect(ticks.length).toBeLessThanOrEqual(6);
    for (let i = 1; i < positions.length; i++) {
      expect((positions[i] ?? 0) - (positions[i - 1] ?? 0)).toBeGreaterThan(0.1);
    }
  });
});

test("numbers of a legend are short, with signs for differences", () => {
  expect(legendModel("depth_meters", false).ticks.map(({ text }) => text)).toStrictEqual([
    "0",
    "0.25",
    "1",
    "3",
    "≥10",
  ]);
  expect(legendModel("depth_meters", true).ticks.map(({ text }) => text)).toStrictEqual([
    "≤-5",
    "-0.2",
    "0",
    "+0.2",
    "≥+5",
  ]);
  expect(legendModel("probability", false).ticks.at(-1)?.text).toBe("100");
  expect(legendModel("probability", true).unit).toBe("percentage points");
});

describe.each(SCALES)("threshold slider of $metric, difference: $isDifference", ({ metric, isDifference }) => {
  const scale = scaleOf(metric, isDifference);
  const max = thresholdPositionMax(scale);
  const positions = Array.from({ length: max + 1 }, (_, position) => position);

  test("rises from nothing to the last stop of the scale", () => {
    const thresholds = positions.map((position) => thresholdAt(scale, position) ?? 0);
    expect(thresholds[0]).toBe(0);
    expect(thresholds.at(-1)).toBe(scale.stops.at(-1)?.value);
    expect(thresholds).toStrictEqual(thresholds.toSorted((a, b) => a - b));
    expect(thresholds.slice(1).every((threshold) => threshold > 0)).toBe(true);
  });

  test("returns to the position of a threshold, within the rounding to two digits", () => {
    for (const position of positions) {
      expect(Math.abs(positionOfThreshold(scale, thresholdAt(scale, position)) - position)).toBeLessThanOrEqual(3);
    }
    expect(positionOfThreshold(scale, undefined)).toBe(0);
    expect(positionOfThreshold(scale, 1e9)).toBe(max);
    expect(positionOfThreshold(scale, 1e-9)).toBe(1);
  });
});
