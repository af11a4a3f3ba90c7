/** Parameters that apply to every company, with the quality marks of docs/methods/company.md. */

import { ASSESSMENT_YEARS } from "../contract/ranges.ts";

/** Version of the method; every change of a formula or figure increments it. */
export const METHOD_VERSION = "2";

/** First year that losses are reported for, and the price year of all money. */
export const BASE_YEAR = ASSESSMENT_YEARS.min;
/** Last year of the losses that the valuation includes. */
export const HORIZON_YEAR = 2050;
export const LAST_YEAR = ASSESSMENT_YEARS.max;
/** First year of the tables, relative to which damages are measured. */
export const TABLE_START_YEAR = 2020;

/** US CPI-U: 292.655 in 2022, about 322 in 2025. [M] */
export const USD2025_PER_USD2022 = 1.1;
/** Corporate tax rate, about the OECD average. [J] */
export const TAX_RATE = 0.25;
/** Real discount rate; TRISK uses 9% nominal with 3% growth. [J] */
export const DEFAULT_DISCOUNT_RATE = 0.08;
/** Risk-free rate and term of the Merton model. [J] */
export const RISK_FREE_RATE = 0.03;
export const CREDIT_TERM_YEARS = 5;
/** Interest rate on debt. [J] */
export const DEBT_INTEREST_RATE = 0.05;
/** Senior unsecured loans, Basel foundation approach. [M] */
export const DEFAULT_LOSS_GIVEN_DEFAULT = 0.45;
/** Share of loans in the assets of a bank. [J] */
export const LOAN_SHARE = 0.55;
/** Capital per annual output. [J] */
export const CAPITAL_PER_OUTPUT = 3.5;
/** Lowest EBITDA, as a share of the normal margin; profitability reverts to its mean (Fama and French 2000 [M]). [J] */
export const EBITDA_FLOOR_SHARE = 0.5;
/** Share of labor cost that does not fall with output. [J] */
export const STICKY_LABOR_SHARE = 0.25;
/** Loss ratio that scores 50. [J] */
export const HALF_SCORE_RATIO = 0.25;
/** Upper bound of the share of EBITDA lost, for numerical reasons. */
export const LOST_SHARE_MAX = 0.999999999999;

/** Lowest ratio of grids in scope 2: large companies of countries with clean power buy power abroad too. [J] */
export const GRID_RATIO_MIN = 0.3;

/** How an emitter abates as the price rises and capital is renewed. */
export interface Abatement {
  /** Carbon price at which everything that renewed capital allows is abated. */
  readonly backstopUsdPerT: number;
  /** Years until all capital is renewed. */
  readonly years: number;
  /** Largest share that can be abated, below 1. */
  readonly shareMax: number;
}
/** Producers of purchased power, and the share of their cost that reaches the buyer (Fabra and Reguant 2014 [M]). */
export const POWER_ABATEMENT: Abatement = { backstopUsdPerT: 100, years: 20, shareMax: 0.95 };
export const POWER_COST_SHARE = 0.85;
/** Suppliers, and the share of their cost that reaches the buyer, net of substitution. [J] */
export const SUPPLIER_ABATEMENT: Abatement = { backstopUsdPerT: 200, years: 25, shareMax: 0.9 };
export const SUPPLIER_COST_SHARE = 0.5;
/** Products in use, and the weight that buyers give to their carbon cost. [J] */
export const PRODUCT_ABATEMENT: Abatement = { backstopUsdPerT: 150, years: 20, shareMax: 0.9 };
export const PRODUCT_COST_WEIGHT = 0.5;
/** Years until pass-through reaches its long-run value. [J] */
export const PASS_THROUGH_YEARS = 15;

/** Kalkuhl and Wenz 2020, per degree and per degree squared: sums of the current and lagged coefficients. [P] */
export const KALKUHL_WENZ = { linear: 0.00986, quadratic: -0.001808 };
/** `kalkuhl_wenz` times this loses 5% of world output in 2050 under NGFS Current Policies, as NGFS Phase IV. [D] */
export const NGFS4_SCALE = 3.35;
/** The same for 15%, as NGFS Phase V, whose source was retracted. */
export const NGFS5_SCALE = 10.1;
/** Howard and Sterner 2017, per degree squared of global warming. [P] */
export const HOWARD_STERNER = 0.0074 + 0.00113;
/** Nordhaus 2017 (DICE-2016R), per degree squared of global warming. [P] */
export const DICE_2016 = 0.00236;
/** Global warming around 1990, the period of the baseline temperatures of the countries. */
export const BASELINE_WARMING_C = 0.55;
/** Global warming that the loss ratios refer to. [P] */
export const LOSS_RATIO_WARMING_C = 1.23;
/** Relative growth of the loss ratios per degree: Alfieri 2017, Knutson 2020, Hallegatte 2013. [M] */
export const LOSS_GROWTH_PER_C = { flood: 0.65, wind: 0.16, surge: 0.2 };

/** Representative borrower of a bank, in an arbitrary unit of money. [J] */
export const BORROWER = { revenue: 1, totalAssets: 1.2, ebitda: 0.16, debt: 0.5, volatility: 0.25 };
