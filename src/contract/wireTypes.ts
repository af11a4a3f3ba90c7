/**
 * The types of all requests and responses. Generated from the schemas of src/contract/ by `npm run build:wire-types`: edit
 * the schemas, not this file.
 *
 * The types are written out, not derived with `Static`, so that editors show the description of each member, and so that
 * users of the types do not load TypeBox.
 */

export interface About {
  readonly service: string;
  /** Path of the interactive API page. */
  readonly documentation: string;
  /** Path of the OpenAPI document. */
  readonly openapi: string;
  /** Path of the liveness check. */
  readonly health: string;
  /** Path of the readiness check. */
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
  /** Why the temperature is null; absent otherwise. */
  readonly reason?: AlignmentReason;
  /** As submitted. */
  readonly label?: string;
  /** Temperatures for projected emissions 5 % lower and 5 % higher; absent if the temperature is null. */
  readonly range?: TemperatureRange;
  /**
   * Temperatures at the 10th and 90th percentile of the climate response. Present if requested, unless the temperature
   * is null.
   */
  readonly climate_range?: TemperatureRange;
  /**
   * Present if requested. Temperature of scopes 1 and 2 together, and of scope 3 alone; null if no such scope is
   * usable, or if their emissions are zero in the baseline but not later. The temperature of all scopes is not their
   * mean.
   */
  readonly by_scope?: ScopeTemperatures;
  /**
   * Absolute emissions, summed over the years after the baseline year up to and including the projected year, in the
   * unit of the request. Present if requested, unless no scope is usable or the baseline emissions are zero.
   */
  readonly budget?: EmissionsBudget;
  /**
   * Fraction of the emissions that the temperature covers, 0 to 1; present if a scope is left out because it is given
   * for the baseline or the projection only.
   */
  readonly coverage?: number;
  /** Flags of the year; absent if it has none. */
  readonly flags?: readonly AlignmentFlag[];
  /**
   * How the temperature was computed, unrounded; present if `detail` was requested. Figures that could not be computed
   * are null.
   */
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

/**
 * How the temperature was computed, unrounded; present if `detail` was requested. Figures that could not be computed
 * are null.
 */
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
  /** Temperature on the basis `intensity`, degrees C. */
  readonly temperature_intensity: number | null;
  /** Temperature on the basis `emissions`, degrees C. */
  readonly temperature_emissions: number | null;
  /** Temperature on the basis `cumulative`, degrees C. */
  readonly temperature_cumulative: number | null;
  /** The pathway that the entity is compared with. */
  readonly pathway: Pathway;
  /** Which field selected the pathway, and the matching row and key of the sector table. */
  readonly matched: MatchedSector;
  /** The pathway that each usable scope is compared with. */
  readonly scope_pathways: {
    /** Pathway of the benchmark: the whole economy or one sector. */
    readonly scope1?: Pathway;
    /** Pathway of the benchmark: the whole economy or one sector. */
    readonly scope2?: Pathway;
    /** Pathway of the benchmark: the whole economy or one sector. */
    readonly scope3?: Pathway;
  };
  /** Sums over the usable scopes, i.e. those given in both years, in the unit of the request. */
  readonly emissions: {
    /** In the baseline year. */
    readonly baseline: number | null;
    /** In the projected year. */
    readonly projected: number | null;
  };
  /** Projected emissions, at least 0, divided by those of the baseline. */
  readonly emissions_ratio: number | null;
  /** Growth since the baseline year. */
  readonly growth: {
    /**
     * Source of the growth: revenue in the request (`supplied`), the economy of the country (`country`) or of its
     * region (`region`), or a default because none of these is known (`default`); null for other bases than
     * `intensity`, and without usable scopes or baseline emissions.
     */
    readonly source: "supplied" | "country" | "region" | "default" | null;
    /** ISO 3166 alpha-3 code or region of the growth series, if one is used. */
    readonly series: string | null;
    /** Growth of the benchmark economy divided by growth of the entity; 1 for other bases than `intensity`. */
    readonly factor: number | null;
  };
  /** Same as `growth.factor`. */
  readonly growth_factor: number | null;
  /** The entity's ratio that is compared with the anchors, in the evaluated year. */
  readonly emissions_ratio_q: number | null;
  /** The year in which the ratio is compared with the anchors. */
  readonly evaluated_year: number;
  /** In ascending order of warming. */
  readonly anchors: readonly Anchor[];
  /** The benchmark's ratio for each anchor, in ascending order; null without usable scopes or baseline emissions. */
  readonly benchmark_ratio_at_anchors: readonly number[] | null;
  /** `benchmark_ratio_at_anchors` before ratios that were out of order or too close together were adjusted. */
  readonly benchmark_ratio_raw: readonly number[] | null;
  /** The anchors on either side of the ratio; null without usable scopes or baseline emissions. */
  readonly between: {
    /** Scenario of the cooler anchor; null if the ratio is at or below all anchors. */
    readonly below: string | null;
    /** Scenario of the warmer anchor; null if the ratio is above all anchors. */
    readonly above: string | null;
    /**
     * Position of the ratio between the cooler (0) and the warmer (1) anchor. Below all anchors, the ratio divided by
     * that of the coolest; above all, the ratio divided by that of the warmest, minus 1.
     */
    readonly weight: number;
  } | null;
  /** Same as `growth.series`. */
  readonly growth_region: string | null;
  /**
   * Revenue in the currency of the request. If no projected revenue was given, revenue is assumed to grow with the
   * economy of the entity's country or region.
   */
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
  /** Convergence to the intensity of the industry; null if it was not applied. */
  readonly convergence: {
    /** Intensity of the entity divided by that of its industry, within fixed limits. */
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
  /** `range` of the year, unrounded. */
  readonly range: TemperatureRange | null;
  /** `climate_range` of the year, unrounded. */
  readonly climate_range: TemperatureRange | null;
  /** `by_scope` of the year, unrounded. */
  readonly by_scope: ScopeTemperatures;
  /** Budgets for all four scenarios, unrounded. */
  readonly budget: readonly EmissionsBudget[] | null;
  /** `coverage` of the year; null if no scope is left out. */
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

/** Why the temperature is null; absent otherwise. */
export type AlignmentReason = "no_usable_scope" | "zero_baseline";

export interface AlignmentResult {
  /** As submitted, without the identifier; members that were not given are absent. */
  readonly entity_info: EntityEcho;
  /** Flags of the entity; absent if it has none. */
  readonly flags?: readonly AlignmentFlag[];
  /**
   * The most similar known name for each text that matched nothing, if one is close enough. Temperatures are not
   * computed with it.
   */
  readonly did_you_mean?: NameSuggestions;
  /** One element per projection record, in the order submitted. */
  readonly data: readonly AlignedYear[];
  /** Present if requested; null if no projection record with a temperature has a weight above 0. */
  readonly overall?: OverallTemperature | null;
  /**
   * Years with a temperature under at least two labels, not all of probability 0, ascending; absent if there are none.
   */
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

/**
 * Absolute emissions, summed over the years after the baseline year up to and including the projected year, in the unit
 * of the request.
 */
export interface EmissionsBudget {
  /** Scenario of the benchmark. */
  readonly scenario: string;
  /** Emissions of the entity if it followed the scenario from its baseline year. */
  readonly allowed: number;
  /** Emissions of the entity as projected. */
  readonly projected: number;
  /** `projected` minus `allowed`; negative if the entity stays below its budget. */
  readonly overshoot: number;
  /** Overshoot as a percentage of `allowed`, rounded to two decimals in responses; null unless `allowed` is above 0. */
  readonly overshoot_pct: number | null;
}

/** Which field selected the pathway, and the matching row and key of the sector table. */
export interface MatchedSector {
  /** The field that matched; null if neither did. */
  readonly on: "industry" | "sector" | null;
  /**
   * Row of the sector table, counted from 1; null if no row matched, as for names and codes in the list of industries.
   */
  readonly row: number | null;
  /** The first key of the row that matched, or the name of the industry in the list; null if nothing matched. */
  readonly key: string | null;
}

/**
 * The most similar known name for each text that matched nothing, if one is close enough. Temperatures are not computed
 * with it.
 */
export interface NameSuggestions {
  readonly country?: string;
  readonly industry?: string;
  readonly sector?: string;
}

/**
 * Mean temperature of all projection records, weighted by the squared distance between the ratios of the coolest and
 * the warmest scenario in their year and by the probability of their label.
 */
export interface OverallTemperature {
  /** Degrees C; rounded to two decimals in responses. */
  readonly temperature_alignment: number;
  /** Mean of the ranges of the projection records, with the same weights. */
  readonly range: TemperatureRange;
  /** Number of projection records that have a temperature. */
  readonly years: number;
}

/** Pathway of the benchmark: the whole economy or one sector. */
export type Pathway = "economy" | "power" | "energy_supply" | "industry" | "transport" | "buildings";

/**
 * Temperature of scopes 1 and 2 together, and of scope 3 alone; null if no such scope is usable, or if their emissions
 * are zero in the baseline but not later. The temperature of all scopes is not their mean.
 */
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
  /** Scenario on which `budget` is based. Naming one adds `budget` to the results. Default: net_zero_2050. */
  readonly budget_scenario?: BudgetScenario;
  /**
   * Fraction of the gap between the emissions intensities of the entity and its industry that must close by 2050; not
   * applied if absent. Applies to entities with revenue in USD and a price year, whose emissions must be in t CO2e, and
   * whose industry or sector is a name in the list of industries. At most 1.
   */
  readonly convergence?: number;
  /** Id of the benchmark. Default: ngfs-phase5-message-r12/2. */
  readonly benchmark?: "ngfs-phase5-message-r12/2";
}

/** At least 1 item. */
export type AlignmentRequest = readonly Entity[];

/** Scenario on which `budget` is based. */
export type BudgetScenario = "net_zero_2050" | "below_2c" | "ndcs" | "current_policies";

/** As submitted, without the identifier; members that were not given are absent. */
export interface EntityEcho {
  readonly name: string;
  readonly asset_type: "equity";
  /** ISO code or name; determines the growth that is assumed if revenue is not given. */
  readonly country?: string;
  /**
   * gics, nace, naics, isic, sics, trbc, icb, factset or custom: the system of a code without a prefix. Names are
   * matched in the same way for all systems.
   */
  readonly industry_classification_system?: string;
  /** Name of the industry, or its code in ISIC Rev. 4, NACE Rev. 2 or NAICS 2017. */
  readonly industry?: string;
  /** Name or code of the sector; used if the industry does not match. */
  readonly sector?: string;
}

/**
 * A company: its description and its emissions in exactly one baseline year and in one or more later years. A scope is
 * used in a later year only if the baseline also has it.
 */
export interface Entity {
  readonly entity_info: {
    /** Identifier assigned by the caller; not echoed. */
    readonly identifier?: string;
    readonly name: string;
    readonly asset_type: "equity";
    /** ISO code or name; determines the growth that is assumed if revenue is not given. */
    readonly country?: string;
    /**
     * gics, nace, naics, isic, sics, trbc, icb, factset or custom: the system of a code without a prefix. Names are
     * matched in the same way for all systems.
     */
    readonly industry_classification_system?: string;
    /** Name of the industry, or its code in ISIC Rev. 4, NACE Rev. 2 or NAICS 2017. */
    readonly industry?: string;
    /** Name or code of the sector; used if the industry does not match. */
    readonly sector?: string;
  };
  /** Exactly one baseline year. */
  readonly data: readonly {
    /** The baseline year. 1900 to 2200. */
    readonly year: number;
    /** Emissions of at least one scope, in any unit that is the same in all years. */
    readonly emissions: ScopeEmissions;
    readonly financials?: {
      /** Annual revenue, in any currency. Only its growth matters unless `convergence` is requested. -1e15 to 1e15. */
      readonly revenue?: number;
      /** Not used. -1e15 to 1e15. */
      readonly ebitda?: number;
      /** ISO 4217 code. Used only for `convergence`, which requires USD. */
      readonly currency?: string;
      /** Price year of the revenue. Used only for `convergence`. 2015 to 2024. */
      readonly price_year?: number;
    };
  }[];
  /** The response keeps their order. At least 1 item. */
  readonly projected_emissions: readonly {
    /** A year after the baseline year. 1900 to 2200. */
    readonly year: number;
    /** Emissions of at least one scope, in any unit that is the same in all years. */
    readonly emissions: ScopeEmissions;
    readonly financials?: {
      /** Projected revenue, in the currency and prices of the baseline. -1e15 to 1e15. */
      readonly revenue?: number;
    };
    /**
     * Name of the projection that the record belongs to, not blank. Either all records have one, or none. 1 to 64
     * characters.
     */
    readonly label?: string;
    /**
     * Weight of the projection. All records with a label must have the same weight, and either all labels or none have
     * one. The weights are divided by their sum, which must be above 0. 0 to 1.
     */
    readonly probability?: number;
  }[];
}

/** Emissions of at least one scope, in any unit that is the same in all years. */
export interface ScopeEmissions {
  /** Direct emissions. Removals are negative. -1e15 to 1e15. */
  readonly scope1?: number;
  /** Emissions from purchased electricity and heat. -1e15 to 1e15. */
  readonly scope2?: number;
  /** Upstream and downstream emissions of the value chain. -1e15 to 1e15. */
  readonly scope3?: number;
}

/** A figure before and after the losses; null if it is undefined. */
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
  /** Version of the method, which changes whenever a formula or a figure of the method changes. */
  readonly method_version: string;
  /** Assumptions in the request, or their defaults. */
  readonly assumptions: CompanyAssumptions;
  /** Figures from the tables with which the response was computed. */
  readonly parameters: {
    /** Parameters of an industry. */
    readonly industry: IndustryParameters;
    /** Figures of a country. */
    readonly country: CountryParameters;
  };
  /** Ordered by scenario as requested, then by ascending year. */
  readonly results: readonly CompanyResult[];
  /** One element per scenario. */
  readonly valuation: readonly CompanyValuation[];
  readonly headline: CompanyHeadline;
}

/** Assumptions in the request, or their defaults. */
export interface CompanyAssumptions {
  /** Real discount rate, as a fraction. */
  readonly discount_rate: number;
  /** First year with carbon prices above current policies. */
  readonly shock_year: number;
  /**
   * Share of costs that is passed on, the same in all years; null if the industry's pass-through for each year applies.
   */
  readonly pass_through: number | null;
  /** Loss given default, as a fraction. */
  readonly lgd: number;
  /** Loss of output as a function of warming. */
  readonly damage_function: "ngfs4" | "kalkuhl_wenz" | "howard_sterner" | "dice2016" | "ngfs5_kotz";
  /** Integrated assessment model that the NGFS carbon prices come from. */
  readonly iam: "remind" | "messageix" | "gcam";
}

/** The company as the request was understood. */
export interface CompanyEcho {
  /** Name of the company; null if the request has none. */
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
    /** Kind of name or code by which the industry was found. */
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
     * EBITDA that losses are compared with: at least half of what is normal in the industry at this revenue. USD of
     * 2025 per year.
     */
    readonly normalized_ebitda: number;
    /** Members that were estimated because the request lacks them. */
    readonly estimated: readonly ("total_assets" | "ebitda" | "total_debt")[];
  };
}

