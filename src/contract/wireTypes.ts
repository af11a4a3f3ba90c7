/**
 * The types of all requests and responses. Generated from the schemas of src/contract/ by `npm run build:wire-types`: edit
 * the schemas, not this file.
 *
 * The types are written out, not derived with `Static`, so that editors show the description of each member, and so that
 * users of the types do not load TypeBox.
 */

export interface About {
  readonly service: string;
  /** Interactive API page. */
  readonly documentation: string;
  /** OpenAPI document. */
  readonly openapi: string;
  readonly health: string;
  readonly readiness: string;
  readonly atlas: {
    readonly release: string;
    /** True if all values are invented, as in the demo. */
    readonly synthetic: boolean;
  };
}

export interface AlignedYear {
  readonly year: number;
  /** Implied warming in 2100, degrees C, 1.3 to 6; rounded to two decimals in responses. */
  readonly temperature_alignment: number | null;
  /** Why there is no temperature; present exactly when it is null. */
  readonly reason?: AlignmentReason;
  /** As submitted. */
  readonly label?: string;
  /** Temperatures at 5 % lower and 5 % higher projected emissions; absent if the temperature is null. */
  readonly range?: TemperatureRange;
  /** Temperatures at the 10th and 90th percentile of the climate response; absent if the temperature is null. */
  readonly climate_range?: TemperatureRange;
  /** Temperatures of a part of the scopes. The temperature of all scopes is not their mean. */
  readonly by_scope?: ScopeTemperatures;
  /**
   * Sums of absolute emissions over the years after the baseline year up to this year, in the unit of the request;
   * absent without a usable scope or with a baseline of zero.
   */
  readonly budget?: EmissionsBudget;
  /** Fraction of the emissions that the temperature covers; present if a scope is left out. */
  readonly coverage?: number;
  /** Flags of the year; absent if there are none. */
  readonly flags?: readonly AlignmentFlag[];
  /** With detail: how the temperature was computed, unrounded. A figure that does not exist is null. */
  readonly detail?: AlignmentDetail;
}

export interface AlignmentAnswer {
  /** Version of the method. Results of different versions are not comparable. */
  readonly method: string;
  /** Version of the benchmark. */
  readonly benchmark: string;
  /** One element per entity, in the order submitted. */
  readonly results: readonly AlignmentResult[];
}

/** With detail: how the temperature was computed, unrounded. A figure that does not exist is null. */
export interface AlignmentDetail {
  /** Version of the method. */
  readonly method: string;
  /** Version of the benchmark. */
  readonly benchmark: string;
  /** Source of the benchmark. */
  readonly credit: string;
  /**
   * Quantity compared with the pathways: emissions per revenue, emissions, or cumulative emissions since the baseline.
   */
  readonly basis: AlignmentBasis;
  /** Degrees C, with emissions per revenue as the basis. */
  readonly temperature_intensity: number | null;
  /** Degrees C, with emissions as the basis. */
  readonly temperature_emissions: number | null;
  /** Degrees C, with cumulative emissions as the basis. */
  readonly temperature_cumulative: number | null;
  /** The pathway that the entity is compared with. */
  readonly pathway: Pathway;
  /** Which field selected the pathway, and the matching row and key of the sector table. */
  readonly matched: MatchedSector;
  /** The pathway that each usable scope is compared with. */
  readonly scope_pathways: {
    /** Sector of the benchmark. */
    readonly scope1?: Pathway;
    /** Sector of the benchmark. */
    readonly scope2?: Pathway;
    /** Sector of the benchmark. */
    readonly scope3?: Pathway;
  };
  /** Sums over the usable scopes, i.e. those given in both years; in the unit of the request. */
  readonly emissions: {
    /** In the baseline year. */
    readonly baseline: number | null;
    /** In the projected year. */
    readonly projected: number | null;
  };
  /** Projected emissions divided by those of the baseline. */
  readonly emissions_ratio: number | null;
  /** Growth since the baseline year. */
  readonly growth: {
    /**
     * Revenue of the request, the country's economy, that of its region, or none known; null in the bases that do not
     * use growth.
     */
    readonly source: "supplied" | "country" | "region" | "default" | null;
    /** ISO 3166 alpha-3 code or region of the growth series, if one is used. */
    readonly series: string | null;
    /** Growth of the benchmark economy divided by growth of the entity; 1 if growth is not used. */
    readonly factor: number | null;
  };
  /** Same as `growth.factor`. */
  readonly growth_factor: number | null;
  /** The ratio that is compared with the anchors in the evaluated year. */
  readonly emissions_ratio_q: number | null;
  /** The year in which the ratio is compared with the anchors. */
  readonly evaluated_year: number;
  /** In ascending order of warming. */
  readonly anchors: readonly Anchor[];
  /** The benchmark's ratio for each anchor, in ascending order. */
  readonly benchmark_ratio_at_anchors: readonly number[] | null;
  /** The same before anchors that are out of order or too close were moved. */
  readonly benchmark_ratio_raw: readonly number[] | null;
  /** The anchors on either side of the ratio. */
  readonly between: {
    /** Scenario of the cooler anchor. */
    readonly below: string | null;
    /** Scenario of the warmer anchor. */
    readonly above: string | null;
    /** Relative distance of the ratio from the cooler to the warmer anchor. */
    readonly weight: number;
  } | null;
  /** Same as `growth.series`. */
  readonly growth_region: string | null;
  /** In the currency of the request; the projected one, if not given, grows with the economy. */
  readonly revenue: {
    /** In the baseline year. */
    readonly baseline: number | null;
    /** In the projected year. */
    readonly projected: number | null;
  };
  /** Emissions divided by revenue. */
  readonly intensity: {
    /** In the baseline year. */
    readonly baseline: number | null;
    /** In the projected year. */
    readonly projected: number | null;
  };
  /** null without convergence to the intensity of the industry. */
  readonly convergence: {
    /** Ratio of the entity's intensity to that of its industry, bounded. */
    readonly kappa: number;
    /** Fraction of the gap to the industry's intensity that closes by 2050. */
    readonly gamma: number;
  } | null;
  /** Temperature of each usable scope alone. The temperature of all scopes is not their mean. */
  readonly temperature_by_scope: {
    /** Degrees C. */
    readonly scope1?: number | null;
    /** Degrees C. */
    readonly scope2?: number | null;
    /** Degrees C. */
    readonly scope3?: number | null;
  };
  /** As in the year, unrounded. */
  readonly range: TemperatureRange | null;
  /** As in the year, unrounded. */
  readonly climate_range: TemperatureRange | null;
  /** As in the year, unrounded. */
  readonly by_scope: ScopeTemperatures;
  /** Budgets against all four scenarios, unrounded. */
  readonly budget: readonly EmissionsBudget[] | null;
  /** As in the year; null if no scope is left out. */
  readonly coverage: number | null;
  /** The flags of the entity and of the year. */
  readonly flags: readonly AlignmentFlag[];
}

/** Qualifies a temperature. */
export type AlignmentFlag =
  | "unknown_industry"
  | "industry_from_sector"
  | "unknown_country"
  | "unknown_classification"
  | "scope3_absent"
  | "early_baseline"
  | "scope_dropped"
  | "no_usable_scope"
  | "zero_baseline"
  | "negative_scope"
  | "implausible_change"
  | "growth_default"
  | "growth_region"
  | "growth_limited"
  | "growth_driven"
  | "revenue_unusable"
  | "short_horizon"
  | "beyond_table"
  | "duplicate_year"
  | "anchors_close"
  | "sensitive";

/** Why there is no temperature; present exactly when it is null. */
export type AlignmentReason = "no_usable_scope" | "zero_baseline";

export interface AlignmentResult {
  /** As submitted, without the identifier; members that were not given are absent. */
  readonly entity_info: EntityEcho;
  /** Flags of the entity; absent if there are none. */
  readonly flags?: readonly AlignmentFlag[];
  /** The nearest known name of each text that matched nothing. Temperatures do not use it. */
  readonly did_you_mean?: NameSuggestions;
  /** One element per projection record, in the order submitted. */
  readonly data: readonly AlignedYear[];
  /** Present if requested; null if no projection record has a weight. */
  readonly overall?: OverallTemperature | null;
  /** Years with a temperature under at least two labels, ascending; absent if there are none. */
  readonly blended?: readonly BlendedYear[];
}

/** A scenario of the benchmark and its warming in 2100. */
export interface Anchor {
  readonly scenario: string;
  /** Global mean surface temperature in 2100 above 1850-1900, median, degrees C. */
  readonly temperature_2100_c: number;
  /** 10th percentile of the climate response, degrees C. */
  readonly temperature_2100_p10_c: number;
  /** 90th percentile of the climate response, degrees C. */
  readonly temperature_2100_p90_c: number;
}

/** Mean temperature of a year over the labels, weighted by their probability. */
export interface BlendedYear {
  readonly year: number;
  /** Degrees C; rounded to two decimals in responses. */
  readonly temperature_alignment: number;
  /** The mean of the ranges of the labels, with the same weights. */
  readonly range: TemperatureRange;
}

/** Sums of absolute emissions over the years after the baseline year up to this year, in the unit of the request. */
export interface EmissionsBudget {
  /** Scenario of the benchmark. */
  readonly scenario: string;
  /** Emissions of an entity that follows the scenario. */
  readonly allowed: number;
  /** Emissions of the entity. */
  readonly projected: number;
  /** `projected` less `allowed`; negative below the budget. */
  readonly overshoot: number;
  /** Overshoot in percent of `allowed`, rounded to two decimals; null if nothing is allowed. */
  readonly overshoot_pct: number | null;
}

/** Which field selected the pathway, and the matching row and key of the sector table. */
export interface MatchedSector {
  /** The field that matched; null if neither did. */
  readonly on: "industry" | "sector" | null;
  /** Row of the sector table, from 1. */
  readonly row: number | null;
  /** The first key of the row that matched. */
  readonly key: string | null;
}

/** The nearest known name of each text that matched nothing. Temperatures do not use it. */
export interface NameSuggestions {
  readonly country?: string;
  readonly industry?: string;
  readonly sector?: string;
}

