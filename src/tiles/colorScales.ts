/**
 * Colors of map tiles: one fixed scale per metric, so that a color means the same value in every scenario, year and place.
 * Lightness decreases evenly from stop to stop, which orders the colors for every kind of color vision and in print. Images
 * of the service and pages use the same functions, so that their colors are equal.
 */
import type { ColorStop, MetricName } from "../contract/wireTypes.ts";
import { type Rgb, rgbOfLch } from "./oklab.ts";

export interface ColorScale {
  /** Unit of the values; "1" for shares and probabilities. */
  readonly unit: string;
  /**
   * In ascending order of their values, with linear interpolation in sRGB between them. Values beyond the first and the last
   * stop have the colors of these stops.
   */
  readonly stops: readonly ColorStop[];
}

/** Red, green, blue and opacity, 0 to 255. */
export type Rgba = readonly [red: number, green: number, blue: number, alpha: number];

/** Colors per scale: every value has one of them. */
export const COLOR_LEVEL_COUNT = 252;
/** Color of the value 0: no hazard, or no difference. */
export const ZERO_COLOR: Rgba = [0, 0, 0, 0];
/** Color of pixels outside the atlas. */
export const OUTSIDE_COLOR: Rgba = [0, 0, 0, 0];
/** Colors of the hatching of pixels without a value: gaps, and lines. */
export const NO_DATA_COLOR: Rgba = [150, 155, 160, 40];
export const NO_DATA_LINE_COLOR: Rgba = [110, 115, 120, 90];
/** Distance between the lines of the hatching, in pixels; divides the width of a tile, so that lines continue. */
const HATCH_PERIOD_PIXELS = 8;
const HATCH_LINE_PIXELS = 2;

/** Lightness of the first and the last color of a scale, in OKLab. */
const LIGHTNESS = { first: 0.93, last: 0.28 } as const;

interface HuePath {
  readonly firstHueDeg: number;
  readonly lastHueDeg: number;
  readonly chroma: number;
}

const WATER: HuePath = { firstHueDeg: 195, lastHueDeg: 275, chroma: 0.13 };
const WIND: HuePath = { firstHueDeg: 95, lastHueDeg: 330, chroma: 0.15 };
const FIRE: HuePath = { firstHueDeg: 95, lastHueDeg: 20, chroma: 0.16 };
const SHARE: HuePath = { firstHueDeg: 105, lastHueDeg: 285, chroma: 0.13 };

const SHARE_VALUES = [0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1] as const;
const SMALL_SHARE_VALUES = [0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1] as const;

const SCALES: Readonly<Record<MetricName, ColorScale>> = {
  intensity: sequentialScale("1", SHARE_VALUES, SHARE),
  probability: sequentialScale("1", SMALL_SHARE_VALUES, SHARE),
  total_hazard: sequentialScale("1", SMALL_SHARE_VALUES, SHARE),
  depth_meters: sequentialScale("m", [0, 0.1, 0.25, 0.5, 1, 2, 3, 5, 10], WATER),
  wind_speed_mps: sequentialScale("m/s", [0, 10, 18, 25, 33, 43, 50, 58, 70, 90], WIND),
  fire_danger_days: sequentialScale("days", [0, 5, 10, 20, 40, 60, 90, 120, 180, 366], FIRE),
};

/** Returns the scale of a metric. The values of return-period curves use the scale of the hazard's own metric. */
export function colorScaleOf(metric: MetricName): ColorScale {
  return SCALES[metric];
}

/** Differences are smaller than values, so that their scales resolve smaller ones. */
const DIFFERENCE_SIZES: Readonly<Record<MetricName, readonly number[]>> = {
  intensity: [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5],
  probability: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2],
  total_hazard: [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2],
  depth_meters: [0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5],
  wind_speed_mps: [0.5, 1, 2, 5, 10, 15, 20, 30],
  fire_danger_days: [1, 2, 5, 10, 20, 30, 60, 120],
};

const DIFFERENCE_SCALES = new Map<MetricName, ColorScale>();

/**
 * Returns the scale of differences of a metric: blue where the value decreases, orange where it increases, and lighter the
 * smaller the difference is.
 */
