import { beforeAll, describe, expect, test } from "vitest";
import { HAZARDS } from "../../src/hazard/hazards.ts";
import { type CurveRule, curveMetrics, largestValue, toSteps } from "../../src/kernel/curve.ts";
import { Kernel, KernelError } from "../../src/kernel/instance.ts";
import { STEPS_MAX, STEPS_NODATA } from "../../src/kernel/kernel.generated.ts";
import { curveByDefinition } from "../oracle/curve.ts";
import { randomFrom } from "../seededRandom.ts";

/** Of the Aqueduct release, coast: river has all but the first. */
const RETURN_PERIODS = [1.5, 2, 5, 10, 25, 50, 100, 250, 500, 1000];
const DEPTHS: CurveRule = {
  family: "gumbel",
  returnPeriods: RETURN_PERIODS,
  unitFactor: 1,
  designReturnPeriodYears: 100,
  threshold: 0.5,
};
const WINDS: CurveRule = { ...DEPTHS, family: "log", threshold: 33, unitFactor: 1 / 0.88 };

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

/** Metrics of one cell. */
function metricsOf(values: readonly number[], rule: CurveRule): { design: number; probability: number } {
  const outcome = curveMetrics(
    kernel,
    values.map((value) => Float64Array.of(value)),
    rule,
  );
  if (outcome.kind !== "metrics") throw new Error(`refused: ${JSON.stringify(outcome)}`);
  return { design: outcome.designs[0] ?? Infinity, probability: outcome.probabilities[0] ?? Infinity };
}

/** Probability as it is stored and read back. */
function stored(probability: number): number {
  const { stepsPerUnit = NaN } = HAZARDS.riverine_floods.metrics.find(({ metric }) => metric === "probability") ?? {};
  const cells = new Uint16Array(1);
  const outcome = toSteps(
    kernel,
    Float64Array.of(probability),
    { stepsPerUnit, offset: 0 },
    { cells, layer: 0, layerCount: 1 },
  );
  expect(outcome.kind).toBe("steps");
  return (cells[0] ?? NaN) / stepsPerUnit;
}

describe("the probability of reaching the threshold", () => {
  test.each(RETURN_PERIODS)("is 1/T exactly where the curve passes it at the node of %d years", (years) => {
    const node = RETURN_PERIODS.indexOf(years);
    // 0.1 m a node below, 0.7 m a node above: only the node itself is at 0.5 m.
    const values = RETURN_PERIODS.map((_, i) => (i <= node ? 0.5 - 0.04 * (node - i) : 0.5 + 0.7 * (i - node)));
    const { probability } = metricsOf(values, DEPTHS);
    expect(probability).toBe(1 / years);
    expect(stored(probability)).toBe(1 / years);
    expect(stored(metricsOf(values.map(Math.fround), DEPTHS).probability)).toBe(1 / years);
  });

  test.each(RETURN_PERIODS)("is 1/T for winds as well, %d years", (years) => {
    const node = RETURN_PERIODS.indexOf(years);
    const values = RETURN_PERIODS.map((_, i) => 33 + (i - node));
    expect(metricsOf(values, { ...WINDS, unitFactor: 1 }).probability).toBe(1 / years);
  });

  test("is 0 where the curve never gets there, however close", () => {
    const values = RETURN_PERIODS.map(() => 0.499999999);
    expect(metricsOf(values, DEPTHS).probability).toBe(0);
    expect(
      metricsOf(
        RETURN_PERIODS.map(() => 0),
        DEPTHS,
      ),
    ).toEqual({ design: 0, probability: 0 });
  });

  test("is 1/T of the first map where that one is above it already", () => {
    expect(
      metricsOf(
        RETURN_PERIODS.map((_, i) => 3 + i),
        DEPTHS,
      ).probability,
    ).toBe(1 / 1.5);
    expect(
      metricsOf(
        RETURN_PERIODS.map(() => 0.5),
        DEPTHS,
      ).probability,
    ).toBe(1 / 1.5);
  });

  test("is that of the first crossing where the curve falls and rises again", () => {
    const { probability } = metricsOf([0, 0.5, 0.2, 0.5, 0.1, 0.6, 0, 0, 0, 9], DEPTHS);
    expect(probability).toBe(1 / 2);
  });
});

