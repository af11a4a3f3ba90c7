import { expect, test } from "vitest";
import type { Raster } from "../../src/ingest/raster.ts";
import { checkUnit } from "../../src/ingest/units.ts";

type UnitCheck = Parameters<typeof checkUnit>[1];

function checkMessage(declared: string | undefined, unit: UnitCheck["unit"], unitFactor?: number): string | undefined {
  const raster = { file: "map.tif", bands: [{}, { unit: declared }] } as unknown as Raster;
  try {
    checkUnit(raster, { band: 2, metric: "the_metric", unit, unitFactor });
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

test.each([
  [undefined, "m"],
  ["m", "m"],
  [" Meters ", "m"],
  ["metre", "m"],
  ["m/s", "m/s"],
  ["m s-1", "m/s"],
  ["m s**-1", "m/s"],
  ["m·s⁻¹", "m/s"],
  ["m.s^-1", "m/s"],
  ["M / S", "m/s"],
  ["days/year", "days"],
  ["1", "1"],
] as const)("accepts %j for a metric in %s without a factor", (declared, unit) => {
  expect(checkMessage(declared, unit)).toBeUndefined();
});

test.each([
  ["cm", "m", 0.01],
  ["mm", "m", 0.001],
  ["ft", "m", 0.3048],
  ["US survey foot", "m", 0.304801],
  ["km/h", "m/s", 0.277778],
  ["kt", "m/s", 0.514444],
  ["knots", "m/s", 0.514444],
  ["mph", "m/s", 0.44704],
  ["%", "1", 0.01],
  ["hours", "days", 0.0416667],
] as const)("rejects %j for a metric in %s unless the factor %d is given", (declared, unit, factor) => {
  const message = checkMessage(declared, unit);
  expect(message).toContain(`map.tif: band 2 is in the unit ${JSON.stringify(declared)}, but the_metric `);
  expect(message).toContain(`Give the unit_factor ${factor} `);
  expect(checkMessage(declared, unit, factor)).toBeUndefined();
  expect(checkMessage(declared, unit, factor * 1.14)).toBeUndefined(); // a factor that also converts 10-minute to 1-minute winds
  expect(checkMessage(declared, unit, 1)).toContain(`the exact factor is ${factor}.`);
});

test("rejects a factor for a unit other than the declared one", () => {
  expect(checkMessage("m", "m", 0.01)).toContain(
    "The unit_factor 0.01 does not convert the unit; the exact factor is 1.",
  );
  expect(checkMessage("m/s", "m/s", 1.13636)).toBeUndefined();
});

test.each([
  ["mph", 0.514444, "knots"],
  ["knots", 0.44704, "mph"],
  ["km/h", 0.3048, "ft/s"],
  ["ft/s", 0.277778, "km/h"],
  ["ft/s", 0.28, "km/h"],
  ["ft/s", 0.447, "mph"],
  ["kt", 0.45, "mph"],
] as const)("rejects %j with the factor %d, which converts %s", (declared, factor, other) => {
  const message = checkMessage(declared, "m/s", factor);
  expect(message).toContain(`unit_factor ${factor} converts ${other}`);
});

test.each([0.88, 1.05, 1.13636, 1.14, 1.23])(
  "accepts the averaging-time factor %d for each unit of wind",
  (averaging) => {
    for (const [declared, exact] of [
      ["m/s", 1],
      ["knots", 1852 / 3600],
      ["mph", 0.44704],
      ["km/h", 1 / 3.6],
      ["ft/s", 0.3048],
    ] as const) {
      expect(checkMessage(declared, "m/s", Number((exact * averaging).toPrecision(6)))).toBeUndefined();
    }
  },
);

test("accepts the factor of either of two nearly equal units", () => {
  expect(checkMessage("US survey foot", "m", 0.3048)).toBeUndefined();
  expect(checkMessage("ft", "m", 0.304801)).toBeUndefined();
});

test("rejects percent for a metric that is not a share, and accepts an unspecific unit", () => {
  expect(checkMessage("%", "m/s", 0.01)).toContain("These units measure different quantities");
  expect(checkMessage("percent", "m", 1)).toContain("These units measure different quantities");
  expect(checkMessage("probability", "m/s", 1)).toContain("These units measure different quantities");
  expect(checkMessage("1", "days", 365)).toBeUndefined();
  expect(checkMessage("none", "m/s", 1)).toBeUndefined();
  expect(checkMessage("%", "1", 0.01)).toBeUndefined();
});

test("rejects a unit of another quantity regardless of the factor", () => {
  expect(checkMessage("m/s", "m", 1)).toContain("These units measure different quantities");
  expect(checkMessage("days", "m/s")).toContain("These units measure different quantities");
});

test("accepts a share for a metric in days if a factor is given", () => {
  expect(checkMessage("%", "days", 3.66)).toBeUndefined();
  expect(checkMessage("%", "days")).toContain("These units measure different quantities");
});

test("rejects an unknown unit unless a factor is given", () => {
  expect(checkMessage("furlong", "m")).toContain('"furlong"');
  expect(checkMessage("furlong", "m", 201.168)).toBeUndefined();
  expect(checkMessage("EPSG:9095", "m", 1)).toBeUndefined();
});
