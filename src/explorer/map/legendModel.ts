/** The colors of the map: what the legend says about them, and the slider of the threshold, whose positions are those of the scale. */
import { type ColorScale, colorScaleOf, differenceScaleOf } from "../../tiles/colorScales.ts";
import type { MetricName } from "../../contract/wireTypes.ts";
import { formatMetricNumber, metricUnit } from "../format.ts";
import { attributionTexts } from "../../tiles/layerAttribution.ts";

interface LegendTick {
  /** Position along the bar of colors, 0 to 1. */
  readonly position: number;
  readonly text: string;
}

interface LegendModel {
  readonly scale: ColorScale;
  /** Unit of the numbers; empty for shares of 1. */
  readonly unit: string;
  /** Colors at equal distances along the bar; between two of them, the map interpolates linearly in sRGB. */
  readonly colors: readonly string[];
  readonly ticks: readonly LegendTick[];
}

/** Numbers that fit below the bar. */
const TICK_COUNT_MAX = { sequential: 6, difference: 5 } as const;

/** Returns the scale that the map uses. @param isDifference whether the map shows differences of two layers */
export function scaleOf(metric: MetricName, isDifference: boolean): ColorScale {
  return isDifference ? differenceScaleOf(metric) : colorScaleOf(metric);
}

export function legendModel(metric: MetricName, isDifference: boolean): LegendModel {
  const scale = scaleOf(metric, isDifference);
  const { stops } = scale;
  const last = stops.length - 1;
  const ticks = tickIndexes(last, isDifference).map((index) => {
    const value = stops[index]?.value ?? 0;
    return {
      position: index / last,
      text: tickText(metric, value, { isDifference, isEnd: index === last || (isDifference && index === 0) }),
    };
  });
  return {
    scale,
    unit: isDifference && metric === "probability" ? "percentage points" : metricUnit(metric),
    colors: stops.map(({ color }) => color),
    ticks,
  };
}

/** Indexes of the stops with numbers: the ends and, of a difference, the middle; others at equal distances. */
function tickIndexes(last: number, isDifference: boolean): readonly number[] {
  const half = isDifference ? last / 2 : last;
  const halfCountMax = isDifference ? (TICK_COUNT_MAX.difference - 1) / 2 : TICK_COUNT_MAX.sequential - 1;
  const stride = Math.ceil(half / halfCountMax);
  const indexes = new Set<number>();
  for (let offset = half; offset > 0; offset -= stride) {
    if (offset < stride && offset !== half) break;
    indexes.add(isDifference ? half + offset : offset);
    if (isDifference) indexes.add(half - offset);
  }
  indexes.add(isDifference ? half : 0);
  return [...indexes].toSorted((a, b) => a - b);
}

/** Values beyond the ends have the colors of the ends. */
function tickText(
  metric: MetricName,
  value: number,
  { isDifference, isEnd }: { readonly isDifference: boolean; readonly isEnd: boolean },
): string {
  const number = shortNumber(formatMetricNumber(metric, value));
  if (isDifference && value > 0) return isEnd ? `≥+${number}` : `+${number}`;
  if (isDifference && value < 0) return isEnd ? `≤${number}` : number;
  return isEnd && !isShare(metric) ? `≥${number}` : number;
}

function isShare(metric: MetricName): boolean {
  return metric === "intensity" || metric === "probability" || metric === "total_hazard";
}

/** Removes trailing zeros after the point. */
function shortNumber(text: string): string {
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Positions of the slider between two stops of the scale. */
const POSITIONS_PER_STOP = 20;
const SIGNIFICANT_DIGITS = 2;

/** Returns the largest position; the smallest is 0, at which everything is drawn. */
export function thresholdPositionMax(scale: ColorScale): number {
  return (sizesOf(scale).length - 1) * POSITIONS_PER_STOP;
}

/** Returns the threshold at a position, rounded to two significant digits between the stops of the scale; undefined at 0. */
export function thresholdAt(scale: ColorScale, position: number): number | undefined {
  if (position <= 0) return undefined;
  const sizes = sizesOf(scale);
  const lower = Math.min(Math.floor(position / POSITIONS_PER_STOP), sizes.length - 2);
  const [from, to] = [sizes[lower] ?? 0, sizes[lower + 1] ?? 0];
  const value = from + (to - from) * (position / POSITIONS_PER_STOP - lower);
  // The last stop is the end of the scale, such as 366 days.
  if (value === to) return to;
  return Math.min(to, Number(value.toPrecision(SIGNIFICANT_DIGITS)));
}

/** Returns the position that is closest to a threshold. */
export function positionOfThreshold(scale: ColorScale, threshold: number | undefined): number {
  if (threshold === undefined || threshold <= 0) return 0;
  const sizes = sizesOf(scale);
  const last = sizes.length - 1;
  const upper = sizes.findIndex((size) => threshold <= size);
  if (upper < 0) return last * POSITIONS_PER_STOP;
  const [from, to] = [sizes[upper - 1] ?? 0, sizes[upper] ?? 0];
  return Math.max(1, Math.round((upper - 1 + (threshold - from) / (to - from)) * POSITIONS_PER_STOP));
}

/** Sizes of the scale's values from 0 up; a scale of differences has each size twice. */
function sizesOf({ stops }: ColorScale): readonly number[] {
  return stops.map(({ value }) => value).filter((value) => value >= 0);
}

/** Returns the source of a layer as sentences, from the provenance that the atlas states. */
export function sourceText(source: Readonly<Record<string, unknown>>): string {
  const parts = attributionTexts(source).map((part) => part.replace(/\.$/, ""));
  return parts.length === 0 ? "source not stated." : `${parts.join(". ")}.`;
}