/**
 * Mean temperature of all projection records, weighted by the distance between the coolest and the warmest scenario in
 * their year and by the probability of their label.
 */
export interface OverallTemperature {
  /** Degrees C; rounded to two decimals in responses. */
  readonly temperature_alignment: number;
  /** The mean of the ranges of the years, with the same weights. */
  readonly range: TemperatureRange;
  /** Number of projection records that have a temperature. */
  readonly years: number;
}

/** Sector of the benchmark. */
export type Pathway = "economy" | "power" | "energy_supply" | "industry" | "transport" | "buildings";

/** Temperatures of a part of the scopes. The temperature of all scopes is not their mean. */
export interface ScopeTemperatures {
  /** Scopes 1 and 2, degrees C. */
  readonly s1s2: number | null;
  /** Scope 3, degrees C. */
  readonly s3: number | null;
}

/** Bounds of a temperature; rounded to two decimals in responses. */
export interface TemperatureRange {
  /** Degrees C. */
  readonly low: number;
  /** Degrees C. */
  readonly high: number;
}

/**
 * Quantity compared with the pathways: emissions per revenue, emissions, or cumulative emissions since the baseline.
 */
export type AlignmentBasis = "intensity" | "emissions" | "cumulative";

/** A member that a request can add to the results. */
export type AlignmentInclude = "by_scope" | "budget" | "climate_range" | "overall";

export interface AlignmentParameters {
  /** Adds to each year how its temperature was computed, and everything that `include` can add. Default: false. */
  readonly detail?: boolean;
  /**
   * Quantity compared with the pathways: emissions per revenue, emissions, or cumulative emissions since the baseline.
   * Default: intensity.
   */
  readonly basis?: AlignmentBasis;
  /** Members to add to the results. At least 1 item, without duplicates. */
  readonly include?: readonly AlignmentInclude[];
  /** Scenario that `budget` compares the emissions with. Default: net_zero_2050. */
  readonly budget_scenario?: BudgetScenario;
  /**
   * Fraction of the gap to the emissions intensity of the industry that closes by 2050; not used if absent. Applies to
   * entities with revenue in USD and a price year, whose emissions must be in t CO2e. At most 1.
   */
  readonly convergence?: number;
  /** Id of the benchmark. Default: ngfs-phase5-message-r12/2. */
  readonly benchmark?: "ngfs-phase5-message-r12/2";
}

/** At least 1 item. */
export type AlignmentRequest = readonly Entity[];

/** Scenario that `budget` compares the emissions with. */
export type BudgetScenario = "net_zero_2050" | "below_2c" | "ndcs" | "current_policies";

/** As submitted, without the identifier; members that were not given are absent. */
export interface EntityEcho {
  readonly name: string;
  readonly asset_type: "equity";
  /** ISO code or name; determines the assumed growth of revenue. */
  readonly country?: string;
  /** gics, nace, naics, isic, sics, trbc, icb, factset or custom. Names of other systems are matched the same way. */
  readonly industry_classification_system?: string;
  /** Name, not code, of the industry in that system. */
  readonly industry?: string;
  /** Name of the sector; used if the industry does not match. */
  readonly sector?: string;
}

/**
 * A company: its description, its emissions in exactly one baseline year, and in one or more later years. A scope is
 * used in a year if the baseline has it too.
 */
export interface Entity {
  readonly entity_info: {
    /** Identifier assigned by the caller; not echoed. */
    readonly identifier?: string;
    readonly name: string;
    readonly asset_type: "equity";
    /** ISO code or name; determines the assumed growth of revenue. */
    readonly country?: string;
    /** gics, nace, naics, isic, sics, trbc, icb, factset or custom. Names of other systems are matched the same way. */
    readonly industry_classification_system?: string;
    /** Name, not code, of the industry in that system. */
    readonly industry?: string;
    /** Name of the sector; used if the industry does not match. */
    readonly sector?: string;
  };
  /** Exactly one baseline year. */
  readonly data: readonly {
    /** The baseline year. 1900 to 2200. */
    readonly year: number;
    /** In any unit, the same in all years; at least one scope. */
    readonly emissions: ScopeEmissions;
    readonly financials?: {
      /** In any currency; its level cancels out unless convergence is requested. -1e15 to 1e15. */
      readonly revenue?: number;
      /** Not used. -1e15 to 1e15. */
      readonly ebitda?: number;
      /** ISO 4217 code. Used by the convergence, which needs USD. */
      readonly currency?: string;
      /** Year in whose prices revenue is given. Used by the convergence. 2015 to 2024. */
      readonly price_year?: number;
    };
  }[];
  /** The answer keeps their order. At least 1 item. */
  readonly projected_emissions: readonly {
    /** A year after the baseline year. 1900 to 2200. */
    readonly year: number;
    /** In any unit, the same in all years; at least one scope. */
    readonly emissions: ScopeEmissions;
    readonly financials?: {
      /** Projected revenue, in the currency and prices of the baseline. -1e15 to 1e15. */
      readonly revenue?: number;
    };
    /** Name of the projection that the record belongs to, on all records or on none. 1 to 64 characters. */
    readonly label?: string;
    /**
     * Weight of the projection: the same on all records of a label, on all labels or on none, not all 0. The weights
     * are divided by their sum. 0 to 1.
     */
    readonly probability?: number;
  }[];
}

/** In any unit, the same in all years; at least one scope. */
export interface ScopeEmissions {
  /** Direct emissions. Removals are negative. -1e15 to 1e15. */
  readonly scope1?: number;
  /** Emissions from purchased electricity and heat. -1e15 to 1e15. */
  readonly scope2?: number;
  /** Upstream and downstream emissions of the value chain. -1e15 to 1e15. */
  readonly scope3?: number;
}

/** A figure; null if it is undefined. */
export interface BeforeAfter {
  /** Without the losses of the scenario. */
  readonly before: number | null;
  /** With the losses of the scenario. */
  readonly after: number | null;
}

/** Climate-related losses of a company, and how they were computed. */
export interface CompanyAnswer {
  /** The company as the request was understood. */
  readonly company: CompanyEcho;
  readonly units: {
    readonly money: string;
    readonly emissions: string;
  };
  readonly emissions: EmissionsFigures;
  readonly data_quality: readonly DataQuality[];
  readonly warnings: readonly Remark[];
  readonly sources: readonly DataSource[];
  /** Changes with every formula or figure of the method. */
  readonly method_version: string;
  /** Assumptions of the request, or their defaults. */
  readonly assumptions: CompanyAssumptions;
  /** Figures of the tables that the answer was computed with. */
  readonly parameters: {
    /** Parameters of an industry. */
    readonly industry: IndustryParameters;
    /** Figures of a country. */
    readonly country: CountryParameters;
  };
  /** In the requested order of scenarios, years ascending. */
  readonly results: readonly CompanyResult[];
  /** One element per scenario. */
  readonly valuation: readonly CompanyValuation[];
  readonly headline: CompanyHeadline;
}

/** Assumptions of the request, or their defaults. */
export interface CompanyAssumptions {
  /** Real discount rate, as a fraction. */
  readonly discount_rate: number;
  /** First year with carbon prices above current policies. */
  readonly shock_year: number;
  /** Share of costs that is passed on in every year; null: that of the industry, by year. */
  readonly pass_through: number | null;
  /** Loss given default, as a fraction. */
  readonly lgd: number;
  /** Loss of output as a function of warming. */
  readonly damage_function: "ngfs4" | "kalkuhl_wenz" | "howard_sterner" | "dice2016" | "ngfs5_kotz";
  /** Model of the NGFS carbon prices. */
  readonly iam: "remind" | "messageix" | "gcam";
}

/** The company as the request was understood. */
export interface CompanyEcho {
  /** null if a request for emissions has none. */
  readonly name: string | null;
  readonly country: {
    /** ISO 3166 alpha-3 code. */
    readonly iso3: string;
    readonly name: string;
    /** A: all figures come from data. B: some are substitutes. */
    readonly tier: "A" | "B";
  };
  readonly industry: {
    readonly id: string;
    readonly name: string;
    /** Kind of name or code that the industry was found by. */
    readonly matched_on: "id" | "name" | "alias" | "isic" | "nace" | "naics";
  };
  /** Figures of the company, as sent or estimated. */
  readonly figures: {
    /** Revenue. USD of 2025 per year. */
    readonly revenue: number;
    /** Total assets, USD of 2025. */
    readonly total_assets: number;
    /** EBITDA. USD of 2025 per year. */
    readonly ebitda: number;
    /** Total debt, USD of 2025. */
    readonly total_debt: number;
    /**
     * EBITDA that losses are measured by: at least half of what is normal in the industry at this revenue. USD of 2025
     * per year.
     */
    readonly normalized_ebitda: number;
    /** Members that the request did not have. */
    readonly estimated: readonly ("total_assets" | "ebitda" | "total_debt")[];
  };
}

export interface CompanyHeadline {
  /** The scenario and year with the highest loss ratio; the first one if tied. */
  readonly max: {
    /** Id of the scenario. */
    readonly scenario: string;
    readonly year: number;
    /** 0 to 100. 0 to 100. */
    readonly score: number;
    /** All losses over normalized EBITDA. */
    readonly loss_ratio: number;
    /** Loss in percent of normalized EBITDA. */
    readonly pct_of_ebitda: number;
  };
  /** Unweighted mean over all scenarios and years. */
  readonly mean: {
    /** 0 to 100. 0 to 100. */
    readonly score: number;
    /** All losses over normalized EBITDA. */
    readonly loss_ratio: number;
    /** Loss in percent of normalized EBITDA. */
    readonly pct_of_ebitda: number;
  };
}

