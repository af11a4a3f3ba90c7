/** Compares layers of curves with a reference implementation that works cell by cell and layer by layer. */
import { beforeAll, describe, expect, test } from "vitest";
import { type CurveLayer, type CurveRule, curveSteps } from "../../src/kernel/curve.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { STEPS_NODATA } from "../../src/kernel/kernel.generated.ts";
import { stepsByDefinition } from "../oracle/layerSteps.ts";
import { randomFrom } from "../seededRandom.ts";

const RETURN_PERIODS = [2, 10, 100, 1000];
const RULE: CurveRule = {
  family: "gumbel",
  returnPeriods: RETURN_PERIODS,
  unitFactor: 1,
  designReturnPeriodYears: 100,
  threshold: 0.5,
};
const LAYERS: readonly CurveLayer[] = [
  { kind: "design-share", reference: 10, stepsPerUnit: 10_000, offset: 0 },
  { kind: "design", stepsPerUnit: 1000, offset: 0 },
  { kind: "probability", stepsPerUnit: 60_000, offset: 0 },
  { kind: "product", factors: [0, 2], stepsPerUnit: 60_000, offset: 0 },
];
const DESIGN = 1;

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

/** Returns maps with runs of cells that are dry, missing or wet on all maps, and cells that differ from their neighbors. */
function randomMaps(cellCount: number, type: Float32ArrayConstructor | Float64ArrayConstructor) {
  const random = randomFrom(23);
  const maps = RETURN_PERIODS.map(() => new type(cellCount));
  for (let first = 0; first < cellCount;) {
    const end = Math.min(cellCount, first + 1 + random.below(40));
    const kind = random.below(4);
    for (let cell = first; cell < end; cell++) {
      let value = kind === 0 ? 0 : kind === 1 ? NaN : 6 * random.next() ** 3;
      for (const map of maps) {
        map[cell] = kind === 3 && random.chance(0.05) ? NaN : kind === 3 && random.chance(0.1) ? -0 : value;
        if (kind >= 2) value += random.next() - 0.1 * value;
      }
    }
    first = end;
  }
  return maps as Float32Array[] | Float64Array[];
}

function compute(
  maps: Float32Array[] | Float64Array[],
  {
    rule = RULE,
    layers = LAYERS,
    flags,
  }: { rule?: CurveRule; layers?: readonly CurveLayer[]; flags?: Uint8Array } = {},
) {
  const steps = new Uint16Array((maps[0]?.length ?? 0) * layers.length).fill(7);
  return { steps, outcome: curveSteps(kernel, maps, rule, { layers, counted: DESIGN, flags, steps }) };
}

describe("curveSteps", () => {
  test.each([
    ["f32", Float32Array, RULE, LAYERS],
    ["f64", Float64Array, RULE, LAYERS],
    ["f32 of winds", Float32Array, { ...RULE, family: "log", unitFactor: 1 / 0.88 } as const, LAYERS],
    [
      "f32 with an offset",
      Float32Array,
      RULE,
      LAYERS.map((layer, index) => (index === DESIGN ? { ...layer, offset: -1 } : layer)),
    ],
  ])("matches the reference implementation on random cells: %s", (_, type, rule, layers) => {
    const cellCount = 20_003; // not a multiple of a vector
    const maps = randomMaps(cellCount, type);
    const flags = Uint8Array.from({ length: cellCount }, (_unused, cell) => (cell % 17 === 0 ? 1 : 0));
    const { steps, outcome } = compute(maps, { rule, layers, flags: flags.slice() });
    const expected = stepsByDefinition(maps, rule, { layers, counted: DESIGN, flags });
    const different = [...steps.keys()].filter((index) => steps[index] !== expected.steps[index]);
    expect(different).toEqual([]);
    if (outcome.kind !== "steps") throw new Error(`rejected: ${JSON.stringify(outcome)}`);
    expect(outcome.counts).toEqual(expected.counts);
    for (const count of [outcome.counts.nodata, outcome.counts.zero + 1, ...outcome.counts.flagged]) {
      expect(count).toBeGreaterThan(0);
    }
    for (const [layer, worst] of outcome.worst.entries()) expect(worst).toBeCloseTo(expected.worst[layer] ?? NaN, 9);
  });

  test.each([1, 2, 3, 4, 5, 7, 8, 9])("encodes %d cells that are all dry, or all missing", (cellCount) => {
    const filled = (value: number) => RETURN_PERIODS.map(() => new Float32Array(cellCount).fill(value));
    const dry = compute(filled(0));
    expect([...dry.steps]).toEqual(Array.from({ length: 4 * cellCount }, () => 0));
    expect(dry.outcome).toMatchObject({ counts: { nodata: 0, zero: cellCount, flagged: [0, 0, 0, 0] } });
    const missing = compute(filled(NaN));
    expect([...missing.steps]).toEqual(Array.from({ length: 4 * cellCount }, () => STEPS_NODATA));
    expect(missing.outcome).toMatchObject({ counts: { nodata: cellCount, zero: 0, flagged: [0, 0, 0, 0] } });
  });

  test.each([-1e-6, -Infinity, Infinity, 3.4028234663852886e38])(
    "reports %d, also in a cell that is missing on another map",
    (value) => {
      const maps = RETURN_PERIODS.map(() => new Float32Array(9));
      maps[0]?.fill(NaN, 7, 8);
      maps[3]?.fill(value, 7, 8);
      const { steps, outcome } = compute(maps);
      expect(outcome).toEqual({ kind: "bad-value" });
      expect(steps.every((step) => step === 7)).toBe(true);
    },
  );

  test("reports a value that no step can store, with its layer and cell", () => {
    const maps = RETURN_PERIODS.map(() => new Float32Array(9));
    for (const map of maps) map[6] = 65.75;
    expect(compute(maps).outcome).toEqual({ kind: "out-of-range", layer: DESIGN, cell: 6, value: 65.75 });
  });

  test("rejects a product of layers that do not precede it", () => {
    const maps = RETURN_PERIODS.map(() => new Float32Array(1));
    expect(() => compute(maps, { layers: LAYERS.toReversed() })).toThrow(RangeError);
  });
});