export interface CompanyHeadline {
  /** The scenario and year with the highest loss ratio; the first one if tied. */
  readonly max: {
    /** Id of the scenario. */
    readonly scenario: string;
    readonly year: number;
    /** 100 x / (x + 0.25), where x is the ratio of the loss without closures to normalized EBITDA. 0 to 100. */
    readonly score: number;
    /** All losses without closures, divided by normalized EBITDA. */
    readonly loss_ratio: number;
    /** Loss in percent of normalized EBITDA. */
    readonly pct_of_ebitda: number;
  };
  /** Unweighted mean over all scenarios and years. */
  readonly mean: {
    /** 100 x / (x + 0.25), where x is the ratio of the loss without closures to normalized EBITDA. 0 to 100. */
    readonly score: number;
    /** All losses without closures, divided by normalized EBITDA. */
    readonly loss_ratio: number;
    /** Loss in percent of normalized EBITDA. */
    readonly pct_of_ebitda: number;
  };
}

/** Losses in one scenario and year. */
export interface CompanyResult {
  /** Id of the scenario. */
  readonly scenario: string;
  /** Publisher of the scenario. */
  readonly family: "NGFS" | "IPCC";
  /** Phase of the NGFS, or assessment report of the IPCC. */
  readonly vintage: "5" | "AR6";
  /** Assessment year. */
  readonly year: number;
  /** Prices, temperatures and costs from which the losses are computed. */
  readonly drivers: {
    /** Carbon price of the scenario, USD of 2025 per t CO2e. */
    readonly price: number;
    /** Carbon price under current policies, USD of 2025 per t CO2e. */
    readonly baseline_price: number;
    /** Price of the scenario minus that under current policies, at least 0, USD of 2025 per t CO2e. */
    readonly price_shock: number;
    /**
     * Price shock for the buyers of the company's products: that of the world for fuel traded worldwide, otherwise that
     * of the country. USD of 2025 per t CO2e.
     */
    readonly fuel_price_shock: number;
    /** Model that the price comes from; `ar6` is the median of an ensemble. */
    readonly price_model: "remind" | "messageix" | "gcam" | "ar6";
    /** Region of the price. */
    readonly price_region: "World" | "R5OECD" | "R5ASIA" | "R5LAM" | "R5MAF" | "R5REF";
    /** Global warming, degrees C. */
    readonly gsat: number;
    /** Mean temperature of the country, degrees C. */
    readonly local_temperature: number;
    /** Mean temperature of the country in 2020, degrees C. */
    readonly local_temperature_2020: number;
    /** Fraction of capital that has been renewed and can therefore abate emissions. */
    readonly capital_renewed: number;
    /** Fraction of its own emissions that the company abates instead of paying for them. */
    readonly abatement_share: number;
    /** Cost per t of current scope 1 emissions, USD. */
    readonly unit_cost: number;
    /** Cost per t of current scope 2 emissions, USD. */
    readonly unit_cost_scope2: number;
    /** Cost per t of current upstream emissions, USD. */
    readonly unit_cost_upstream: number;
    /** Cost to buyers per t of current downstream emissions, USD. */
    readonly product_unit_cost: number;
    /** Fraction of the cost that is passed on to buyers. */
    readonly pass_through: number;
  };
  /** Losses from carbon prices and from lower sales. */
  readonly transition: {
    /** Cost before pass-through. USD of 2025 per year. */
    readonly gross_cost: number;
    /** Relative change of the volume sold, -1 to 0. */
    readonly volume_change: number;
    /** `volume_change` if only the company's own prices rose. */
    readonly own_volume_change: number;
    /** `volume_change` if only the cost of using its products rose. */
    readonly product_volume_change: number;
    /** Loss after closures, below normalized EBITDA. USD of 2025 per year. */
    readonly loss: number;
    /** Loss without closures. USD of 2025 per year. */
    readonly uncapped: number;
    /** Whether the loss without closures is normalized EBITDA or more. */
    readonly capped: boolean;
    /** Loss of a bank on its loans. USD of 2025 per year. */
    readonly credit_loss: number;
    /** 100 x / (x + 0.25), where x is the ratio of the loss without closures to normalized EBITDA. 0 to 100. */
    readonly score: number;
    /** Why there is no loss. Present if there is neither a price shock nor a loss. */
    readonly note?: string;
  };
  /** Losses from warming and from extreme weather. */
  readonly physical: {
    readonly chronic: {
      /** Fraction of the country's output that is lost. */
      readonly damage_fraction: number;
      /** Loss due to warming. USD of 2025 per year. */
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
      /** Loss due to interrupted business. USD of 2025 per year. */
      readonly interruption: number;
    };
    /** 100 x / (x + 0.25), where x is the ratio of the loss without closures to normalized EBITDA. 0 to 100. */
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
    /**
     * All losses without closures, divided by normalized EBITDA, without an upper limit. Suited to ranking companies.
     */
    readonly loss_ratio: number;
    /** Loss in percent of normalized EBITDA. */
    readonly pct_of_ebitda: number;
    /** Loss in percent of total assets. */
    readonly pct_of_assets: number;
    /** 100 x / (x + 0.25), where x is the ratio of the loss without closures to normalized EBITDA. 0 to 100. */
    readonly score: number;
    /** Band of the score: A up to 10, B up to 25, C up to 50, D up to 75, else E. */
    readonly rating: "A" | "B" | "C" | "D" | "E";
    /**
     * Lower end of the range over the sensitivity cases, each of which changes one assumption, percent of normalized
     * EBITDA.
     */
    readonly low: number;
    /** Upper end of the range, percent of normalized EBITDA. */
    readonly high: number;
    /**
     * Denominator of the percentages: EBITDA (`ebitda`), or half of what is normal in the industry if that is more
     * (`normal_ebitda`).
     */
    readonly measured_by: "ebitda" | "normal_ebitda";
  };
  /** Effect on credit, if the loss of the year recurred every year. */
  readonly credit: {
    /**
     * Debt divided by EBITDA as sent or estimated, `after` less the loss; null if that is not above 0, or too small to
     * divide by.
     */
    readonly debt_to_ebitda: BeforeAfter;
    /**
     * EBITDA as sent or estimated, `after` less the loss, divided by interest; null without debt, or if interest is too
     * small to divide by.
     */
    readonly interest_coverage: BeforeAfter;
    /**
     * Probability of default within five years, 0 to 1, if the loss of the year recurred every year; null for a bank or
     * insurer without `total_liabilities`.
     */
    readonly pd_5y: BeforeAfter;
    /** Probability of default within one year, 0 to 1; a value is null if it is undefined. */
    readonly pd_1y: {
      /** Without the losses of the scenario. */
      readonly before: number | null;
      /** With the losses of the scenario. */
      readonly after: number | null;
      /** `own` is the `pd` in the request; `model` is derived from the five-year probability. */
      readonly basis: "own" | "model";
    };
    /** Expected loss within one year, basis points of the exposure. */
    readonly expected_loss_bp: BeforeAfter;
    /** Expected loss within one year, USD of 2025. Present if the request has an exposure. */
    readonly expected_loss?: BeforeAfter;
  };
}

