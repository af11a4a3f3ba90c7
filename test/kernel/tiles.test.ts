import { beforeAll, describe, expect, test } from "vitest";
import { LANES, tileBytes } from "../../src/kernel/field.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { STEPS_MAX, STEPS_NODATA, STEPS_OUTSIDE } from "../../src/kernel/kernel.generated.ts";
import { copyToLanes, prefixTile } from "../../src/kernel/tiles.ts";
import { randomFrom } from "../seededRandom.ts";

let kernel: Kernel;
beforeAll(async () => {
  kernel = await Kernel.load();
});

describe("copyToLanes", () => {
  for (const { name, kind } of [
    { name: "16 bits", kind: Uint16Array },
    { name: "32 bits", kind: Uint32Array },
  ]) {
    test(`copies each layer to its lane and leaves the other lanes unchanged: ${name}`, () => {
      const random = randomFrom(1);
      for (const lanes of [[0], [7], [-1, 3], [5, -1, 0, 8], [-1, -1], [20, 19, 18, 17, 16, 15, 14]]) {
        const [count, laneCount] = [37, 24];
        const source = new kind(count * lanes.length);
        for (let i = 0; i < source.length; i++) source[i] = random.below(2 ** (8 * kind.BYTES_PER_ELEMENT));
        const initial = new kind(count * laneCount);
        for (let i = 0; i < initial.length; i++) initial[i] = i;
        const region = kernel.reserve(initial.byteLength);
        kernel.bytes(region).set(new Uint8Array(initial.buffer));
        copyToLanes(kernel, source, Int32Array.from(lanes), { region, laneCount });
        const expected = initial.slice();
        for (let i = 0; i < count; i++) {
          for (const [layer, lane] of lanes.entries()) {
            if (lane >= 0) expected[i * laneCount + lane] = source[i * lanes.length + layer] ?? 0;
          }
        }
        expect(new kind(kernel.bytes(region).slice().buffer)).toEqual(expected);
      }
    });
  }
});

describe("prefixTile", () => {
  for (const vectorCount of [1, 2, 3]) {
    test(`counts and sums the valid cells before each column: ${vectorCount} x 8 lanes`, () => {
      const random = randomFrom(vectorCount);
      const laneCount = vectorCount * LANES;
      const cells = kernel.reserve(tileBytes("cells", vectorCount));
      const prefixes = kernel.reserve(tileBytes("prefixes", vectorCount) + 64);
      const [tile, out] = [kernel.u16(cells), kernel.i32(prefixes)];
      const kinds = [0, 1, STEPS_MAX - 1, STEPS_MAX, STEPS_OUTSIDE, STEPS_NODATA];
      for (let i = 0; i < tile.length; i++) {
        // All cells of the first lane are at the largest step, which gives the largest sum.
        tile[i] = i % laneCount === 0 ? STEPS_MAX : random.chance(0.5) ? random.pick(kinds) : random.below(65_536);
      }
      out.fill(-1);
      prefixTile(kernel, { cellsPointer: cells.pointer, prefixesPointer: prefixes.pointer, vectorCount });
      const wrong: unknown[] = [];
      for (let row = 0; row < 64; row++) {
        for (let lane = 0; lane < laneCount; lane++) {
          let [count, sum] = [0, 0];
          for (let column = 0; column <= 64; column++) {
            const found = (out[(row * 65 + column) * laneCount + lane] ?? 0) >>> 0;
            if (found !== count * 2 ** 22 + sum) wrong.push({ row, lane, column, found, count, sum });
            const steps = column < 64 ? (tile[(row * 64 + column) * laneCount + lane] ?? 0) : STEPS_NODATA;
            if (steps <= STEPS_MAX) [count, sum] = [count + 1, sum + steps];
          }
        }
      }
      expect(wrong.slice(0, 3)).toEqual([]);
      expect(out.subarray(64 * 65 * laneCount).every((word) => word === -1)).toBe(true);
    });
  }
});