describe("the value at the design return period", () => {
  test("is the map's own where there is one of that period", () => {
    const values = RETURN_PERIODS.map((_, i) => Math.fround(0.1 * i));
    expect(metricsOf(values, DEPTHS).design).toBe(Math.fround(0.6));
  });

  test("is the largest of the less rare maps where it is smaller than they", () => {
    expect(metricsOf([0, 0, 1, 7, 2, 3, 4, 5, 6, 6.5], DEPTHS).design).toBe(7);
  });

  test("is linear in the variate between maps", () => {
    const rule = { ...DEPTHS, returnPeriods: [50, 200] };
    const y = (years: number): number => -Math.log(-Math.log(1 - 1 / years));
    const share = (y(100) - y(50)) / (y(200) - y(50));
    expect(metricsOf([1, 3], rule).design).toBeCloseTo(1 + 2 * share, 12);
    expect(metricsOf([1, 3], { ...rule, family: "log" }).design).toBeCloseTo(2, 12);
  });

  test("is that of the nearest map outside them", () => {
    expect(metricsOf([2], { ...DEPTHS, returnPeriods: [1000] }).design).toBe(2);
    expect(metricsOf([2, 3], { ...DEPTHS, returnPeriods: [5, 10] }).design).toBe(3);
  });
});

test.each([
  ["depths", DEPTHS],
  ["winds", WINDS],
])("%s agree with the definition on random curves", (_, rule) => {
  const { next: random } = randomFrom(11);
  const cellCount = 20_000;
  const draw = (): number => {
    const kind = random();
    if (kind < 0.02) return NaN;
    if (kind < 0.2) return 0;
    if (kind < 0.3) return rule.threshold / rule.unitFactor;
    if (kind < 0.31) return Number.MAX_VALUE / 1e10;
    if (kind < 0.32) return Number.MIN_VALUE;
    return random() ** 2 * 3 * rule.threshold;
  };
  const maps = RETURN_PERIODS.map(() => Float64Array.from({ length: cellCount }, draw));
  // Some curves in order and some flat, as most real ones are.
  for (let cell = 0; cell < cellCount; cell += 3) {
    const values = maps.map((map) => map[cell] ?? NaN).toSorted((a, b) => a - b);
    maps.forEach((map, i) => (map[cell] = values[cell % 2 === 0 ? i : Math.floor(i / 4) * 4] ?? NaN));
  }
  const outcome = curveMetrics(kernel, maps, rule);
  if (outcome.kind !== "metrics") throw new Error("refused");
  let missing = 0;
  const different: unknown[] = [];
  const agrees = (a: number, b: number, within: number): boolean => Object.is(a, b) || Math.abs(a - b) <= within;
  for (let cell = 0; cell < cellCount; cell++) {
    const values = maps.map((map) => map[cell] ?? NaN);
    const expected = curveByDefinition(values, rule);
    const design = outcome.designs[cell] ?? Infinity;
    const probability = outcome.probabilities[cell] ?? Infinity;
    if (Number.isNaN(expected.design)) missing++;
    const isSame =
      agrees(design, expected.design, 1e-9 * Math.max(1, expected.design)) &&
      agrees(probability, expected.probability, 1e-12);
    if (!isSame) different.push({ values, design, probability, expected });
  }
  expect(different).toEqual([]);
  expect(missing).toBeGreaterThan(1000);
  expect(missing).toBeLessThan(cellCount / 2);
});