/** Effect of a scenario on the value of the company. */
export interface CompanyValuation {
  /** Id of the scenario. */
  readonly scenario: string;
  /** Discounted losses of 2026 to 2050, after tax. USD of 2025. */
  readonly npv_of_losses: number;
  /** Discounted losses without closures. USD of 2025. */
  readonly npv_uncapped: number;
  /** Total assets, or the present value of normalized EBITDA to 2050 if that is more. USD of 2025. */
  readonly value_before: number;
  /** Discounted losses in percent of `value_before`. */
  readonly value_at_risk_pct: number;
  /** Total assets reduced by `value_at_risk_pct`. USD of 2025. */
  readonly asset_value_after: number;
  /** Probability of default within five years, 0 to 1; null for a bank or insurer without total_liabilities. */
  readonly pd_5y_before: number | null;
  /** Probability of default within five years after the losses; null like `pd_5y_before`. */
  readonly pd_5y_after: number | null;
  /** Probability of default within one year, 0 to 1; a value is null if it is undefined. */
  readonly pd_1y: {
    /** Without the losses of the scenario. */
    readonly before: number | null;
    /** With the losses of the scenario. */
    readonly after: number | null;
    /** `own` is the `pd` in the request; `model` is derived from the five-year probability. */
    readonly basis: "own" | "model";
  };
  /** Expected loss within one year, basis points of the exposure. */
  readonly expected_loss_bp: BeforeAfter;
  /** Expected loss within one year, USD of 2025. Present if the request has an exposure. */
  readonly expected_loss?: BeforeAfter;
}

/** Quality of a part of the response. */
export interface DataQuality {
  /** Paths of the members of the response that the mark applies to. */
  readonly output: string;
  /**
   * The weakest mark among the inputs: `P` published and checked, `M` quoted from memory, `D` derived from listed data,
   * `J` our judgment, `reported` given by the caller.
   */
  readonly mark: QualityMark | (string & {});
  /** Explanation for people. */
  readonly detail: string;
}

/** A source of the figures in the response. */
export interface DataSource {
  /** Figures that come from the source. */
  readonly what: string;
  /** Publications. */
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
  /** Version of the method, which changes whenever a formula or a figure of the method changes. */
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
  /** Origin of the figure. `split` is a part of the reported total of scope 3. */
  readonly method: "modelled" | "reported" | "split";
  /** PCAF data quality score, 1 (best) to 5. 1 to 5. */
  readonly pcaf_score: number;
  /** Emissions according to the model, t CO2e per year. */
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
  /** Name of the company; null if the request has none. */
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
    /** Kind of name or code by which the industry was found. */
    readonly matched_on: "id" | "name" | "alias" | "isic" | "nace" | "naics";
  };
}

/**
 * Marks of this release, best first: `P` published and checked, `M` quoted from memory, `D` derived from listed data,
 * `J` our judgment, `reported` given by the caller.
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
  /** Stable code that programs can branch on. New codes may be added. */
  readonly code: RemarkCode | (string & {});
  /** Explanation for people. */
  readonly detail: string;
  /** Id of the scenario whose prices are inverted; present for the code `price_inversion`. */
  readonly scenario?: string;
  /** Scenarios whose prices are inverted; present for the code `price_inversion`. */
  readonly inversions?: readonly {
    /** Id of a more ambitious scenario with lower carbon prices. */
    readonly scenario: string;
    /** Requested years in which its prices are lower by a factor of more than 1.1. */
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
  /** Local warming divided by global warming. */
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
   * How scope 1 is scaled to the country: by the carbon intensity of its economy (`economy`), by its grid and price
   * level (`grid`), by its price level (`price_level`), or not at all (`none`).
   */
  readonly s1_scaling: "economy" | "grid" | "price_level" | "none";
  /** Factor from modeled scope 1 to the ends of its range. */
  readonly s1_range: number;
  /** Factor from modeled scope 2 to the ends of its range. */
  readonly s2_range: number;
  /** Factor from modeled scope 3 to the ends of its range, in both directions. */
  readonly s3_range: number;
  /**
   * Origin of the emission factors: checked against companies that report (`reporters`), taken from the table of the US
   * EPA (`table`), derived from related industries (`analogy`), or estimated (`judgment`).
   */
  readonly factor_quality: "reporters" | "table" | "analogy" | "judgment";
  /** Group of industries with the same parameters. */
  readonly archetype: string;
  /** Value added as a share of revenue. */
  readonly va_share: number;
  /** Normal EBITDA as a share of revenue. */
  readonly ebitda_margin: number;
  /** Normal total assets divided by revenue. */
  readonly assets_to_revenue: number;
  /** Normal total debt divided by total assets. */
  readonly debt_to_assets: number;
  /** Share of costs that is passed on to prices in 2025. */
  readonly pass_through: number;
  /** Share of costs that is passed on to prices from 2040. */
  readonly pass_through_long: number;
  /** Carbon price at which all abatement that renewed capital allows takes place, USD per t. */
  readonly abatement_backstop_usd_t: number;
  /** Years until all capital is renewed. */
  readonly abatement_years: number;
  /** Largest share of scope 1 that can be abated. */
  readonly abatement_max_share: number;
  /** Relative loss of sales volume per relative increase in price. */
  readonly demand_elasticity: number;
  /**
   * How a carbon price reaches buyers: through fuel at world prices (`fuel_world`), through fuel at the prices of the
   * country (`fuel`), through the use of durable goods (`durable`), or not at all (`none`).
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
  /** ISO 3166-1 alpha-2 code; the id is the alpha-3 code. */
  readonly iso2: string;
  /** A: all figures come from data. B: some are substitutes. */
  readonly tier: "A" | "B";
  /** Descriptions of the figures that are substitutes. */
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
  /** Integrated assessment models that `iam` can select for the scenario; empty for scenarios of the IPCC. */
  readonly iams: readonly string[];
  /** Whether there is one global price instead of regional prices. */
  readonly world_price: boolean;
  /** Prices used instead, if the scenario's own prices have not been published. */
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
  /**
   * Share of costs that is passed on to prices, 0 to 1, the same in all years. Default: the industry's pass-through for
   * each year.
   */
  readonly pass_through?: number | string;
}

/** A company, and the scenarios and years to assess. */
export interface CompanyRequest {
  /** Name of the company, repeated in the response. */
  readonly name: string;
  /** ISO 3166-1 alpha-3 or alpha-2 code, or name. */
  readonly country: string;
  /**
   * Id or name (GET /api/v1/reference/industries), or an industry code, such as ISIC 2410, NACE 24.10 or NAICS 331110.
   */
  readonly industry: string;
  /**
   * System of an industry code without a prefix: `isic`, `nace` or `naics`. With the other systems of temperature
   * alignment, only names of industries are matched, not codes.
   */
  readonly industry_classification_system?: string;
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
   * Scenario ids (GET /api/v1/reference/scenarios); case, hyphens, underscores and spaces are ignored. The response
   * keeps their order and omits duplicates. At least 1 item.
   */
  readonly transition_scenarios: readonly string[];
  /** The response has them in ascending order and omits duplicates. At least 1 item. */
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
   * Integrated assessment model that the NGFS carbon prices come from: remind, messageix, gcam. Only the first covers
   * all scenarios and years after 2060. Default: remind.
   */
  readonly iam?: string;
  /** Known one-year probability of default, 0 to 1, which replaces that of the model. */
  readonly pd?: number | string;
  /**
   * Exposure at default, 0 or more, USD of 2025, as a string or number; at most 1e15 in absolute value. If present, the
   * response also gives expected losses in USD.
   */
  readonly exposure?: number | string;
  /** Loss given default, 0 to 1. Default 0.45. */
  readonly lgd?: number | string;
  /** Assumptions that replace those of the method. */
  readonly assumptions?: CompanyAssumptionsRequest;
}

