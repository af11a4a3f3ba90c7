import type { AcuteHazard } from "./countryFigures.ts";
import type { DataSource } from "./dataSources.ts";
import type { IndustryMatch } from "./industryLookup.ts";
import type { DataQuality } from "./dataQuality.ts";
import type { Remark } from "./remarks.ts";
import type { Scenario } from "./scenarios.ts";
import type { Rating } from "./score.ts";

/** The company as it was resolved from the request. */
export interface CompanyEcho {
  /** null if a request for emissions has no name. */
  readonly name: string | null;
  readonly country: { readonly iso3: string; readonly name: string; readonly tier: "A" | "B" };
  readonly industry: { readonly id: string; readonly name: string; readonly matched_on: IndustryMatch["on"] };
}

/** Emissions of one scope and their uncertainty range, t CO2e per year. */
export interface EmissionsFigure {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly method: "modelled" | "reported";
  /** PCAF data quality score, 1 (best) to 5. */
  readonly pcaf_score: number;
}

export interface EmissionsFigures {
  readonly scope1: EmissionsFigure;
  readonly scope2: EmissionsFigure;
  readonly scope3_upstream: EmissionsFigure;
  readonly scope3_downstream: EmissionsFigure;
  /** Financed emissions of a bank (scope 3, category 15); null for other companies and without total assets. */
  readonly financed: EmissionsFigure | null;
}

/** A figure without and with the losses of the scenario; null if undefined. */
export interface BeforeAfter {
  readonly before: number | null;
  readonly after: number | null;
}

/** Result of one scenario and year. Money in USD of 2025 per year; shares are fractions unless named `pct`. */
export interface CompanyResult {
  readonly scenario: string;
  readonly family: Scenario["family"];
  readonly vintage: Scenario["vintage"];
  readonly year: number;
  readonly drivers: {
    /** USD of 2025 per t CO2e: price of the scenario, price under current policies, and the excess of the former. */
    readonly price: number;
    readonly baseline_price: number;
    readonly price_shock: number;
    /** Price shock for the buyers of the fuel that is sold, worldwide; that of the country if no fuel is sold. */
    readonly fuel_price_shock: number;
    /** Model that the price comes from, or the percentile of an ensemble. */
    readonly price_model: string;
    /** Global warming and the country's mean temperature, degrees C. */
    readonly gsat: number;
    readonly local_temperature: number;
    readonly local_temperature_2020: number;
    /** Reduction of emissions in the scenario, and the share of its own emissions that the company abates. */
    readonly emissions_cut: number;
    readonly abatement_share: number;
    /** USD per t of today's scope 1 emissions. */
    readonly unit_cost: number;
    readonly pass_through: number;
  };
  readonly transition: {
    readonly gross_cost: number;
    readonly volume_change: number;
    readonly own_volume_change: number;
    readonly fuel_volume_change: number;
    /** A volume change was limited to -0.8. */
    readonly volume_floor: boolean;
    readonly loss: number;
    readonly uncapped: number;
    readonly capped: boolean;
    readonly credit_loss: number;
    readonly score: number;
    readonly note?: string;
  };
  readonly physical: {
    readonly chronic: {
      readonly damage_fraction: number;
      readonly loss: number;
      /** Loss if wages do not fall with output. */
      readonly loss_upper_bound: number;
    };
    readonly acute: {
      /** Average annual loss as a fraction of capital. */
      readonly by_hazard: Readonly<Record<AcuteHazard, number>>;
      readonly aal_fraction: number;
      readonly asset_loss: number;
      readonly interruption: number;
    };
    readonly score: number;
    /** Percentile rank among the 180 countries whose figures all come from data. */
    readonly percentile: { readonly acute: number; readonly chronic: number };
  };
  readonly interaction: number;
  readonly total: {
    readonly loss: number;
    readonly pct_of_ebitda: number | null;
    readonly pct_of_assets: number | null;
    readonly score: number;
    readonly rating: Rating;
    /** Range over the sensitivity cases, each changing one assumption, percent of EBITDA. */
    readonly low: number | null;
    readonly high: number | null;
    /** Denominator of the percentages: 16% of revenue if EBITDA is not positive. */
    readonly measured_by: "ebitda" | "16_pct_of_revenue";
    readonly note?: string;
  };
  readonly credit: { readonly debt_to_ebitda: BeforeAfter; readonly interest_coverage: BeforeAfter };
}

/** Effect of a scenario on the value of the company, USD of 2025. */
export interface CompanyValuation {
  readonly scenario: string;
  /** Discounted losses of 2026 to 2050 after tax, at most total assets. */
  readonly npv_of_losses: number;
  readonly npv_uncapped: number;
  /** Percent of the present value of EBITDA to 2050; null if EBITDA is not positive. */
  readonly value_at_risk_pct: number | null;
  readonly asset_value_after: number;
  /** Probability of default within five years; null for a bank or insurer without `total_liabilities`. */
  readonly pd_5y_before: number | null;
  readonly pd_5y_after: number | null;
}

export interface CompanyHeadline {
  /** The scenario and year with the highest score; the first one if tied. */
  readonly max: {
    readonly score: number;
    readonly pct_of_ebitda: number | null;
    readonly scenario: string;
    readonly year: number;
  };
  /** Unweighted mean over all scenarios and years. */
  readonly mean: { readonly score: number; readonly pct_of_ebitda: number | null };
}

interface Provenance {
  readonly data_quality: readonly DataQuality[];
  readonly warnings: readonly Remark[];
  readonly sources: readonly DataSource[];
  readonly method_version: string;
}

/** Estimated emissions of a company. */
export interface EmissionsAnswer extends Provenance {
  readonly company: CompanyEcho;
  readonly units: { readonly money: string; readonly emissions: string };
  readonly emissions: EmissionsFigures;
}

/** Climate-related losses of a company and how they were computed. */
export interface CompanyAnswer extends EmissionsAnswer {
  /** In the order of the requested scenarios, years ascending. */
  readonly results: readonly CompanyResult[];
  readonly valuation: readonly CompanyValuation[];
  readonly headline: CompanyHeadline;
  readonly assumptions: readonly string[];
}
