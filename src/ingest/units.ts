/**
 * Compares the unit that a map declares with the unit of its metric. Spellings are listed explicitly; a
 * spelling that is not listed is an unknown unit.
 */
import type { MetricSpec } from "../hazard/hazards.ts";
import { type Raster, sourceFault } from "./raster.ts";

type MetricUnit = MetricSpec["unit"];

/** A unit of the same quantity as a metric's unit; `factor` converts values to that unit. */
interface Unit {
  readonly of: MetricUnit;
  readonly factor: number;
}

/** Spellings in lower case, without ^, ** or dots between units; a superscript minus one is written -1. */
const SPELLINGS: readonly (readonly [of: MetricUnit, factor: number, spellings: readonly string[]])[] = [
  ["m", 1, ["m", "meter", "meters", "metre", "metres"]],
  ["m", 0.1, ["dm", "decimeter", "decimeters", "decimetre", "decimetres"]],
  ["m", 0.01, ["cm", "centimeter", "centimeters", "centimetre", "centimetres"]],
  ["m", 0.001, ["mm", "millimeter", "millimeters", "millimetre", "millimetres"]],
  ["m", 1000, ["km", "kilometer", "kilometers", "kilometre", "kilometres"]],
  ["m", 0.3048, ["ft", "foot", "feet", "international foot", "international feet"]],
  ["m", 1200 / 3937, ["us survey foot", "us survey feet", "us-ft", "ftus", "foot_us", "ft-us"]],
  ["m", 0.0254, ["in", "inch", "inches"]],
  ["m/s", 1, ["m/s", "m s-1", "ms-1", "m/sec", "meters/second", "metres/second", "meter/second", "metre/second"]],
  ["m/s", 1, ["meters per second", "metres per second", "meter per second", "metre per second", "mps"]],
  ["m/s", 0.01, ["cm/s", "cm s-1"]],
  ["m/s", 1 / 3.6, ["km/h", "km h-1", "kmh-1", "km/hr", "kmh", "kph", "kilometers per hour", "kilometres per hour"]],
  ["m/s", 1852 / 3600, ["knots", "knot", "kn", "kt", "kts"]],
  ["m/s", 0.44704, ["mph", "mi/h", "miles/hour", "miles per hour"]],
  ["m/s", 0.3048, ["ft/s", "ft s-1", "feet per second"]],
  ["days", 1, ["d", "day", "days", "d/yr", "d/year", "day/year", "days/year", "days/yr", "days per year"]],
  ["days", 1, ["d yr-1", "d year-1", "days yr-1", "days year-1", "d a-1", "days a-1"]],
  ["days", 1 / 24, ["h", "hour", "hours"]],
  ["1", 1, ["1", "-", "none", "unitless", "dimensionless", "fraction", "ratio", "probability", "index"]],
  ["1", 0.01, ["%", "percent", "per cent"]],
];

const UNITS: ReadonlyMap<string, Unit> = new Map(
  SPELLINGS.flatMap(([of, factor, spellings]) => spellings.map((spelling) => [spelling, { of, factor }] as const)),
);

/** Returns a spelling in the normalized form of `SPELLINGS`. */
function normalizeSpelling(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replaceAll("⁻¹", "-1")
    .replaceAll(/\*\*|\^/g, "")
    .replaceAll(/(?<=[a-z])\s*[.·*]\s*(?=[a-z])/g, " ")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\s*\/\s*/g, "/");
}

/** Returns whether two spellings mean the same unit. */
export function isSameUnit(first: string, second: string): boolean {
  const [a, b] = [normalizeSpelling(first), normalizeSpelling(second)];
  const [unitA, unitB] = [UNITS.get(a), UNITS.get(b)];
  if (unitA === undefined || unitB === undefined) return a === b;
  return unitA.of === unitB.of && unitA.factor === unitB.factor;
}

/**
 * Units that do not specify a quantity, such as the default of the software that wrote the file. A factor may convert
 * them to the unit of any metric. Shares (percent, fraction, probability) may be converted only to days or to another
 * share.
 */
