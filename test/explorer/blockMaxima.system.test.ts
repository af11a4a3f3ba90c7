/** The map of an atlas with a pyramid: further out, pixels are the largest values of blocks of cells. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { scaleOf } from "../../src/explorer/map/legendModel.ts";
import { pixelColor, type PixelValue } from "../../src/explorer/map/paint.ts";
import type { Grid } from "../../src/kernel/grid.ts";
import { Kernel } from "../../src/kernel/instance.ts";
import type { TileAddress } from "../../src/tiles/mercator.ts";
import { FLOOD_LAYERS, makeAtlas, patchyCells } from "../atlas/makeAtlas.ts";
import { describeInChromium } from "../browser/chromium.ts";
import { type OracleLayer, valueTileByDefinition } from "../oracle/valueTile.ts";
import { closeExplorers } from "./explorerPage.ts";
import { depthText, drawn, expectValueAt, firstPixel, locate, openMap, readCanvases } from "./mapOnScreen.ts";

const NO_DATA = 65_535;
const OUTSIDE = 65_534;
/** The last blocks of its rows and columns are cut by the edge of the grid. */
const GRID: Grid = {
  northDeg: 20,
  westDeg: 40,
  cellSizeLatDeg: 0.02,
  cellSizeLonDeg: 0.02,
  rowCount: 700,
  columnCount: 715,
};
/** Intensity and depth. */
const LAYERS = FLOOD_LAYERS.slice(0, 2);
const LAYER = "hazard=riverine_floods&metric=depth_meters&scenario=rcp4p5&year=2030";
/** Native zoom is 7. Further out, the grid has fewer pixels. */
const ZOOMS = [
  { zoom: 6, blockSizeCells: 8, stepPx: { x: 37, y: 41 } },
  { zoom: 3, blockSizeCells: 64, stepPx: { x: 9, y: 9 } },
] as const;

describeInChromium("the map of an atlas with block maxima", () => {
  let folder: string;
  let layer: OracleLayer;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "isotherm-block-maxima-"));
    const cells = patchyCells(GRID, { layerCount: LAYERS.length, seed: 19 });
    const groups = [{ scenario: "rcp4p5", year: 2030, layers: LAYERS, cells }];
    await makeAtlas(await Kernel.load(), folder, [{ hazard: "riverine_floods", grid: GRID, groups }]);
    const groupCells = LAYERS.map((_, i) => cells.filter((__, at) => at % LAYERS.length === i));
    layer = { grid: GRID, groupCells, cells: groupCells[1] ?? new Uint16Array() };
  });
  afterAll(async () => {
    await closeExplorers();
    await rm(folder, { recursive: true, force: true });
  });

  /** Returns a reader of values by pixel, computed from the cells. */
  function expectedValues(): (address: TileAddress, index: number) => PixelValue {
    const tiles = new Map<string, Uint16Array>();
    return (address, index) => {
      const name = `${address.z}/${address.x}/${address.y}`;
      const steps = tiles.get(name) ?? valueTileByDefinition(layer, address);
      tiles.set(name, steps);
      const step = steps[index] ?? OUTSIDE;
      return step === NO_DATA ? "no_data" : step === OUTSIDE ? "outside" : step / 1000;
    };
  }

  const cases = ZOOMS.flatMap((zoom) => [false, true].map((published) => ({ ...zoom, published })));
  test.each(cases)(
    "at zoom $zoom, pixels, text and legend are those of blocks of $blockSizeCells cells (published: $published)",
    async ({ zoom, blockSizeCells, stepPx, published }) => {
      const { page, problems } = await openMap({
        atlas: folder,
        published,
        fragment: `${LAYER}&map=${zoom}/13/47`,
      });
      const valueAt = expectedValues();
      const rule = { scale: scaleOf("depth_meters", false), threshold: undefined };
      const shown = new Map<string, { readonly x: number; readonly y: number }>();
      let valueCount = 0;
      const first = await firstPixel(page);
      for (const { x, y, rgba } of await readCanvases(page, stepPx)) {
        const { address, index } = locate(first, { x, y });
        const value = valueAt(address, index);
        const expected = pixelColor(value, index, rule);
        // A canvas stores premultiplied colors, so that those of translucent pixels are rounded.
        if (expected[3] === 255 || expected[3] === 0) expect(rgba, `${x}, ${y}`).toStrictEqual([...expected]);
        else expect(rgba[3], `${x}, ${y}`).toBe(expected[3]);
        if (typeof value === "number" && value > 0) valueCount += 1;
        const text =
          typeof value === "number"
            ? `${depthText(value)} (maximum, ${blockSizeCells} × ${blockSizeCells} cells)`
            : depthText(value);
        shown.set(text, { x, y });
      }
      expect(valueCount).toBeGreaterThan(5);
      for (const [text, position] of [...shown].slice(0, 8)) await expectValueAt(page, position, text);
      const legend = page.getByRole("region", { name: "Legend" });
      await expect
        .poll(() => legend.innerText())
        .toContain(
          `every pixel shows the largest value in a block of ${blockSizeCells} × ${blockSizeCells} cells. Zoom in to see cells.`,
        );
      expect(problems).toStrictEqual([]);
    },
  );

  test("the legend follows the zoom from blocks to cells", async () => {
    const { page } = await openMap({ atlas: folder, fragment: `${LAYER}&map=6/13/47` });
    const legend = page.getByRole("region", { name: "Legend" });
    await expect.poll(() => legend.innerText()).toContain("a block of 8 × 8 cells");
    await page.getByRole("button", { name: "Zoom in" }).click();
    await drawn(page);
    await expect.poll(() => legend.innerText()).toContain("Every pixel shows one cell.");
    expect(await legend.innerText()).not.toContain("block");
  });
});
