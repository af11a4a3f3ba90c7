import { beforeAll, describe, expect, test } from "vitest";
import { curveMetrics } from "../../src/kernel/curve.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import {
  amountAbove,
  damageShareAt,
  exceedanceOf,
  expectedAnnual,
  type ReturnPeriodCurve,
  valueAtReturnPeriod,
} from "../../src/kernel/returnPeriodCurve.ts";
import {
  oracleDamageShare,
  oracleExpectedAnnual,
  oracleReturnPeriodOf,
  oracleValueAt,
} from "../oracle/returnPeriodCurve.ts";
import { randomFrom, type SeededRandom } from "../seededRandom.ts";

const AQUEDUCT_YEARS = [2, 5, 10, 25, 50, 100, 250, 500, 1000];
const STORM_YEARS = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000];

function runningMaximum(values: readonly number[]): number[] {
  return values.map((_, i) => Math.max(...values.slice(0, i + 1)));
}

/** Returns a random curve with flat parts, zeros and steep parts. */
function randomCurve(random: SeededRandom): ReturnPeriodCurve {
  const variate = random.pick(["gumbel", "log"] as const);
  const all = variate === "gumbel" ? AQUEDUCT_YEARS : STORM_YEARS;
  const kept = all.filter(() => random.chance(0.7));
  const returnPeriodsYears = kept.length > 1 ? kept : all;
  const scale = random.pick([0.001, 1, 70]);
  const raw = returnPeriodsYears.map(() => (random.chance(0.3) ? 0 : random.between({ min: 0, max: scale })));
  return { variate, returnPeriodsYears, values: runningMaximum(raw) };
}

const first = ({ returnPeriodsYears }: ReturnPeriodCurve): number => returnPeriodsYears[0] ?? NaN;
const last = ({ returnPeriodsYears }: ReturnPeriodCurve): number => returnPeriodsYears.at(-1) ?? NaN;