const NEUTRAL: ReadonlySet<string> = new Set(["1", "-", "none", "unitless", "dimensionless"]);

/**
 * Largest ratio between a given factor and the exact factor, in either direction. It allows a conversion of 10-minute to
 * 1-minute winds (1.14). Several units differ by less, such as mph and knots (1.15), km/h and ft/s (1.10) or ft/s and mph
 * (1.47), so the factor is also compared with the exact factors of other units.
 */
const FACTOR_RATIO_MAX = 1.5;
/** Largest relative difference between a factor and the exact factor of the unit that it is taken to convert. */
const FACTOR_TOLERANCE = 0.005;

/** Returns whether a factor is an exact factor to within the tolerance, or rounded to two or three digits. */
function isFactorOf(factor: number, exact: number): boolean {
  return (
    Math.abs(factor / exact - 1) <= FACTOR_TOLERANCE ||
    [2, 3].some((digitCount) => Number(exact.toPrecision(digitCount)) === factor)
  );
}

/**
 * Returns the name of another unit of the same quantity that a factor converts, if it does not convert the given unit.
 */
function otherUnitOf(factor: number, { of, factor: exactFactor }: Unit): string | undefined {
  if (isFactorOf(factor, exactFactor)) return undefined;
  const other = SPELLINGS.find(([quantity, exact]) => quantity === of && isFactorOf(factor, exact));
  return other?.[2][0];
}

/**
 * Compares the unit that a band declares with that of a metric.
 *
 * @param unitFactor the `unit_factor` of the manifest, undefined if it has none
 * @throws Fault `source_invalid` naming both units, unless they are equal or the factor converts the declared unit to the other
 */
export function checkUnit(
  raster: Raster,
  {
    band,
    metric,
    unit,
    unitFactor,
  }: {
    readonly band: number;
    readonly metric: string;
    readonly unit: MetricUnit;
    readonly unitFactor: number | undefined;
  },
): void {
  const declaredUnit = raster.bands[band - 1]?.unit;
  if (declaredUnit === undefined) return;
  const unitFault = (why: string): Error =>
    sourceFault(
      raster.file,
      `band ${band} is in the unit ${JSON.stringify(declaredUnit)}, but ${metric} ${describeUnit(unit)}. ${why}`,
      {
        details: { band, unit: declaredUnit, metric_unit: unit },
      },
    );
  const spelling = normalizeSpelling(declaredUnit);
  const known = UNITS.get(spelling);
  if (known === undefined) {
    if (unitFactor !== undefined) return;
    throw unitFault(
      "That unit is unknown: give the unit_factor of the layer in a manifest (1 if the units are equal).",
    );
  }
  const isConvertible = NEUTRAL.has(spelling) || (known.of === "1" && unit === "days");
  if (known.of !== unit && isConvertible && unitFactor !== undefined) return;
  if (known.of !== unit) throw unitFault("These units measure different quantities. Check the band and the metric.");
  const other = unitFactor === undefined ? undefined : otherUnitOf(unitFactor, known);
  const ratio = (unitFactor ?? 1) / known.factor;
  const isInRange = ratio <= FACTOR_RATIO_MAX && ratio >= 1 / FACTOR_RATIO_MAX;
  if (isInRange && other === undefined) return;
  const factor = Number(known.factor.toPrecision(6));
  const wrong = isInRange && other !== undefined ? `converts ${other}` : "does not convert the unit";
  throw unitFault(
    unitFactor === undefined
      ? `Give the unit_factor ${factor} for the layer in a manifest.`
      : `The unit_factor ${unitFactor} ${wrong}; the exact factor is ${factor}. If the file declares a wrong unit, correct it with gdal_edit.py -units.`,
  );
}

/** Returns a predicate for messages. */
function describeUnit(unit: MetricUnit): string {
  return unit === "1" ? "has no unit (it is a fraction of 1)" : `is in ${unit}`;
}
