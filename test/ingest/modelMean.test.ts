import { expect, test } from "vitest";
import { ModelMean } from "../../src/ingest/curve.ts";

test("ModelMean is NaN unless at least half of the models have data", () => {
  const meanOf = (modelCount: number, modelWithDataCount: number): readonly number[] => {
    const mean = new ModelMean({ modelCount, cellCount: 1 });
    for (let model = 0; model < modelCount; model++) {
      const hasData = model < modelWithDataCount;
      mean.add(0, Int32Array.of(0), {
        own: Float64Array.of(hasData ? model + 1 : NaN),
        probability: Float64Array.of(hasData ? 0.5 / (model + 1) : NaN),
      });
    }
    const { own, probability } = mean.result();
    return [...own, ...probability];
  };
  expect(meanOf(4, 2)).toEqual([1.5, 0.375]);
  expect(meanOf(4, 1)).toEqual([NaN, NaN]);
  expect(meanOf(5, 2)).toEqual([NaN, NaN]);
  expect(meanOf(5, 3)[0]).toBe(2);
  expect(meanOf(1, 0)).toEqual([NaN, NaN]);
  expect(meanOf(2, 1)).toEqual([1, 0.5]);
});
