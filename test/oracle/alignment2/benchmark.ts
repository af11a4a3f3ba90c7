/** Pathways of the benchmark: normalization, linear interpolation and the pathway of each scope. */
import type { Benchmark, Pathway, PerAnchor, Series } from "./reference.ts";

/** Last year of the pathways. */
export const TABLE_END_YEAR = 2060;
const INDEX_YEAR = 2025;
const ANCHOR_INDICES = [0, 1, 2, 3] as const;
export type AnchorIndex = (typeof ANCHOR_INDICES)[number];

/** Returns one figure for each anchor. */
export function perAnchor(figure: (anchor: AnchorIndex) => number): PerAnchor {
  return [figure(0), figure(1), figure(2), figure(3)];
}

/** Returns the series at a year: linear between its years, constant outside. */
export function interpolate(series: Series, year: number): number {
  const { years, values } = series;
  for (let index = 0; index < years.length; index += 1) {
    const at = years[index] ?? NaN;
    const value = values[index] ?? NaN;
    if (year <= at) {
      if (year === at || index === 0) return value;
      const before = years[index - 1] ?? NaN;
      const valueBefore = values[index - 1] ?? NaN;
      return valueBefore + ((value - valueBefore) * (year - before)) / (at - before);
    }
  }
  return values.at(-1) ?? NaN;
}

/** S_k,s(t): emissions index of a pathway, 2025 = 1. */
export function pathwayIndex(benchmark: Benchmark, pathway: Pathway, anchor: AnchorIndex, year: number): number {
  return interpolate(benchmark.pathways[pathway][anchor], year);
}

/** ref(b): 1 up to 2025, then the index of Current Policies in the baseline year. */
function baselineReference(benchmark: Benchmark, pathway: Pathway, baselineYear: number): number {
  return baselineYear <= INDEX_YEAR ? 1 : pathwayIndex(benchmark, pathway, 3, baselineYear);
}

/** x_k,s(t): emissions of a pathway relative to the baseline year. */
export function normalizedPathway(
  benchmark: Benchmark,
  pathway: Pathway,
  anchor: AnchorIndex,
  baselineYear: number,
  year: number,
): number {
  const index = pathwayIndex(benchmark, pathway, anchor, Math.min(year, TABLE_END_YEAR));
  return index / baselineReference(benchmark, pathway, baselineYear);
}

/** Pathway of each scope of an entity on pathway k. */
export function scopePathways(pathway: Pathway): readonly [Pathway, Pathway, Pathway] {
  const scope3 = pathway === "transport" || pathway === "buildings" ? pathway : "economy";
  return [pathway, "power", scope3];
}
