import { describe, expect, test } from "vitest";
import type { Atlas } from "../../../src/hazard/answer.ts";
import {
  scoreArrays,
  type ScoreGroup,
  type ScoreRequest,
  type ScoreResult,
  scoreShapeOf,
  type ScoringAtlas,
} from "../../../src/hazard/scoring/scoreRequest.ts";
import { type PlaceBlock, ROWS_PER_BLOCK } from "../../../src/places/scores/placeBlock.ts";
import { scoreBlocks } from "../../../src/places/scores/scoreBlocks.ts";
import type { ScorePlan } from "../../../src/places/scores/scorePlan.ts";

const group = (analysisYear: number): ScoreGroup => ({
  hazard: "wildfire",
  scenario: "rcp8p5",
  analysisYear,
  metrics: ["intensity", "fire_danger_days"],
});
const WIDE = Array.from({ length: 600 }, () => group(2050));
/** Every block is a window. */
const SINGLE_BLOCKS = { windowBytesMax: 1 };
const planOf = (groups: readonly ScoreGroup[], radiusKm?: number): ScorePlan => ({
  groups,
  method: "mean",
  anthropogenic: true,
  radiusKm,
  omissions: [],
});

/** An atlas whose values are the latitudes of the places, and its requests. */
function fakeAtlas(delay: (request: ScoreRequest) => Promise<void> = () => Promise.resolve()) {
  const requests: ScoreRequest[] = [];
  const score = async (request: ScoreRequest): Promise<ScoreResult> => {
    requests.push(request);
    await delay(request);
    request.signal?.throwIfAborted();
    const shape = scoreShapeOf(request.groups);
    const scores = scoreArrays(shape, request.latitudes.length);
    for (const [place, latitude] of request.latitudes.entries()) {
      scores.values.fill(latitude, place * shape.columnCount, (place + 1) * shape.columnCount);
    }
    return scores;
  };
  return { atlas: { score } as unknown as Atlas & ScoringAtlas, requests };
}

function block(index: number, rowCount: number): PlaceBlock {
  const numbers = (first: number) => Float64Array.from({ length: rowCount }, (_, i) => first + i);
  return {
    index,
    firstRow: index * ROWS_PER_BLOCK,
    rowCount,
    latitudes: numbers(index * 1000),
    longitudes: numbers(-index),
    radiiKm: new Float64Array(rowCount).fill(index),
    errors: new Map(),
    kept: [],
  };
}

/** Yields blocks and records how many were pulled, and whether the source was closed. */
function sourceOf(count: number, rowCount = 3) {
  const state = { pulledCount: 0, isClosed: false };
  async function* blocks(): AsyncGenerator<PlaceBlock> {
    try {
      for (let index = 0; index < count; index++) {
        state.pulledCount++;
        yield block(index, rowCount);
      }
    } finally {
      state.isClosed = true;
    }
  }
  return { blocks: blocks(), state };
}

