import { expect, test } from "vitest";
import type { Raster } from "../../src/ingest/raster.ts";
import { checkUnit } from "../../src/ingest/units.ts";

type UnitCheck = Parameters<typeof checkUnit>[1];

function check(stated: string | undefined, unit: UnitCheck["unit"], unitFactor?: number): string | undefined {
  const raster = { file: "map.tif", declaredUnits: [undefined, stated] } as unknown as Raster;
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
] as const)("accepts %j for a metric in %s without a factor", (stated, unit) => {
  expect(check(stated, unit)).toBeUndefined();
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
] as const)("rejects %j for a metric in %s unless the factor %d is given", (stated, unit, factor) => {
  const message = check(stated, unit);
  expect(message).toContain(`map.tif: band 2 is in the unit ${JSON.stringify(stated)}, the_metric in `);
  expect(message).toContain(`unit_factor ${factor} `);
  expect(check(stated, unit, factor)).toBeUndefined();
  expect(check(stated, unit, factor * 1.14)).toBeUndefined(); // includes the conversion of 10-minute to 1-minute winds
  expect(check(stated, unit, 1)).toContain(`${factor} does`);
});

test("rejects a factor for a unit other than the declared one", () => {
  expect(check("m", "m", 0.01)).toContain("The unit_factor 0.01 does not convert one to the other; 1 does.");
  expect(check("m/s", "m/s", 1.13636)).toBeUndefined();
});

test("rejects another quantity, whatever the factor", () => {
  expect(check("m/s", "m", 1)).toContain("These units measure different quantities");
  expect(check("days", "m/s")).toContain("These units measure different quantities");
});

test("accepts a dimensionless fraction for any unit if a factor is given", () => {
  expect(check("%", "days", 3.66)).toBeUndefined();
  expect(check("%", "days")).toContain("These units measure different quantities");
});

test("rejects an unknown unit unless a factor is given", () => {
  expect(check("furlong", "m")).toContain('"furlong"');
  expect(check("furlong", "m", 201.168)).toBeUndefined();
  expect(check("EPSG:9095", "m", 1)).toBeUndefined();
});