/** Losses in one scenario and year. */
export interface CompanyResult {
  /** Id of the scenario. */
  readonly scenario: string;
  readonly family: "NGFS" | "IPCC";
  /** NGFS: the phase. IPCC: the assessment report. */
  readonly vintage: "5" | "AR6";
  readonly year: number;
  readonly drivers: {
    /** Carbon price of the scenario, USD of 2025 per t CO2e. */
    readonly price: number;
    /** Carbon price under current policies, USD of 2025 per t CO2e. */
    readonly baseline_price: number;
    /** Price of the scenario above that of current policies, USD of 2025 per t CO2e, 0 or more. */
    readonly price_shock: number;
    /**
     * Price shock that the buyers of what the company sells meet: for fuel traded worldwide that of the world, else
     * that of the country. USD of 2025 per t CO2e.
     */
    readonly fuel_price_shock: number;
    /** Model that the price comes from; ar6: median of an ensemble. */
    readonly price_model: "remind" | "messageix" | "gcam" | "ar6";
    /** Region of the price. */
    readonly price_region: "World" | "R5OECD" | "R5ASIA" | "R5LAM" | "R5MAF" | "R5REF";
    /** Global warming, degrees C. */
    readonly gsat: number;
    /** Mean temperature of the country, degrees C. */
    readonly local_temperature: number;
    /** Mean temperature of the country in 2020, degrees C. */
    readonly local_temperature_2020: number;
    /** Share of capital that is renewed and can abate, as a fraction. */
    readonly capital_renewed: number;
    /** Share of its own emissions that the company abates rather than pays for, as a fraction. */
    readonly abatement_share: number;
    /** USD per t of current scope 1 emissions. */
    readonly unit_cost: number;
    /** USD per t of current scope 2 emissions. */
    readonly unit_cost_scope2: number;
    /** USD per t of current upstream emissions. */
    readonly unit_cost_upstream: number;
    /** Cost that buyers see, USD per t of current downstream emissions. */
    readonly product_unit_cost: number;
    /** Share of the cost that is passed on to buyers, as a fraction. */
    readonly pass_through: number;
  };
  readonly transition: {
    /** Cost before pass-through. USD of 2025 per year. */
    readonly gross_cost: number;
    /** Relative change of the volume sold, -1 to 0. */
    readonly volume_change: number;
    /** The change if only the company's own prices rose. */
    readonly own_volume_change: number;
    /** The change if only the cost of using its products rose. */
    readonly product_volume_change: number;
    /** Loss after closures, below normalized EBITDA. USD of 2025 per year. */
    readonly loss: number;
    /** Loss without closures. USD of 2025 per year. */
    readonly uncapped: number;
    /** Whether the loss without closures is normalized EBITDA or more. */
    readonly capped: boolean;
    /** For a bank: loss on its loans. USD of 2025 per year. */
    readonly credit_loss: number;
    /** 0 to 100. 0 to 100. */
    readonly score: number;
    /** Why there is no loss. */
    readonly note?: string;
  };
  readonly physical: {
    readonly chronic: {
      /** Fraction of the country's output that is lost. */
      readonly damage_fraction: number;
      /** Loss to warming. USD of 2025 per year. */
      readonly loss: number;
    };
    readonly acute: {
      /** Average annual loss as a fraction of capital; null if the source does not have the hazard. */
      readonly by_hazard: {
        readonly flood: number | null;
        readonly wind: number | null;
        readonly surge: number | null;
      };
      /** Average annual loss of all hazards, as a fraction of capital. */
      readonly aal_fraction: number;
      /** Damage to assets. USD of 2025 per year. */
      readonly asset_loss: number;
      /** Loss of business. USD of 2025 per year. */
      readonly interruption: number;
    };
    /** 0 to 100. 0 to 100. */
    readonly score: number;
    /** Percentile among the 180 countries with complete data, percent. */
    readonly percentile: {
      readonly acute: number;
      readonly chronic: number;
    };
  };
  /** Difference between the total and the sum of its parts, because of closures; 0 or less. USD of 2025 per year. */
  readonly interaction: number;
  readonly total: {
    /** Loss after closures, below normalized EBITDA. USD of 2025 per year. */
    readonly loss: number;
    /** All losses without closures over normalized EBITDA, without an upper limit. Ranks companies. */
    readonly loss_ratio: number;
    /** Loss in percent of normalized EBITDA. */
    readonly pct_of_ebitda: number;
    /** Loss in percent of total assets. */
    readonly pct_of_assets: number;
    /** 0 to 100. 0 to 100. */
    readonly score: number;
    readonly rating: "A" | "B" | "C" | "D" | "E";
    /**
     * Lower end of the range over the sensitivity cases, each changing one assumption, percent of normalized EBITDA.
     */
    readonly low: number;
    /** Upper end of the range, percent of normalized EBITDA. */
    readonly high: number;
    /** Denominator of the percentages: EBITDA, or half of what is normal in the industry if that is more. */
    readonly measured_by: "ebitda" | "normal_ebitda";
  };
  /** Effect on credit, as if the loss of the year lasted. */
  readonly credit: {
    /** Debt over EBITDA as sent; null if EBITDA is not above 0. */
    readonly debt_to_ebitda: BeforeAfter;
    /** EBITDA as sent over interest; null without debt. */
    readonly interest_coverage: BeforeAfter;
    /**
     * Probability of default within five years, 0 to 1, as if the loss of the year lasted; null for a bank or insurer
     * without total_liabilities.
     */
    readonly pd_5y: BeforeAfter;
    /** Probability of default within one year, 0 to 1; null if it is undefined. */
    readonly pd_1y: {
      /** Without the losses of the scenario. */
      readonly before: number | null;
      /** With the losses of the scenario. */
      readonly after: number | null;
      /** own: the pd of the request. model: from the five-year one. */
      readonly basis: "own" | "model";
    };
    /** Expected loss of one year, basis points of the exposure. */
    readonly expected_loss_bp: BeforeAfter;
    /** Expected loss of one year, USD of 2025. Present if the request has an exposure. */
    readonly expected_loss?: BeforeAfter;
  };
}

/** Effect of a scenario on the value of the company. */
export interface CompanyValuation {
  /** Id of the scenario. */
  readonly scenario: string;
  /** Discounted losses of 2026 to 2050 after tax. USD of 2025. */
  readonly npv_of_losses: number;
  /** Discounted losses without closures. USD of 2025. */
  readonly npv_uncapped: number;
  /** Total assets, or the present value of normalized EBITDA to 2050 if that is more. USD of 2025. */
  readonly value_before: number;
  /** Discounted losses in percent of the value before. */
  readonly value_at_risk_pct: number;
  /** Total assets less the same percentage. USD of 2025. */
  readonly asset_value_after: number;
  /** Probability of default within five years, 0 to 1; null for a bank or insurer without total_liabilities. */
  readonly pd_5y_before: number | null;
  /** Probability of default after the losses. */
  readonly pd_5y_after: number | null;
  /** Probability of default within one year, 0 to 1; null if it is undefined. */
  readonly pd_1y: {
    /** Without the losses of the scenario. */
    readonly before: number | null;
    /** With the losses of the scenario. */
    readonly after: number | null;
    /** own: the pd of the request. model: from the five-year one. */
    readonly basis: "own" | "model";
  };
  /** Expected loss of one year, basis points of the exposure. */
  readonly expected_loss_bp: BeforeAfter;
  /** Expected loss of one year, USD of 2025. Present if the request has an exposure. */
  readonly expected_loss?: BeforeAfter;
}

/** Quality of a part of the answer. */
export interface DataQuality {
  /** Members of the answer, by path. */
  readonly output: string;
  /**
   * The weakest mark among the inputs: P published and checked, M quoted from memory, D derived from listed data, J our
   * judgment; or reported.
   */
  readonly mark: QualityMark | (string & {});
  /** Explanation for people. */
  readonly detail: string;
}

/** A source of the figures in an answer. */
export interface DataSource {
  /** The figures. */
  readonly what: string;
  /** Publications that they come from. */
  readonly source: string;
  /** License or terms of use. */
  readonly terms: string;
}

/** Estimated emissions of a company. */
export interface EmissionsAnswer {
  /** The company as the request was understood. */
  readonly company: EmitterEcho;
  readonly units: {
    readonly money: string;
    readonly emissions: string;
  };
  readonly emissions: EmissionsFigures;
  readonly data_quality: readonly DataQuality[];
  readonly warnings: readonly Remark[];
  readonly sources: readonly DataSource[];
  /** Changes with every formula or figure of the method. */
  readonly method_version: string;
}

/** Emissions of one scope. */
export interface EmissionsFigure {
  /** t CO2e per year. */
  readonly value: number;
  /** Lower end of the range, t CO2e per year. */
  readonly low: number;
  /** Upper end of the range, t CO2e per year. */
  readonly high: number;
  /** split: a part of a reported total of scope 3. */
  readonly method: "modelled" | "reported" | "split";
  /** Data quality, 1 is best. 1 to 5. */
  readonly pcaf_score: number;
  /** What the model expects, t CO2e per year. */
  readonly modelled: number;
}

export interface EmissionsFigures {
  /** Emissions of one scope. */
  readonly scope1: EmissionsFigure;
  /** Emissions of one scope. */
  readonly scope2: EmissionsFigure;
  /** Emissions of one scope. */
  readonly scope3_upstream: EmissionsFigure;
  /** Emissions of one scope. */
  readonly scope3_downstream: EmissionsFigure;
  /** Financed emissions of a bank (scope 3, category 15); null for other companies. */
  readonly financed: EmissionsFigure | null;
}

/** The company as the request was understood. */
export interface EmitterEcho {
  /** null if a request for emissions has none. */
  readonly name: string | null;
  readonly country: {
    /** ISO 3166 alpha-3 code. */
    readonly iso3: string;
    readonly name: string;
    /** A: all figures come from data. B: some are substitutes. */
    readonly tier: "A" | "B";
  };
  readonly industry: {
    readonly id: string;
    readonly name: string;
    /** Kind of name or code that the industry was found by. */
    readonly matched_on: "id" | "name" | "alias" | "isic" | "nace" | "naics";
  };
}

/**
 * Marks of this release, best first: P published and checked, M quoted from memory, D derived from listed data, J our
 * judgment; and reported by the caller.
 */
export type QualityMark = "P" | "M" | "D" | "J" | "reported";

