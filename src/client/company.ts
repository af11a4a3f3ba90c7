/** An amount in real USD of 2025, as text or as a number. */
type Amount = number | string;

/** A company and the requested scenarios and years. */
export interface CompanyRequest {
  readonly name: string;
  /** ISO code or name. */
  readonly country: string;
  /** Id, name or code; `industries()` lists them. */
  readonly industry: string;
  /** Above 0, as is `total_assets`. */
  readonly revenue: Amount;
  readonly total_assets: Amount;
  readonly ebitda: Amount;
  /** 0 or more. */
  readonly total_debt: Amount;
  /** 1 to 21 ids; `scenarios()` lists them. */
  readonly transition_scenarios: readonly string[];
  /** 2025 to 2100. */
  readonly assessment_years: readonly number[];
  /** Reported emissions, t CO2e per year; estimated by the model if absent. */
  readonly scope1?: Amount;
  readonly scope2?: Amount;
  readonly scope3?: Amount;
  /** Banks and insurers only: all liabilities, including deposits and reserves. */
  readonly total_liabilities?: Amount;
  /** `kalkuhl_wenz` (default), `howard_sterner`, `dice2016`, `ngfs5_kotz`. */
  readonly damage_function?: string;
  /** `remind` (default), `messageix`, `gcam`. */
  readonly iam?: string;
}

export interface EmissionsFigure {
  /** t CO2e per year. */
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly method: "modelled" | "reported";
  /** Data quality, 1 (best) to 5. */
  readonly pcaf_score: number;
}

export interface BeforeAfter {
  readonly before: number | null;
  readonly after: number | null;
}

/** One scenario in one year; money in USD of 2025 per year. */
export interface CompanyResult {
  readonly scenario: string;
  readonly family: "NGFS" | "IPCC";
  readonly vintage: "5" | "AR6";
  readonly year: number;
  readonly drivers: {
    /** USD of 2025 per t CO2e. */
    readonly price: number;
    readonly baseline_price: number;
    readonly price_shock: number;
    readonly fuel_price_shock: number;
    readonly price_model: string;
    /** Degrees C. */
    readonly gsat: number;
    readonly local_temperature: number;
    readonly local_temperature_2020: number;
    readonly emissions_cut: number;
    readonly abatement_share: number;
    readonly unit_cost: number;
    readonly pass_through: number;
  };
  readonly transition: {
    readonly gross_cost: number;
    readonly volume_change: number;
    readonly own_volume_change: number;
    readonly fuel_volume_change: number;
    readonly volume_floor: boolean;
    readonly loss: number;
    readonly uncapped: number;
    readonly capped: boolean;
    readonly credit_loss: number;
    readonly score: number;
    readonly note?: string;
  };
  readonly physical: {
    readonly chronic: { readonly damage_fraction: number; readonly loss: number; readonly loss_upper_bound: number };
    readonly acute: {
      readonly by_hazard: Readonly<Record<"flood" | "wind" | "surge", number>>;
      readonly aal_fraction: number;
      readonly asset_loss: number;
      readonly interruption: number;
    };
    readonly score: number;
    readonly percentile: { readonly acute: number; readonly chronic: number };
  };
  readonly interaction: number;
  readonly total: {
    readonly loss: number;
    readonly pct_of_ebitda: number | null;
    readonly pct_of_assets: number | null;
    /** 0 to 100. */
    readonly score: number;
    readonly rating: "A" | "B" | "C" | "D" | "E";
    readonly low: number | null;
    readonly high: number | null;
    readonly measured_by: "ebitda" | "16_pct_of_revenue";
    readonly note?: string;
  };
  readonly credit: { readonly debt_to_ebitda: BeforeAfter; readonly interest_coverage: BeforeAfter };
}

export interface CompanyValuation {
  readonly scenario: string;
  readonly npv_of_losses: number;
  readonly npv_uncapped: number;
  readonly value_at_risk_pct: number | null;
  readonly asset_value_after: number;
  readonly pd_5y_before: number | null;
  readonly pd_5y_after: number | null;
}

export interface CompanyAnswer {
  readonly company: {
    readonly name: string | null;
    readonly country: { readonly iso3: string; readonly name: string; readonly tier: "A" | "B" };
    readonly industry: {
      readonly id: string;
      readonly name: string;
      readonly matched_on: "id" | "name" | "alias" | "isic" | "nace" | "naics";
    };
  };
  readonly units: { readonly money: string; readonly emissions: string };
  readonly emissions: {
    readonly scope1: EmissionsFigure;
    readonly scope2: EmissionsFigure;
    readonly scope3_upstream: EmissionsFigure;
    readonly scope3_downstream: EmissionsFigure;
    readonly financed: EmissionsFigure | null;
  };
  /** In the requested order of scenarios, years ascending. */
  readonly results: readonly CompanyResult[];
  /** One element per scenario. */
  readonly valuation: readonly CompanyValuation[];
  readonly headline: {
    readonly max: {
      readonly score: number;
      readonly pct_of_ebitda: number | null;
      readonly scenario: string;
      readonly year: number;
    };
    readonly mean: { readonly score: number; readonly pct_of_ebitda: number | null };
  };
  readonly data_quality: readonly { readonly output: string; readonly mark: string; readonly detail: string }[];
  /** Branch on `code`. */
  readonly warnings: readonly { readonly code: string; readonly detail: string }[];
  readonly assumptions: readonly string[];
  readonly sources: readonly { readonly what: string; readonly source: string; readonly terms: string }[];
  readonly method_version: string;
}

interface ReferenceItem {
  readonly id: string;
  readonly name: string;
  readonly aliases: readonly string[];
}

export interface ReferenceIndustry extends ReferenceItem {
  readonly sector: string;
  readonly isic: readonly string[];
  readonly nace: readonly string[];
  readonly naics: readonly string[];
  readonly factor_source: string;
}

export interface ReferenceCountry extends ReferenceItem {
  readonly iso2: string;
  /** A: all figures come from data. B: some are substitutes, listed in `fallbacks`. */
  readonly tier: "A" | "B";
  readonly fallbacks: readonly string[];
}

export interface ReferenceScenario extends ReferenceItem {
  readonly family: "NGFS" | "IPCC";
  readonly vintage: "5" | "AR6";
  readonly narrative: string;
  readonly category: string;
  readonly ssp: string | null;
  readonly iams: readonly string[];
  readonly world_price: boolean;
  readonly price_substitute: string | null;
}
