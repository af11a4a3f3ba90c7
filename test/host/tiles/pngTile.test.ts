import { describe, expect, test } from "vitest";
import { METRIC_NAMES } from "../../../src/contract/names.ts";
import { encodePngTile } from "../../../src/host/tiles/pngTile.ts";
import {
  colorOf,
  colorScaleOf,
  isHatchLine,
  NO_DATA_COLOR,
  NO_DATA_LINE_COLOR,
} from "../../../src/tiles/colorScales.ts";
import { STEP_NO_DATA, STEP_OUTSIDE, valueOfStep, type ValueTile } from "../../../src/tiles/valueTile.ts";
import { decodePng } from "../decodePng.ts";

const newTile = (members: Partial<ValueTile> = {}): ValueTile => ({
  stepsPerUnit: 1000,
  offset: 0,
  isBlockMaximum: false,
  blockSizeCells: 1,
  steps: Uint16Array.from({ length: 65_536 }, (_, step) => step),
  ...members,
});

describe("images of map tiles", () => {
  test.each([
    ...METRIC_NAMES.map((metric) => ({ metric, offset: 0 })),
    { metric: "depth_meters" as const, offset: -0.5 },
  ])("have the color of every step of $metric with offset $offset", async ({ metric, offset }) => {
    const tile = newTile({ stepsPerUnit: metric === "depth_meters" ? 1000 : 60_000, offset });
    const scale = colorScaleOf(metric);
    const image = decodePng(await encodePngTile(tile, scale));
    const differing: number[] = [];
    for (let step = 0; step < STEP_OUTSIDE; step++) {
      const color = colorOf(scale, valueOfStep(tile, step) ?? NaN);
      if (image.colorAt(step & 255, step >> 8).join() !== color.join()) differing.push(step);
    }
    expect(differing).toEqual([]);
    expect(image.colorAt(254, 255)).toEqual([0, 0, 0, 0]);
  });

  test("hatch missing values", async () => {
    const image = decodePng(
      await encodePngTile(newTile({ steps: new Uint16Array(65_536).fill(STEP_NO_DATA) }), colorScaleOf("intensity")),
    );
    for (let column = 0; column < 16; column++) {
      expect(image.colorAt(column, 3)).toEqual(isHatchLine(column, 3) ? NO_DATA_LINE_COLOR : NO_DATA_COLOR);
    }
  });

  test("have one color and less than 250 bytes if the whole tile is outside", async () => {
    const tile = newTile({ steps: new Uint16Array(65_536).fill(STEP_OUTSIDE) });
    const bytes = await encodePngTile(tile, colorScaleOf("intensity"));
    expect(bytes.length).toBeLessThan(250);
    const image = decodePng(bytes);
    expect([image.width, image.height]).toEqual([256, 256]);
    expect([image.colorAt(0, 0), image.colorAt(255, 255)]).toEqual([
      [0, 0, 0, 0],
      [0, 0, 0, 0],
    ]);
  });
});