describe("missing values and values that cannot be", () => {
  test.each(RETURN_PERIODS.map((_, i) => i))("a cell that is missing on map %d is missing", (index) => {
    const values = RETURN_PERIODS.map((_, i) => (i === index ? NaN : 1));
    expect(metricsOf(values, DEPTHS)).toEqual({ design: NaN, probability: NaN });
  });

  test("the first value below zero is told with map and cell, even in a cell that is missing elsewhere", () => {
    const maps = RETURN_PERIODS.map(() => new Float32Array(5));
    maps[2]?.set([NaN], 3);
    maps[4]?.set([-1e-6], 3);
    expect(curveMetrics(kernel, maps, DEPTHS)).toEqual({ kind: "negative", map: 4, cell: 3 });
  });

  test("minus zero is zero", () =>
    expect(
      metricsOf(
        RETURN_PERIODS.map(() => -0),
        DEPTHS,
      ).probability,
    ).toBe(0));

  test.each([
    ["descending return periods", { ...DEPTHS, returnPeriods: [10, 5] }],
    ["equal return periods", { ...DEPTHS, returnPeriods: [10, 10] }],
    ["a return period of one year on Gumbel paper", { ...DEPTHS, returnPeriods: [1, 10] }],
    ["a return period that is no number", { ...DEPTHS, returnPeriods: [NaN, 10] }],
    ["a threshold of zero", { ...DEPTHS, returnPeriods: [5, 10], threshold: 0 }],
    ["a design return period of one year", { ...DEPTHS, returnPeriods: [5, 10], designReturnPeriodYears: 1 }],
  ])("%s are refused", (_, rule) => {
    expect(() => metricsOf([1, 2], rule)).toThrow(KernelError);
  });

  test("maps of unlike length are refused", () => {
    const rule = { ...DEPTHS, returnPeriods: [5, 10] };
    expect(() => curveMetrics(kernel, [new Float64Array(2), new Float64Array(3)], rule)).toThrow(RangeError);
    expect(() => curveMetrics(kernel, [new Float64Array(2)], rule)).toThrow(RangeError);
  });
});

describe("steps", () => {
  const quantum = { stepsPerUnit: 1000, offset: 0 };
  const stepsOf = (values: readonly number[]) => {
    const cells = new Uint16Array(values.length);
    return { outcome: toSteps(kernel, Float64Array.from(values), quantum, { cells, layer: 0, layerCount: 1 }), cells };
  };

  test("every step comes back as itself", () => {
    const values = Array.from({ length: STEPS_MAX + 1 }, (_, steps) => steps / 1000);
    const { outcome, cells } = stepsOf(values);
    expect(outcome).toEqual({ kind: "steps", worstRounding: 0 });
    expect([...cells]).toEqual(values.map((_, steps) => steps));
  });

  test("halves go up, missing is nodata, the worst rounding is told", () => {
    const { outcome, cells } = stepsOf([0.0005, 0.0015, 0.00049, NaN, 1.00025]);
    expect([...cells]).toEqual([1, 2, 0, STEPS_NODATA, 1000]);
    expect(outcome.kind === "steps" ? outcome.worstRounding : NaN).toBeCloseTo(0.0005, 12);
  });

  test("layers lie side by side and leave each other alone", () => {
    const cells = new Uint16Array(6).fill(7);
    toSteps(kernel, Float64Array.of(1, NaN), quantum, { cells, layer: 1, layerCount: 3 });
    expect([...cells]).toEqual([7, 1000, 7, 7, STEPS_NODATA, 7]);
  });

  test.each([-0.0006, 65.5336, Infinity, -Infinity, 1e300])("%d has no step: told, not clipped", (value) => {
    expect(stepsOf([1, value, 2]).outcome).toEqual({ kind: "out-of-range", cell: 1 });
  });

  test("the largest value is that of the last step", () => {
    expect(largestValue(quantum)).toBe(STEPS_MAX / 1000);
    expect([...stepsOf([largestValue(quantum)]).cells]).toEqual([STEPS_MAX]);
  });
});
