import { describe, expect, test } from "vitest";
import {
  formatCount,
  formatDecimals,
  formatLocation,
  formatMetric,
  formatMetricChange,
  formatShare,
  formatSignificant,
} from "../../src/explorer/format.ts";

describe("formatMetric", () => {
  test("shows depths in centimeters, although a step is a millimeter", () => {
    expect(formatMetric("depth_meters", 1.2345)).toBe("1.23 m");
    expect(formatMetric("depth_meters", 1.2)).toBe("1.20 m");
  });

  test("shows probabilities as percentages of at most three significant digits", () => {
    expect(formatMetric("probability", 0.5)).toBe("50 %");
    expect(formatMetric("probability", 0.012_483)).toBe("1.25 %");
    expect(formatMetric("probability", 1 / 60_000)).toBe("0.002 %");
    expect(formatMetric("probability", 0.001)).toBe("0.1 %");
  });

  test("shows no unit for shares", () => {
    expect(formatMetric("intensity", 0.1234)).toBe("0.123");
    expect(formatMetric("total_hazard", 0.000_816_6)).toBe("0.00082");
  });

  test("shows an exact zero as 0, and never a small value as 0", () => {
    expect(formatMetric("depth_meters", 0)).toBe("0 m");
    expect(formatMetric("depth_meters", 0.0049)).toBe("<0.01 m");
    expect(formatMetric("depth_meters", -0.001)).toBe(">-0.01 m");
    expect(formatMetric("probability", 0.000_001)).toBe("<0.001 %");
    expect(formatMetric("depth_meters", -0)).toBe("0 m");
  });
});

test("formatMetricChange shows the sign, and changes of probabilities in percentage points", () => {
  expect(formatMetricChange("depth_meters", 0.5)).toBe("+0.50 m");
  expect(formatMetricChange("depth_meters", -0.5)).toBe("-0.50 m");
  expect(formatMetricChange("depth_meters", 0)).toBe("0 m");
  expect(formatMetricChange("probability", 0.01)).toBe("+1 percentage points");
  expect(formatMetricChange("depth_meters", 0.0001)).toBe("<0.01 m");
});

test("formatDecimals separates thousands with commas and decimals with a point", () => {
  expect(formatDecimals(1_234_567.891, 2)).toBe("1,234,567.89");
  expect(formatDecimals(-999.999, 2)).toBe("-1,000.00");
  expect(formatCount(1000)).toBe("1,000");
});

test("formatSignificant keeps the magnitude of numbers that round up to a power of ten", () => {
  const options = { digits: 3, decimalsMax: 5 };
  expect(formatSignificant(9.996, options)).toBe("10");
  expect(formatSignificant(0.099_96, options)).toBe("0.1");
  expect(formatSignificant(1234.5, options)).toBe("1,235");
  expect(formatSignificant(100, options)).toBe("100");
});

test("formatShare shows 100 % only for a share of 1", () => {
  expect(formatShare(1)).toBe("100 %");
  expect(formatShare(0.9999)).toBe(">99.9 %");
  expect(formatShare(0.25)).toBe("25 %");
  expect(formatShare(0)).toBe("0 %");
  expect(formatShare(0.0001)).toBe("<0.1 %");
});

test("formatLocation names the hemispheres", () => {
  expect(formatLocation({ latitude: -33.918_861, longitude: 18.4233 })).toBe("33.91886° S, 18.4233° E");
  expect(formatLocation({ latitude: 0, longitude: -70 })).toBe("0° N, 70° W");
});
