import { describe, expect, test } from "vitest";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import { circleByBisection, summarizeByDefinition } from "../oracle/radius.ts";
import { randomFrom } from "../seededRandom.ts";
import { FLOOD_LAYERS, makeAtlas } from "./makeAtlas.ts";
import { closeSamplersAfterEach, layersOf, openSampler } from "./openSampler.ts";

closeSamplersAfterEach();

describe("a cold maximum of 100 km on 100 x 100 tiles", () => {
  const EDGE = 6400;
  const LARGE: Grid = {
    northDeg: 60,
    westDeg: -20,
    cellSizeLatDeg: 1 / 120,
    cellSizeLonDeg: 1 / 120,
    rowCount: EDGE,
    columnCount: EDGE,
  };

  test("reads at most two tiles of cells on average if values cluster like floods", async () => {
    const large = await mkdtemp(join(tmpdir(), "isotherm-test-"));
    try {
      const layers = FLOOD_LAYERS.slice(1, 2);
      const cells = clusteredCells(EDGE);
      await makeAtlas(await Kernel.load(), large, [
        { hazard: "riverine_floods", grid: LARGE, groups: [{ scenario: "baseline", year: 1980, layers, cells }] },
      ]);
      const random = randomFrom(8);
      const counts: number[] = [];
      for (let i = 0; i < 40; i++) {
        const latDeg = random.between({ min: 8, max: 59 });
        const lonDeg = random.between({ min: -18, max: 31 });
        const { sampler, blobs } = await openSampler({ from: large, cacheBytes: 8 << 20 });
        const circle = { latDeg, lonDeg, radiusM: 100_000 };
        const { values } = await sampler.sampleCircle(layersOf(sampler, [0]), circle, { method: "max", shares: false });
        counts.push(blobs.countAndReset(".tiles").count);
        if (i % 10 > 0) continue;
        const inside = circleByBisection(LARGE, circle);
        const { maxSteps } = summarizeByDefinition(
          LARGE,
          inside,
          ({ row, column }) => cells[row * EDGE + column] ?? 65_534,
        );
        expect(values[0]?.steps).toBe(maxSteps);
      }
      const average = counts.reduce((sum, count) => sum + count, 0) / counts.length;
      console.info(`cold maximum: ${average} tiles of cells on average, maximum ${Math.max(...counts)}`);
      expect(average).toBeLessThanOrEqual(2);
      expect(average).toBeGreaterThan(0.2);
    } finally {
      await rm(large, { recursive: true, force: true });
    }
  });
});

/** Returns depths along winding bands with zero between them, like a flood map seen at a small scale. */
function clusteredCells(edge: number): Uint16Array {
  const random = randomFrom(9);
  const lattices = [200, 25].map((size) => {
    const width = Math.ceil(edge / size) + 2;
    return { size, width, nodes: Float32Array.from({ length: width * width }, () => random.next()) };
  });
  const heightAt = ({ size, width, nodes }: (typeof lattices)[number], row: number, column: number): number => {
    const [y, x] = [row / size, column / size];
    const [top, west] = [Math.floor(y), Math.floor(x)];
    const from = top * width + west;
    const [a = 0, b = 0, c = 0, d = 0] = [nodes[from], nodes[from + 1], nodes[from + width], nodes[from + width + 1]];
    const [down, right] = [y - top, x - west];
    return (a + (b - a) * right) * (1 - down) + (c + (d - c) * right) * down;
  };
  const [broad, fine] = lattices;
  const cells = new Uint16Array(edge * edge);
  if (broad === undefined || fine === undefined) return cells;
  for (let row = 0; row < edge; row++) {
    for (let column = 0; column < edge; column++) {
      const band = 1 - Math.abs(heightAt(broad, row, column) - 0.5) * 40;
      if (band > 0) cells[row * edge + column] = Math.floor(band * (1 + 9 * heightAt(fine, row, column) ** 3) * 1000);
    }
  }
  return cells;
}