describe("exact expectations", () => {
  // A flood curve in steps of 1 m, and a wind curve that is linear in ln T: 10 m/s more per factor of 10.
  const depths: ReturnPeriodCurve = { variate: "gumbel", returnPeriodsYears: [2, 10, 100], values: [0, 1, 2] };
  const winds: ReturnPeriodCurve = { variate: "log", returnPeriodsYears: [10, 100, 1000], values: [30, 40, 50] };
  const y = (years: number): number => -Math.log(-Math.log(1 - 1 / years));
  const years = (variate: number): number => 1 / (1 - Math.exp(-Math.exp(-variate)));

  test.each([
    { what: "a node", curve: depths, at: 10, value: 1 },
    { what: "the first node", curve: depths, at: 2, value: 0 },
    { what: "the last node", curve: depths, at: 100, value: 2 },
    { what: "the middle of two nodes in the variate", curve: depths, at: years((y(10) + y(100)) / 2), value: 1.5 },
    {
      what: "a quarter of the way to the second node",
      curve: depths,
      at: years(y(2) * 0.75 + y(10) * 0.25),
      value: 0.25,
    },
    {
      what: "25 years, from tables of the Gumbel variate",
      curve: depths,
      at: 25,
      value: 1 + (3.1985 - 2.2504) / (4.6001 - 2.2504),
    },
    { what: "the geometric mean of two nodes", curve: winds, at: Math.sqrt(1000), value: 35 },
    { what: "a node of winds", curve: winds, at: 100, value: 40 },
    { what: "200 years", curve: winds, at: 200, value: 40 + 10 * Math.log10(2) },
  ])("value at $what", ({ curve, at, value }) => {
    const result = valueAtReturnPeriod(curve, at);
    expect(result.value).toBeCloseTo(value, 4);
    expect(result.bound).toBeUndefined();
  });

  test.each([
    { what: "below the first", at: 1.5, value: 0, bound: "at_most" },
    { what: "just below the first", at: 1.999999, value: 0, bound: "at_most" },
    { what: "above the last", at: 101, value: 2, bound: "at_least" },
    { what: "far above the last", at: 1e9, value: 2, bound: "at_least" },
  ] as const)("value at a return period $what is a bound", ({ at, value, bound }) => {
    expect(valueAtReturnPeriod(depths, at)).toEqual({ value, bound });
  });

  test.each([
    { what: "the value of a node", curve: depths, threshold: 1, returnPeriod: 10 },
    { what: "the last value", curve: depths, threshold: 2, returnPeriod: 100 },
    { what: "half of a step", curve: depths, threshold: 1.5, returnPeriod: years((y(10) + y(100)) / 2) },
    { what: "a quarter of a step", curve: depths, threshold: 0.25, returnPeriod: years(y(2) * 0.75 + y(10) * 0.25) },
    { what: "winds halfway between two nodes", curve: winds, threshold: 35, returnPeriod: Math.sqrt(1000) },
    { what: "winds three tenths of the way", curve: winds, threshold: 43, returnPeriod: 10 ** 2.3 },
    {
      what: "the first of equal values",
      curve: { ...depths, returnPeriodsYears: [2, 10, 50, 100], values: [0, 1, 1, 2] },
      threshold: 1,
      returnPeriod: 10,
    },
  ])("exceedance of $what", ({ curve, threshold, returnPeriod }) => {
    const { probability, bound } = exceedanceOf(curve, threshold);
    expect(1 / probability / returnPeriod).toBeCloseTo(1, 12);
    expect(bound).toBeUndefined();
  });

  test.each(AQUEDUCT_YEARS.slice(1))("exceedance of a node's value is exactly 1/T: %d years", (period) => {
    const curve = { ...depths, returnPeriodsYears: AQUEDUCT_YEARS, values: AQUEDUCT_YEARS.map((_, i) => i * 0.3) };
    expect(exceedanceOf(curve, AQUEDUCT_YEARS.indexOf(period) * 0.3)).toEqual({ probability: 1 / period });
    expect(valueAtReturnPeriod(curve, period)).toEqual({ value: AQUEDUCT_YEARS.indexOf(period) * 0.3 });
  });

  test("exceedance of a threshold that the first node reaches is at least 1/T of it", () => {
    const bound = { kind: "at_least", limit: 0.1 };
    expect(exceedanceOf(winds, 30)).toEqual({ probability: 0.1, bound });
    expect(exceedanceOf(winds, 12)).toEqual({ probability: 0.1, bound });
  });

  test("exceedance of a threshold that no node reaches is 0, and at most 1/T of the last", () => {
    const bound = { kind: "at_most", limit: 0.01 };
    expect(exceedanceOf(depths, 2.000001)).toEqual({ probability: 0, bound });
    expect(exceedanceOf({ ...depths, values: [0, 0, 0] }, 0.5)).toEqual({ probability: 0, bound });
  });

  // Probabilities 0.5, 0.1, 0.01. Trapezoids: 0.4 x (0 + 1)/2 = 0.2, 0.09 x (1 + 2)/2 = 0.135, tail 0.01 x 2 = 0.02.
  test.each([
    { floor: 0, value: 0.355, tail: 0.02 },
    { floor: 0.5, value: 0.4 * 0.25 + 0.09 * 1 + 0.01 * 1.5, tail: 0.015 },
    { floor: 1, value: 0.09 * 0.5 + 0.01, tail: 0.01 },
    { floor: 2, value: 0, tail: 0 },
    { floor: 5, value: 0, tail: 0 },
  ])("expected annual value above $floor", ({ floor, value, tail }) => {
    const result = expectedAnnual(depths, amountAbove(floor));
    expect(result.value).toBeCloseTo(value, 14);
    expect(result.tail).toBeCloseTo(tail, 14);
  });

  test("expected annual value of a single return period is its tail", () => {
    const single: ReturnPeriodCurve = { variate: "gumbel", returnPeriodsYears: [100], values: [3] };
    expect(expectedAnnual(single, amountAbove(1))).toEqual({ value: 0.02, tail: 0.02 });
    expect(valueAtReturnPeriod(single, 100)).toEqual({ value: 3 });
    expect(exceedanceOf(single, 2)).toEqual({ probability: 0.01, bound: { kind: "at_least", limit: 0.01 } });
  });

  // As CLIMADA's frequency curve and FIAT's integral over probability: damage 0, 0.2 and 0.5 at 0, 1 and 2 m.
  test("expected annual damage", () => {
    const points = [
      { value: 0, damageShare: 0 },
      { value: 1, damageShare: 0.2 },
      { value: 3, damageShare: 0.8 },
    ];
    const { value, tail } = expectedAnnual(depths, (depth) => damageShareAt(points, depth));
    expect(value).toBeCloseTo(0.4 * 0.1 + 0.09 * 0.35 + 0.01 * 0.5, 14);
    expect(tail).toBeCloseTo(0.005, 14);
  });

  test.each([
    [-1, 0],
    [0, 0],
    [0.5, 0.1],
    [1, 0.2],
    [2, 0.5],
    [3, 0.8],
    [9, 0.8],
  ])("damage share at %d", (value, share) => {
    const points = [
      { value: 0, damageShare: 0 },
      { value: 1, damageShare: 0.2 },
      { value: 3, damageShare: 0.8 },
    ];
    expect(damageShareAt(points, value)).toBeCloseTo(share, 14);
  });
});

