/** The figures that hold for every company, with the marks of docs/methods/company.md section 1. */

/** What the numbers of an answer were made by. A change of method or of a figure is another version. */
export const METHOD_VERSION = "isotherm-company/1";

/** Losses are those of one year; the first they are given for is the year that money is counted in. */
export const BASE_YEAR = 2025;
/** Values are net of the losses up to here. */
export const HORIZON_YEAR = 2050;
export const LAST_YEAR = 2100;
/** The first year of the tables, from which damages count and emissions are cut. */
export const TABLE_START_YEAR = 2020;

/** Dollars of 2022 to dollars of 2025: US CPI-U 292.655 to about 322. [M] */
export const USD2025_PER_USD2022 = 1.1;
/** Corporate tax, about the average of the OECD. [J] */
export const TAX_RATE = 0.25;
/** Real. [J] */
export const DISCOUNT_RATE = 0.08;
/** Merton's risk-free rate and term. [J] */
export const RISK_FREE_RATE = 0.03;
export const CREDIT_TERM_YEARS = 5;
/** Interest on debt. [J] */
export const DEBT_INTEREST_RATE = 0.05;
/** Senior unsecured, the foundation approach of Basel. [M] */
export const LOSS_GIVEN_DEFAULT = 0.45;
/** Loans in the assets of a bank. [J] */
export const LOAN_SHARE = 0.55;
/** The capital that a interpolateYearly output takes. [J] */
export const CAPITAL_PER_OUTPUT = 3.5;
/** EBITDA that a company without any is measured by, as a share of its revenue. [J] */
export const FALLBACK_EBITDA_SHARE = 0.16;