export function differenceScaleOf(metric: MetricName): ColorScale {
  const known = DIFFERENCE_SCALES.get(metric);
  if (known !== undefined) return known;
  const { unit } = SCALES[metric];
  const sizes = DIFFERENCE_SIZES[metric];
  const armOf = (hueDeg: number) =>
    sizes.map((_, i) => hexOf(rgbOfLch({ lightness: 0.9 - (0.52 * (i + 1)) / sizes.length, chroma: 0.13, hueDeg })));
  const [decreases, increases] = [armOf(255), armOf(55)];
  const scale = {
    unit,
    stops: [
      ...sizes.map((size, i) => ({ value: -size, color: decreases[i] ?? "" })).toReversed(),
      { value: 0, color: hexOf(rgbOfLch({ lightness: 0.93, chroma: 0, hueDeg: 0 })) },
      ...sizes.map((size, i) => ({ value: size, color: increases[i] ?? "" })),
    ],
  };
  DIFFERENCE_SCALES.set(metric, scale);
  return scale;
}

/** Returns the color of a value. Equal levels have equal colors (`levelOf`); the value 0 is transparent. */
export function colorOf(scale: ColorScale, value: number): Rgba {
  if (value === 0) return ZERO_COLOR;
  if (Number.isNaN(value)) return NO_DATA_COLOR;
  const first = 3 * levelOf(scale, value);
  const levels = levelColorsOf(scale);
  return [levels[first] ?? 0, levels[first + 1] ?? 0, levels[first + 2] ?? 0, 255];
}

/** Returns whether a pixel without a value, counted from the corner of its tile, is on a line of the hatching. */
export function isHatchLine(column: number, row: number): boolean {
  return (column + row) % HATCH_PERIOD_PIXELS < HATCH_LINE_PIXELS;
}

/** Returns the index of the color of a value, 0 to `COLOR_LEVEL_COUNT` - 1. */
export function levelOf({ stops }: ColorScale, value: number): number {
  const last = stops.length - 1;
  let upper = 1;
  while (upper < last && value > (stops[upper]?.value ?? 0)) upper += 1;
  const [from, to] = [stops[upper - 1]?.value ?? 0, stops[upper]?.value ?? 0];
  const share = Math.max(0, Math.min(1, (value - from) / (to - from)));
  return Math.round(((upper - 1 + share) / last) * (COLOR_LEVEL_COUNT - 1));
}

const levelColorsByScale = new WeakMap<ColorScale, Uint8Array>();

/** Returns the colors of all levels, u8[level][red, green, blue]. */
export function levelColorsOf(scale: ColorScale): Uint8Array {
  const known = levelColorsByScale.get(scale);
  if (known !== undefined) return known;
  const colors = scale.stops.map(({ color }) => rgbOf(color));
  const levels = new Uint8Array(3 * COLOR_LEVEL_COUNT);
  for (let level = 0; level < COLOR_LEVEL_COUNT; level++) {
    const position = (level / (COLOR_LEVEL_COUNT - 1)) * (colors.length - 1);
    const lower = Math.min(Math.floor(position), colors.length - 2);
    for (let component = 0; component < 3; component++) {
      const [from, to] = [colors[lower]?.[component] ?? 0, colors[lower + 1]?.[component] ?? 0];
      levels[3 * level + component] = Math.round(from + (to - from) * (position - lower));
    }
  }
  levelColorsByScale.set(scale, levels);
  return levels;
}

function sequentialScale(unit: string, values: readonly number[], path: HuePath): ColorScale {
  const { firstHueDeg, lastHueDeg, chroma } = path;
  // The shorter direction around the circle of hues.
  const turnDeg = ((((lastHueDeg - firstHueDeg + 180) % 360) + 360) % 360) - 180;
  const stops = values.map((value, i) => {
    const share = i / (values.length - 1);
    return {
      value,
      color: hexOf(
        rgbOfLch({
          lightness: LIGHTNESS.first + (LIGHTNESS.last - LIGHTNESS.first) * share,
          chroma: chroma * (0.45 + 0.55 * Math.sin(Math.PI * Math.min(1, 0.15 + 0.8 * share))),
          hueDeg: firstHueDeg + turnDeg * share,
        }),
      ),
    };
  });
  return { unit, stops };
}

function hexOf(rgb: Rgb): string {
  return `#${rgb.map((component) => component.toString(16).padStart(2, "0")).join("")}`;
}

function rgbOf(color: string): Rgb {
  const number = Number.parseInt(color.slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}
