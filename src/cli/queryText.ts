/** Text that the tables of metrics and of curves share. */
import type { HazardResult } from "../contract/wireTypes.ts";

/** The open atlas, as far as the tables name it. */
export interface NamedAtlas {
  readonly release: string;
  readonly synthetic: boolean;
}

const NO_DATA_TEXTS: Readonly<Record<string, string>> = {
  outside_coverage: "outside the atlas",
  no_data: "no data in the source",
  layer_missing: "no such layer in the atlas",
};

export const BOUND_SIGNS = { at_least: ">=", at_most: "<=" } as const;
export const BOUND_LEGEND = ">= and <= mark bounds: the source maps have no return periods beyond them.";

/** Returns the first lines of the output: location, selection of cells, atlas. */
export function formatHeading(
  { location, aggregation }: Pick<HazardResult, "location" | "aggregation">,
  { release, synthetic }: NamedAtlas,
): string {
  const locationText = `latitude ${location.latitude}, longitude ${location.longitude}`;
  const selection =
    aggregation === undefined ? "single cell" : `${aggregation.method} within ${aggregation.radius_km} km`;
  return `${locationText}: ${selection} (atlas ${release})\n${synthetic ? "  SYNTHETIC: not real data\n" : ""}`;
}

/** Returns the explanation of a missing value. */
export function formatReason(reason: string | undefined): string {
  return NO_DATA_TEXTS[reason ?? ""] ?? reason ?? "missing";
}

/** Returns a number with six significant digits. */
export function formatNumber(value: number): string {
  return String(Number(value.toPrecision(6)));
}