describe("scoreBlocks", () => {
  test.each([
    ["one group", [group(2050)], 7],
    ["many groups", WIDE, 36],
  ])("returns each block with its scores, in order, with %s", async (_, groups, windowCount) => {
    // Every other request takes several turns of the event loop, so that later requests end first.
    const { atlas, requests } = fakeAtlas(async () => {
      const turnCount = requests.length % 2 === 1 ? 5 : 0;
      for (let turn = 0; turn < turnCount; turn++) await new Promise((resolve) => setImmediate(resolve));
    });
    const { blocks } = sourceOf(70);
    let index = 0;
    for await (const { places, scores } of scoreBlocks(atlas, blocks, {
      plan: planOf(groups),
      windowBytesMax: 100_000,
    })) {
      expect(places.index).toBe(index++);
      expect(scores.values.length).toBe(3 * groups.length * 2);
      expect(scores.statuses.length).toBe(3 * groups.length * 2);
      expect(Array.from({ length: 3 }, (_unused, i) => scores.values[i * groups.length * 2])).toEqual([
        ...places.latitudes,
      ]);
    }
    expect(index).toBe(70);
    expect(requests.length).toBe(windowCount);
    expect(requests[0]).toMatchObject({ groups, method: "mean", anthropogenic: true });
  });

  test("uses the radius of the plan, or else that of each place", async () => {
    for (const [radiusKm, expected] of [
      [7, [7, 7, 7, 7, 7, 7]],
      [undefined, [0, 0, 1, 1, 2, 2]],
    ] as const) {
      const { atlas, requests } = fakeAtlas();
      const blocks = [block(0, 2), block(1, 2), block(2, 2)];
      for await (const scored of scoreBlocks(atlas, blocks, { plan: planOf([group(2050)], radiusKm) })) {
        expect(blocks).toContain(scored.places);
      }
      expect(requests.flatMap(({ radiiKm }) => [...radiiKm])).toEqual(expected);
      expect(requests.flatMap(({ longitudes }) => [...longitudes])).toEqual([0, 1, -1, 0, -2, -1]);
      expect(requests).toHaveLength(2);
    }
  });

  test("reads two windows ahead of the caller at most, and closes its source if the caller stops", async () => {
    const { atlas, requests } = fakeAtlas();
    const { blocks, state } = sourceOf(1000);
    let count = 0;
    for await (const scored of scoreBlocks(atlas, blocks, { plan: planOf(WIDE), ...SINGLE_BLOCKS })) {
      expect(scored.places.index).toBe(count);
      expect(state.pulledCount).toBeLessThanOrEqual(++count + 1);
      if (count === 5) break;
    }
    expect(state).toEqual({ pulledCount: 6, isClosed: true });
    expect(requests[5]?.signal?.aborted).toBe(true);
  });

  test("computes few blocks first, then more together, and fewer of them if many or long values are kept", async () => {
    const sizesOf = async (keptCount: number, text = "text"): Promise<readonly number[]> => {
      const { atlas, requests } = fakeAtlas();
      const blocks = Array.from({ length: 40 }, (_, index) => ({
        ...block(index, 1),
        kept: Array.from({ length: keptCount }, () => [text]),
      }));
      const options = { plan: planOf([group(2050)]), windowBytesMax: 20_000 };
      for await (const scored of scoreBlocks(atlas, blocks, options)) {
        expect(scored.places.kept).toHaveLength(keptCount);
      }
      return requests.map(({ latitudes }) => latitudes.length);
    };
    expect(await sizesOf(1)).toEqual([1, 2, 4, 8, 16, 9]);
    expect(await sizesOf(1000)).toEqual(Array.from({ length: 40 }, () => 1));
    expect((await sizesOf(100)).slice(0, 4)).toEqual([1, 2, 4, 4]);
    expect((await sizesOf(1, "x".repeat(2000))).slice(0, 4)).toEqual([1, 2, 4, 4]);
    expect(await sizesOf(1, "x".repeat(20_000))).toEqual(Array.from({ length: 40 }, () => 1));
  });

  test("computes long texts in several windows by default", async () => {
    const { atlas, requests } = fakeAtlas();
    const long = "x".repeat(12 << 20);
    const blocks = Array.from({ length: 9 }, (_, index) => ({ ...block(index, 1), kept: [[long]] }));
    for await (const scored of scoreBlocks(atlas, blocks, { plan: planOf([group(2050)]) })) {
      expect(scored.places.kept[0]?.[0]).toBe(long);
    }
    expect(requests.map(({ latitudes }) => latitudes.length)).toEqual([1, 2, 2, 2, 2]);
  });

  test("stops with the reason of the signal", async () => {
    const stop = new AbortController();
    const { atlas } = fakeAtlas();
    const { blocks, state } = sourceOf(1000);
    const scored = scoreBlocks(atlas, blocks, { plan: planOf(WIDE), signal: stop.signal, ...SINGLE_BLOCKS });
    await scored.next();
    stop.abort(new Error("enough"));
    await expect(scored.next()).rejects.toThrow("enough");
    expect(state.isClosed).toBe(true);
  });

  test("stops with the error of the atlas or of the source", async () => {
    const { atlas } = fakeAtlas(() => Promise.reject(new Error("no tiles")));
    const { blocks, state } = sourceOf(1000);
    await expect(scoreBlocks(atlas, blocks, { plan: planOf(WIDE) }).next()).rejects.toThrow("no tiles");
    expect(state.isClosed).toBe(true);
    const unreadable = {
      *[Symbol.iterator](): Generator<PlaceBlock> {
        yield block(0, 3);
        throw new Error("row 8,193");
      },
    };
    const scored = scoreBlocks(fakeAtlas().atlas, unreadable, { plan: planOf(WIDE), ...SINGLE_BLOCKS });
    await expect(scored.next()).rejects.toThrow("row 8,193");
  });

  test("rejects an atlas that cannot score", async () => {
    const scored = scoreBlocks({} as Atlas, [block(0, 1)], { plan: planOf(WIDE) });
    await expect(scored.next()).rejects.toMatchObject({ code: "configuration_invalid" });
  });
});
