/** What the legend says about the colors of the map. */
import { type ColorScale, colorScaleOf, differenceScaleOf } from "../../tiles/colorScales.ts";
import type { MetricName } from "../../contract/wireTypes.ts";
import { formatMetricNumber, metricUnit } from "../format.ts";

interface LegendTick {
  /** Position along the bar of colors, 0 to 1. */
  readonly position: number;
  readonly text: string;
}

export interface LegendModel {
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
