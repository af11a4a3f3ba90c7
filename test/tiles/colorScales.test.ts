import { describe, expect, test } from "vitest";
import { METRIC_NAMES } from "../../src/contract/names.ts";
import { HAZARDS } from "../../src/hazard/hazards.ts";
import {
  COLOR_LEVEL_COUNT,
  colorOf,
  colorScaleOf,
  differenceScaleOf,
  isHatchLine,
  levelColorsOf,
  levelOf,
  NO_DATA_COLOR,
  ZERO_COLOR,
} from "../../src/tiles/colorScales.ts";
import { TILE_PIXELS } from "../../src/tiles/mercator.ts";
import { COLOR_VISIONS, type ColorVision, distance, seenAs } from "../oracle/colorVision.ts";

const VISIONS = Object.keys(COLOR_VISIONS) as readonly ColorVision[];
/** Distance in OKLab of colors that clearly differ side by side; just noticeable is about 0.02. */
const DISTINCT = 0.05;

describe.each(METRIC_NAMES)("the color scale of %s", (metric) => {
  const scale = colorScaleOf(metric);

  test("has the unit of the metric and ascending values from 0", () => {
    const specs = Object.values(HAZARDS).flatMap(({ metrics }) => metrics.filter((spec) => spec.metric === metric));
    expect(specs.map(({ unit }) => unit)).toEqual(specs.map(() => scale.unit));
    const values = scale.stops.map(({ value }) => value);
    expect(values[0]).toBe(0);
    expect(values).toEqual([...new Set(values)].toSorted((a, b) => a - b));
    expect(scale.stops.every(({ color }) => /^#[0-9a-f]{6}$/.test(color))).toBe(true);
  });

  test.each(VISIONS)("becomes darker with every stop, by distinct steps, for %s vision", (vision) => {
    const seen = scale.stops.map(({ color }) => seenAs(vision, color));
    for (const [i, color] of seen.entries()) {
      const previous = seen[i - 1];
      if (previous === undefined) continue;
      expect(color[0], `stop ${i}`).toBeLessThan(previous[0] - 0.03);
      expect(distance(color, previous), `stop ${i}`).toBeGreaterThan(DISTINCT);
    }
  });

  test("becomes darker or stays equal with every level", () => {
    const levels = levelColorsOf(scale);
    const lightness = Array.from({ length: COLOR_LEVEL_COUNT }, (_, i) => seenAs("normal", hexOf(levels, i))[0]);
    for (let i = 1; i < lightness.length; i++) {
      // Rounding to 8 bits can brighten a color by less than a step of one component.
      expect(lightness[i]).toBeLessThan((lightness[i - 1] ?? 0) + 0.002);
    }
  });

  test("gives each stop its color and values beyond the stops those of the outer stops", () => {
    for (const { value, color } of scale.stops.slice(1)) {
      const [red, green, blue, alpha] = colorOf(scale, value);
      expect(alpha).toBe(255);
      expect(Math.max(...[red, green, blue].map((c, i) => Math.abs(c - componentOf(color, i))))).toBeLessThanOrEqual(6);
    }
    const [last] = scale.stops.slice(-1);
    expect(colorOf(scale, (last?.value ?? 0) * 3)).toEqual(colorOf(scale, last?.value ?? 0));
    expect(levelOf(scale, -1)).toBe(0);
    expect(levelOf(scale, Infinity)).toBe(COLOR_LEVEL_COUNT - 1);
  });

  test("gives values between two stops a color between theirs", () => {
    for (const [i, { value }] of scale.stops.slice(1).entries()) {
      const lower = scale.stops[i]?.value ?? 0;
      const level = levelOf(scale, (lower + value) / 2);
      expect(level).toBeGreaterThan(levelOf(scale, lower));
      expect(level).toBeLessThan(levelOf(scale, value));
    }
  });

  test("leaves the value 0 transparent, but not the smallest value above it, and marks missing values", () => {
    expect(colorOf(scale, 0)).toEqual(ZERO_COLOR);
    expect(colorOf(scale, 1e-9)[3]).toBe(255);
    expect(colorOf(scale, NaN)).toEqual(NO_DATA_COLOR);
  });
});

describe.each(METRIC_NAMES)("the scale of differences of %s", (metric) => {
  const scale = differenceScaleOf(metric);
  const middle = (scale.stops.length - 1) / 2;

  test("is symmetric around 0 and transparent there", () => {
    const values = scale.stops.map(({ value }) => value);
    expect(values[middle]).toBe(0);
    expect(values.map((value) => 0 - value).toReversed()).toEqual(values);
    expect(colorOf(scale, 0)).toEqual(ZERO_COLOR);
  });

  test.each(VISIONS)("becomes darker away from 0, and its two sides differ, for %s vision", (vision) => {
    const seen = scale.stops.map(({ color }) => seenAs(vision, color));
    for (let i = 1; i <= middle; i++) {
      const [less, more] = [seen[middle - i], seen[middle + i]];
      const [nearerLess, nearerMore] = [seen[middle - i + 1], seen[middle + i - 1]];
      if (!less || !more || !nearerLess || !nearerMore) throw new Error("the scale has no stop in the middle");
      expect(less[0]).toBeLessThan(nearerLess[0]);
      expect(more[0]).toBeLessThan(nearerMore[0]);
      expect(distance(less, more), `${i} stops from 0`).toBeGreaterThan(DISTINCT);
    }
  });
});

test("every metric has a scale, and the same one in every call", () => {
  for (const metric of METRIC_NAMES) expect(colorScaleOf(metric)).toBe(colorScaleOf(metric));
  expect(differenceScaleOf("depth_meters")).toBe(differenceScaleOf("depth_meters"));
});

test("hatching continues across the edges of tiles", () => {
  for (let row = 0; row < TILE_PIXELS; row += 37) {
    for (let column = 0; column < 16; column++) {
      expect(isHatchLine(column + TILE_PIXELS, row)).toBe(isHatchLine(column, row));
      expect(isHatchLine(column, row + TILE_PIXELS)).toBe(isHatchLine(column, row));
    }
  }
  expect(Array.from({ length: 8 }, (_, column) => isHatchLine(column, 0))).toContain(true);
  expect(Array.from({ length: 8 }, (_, column) => isHatchLine(column, 0))).toContain(false);
});

function componentOf(color: string, i: number): number {
  return Number.parseInt(color.slice(1 + 2 * i, 3 + 2 * i), 16);
}

function hexOf(levels: Uint8Array, level: number): string {
  return `#${[...levels.subarray(3 * level, 3 * level + 3)].map((c) => c.toString(16).padStart(2, "0")).join("")}`;
}
