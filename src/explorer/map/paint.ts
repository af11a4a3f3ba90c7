/** Colors of the pixels of value tiles, and their values. Map and text use the same functions, so that they agree. */
import {
  type ColorScale,
  colorOf,
  isHatchLine,
  NO_DATA_COLOR,
  NO_DATA_LINE_COLOR,
  type Rgba,
} from "../../tiles/colorScales.ts";
import { TILE_PIXELS } from "../../tiles/mercator.ts";
import { STEP_NO_DATA, STEP_OUTSIDE, type ValueTile, valueOfStep } from "../../tiles/valueTile.ts";

/** The tile that is drawn, and the one that is subtracted from it in a comparison. */
export interface ShownTile {
  readonly tile: ValueTile;
  readonly other: ValueTile | undefined;
}

export interface PaintRule {
  readonly scale: ColorScale;
  /** Values below it, or differences smaller than it, are not drawn. */
  readonly threshold: number | undefined;
}

/** The value of a pixel, or why it has none. */
export type PixelValue = number | "no_data" | "outside";

/** Pixels outside the atlas are darkened. */
export const OUTSIDE_SHADE: Rgba = [70, 80, 90, 60];
const TRANSPARENT: Rgba = [0, 0, 0, 0];
const PIXEL_COUNT = TILE_PIXELS * TILE_PIXELS;

/** Returns the value of a pixel: of the layer, or the difference of two layers. */
export function pixelValue({ tile, other }: ShownTile, pixel: number): PixelValue {
  const step = tile.steps[pixel] ?? STEP_OUTSIDE;
  if (other === undefined) return valueOfStep(tile, step) ?? reasonOf(step);
  const otherStep = other.steps[pixel] ?? STEP_OUTSIDE;
  const value = valueOfStep(tile, step);
  const otherValue = valueOfStep(other, otherStep);
  if (value !== undefined && otherValue !== undefined) {
    // Equal encodings are subtracted as integers, so that equal values differ by exactly 0.
    const hasEqualSteps = tile.stepsPerUnit === other.stepsPerUnit && tile.offset === other.offset;
    return hasEqualSteps ? (step - otherStep) / tile.stepsPerUnit : value - otherValue;
  }
  return step === STEP_OUTSIDE || otherStep === STEP_OUTSIDE ? "outside" : "no_data";
}

function reasonOf(step: number): "no_data" | "outside" {
  return step === STEP_NO_DATA ? "no_data" : "outside";
}

/** Returns the color of a value, or of the reason why there is none. */
export function pixelColor(value: PixelValue, pixel: number, { scale, threshold }: PaintRule): Rgba {
  if (value === "outside") return OUTSIDE_SHADE;
  if (value === "no_data") {
    const isLine = isHatchLine(pixel % TILE_PIXELS, Math.floor(pixel / TILE_PIXELS));
    return isLine ? NO_DATA_LINE_COLOR : NO_DATA_COLOR;
  }
  return threshold !== undefined && Math.abs(value) < threshold ? TRANSPARENT : colorOf(scale, value);
}

/** Writes the colors of a tile, u8[pixel][red, green, blue, alpha]. */
export function paintTile(shown: ShownTile, rule: PaintRule, rgba: Uint8ClampedArray): void {
  const { tile, other } = shown;
  const colors = new Map<number, Rgba>();
  for (let pixel = 0; pixel < PIXEL_COUNT; pixel++) {
    const step = tile.steps[pixel] ?? STEP_OUTSIDE;
    const otherStep = other?.steps[pixel] ?? 0;
    // The hatching depends on the position; other colors only on the steps, of which a tile has few.
    const key = step * 65_536 + otherStep;
    const color = colors.get(key) ?? pixelColor(pixelValue(shown, pixel), pixel, rule);
    if (step < STEP_OUTSIDE && otherStep < STEP_OUTSIDE) colors.set(key, color);
    for (let component = 0; component < 4; component++) rgba[4 * pixel + component] = color[component] ?? 0;
  }
}
