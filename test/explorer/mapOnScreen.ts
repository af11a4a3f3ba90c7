/** The map of the explorer as a user sees it: its pixels, the value under the cursor and the position in the permalink. */
import type { Page } from "playwright-core";
import { expect, onTestFinished } from "vitest";
import type { PixelValue } from "../../src/explorer/map/paint.ts";
import {
  type MapPixel,
  pixelOfLatitude,
  pixelOfLongitude,
  type TileAddress,
  tileOfPixel,
} from "../../src/tiles/mercator.ts";
import { decodeValueTile, type ValueTile } from "../../src/tiles/valueTile.ts";
import { type ExplorerOptions, type OpenedExplorer, openExplorer } from "./explorerPage.ts";

export interface PositionInMap {
  /** CSS pixels from the upper left corner of the map. */
  readonly x: number;
  readonly y: number;
}

export interface PixelOnScreen extends PositionInMap {
  readonly rgba: readonly number[];
}

/** Opens a page for the duration of a test, and waits until it has drawn the map. */
export async function openMap(options: ExplorerOptions = {}): Promise<OpenedExplorer> {
  const explorer = await openExplorer(options);
  onTestFinished(() => explorer.close());
  await drawn(explorer.page);
  return explorer;
}

/** Waits until the map has drawn the values of the present choice. */
export async function drawn(page: Page): Promise<void> {
  await page.locator(".map-container[aria-busy='false']").waitFor();
}

/** Returns the parameters of the address. The page can write changes of the map and of sliders up to 200 ms later. */
export function fragmentOf(page: Page): URLSearchParams {
  return new URLSearchParams(new URL(page.url()).hash.slice(1));
}

/** As `fragmentOf`, after the page has written its address as it does when the tab is hidden. */
export async function writtenFragment(page: Page): Promise<URLSearchParams> {
  const hash = await page.evaluate(() => {
    document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
    return window.location.hash;
  });
  return new URLSearchParams(hash.slice(1));
}

/** Moves the cursor to a position in the map, and expects the value below the map. */
export async function expectValueAt(page: Page, { x, y }: PositionInMap, value: string): Promise<void> {
  const box = await page.locator(".map-container").boundingBox();
  if (box === null) throw new Error("the map must be visible");
  await page.mouse.move(box.x + x, box.y + y);
  await expect
    .poll(() => page.locator(".readout strong").allInnerTexts(), { message: `${x}, ${y}` })
    .toStrictEqual([value]);
}

/** Returns a flood depth as the page shows it. */
export function depthText(value: PixelValue): string {
  if (typeof value === "number") return value === 0 ? "0 m" : `${value.toFixed(2)} m`;
  return value === "no_data" ? "no data in the source" : "outside the map";
}

/** Reads colors from the canvases of the values, at positions in the map that are `stepPx` apart. */
export async function readCanvases(
  page: Page,
  stepPx: PositionInMap = { x: 37, y: 41 },
): Promise<readonly PixelOnScreen[]> {
  return page.evaluate((step) => {
    const map = document.querySelector(".map-container")?.getBoundingClientRect();
    if (map === undefined) throw new Error("there is no map");
    const canvases = [...document.querySelectorAll<HTMLCanvasElement>(".leaflet-values-pane canvas")];
    const pixels: PixelOnScreen[] = [];
    for (let x = 80; x < map.width - 20; x += step.x) {
      for (let y = 20; y < map.height - 20; y += step.y) {
        const [left, top] = [Math.floor(map.left + x) + 0.5, Math.floor(map.top + y) + 0.5];
        for (const canvas of canvases) {
          const box = canvas.getBoundingClientRect();
          if (left < box.left || left >= box.right || top < box.top || top >= box.bottom) continue;
          const image = canvas.getContext("2d")?.getImageData(left - box.left, top - box.top, 1, 1).data ?? [];
          pixels.push({ x: left - map.left, y: top - map.top, rgba: [...image] });
        }
      }
    }
    return pixels;
  }, stepPx);
}

/** Requests tiles as the page of a service does. */
export function tileReader({ url, credentials }: OpenedExplorer, layer: string) {
  const tiles = new Map<string, Promise<ValueTile>>();
  const load = async (path: string): Promise<ValueTile> => {
    const response = await fetch(`${url}api/v1/tiles/${layer}/${path}.bin`, {
      headers: { "X-API-Key": credentials?.api_key ?? "" },
    });
    expect(response.status).toBe(200);
    return decodeValueTile(new Uint8Array(await response.arrayBuffer()));
  };
  return ({ z, x, y }: TileAddress): Promise<ValueTile> => {
    const path = `${z}/${x}/${y}`;
    const tile = tiles.get(path) ?? load(path);
    tiles.set(path, tile);
    return tile;
  };
}

/** Returns the pixel of the world at the upper left corner of the map, from the center that the permalink states. */
export async function firstPixel(page: Page): Promise<MapPixel> {
  const [z = 0, latitude = 0, longitude = 0] = ((await writtenFragment(page)).get("map") ?? "").split("/").map(Number);
  const [width, height] = await page.locator(".map-container").evaluate((map) => [map.clientWidth, map.clientHeight]);
  // Leaflet places the upper left corner at a whole pixel.
  return {
    z,
    column: Math.round(pixelOfLongitude(z, longitude) - width / 2),
    row: Math.round(pixelOfLatitude(z, latitude) - height / 2),
  };
}

/** Returns the tile at a position in the map, and the index of the pixel in it. @param first the result of `firstPixel` */
export function locate(
  { z, column, row }: MapPixel,
  { x, y }: PositionInMap,
): { readonly address: TileAddress; readonly index: number } {
  return tileOfPixel({ z, column: Math.floor(column + x), row: Math.floor(row + y) });
}