/** Codes of the warnings of this release. */
export type RemarkCode =
  | "country_fallback"
  | "river_flood_not_shown"
  | "carbon_intensity_held"
  | "scope1_far_from_model"
  | "scope2_far_from_model"
  | "scope3_far_from_model"
  | "emissions_implausible"
  | "scope3_split"
  | "total_assets_estimated"
  | "ebitda_estimated"
  | "total_debt_estimated"
  | "ebitda_below_normal"
  | "ebitda_above_revenue"
  | "debt_above_assets"
  | "revenue_small"
  | "revenue_large"
  | "total_liabilities_missing"
  | "total_liabilities_unused"
  | "no_underwriting"
  | "iam_unused"
  | "world_price"
  | "substitute_price"
  | "price_inversion"
  | "no_shock"
  | "damages_retracted";

/** A warning about a figure. */
export interface Remark {
  /** For programs to branch on: the meaning of a code never changes; new codes may be added. */
  readonly code: RemarkCode | (string & {});
  /** Explanation for people. */
  readonly detail: string;
  /** Id of the scenario that the warning is about. */
  readonly scenario?: string;
  /** For price_inversion. */
  readonly inversions?: readonly {
    /** Id of a more ambitious scenario with lower carbon prices. */
    readonly scenario: string;
    /** Requested years in which its prices are lower. */
    readonly years: readonly number[];
  }[];
}

/** Figures of a country. */
export interface CountryParameters {
  /** Region of the NGFS scenarios. */
  readonly ngfs_r5: "R5OECD" | "R5ASIA" | "R5LAM" | "R5MAF" | "R5REF";
  /** Emissions per GDP, t CO2e per million USD, 2022. */
  readonly ei_t_per_musd_nominal_2022: number;
  /** Carbon intensity of the economy relative to the US. */
  readonly ci_ratio_us: number;
  /** Price level relative to the US. */
  readonly price_level_rel_us: number;
  /** Carbon intensity of electricity relative to the US. */
  readonly grid_ratio_us: number;
  /** Mean temperature around 1990, weighted by population, degrees C. */
  readonly t0_c: number;
  /** Local over global warming. */
  readonly warming_ratio: number;
  /** Average annual loss to river floods, as a fraction of capital. */
  readonly aal_flood: number | null;
  /** Average annual loss to wind, as a fraction of capital. */
  readonly aal_wind: number | null;
  /** Average annual loss to storm surge, as a fraction of capital. */
  readonly aal_surge: number | null;
}

/** Parameters of an industry. */
export interface IndustryParameters {
  /** Scope 1, t CO2e per million USD of 2022 revenue in the US. */
  readonly s1_t_per_musd: number;
  /** Scope 2, t CO2e per million USD of 2022 revenue in the US. */
  readonly s2_t_per_musd: number;
  /** Scope 3, upstream, t CO2e per million USD of 2022 revenue in the US. */
  readonly s3up_t_per_musd: number;
  /** Scope 3, downstream, t CO2e per million USD of 2022 revenue in the US. */
  readonly s3down_t_per_musd: number;
  /** Exponent of scope 1 on the carbon intensity of the economy. */
  readonly theta_s1: number;
  /**
   * How scope 1 is scaled to the country: by the carbon intensity of its economy, by its grid and price level, by its
   * price level, or not at all.
   */
  readonly s1_scaling: "economy" | "grid" | "price_level" | "none";
  /** Factor from modeled scope 1 to the ends of its range. */
  readonly s1_range: number;
  /** Factor from modeled scope 2 to the ends of its range. */
  readonly s2_range: number;
  /** Factor from modeled scope 3 to the ends of its range, in both directions. */
  readonly s3_range: number;
  /**
   * Origin of the emission factors: compared with companies that report, table of the US EPA, analogy to related
   * industries, or judgment.
   */
  readonly factor_quality: "reporters" | "table" | "analogy" | "judgment";
  /** Group of industries with the same parameters. */
  readonly archetype: string;
  /** Value added as a share of revenue. */
  readonly va_share: number;
  /** Normal EBITDA as a share of revenue. */
  readonly ebitda_margin: number;
  /** Normal total assets over revenue. */
  readonly assets_to_revenue: number;
  /** Normal total debt over total assets. */
  readonly debt_to_assets: number;
  /** Share of costs that is passed on to prices in 2025. */
  readonly pass_through: number;
  /** Share of costs that is passed on to prices from 2040. */
  readonly pass_through_long: number;
  /** Carbon price at which everything is abated that renewed capital allows, USD per t. */
  readonly abatement_backstop_usd_t: number;
  /** Years until all capital is renewed. */
  readonly abatement_years: number;
  /** Largest share of scope 1 that can be abated. */
  readonly abatement_max_share: number;
  /** Relative loss of volume per relative rise of the price. */
  readonly demand_elasticity: number;
  /**
   * How a carbon price reaches the buyers: of fuel at world prices, of fuel at prices of the country, of durable goods,
   * or not at all.
   */
  readonly product_channel: "fuel_world" | "fuel" | "durable" | "none";
  /** Share of total assets that floods and storms can damage. */
  readonly tangible_share: number;
  /** Sensitivity to heat relative to the average industry. */
  readonly heat_sensitivity: number;
  /** Annual volatility of the value of the assets. */
  readonly asset_vol: number;
}

export interface ReferenceCountries {
  readonly items: readonly ReferenceCountry[];
}

export interface ReferenceCountry {
  readonly id: string;
  readonly name: string;
  /** Other accepted names. Case, accents and punctuation are ignored. */
  readonly aliases: readonly string[];
  /** ISO 3166 alpha-2 code; the id is the alpha-3 code. */
  readonly iso2: string;
  /** A: all figures come from data. B: some are substitutes. */
  readonly tier: "A" | "B";
  /** Figures that are substitutes. */
  readonly fallbacks: readonly string[];
  /** Figures of a country. */
  readonly parameters: CountryParameters;
}

export interface ReferenceIndustries {
  readonly items: readonly ReferenceIndustry[];
}

export interface ReferenceIndustry {
  readonly id: string;
  readonly name: string;
  /** Other accepted names. Case, accents and punctuation are ignored. */
  readonly aliases: readonly string[];
  readonly sector: string;
  /** ISIC, revision 4 codes. */
  readonly isic: readonly string[];
  /** NACE, revision 2 codes. */
  readonly nace: readonly string[];
  /** NAICS, 2017 codes. */
  readonly naics: readonly string[];
  /** Source of the emission factors. */
  readonly factor_source: string;
  /** Parameters of an industry. */
  readonly parameters: IndustryParameters;
}

export interface ReferenceScenario {
  readonly id: string;
  readonly name: string;
  /** Other accepted names. Case, accents and punctuation are ignored. */
  readonly aliases: readonly string[];
  readonly family: "NGFS" | "IPCC";
  /** NGFS: the phase. IPCC: the assessment report. */
  readonly vintage: "5" | "AR6";
  readonly narrative: string;
  /** AR6 scenario category. */
  readonly category: string;
  /** The closest shared socioeconomic pathway. */
  readonly ssp: string | null;
  /** Integrated assessment models that provide prices; empty if the prices are those of an ensemble of models. */
  readonly iams: readonly string[];
  /** Whether there is one global price instead of regional prices. */
  readonly world_price: boolean;
  /** Substitute for prices that have not been published. */
  readonly price_substitute: string | null;
}

export interface ReferenceScenarios {
  readonly items: readonly ReferenceScenario[];
}

/** Assumptions that replace those of the method. */
export interface CompanyAssumptionsRequest {
  /** Real discount rate, 0 to 0.3. Default 0.08. */
  readonly discount_rate?: number | string;
  /** First year with carbon prices above current policies, 2025 to 2100. Default 2025. */
  readonly shock_year?: number | string;
  /** Share of costs that is passed on to prices, 0 to 1, in every year. Default: that of the industry, by year. */
  readonly pass_through?: number | string;
}

/** A company, and the scenarios and years to assess. */
export interface CompanyRequest {
  /** Name of the company, echoed in the answer. */
  readonly name: string;
  /** ISO 3166 alpha-3 or alpha-2 code, or name. */
  readonly country: string;
  /** Id or name (GET /api/v1/reference/industries), or a code: ISIC 2410, NACE 24.10, NAICS 331110. */
  readonly industry: string;
  /** Annual revenue, at least 0.000001, USD of 2025, as a string or number; at most 1e15 in absolute value. */
  readonly revenue: number | string;
  /**
   * Total assets, at least 0.000001, USD of 2025, as a string or number; at most 1e15 in absolute value. Estimated from
   * normal ratios of the industry if absent.
   */
  readonly total_assets?: number | string;
  /**
   * Annual EBITDA, of any sign, USD of 2025, as a string or number; at most 1e15 in absolute value. Estimated from
   * normal ratios of the industry if absent.
   */
  readonly ebitda?: number | string;
  /**
   * Financial debt, 0 or more, USD of 2025, as a string or number; at most 1e15 in absolute value. Estimated from
   * normal ratios of the industry if absent.
   */
  readonly total_debt?: number | string;
  /**
   * Ids (GET /api/v1/reference/scenarios); case, -, _ and spaces are ignored. The answer keeps their order, without
   * duplicates. At least 1 item.
   */
  readonly transition_scenarios: readonly string[];
  /** The answer has them in ascending order, without duplicates. At least 1 item. */
  readonly assessment_years: readonly number[];
  /** Direct emissions as reported, t CO2e per year, 0 to 6e10. Modeled if absent. */
  readonly scope1?: number | string;
  /** Emissions from purchased energy as reported, t CO2e per year, 0 to 6e10. Modeled if absent. */
  readonly scope2?: number | string;
  /**
   * Upstream and downstream emissions of the value chain, in total, as reported, t CO2e per year, 0 to 6e10. Modeled if
   * absent.
   */
  readonly scope3?: number | string;
  /** Upstream emissions of the value chain as reported, t CO2e per year, 0 to 6e10. Modeled if absent. */
  readonly scope3_upstream?: number | string;
  /** Downstream emissions of the value chain as reported, t CO2e per year, 0 to 6e10. Modeled if absent. */
  readonly scope3_downstream?: number | string;
  /**
   * Total liabilities of a bank or insurer, including deposits and reserves, 0 or more, USD of 2025, as a string or
   * number; at most 1e15 in absolute value. Its five-year probability of default requires them.
   */
  readonly total_liabilities?: number | string;
  /**
   * Loss of output as a function of warming: ngfs4, kalkuhl_wenz, howard_sterner, dice2016, ngfs5_kotz. The source of
   * ngfs5_kotz was retracted in December 2025. Default: ngfs4.
   */
  readonly damage_function?: string;
  /**
   * Model of the NGFS carbon prices: remind, messageix, gcam. Only the first has all scenarios and years after 2060.
   * Default: remind.
   */
  readonly iam?: string;
  /** Own one-year probability of default, 0 to 1, which replaces that of the model. */
  readonly pd?: number | string;
  /**
   * Exposure at default, 0 or more, USD of 2025, as a string or number; at most 1e15 in absolute value. If present, the
   * answer has expected losses in money.
   */
  readonly exposure?: number | string;
  /** Loss given default, 0 to 1. Default 0.45. */
  readonly lgd?: number | string;
  /** Assumptions that replace those of the method. */
  readonly assumptions?: CompanyAssumptionsRequest;
}