describe("random curves", () => {
  test("agree with the reference implementation", () => {
    const random = randomFrom(1701);
    let comparedCount = 0;
    for (let i = 0; i < 400; i++) {
      const curve = randomCurve(random);
      const scale = curve.values.at(-1) ?? 0;
      const period = first(curve) * (last(curve) / first(curve)) ** random.next();
      expect(Math.abs(valueAtReturnPeriod(curve, period).value - oracleValueAt(curve, period))).toBeLessThanOrEqual(
        scale * 1e-12,
      );
      const threshold = scale * random.between({ min: 0.01, max: 1 });
      const { probability, bound } = exceedanceOf(curve, threshold);
      if (scale > 0 && bound === undefined) {
        comparedCount++;
        const expected = 1 / oracleReturnPeriodOf(curve, threshold);
        expect(Math.abs(probability - expected)).toBeLessThanOrEqual(expected * 1e-9);
      }
      const points = [0, 1, 2, 3].map((k) => ({ value: (k * scale) / 2.5, damageShare: (k * k) / 9 }));
      const isFlat = scale === 0;
      const amounts = [amountAbove(threshold), ...(isFlat ? [] : [(value: number) => damageShareAt(points, value)])];
      for (const amountOf of amounts) {
        const { value } = expectedAnnual(curve, amountOf);
        expect(Math.abs(value - oracleExpectedAnnual(curve, amountOf))).toBeLessThanOrEqual(1e-9 * (1 + scale));
      }
      if (!isFlat) {
        const value = random.between({ min: -scale, max: 2 * scale });
        expect(damageShareAt(points, value)).toBeCloseTo(oracleDamageShare(points, value), 12);
      }
    }
    expect(comparedCount).toBeGreaterThan(100);
  });

  test("value never falls with the return period", () => {
    const random = randomFrom(1702);
    for (let i = 0; i < 300; i++) {
      const curve = randomCurve(random);
      const periods = Array.from({ length: 100 }, () => 1.01 * 3000 ** random.next()).concat(curve.returnPeriodsYears);
      periods.sort((a, b) => a - b);
      const values = periods.map((period) => valueAtReturnPeriod(curve, period).value);
      expect(values).toEqual(values.toSorted((a, b) => a - b));
    }
  });

  test("probability and expected annual value never rise with the threshold", () => {
    const random = randomFrom(1703);
    for (let i = 0; i < 300; i++) {
      const curve = randomCurve(random);
      const highest = (curve.values.at(-1) ?? 0) + 0.01;
      const thresholds = Array.from({ length: 100 }, () => 1.1 * highest * random.next()).concat(curve.values);
      thresholds.sort((a, b) => a - b);
      const probabilities = thresholds.map((threshold) => exceedanceOf(curve, threshold).probability);
      expect(probabilities).toEqual(probabilities.toSorted((a, b) => b - a));
      const expected = thresholds.map((floor) => expectedAnnual(curve, amountAbove(floor)).value);
      expect(expected).toEqual(expected.toSorted((a, b) => b - a));
    }
  });

  test("the value at the return period of a threshold is the threshold", () => {
    const random = randomFrom(1704);
    let comparedCount = 0;
    for (let i = 0; i < 300; i++) {
      const curve = randomCurve(random);
      const threshold = (curve.values.at(-1) ?? 0) * random.next();
      const { probability, bound } = exceedanceOf(curve, threshold);
      if (bound !== undefined) continue;
      comparedCount++;
      expect(valueAtReturnPeriod(curve, 1 / probability).value).toBeCloseTo(threshold, 8);
    }
    expect(comparedCount).toBeGreaterThan(100);
  });
});

describe("the kernel of the ingest", () => {
  let kernel: Kernel;
  beforeAll(async () => {
    kernel = await Kernel.load();
  });

  test("computes the same design values and probabilities", () => {
    const random = randomFrom(1705);
    for (let i = 0; i < 300; i++) {
      const { variate, returnPeriodsYears, values } = randomCurve(random);
      const designReturnPeriodYears = random.pick([...returnPeriodsYears, 1.2, 7, 99.5, 100, 5000]);
      const threshold = random.pick([...values, 0.5, 33].filter((value) => value > 0));
      const outcome = curveMetrics(
        kernel,
        values.map((value) => Float64Array.of(value)),
        { family: variate, returnPeriods: returnPeriodsYears, unitFactor: 1, designReturnPeriodYears, threshold },
      );
      if (outcome.kind !== "metrics") throw new Error(`rejected: ${JSON.stringify(outcome)}`);
      const curve = { variate, returnPeriodsYears, values };
      const { value } = valueAtReturnPeriod(curve, designReturnPeriodYears);
      const { probability } = exceedanceOf(curve, threshold);
      expect(Math.abs((outcome.designs[0] ?? NaN) - value)).toBeLessThanOrEqual(1e-13 * value);
      expect(Math.abs((outcome.probabilities[0] ?? NaN) - probability)).toBeLessThanOrEqual(1e-13 * probability);
    }
  });
});
