/** Which pixel the cursor points at, compared with a picture of the screen. */
import { PNG } from "pngjs";
import { afterAll, expect, test } from "vitest";
import { scaleOf } from "../../src/explorer/map/legendModel.ts";
import { pixelColor, pixelValue } from "../../src/explorer/map/paint.ts";
import { type MapPixel, tileOfPixel } from "../../src/tiles/mercator.ts";
import { describeInChromium } from "../browser/chromium.ts";
import { closeExplorers } from "./explorerPage.ts";
import { depthText, drawn, firstPixel, fragmentOf, openMap, tileReader } from "./mapOnScreen.ts";

/** A coast at a zoom at which a cell has 12 pixels. */
const COAST = "hazard=coastal_floods&metric=depth_meters&scenario=rcp8p5&year=2050&map=11/52.5/4.8";
const RULE = { scale: scaleOf("depth_meters", false), threshold: undefined };
/** Levels by which a component of a color on the screen may differ. */
const COLOR_TOLERANCE = 2;
const EDGE_COUNT = 3;

interface ShownPixel {
  readonly text: string;
  readonly color: readonly number[];
}

type Axis = "x" | "y";

/** Returns whether the screen can tell two pixels apart. */
function differ(one: ShownPixel, other: ShownPixel): boolean {
  const distance = Math.max(...one.color.map((level, i) => Math.abs(level - (other.color[i] ?? 0))));
  return one.color[3] === 255 && other.color[3] === 255 && one.text !== other.text && distance > 3 * COLOR_TOLERANCE;
}

describeInChromium("the value under the cursor", () => {
  afterAll(closeExplorers);

  test.each([0, 0.25, 0.5, 0.75])(
    "is that of the pixel on the screen, if the map begins %f pixels beside one",
    async (px) => {
      const explorer = await openMap({ fragment: COAST });
      const { page } = explorer;
      const frame = page.locator(".map-frame");
      await frame.evaluate((element, margin) => {
        (element as HTMLElement).style.margin = `${margin}px 0 0 ${margin}px`;
      }, px);
      await drawn(page);
      const box = await page.locator(".map-container").boundingBox();
      if (box === null) throw new Error("the map must be visible");
      expect([box.x % 1, box.y % 1].some((part) => Math.abs(part - px) < 0.02)).toBe(true);
      const first = await firstPixel(page);
      const readTile = tileReader(explorer, "coastal_floods/rcp8p5/2050/depth_meters");
      const shownAt = async (pixel: MapPixel): Promise<ShownPixel> => {
        const { address, index } = tileOfPixel(pixel);
        const value = pixelValue({ tile: await readTile(address), other: undefined }, index);
        return { text: depthText(value), color: pixelColor(value, index, RULE) };
      };
      const screen = PNG.sync.read(await page.screenshot());
      const isOnScreen = (x: number, y: number, { color }: ShownPixel): boolean =>
        [0, 1, 2].every(
          (i) => Math.abs((screen.data[4 * (y * screen.width + x) + i] ?? 0) - (color[i] ?? 0)) <= COLOR_TOLERANCE,
        );

      /** Points at both sides of the edges between cells along an axis. Returns how many edges were found. */
      const checkEdges = async (axis: Axis): Promise<number> => {
        let count = 0;
        for (let across = 60; across < 500 && count < EDGE_COUNT; across += 31) {
          for (let along = 60; along < 500 && count < EDGE_COUNT; along++) {
            const [dx, dy] = axis === "x" ? [along, across] : [across, along];
            const pixel = { ...first, column: first.column + dx, row: first.row + dy };
            const next = { ...pixel, ...(axis === "x" ? { column: pixel.column + 1 } : { row: pixel.row + 1 }) };
            const [before, after] = [await shownAt(pixel), await shownAt(next)];
            if (!differ(before, after)) continue;
            // The edge is within two pixels of where the permalink places it.
            for (let shift = -2; shift <= 2; shift++) {
              const x = Math.round(box.x) + dx + (axis === "x" ? shift : 0);
              const y = Math.round(box.y) + dy + (axis === "y" ? shift : 0);
              const [nextX, nextY] = axis === "x" ? [x + 1, y] : [x, y + 1];
              if (!isOnScreen(x, y, before) || !isOnScreen(nextX, nextY, after)) continue;
              await expectTextAt(x, y, before);
              await expectTextAt(nextX, nextY, after);
              count += 1;
              break;
            }
          }
        }
        return count;
      };
      const expectTextAt = async (x: number, y: number, { text }: ShownPixel): Promise<void> => {
        await page.mouse.move(x, y);
        await expect
          .poll(() => page.locator(".readout strong").allInnerTexts(), { message: `${x}, ${y}` })
          .toStrictEqual([text]);
      };
      expect(await checkEdges("x")).toBe(EDGE_COUNT);
      expect(await checkEdges("y")).toBe(EDGE_COUNT);
      expect(explorer.problems).toStrictEqual([]);
    },
  );

  test("is read again when the map is zoomed below it", async () => {
    const explorer = await openMap({ fragment: COAST.replace("11/", "9/") });
    const { page } = explorer;
    const box = await page.locator(".map-container").boundingBox();
    const [x, y] = [Math.round((box?.x ?? 0) + 300), Math.round((box?.y ?? 0) + 200)];
    await page.mouse.move(x, y);
    const location = page.locator(".readout span");
    const before = await location.innerText();
    await page.getByRole("button", { name: "Zoom in" }).evaluate((button: HTMLElement) => button.click());
    await expect.poll(() => fragmentOf(page).get("map")).toMatch(/^10\//);
    // Zooming keeps the center, so that another place is below the cursor.
    await expect.poll(() => location.innerText()).not.toBe(before);
    const first = await firstPixel(page);
    const readTile = tileReader(explorer, "coastal_floods/rcp8p5/2050/depth_meters");
    const { address, index } = tileOfPixel({
      ...first,
      column: first.column + x - Math.round(box?.x ?? 0),
      row: first.row + y - Math.round(box?.y ?? 0),
    });
    const text = depthText(pixelValue({ tile: await readTile(address), other: undefined }, index));
    await expect.poll(() => page.locator(".readout strong").innerText()).toBe(text);
  });
});
