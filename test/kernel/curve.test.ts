import { beforeAll, describe, expect, test } from "vitest";
import { HAZARDS } from "../../src/hazard/hazards.ts";
import { curveMetrics, type CurveRule, largestValue, toSteps } from "../../src/kernel/curve.ts";
import { Kernel, KernelError } from "../../src/kernel/instance.ts";
import { STEPS_MAX, STEPS_NODATA } from "../../src/kernel/kernel.generated.ts";
import { curveByDefinition } from "../oracle/curve.ts";
import { randomFrom } from "../seededRandom.ts";

/** Return periods of the coastal Aqueduct maps; the riverine maps lack the first. */
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

/** Returns the metrics of one cell. */
function metricsOf(values: readonly number[], rule: CurveRule): { design: number; probability: number } {
  const outcome = curveMetrics(
    kernel,
    values.map((value) => Float64Array.of(value)),
    rule,
  );
  if (outcome.kind !== "metrics") throw new Error(`rejected: ${JSON.stringify(outcome)}`);
  return { design: outcome.designs[0] ?? Infinity, probability: outcome.probabilities[0] ?? Infinity };
}

/** Returns a probability after encoding it as steps and decoding it again. */
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

describe("probability of reaching the threshold", () => {
  test.each(RETURN_PERIODS)("is exactly 1/T if the curve reaches it at %d years", (years) => {
    const node = RETURN_PERIODS.indexOf(years);
    // 0.04 m less per map below, 0.7 m more per map above: only this map is at 0.5 m.
    const values = RETURN_PERIODS.map((_, i) => (i <= node ? 0.5 - 0.04 * (node - i) : 0.5 + 0.7 * (i - node)));
    const { probability } = metricsOf(values, DEPTHS);
    expect(probability).toBe(1 / years);
    expect(stored(probability)).toBe(1 / years);
    expect(stored(metricsOf(values.map(Math.fround), DEPTHS).probability)).toBe(1 / years);
  });

  test.each(RETURN_PERIODS)("is exactly 1/T for winds: %d years", (years) => {
    const node = RETURN_PERIODS.indexOf(years);
    const values = RETURN_PERIODS.map((_, i) => 33 + (i - node));
    expect(metricsOf(values, { ...WINDS, unitFactor: 1 }).probability).toBe(1 / years);
  });

  test("is 0 if the curve stays below it, even by a small difference", () => {
    const values = RETURN_PERIODS.map(() => 0.499999999);
    expect(metricsOf(values, DEPTHS).probability).toBe(0);
    expect(
      metricsOf(
        RETURN_PERIODS.map(() => 0),
        DEPTHS,
      ),
    ).toEqual({ design: 0, probability: 0 });
  });

  test("is 1/T of the first map if that map reaches it", () => {
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

  test("is that of the first crossing if the values fall and rise again", () => {
    const { probability } = metricsOf([0, 0.5, 0.2, 0.5, 0.1, 0.6, 0, 0, 0, 9], DEPTHS);
    expect(probability).toBe(1 / 2);
  });
});

describe("value at the design return period", () => {
  test("is that of the map with this return period", () => {
    const values = RETURN_PERIODS.map((_, i) => Math.fround(0.1 * i));
    expect(metricsOf(values, DEPTHS).design).toBe(Math.fround(0.6));
  });

  test("is the largest value of the maps with shorter return periods if that is larger", () => {
    expect(metricsOf([0, 0, 1, 7, 2, 3, 4, 5, 6, 6.5], DEPTHS).design).toBe(7);
  });

  test("is linear in the variate between maps", () => {
    const rule = { ...DEPTHS, returnPeriods: [50, 200] };
    const y = (years: number): number => -Math.log(-Math.log(1 - 1 / years));
    const share = (y(100) - y(50)) / (y(200) - y(50));
    expect(metricsOf([1, 3], rule).design).toBeCloseTo(1 + 2 * share, 12);
    expect(metricsOf([1, 3], { ...rule, family: "log" }).design).toBeCloseTo(2, 12);
  });

  test("is that of the nearest map outside their range", () => {
    expect(metricsOf([2], { ...DEPTHS, returnPeriods: [1000] }).design).toBe(2);
    expect(metricsOf([2, 3], { ...DEPTHS, returnPeriods: [5, 10] }).design).toBe(3);
  });
});

test.each([
  ["depths", DEPTHS],
  ["winds", WINDS],
])("curveMetrics matches the reference implementation on random curves: %s", (_, rule) => {
  const { next: random } = randomFrom(11);
  const cellCount = 20_000;
  const draw = (): number => {
    const kind = random();
    if (kind < 0.02) return NaN;
    if (kind < 0.2) return 0;
    if (kind < 0.3) return rule.threshold / rule.unitFactor;
    if (kind < 0.31) return 0.99 * Math.min(1e20, 1e20 / rule.unitFactor);
    if (kind < 0.32) return Number.MIN_VALUE;
    return random() ** 2 * 3 * rule.threshold;
  };
  const maps = RETURN_PERIODS.map(() => Float64Array.from({ length: cellCount }, draw));
  // Some curves ascending and some flat, like most real ones.
  for (let cell = 0; cell < cellCount; cell += 3) {
    const values = maps.map((map) => map[cell] ?? NaN).toSorted((a, b) => a - b);
    maps.forEach((map, i) => (map[cell] = values[cell % 2 === 0 ? i : Math.floor(i / 4) * 4] ?? NaN));
  }
  const outcome = curveMetrics(kernel, maps, rule);
  if (outcome.kind !== "metrics") throw new Error("rejected");
  let missing = 0;
  const different: unknown[] = [];
  const agrees = (a: number, b: number, within: number): boolean => Object.is(a, b) || Math.abs(a - b) <= within;
  for (let cell = 0; cell < cellCount; cell++) {
    const values = maps.map((map) => map[cell] ?? NaN);
    const expected = curveByDefinition(values, rule);
    const design = outcome.designs[cell] ?? Infinity;
    const probability = outcome.probabilities[cell] ?? Infinity;
    if (Number.isNaN(expected.design)) missing++;
    const isEqual =
      agrees(design, expected.design, 1e-9 * Math.max(1, expected.design)) &&
      agrees(probability, expected.probability, 1e-12);
    if (!isEqual) different.push({ values, design, probability, expected });
  }
  expect(different).toEqual([]);
  expect(missing).toBeGreaterThan(1000);
  expect(missing).toBeLessThan(cellCount / 2);
});

describe("missing and invalid values", () => {
  test.each(RETURN_PERIODS.map((_, i) => i))("returns NaN for a cell that is missing on map %d", (index) => {
    const values = RETURN_PERIODS.map((_, i) => (i === index ? NaN : 1));
    expect(metricsOf(values, DEPTHS)).toEqual({ design: NaN, probability: NaN });
  });

  test("reports map and cell of the first negative value, even if the cell is missing on another map", () => {
    const maps = RETURN_PERIODS.map(() => new Float32Array(5));
    maps[2]?.set([NaN], 3);
    maps[4]?.set([-1e-6], 3);
    expect(curveMetrics(kernel, maps, DEPTHS)).toEqual({ kind: "bad-value", map: 4, cell: 3 });
  });

  test.each([
    ["source", 1e20, 1 / 0.88],
    ["source", 1e20, 0.01],
    ["layer", 1e18, 100],
    ["source", Infinity, 1],
  ])("reports a value that marks missing cells in %s units: %d with the unit factor %d", (_, value, unitFactor) => {
    const maps = RETURN_PERIODS.map(() => new Float64Array(5));
    maps[4]?.set([value], 3);
    expect(curveMetrics(kernel, maps, { ...DEPTHS, unitFactor })).toEqual({ kind: "bad-value", map: 4, cell: 3 });
    maps[4]?.set([0.999 * Math.min(1e20, 1e20 / unitFactor)], 3);
    expect(curveMetrics(kernel, maps, { ...DEPTHS, unitFactor })).toMatchObject({ kind: "metrics" });
  });

  test("treats -0 as 0", () =>
    expect(
      metricsOf(
        RETURN_PERIODS.map(() => -0),
        DEPTHS,
      ).probability,
    ).toBe(0));

  test.each([
    ["descending return periods", { ...DEPTHS, returnPeriods: [10, 5] }],
    ["equal return periods", { ...DEPTHS, returnPeriods: [10, 10] }],
    ["a return period of one year in the Gumbel family", { ...DEPTHS, returnPeriods: [1, 10] }],
    ["a return period of NaN", { ...DEPTHS, returnPeriods: [NaN, 10] }],
    ["a threshold of zero", { ...DEPTHS, returnPeriods: [5, 10], threshold: 0 }],
    ["a design return period of one year", { ...DEPTHS, returnPeriods: [5, 10], designReturnPeriodYears: 1 }],
  ])("rejects %s", (_, rule) => {
    expect(() => metricsOf([1, 2], rule)).toThrow(KernelError);
  });

  test("rejects maps of different lengths or number", () => {
    const rule = { ...DEPTHS, returnPeriods: [5, 10] };
    expect(() => curveMetrics(kernel, [new Float64Array(2), new Float64Array(3)], rule)).toThrow(RangeError);
    expect(() => curveMetrics(kernel, [new Float64Array(2)], rule)).toThrow(RangeError);
  });
});

describe("toSteps", () => {
  const encoding = { stepsPerUnit: 1000, offset: 0 };
  const stepsOf = (values: readonly number[]) => {
    const cells = new Uint16Array(values.length);
    return { outcome: toSteps(kernel, Float64Array.from(values), encoding, { cells, layer: 0, layerCount: 1 }), cells };
  };

  test("encodes the value of every step as that step", () => {
    const values = Array.from({ length: STEPS_MAX + 1 }, (_, steps) => steps / 1000);
    const { outcome, cells } = stepsOf(values);
    expect(outcome).toEqual({ kind: "steps", worstRounding: 0 });
    expect([...cells]).toEqual(values.map((_, steps) => steps));
  });

  test("rounds halves up, encodes NaN as nodata and returns the largest rounding error", () => {
    const { outcome, cells } = stepsOf([0.0005, 0.0015, 0.00049, NaN, 1.00025]);
    expect([...cells]).toEqual([1, 2, 0, STEPS_NODATA, 1000]);
    expect(outcome.kind === "steps" ? outcome.worstRounding : NaN).toBeCloseTo(0.0005, 12);
  });

  test("leaves the other layers of the cells unchanged", () => {
    const cells = new Uint16Array(6).fill(7);
    toSteps(kernel, Float64Array.of(1, NaN), encoding, { cells, layer: 1, layerCount: 3 });
    expect([...cells]).toEqual([7, 1000, 7, 7, STEPS_NODATA, 7]);
  });

  test.each([-0.0006, 65.5336, Infinity, -Infinity, 1e300])(
    "reports %d as out of range instead of clipping it",
    (value) => {
      expect(stepsOf([1, value, 2]).outcome).toEqual({ kind: "out-of-range", cell: 1 });
    },
  );

  test("largestValue is the value of the last step", () => {
    expect(largestValue(encoding)).toBe(STEPS_MAX / 1000);
    expect([...stepsOf([largestValue(encoding)]).cells]).toEqual([STEPS_MAX]);
  });
});
