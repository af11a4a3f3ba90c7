/** Parameters that apply to every company, with the quality marks of docs/methods/company.md section 1. */

import { ASSESSMENT_YEARS } from "../contract/ranges.ts";

/** Version of the method; every change of a formula or figure increments it. */
export const METHOD_VERSION = "isotherm-company/1";

/** First year that losses are reported for, and the price year of all money. */
export const BASE_YEAR = ASSESSMENT_YEARS.min;
/** Last year of the losses that the valuation includes. */
export const HORIZON_YEAR = 2050;
export const LAST_YEAR = ASSESSMENT_YEARS.max;
/** First year of the tables, relative to which damages and emission reductions are measured. */
export const TABLE_START_YEAR = 2020;

/** US CPI-U: 292.655 in 2022, about 322 in 2025. [M] */
export const USD2025_PER_USD2022 = 1.1;
/** Corporate tax rate, about the OECD average. [J] */
export const TAX_RATE = 0.25;
/** Real discount rate. [J] */
export const DISCOUNT_RATE = 0.08;
/** Risk-free rate and term of the Merton model. [J] */
export const RISK_FREE_RATE = 0.03;
export const CREDIT_TERM_YEARS = 5;
/** Interest rate on debt. [J] */
export const DEBT_INTEREST_RATE = 0.05;
/** Senior unsecured loans, Basel foundation approach. [M] */
export const LOSS_GIVEN_DEFAULT = 0.45;
/** Share of loans in the assets of a bank. [J] */
export const LOAN_SHARE = 0.55;
/** Capital per annual output. [J] */
export const CAPITAL_PER_OUTPUT = 3.5;
/** EBITDA assumed for a company without positive EBITDA, as a share of revenue. [J] */
export const FALLBACK_EBITDA_SHARE = 0.16;
