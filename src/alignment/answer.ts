import type { AlignmentBasis } from "../kernel/alignment.ts";
import type { Anchor, Pathway } from "./benchmark.ts";
import type { Entity } from "./entity.ts";
import type { SectorMatch } from "./sectorPathways.ts";

/** Flags that qualify a temperature, in the order of the bits of a flag column. */
export const ALIGNMENT_FLAGS = [
  "unknown_industry",
  "unknown_country",
  "unknown_classification",
  "scope_missing",
  "no_usable_scope",
  "zero_baseline",
  "negative_scope",
  "revenue_unusable",
  "beyond_table",
  "early_baseline",
  "duplicate_year",
  "check_units",
  "short_horizon",
  "anchors_close",
] as const;
export type AlignmentFlag = (typeof ALIGNMENT_FLAGS)[number];

/** Why a temperature is null. */
export type AlignmentReason = "no_usable_scope" | "zero_baseline";

/** The entity as the caller described it; members that were not given are absent. */
export type EntityEcho = Pick<
  Entity["entity_info"],
  "name" | "asset_type" | "country" | "industry_classification_system" | "industry" | "sector"
>;

export interface AlignmentAnswer {
  /** One element per entity, in the order submitted. */
  readonly results: readonly AlignmentResult[];
}

export interface AlignmentResult {
  readonly entity_info: EntityEcho;
  /** One element per projected year, in the order submitted. */
  readonly data: readonly AlignedYear[];
}

export interface AlignedYear {
  readonly year: number;
  /** Implied warming in 2100, degrees C, 1.3 to 6; null with a `reason`. */
  readonly temperature_alignment: number | null;
  /** Present exactly when the temperature is null. */
  readonly reason?: AlignmentReason;
  readonly detail?: AlignmentDetail;
}

export type ByScope<Value> = Partial<Readonly<Record<"scope1" | "scope2" | "scope3", Value>>>;

/** How the temperature of a year was computed, unrounded. A figure that does not exist is null. */
export interface AlignmentDetail {
  readonly benchmark: string;
  readonly credit: string;
  readonly basis: AlignmentBasis;
  /** The temperature in each basis. */
  readonly temperature_intensity: number | null;
  readonly temperature_emissions: number | null;
  readonly temperature_cumulative: number | null;
  readonly pathway: Pathway;
  readonly matched: Omit<SectorMatch, "pathway">;
  /** The pathway that each usable scope is compared with. */
  readonly scope_pathways: ByScope<Pathway>;
  /** Sums over the usable scopes, i.e. those given in both the baseline year and this year. */
  readonly emissions: { readonly baseline: number | null; readonly projected: number | null };
  readonly emissions_ratio: number | null;
  /** Growth of the benchmark economy divided by growth of the entity's regional economy. */
  readonly growth_factor: number | null;
  /** The ratio that is compared with the anchors in the evaluated year. */
  readonly emissions_ratio_q: number | null;
  readonly evaluated_year: number;
  readonly anchors: readonly Anchor[];
  readonly benchmark_ratio_at_anchors: readonly number[] | null;
  /** The anchors on either side of the ratio, and its relative distance from the lower to the upper one. */
  readonly between: { readonly below: string | null; readonly above: string | null; readonly weight: number } | null;
  readonly growth_region: string;
  readonly revenue: { readonly baseline: number | null; readonly projected: number | null };
  readonly intensity: { readonly baseline: number | null; readonly projected: number | null };
  readonly convergence: { readonly kappa: number; readonly gamma: number } | null;
  /**
   * Temperature of each usable scope alone: with the basis `emissions` if that was requested, else `intensity`. These
   * do not add up to the temperature of the entity.
   */
  readonly temperature_by_scope: ByScope<number | null>;
  readonly flags: readonly AlignmentFlag[];
}

/** Returns the bit of a flag in a flag column. */
export function flagBit(flag: AlignmentFlag): number {
  return 1 << ALIGNMENT_FLAGS.indexOf(flag);
}

/** Rounds temperatures to the two decimals sent over the wire; details stay unrounded. */
export function roundTemperatures({ results }: AlignmentAnswer): AlignmentAnswer {
  const rounded = (temperature: number | null): number | null =>
    temperature === null ? null : Math.round(100 * temperature) / 100;
  return {
    results: results.map(({ entity_info, data }) => ({
      entity_info,
      data: data.map((year) => ({ ...year, temperature_alignment: rounded(year.temperature_alignment) })),
    })),
  };
}
