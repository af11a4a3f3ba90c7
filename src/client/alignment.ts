export type AlignmentBasis = "intensity" | "emissions" | "cumulative";
export type AlignmentPathway = "economy" | "power" | "energy_supply" | "industry" | "transport" | "buildings";
export type AlignmentFlag =
  | "unknown_industry"
  | "unknown_country"
  | "unknown_classification"
  | "scope_missing"
  | "no_usable_scope"
  | "zero_baseline"
  | "negative_scope"
  | "revenue_unusable"
  | "beyond_table"
  | "early_baseline"
  | "duplicate_year"
  | "check_units"
  | "short_horizon"
  | "anchors_close";

/** Emissions of a year, -1e15 to 1e15, in the same unit throughout an entity; at least one scope; removals are negative. */
export interface ScopeEmissions {
  readonly scope1?: number;
  readonly scope2?: number;
  readonly scope3?: number;
}

/** A company, its emissions in exactly one baseline year, and in one or more later years. */
export interface Entity {
  readonly entity_info: {
    /** The caller's own id; not echoed. */
    readonly identifier?: string;
    readonly name: string;
    readonly asset_type: "equity";
    /** ISO code or name. */
    readonly country?: string;
    readonly industry_classification_system?: string;
    /** Names, not codes; the sector is used if the industry matches nothing. */
    readonly industry?: string;
    readonly sector?: string;
  };
  readonly data: readonly {
    /** 1900 to 2200, as all years. */
    readonly year: number;
    readonly emissions: ScopeEmissions;
    /** In any currency. */
    readonly financials?: { readonly revenue?: number; readonly ebitda?: number };
  }[];
  readonly projected_emissions: readonly { readonly year: number; readonly emissions: ScopeEmissions }[];
}

export interface AlignmentAnswer {
  /** One element per entity, in the order submitted. */
  readonly results: readonly {
    readonly entity_info: Pick<
      Entity["entity_info"],
      "name" | "asset_type" | "country" | "industry_classification_system" | "industry" | "sector"
    >;
    /** One element per projected year, in the order submitted. */
    readonly data: readonly AlignedYear[];
  }[];
}

export interface AlignedYear {
  readonly year: number;
  /** Implied warming in 2100, degrees C, 1.3 to 6; `null` if there is none, with a `reason`. */
  readonly temperature_alignment: number | null;
  readonly reason?: "no_usable_scope" | "zero_baseline";
  /** Only with `detail`. `null` where a figure does not exist. */
  readonly detail?: {
    readonly benchmark: string;
    readonly credit: string;
    readonly basis: AlignmentBasis;
    readonly temperature_intensity: number | null;
    readonly temperature_emissions: number | null;
    readonly temperature_cumulative: number | null;
    readonly pathway: AlignmentPathway;
    /** Which field selected the pathway, and the matching row and key of the sector table. */
    readonly matched: {
      readonly on: "industry" | "sector" | null;
      readonly row: number | null;
      readonly key: string | null;
    };
    readonly scope_pathways: ByScope<AlignmentPathway>;
    readonly emissions: Change;
    readonly emissions_ratio: number | null;
    readonly growth_factor: number | null;
    readonly emissions_ratio_q: number | null;
    readonly evaluated_year: number;
    readonly anchors: readonly { readonly scenario: string; readonly temperature_2100_c: number }[];
    readonly benchmark_ratio_at_anchors: readonly number[] | null;
    readonly between: { readonly below: string | null; readonly above: string | null; readonly weight: number } | null;
    readonly growth_region: string;
    readonly revenue: Change;
    readonly intensity: Change;
    readonly convergence: { readonly kappa: number; readonly gamma: number } | null;
    readonly temperature_by_scope: ByScope<number | null>;
    readonly flags: readonly AlignmentFlag[];
  };
}

interface Change {
  readonly baseline: number | null;
  readonly projected: number | null;
}

type ByScope<Value> = { readonly [Scope in "scope1" | "scope2" | "scope3"]?: Value };
