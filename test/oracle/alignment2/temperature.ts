/** From an emissions ratio to a temperature: ratio, comparison year, order of the anchors, curve and convergence. */
import { clamp } from "./growth.ts";
import type { PerAnchor, Warming } from "./reference.ts";

const RATIO_MAX = 10;
/** Minimum gap between anchors with the basis `intensity` or `emissions`. */
export const POINT_GAP = 0.02;
/** Minimum gap between anchors with the basis `cumulative`. */
export const CUMULATIVE_GAP = 0.005;
/** Movement of an anchor above which the flag `anchors_close` is set. */
const MOVED_MIN = 1e-12;
/** Upper limit of the median temperature. */
const TEMPERATURE_MAX_C = 6;

/**
 * q(y): projected emissions divided by baseline emissions, adjusted for growth relative to the benchmark's
 * economy and for convergence.
 */
export function emissionsRatio(figures: {
  readonly growthFactor: number;
  readonly projectedSum: number;
  readonly baselineSum: number;
  readonly convergenceFactor: number;
}): number {
  const { growthFactor, projectedSum, baselineSum, convergenceFactor } = figures;
  return ((growthFactor * Math.max(projectedSum, 0)) / baselineSum) * convergenceFactor;
}

/**
 * Convergence ratio κ: baseline intensity divided by that of the industry (both in t CO2e per million USD of 2022), limited to
 * 1/4 to 4.
 */
export function convergenceRatio(baselineSum: number, revenueMUsd2022: number, industryIntensity: number): number {
  return clamp(baselineSum / revenueMUsd2022 / industryIntensity, 1 / 4, 4);
}

/** τ: fraction of the period from the baseline year to 2050 that has passed. */
export function convergenceProgress(baselineYear: number, year: number): number {
  return baselineYear >= 2050 ? 1 : clamp((year - baselineYear) / (2050 - baselineYear), 0, 1);
}

/** y*: year at which the entity is compared with the anchors. */
export function comparisonYear(baselineYear: number, year: number): number {
  return Math.max(year, baselineYear + 5, 2030);
}

/** q*: the ratio extended at a constant rate to the comparison year. */
export function extendedRatio(ratio: number, baselineYear: number, year: number): number {
  const yearStar = comparisonYear(baselineYear, year);
  if (year === yearStar) return ratio;
  if (ratio === 0) return 0;
  return Math.min(ratio ** ((yearStar - baselineYear) / (year - baselineYear)), RATIO_MAX);
}

/**
 * Order of the anchors: moves the anchors as little as possible so that consecutive ones differ by at least `gap`, then raises them
 * so that the first is at least `gap`.
 */
export function orderedAnchors(raw: PerAnchor, gap: number): { readonly anchors: PerAnchor; readonly moved: boolean } {
  const pooled = poolAdjacentViolators(raw.map((x, index) => x - index * gap)).map((z, index) => z + index * gap);
  const anchors: number[] = [];
  for (const x of pooled) anchors.push(Math.max(x, (anchors.at(-1) ?? 0) + gap));
  const moved = anchors.some((x, index) => Math.abs(x - (raw[index] ?? NaN)) > MOVED_MIN);
  return { anchors: anchors as unknown as PerAnchor, moved };
}

/**
 * Pool adjacent violators: replaces adjacent blocks that are out of order by their mean until all are in
 * order.
 */
export function poolAdjacentViolators(values: readonly number[]): readonly number[] {
  let blocks = values.map((value) => [value]);
  for (;;) {
    const violationIndex = blocks.findIndex((block, index) => {
      const next = blocks[index + 1];
      return next !== undefined && mean(block) > mean(next);
    });
    if (violationIndex === -1) return blocks.flatMap((block) => block.map(() => mean(block)));
    const merged = [...(blocks[violationIndex] ?? []), ...(blocks[violationIndex + 1] ?? [])];
    blocks = [...blocks.slice(0, violationIndex), merged, ...blocks.slice(violationIndex + 2)];
  }
}

/**
 * Temperature curve C(q; T, N, F). The ratio at which extrapolation stops is computed from `median`, so that it is the same for
 * every percentile.
 */
export function temperatureAt(ratio: number, anchors: PerAnchor, warming: Warming, median: Warming): number {
  const [x1, x2, x3, x4] = anchors;
  const [t1, t2, t3, t4] = warming.anchors;
  const interpolate = (x: number, xNext: number, t: number, tNext: number): number =>
    t + ((tNext - t) * (ratio - x)) / (xNext - x);
  if (ratio <= x1) return warming.floor + ((t1 - warming.floor) * ratio) / x1;
  if (ratio <= x2) return interpolate(x1, x2, t1, t2);
  if (ratio <= x3) return interpolate(x2, x3, t2, t3);
  if (ratio <= x4) return interpolate(x3, x4, t3, t4);
  const excessMax = (TEMPERATURE_MAX_C - median.anchors[3]) / (median.anchors[3] - median.now);
  return t4 + (t4 - warming.now) * Math.min(ratio / x4 - 1, excessMax);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
