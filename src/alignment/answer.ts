import { type AlignmentBasis } from "../kernel/alignment.ts";
import type { Anchor, Pathway } from "./benchmark.ts";
import type { Entity } from "./entity.ts";
import type { SectorMatch } from "./sectorPathways.ts";

/** What an answer may want its reader to know, in the order of the bits of a flag column. */
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

/** The entity as the caller described it; what was not given is absent. */
export type EntityEcho = Pick<
  Entity["entity_info"],
  "name" | "asset_type" | "country" | "industry_classification_system" | "industry" | "sector"
>;

export interface AlignmentAnswer {
  /** One element an entity, in the order submitted. */
  readonly results: readonly AlignmentResult[];
}

export interface AlignmentResult {
  readonly entity_info: EntityEcho;
  /** One element a projected year, in the order submitted. */
  readonly data: readonly AlignedYear[];
}

export interface AlignedYear {
  readonly year: number;
  /** Implied warming in 2100, degrees C, 1.3 to 6; null where there is none. */
  readonly temperature_alignment: number | null;
  /** There exactly when the temperature is null. */
  readonly reason?: AlignmentReason;
  readonly detail?: AlignmentDetail;
}

export type ByScope<Value> = Partial<Readonly<Record<"scope1" | "scope2" | "scope3", Value>>>;

/** How a year's temperature came about, unrounded. A figure that does not exist is null. */
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
  /** What each usable scope is compared with. */
  readonly scope_pathways: ByScope<Pathway>;
  /** Over the usable scopes: those given in the baseline and in this year. */
  readonly emissions: { readonly baseline: number | null; readonly projected: number | null };
  readonly emissions_ratio: number | null;
  /** Growth of the benchmark's economy over growth of the entity's own. */
  readonly growth_factor: number | null;
  /** What is compared with the anchors, in the year evaluated. */
  readonly emissions_ratio_q: number | null;
  readonly evaluated_year: number;
  readonly anchors: readonly Anchor[];
  readonly benchmark_ratio_at_anchors: readonly number[] | null;
  /** Between which anchors, and how far from the lower to the upper one. */
  readonly between: { readonly below: string | null; readonly above: string | null; readonly weight: number } | null;
  readonly growth_region: string;
  readonly revenue: { readonly baseline: number | null; readonly projected: number | null };
  readonly intensity: { readonly baseline: number | null; readonly projected: number | null };
  readonly convergence: { readonly kappa: number; readonly gamma: number } | null;
  /** Each usable scope alone, in the basis `emissions` where that is asked for, else `intensity`; they do not add up. */
  readonly temperature_by_scope: ByScope<number | null>;
  readonly flags: readonly AlignmentFlag[];
}

/** Bit of a flag in a flag column. */
export function flagBit(flag: AlignmentFlag): number {
  return 1 << ALIGNMENT_FLAGS.indexOf(flag);
}

/** The answer as it goes over the wire: temperatures to two decimals, details as they are. */
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
