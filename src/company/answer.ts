import type { AcuteHazard } from "./countryFigures.ts";
import type { DataSource } from "./dataSources.ts";
import type { IndustryMatch } from "./industryLookup.ts";
import type { DataQuality } from "./dataQuality.ts";
import type { Remark } from "./remarks.ts";
import type { Scenario } from "./scenarios.ts";
import type { Rating } from "./score.ts";

/** How the company of an answer was understood. */
export interface CompanyEcho {
  /** null where a request for emissions gives none. */
  readonly name: string | null;
  readonly country: { readonly iso3: string; readonly name: string; readonly tier: "A" | "B" };
  readonly industry: { readonly id: string; readonly name: string; readonly matched_on: IndustryMatch["on"] };
}

/** Emissions of one scope, t CO2e a year, and how far they may be off. */
export interface EmissionsFigure {
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly method: "modelled" | "reported";
  /** Data quality as PCAF scores it, 1 (best) to 5. */
  readonly pcaf_score: number;
}

export interface EmissionsFigures {
  readonly scope1: EmissionsFigure;
  readonly scope2: EmissionsFigure;
  readonly scope3_upstream: EmissionsFigure;
  readonly scope3_downstream: EmissionsFigure;
  /** What a bank's loans finance, category 15; null for others, and where total assets are not given. */
  readonly financed: EmissionsFigure | null;
}

/** A figure before the scenario and under it; null where there is none. */
export interface BeforeAfter {
  readonly before: number | null;
  readonly after: number | null;
}

/** One scenario in one year. Money in USD of 2025 a year; shares are fractions but where `pct` says percent. */
export interface CompanyResult {
  readonly scenario: string;
  readonly family: Scenario["family"];
  readonly vintage: Scenario["vintage"];
  readonly year: number;
  readonly drivers: {
    /** USD of 2025 per t CO2e: of the scenario, under current policies, and what the one asks beyond the other. */
    readonly price: number;
    readonly baseline_price: number;
    readonly price_shock: number;
    /** The shock that the buyers of a fuel meet, all over the world; that of the country for who sells none. */
    readonly fuel_price_shock: number;
    /** Which model's price it is, or the median of many. */
    readonly price_model: string;
    /** Global warming and the country's mean temperature, degrees C. */
    readonly gsat: number;
    readonly local_temperature: number;
    readonly local_temperature_2020: number;
    /** The cut of the scenario, and what the company abates of its own emissions. */
    readonly emissions_cut: number;
    readonly abatement_share: number;
    /** USD per t of today's scope 1. */
    readonly unit_cost: number;
    readonly pass_through: number;
  };
  readonly transition: {
    readonly gross_cost: number;
    readonly volume_change: number;
    readonly own_volume_change: number;
    readonly fuel_volume_change: number;
    /** A change of volume is held at -0.8. */
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
      /** The loss if wages do not fall with output. */
      readonly loss_upper_bound: number;
    };
    readonly acute: {
      /** Average yearly loss as a fraction of capital. */
      readonly by_hazard: Readonly<Record<AcuteHazard, number>>;
      readonly aal_fraction: number;
      readonly asset_loss: number;
      readonly interruption: number;
    };
    readonly score: number;
    /** Among the 180 countries whose figures all come from data, percent. */
    readonly percentile: { readonly acute: number; readonly chronic: number };
  };
  readonly interaction: number;
  readonly total: {
    readonly loss: number;
    readonly pct_of_ebitda: number | null;
    readonly pct_of_assets: number | null;
    readonly score: number;
    readonly rating: Rating;
    /** The range when one thing is taken otherwise, percent of EBITDA. */
    readonly low: number | null;
    readonly high: number | null;
    /** What percent are of: 16% of revenue where EBITDA is not above 0. */
    readonly measured_by: "ebitda" | "16_pct_of_revenue";
    readonly note?: string;
  };
  readonly credit: { readonly debt_to_ebitda: BeforeAfter; readonly interest_coverage: BeforeAfter };
}

/** What a scenario does to the value of the company. USD of 2025. */
export interface CompanyValuation {
  readonly scenario: string;
  /** Losses of 2026 to 2050 after tax, discounted, at most total assets. */
  readonly npv_of_losses: number;
  readonly npv_uncapped: number;
  /** Of the value of all EBITDA to 2050; null where EBITDA is not above 0. */
  readonly value_at_risk_pct: number | null;
  readonly asset_value_after: number;
  /** Chance of default within five years; null for a bank or insurer without `total_liabilities`. */
  readonly pd_5y_before: number | null;
  readonly pd_5y_after: number | null;
}

export interface CompanyHeadline {
  /** The worst scenario and year, the first of equal ones. */
  readonly max: {
    readonly score: number;
    readonly pct_of_ebitda: number | null;
    readonly scenario: string;
    readonly year: number;
  };
  /** The plain mean over all scenarios and years. */
  readonly mean: { readonly score: number; readonly pct_of_ebitda: number | null };
}

interface Provenance {
  readonly data_quality: readonly DataQuality[];
  readonly warnings: readonly Remark[];
  readonly sources: readonly DataSource[];
  readonly method_version: string;
}

/** What a company emits. */
export interface EmissionsAnswer extends Provenance {
  readonly company: CompanyEcho;
  readonly units: { readonly money: string; readonly emissions: string };
  readonly emissions: EmissionsFigures;
}

/** What a company stands to lose, and how that comes about. */
export interface CompanyAnswer extends EmissionsAnswer {
  /** In the order of the scenarios asked for, years ascending. */
  readonly results: readonly CompanyResult[];
  readonly valuation: readonly CompanyValuation[];
  readonly headline: CompanyHeadline;
  readonly assumptions: readonly string[];
}