/** A company whose emissions are to be estimated. */
export interface EmissionsRequest {
  /** Name of the company, repeated in the response. */
  readonly name?: string;
  /** ISO 3166-1 alpha-3 or alpha-2 code, or name. */
  readonly country: string;
  /**
   * Id or name (GET /api/v1/reference/industries), or an industry code, such as ISIC 2410, NACE 24.10 or NAICS 331110.
   */
  readonly industry: string;
  /**
   * System of an industry code without a prefix: `isic`, `nace` or `naics`. With the other systems of temperature
   * alignment, only names of industries are matched, not codes.
   */
  readonly industry_classification_system?: string;
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

/** Part for return periods above the longest of the curve. */
export interface AnnualTail {
  /** Part of the expected annual amount, in the same unit. */
  readonly value: number;
  /** The true part is at least this, because longer return periods may have larger values. */
  readonly bound: "at_least";
}

export interface CurveBatchAnswer {
  /** One element per query, in the same order. */
  readonly results: readonly (CurveResult | RefusedQuery)[];
}

/** At least 1 item. */
export type CurveBatchRequest = readonly CurveQueryInput[];

/** How the curve was derived; present if `detail` was requested. */
export interface CurveDetail {
  /**
   * Number of grid cells that were aggregated. If the radius is 0, it is 1, or 0 if the location is outside the grid or
   * the atlas has no layer. A circle that extends beyond the grid has cells only inside it.
   */
  readonly cells: number;
  /** Share of the cells' area that has data. 0 to 1. */
  readonly valid_share: number;
  /** Center of the cell that contains the location; present only if the radius is 0. */
  readonly cell_center?: {
    /** Degrees north, WGS84. */
    readonly latitude: number;
    /** Degrees east, WGS84. */
    readonly longitude: number;
  };
  /** Source of the curve, as a key of `sources`; absent if the atlas has no layer for the scenario and year. */
  readonly source?: string;
  /** Rules used to derive the metrics. `return_periods_years` lists the return periods of the maps, if any. */
  readonly rules: Readonly<Record<string, unknown>>;
  /**
   * Variate of the return period T in which the curve is interpolated linearly: -ln(-ln(1 - 1/T)), or ln T. Absent if
   * there is no curve.
   */
  readonly variate?: "gumbel" | "log";
  /** Range over the climate models at each return period; present if the atlas keeps it. */
  readonly model_range?: readonly ModelRangePoint[];
  /** Limitations of the numbers, for example that the curve is a mean over climate models. */
  readonly caveats?: readonly string[];
}

/** A location, a hazard, and the requested analysis years and scenarios of its return-period curve. */
export interface CurveParameters {
  /** Degrees north, WGS84. -90 to 90. */
  readonly latitude: number;
  /** Degrees east, WGS84. -180 to 180. */
  readonly longitude: number;
  /** One hazard. */
  readonly hazards: readonly HazardName[];
  /** Years that the hazard supports; the response keeps their order. At least 1 item, without duplicates. */
  readonly analysis_years: readonly number[];
  /** Scenarios that the hazard supports; the response keeps their order. At least 1 item, without duplicates. */
  readonly scenarios: readonly Scenario[];
  /**
   * Radius in kilometers. 0 selects the cell that contains the location; otherwise all cells whose centers are within
   * this geodesic distance are aggregated. 0 to 100. Default: 0.
   */
  readonly radius?: number;
  /** Aggregation over the circle, separately for each return period; no effect if radius is 0. Default: max. */
  readonly aggregation_method?: "max" | "mean";
  /** In the unit of the curve. Adds `exceedance`, the annual probability of reaching this value. */
  readonly threshold?: number;
  /** Return periods in years. Adds `return_levels`, the values at them. 1 to 32 items, without duplicates. */
  readonly return_periods?: readonly number[];
  /** In the unit of the curve. Adds `expected_annual_value`, the expected annual value above the floor. */
  readonly floor?: number;
  /** Must be false. `total_hazard` is a metric of hazard-risk queries. Default: false. */
  readonly total_hazard?: false;
  /** Must be false. To see the change since 1980, query the curve of the baseline too. Default: false. */
  readonly anthropogenic?: false;
  /**
   * Adds a description of how the values were computed to each analysis year, and their sources to the response.
   * Default: false.
   */
  readonly detail?: boolean;
}

export interface CurvePoint {
  /** Years. */
  readonly return_period: number;
  /** Value that is reached with an annual probability of 1 / return_period. */
  readonly value: number;
}

/** A location, a hazard, and the requested analysis years and scenarios of its return-period curve. */
export interface CurveQueryInput {
  /** Degrees north, WGS84. -90 to 90. */
  readonly latitude: number;
  /** Degrees east, WGS84. -180 to 180. */
  readonly longitude: number;
  /** One hazard. */
  readonly hazards: readonly HazardName[];
  /** Years that the hazard supports; the response keeps their order. At least 1 item, without duplicates. */
  readonly analysis_years: readonly number[];
  /** Scenarios that the hazard supports; the response keeps their order. At least 1 item, without duplicates. */
  readonly scenarios: readonly Scenario[];
  /**
   * Radius in kilometers. 0 selects the cell that contains the location; otherwise all cells whose centers are within
   * this geodesic distance are aggregated. 0 to 100. Default: 0.
   */
  readonly radius?: number;
  /** Aggregation over the circle, separately for each return period; no effect if radius is 0. Default: max. */
  readonly aggregation_method?: "max" | "mean";
  /** In the unit of the curve. Adds `exceedance`, the annual probability of reaching this value. */
  readonly threshold?: number;
  /** Return periods in years. Adds `return_levels`, the values at them. 1 to 32 items, without duplicates. */
  readonly return_periods?: readonly number[];
  /** In the unit of the curve. Adds `expected_annual_value`, the expected annual value above the floor. */
  readonly floor?: number;
  /** Must be false. `total_hazard` is a metric of hazard-risk queries. Default: false. */
  readonly total_hazard?: false;
  /** Must be false. To see the change since 1980, query the curve of the baseline too. Default: false. */
  readonly anthropogenic?: false;
  /**
   * Adds a description of how the values were computed to each analysis year, and their sources to the response.
   * Default: false.
   */
  readonly detail?: boolean;
  /**
   * Damage share by value of the hazard, linear between the points and constant above the last. Values must increase,
   * damage shares must not decrease, and the first damage share must be 0. Adds `expected_annual_damage`. 2 to 64
   * items.
   */
  readonly damage_curve?: readonly DamageCurvePoint[];
}

/** Return-period curves of a hazard at one location. */
export interface CurveResult {
  /** The requested location. */
  readonly location: {
    /** Degrees north, WGS84. */
    readonly latitude: number;
    /** Degrees east, WGS84. */
    readonly longitude: number;
  };
  /** Present if and only if the requested radius is above 0. */
  readonly aggregation?: {
    /** Kilometers. */
    readonly radius_km: number;
    readonly method: "max" | "mean";
  };
  /** The hazard, with scenarios and years in the requested order. */
  readonly results: readonly {
    readonly hazard: HazardName;
    readonly scenarios: readonly CurveScenarioResult[];
  }[];
  /**
   * Sources of the layers, by keys of the form hazard/scenario/analysis_year; present if `detail` was requested. GET
   * /api/v1/hazards lists their files.
   */
  readonly sources?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface CurveScenarioResult {
  readonly scenario: Scenario;
  readonly analysis_years: readonly CurveYearResult[];
}

export interface CurveYearResult {
  readonly analysis_year: number;
  /** Unit of the curve: m or m/s. */
  readonly unit: string;
  /** The return periods of the maps, ascending, and the value at each; null if there is no value. */
  readonly curve: readonly CurvePoint[] | null;
  /** Why the curve is null; present if and only if it is. 0 is a value, not missing data. */
  readonly no_data?: NoDataReason;
  /** The values at the requested return periods, in their order; present if `return_periods` was given. */
  readonly return_levels?: readonly ReturnLevel[];
  /** Annual probability of reaching the threshold; present if `threshold` was requested. */
  readonly exceedance?: Exceedance;
  /** Expected annual value above the floor; present if `floor` was requested. */
  readonly expected_annual_value?: ExpectedAnnualValue;
  /** Expected annual damage share; present if `damage_curve` was given. */
  readonly expected_annual_damage?: ExpectedAnnualDamage;
  /** How the curve was derived; present if `detail` was requested. */
  readonly detail?: CurveDetail;
}

export interface DamageCurvePoint {
  /** Value of the hazard in the unit of its curve, such as meters. */
  readonly value: number;
  /** Damaged share of the exposed value. 0 to 1. */
  readonly damage_share: number;
}

/** Annual probability of reaching the threshold; present if `threshold` was requested. */
export interface Exceedance {
  /** The requested threshold. */
  readonly threshold: number;
  /** Annual probability that the threshold is reached; 0 if no value of the curve reaches it. 0 to 1. */
  readonly probability: number;
  /** 1 / probability, years; null if the probability is 0. */
  readonly return_period: number | null;
  /**
   * Present if the probability is not known exactly: it is at least, or at most, `limit`, and the return period at
   * most, or at least, 1 / limit.
   */
  readonly bound?: "at_least" | "at_most";
  /** 1 / T of the shortest return period if its value reaches the threshold; 1 / T of the longest if no value does. */
  readonly limit?: number;
}

/** Expected annual damage share; present if `damage_curve` was given. */
export interface ExpectedAnnualDamage {
  /** Damaged share per year, including the tail. Return periods below the shortest of the curve add nothing. */
  readonly value: number;
  /** Part for return periods above the longest of the curve. */
  readonly tail: AnnualTail;
}

/** Expected annual value above the floor; present if `floor` was requested. */
export interface ExpectedAnnualValue {
  /** The requested floor. */
  readonly floor: number;
  /**
   * Per year, in the unit of the curve, including the tail. Return periods below the shortest of the curve add nothing.
   */
  readonly value: number;
  /** Part for return periods above the longest of the curve. */
  readonly tail: AnnualTail;
}

export interface ModelRangePoint {
  /** Years. */
  readonly return_period: number;
  /** Smallest value of a climate model. */
  readonly minimum: number;
  /** Largest value of a climate model. */
  readonly maximum: number;
}

export interface ReturnLevel {
  /** Years. */
  readonly return_period: number;
  /** Between return periods of the curve, interpolated. */
  readonly value: number;
  /**
   * Present if the return period is outside the curve, which is not extrapolated: the true value is at least the last
   * value of the curve, or at most its first.
   */
  readonly bound?: "at_least" | "at_most";
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

/** A subdivision of the account, to which usage is attributed. */
export interface CustomerRecord {
  /** Value of X-Customer-ID in data requests. UUID. */
  readonly customer_id: string;
  /** The caller's own id, unique within the account. */
  readonly internal_id: string;
  /** Display name, if any. */
  readonly name: string | null;
  /** Time of the registration, UTC. */
  readonly created_at: string;
  /** Time at which the customer was archived, UTC; null if it is not archived. */
  readonly archived_at: string | null;
}

export interface CustomerRegistration {
  /**
   * The caller's own id for the customer, such as the name of a team or a client. Unique within the account and stored
   * unchanged. 1 to 200 characters.
   */
  readonly internal_id: string;
  /**
   * Display name. Replaces the name of a customer that is already registered; if omitted, the name is unchanged. A name
   * cannot be removed; `null` is rejected. 1 to 200 characters.
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
  /** Height of a cell, degrees. */
  readonly cell_size_lat_deg: number;
  /** Width of a cell, degrees. */
  readonly cell_size_lon_deg: number;
  /** Number of rows of cells. */
  readonly row_count: number;
  /** Number of columns of cells. */
  readonly column_count: number;
}

export interface CatalogHazard {
  readonly hazard: HazardName;
  /** Analysis years that queries can request. */
  readonly analysis_years: readonly number[];
  /** Scenarios that queries can request. */
  readonly scenarios: readonly Scenario[];
  readonly metrics: readonly {
    readonly metric: MetricName;
    /** Unit of the metric; 1 for shares and probabilities. */
    readonly unit: string;
    /**
     * Definition of the metric under the rules of this atlas, or under the default rules if the atlas does not have the
     * hazard. If the source of a layer states a different definition, that definition applies.
     */
    readonly meaning: string;
  }[];
  /** Nominal cell size, degrees. The actual cell size depends on the source; `grid` contains it. */
  readonly resolution_deg: number;
  /** Grid of this atlas; null if it does not have the hazard. */
  readonly grid: CatalogGrid | null;
  /** Extent of the grid; null if the atlas does not have the hazard. */
  readonly coverage: CatalogBox | null;
  /** Parameters used to derive the metrics of this atlas; empty if it does not have the hazard. */
  readonly rules: Readonly<Record<string, unknown>>;
  /** Layers of this atlas and their sources. The baseline is used for 1980 under every scenario. */
  readonly layers: readonly CatalogLayer[];
}

export interface CatalogLayer {
  readonly scenario: Scenario;
  /** Analysis year; 1980 is the baseline. */
  readonly analysis_year: number;
  /** Metrics that the layer has. */
  readonly metrics: readonly string[];
  /** Return periods of the stored return-period curve, years, ascending; absent if there is no curve. */
  readonly curve_return_periods?: readonly number[];
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
  /** Years that all requested hazards support; the response keeps their order. At least 1 item, without duplicates. */
  readonly analysis_years: readonly number[];
  /**
   * Scenarios that all requested hazards support; the response keeps their order. At least 1 item, without duplicates.
   */
  readonly scenarios: readonly Scenario[];
  /**
   * Radius in kilometers. 0 selects the cell that contains the location; otherwise all cells whose centers are within
   * this geodesic distance are aggregated. 0 to 100. Default: 0.
   */
  readonly radius?: number;
  /** Aggregation over the circle; no effect if radius is 0. Default: max. */
  readonly aggregation_method?: "max" | "mean";
  /** Adds the metric `total_hazard`, which is intensity times probability. Default: false. */
  readonly total_hazard?: boolean;
  /** Returns each metric as its change since the baseline of 1980. Default: false. */
  readonly anthropogenic?: boolean;
  /**
   * Adds a description of how the values were computed to each analysis year, and their sources to the response.
   * Default: false.
   */
  readonly detail?: boolean;
}

export type MetricName =
  "intensity" | "wind_speed_mps" | "fire_danger_days" | "depth_meters" | "probability" | "total_hazard";

export type Scenario = "baseline" | "rcp2p6" | "rcp4p5" | "rcp6p0" | "rcp8p5";

export interface AnalysisYearResult {
  readonly analysis_year: number;
  /**
   * A metric is null if it has no value. If `anthropogenic` was requested, each metric is a change since 1980 and may
   * be negative. GET /api/v1/hazards defines the metrics of this atlas.
   */
  readonly metrics: {
    /** Severity, 0 to 1. */
    readonly intensity?: number | null;
    /** Cyclones: wind speed at the design return period in the rules of the atlas, m/s. */
    readonly wind_speed_mps?: number | null;
    /** Wildfire: days of high fire danger per year. */
    readonly fire_danger_days?: number | null;
    /** Floods: depth at the design return period in the rules of the atlas, meters. */
    readonly depth_meters?: number | null;
    /** Annual probability that the hazard reaches its threshold, 0 to 1. */
    readonly probability?: number | null;
    /** Intensity times probability; present if `total_hazard` was requested. */
    readonly total_hazard?: number | null;
  };
  /**
   * Present if the probability is not known exactly. Maps of return periods of T years cannot resolve probabilities
   * above 1/T of their shortest return period (`at_least`) or below 1/T of their longest (`at_most`; the value is then
   * 0).
   */
  readonly bounds?: Bounds;
  /** Why a metric is null; present if and only if at least one metric is null. 0 is a value, not missing data. */
  readonly no_data?: NoDataReason;
  /** How the numbers were derived; present if `detail` was requested. */
  readonly detail?: AnswerDetail;
}

/** How the numbers were derived; present if `detail` was requested. */
export interface AnswerDetail {
  /**
   * Number of grid cells that were aggregated. If the radius is 0, it is 1, or 0 if the location is outside the grid or
   * the atlas has no layer. A circle that extends beyond the grid has cells only inside it.
   */
  readonly cells: number;
  /**
   * Share of the cells' area that has data, as the minimum over the metrics that have a layer. For a change, it is the
   * share in the scenario, not in the baseline. 0 to 1.
   */
  readonly valid_share: number;
  /** Shares and reasons by metric; present if they differ between metrics. A metric without a layer has no share. */
  readonly metrics?: {
    /** Severity, 0 to 1. */
    readonly intensity?: MetricDetail;
    /** Cyclones: wind speed at the design return period in the rules of the atlas, m/s. */
    readonly wind_speed_mps?: MetricDetail;
    /** Wildfire: days of high fire danger per year. */
    readonly fire_danger_days?: MetricDetail;
    /** Floods: depth at the design return period in the rules of the atlas, meters. */
    readonly depth_meters?: MetricDetail;
    /** Annual probability that the hazard reaches its threshold, 0 to 1. */
    readonly probability?: MetricDetail;
    /** Intensity times probability; present if `total_hazard` was requested. */
    readonly total_hazard?: MetricDetail;
  };
  /** Center of the cell that contains the location; present only if the radius is 0. */
  readonly cell_center?: {
    /** Degrees north, WGS84. */
    readonly latitude: number;
    /** Degrees east, WGS84. */
    readonly longitude: number;
  };
  /** Source of the layers, as a key of `sources`; absent if the atlas has no layer. */
  readonly source?: string;
  /** Source of the baseline, as a key of `sources`; present if `anthropogenic` was requested. */
  readonly baseline_source?: string;
  /** Rules used to derive the metrics. `return_periods_years` lists the return periods of the maps, if any. */
  readonly rules: Readonly<Record<string, unknown>>;
  /**
   * Ranges of the metrics over the climate models, whose mean the metrics are. With a radius, the smallest and largest
   * values of the cells are aggregated like the metrics. Present if the atlas has them and no change was requested; a
   * metric without a value has no range.
   */
  readonly model_range?: ModelRanges;
  /**
   * Limitations of the numbers, for example a change between different sources, or mean values that may hide bounds.
   */
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
      /**
       * The value has no bound in either direction, for example because both terms of a change are bounds in the same
       * direction.
       */
      readonly bound: "indeterminate";
      readonly limit?: never;
    };

/**
 * Present if the probability is not known exactly. Maps of return periods of T years cannot resolve probabilities above
 * 1/T of their shortest return period (`at_least`) or below 1/T of their longest (`at_most`; the value is then 0).
 */
export interface Bounds {
  /** Bound of a value that is not known exactly. */
  readonly probability: Bound;
  /**
   * Bound of `total_hazard`, of the same kind as that of `probability`, or indeterminate if the intensity is missing;
   * present if `total_hazard` was requested.
   */
  readonly total_hazard?: Bound;
}

export interface HazardBatchAnswer {
  /** One element per query, in the same order. */
  readonly results: readonly (HazardResult | RefusedQuery)[];
}

/** Hazards at one location. */
export interface HazardResult {
  /** The requested location. */
  readonly location: {
    /** Degrees north, WGS84. */
    readonly latitude: number;
    /** Degrees east, WGS84. */
    readonly longitude: number;
  };
  /** Present if and only if the requested radius is above 0. */
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
   * Sources of the layers, by keys of the form hazard/scenario/analysis_year; present if `detail` was requested. GET
   * /api/v1/hazards lists their files.
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

/** Range of a metric over the climate models of its source, in the unit of the metric. */
export interface ModelRange {
  /** Smallest value over the climate models. */
  readonly minimum: number;
  /** Largest value over the climate models. */
  readonly maximum: number;
}

/**
 * Ranges of the metrics over the climate models, whose mean the metrics are. With a radius, the smallest and largest
 * values of the cells are aggregated like the metrics. Present if the atlas has them and no change was requested; a
 * metric without a value has no range.
 */
export interface ModelRanges {
  /** Severity, 0 to 1. */
  readonly intensity?: ModelRange;
  /** Cyclones: wind speed at the design return period in the rules of the atlas, m/s. */
  readonly wind_speed_mps?: ModelRange;
  /** Wildfire: days of high fire danger per year. */
  readonly fire_danger_days?: ModelRange;
  /** Floods: depth at the design return period in the rules of the atlas, meters. */
  readonly depth_meters?: ModelRange;
  /** Annual probability that the hazard reaches its threshold, 0 to 1. */
  readonly probability?: ModelRange;
  /** Intensity times probability; present if `total_hazard` was requested. */
  readonly total_hazard?: ModelRange;
}

/** Why a metric is null; present if and only if at least one metric is null. 0 is a value, not missing data. */
export type NoDataReason = "outside_coverage" | "no_data" | "layer_missing";

/**
 * Replaces the result of an invalid query. The other queries are not affected. JSON pointers are relative to the query,
 * not to the batch.
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
  /** Maximum size of the request line and headers, bytes. */
  readonly head_bytes: number;
  /** Maximum size of a request body, bytes. */
  readonly body_bytes: number;
  /** Maximum nesting depth of lists and objects. */
  readonly json_depth: number;
  /** Maximum number of values in a request body, in all lists and objects. */
  readonly json_values: number;
  /** Maximum number of keys of one object. */
  readonly json_object_keys: number;
  /** Maximum number of queries in a hazard batch. */
  readonly batch_elements: number;
  /** Maximum number of hazard values per request: hazards x scenarios x years, summed over the locations. */
  readonly hazard_values: number;
  /** Maximum number of entities per alignment request. */
  readonly entities: number;
  /** Maximum number of projected years per request, summed over its entities. */
  readonly alignment_values: number;
  /** Maximum number of hazard or alignment values per request with detail, and of curves. */
  readonly detail_values: number;
  /** Maximum radius of a hazard query, kilometers. */
  readonly radius_km: number;
  /** Maximum number of customers of the account, including archived ones. */
  readonly customers: number;
  /** Maximum sustained request rate of the account, requests per second. */
  readonly requests_per_second: number;
  /** Maximum number of requests that the account can send at once. */
  readonly request_burst: number;
  /** Maximum sustained rate of map tiles of the account, tiles per second. They do not count as requests. */
  readonly tiles_per_second: number;
  /** Maximum number of map tiles that the account can request at once. */
  readonly tile_burst: number;
}

export interface PageParameters {
  /** Maximum number of items. 1 to 500. Default: 50. */
  readonly limit?: number;
  /** `next` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

/** Options of `isotherm portfolio`, as a JSON file. */
export interface PlaceFileOptions {
  /** Path or address of this schema, for editors. It is ignored. */
  readonly $schema?: string;
  /** Default: all hazards that the atlas holds. At least 1 item, without duplicates. */
  readonly hazards?: readonly HazardName[];
  /** Default: all scenarios that the atlas holds. At least 1 item, without duplicates. */
  readonly scenarios?: readonly Scenario[];
  /** Default: all years that the atlas holds. At least 1 item, without duplicates. */
  readonly analysis_years?: readonly number[];
  /**
   * Radius of all places that state no radius, in kilometers. 0 selects the cell that contains the place; otherwise all
   * cells whose centers are within this geodesic distance are aggregated. 0 to 100. Default: 0.
   */
  readonly radius?: number;
  /** Aggregation over circles. Default: max. */
  readonly aggregation_method?: "max" | "mean";
  /** Metrics of the hazards that have them. Default: all except `total_hazard`. At least 1 item, without duplicates. */
  readonly metrics?: readonly MetricName[];
  /** Value by hazard. Adds the annual probability of reaching it, from the return-period curves of the atlas. */
  readonly thresholds?: {
    /** In the unit of the hazard's curves, such as meters. */
    readonly cyclones?: number;
    /** In the unit of the hazard's curves, such as meters. */
    readonly wildfire?: number;
    /** In the unit of the hazard's curves, such as meters. */
    readonly coastal_floods?: number;
    /** In the unit of the hazard's curves, such as meters. */
    readonly riverine_floods?: number;
  };
  /** Adds the metric `total_hazard`, intensity times probability. Default: false. */
  readonly total_hazard?: boolean;
  /** Returns each metric as its change since the baseline of 1980. Default: false. */
  readonly anthropogenic?: boolean;
  /**
   * Column with the radius of each place, in kilometers. An empty cell is `radius` if that is given, and else an
   * invalid row.
   */
  readonly radius_column?: string;
  /** Columns of the input. Default: found by usual names. */
  readonly columns?: {
    /** Column that identifies the places. */
    readonly id?: string;
    /** Column with the latitudes, degrees north, WGS84. */
    readonly latitude?: string;
    /** Column with the longitudes, degrees east, WGS84. */
    readonly longitude?: string;
  };
  /** One row per place, hazard, scenario and year (`long`), or one row per place (`wide`). Default: long. */
  readonly layout?: "long" | "wide";
}

/** What is computed for every place of a portfolio. Lists that are absent select everything that the atlas holds. */
export interface PlaceOptions {
  /** Default: all hazards that the atlas holds. At least 1 item, without duplicates. */
  readonly hazards?: readonly HazardName[];
  /** Default: all scenarios that the atlas holds. At least 1 item, without duplicates. */
  readonly scenarios?: readonly Scenario[];
  /** Default: all years that the atlas holds. At least 1 item, without duplicates. */
  readonly analysis_years?: readonly number[];
  /**
   * Radius of all places that state no radius, in kilometers. 0 selects the cell that contains the place; otherwise all
   * cells whose centers are within this geodesic distance are aggregated. 0 to 100. Default: 0.
   */
  readonly radius?: number;
  /** Aggregation over circles. Default: max. */
  readonly aggregation_method?: "max" | "mean";
  /** Metrics of the hazards that have them. Default: all except `total_hazard`. At least 1 item, without duplicates. */
  readonly metrics?: readonly MetricName[];
  /** Value by hazard. Adds the annual probability of reaching it, from the return-period curves of the atlas. */
  readonly thresholds?: {
    /** In the unit of the hazard's curves, such as meters. */
    readonly cyclones?: number;
    /** In the unit of the hazard's curves, such as meters. */
    readonly wildfire?: number;
    /** In the unit of the hazard's curves, such as meters. */
    readonly coastal_floods?: number;
    /** In the unit of the hazard's curves, such as meters. */
    readonly riverine_floods?: number;
  };
  /** Adds the metric `total_hazard`, intensity times probability. Default: false. */
  readonly total_hazard?: boolean;
  /** Returns each metric as its change since the baseline of 1980. Default: false. */
  readonly anthropogenic?: boolean;
}

export interface Contribution {
  readonly id: string;
  /** Share of the total weight of the holdings that count, 0 to 1. */
  readonly weight: number;
  /** Score of the holding, or `default_score`, degrees C. */
  readonly temperature: number;
  /** Weight times score, degrees C. The contributions add up to the temperature. */
  readonly contribution: number;
  /** Contribution divided by the temperature of the portfolio. */
  readonly share: number;
  /**
   * Weight times the difference between the score and `goal`, degrees C; negative below `goal`. Present if `goal` was
   * given.
   */
  readonly above_goal?: number;
  /**
   * Temperature of the portfolio without the holding, degrees C; null if the temperature depends on this holding alone.
   */
  readonly without: number | null;
}

/**
 * Labels of the entity's projections that are not in the score or in the budget of the holding, which are means over
 * the other labels. Only scopes that were requested.
 */
export interface ExcludedLabels {
  /** Labels without a temperature of scopes 1 and 2. */
  readonly s1s2?: readonly string[];
  /** Labels without a temperature of scope 3. */
  readonly s3?: readonly string[];
  /** Labels without a temperature of all scopes. */
  readonly s1s2s3?: readonly string[];
  /** Labels without a budget up to the year of the holding's budget. */
  readonly budget?: readonly string[];
}

export interface FinancedBudget {
  /** Financed emissions that the pathway allows, t CO2e. */
  readonly allowed: number;
  /** Financed emissions projected for the same years, t CO2e. */
  readonly projected: number;
  /** `projected` minus `allowed`, t CO2e. */
  readonly overshoot: number;
  /** Overshoot as a percentage of `allowed`; null unless `allowed` is above 0. */
  readonly overshoot_pct: number | null;
}

export interface FinancedHolding {
  readonly id: string;
  /** Attribution factor: value divided by enterprise value including cash, or by equity plus debt. */
  readonly attribution: number;
  /** Present if the attribution is above 1. */
  readonly flags?: readonly "attribution_above_one"[];
  /** Financed emissions of scopes 1 and 2, t CO2e. */
  readonly s1s2?: number;
  /** Financed emissions of scope 3, t CO2e. */
  readonly s3?: number;
}

/** Financed emissions according to the PCAF standard, Part A. */
export interface Financed {
  /** Holdings with an attribution factor, in the order of the holdings. */
  readonly holdings: readonly FinancedHolding[];
  /** Holdings without an attribution factor, in the order of the holdings. */
  readonly uncovered: readonly {
    readonly id: string;
    /** Why the holding has no attribution factor. */
    readonly reason: UnattributedReason;
  }[];
  /** Attribution factor times emissions, summed over the holdings. */
  readonly financed_emissions: {
    /** Scopes 1 and 2, t CO2e. */
    readonly s1s2: number;
    /** Scope 3, t CO2e. */
    readonly s3: number;
  };
  /** Share of the portfolio value in holdings with an attribution factor and emissions. */
  readonly coverage: {
    /** Scopes 1 and 2, 0 to 1. */
    readonly s1s2: number;
    /** Scope 3, 0 to 1. */
    readonly s3: number;
  };
  /** Financed emissions per million of the value of the holdings included; null if this value is 0. */
  readonly intensity_per_million: {
    /** Scopes 1 and 2, t CO2e per million of value. */
    readonly s1s2: number | null;
    /** Scope 3, t CO2e per million of value. */
    readonly s3: number | null;
  };
  /**
   * Mean of the data quality scores of the holdings with financed emissions, weighted by value; null if none has a
   * score.
   */
  readonly data_quality: {
    /** Scopes 1 and 2, 1 (best) to 5. */
    readonly s1s2: number | null;
    /** Scope 3, 1 (best) to 5. */
    readonly s3: number | null;
  };
  /** Share of the portfolio value included in `data_quality`. */
  readonly data_quality_coverage: {
    /** Scopes 1 and 2, 0 to 1. */
    readonly s1s2: number;
    /** Scope 3, 0 to 1. */
    readonly s3: number;
  };
  /**
   * Weighted average carbon intensity of scopes 1 and 2, t CO2e per million of revenue; null if no holding has both
   * emissions and a revenue above 0.
   */
  readonly waci_per_million: number | null;
  /** Share of the portfolio value included in `waci_per_million`, 0 to 1. */
  readonly waci_coverage: number;
  /** Attribution factor times budget, summed over the holdings that have both; null if there are none. */
  readonly budget: FinancedBudget | null;
  /** Share of the portfolio value included in `budget`, 0 to 1. */
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
  /** One element per method and scope, ordered by method, then by scope, as requested. */
  readonly results: readonly PortfolioResult[];
  /** Financed emissions according to the PCAF standard, Part A. */
  readonly financed: Financed;
  /** One element per holding with an entity, in the order of the holdings. */
  readonly entities: readonly (ScoredHolding | RefusedEntity)[];
}

/** Temperature of all holdings that have a weight, if every missing score were `missing_low` or `missing_high`. */
export interface PortfolioBounds {
  /** Degrees C, if every missing score were `missing_low`. */
  readonly low: number;
  /** Degrees C, if every missing score were `missing_high`. */
  readonly high: number;
  /** Whether every holding has a weight. */
  readonly complete: boolean;
}

/**
 * Shares, 0 to 1, of the holdings that have a weight and a score: by count, value and weight. `default_score` does not
 * count as a score.
 */
export interface PortfolioCoverage {
  /** Share of the number of holdings. */
  readonly holdings: number;
  /** Share of the value. */
  readonly value: number;
  /** Share of the weight of the holdings that have a weight. */
  readonly weight: number;
}

export interface PortfolioGroup {
  /** `unassigned` for holdings without an entry under the key. */
  readonly group: string;
  /** Degrees C; null if the weights of the holdings of the group that count add up to 0. */
  readonly temperature: number | null;
  /** Shares, 0 to 1, of the group's holdings that have a weight and a score: by count, value and weight. */
  readonly coverage: PortfolioCoverage;
  /** Share of the total weight of the holdings that count, 0 to 1. */
  readonly weight: number;
  /** Weight times temperature, degrees C; 0 if the temperature is null. */
  readonly contribution: number;
  /**
   * Why the group has no temperature; present if the portfolio has none. The reason of its holdings if all are
   * uncovered for the same reason, else `no_weight`.
   */
  readonly reason?:
    | "emissions_missing"
    | "emissions_negative"
    | "denominator_missing"
    | "denominator_not_positive"
    | "score_missing"
    | "no_weight";
}

/** The temperature of the portfolio for one weighting method and one scope. */
export interface PortfolioResult {
  /**
   * Weight of a holding: its value (WATS), the emissions of the company (TETS), or the emissions times the value
   * divided by market capitalization (MOTS), enterprise value (EOTS), enterprise value including cash (ECOTS), total
   * assets (AOTS) or revenue (ROTS).
   */
  readonly method: PortfolioMethod;
  /** Scopes 1 and 2, scope 3, or all three. */
  readonly scope: PortfolioScope;
  /**
   * Weighted mean of the scores of the holdings that count, degrees C: those with a weight and a score and, if
   * `default_score` was given, those with a weight and no score. null if their weights add up to 0.
   */
  readonly temperature: number | null;
  /** Why the temperature is null; absent otherwise. */
  readonly reason?: "no_weight";
  /** Range if all scores err in the same direction, degrees C; absent if the temperature is null. */
  readonly range?: TemperatureRange;
  /** Range if the errors of the scores are independent, degrees C; absent if the temperature is null. */
  readonly range_independent?: TemperatureRange;
  /** Share of the total weight that belongs to scores with an interval, 0 to 1; absent if the temperature is null. */
  readonly range_coverage?: number;
  /**
   * Shares, 0 to 1, of the holdings that have a weight and a score: by count, value and weight. `default_score` does
   * not count as a score.
   */
  readonly coverage: PortfolioCoverage;
  /**
   * Temperature of all holdings that have a weight, if every missing score were `missing_low` or `missing_high`; absent
   * if these weights add up to 0.
   */
  readonly bounds?: PortfolioBounds;
  /**
   * Share of the total weight that belongs to holdings with `default_score`, 0 to 1. Present if `default_score` was
   * given, unless the temperature is null.
   */
  readonly default_share?: number;
  /**
   * Holdings without a weight or without a score, in the order of the holdings. Those with a `default_score` only are
   * among them.
   */
  readonly uncovered: readonly UncoveredHolding[];
  /** One element per holding that counts, in the order of the holdings; absent if the temperature is null. */
  readonly contributions?: readonly Contribution[];
  /** Groups by key of `group_by`, in the order in which they first appear. Present if `group_by` was given. */
  readonly groups?: Readonly<Record<string, readonly PortfolioGroup[]>>;
}

/** An invalid entity, which is not scored. */
export interface RefusedEntity {
  /** Id of the holding. */
  readonly id: string;
  readonly error: {
    /** Stable error code that programs can branch on. */
    readonly code: string;
    readonly detail: string;
    /** All errors, each with a JSON pointer into the request. */
    readonly errors: readonly ProblemItem[];
  };
}

/** The temperatures of the entity of a holding, always with `overall` and `budget`. */
export interface ScoredHolding {
  /** Id of the holding. */
  readonly id: string;
  /** As submitted, without the identifier; members that were not given are absent. */
  readonly entity_info: EntityEcho;
  /** Flags of the entity; absent if it has none. */
  readonly flags?: readonly AlignmentFlag[];
  /**
   * The most similar known name for each text that matched nothing, if one is close enough. Temperatures are not
   * computed with it.
   */
  readonly did_you_mean?: NameSuggestions;
  /** One element per projection record, in the order submitted. */
  readonly data: readonly AlignedYear[];
  /** Present if requested; null if no projection record with a temperature has a weight above 0. */
  readonly overall?: OverallTemperature | null;
  /**
   * Years with a temperature under at least two labels, not all of probability 0, ascending; absent if there are none.
   */
  readonly blended?: readonly BlendedYear[];
  /**
   * Labels of the entity's projections that are not in the score or in the budget of the holding, which are means over
   * the other labels. Only scopes that were requested.
   */
  readonly excluded_labels?: ExcludedLabels;
}

/** Why the holding has no attribution factor. */
export type UnattributedReason = "denominator_missing" | "denominator_not_positive";

export interface UncoveredHolding {
  readonly id: string;
  /** Why the holding is uncovered. */
  readonly reason: UncoveredReason;
}

/** Why the holding is uncovered. */
export type UncoveredReason =
  "emissions_missing" | "emissions_negative" | "denominator_missing" | "denominator_not_positive" | "score_missing";

/** Emissions of the company over the same years, t CO2e. */
export interface HoldingBudget {
  /** Emissions that the pathway allows, t CO2e. -1e18 to 1e18. */
  readonly allowed: number;
  /** Emissions that the company projects, t CO2e. -1e18 to 1e18. */
  readonly projected: number;
}

/** PCAF data quality scores of the emissions, 1 (best) to 5. */
export interface HoldingQuality {
  /** Score of the emissions of scopes 1 and 2. 1 to 5. */
  readonly s1s2?: number | null;
  /** Score of the emissions of scope 3. 1 to 5. */
  readonly s3?: number | null;
}

/** A line of a portfolio. Members that are null are treated as absent. */
export interface Holding {
  /** Name of the line in the response. */
  readonly id: string;
  /** Lines of one issuer are merged into one holding of this name. Default: the id. */
  readonly issuer?: string | null;
  /** Market value held; for loans the outstanding amount. 0 to 1e18. */
  readonly value: number;
  /**
   * Currency of the value and of all figures of the company. Must be the same on all lines, because amounts are not
   * converted.
   */
  readonly currency?: string | null;
  /**
   * A company to be scored, with emissions in t CO2e. Exactly one of `entity` and `temperature` is required. If the
   * entity is invalid or has no score, the holding is uncovered; the request does not fail.
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
  /** Groups that the holding belongs to, by key. Keys are free text, such as sector, country or asset_class. */
  readonly groups?: Readonly<Record<string, string | null>> | null;
}

/** Degrees C, with or without an interval. */
export type HoldingScore =
  | number
  | {
      /** Degrees C. At most 20. */
      readonly t: number;
      /** Lower end of its interval, degrees C; requires `high`. At most 20. */
      readonly low?: number | null;
      /** Upper end of its interval, degrees C; requires `low`. At most 20. */
      readonly high?: number | null;
    };

/** Known scores of the company, degrees C, used instead of `entity`. */
export interface HoldingTemperature {
  /** Score of scopes 1, 2 and 3. */
  readonly s1s2s3?:
    | number
    | {
        /** Degrees C. At most 20. */
        readonly t: number;
        /** Lower end of its interval, degrees C; requires `high`. At most 20. */
        readonly low?: number | null;
        /** Upper end of its interval, degrees C; requires `low`. At most 20. */
        readonly high?: number | null;
      }
    | null;
  /** Score of scopes 1 and 2. */
  readonly s1s2?:
    | number
    | {
        /** Degrees C. At most 20. */
        readonly t: number;
        /** Lower end of its interval, degrees C; requires `high`. At most 20. */
        readonly low?: number | null;
        /** Upper end of its interval, degrees C; requires `low`. At most 20. */
        readonly high?: number | null;
      }
    | null;
  /** Score of scope 3. */
  readonly s3?:
    | number
    | {
        /** Degrees C. At most 20. */
        readonly t: number;
        /** Lower end of its interval, degrees C; requires `high`. At most 20. */
        readonly low?: number | null;
        /** Upper end of its interval, degrees C; requires `low`. At most 20. */
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
  /** Weighting methods. At least 1 item, without duplicates. Default: WATS. */
  readonly methods?: readonly PortfolioMethod[];
  /** Scopes. At least 1 item, without duplicates. Default: s1s2s3. */
  readonly scopes?: readonly PortfolioScope[];
  /**
   * Projected year of the scores that are used, or `overall` for the mean over the projected years of each entity.
   * Default: overall.
   */
  readonly year?: "overall" | number;
  /** Quantity that entities are compared by. Default: intensity. */
  readonly basis?: AlignmentBasis;
  /**
   * Fraction of the gap between the emissions intensities of the entity and its industry that must close by 2050; not
   * applied if absent. Applies to entities with revenue in USD and a price year, whose emissions must be in t CO2e, and
   * whose industry or sector is a name in the list of industries. At most 1.
   */
  readonly convergence?: number;
  /** Scenario on which the budgets of entities are based. Default: net_zero_2050. */
  readonly budget_scenario?: BudgetScenario;
  /** Temperature goal, degrees C; adds `above_goal` to each contribution. At most 20. */
  readonly goal?: number;
  /** Keys of `groups`. Adds the temperature of each group to the results. 1 to 20 items, without duplicates. */
  readonly group_by?: readonly string[];
  /** Score assumed for holdings without one, degrees C. If absent, no score is assumed. At most 20. */
  readonly default_score?: number;
  /** Score that the lower bound assumes for holdings without one, degrees C. At most 20. Default: 1.3. */
  readonly missing_low?: number;
  /** Score that the upper bound assumes for holdings without one, degrees C. At most 20. Default: 3.2. */
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

/** One error in the request, located by `pointer`, `parameter` or `header`. */
export interface ProblemItem {
  /** JSON pointer into the body; empty for the whole body. */
  readonly pointer?: string;
  /** Name of a parameter of the path or the query. */
  readonly parameter?: string;
  /** Name of a header field. */
  readonly header?: string;
  /** Stable error code that programs can branch on. */
  readonly code: string;
  /** What is wrong, and what is accepted. */
  readonly detail: string;
  /** The accepted values. */
  readonly allowed?: readonly (string | number | boolean)[];
  /** The accepted value that was probably meant. */
  readonly did_you_mean?: string | number;
  /** Names most similar to an unknown name, most similar first; for a name with several meanings, all of them. */
  readonly nearest?: readonly string[];
  /** Hazard that does not have the combination; present for `combination_unavailable`. */
  readonly hazard?: string;
  /** Years for which the hazard has data; present for `combination_unavailable`. */
  readonly offered_years?: readonly number[];
  /** Scenarios for which the hazard has data; present for `combination_unavailable`. */
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
  /** Stable error code that programs can branch on. New codes may be added. */
  readonly code: string;
  /** Explanation for people. */
  readonly detail: string;
  /** Include it when you contact the operator. UUID. */
  readonly request_id: string;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;
  /** Errors that the caller can correct. */
  readonly errors?: readonly ProblemItem[];
  /** Number of values requested; present for `too_many_values`. */
  readonly requested?: number;
  /** Maximum number of values; present for `too_many_values`. */
  readonly limit?: number;
  /** Line in the body, counted from 1; present for `json_malformed`. */
  readonly line?: number;
  /** Column in characters, counted from 1; present for `json_malformed`. */
  readonly column?: number;
}

export interface ColorStop {
  /** In the unit of the layer. */
  readonly value: number;
  /** `#rrggbb`. Colors between two stops are interpolated linearly in sRGB. */
  readonly color: string;
}

export interface TileJson {
  readonly tilejson: "3.0.0";
  readonly name: string;
  readonly description: string;
  /** Always 1.0.0: the version of this description. `release` names the data. */
  readonly version: string;
  readonly scheme: "xyz";
  /** URL template of the images, with `{z}`, `{x}` and `{y}`. It contains a token and needs no header field. */
  readonly tiles: readonly string[];
  /** URL template of the value tiles, as `tiles`. */
  readonly value_tiles: readonly string[];
  readonly minzoom: number;
  /** Smallest zoom at which every pixel is the cell at its center. */
  readonly maxzoom: number;
  /** Degrees: west, south, east, north. */
  readonly bounds: readonly number[];
  /** Degrees east, degrees north, zoom. */
  readonly center: readonly number[];
  /** HTML. */
  readonly attribution: string;
  /** When the token in the URLs expires, ISO 8601 in UTC. */
  readonly expires_at: string;
  /** Release of the atlas; values may differ between releases. */
  readonly release: string;
  /** True if the values are invented, as in the demo. */
  readonly synthetic: boolean;
  readonly hazard: HazardName;
  readonly scenario: Scenario;
  readonly analysis_year: number;
  readonly metric: string;
  /** Unit of the values; 1 for shares and probabilities. */
  readonly unit: string;
  /** A value is `step / steps_per_unit + offset`. */
  readonly steps_per_unit: number;
  /** Value of step 0, in `unit`. */
  readonly offset: number;
  /** Colors of the images, in ascending order of the values. The value 0 is transparent. */
  readonly color_stops: readonly ColorStop[];
  /** Color of the hatching of pixels without a value, `#rrggbbaa`. */
  readonly no_data_color: string;
  /**
   * What a pixel is at the zooms 0 to `maxzoom`: the maximum of a block of this many cells along each edge, or the cell
   * at its center if 1. Sources without stored maxima, such as the demo, have 1 at every zoom.
   */
  readonly block_size_cells_by_zoom: readonly number[];
}

export interface TileLayerPath {
  readonly hazard: HazardName;
  readonly scenario: Scenario;
  /** Analysis year. The layer of 1980 is the baseline under every scenario. */
  readonly year: number;
  /** A metric of the hazard, or `rp_<years>`: the value at a return period that the atlas keeps. */
  readonly metric: string;
}

export interface TileParameters {
  /** Token from the TileJSON of the layer, which replaces the header field `X-API-Key`. */
  readonly token?: string;
}

export interface TilePath {
  readonly hazard: HazardName;
  readonly scenario: Scenario;
  /** Analysis year. The layer of 1980 is the baseline under every scenario. */
  readonly year: number;
  /** A metric of the hazard, or `rp_<years>`: the value at a return period that the atlas keeps. */
  readonly metric: string;
  /** Zoom: the world is 2^z tiles wide and high. 0 to 22. */
  readonly z: number;
  /** Column of the tile, from 180 degrees west; less than 2^z. */
  readonly x: number;
  /** Row of the tile, from 85.0511 degrees north; less than 2^z. */
  readonly y: number;
}

export interface CustomerUsageParameters {
  /** First day included (UTC), YYYY-MM-DD. Default: no limit. */
  readonly from?: string;
  /** Day after the last day included (UTC), YYYY-MM-DD. Default: no limit. */
  readonly to?: string;
  /**
   * How usage is grouped into lines. `day` takes precedence over `month`. At least 1 item, without duplicates. Default:
   * customer, meter.
   */
  readonly group_by?: readonly UsageGroup[];
  /** `csv` returns all lines as one file (RFC 4180, UTF-8, with a header line). Default: json. */
  readonly format?: "json" | "csv";
  /** Maximum number of items. 1 to 500. Default: 50. */
  readonly limit?: number;
  /** `next` of the previous page; omit it for the first page. */
  readonly cursor?: string;
}

export type Meter = "hazard_values" | "alignment_values" | "company_results";

export interface UsageFilter {
  /** First day included (UTC), YYYY-MM-DD. Default: no limit. */
  readonly from?: string;
  /** Day after the last day included (UTC), YYYY-MM-DD. Default: no limit. */
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
  /** First day included (UTC), YYYY-MM-DD. Default: no limit. */
  readonly from?: string;
  /** Day after the last day included (UTC), YYYY-MM-DD. Default: no limit. */
  readonly to?: string;
  /**
   * How usage is grouped into lines. `day` takes precedence over `month`. At least 1 item, without duplicates. Default:
   * customer, meter.
   */
  readonly group_by?: readonly UsageGroup[];
  /** `csv` returns all lines as one file (RFC 4180, UTF-8, with a header line). Default: json. */
  readonly format?: "json" | "csv";
  /** Maximum number of items. 1 to 500. Default: 50. */
  readonly limit?: number;
  /** `next` of the previous page; omit it for the first page. */
  readonly cursor?: string;
  /** Limits usage to this customer. UUID. */
  readonly customer_id?: string;
}

/** A line of usage. Members by which usage is not grouped are absent. */
export interface UsageRecord {
  /** UUID. */
  readonly customer_id?: string;
  /** The caller's own id for the customer. */
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
  readonly AnnualTail: AnnualTail;
  readonly CurveBatchAnswer: CurveBatchAnswer;
  readonly CurveBatchRequest: CurveBatchRequest;
  readonly CurveDetail: CurveDetail;
  readonly CurveParameters: CurveParameters;
  readonly CurvePoint: CurvePoint;
  readonly CurveQueryInput: CurveQueryInput;
  readonly CurveResult: CurveResult;
  readonly CurveScenarioResult: CurveScenarioResult;
  readonly CurveYearResult: CurveYearResult;
  readonly DamageCurvePoint: DamageCurvePoint;
  readonly Exceedance: Exceedance;
  readonly ExpectedAnnualDamage: ExpectedAnnualDamage;
  readonly ExpectedAnnualValue: ExpectedAnnualValue;
  readonly ModelRangePoint: ModelRangePoint;
  readonly ReturnLevel: ReturnLevel;
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
  readonly ModelRange: ModelRange;
  readonly ModelRanges: ModelRanges;
  readonly NoDataReason: NoDataReason;
  readonly RefusedQuery: RefusedQuery;
  readonly ScenarioResult: ScenarioResult;
  readonly Health: Health;
  readonly Readiness: Readiness;
  readonly Limits: Limits;
  readonly PageParameters: PageParameters;
  readonly PlaceFileOptions: PlaceFileOptions;
  readonly PlaceOptions: PlaceOptions;
  readonly Contribution: Contribution;
  readonly ExcludedLabels: ExcludedLabels;
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
  readonly ColorStop: ColorStop;
  readonly TileJson: TileJson;
  readonly TileLayerPath: TileLayerPath;
  readonly TileParameters: TileParameters;
  readonly TilePath: TilePath;
  readonly CustomerUsageParameters: CustomerUsageParameters;
  readonly Meter: Meter;
  readonly UsageFilter: UsageFilter;
  readonly UsageGroup: UsageGroup;
  readonly UsagePage: UsagePage;
  readonly UsageParameters: UsageParameters;
  readonly UsageRecord: UsageRecord;
}
