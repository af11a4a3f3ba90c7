/** Growth of the economy and of the entity. */
import { interpolate } from "./benchmark.ts";
import type { Series } from "./reference.ts";

const POOL = "POOL";

/** Growth series of an entity's country, or of its region where the country has none. */
export interface GrowthSeries {
  readonly id: string;
  readonly source: "country" | "region";
}

export interface Growth {
  readonly source: "supplied" | "country" | "region" | "default";
  readonly factor: number;
  readonly isLimited: boolean;
}

/** G_r(t): GDP index of a row of the growth table. */
function gdpIndex(growth: ReadonlyMap<string, Series>, id: string, year: number): number {
  const series = growth.get(id);
  if (series === undefined) throw new Error(`growth series ${id} does not exist`);
  return interpolate(series, year);
}

/** Growth factor f: growth of the benchmark's economy per growth of the entity's own revenue. */
export function growthFactor(
  growth: ReadonlyMap<string, Series>,
  row: {
    readonly baselineYear: number;
    readonly year: number;
    readonly revenue: number | null;
    readonly projectedRevenue: number | null;
    readonly growthSeries: GrowthSeries | null;
  },
): Growth {
  const growthOf = (id: string): number => gdpIndex(growth, id, row.year) / gdpIndex(growth, id, row.baselineYear);
  if (isRevenueSupplied(row)) {
    const ratio = growthOf(POOL) / ((row.projectedRevenue ?? NaN) / (row.revenue ?? NaN));
    return limited("supplied", ratio, 1 / 4, 4);
  }
  if (row.growthSeries !== null) {
    return limited(row.growthSeries.source, growthOf(POOL) / growthOf(row.growthSeries.id), 2 / 3, 3 / 2);
  }
  return { source: "default", factor: 1, isLimited: false };
}

/** True where both revenues are positive, so that the growth factor uses them. */
export function isRevenueSupplied(row: { readonly revenue: number | null; readonly projectedRevenue: number | null }) {
  return row.revenue !== null && row.revenue > 0 && row.projectedRevenue !== null && row.projectedRevenue > 0;
}

function limited(source: Growth["source"], ratio: number, min: number, max: number): Growth {
  const factor = clamp(ratio, min, max);
  return { source, factor, isLimited: factor !== ratio };
}

export function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}
