import { expect, test } from "vitest";
import { ChunkPacer } from "../../../src/host/admission/chunkPacer.ts";

test("spreads the chunks of several bodies over the same time", () => {
  let nowMs = 1_000;
  const pacer = new ChunkPacer(() => nowMs);
  expect(pacer.delayMs(1_000)).toBeCloseTo(20);
  // Those of another body have their time afterwards.
  expect(pacer.delayMs(1_000)).toBeCloseTo(40);
  nowMs += 30;
  expect(pacer.delayMs(500)).toBeCloseTo(20);
});

test("gives no credit for time without chunks", () => {
  let nowMs = 0;
  const pacer = new ChunkPacer(() => nowMs);
  pacer.delayMs(1_000);
  nowMs += 60_000;
  expect(pacer.delayMs(1_000)).toBeCloseTo(20);
});