/** A company whose emissions are to be estimated. */
export interface EmissionsRequest {
  /** Name of the company, echoed in the answer. */
  readonly name?: string;
  /** ISO 3166 alpha-3 or alpha-2 code, or name. */
  readonly country: string;
  /** Id or name (GET /api/v1/reference/industries), or a code: ISIC 2410, NACE 24.10, NAICS 331110. */
  readonly industry: string;
  /** Annual revenue, at least 0.000001, USD of 2025, as a string or number; at most 1e15 in absolute value. */
  readonly revenue: number | string;
  /**
   * Total assets, at least 0.000001, for the financed emissions of a bank, USD of 2025, as a string or number; at most
   * 1e15 in absolute value. Estimated from normal ratios of the industry if absent.
   */
  readonly total_assets?: number | string;
  /** Direct emissions as reported, t CO2e per year, 0 to 6e10. Modeled if absent. */
  readonly scope1?: number | string;
  /** Emissions from purchased energy as reported, t CO2e per year, 0 to 6e10. Modeled if absent. */
  readonly scope2?: number | string;
  /**
   * Upstream and downstream emissions of the value chain, in total, as reported, t CO2e per year, 0 to 6e10. Modeled if
   * absent.
   */
  readonly scope3?: number | string;
  /** Upstream emissions of the value chain as reported, t CO2e per year, 0 to 6e10. Modeled if absent. */
  readonly scope3_upstream?: number | string;
  /** Downstream emissions of the value chain as reported, t CO2e per year, 0 to 6e10. Modeled if absent. */
  readonly scope3_downstream?: number | string;
}

export interface CustomerPage {
  readonly items: readonly CustomerRecord[];
  /** Cursor of the next page; absent on the last page. */
  readonly next?: string;
}

export interface CustomerPath {
  /** The `customer_id` returned by the registration. UUID. */
  readonly id: string;
}

/** A subdivision of the account that usage is attributed to. */
export interface CustomerRecord {
  /** Value of X-Customer-ID in data requests. UUID. */
  readonly customer_id: string;
  /** The caller's own id, unique within the account. */
  readonly internal_id: string;
  /** Display name, if any. */
  readonly name: string | null;
  /** Time of the registration, UTC. */
  readonly created_at: string;
  /** null unless the customer is archived. */
  readonly archived_at: string | null;
}

export interface CustomerRegistration {
  /**
   * The caller's own id, such as a team, a department or a client: unique within the account, stored unchanged. 1 to
   * 200 characters.
   */
  readonly internal_id: string;
  /**
   * Display name. Replaces the name of a customer that is already registered; if omitted, the name is unchanged. A name
   * cannot be removed: `null` is rejected. 1 to 200 characters.
   */
  readonly name?: string;
}

/** Degrees, WGS84. */
export interface CatalogBox {
  readonly north: number;
  readonly south: number;
  readonly west: number;
  readonly east: number;
}

/** Rows run from north to south, columns from west to east. */
export interface CatalogGrid {
  /** Northern edge of the first row, degrees north. */
  readonly north_deg: number;
  /** Western edge of the first column, degrees east. */
  readonly west_deg: number;
  /** Degrees. */
  readonly cell_size_lat_deg: number;
  /** Degrees. */
  readonly cell_size_lon_deg: number;
  readonly row_count: number;
  readonly column_count: number;
}

export interface CatalogHazard {
  readonly hazard: HazardName;
  readonly analysis_years: readonly number[];
  readonly scenarios: readonly Scenario[];
  readonly metrics: readonly {
    readonly metric: MetricName;
    /** 1 for shares and probabilities. */
    readonly unit: string;
    /**
     * Under the rules of this atlas, or under the default rules if the atlas does not have the hazard. If the source of
     * a layer states a definition, that definition applies.
     */
    readonly meaning: string;
  }[];
  /** Nominal, degrees; an atlas keeps the grid of its source. */
  readonly resolution_deg: number;
  /** Grid of this atlas; null if it does not have the hazard. */
  readonly grid: CatalogGrid | null;
  /** Extent of the grid, degrees. */
  readonly coverage: CatalogBox | null;
  /** Parameters that this atlas's metrics were derived with; empty if it does not have the hazard. */
  readonly rules: Readonly<Record<string, unknown>>;
  /** Layers of this atlas and their sources. The baseline is used for 1980 under every scenario. */
  readonly layers: readonly CatalogLayer[];
}

export interface CatalogLayer {
  readonly scenario: Scenario;
  readonly analysis_year: number;
  readonly metrics: readonly string[];
  /** Provenance as stated in the atlas. */
  readonly source: Readonly<Record<string, unknown>>;
}

export interface HazardCatalog {
  /** Release of the atlas; values may differ between releases. */
  readonly release: string;
  /** True if all values are invented, as in the demo. */
  readonly synthetic: boolean;
  readonly hazards: readonly CatalogHazard[];
}

/** At least 1 item. */
export type HazardBatchRequest = readonly HazardQueryInput[];

export type HazardName = "cyclones" | "wildfire" | "coastal_floods" | "riverine_floods";

/** A location and the requested hazards, analysis years and scenarios. */
export interface HazardQueryInput {
  /** Degrees north, WGS84. -90 to 90. */
  readonly latitude: number;
  /** Degrees east, WGS84. -180 to 180. */
  readonly longitude: number;
  /** The response keeps their order. At least 1 item, without duplicates. */
  readonly hazards: readonly HazardName[];
  /** Years that all requested hazards offer; the response keeps their order. At least 1 item, without duplicates. */
  readonly analysis_years: readonly number[];
  /**
   * Scenarios that all requested hazards offer; the response keeps their order. At least 1 item, without duplicates.
   */
  readonly scenarios: readonly Scenario[];
  /** Kilometers. Above 0 the cells within this geodesic distance are aggregated. 0 to 100. Default: 0. */
  readonly radius?: number;
  /** Aggregation over the circle; no effect if radius is 0. Default: max. */
  readonly aggregation_method?: "max" | "mean";
  /** Adds the metric total_hazard: severity times likelihood. Default: false. */
  readonly total_hazard?: boolean;
  /** Returns every metric as its change since the baseline of 1980. Default: false. */
  readonly anthropogenic?: boolean;
  /** Adds to each analysis year how its values were computed, and to the response their sources. Default: false. */
  readonly detail?: boolean;
}

export type MetricName =
  "intensity" | "wind_speed_mps" | "fire_danger_days" | "depth_meters" | "probability" | "total_hazard";

export type Scenario = "baseline" | "rcp2p6" | "rcp4p5" | "rcp6p0" | "rcp8p5";

export interface AnalysisYearResult {
  readonly analysis_year: number;
  /**
   * null if no number exists. With anthropogenic, each is a change since 1980 and may be negative. GET /api/v1/hazards
   * defines each metric for this atlas.
   */
  readonly metrics: {
    /** 0 to 1. */
    readonly intensity?: number | null;
    /** Cyclones: wind speed at the design return period of the atlas's rules, m/s. */
    readonly wind_speed_mps?: number | null;
    /** Wildfire: days of high fire danger per year. */
    readonly fire_danger_days?: number | null;
    /** Floods: depth at the design return period of the atlas's rules, meters. */
    readonly depth_meters?: number | null;
    /** 0 to 1: annual probability of reaching the hazard's threshold. */
    readonly probability?: number | null;
    /** With total_hazard: intensity x probability. */
    readonly total_hazard?: number | null;
  };
  /**
   * Present if the probability is only a bound: return-period maps give no probability above 1/T of their shortest
   * return period (at_least) and none below 1/T of their longest (at_most, where the value is 0). total_hazard inherits
   * the bound of its probability.
   */
  readonly bounds?: Bounds;
  /** Why a metric is null; present exactly when at least one is. 0 is a value; it never means that data is missing. */
  readonly no_data?: NoDataReason;
  /** With detail: how the numbers were derived. */
  readonly detail?: AnswerDetail;
}

/** With detail: how the numbers were derived. */
export interface AnswerDetail {
  /**
   * Number of grid cells that were aggregated: 1 at a point, otherwise those in the circle. The area outside the grid
   * has no cells.
   */
  readonly cells: number;
  /**
   * Share of the cells' area that has data: the minimum over the metrics that have a layer. For a change, the share of
   * the scenario, not of the baseline. 0 to 1.
   */
  readonly valid_share: number;
  /** Shares and reasons by metric, present if they differ between metrics. A metric without a layer has no share. */
  readonly metrics?: {
    /** 0 to 1. */
    readonly intensity?: MetricDetail;
    /** Cyclones: wind speed at the design return period of the atlas's rules, m/s. */
    readonly wind_speed_mps?: MetricDetail;
    /** Wildfire: days of high fire danger per year. */
    readonly fire_danger_days?: MetricDetail;
    /** Floods: depth at the design return period of the atlas's rules, meters. */
    readonly depth_meters?: MetricDetail;
    /** 0 to 1: annual probability of reaching the hazard's threshold. */
    readonly probability?: MetricDetail;
    /** With total_hazard: intensity x probability. */
    readonly total_hazard?: MetricDetail;
  };
  /** Center of the cell at a point. */
  readonly cell_center?: {
    /** Degrees north, WGS84. */
    readonly latitude: number;
    /** Degrees east, WGS84. */
    readonly longitude: number;
  };
  /** Key in `sources` of the source of the layers; absent if the atlas has no layer. */
  readonly source?: string;
  /** With anthropogenic: key in `sources` of the source of the baseline. */
  readonly baseline_source?: string;
  /** Rules that the metrics were derived with. return_periods_years lists the return periods of the maps, if any. */
  readonly rules: Readonly<Record<string, unknown>>;
  /** Limitations of the numbers: a change between different sources, means that may hide bounds. */
  readonly caveats?: readonly string[];
}

