import { expect, test } from "vitest";
import { scoreShapeOf } from "../../../src/hazard/scoring/scoreRequest.ts";
import { ScoreBuffers } from "../../../src/places/scores/scoreBlocks.ts";

const SHAPE = scoreShapeOf([
  { hazard: "wildfire", scenario: "rcp8p5", analysisYear: 2050, metrics: ["intensity", "fire_danger_days"] },
]);

test("memory is used again after all blocks of a window are released", () => {
  const buffers = new ScoreBuffers(SHAPE);
  const first = buffers.take(100, 2);
  expect(first.scores.values).toHaveLength(200);
  const { buffer } = first.scores.values;
  expect(buffer).toBeInstanceOf(SharedArrayBuffer);
  first.release();
  const second = buffers.take(100, 1);
  expect(second.scores.values.buffer).not.toBe(buffer);
  first.release();
  const third = buffers.take(60, 1);
  expect(third.scores.values.buffer).toBe(buffer);
  expect(third.scores.values).toHaveLength(120);
  expect(third.scores.bounds).toHaveLength(60);
});

test("memory that is too small is not used", () => {
  const buffers = new ScoreBuffers(SHAPE);
  const small = buffers.take(10, 1);
  small.release();
  const large = buffers.take(20, 1);
  expect(large.scores.values).toHaveLength(40);
  expect(large.scores.values.buffer).not.toBe(small.scores.values.buffer);
});
