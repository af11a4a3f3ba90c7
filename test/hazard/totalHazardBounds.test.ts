import { expect, test } from "vitest";
import { boundsOf, type PlannedSide, probabilityLimitsOf } from "../../src/hazard/bounds.ts";
import type { PlannedLayer, SampledSteps } from "../../src/hazard/sampledLayers.ts";

const layer = (position: number): PlannedLayer =>
  ({ position, entry: { steps_per_unit: 1000, offset: 0 } }) as unknown as PlannedLayer;

/** Layers at three positions from `first` on: probability, intensity and total_hazard. */
function side(first: number): PlannedSide {
  const probability = layer(first);
  const limits = probabilityLimitsOf(probability, [2, 100]);
  return { probability, limits, isModelMean: false, intensity: layer(first + 1), total: layer(first + 2) };
}

const sampledOf = (...steps: readonly (number | undefined)[]): SampledSteps =>
  ({ stepsOf: (position: number) => steps[position] }) as unknown as SampledSteps;

test.each([
  ["of the largest intensity", 500, { bound: "at_most", limit: 0.005 }],
  ["unknown where the atlas has no intensity", undefined, { bound: "indeterminate" }],
])("the limit of total_hazard is %s", (_what, intensity, total_hazard) => {
  expect(boundsOf({ own: side(0), reference: undefined }, sampledOf(0, intensity, 0), false)).toStrictEqual({
    probability: { bound: "at_most", limit: 0.01 },
    total_hazard,
  });
});

test.each([
  ["of the largest intensities", 500, { bound: "at_least", limit: 0.095 }],
  ["unknown where the atlas has no intensity", undefined, { bound: "indeterminate" }],
])("the limit of a change of total_hazard is %s", (_what, intensity, total_hazard) => {
  const sampled = sampledOf(200, 600, 100, 0, intensity, 0);
  expect(boundsOf({ own: side(0), reference: side(3) }, sampled, false)).toStrictEqual({
    probability: { bound: "at_least", limit: 0.19 },
    total_hazard,
  });
});

test("a mean is at least 1/T only if it differs from it by no more than rounding", () => {
  const boundsAt = (steps: number) => boundsOf({ own: side(0), reference: undefined }, sampledOf(steps), true);
  const atLeast = { probability: { bound: "at_least", limit: 0.5 } };
  expect([500, 500 * (1 + 1e-13), 500 * (1 - 1e-13)].map(boundsAt)).toEqual([atLeast, atLeast, atLeast]);
  // One cell of 100,000 without a bound.
  expect([500 * (1 - 1e-5), 500 * (1 - 1e-8), 500 * (1 + 1e-8)].map(boundsAt)).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