/** Bound of a value that is not known exactly. */
export type Bound =
  | {
      /** Direction in which the true value may differ. */
      readonly bound: "at_least" | "at_most";
      /** The true value is at least, or at most, this value. */
      readonly limit: number;
    }
  | {
      /** Both terms of a change are bounds in the same direction: the direction of the difference is unknown. */
      readonly bound: "indeterminate";
      readonly limit?: never;
    };

/**
 * Present if the probability is only a bound: return-period maps give no probability above 1/T of their shortest return
 * period (at_least) and none below 1/T of their longest (at_most, where the value is 0). total_hazard inherits the
 * bound of its probability.
 */
export interface Bounds {
  /** Bound of a value that is not known exactly. */
  readonly probability: Bound;
  /** If requested: total_hazard inherits the bound of its probability. */
  readonly total_hazard?: Bound;
}

export interface HazardBatchAnswer {
  /** One element per query, in the same order. */
  readonly results: readonly (HazardResult | RefusedQuery)[];
}

/** Hazards of one location. */
export interface HazardResult {
  /** The requested location. */
  readonly location: {
    /** Degrees north, WGS84. */
    readonly latitude: number;
    /** Degrees east, WGS84. */
    readonly longitude: number;
  };
  /** Present exactly when the requested radius is above 0. */
  readonly aggregation?: {
    /** Kilometers. */
    readonly radius_km: number;
    readonly method: "max" | "mean";
  };
  /** Hazards, scenarios and years, each in the requested order. */
  readonly results: readonly {
    readonly hazard: HazardName;
    readonly scenarios: readonly ScenarioResult[];
  }[];
  /**
   * With detail: the sources that `detail` refers to, by hazard/scenario/analysis_year. GET /api/v1/hazards lists their
   * files.
   */
  readonly sources?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** Coverage of one metric. */
export interface MetricDetail {
  /** Share of the cells' area that has data; absent if the atlas has no layer of the metric. 0 to 1. */
  readonly valid_share?: number;
  /** Why the metric is null. */
  readonly no_data?: NoDataReason;
}

/** Why a metric is null; present exactly when at least one is. 0 is a value; it never means that data is missing. */
export type NoDataReason = "outside_coverage" | "no_data" | "layer_missing";

/**
 * The element of an invalid query; it does not affect the others. JSON pointers are relative to the query, not to the
 * batch.
 */
export interface RefusedQuery {
  /** A problem document (RFC 9457). */
  readonly error: Problem;
}

export interface ScenarioResult {
  readonly scenario: Scenario;
  readonly analysis_years: readonly AnalysisYearResult[];
}

export interface Health {
  readonly status: "ok";
}

export interface Readiness {
  readonly status: "ready";
}

export interface Limits {
  /** Maximum size of the request line and headers. */
  readonly head_bytes: number;
  /** Maximum size of a request body. */
  readonly body_bytes: number;
  /** Maximum nesting depth of lists and objects. */
  readonly json_depth: number;
  /** Maximum number of values in a request body, in all lists and objects. */
  readonly json_values: number;
  /** Maximum number of keys of one object. */
  readonly json_object_keys: number;
  /** Maximum number of queries in a hazard batch. */
  readonly batch_elements: number;
  /** Maximum hazards x scenarios x years x locations per request. */
  readonly hazard_values: number;
  /** Maximum number of entities per alignment request. */
  readonly entities: number;
  /** Maximum number of projected years over all entities of a request. */
  readonly alignment_values: number;
  /** Maximum number of hazard or alignment values per request with detail. */
  readonly detail_values: number;
  /** Maximum radius. */
  readonly radius_km: number;
  /** Sustained request rate of the account. */
  readonly requests_per_second: number;
  /** Maximum burst of requests of the account. */
  readonly request_burst: number;
}

export interface PageParameters {
  /** Maximum number of items. 1 to 500. Default: 50. */
  readonly limit?: number;
  /** `next` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export interface Contribution {
  readonly id: string;
  /** Share of the weight. */
  readonly weight: number;
  /** Score of the holding, degrees C. */
  readonly temperature: number;
  /** Weight times score, degrees C; the sum is the temperature. */
  readonly contribution: number;
  /** Contribution divided by the temperature of the portfolio. */
  readonly share: number;
  /** Weight times score above `goal`, degrees C; the sum is the temperature above `goal`. */
  readonly above_goal?: number;
  /** Temperature of the portfolio without the holding, degrees C; null if no other holding has a weight. */
  readonly without: number | null;
}

export interface FinancedBudget {
  /** Financed emissions that the pathway allows, t CO2e. */
  readonly allowed: number;
  /** Financed emissions projected for the same years, t CO2e. */
  readonly projected: number;
  /** Projected less allowed, t CO2e. */
  readonly overshoot: number;
  /** Percent of the allowed emissions; null if these are not above 0. */
  readonly overshoot_pct: number | null;
}

export interface FinancedHolding {
  readonly id: string;
  /** Value divided by enterprise value including cash, or by equity plus debt. */
  readonly attribution: number;
  /** Present if the attribution is above 1. */
  readonly flags?: readonly "attribution_above_one"[];
  /** Financed emissions of scopes 1 and 2, t CO2e. */
  readonly s1s2?: number;
  /** Financed emissions of scope 3, t CO2e. */
  readonly s3?: number;
}

/** Financed emissions after the PCAF standard, Part A. */
export interface Financed {
  /** Holdings with an attribution factor, in order. */
  readonly holdings: readonly FinancedHolding[];
  /** Holdings without an attribution factor, in order. */
  readonly uncovered: readonly {
    readonly id: string;
    /** Why the holding has no attribution factor. */
    readonly reason: UnattributedReason;
  }[];
  /** Attribution times emissions, summed over the holdings. */
  readonly financed_emissions: {
    /** Scopes 1 and 2, t CO2e. */
    readonly s1s2: number;
    /** Scope 3, t CO2e. */
    readonly s3: number;
  };
  /** Share of the value that has an attribution factor and emissions. */
  readonly coverage: {
    /** Scopes 1 and 2, 0 to 1. */
    readonly s1s2: number;
    /** Scope 3, 0 to 1. */
    readonly s3: number;
  };
  /** Financed emissions per million of the value that they belong to. */
  readonly intensity_per_million: {
    /** Scopes 1 and 2, t CO2e per million of value. */
    readonly s1s2: number | null;
    /** Scope 3, t CO2e per million of value. */
    readonly s3: number | null;
  };
  /** Data quality scores, weighted by value. */
  readonly data_quality: {
    /** Scopes 1 and 2, 1 (best) to 5. */
    readonly s1s2: number | null;
    /** Scope 3, 1 (best) to 5. */
    readonly s3: number | null;
  };
  /** Share of the value that has a data quality score. */
  readonly data_quality_coverage: {
    /** Scopes 1 and 2, 0 to 1. */
    readonly s1s2: number;
    /** Scope 3, 0 to 1. */
    readonly s3: number;
  };
  /** Weighted average carbon intensity of scopes 1 and 2, t CO2e per million of revenue. */
  readonly waci_per_million: number | null;
  /** Share of the value in it, 0 to 1. */
  readonly waci_coverage: number;
  /** Aggregated budget of the holdings that have one; null if none has. */
  readonly budget: FinancedBudget | null;
  /** Share of the value in it, 0 to 1. */
  readonly budget_coverage: number;
}

export interface PortfolioAnswer {
  /** Version of the aggregation. */
  readonly method: string;
  /** Version of the method that scores entities. */
  readonly scores: string;
  /** Version of the benchmark that entities are compared with. */
  readonly benchmark: string;
  /** As in the request. */
  readonly year: "overall" | number;
  /** One element per method and scope: methods in the order requested, for each the scopes. */
  readonly results: readonly PortfolioResult[];
  /** Financed emissions after the PCAF standard, Part A. */
  readonly financed: Financed;
  /** One element per holding with an entity, in order. */
  readonly entities: readonly (ScoredHolding | RefusedEntity)[];
}

/** Temperature of the whole portfolio if the missing scores are at the limits of the request. */
export interface PortfolioBounds {
  /** Degrees C, with every missing score at `missing_low`. */
  readonly low: number;
  /** Degrees C, with every missing score at `missing_high`. */
  readonly high: number;
  /** Whether every holding has a weight. */
  readonly complete: boolean;
}

/** Shares, 0 to 1, that have a weight and a score. */
export interface PortfolioCoverage {
  /** Share of the holdings. */
  readonly holdings: number;
  /** Share of the value. */
  readonly value: number;
  /** Share of the known weight. */
  readonly weight: number;
}

export interface PortfolioGroup {
  /** `unassigned` for holdings without an entry under the key. */
  readonly group: string;
  /** Degrees C; null if no holding of the group has a weight and a score. */
  readonly temperature: number | null;
  /** Shares of the group, 0 to 1, that have a weight and a score. */
  readonly coverage: PortfolioCoverage;
  /** Share of the weight of the portfolio. */
  readonly weight: number;
  /** Weight times temperature, degrees C. */
  readonly contribution: number;
}

/** The temperature of the portfolio by one weighting and scope. */
export interface PortfolioResult {
  /**
   * Weight of a holding: its value (WATS), the emissions of the company (TETS), or the emissions times the value
   * divided by market capitalization (MOTS), enterprise value (EOTS), enterprise value including cash (ECOTS), total
   * assets (AOTS) or revenue (ROTS).
   */
  readonly method: PortfolioMethod;
  /** Scopes 1 and 2, scope 3, or all three. */
  readonly scope: PortfolioScope;
  /** Weighted mean of the scores of the covered holdings, degrees C; null if they have no weight. */
  readonly temperature: number | null;
  /** Why there is no temperature; present exactly when it is null. */
  readonly reason?: "no_weight";
  /** If the errors of all scores have the same direction, degrees C. */
  readonly range?: TemperatureRange;
  /** If the errors of the scores are independent, degrees C. */
  readonly range_independent?: TemperatureRange;
  /** Share of the weight whose score has an interval. */
  readonly range_coverage?: number;
  /** Shares, 0 to 1, that have a weight and a score. */
  readonly coverage: PortfolioCoverage;
  /** Temperature of the whole portfolio if the missing scores are at the limits of the request. */
  readonly bounds?: PortfolioBounds;
  /** Share of the weight that has `default_score`; present if that was given. */
  readonly default_share?: number;
  /** Holdings without a weight or a score, in order. */
  readonly uncovered: readonly UncoveredHolding[];
  /** One element per holding in the temperature, in order. */
  readonly contributions?: readonly Contribution[];
  /** By key of `group_by`: the groups in order of first appearance. */
  readonly groups?: Readonly<Record<string, readonly PortfolioGroup[]>>;
}

/** An entity that cannot be scored. */
export interface RefusedEntity {
  /** The holding. */
  readonly id: string;
  readonly error: {
    /** For programs to branch on: the meaning of a code never changes. */
    readonly code: string;
    readonly detail: string;
    /** All errors, each with a JSON pointer into the request. */
    readonly errors: readonly ProblemItem[];
  };
}

/** The temperatures of a holding's entity. */
export interface ScoredHolding {
  /** The holding. */
  readonly id: string;
  /** As submitted, without the identifier; members that were not given are absent. */
  readonly entity_info: EntityEcho;
  /** Flags of the entity; absent if there are none. */
  readonly flags?: readonly AlignmentFlag[];
  /** The nearest known name of each text that matched nothing. Temperatures do not use it. */
  readonly did_you_mean?: NameSuggestions;
  /** One element per projection record, in the order submitted. */
  readonly data: readonly AlignedYear[];
  /** Present if requested; null if no projection record has a weight. */
  readonly overall?: OverallTemperature | null;
  /** Years with a temperature under at least two labels, ascending; absent if there are none. */
  readonly blended?: readonly BlendedYear[];
}

/** Why the holding has no attribution factor. */
export type UnattributedReason = "denominator_missing" | "denominator_not_positive";

export interface UncoveredHolding {
  readonly id: string;
  /** Why the holding is not in the temperature: it has no weight, or no score. */
  readonly reason: UncoveredReason;
}

/** Why the holding is not in the temperature: it has no weight, or no score. */
export type UncoveredReason =
  "emissions_missing" | "emissions_negative" | "denominator_missing" | "denominator_not_positive" | "score_missing";

/** Emissions of the company over the same years, t CO2e. */
export interface HoldingBudget {
  /** By the pathway, t CO2e. -1e18 to 1e18. */
  readonly allowed: number;
  /** By the company, t CO2e. -1e18 to 1e18. */
  readonly projected: number;
}

/** PCAF data quality scores of the emissions, 1 (best) to 5. */
export interface HoldingQuality {
  /** Of scopes 1 and 2. 1 to 5. */
  readonly s1s2?: number | null;
  /** Of scope 3. 1 to 5. */
  readonly s3?: number | null;
}

/** A line of a portfolio. A member that is null counts as not given. */
export interface Holding {
  /** Name of the line in the answer. */
  readonly id: string;
  /** Lines of one issuer are merged into one holding of this name. Default: the id. */
  readonly issuer?: string | null;
  /** Market value held; for loans the outstanding amount. 0 to 1e18. */
  readonly value: number;
  /** Of the value and of all company figures; equal on all lines. No currency is converted. */
  readonly currency?: string | null;
  /**
   * A company to be scored, with emissions in t CO2e; exactly one of `entity` and `temperature` is required. An entity
   * that cannot be scored is an uncovered holding, not an error.
   */
  readonly entity?: Entity | null;
  readonly temperature?: HoldingTemperature | null;
  /** Scope 1 emissions in the baseline year, t CO2e; those of `entity` take precedence. -1e15 to 1e15. */
  readonly scope1?: number | null;
  /** Scope 2 emissions in the baseline year, t CO2e; those of `entity` take precedence. -1e15 to 1e15. */
  readonly scope2?: number | null;
  /** Scope 3 emissions in the baseline year, t CO2e; those of `entity` take precedence. -1e15 to 1e15. */
  readonly scope3?: number | null;
  /** Market capitalization. -1e18 to 1e18. */
  readonly market_cap?: number | null;
  /** Enterprise value. -1e18 to 1e18. */
  readonly enterprise_value?: number | null;
  /** Cash and cash equivalents. -1e18 to 1e18. */
  readonly cash?: number | null;
  /** Enterprise value including cash. Default: `enterprise_value` + `cash`. -1e18 to 1e18. */
  readonly evic?: number | null;
  /** Total assets. -1e18 to 1e18. */
  readonly total_assets?: number | null;
  /** Annual revenue; that of `entity` takes precedence. -1e18 to 1e18. */
  readonly revenue?: number | null;
  /** Total equity of an unlisted company. -1e18 to 1e18. */
  readonly equity?: number | null;
  /** Total debt of an unlisted company. -1e18 to 1e18. */
  readonly debt?: number | null;
  readonly data_quality?: HoldingQuality | null;
  /** Allowed and projected emissions; those of `entity` take precedence. */
  readonly budget?: HoldingBudget | null;
  /** Groups of the holding by any keys, such as sector, country or asset_class. */
  readonly groups?: Readonly<Record<string, string | null>> | null;
}

/** Degrees C, with or without an interval. */
export type HoldingScore =
  | number
  | {
      /** Degrees C. At most 20. */
      readonly t: number;
      /** Lower end of its interval, degrees C. At most 20. */
      readonly low?: number | null;
      /** Upper end of its interval, degrees C. At most 20. */
      readonly high?: number | null;
    };

/** Scores of the company from elsewhere, degrees C. */
export interface HoldingTemperature {
  /** All scopes. */
  readonly s1s2s3?:
    | number
    | {
        /** Degrees C. At most 20. */
        readonly t: number;
        /** Lower end of its interval, degrees C. At most 20. */
        readonly low?: number | null;
        /** Upper end of its interval, degrees C. At most 20. */
        readonly high?: number | null;
      }
    | null;
  /** Scopes 1 and 2. */
  readonly s1s2?:
    | number
    | {
        /** Degrees C. At most 20. */
        readonly t: number;
        /** Lower end of its interval, degrees C. At most 20. */
        readonly low?: number | null;
        /** Upper end of its interval, degrees C. At most 20. */
        readonly high?: number | null;
      }
    | null;
  /** Scope 3. */
  readonly s3?:
    | number
    | {
        /** Degrees C. At most 20. */
        readonly t: number;
        /** Lower end of its interval, degrees C. At most 20. */
        readonly low?: number | null;
        /** Upper end of its interval, degrees C. At most 20. */
        readonly high?: number | null;
      }
    | null;
}

/**
 * Weight of a holding: its value (WATS), the emissions of the company (TETS), or the emissions times the value divided
 * by market capitalization (MOTS), enterprise value (EOTS), enterprise value including cash (ECOTS), total assets
 * (AOTS) or revenue (ROTS).
 */
export type PortfolioMethod = "WATS" | "TETS" | "MOTS" | "EOTS" | "ECOTS" | "AOTS" | "ROTS";

export interface PortfolioOptions {
  /** Weightings. At least 1 item, without duplicates. Default: WATS. */
  readonly methods?: readonly PortfolioMethod[];
  /** Scopes. At least 1 item, without duplicates. Default: s1s2s3. */
  readonly scopes?: readonly PortfolioScope[];
  /** Which score of an entity: of a projected year, or the mean over its years (`overall`). Default: overall. */
  readonly year?: "overall" | number;
  /** Quantity that entities are compared by. Default: intensity. */
  readonly basis?: AlignmentBasis;
  /**
   * Fraction of the gap to the emissions intensity of the industry that closes by 2050; not used if absent. Applies to
   * entities with revenue in USD and a price year, whose emissions must be in t CO2e. At most 1.
   */
  readonly convergence?: number;
  /** Scenario that the budgets of entities compare their emissions with. Default: net_zero_2050. */
  readonly budget_scenario?: BudgetScenario;
  /** Adds to each contribution how far it is above this temperature, degrees C. At most 20. */
  readonly goal?: number;
  /** Keys of `groups`; adds the temperature of each group. 1 to 20 items, without duplicates. */
  readonly group_by?: readonly string[];
  /** Used for holdings without a score, degrees C. Without it, no score is assumed. At most 20. */
  readonly default_score?: number;
  /** Missing score in the lower bound, degrees C. At most 20. Default: 1.3. */
  readonly missing_low?: number;
  /** Missing score in the upper bound, degrees C. At most 20. Default: 3.2. */
  readonly missing_high?: number;
}

export interface PortfolioRequest {
  /** 1 to 5000 items. */
  readonly holdings: readonly Holding[];
  readonly options?: PortfolioOptions;
}

/** Scopes 1 and 2, scope 3, or all three. */
export type PortfolioScope = "s1s2" | "s3" | "s1s2s3";

export interface ProblemDescription {
  readonly code: string;
  readonly title: string;
  /** Usual status; `customer_archived` is 403 on data requests. */
  readonly status: number;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  readonly meaning: string;
  readonly remedy: string;
}

/** One fault of the request, located by `pointer`, `parameter` or `header`. */
export interface ProblemItem {
  /** JSON pointer into the body; empty for the whole body. */
  readonly pointer?: string;
  /** Name of a parameter of the path or the query. */
  readonly parameter?: string;
  /** Name of a header field. */
  readonly header?: string;
  /** For programs to branch on: the meaning of a code never changes. */
  readonly code: string;
  /** What is wrong, and the accepted values. */
  readonly detail: string;
  /** The accepted values. */
  readonly allowed?: readonly (string | number | boolean)[];
  /** The accepted value that was probably meant. */
  readonly did_you_mean?: string | number;
  /** For an unknown name: the most similar names, most similar first. */
  readonly nearest?: readonly string[];
  /** With `combination_unavailable`: the hazard that lacks the combination. */
  readonly hazard?: string;
  /** With `combination_unavailable`: years that the hazard offers. */
  readonly offered_years?: readonly number[];
  /** With `combination_unavailable`: scenarios that the hazard offers. */
  readonly offered_scenarios?: readonly string[];
}

/** A problem document (RFC 9457). */
export interface Problem {
  /** URL of a page about the code. */
  readonly type: string;
  /** Summary of the code. */
  readonly title: string;
  /** Status of the response. 400 to 599. */
  readonly status: number;
  /** For programs to branch on: the meaning of a code never changes; new codes may be added. */
  readonly code: string;
  /** Explanation for people. */
  readonly detail: string;
  /** Include it when you contact the operator. UUID. */
  readonly request_id: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** All faults that the caller can correct. */
  readonly errors?: readonly ProblemItem[];
  /** With `too_many_values`: what the request asks for. */
  readonly requested?: number;
  /** With `too_many_values`: what is allowed. */
  readonly limit?: number;
  /** With `json_malformed`: line in the body, from 1. */
  readonly line?: number;
  /** With `json_malformed`: column in characters, from 1. */
  readonly column?: number;
}

export interface CustomerUsageParameters {
  /** First day (UTC), YYYY-MM-DD. Default: no limit. */
  readonly from?: string;
  /** Day after the last (UTC), YYYY-MM-DD. Default: now. */
  readonly to?: string;
  /**
   * How usage is grouped into lines. `day` takes precedence over `month`. At least 1 item, without duplicates. Default:
   * customer, meter.
   */
  readonly group_by?: readonly UsageGroup[];
  /** `csv` returns all lines in one file without pages (RFC 4180, UTF-8, with a header line). Default: json. */
  readonly format?: "json" | "csv";
  /** Maximum number of items. 1 to 500. Default: 50. */
  readonly limit?: number;
  /** `next` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export type Meter = "hazard_values" | "alignment_values" | "company_results";

export interface UsageFilter {
  /** First day (UTC), YYYY-MM-DD. Default: no limit. */
  readonly from?: string;
  /** Day after the last (UTC), YYYY-MM-DD. Default: now. */
  readonly to?: string;
  /**
   * How usage is grouped into lines. `day` takes precedence over `month`. At least 1 item, without duplicates. Default:
   * customer, meter.
   */
  readonly group_by?: readonly UsageGroup[];
  /** Limits usage to this customer. UUID. */
  readonly customer_id?: string;
}

export type UsageGroup = "customer" | "meter" | "day" | "month";

export interface UsagePage {
  readonly items: readonly UsageRecord[];
  /** Cursor of the next page; absent on the last page. */
  readonly next?: string;
}

export interface UsageParameters {
  /** First day (UTC), YYYY-MM-DD. Default: no limit. */
  readonly from?: string;
  /** Day after the last (UTC), YYYY-MM-DD. Default: now. */
  readonly to?: string;
  /**
   * How usage is grouped into lines. `day` takes precedence over `month`. At least 1 item, without duplicates. Default:
   * customer, meter.
   */
  readonly group_by?: readonly UsageGroup[];
  /** `csv` returns all lines in one file without pages (RFC 4180, UTF-8, with a header line). Default: json. */
  readonly format?: "json" | "csv";
  /** Maximum number of items. 1 to 500. Default: 50. */
  readonly limit?: number;
  /** `next` of the previous page; omit it for the first page. */
  readonly cursor?: string;
  /** Limits usage to this customer. UUID. */
  readonly customer_id?: string;
}

/** A line of usage; members that are not grouped by are absent. */
export interface UsageRecord {
  /** UUID. */
  readonly customer_id?: string;
  /** The caller's own id of the customer. */
  readonly internal_id?: string;
  readonly meter?: Meter;
  /** YYYY-MM-DD, or YYYY-MM if grouped by month. */
  readonly period?: string;
  /** Number of counted responses. */
  readonly requests: number;
  /** Units of the meter, or of all meters if not grouped by meter. */
  readonly units: number;
}

/** All types by name. */
export interface WireTypes {
  readonly About: About;
  readonly AlignedYear: AlignedYear;
  readonly AlignmentAnswer: AlignmentAnswer;
  readonly AlignmentDetail: AlignmentDetail;
  readonly AlignmentFlag: AlignmentFlag;
  readonly AlignmentReason: AlignmentReason;
  readonly AlignmentResult: AlignmentResult;
  readonly Anchor: Anchor;
  readonly BlendedYear: BlendedYear;
  readonly EmissionsBudget: EmissionsBudget;
  readonly MatchedSector: MatchedSector;
  readonly NameSuggestions: NameSuggestions;
  readonly OverallTemperature: OverallTemperature;
  readonly Pathway: Pathway;
  readonly ScopeTemperatures: ScopeTemperatures;
  readonly TemperatureRange: TemperatureRange;
  readonly AlignmentBasis: AlignmentBasis;
  readonly AlignmentInclude: AlignmentInclude;
  readonly AlignmentParameters: AlignmentParameters;
  readonly AlignmentRequest: AlignmentRequest;
  readonly BudgetScenario: BudgetScenario;
  readonly EntityEcho: EntityEcho;
  readonly Entity: Entity;
  readonly ScopeEmissions: ScopeEmissions;
  readonly BeforeAfter: BeforeAfter;
  readonly CompanyAnswer: CompanyAnswer;
  readonly CompanyAssumptions: CompanyAssumptions;
  readonly CompanyEcho: CompanyEcho;
  readonly CompanyHeadline: CompanyHeadline;
  readonly CompanyResult: CompanyResult;
  readonly CompanyValuation: CompanyValuation;
  readonly DataQuality: DataQuality;
  readonly DataSource: DataSource;
  readonly EmissionsAnswer: EmissionsAnswer;
  readonly EmissionsFigure: EmissionsFigure;
  readonly EmissionsFigures: EmissionsFigures;
  readonly EmitterEcho: EmitterEcho;
  readonly QualityMark: QualityMark;
  readonly RemarkCode: RemarkCode;
  readonly Remark: Remark;
  readonly CountryParameters: CountryParameters;
  readonly IndustryParameters: IndustryParameters;
  readonly ReferenceCountries: ReferenceCountries;
  readonly ReferenceCountry: ReferenceCountry;
  readonly ReferenceIndustries: ReferenceIndustries;
  readonly ReferenceIndustry: ReferenceIndustry;
  readonly ReferenceScenario: ReferenceScenario;
  readonly ReferenceScenarios: ReferenceScenarios;
  readonly CompanyAssumptionsRequest: CompanyAssumptionsRequest;
  readonly CompanyRequest: CompanyRequest;
  readonly EmissionsRequest: EmissionsRequest;
  readonly CustomerPage: CustomerPage;
  readonly CustomerPath: CustomerPath;
  readonly CustomerRecord: CustomerRecord;
  readonly CustomerRegistration: CustomerRegistration;
  readonly CatalogBox: CatalogBox;
  readonly CatalogGrid: CatalogGrid;
  readonly CatalogHazard: CatalogHazard;
  readonly CatalogLayer: CatalogLayer;
  readonly HazardCatalog: HazardCatalog;
  readonly HazardBatchRequest: HazardBatchRequest;
  readonly HazardName: HazardName;
  readonly HazardQueryInput: HazardQueryInput;
  readonly MetricName: MetricName;
  readonly Scenario: Scenario;
  readonly AnalysisYearResult: AnalysisYearResult;
  readonly AnswerDetail: AnswerDetail;
  readonly Bound: Bound;
  readonly Bounds: Bounds;
  readonly HazardBatchAnswer: HazardBatchAnswer;
  readonly HazardResult: HazardResult;
  readonly MetricDetail: MetricDetail;
  readonly NoDataReason: NoDataReason;
  readonly RefusedQuery: RefusedQuery;
  readonly ScenarioResult: ScenarioResult;
  readonly Health: Health;
  readonly Readiness: Readiness;
  readonly Limits: Limits;
  readonly PageParameters: PageParameters;
  readonly Contribution: Contribution;
  readonly FinancedBudget: FinancedBudget;
  readonly FinancedHolding: FinancedHolding;
  readonly Financed: Financed;
  readonly PortfolioAnswer: PortfolioAnswer;
  readonly PortfolioBounds: PortfolioBounds;
  readonly PortfolioCoverage: PortfolioCoverage;
  readonly PortfolioGroup: PortfolioGroup;
  readonly PortfolioResult: PortfolioResult;
  readonly RefusedEntity: RefusedEntity;
  readonly ScoredHolding: ScoredHolding;
  readonly UnattributedReason: UnattributedReason;
  readonly UncoveredHolding: UncoveredHolding;
  readonly UncoveredReason: UncoveredReason;
  readonly HoldingBudget: HoldingBudget;
  readonly HoldingQuality: HoldingQuality;
  readonly Holding: Holding;
  readonly HoldingScore: HoldingScore;
  readonly HoldingTemperature: HoldingTemperature;
  readonly PortfolioMethod: PortfolioMethod;
  readonly PortfolioOptions: PortfolioOptions;
  readonly PortfolioRequest: PortfolioRequest;
  readonly PortfolioScope: PortfolioScope;
  readonly ProblemDescription: ProblemDescription;
  readonly ProblemItem: ProblemItem;
  readonly Problem: Problem;
  readonly CustomerUsageParameters: CustomerUsageParameters;
  readonly Meter: Meter;
  readonly UsageFilter: UsageFilter;
  readonly UsageGroup: UsageGroup;
  readonly UsagePage: UsagePage;
  readonly UsageParameters: UsageParameters;
  readonly UsageRecord: UsageRecord;
}
